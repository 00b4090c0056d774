"""A study's rehearsal: what the pipeline recovers from simulated runs, beside what they were made
around.
"""

from __future__ import annotations

from collections import Counter

import pandas as pd

from virtperf.core.provenance import Provenance
from virtperf.report.axis_words import unit_words
from virtperf.report.data import StudyData
from virtperf.report.html.record import address, distinct, record_html
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.templating import page
from virtperf.report.kinds import Context, kinds
from virtperf.report.records import Numbers
from virtperf.report.wording import as_precise

ANCHORS = ("recovered", "formats", "quality")


def rehearsal_page(facts: StudyFacts, data: StudyData) -> str:
    """The page; `data` are the rehearsal's, those of `facts` have no simulated run."""
    level = facts.context.level
    found = recovered(data, level)
    compared = found["covered"].dropna()
    (record,) = distinct([kinds()["quality"].record(Context(data, level))], taken=ANCHORS)
    numbers = Numbers.of(found.assign(runs=found["runs"].map(";".join)), f"{facts.id}-rehearsal")
    rows = []
    for row in found.to_dict("records"):
        value, low, high = as_precise(row["recovered"], row["low"], row["high"])
        rows.append((row, value if row["covered"] is None else f"{value} ({low} to {high})"))
    return page(
        "rehearsal",
        f"Rehearsal: {facts.title}",
        wide=True,
        facts=facts,
        level=level,
        rows=rows,
        covered=int(compared.sum()),
        compared=len(compared),
        runs=len(data.index.get("runs", ())),
        formats=formats(data),
        quality=record_html(record, place=facts.place),
        folder=f"../data/reconstructed/{facts.id}/runs",
        download=address(numbers),
        numbers=numbers,
    )


COLUMNS = ("quantity", "unit", "given", "recovered", "low", "high", "n", "covered", "runs")


def recovered(data: StudyData, level: float) -> pd.DataFrame:
    """One row a quantity and condition that simulated runs observe; reference points, which are
    their own scale, have none.

    quantity (in words with its levels), unit, given (the value that the runs were made around),
    recovered (the mean over them) with low and high, n, covered (None without an interval, or where
    all runs give one number since their tool prints no more digits), runs (ids).
    """
    study = data.study
    given = dict(zip(data.truth["quantity"], data.truth["value"], strict=True))
    rows, order = [], list(study.quantities)
    for quantity in sorted(
        data.observed, key=lambda quantity: (order.index(quantity.name), quantity.key())
    ):
        mean = data.mean(quantity, Provenance.SIMULATED)
        value, reference = given.get(quantity.key()), study.reference_for(quantity)
        if mean is None or value is None or (reference is not None and reference[0] == quantity):
            continue
        mean = mean.at(level)
        covered = bool(mean.low <= value <= mean.high) if mean.low < mean.high else None
        runs = mean.origin.runs if mean.origin is not None else ()
        unit = unit_words(study, quantity.name, [quantity])
        rows.append(
            (
                study.show(quantity),
                unit,
                value,
                mean.value,
                mean.low,
                mean.high,
                mean.n,
                covered,
                list(runs),
            )
        )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def formats(data: StudyData) -> list[tuple[str, int, int, int]]:
    """Raw formats that were written and read: name, runs, files, samples; by name."""
    runs, files, samples = Counter[str](), Counter[str](), Counter[str]()
    for run in data.index.get("runs", ()):
        runs.update({file["format"] for file in run["files"]})
        files.update(file["format"] for file in run["files"])
        for file in run["files"]:
            samples[file["format"]] += file["samples"]
    return [(name, runs[name], files[name], samples[name]) for name in sorted(files)]
