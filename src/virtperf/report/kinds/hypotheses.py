"""The hypotheses of a measured study: what is expected, where it comes from, what its runs say."""

from __future__ import annotations

import pandas as pd

from virtperf.report.kinds import Context, Kind, note, register
from virtperf.report.records import Grid, Numbers, Record, Span, Words
from virtperf.study.claims import Claim
from virtperf.study.hypotheses import Hypothesis

COLUMNS = [
    "claim",
    "measured_verdict",
    "estimate",
    "estimate_low",
    "estimate_high",
    "runs_needed",
    "reason",
]


def record(context: Context) -> Record:
    """A table with one row a hypothesis: its words, its origin and our reading, the verdict with
    its reason.
    """
    data = context.data
    if not data.paper_claims:
        return register(context, "hypotheses", note("The study states no hypothesis."))
    results = [{"claim": claim.id, **data.result(claim.id)} for claim in data.paper_claims]
    rows = tuple(
        (
            _asked(claim),
            (Span(text=verdict(result), style="verdict"),),
            str(result.get("reason") or ""),
        )
        for claim, result in zip(data.paper_claims, results, strict=True)
    )
    columns = ("Hypothesis", "Verdict", "What the runs say")
    ids = tuple(f"claim-{claim.id}" for claim in data.paper_claims)
    grid = Grid(label="Hypotheses", columns=columns, rows=rows, ids=ids, stacks=True)
    numbers = Numbers.of(
        pd.DataFrame(results).reindex(columns=COLUMNS), f"{data.study.id}-hypotheses"
    )
    claims = (claim.id for claim in data.paper_claims)
    return register(context, "hypotheses", grid, claims=claims, numbers=(numbers,))


def verdict(result: dict[str, object]) -> str:
    """The verdict of measured runs, of a row of the table of verdicts."""
    return str(result.get("measured_verdict") or "no measurement")


def _asked(claim: Claim) -> Words:
    words: list[str | Span] = [claim.says]
    if isinstance(claim, Hypothesis) and claim.origin is not None:
        # in our words, as the claim's own row has them: no quotation of the paper
        asked = f"Asked again from {claim.origin.study}: {claim.repeats}"
        link = f"claim:{claim.origin.study}/{claim.origin.claim}"
        words.append(Span(text=asked, style="small", link=link))
    if claim.reading:
        words.append(Span(text=f"Read as: {claim.reading}", style="small"))
    return tuple(words)


KIND = Kind("hypotheses", record)
