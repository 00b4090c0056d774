"""Pages of all claims: an overview of every paper, and a page a paper with filters, search, sorting
and links.

A small drawing shows the printed number, the range implied by the other claims, and the estimate
from measured runs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
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
from virtperf.report.html.site.gather import (
    HYPOTHESIS_VERDICTS,
    MEASURED_VERDICTS,
    Repetition,
    StudyFacts,
    repetition_counts,
    repetitions,
)
from virtperf.report.html.templating import page
from virtperf.report.kinds.contradictions import (
    contradiction_entries,
    dependent_points,
    points_by_claim,
    set_aside,
)
from virtperf.report.records import Numbers
from virtperf.report.synthesis.definition import SynthesisFile, SynthesisQuestion
from virtperf.report.wording import BY_TEXT, exhibit_name, shown_verdict
from virtperf.study.claims import Claim

FROM_STAGES = ("implied_low", "implied_high", "estimate", "estimate_low", "estimate_high", "reason")


@dataclass(frozen=True)
class ClaimRow:
    """One claim as shown on its page.

    `exhibits`: id and name of each exhibit of the claim, and whether the report has it;
    `conflict_urls`: URLs of the claims that exclude it; `filter_keys`: keys for filters and sorting.
    """

    claim: Claim
    source: str
    words: ClaimWords
    interval: Interval | None
    conflict_urls: tuple[str, ...]
    exhibits: tuple[tuple[str, str, bool], ...]
    filter_keys: Mapping[str, str]


@dataclass(frozen=True)
class MeasuredLinks:
    """Links from a paper to measured studies: claims that they ask again, and questions with
    numbers from both.
    """

    facts: StudyFacts
    claims: tuple[Repetition, ...]
    questions: tuple[SynthesisQuestion, ...]


def overview_page(every: Sequence[StudyFacts], file: SynthesisFile | None = None) -> str:
    """Render the overview: claims of each paper by verdict, verdicts of measured studies that ask
    them again, and claims that contradict their paper under every reading. `file` has the questions
    shared by studies.
    """
    studies = [facts for facts in every if facts.data.study.kind == "paper"]
    sections = []
    for facts in studies:
        claims = [
            (claim, claim_in_words(claim, facts.data))
            for claim in sort_by_effect(facts, excluded_claims(facts))
        ]
        matter = claims_affecting_points(facts)
        sections.append(
            (
                facts,
                [pair for pair in claims if pair[0].id in matter],
                [pair for pair in claims if pair[0].id not in matter],
            )
        )
    return page(
        "claims",
        "Claims",
        name="claims.html",
        studies=studies,
        repetition_counts={facts.id: list(repetition_counts(facts.id, every)) for facts in studies},
        answered=HYPOTHESIS_VERDICTS,
        measured_links=[_measured_links(facts, every, file) for facts in studies],
        by_text=BY_TEXT,
        by_runs=MEASURED_VERDICTS,
        excluded=sections,
        count=sum(len(claims) + len(minor) for _, claims, minor in sections),
    )


def _measured_links(
    facts: StudyFacts, every: Sequence[StudyFacts], file: SynthesisFile | None
) -> MeasuredLinks:
    measured = {other.id for other in every if other.data.study.kind == "measured"}
    questions = file.questions if file is not None else ()
    shared = (q for q in questions if facts.id in q.studies and measured & q.studies)
    return MeasuredLinks(facts, tuple(repetitions(facts.id, every)), tuple(shared))


def excluded_claims(facts: StudyFacts) -> Iterator[Claim]:
    """Yield the claims set aside and excluded by the text alone under every reading of its words."""
    readings = facts.data.readings
    changed = set(readings.loc[readings["kind"].isin(("verdict", "set aside")), "name"])
    aside = set_aside(facts.data) - changed
    for claim in facts.data.paper_claims:
        if (
            claim.id in aside
            and facts.data.result(claim.id).get("text_verdict") == Verdict.CONTRADICTED
        ):
            yield claim


def claims_affecting_points(facts: StudyFacts) -> set[str]:
    """Claims of contradictions on which plotted points depend."""
    set_by = points_by_claim(facts.data)
    return {
        claim
        for entry in contradiction_entries(facts.data)
        if dependent_points(entry, set_by)
        for conflict in entry["conflicts"]
        for claim in conflict
    }


def sort_by_effect(facts: StudyFacts, claims: Iterable[Claim]) -> list[Claim]:
    """Sort claims by effect: first those in contradictions that affect plotted points, or excluded
    by runs, then by how much they narrow the ranges of plotted points; the sort is stable.
    """
    disputed = {
        c
        for entry in contradiction_entries(facts.data)
        for conflict in entry["conflicts"]
        for c in conflict
    }
    matter = claims_affecting_points(facts)
    set_by = points_by_claim(facts.data)

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


def study_page(facts: StudyFacts, glossary: Glossary = EMPTY_GLOSSARY) -> str:
    """Render the claims of one paper; data attributes of the rows are the keys for filters."""
    rows = [_row(facts, claim) for claim in sort_by_effect(facts, facts.data.paper_claims)]
    numbers = _numbers(facts, rows)
    return page(
        "study_claims",
        f"Claims: {facts.title}",
        name="claims.html",
        scripts=("claims.js",),
        wide=True,
        facts=facts,
        words=glossary.used_in(" ".join(row.claim.says for row in rows)),
        rows=rows,
        measured=any(facts.measured[word] for word in MEASURED_VERDICTS),
        filters=_filters(rows, facts),
        verdicts=[
            word
            for word in (*BY_TEXT, *MEASURED_VERDICTS)
            if facts.text[word] or facts.measured[word]
        ],
        download=address(numbers),
        numbers=numbers,
    )


def _row(facts: StudyFacts, claim: Claim) -> ClaimRow:
    words, result = claim_in_words(claim, facts.data), facts.data.result(claim.id)
    kinds = {e.id: e.kind for e in facts.data.study.exhibits}
    reading = f" Read as: {claim.reading}." if claim.reading else ""
    source = f" {TAKEN_FROM[claim.taken_from]}" if claim.taken_from else ""
    against = result.get("conflicts", ()) if words.text_verdict == Verdict.CONTRADICTED else ()
    return ClaimRow(
        claim=claim,
        source=f"{sections_sentence(claim)}{source}{reading} ({claim.kind.replace('_', ' ')}; {claim.id})",
        words=words,
        interval=claim_interval(claim, result),
        conflict_urls=tuple(facts.place.address(f"claim:{name}", facts.id) for name in against),
        exhibits=tuple(
            (e, exhibit_name(e, kinds[e]) if e in kinds else "in the text", e in kinds)
            for e in claim.exhibits
        ),
        filter_keys={
            "exhibit": " ".join(claim.exhibits),
            "kind": claim.kind,
            "verdict": "|".join(_verdicts(claim, words)),
            "printed": "" if claim.value is None else str(claim.value),
        },
    )


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
    return Numbers.of(pd.DataFrame(table), f"{facts.id}-claims", words="Download all claims (CSV)")


WIDTH, HEIGHT, EDGE = 132, 18, 6


@dataclass(frozen=True)
class Interval:
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


def claim_interval(claim: Claim, result: Mapping[str, Any]) -> Interval | None:
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
    return Interval(
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
