"""The page of all claims of a study by section, with a filter; for a measured study, of its
hypotheses.

A small drawing shows the printed number, the range implied by the other claims, and the estimate
from measured runs.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from virtperf.core.verdicts import Verdict
from virtperf.report.claim_words import (
    TAKEN_FROM,
    ClaimWords,
    claim_in_words,
    sections_sentence,
)
from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary
from virtperf.report.html.record import address
from virtperf.report.html.site.gather import MEASURED_VERDICTS, StudyFacts
from virtperf.report.html.templating import page
from virtperf.report.kinds.contradictions import (
    contradiction_entries,
    dependent_points,
    points_by_claim,
    set_aside,
)
from virtperf.report.records import Numbers
from virtperf.report.wording import exhibit_name, shown_verdict
from virtperf.study.claims import Claim
from virtperf.study.definition import Study

FROM_STAGES = ("implied_low", "implied_high", "estimate", "estimate_low", "estimate_high", "reason")
HYPOTHESES, ASSUMPTIONS, ELSEWHERE = "Hypotheses", "Assumptions of ours", "Elsewhere"
MAX_OPEN_CLAIMS = 20  # of a study with one section; more are folded
_ADDRESS = re.compile(r"https?://[^\s,;]+")


@dataclass(frozen=True)
class ClaimRow:
    """One claim as shown on its page.

    `source`: where it stands, and how it was read; `origin`: link to and text of the claim that a
    hypothesis repeats. `exhibits`: id and name of each exhibit of the
    claim, and whether the report has it; `conflicts`: links to the claims that exclude it, and
    whether they do under every reading of their words; `filter_keys`: keys for the filters.
    """

    claim: Claim
    source: str
    origin: tuple[str, str]
    words: ClaimWords
    interval: ClaimDrawing | None
    conflicts: tuple[str, ...]
    robust: bool
    exhibits: tuple[tuple[str, str, bool], ...]
    filter_keys: Mapping[str, str]


@dataclass(frozen=True)
class ClaimGroup:
    """The claims of one section of the paper."""

    title: str
    rows: tuple[ClaimRow, ...]

    @property
    def in_conflict(self) -> int:
        """Number of claims that the paper's other claims exclude."""
        return sum(row.words.text_verdict == Verdict.CONTRADICTED for row in self.rows)


def claims_page(facts: StudyFacts, glossary: Glossary = EMPTY_GLOSSARY) -> str:
    """Render the claims of one study; data attributes of the rows are the keys for filters."""
    robust = robust_conflicts(facts)
    groups: dict[str, list[ClaimRow]] = {}
    stated = sorted(facts.data.paper_claims, key=lambda claim: claim.line)
    for title in dict.fromkeys(_section(facts.data.study, claim) for claim in stated):
        groups[title] = []
    for claim in sort_by_effect(facts, facts.data.paper_claims):
        groups[_section(facts.data.study, claim)].append(_row(facts, claim, robust))
    rows = [row for group in groups.values() for row in group]
    if assumed := [claim for claim in facts.data.claims or () if claim.assumed]:
        groups[ASSUMPTIONS] = [_row(facts, claim, robust) for claim in assumed]
    numbers = _numbers(facts, rows)
    every = [row for group in groups.values() for row in group]
    return page(
        "study_claims",
        f"{_title(facts.data.study)}: {facts.title}",
        parent="index.html",
        scripts=("claims.js",),
        wide=True,
        facts=facts,
        paper=facts.data.study.kind == "paper",
        public=public_address(facts.data.study),
        words=glossary.used_in(" ".join(row.claim.says for row in every)),
        groups=[ClaimGroup(title, tuple(group)) for title, group in groups.items()],
        is_open=len(groups) == 1 and len(every) <= MAX_OPEN_CLAIMS,
        count=len(every),
        measured=facts.data.study.kind == "measured"
        or any(facts.measured[word] for word in MEASURED_VERDICTS),
        filters=_filters(every, facts),
        download=address(numbers),
        numbers=numbers,
    )


def _title(study: Study) -> str:
    return HYPOTHESES if study.kind == "measured" else "Claims"


def _section(study: Study, claim: Claim) -> str:
    """The chapter that states a claim first."""
    if study.kind == "measured":
        return HYPOTHESES
    return claim.sections[0].partition(" / ")[0] if claim.sections else ELSEWHERE


def public_address(study: Study) -> str:
    """Address of the paper or its data, "" where study.yaml has none."""
    for text in map(str, study.bibliography.values()):
        if found := _ADDRESS.search(text):
            return found[0].rstrip(".")
    return study.artifact.link if study.artifact else ""


def robust_conflicts(facts: StudyFacts) -> set[str]:
    """Claims set aside and excluded by the text alone under every reading of its words."""
    readings = facts.data.readings
    changed = set(readings.loc[readings["kind"].isin(("verdict", "set aside")), "name"])
    return {
        name
        for name in set_aside(facts.data) - changed
        if facts.data.result(name).get("text_verdict") == Verdict.CONTRADICTED
    }


def sort_by_effect(facts: StudyFacts, claims: Iterable[Claim]) -> list[Claim]:
    """Sort claims by effect: first those in contradictions that affect plotted points, or excluded
    by runs, then by how much they narrow the ranges of plotted points; the sort is stable.
    """
    entries = contradiction_entries(facts.data)
    set_by = points_by_claim(facts.data)
    disputed, matter = (
        {c for entry in some for conflict in entry["conflicts"] for c in conflict}
        for some in (entries, [e for e in entries if dependent_points(e, set_by)])
    )

    def rank(claim: Claim) -> tuple[bool, bool, float, int]:
        result = facts.data.result(claim.id)
        against = claim.id in disputed or result.get("measured_verdict") == Verdict.REFUTED
        matters = claim.id in matter or claim.id in set_by
        share = float(result.get("information") or 0.0)
        return (
            not (against and matters),
            not matters,
            -share if math.isfinite(share) else 0.0,
            -len(set_by.get(claim.id, ())),
        )

    return sorted(claims, key=rank)


def _row(facts: StudyFacts, claim: Claim, robust: set[str]) -> ClaimRow:
    words, result = claim_in_words(claim, facts.data), facts.data.result(claim.id)
    kinds = {e.id: e.kind for e in facts.data.study.exhibits}
    against = result.get("conflicts", ()) if words.text_verdict == Verdict.CONTRADICTED else ()
    origin = ("", "")
    if claim.origin is not None:
        link = facts.place.address(f"claim:{claim.origin.study}/{claim.origin.claim}", facts.id)
        origin = link, f"{claim.origin.study}: {claim.repeats}"
    return ClaimRow(
        claim=claim,
        source=_source(claim),
        origin=origin,
        words=words,
        interval=claim_interval(claim, result),
        conflicts=tuple(facts.place.address(f"claim:{name}", facts.id) for name in against),
        robust=claim.id in robust,
        exhibits=tuple(
            (e, exhibit_name(e, kinds[e]) if e in kinds else "in the text", e in kinds)
            for e in claim.exhibits
        ),
        filter_keys={
            "exhibit": " ".join(claim.exhibits),
            "kind": claim.kind,
            "verdict": "|".join(_verdicts(claim, words)),
        },
    )


def _source(claim: Claim) -> str:
    """Where a claim stands, the printed number to search for, and how its words were read."""
    parts = [
        sections_sentence(claim),
        TAKEN_FROM[claim.taken_from] if claim.taken_from else "",
        f"Search for “{printed}”." if claim.sections and (printed := as_printed(claim)) else "",
        f"Read as: {claim.reading}." if claim.reading else "",
        f"Why: {claim.why}" if claim.assumed and claim.why else "",
        f"({claim.kind.replace('_', ' ')}; {claim.id})",
    ]
    return " ".join(filter(None, parts))


def as_printed(claim: Claim) -> str:
    """The printed number as the statement quotes it; "" where a reading of words stands for it."""
    if claim.value is None:
        return ""
    half, size = claim.half_width, abs(claim.value)
    digits = max(0, -math.floor(math.log10(2 * half) + 1e-9)) if half else 0
    forms = (f"{size:,.{digits}f}", f"{size:.{digits}f}", f"{size:.10g}")
    quoted = (form for form in forms if _quotes(claim.says, form))
    return next(quoted, "")


def _quotes(text: str, number: str) -> bool:
    return bool(re.search(rf"(?<![\d.,]){re.escape(number)}(?!\d|[.,]\d)", text))


def _filters(
    rows: Sequence[ClaimRow], facts: StudyFacts
) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Name, label and choices of every filter."""
    order = {e.id: k for k, e in enumerate(facts.data.study.exhibits)}
    named = dict.fromkeys((e, name) for row in rows for e, name, _ in row.exhibits)
    verdicts = (word for row in rows for word in _verdicts(row.claim, row.words))
    return [
        ("exhibit", "Exhibit", sorted(named, key=lambda pair: order.get(pair[0], len(order)))),
        ("kind", "Kind of claim", _count_values(row.claim.kind for row in rows)),
        ("verdict", "Verdict", _count_values(verdicts)),
    ]


def _verdicts(claim: Claim, words: ClaimWords) -> tuple[str, str]:
    """Keys of a claim for the verdict filter: displayed labels without the number of places."""
    return shown_verdict(words.text_verdict, claim.n_places), words.measured_verdict


def _count_values(values: Iterable[str]) -> list[tuple[str, str]]:
    counts = Counter(values)
    return [(value, f"{value.replace('_', ' ')} ({counts[value]})") for value in sorted(counts)]


def _numbers(facts: StudyFacts, rows: Sequence[ClaimRow]) -> Numbers:
    """Table with one row a claim: printed number, implied range, both verdicts."""
    table = []
    for claim, words in ((row.claim, row.words) for row in rows):
        result = facts.data.result(claim.id)
        table.append(
            {
                "study": facts.id,
                "claim": claim.id,
                "kind": claim.kind,
                "says": claim.says,
                "printed": math.nan if claim.value is None else claim.value,
                "printed_low": claim.low,
                "printed_high": claim.high,
                "text_verdict": words.text_verdict,
                "measured_verdict": words.measured_verdict,
                **{name: result.get(name) for name in FROM_STAGES},
            }
        )
    return Numbers.of(pd.DataFrame(table), f"{facts.id}-claims", words="Download all (CSV)")


WIDTH, HEIGHT, EDGE = 132, 18, 6


@dataclass(frozen=True)
class ClaimDrawing:
    """Drawing coordinates: a `line` for the range implied by the paper's other claims, with an
    arrow at an unbounded end (`open_low`, `open_high`); a `bar` (start and width) for the printed
    number with its rounding; the measured estimate, and its interval as a `whisker`.
    """

    line: tuple[float, float]
    open_low: bool
    open_high: bool
    bar: tuple[float, float]
    measured: float | None
    whisker: tuple[float, float] | None


def claim_interval(claim: Claim, result: Mapping[str, Any]) -> ClaimDrawing | None:
    """Drawing coordinates of a claim; None if there is no number to draw."""
    printed = (claim.low, claim.high)
    allowed = (_number(result, "implied_low", -math.inf), _number(result, "implied_high", math.inf))
    value, low, high = (
        _number(result, name, math.nan) for name in ("estimate", "estimate_low", "estimate_high")
    )
    ends = [v for v in (*printed, *allowed, value, low, high) if math.isfinite(v)]
    if not any(map(math.isfinite, printed)) or not ends:
        return None
    room = max(abs(max(ends)), 1.0) / 2 if max(ends) == min(ends) else 0.0
    edges = (min(ends) - room, max(ends) + room)

    def x(value: float) -> float:
        return round(float(np.interp(value, edges, (EDGE, WIDTH - EDGE))), 1)

    bar = (x(printed[0]), x(printed[1]))
    return ClaimDrawing(
        (x(allowed[0]), x(allowed[1])),
        math.isinf(allowed[0]),
        math.isinf(allowed[1]),
        (round(bar[0] - 1, 1), round(bar[1] - bar[0], 1) + 2),
        x(value) if math.isfinite(value) else None,
        (x(low), x(high)) if math.isfinite(low + high) and high > low else None,
    )


def _number(result: Mapping[str, Any], name: str, absent: float) -> float:
    value = result.get(name)
    number = float(value) if isinstance(value, int | float) else math.nan
    return absent if math.isnan(number) else number
