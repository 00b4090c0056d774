"""A study's rehearsal: what the pipeline recovers from simulated runs, beside what they were made around."""

from __future__ import annotations

from typing import Any

from virtperf.exhibits.data import StudyData
from virtperf.exhibits.kinds import Context, kinds
from virtperf.exhibits.records import Numbers
from virtperf.exhibits.rehearsal import formats, recovered
from virtperf.exhibits.wording import as_precise
from virtperf.render import downloads
from virtperf.render.record import distinct, record_html
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import page

RUNS = "../data/reconstructed/{study}/runs"
ANCHORS = ("recovered", "formats", "quality")


def rehearsal_page(facts: StudyFacts, data: StudyData) -> str:
    """The page; `data` are the rehearsal's, those of `facts` have no simulated run."""
    level = facts.context.level
    found = recovered(data, level)
    compared = found["covered"].dropna()
    (record,) = distinct([kinds()["quality"].record(Context(data, level))], taken=ANCHORS)
    numbers = Numbers.of(found.assign(runs=found["runs"].map(";".join)), f"{facts.id}-rehearsal")
    rows = [(row, _words(row)) for row in found.itertuples(index=False)]
    return page(
        "rehearsal", "", f"Rehearsal: {facts.title}", wide=True, facts=facts, level=level, rows=rows,
        covered=int(compared.sum()), compared=len(compared),
        runs=len(data.index.get("runs", ())), formats=formats(data), quality=record_html(record, place=facts.place),
        folder=RUNS.format(study=facts.id), download=downloads.address(numbers), numbers=numbers,
    )  # fmt: skip


def _words(row: Any) -> str:
    """What is recovered, with its interval where there is one."""
    value, low, high = as_precise(row.recovered, row.low, row.high)
    return value if row.covered is None else f"{value} ({low} to {high})"
