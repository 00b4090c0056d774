"""All claims of all studies on one page: to be filtered, searched, sorted and linked, and readable without scripts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from virtperf.exhibits.claim_words import Said, said, verdict_words
from virtperf.exhibits.records import Numbers
from virtperf.exhibits.wording import exhibit_name
from virtperf.render import downloads
from virtperf.render.places import listed_claim
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.intervals import Interval, interval
from virtperf.render.site.shell import page
from virtperf.study.claims import Claim

FROM_STAGES = ("implied_low", "implied_high", "estimate", "estimate_low", "estimate_high", "reason")


@dataclass(frozen=True)
class Row:
    """One claim as the page shows it.

    Attributes
    ----------
    anchor : str
        Its permanent place on the page.
    about : tuple of (str, str, bool)
        Id and name of each exhibit that it speaks of, and whether the report has that exhibit.
    against : tuple of str
        The claims that exclude it.
    seen : mapping of str to str
        What filters and sorting look at.
    """

    study: str
    anchor: str
    claim: Claim
    where: str
    said: Said
    interval: Interval | None
    against: tuple[str, ...]
    about: tuple[tuple[str, str, bool], ...]
    seen: Mapping[str, str]


def claims_page(studies: Sequence[StudyFacts]) -> str:
    """The page; its rows carry what filters look at in data attributes."""
    found = [(facts, claim, facts.data.result(claim.id)) for facts in studies for claim in facts.claims]
    rows = [_row(*one) for one in found]
    numbers = _numbers(found)
    return page(
        "claims", "claims.html", "Claims", scripts=("claims.js",), wide=True, rows=rows,
        filters=_filters(rows, studies), download=downloads.address(numbers), numbers=numbers,
    )  # fmt: skip


def _row(facts: StudyFacts, claim: Claim, result: dict[str, Any]) -> Row:
    told = said(claim, facts.data)
    known = {e.id for e in facts.data.study.exhibits}
    reading = f" Read as: {claim.reading}." if claim.reading else ""
    return Row(
        study=facts.id, anchor=listed_claim(facts.id, claim.id), claim=claim,
        where=f"{'; '.join(claim.sections)}.{reading} ({claim.kind.replace('_', ' ')}; {claim.id})",
        said=told, interval=interval(claim, result),
        against=tuple(result.get("conflicts", ())) if told.text_verdict == "contradicted" else (),
        about=tuple((e, _exhibit(e), e in known) for e in claim.exhibits),
        seen={
            "study": facts.id, "exhibit": " ".join(f"{facts.id}/{e}" for e in claim.exhibits), "kind": claim.kind,
            "verdict": f"{told.text_verdict}|{told.measured_verdict}",
            "printed": "" if claim.value is None else str(claim.value),
        },
    )  # fmt: skip


def _exhibit(exhibit_id: str) -> str:
    return "in the text" if exhibit_id == "text" else exhibit_name(exhibit_id, "")


def _filters(rows: Sequence[Row], studies: Sequence[StudyFacts]) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Name, label and choices of every filter."""
    order = {f"{f.id}/{e.id}": k for f in studies for k, e in enumerate(f.data.study.exhibits)}
    named = dict.fromkeys((f"{row.study}/{e}", f"{row.study}: {name}") for row in rows for e, name, _ in row.about)
    exhibits = sorted(named, key=lambda pair: (pair[0].partition("/")[0], order.get(pair[0], len(order))))
    return [
        ("study", "Study", _counted(row.study for row in rows)),
        ("exhibit", "Exhibit", exhibits),
        ("kind", "Kind of claim", _counted(row.claim.kind for row in rows)),
        (
            "verdict",
            "Verdict",
            _counted(word for row in rows for word in (row.said.text_verdict, row.said.measured_verdict)),
        ),
    ]


def _counted(values: Iterable[str]) -> list[tuple[str, str]]:
    counts = Counter(values)
    return [(value, f"{value.replace('_', ' ')} ({counts[value]})") for value in sorted(counts)]


def _numbers(found: Sequence[tuple[StudyFacts, Claim, dict[str, Any]]]) -> Numbers:
    """One row a claim: what is printed, what follows, both verdicts."""
    rows = []
    for facts, claim, result in found:
        from_text, measured = verdict_words(claim, result)
        rows.append({
            "study": facts.id, "claim": claim.id, "kind": claim.kind, "says": claim.says,
            "printed": math.nan if claim.value is None else claim.value,
            "printed_low": claim.low, "printed_high": claim.high, "text_verdict": from_text,
            "measured_verdict": measured, **{name: result.get(name) for name in FROM_STAGES},
        })  # fmt: skip
    return Numbers.of(pd.DataFrame(rows), "claims", words="Download all claims (CSV)")
