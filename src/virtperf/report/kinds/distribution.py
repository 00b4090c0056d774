"""Distribution figures: empirical cumulative distributions of a run's independent samples or
histogram buckets, with a table of percentiles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from rawperf.core.errors import StudyError, did_you_mean
from rawperf.core.model import Flag
from virtperf.core.estimate import Estimate
from virtperf.core.numbers import as_precise, interval, pretty
from virtperf.core.order_statistics import BucketCounts, interquartile_range, quantile
from virtperf.core.provenance import Provenance
from virtperf.report import frames
from virtperf.report.kinds import (
    Context,
    ExhibitKind,
    ExhibitSpec,
    Figure,
    attribution,
    note,
    trace,
)
from virtperf.report.kinds._figure import check_colours, check_labels, exhibit_record
from virtperf.report.records import Block, Folded, Grid, Numbers, Record
from virtperf.report.wording import exhibit_name, short_number
from virtperf.study.definition import Exhibit, Series, Study

QUANTILES = {"median": 0.5, "p90": 0.9, "p99": 0.99}
_SPREAD = "interquartile"
_HEADINGS = (
    "Series",
    "Samples",
    "Median",
    "90th percentile",
    "99th percentile",
    "Interquartile range",
)

OF_BUCKETS = (
    "A percentile of a histogram is the upper bound of its bucket; the true value can be anywhere "
    "in the bucket."
)


class Spec(ExhibitSpec):
    """Each series has one level of `over`, and shows the samples from which its quantity is
    observed.

    `log` is a logarithmic axis of values, `stated` a claim whose number is drawn across the curves.
    """

    series: tuple[Series, ...]
    stated: str = ""
    quantity: str = ""
    over: str = ""
    log: Flag = False


def check(study: Study, exhibit: Exhibit) -> None:
    """Check that series have one level each, distinct labels, and one unit."""
    check_labels(exhibit)
    for series in exhibit.series:
        if len(series.levels) > 1:
            raise StudyError(
                f"{exhibit.id}: {series.label!r} has several levels",
                file="study.yaml",
                expected="one level per series",
            )
    kinds = [study.quantities[s.quantity] for s in exhibit.series if s.quantity in study.quantities]
    if len({kind.unit for kind in kinds}) > 1:
        raise StudyError(
            f"{exhibit.id}: its series have different units",
            file="study.yaml",
            expected="one unit",
            found=", ".join(sorted({kind.unit for kind in kinds})),
        )
    for kind in kinds:
        if not kind.observed:
            raise StudyError(
                f"{exhibit.id}: {kind.name} is a quantity without `observed`",
                file="study.yaml",
                expected="a quantity with `observed`",
            )
    check_colours(study, exhibit)


def record(
    context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
) -> Record:
    """Build the record: the figure and its percentiles with intervals by order statistics."""
    study = context.study
    samples = frames.distribution(context.data, exhibit)
    name, table = exhibit_name(exhibit.id, "figure"), percentiles(samples, context.level)
    sentence = _finding(table, study.quantities[exhibit.series[0].quantity].unit)
    if len(table) and in_buckets(samples):
        sentence += f" {OF_BUCKETS}"
    numbers = [Numbers.of(table, f"{study.id}-{exhibit.id}")] if len(table) else []
    missing = [s.label for s in exhibit.series if s.label not in set(samples["series"])]
    blocks: list[Block] = []
    if len(table) and missing:
        blocks.append(note(f"Not measured: {', '.join(missing)}."))
    blocks += attribution(study) if "measured" in set(samples["provenance"]) else ()
    blocks.append(trace(study, exhibit))
    if len(table):
        grid = Grid(
            label=f"{name}: percentiles",
            columns=_HEADINGS,
            rows=tuple(_cells(row) for row in table.to_dict("records")),
            numeric=tuple(range(1, len(_HEADINGS))),
        )
        blocks.append(Folded(summary="The numbers", blocks=(grid,)))
    return exhibit_record(
        context,
        exhibit,
        figure,
        sentence,
        numbers,
        provenance=map(Provenance, dict.fromkeys(samples["provenance"])),
        blocks=blocks,
    )


def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure | None:
    """Draw the default picture; None if nothing was measured."""
    from virtperf.report import plot

    samples = frames.distribution(context.data, exhibit)
    if samples.empty:
        return None
    words = samples.attrs["axes"]
    quantity = exhibit.series[0].quantity
    name = str(exhibit.spec.get("stated", ""))
    stated = _stated(context, exhibit, name) if name else {}
    return plot.distribution(
        samples,
        level=context.level,
        log=bool(exhibit.spec.get("log")),
        xlabel=words["labels"][words["panels"].get(quantity, quantity)],
        stated=stated,
    )


def _stated(context: Context, exhibit: Exhibit, name: str) -> dict[str, float]:
    """Number of a claim that a figure draws across its curves, by its label."""
    study = context.study
    known = {claim.id: claim for claim in context.data.claims or ()}
    unit = study.quantities[exhibit.series[0].quantity].unit
    claim = known.get(name)
    terms = (t for i in claim.instances for p in i.parts for t in p.terms) if claim else ()
    numbers = (claim.value, claim.high, claim.low) if claim else ()
    stated = next((n for n in numbers if n is not None and math.isfinite(n)), None)
    if (
        claim is None
        or stated is None
        or claim.of_reference
        or {study.quantities[quantity.name].unit for _, quantity in terms} != {unit}
    ):
        raise StudyError(
            f"{exhibit.id}: `stated` names no claim with a number of its axis",
            file="study.yaml",
            expected=f"a claim that prints a number in {unit}",
            found=name,
            remedy="" if claim else did_you_mean(name, known),
        )
    return {f"stated: {short_number(stated)} {unit}": stated}


def percentiles(samples: pd.DataFrame, level: float) -> pd.DataFrame:
    """Table of sample count, quantiles and interquartile range with their intervals, one row a
    series and run.
    """
    rows = []
    keys = ["series", "unit", "provenance", "run_id"]
    for (series, unit, provenance, run_id), part in samples.groupby(keys, sort=False):
        row = {"series": series, "unit": unit, "provenance": provenance, "run_id": run_id}
        row["samples"] = round(part["count"].sum())
        estimates = _of_buckets(part, level) if in_buckets(part) else _of_samples(part, level)
        for label, found in estimates.items():
            row |= {label: found.value, f"{label}_low": found.low, f"{label}_high": found.high}
        rows.append(row)
    parts = [f"{name}{end}" for name in (*QUANTILES, _SPREAD) for end in ("", "_low", "_high")]
    return pd.DataFrame(rows, columns=[*keys, "samples", *parts])


def in_buckets(samples: pd.DataFrame) -> bool:
    """Whether rows are histogram buckets, which have two bounds."""
    return bool((samples["lower"] != samples["value"]).any())


def _of_samples(part: pd.DataFrame, level: float) -> dict[str, Estimate]:
    values = part["value"].to_numpy(dtype=float)
    estimates = {name: quantile(values, share, level) for name, share in QUANTILES.items()}
    return {**estimates, _SPREAD: interquartile_range(values, level)}


def _of_buckets(part: pd.DataFrame, level: float) -> dict[str, Estimate]:
    """Quantiles as upper bounds of their buckets; quartile intervals hold jointly (Bonferroni)."""
    lower, upper, count = (part[name].to_numpy(float) for name in ("lower", "value", "count"))
    counts = BucketCounts(lower, upper, count)
    estimates = {name: counts.quantile(share, level) for name, share in QUANTILES.items()}
    return {**estimates, _SPREAD: counts.interquartile_range(level)}


def _cells(row: Mapping[Any, Any]) -> tuple[str, ...]:
    cells = []
    for name in (*QUANTILES, _SPREAD):
        ends = [float(row[f"{name}{end}"]) for end in ("", "_low", "_high")]
        value, low, high = as_precise(*ends)
        finite = abs(ends[2]) < float("inf") and abs(ends[1]) < float("inf")
        limits = f"{low} to {high}" if finite else interval(ends[1], ends[2])
        cells.append(f"{value} {row['unit']} ({limits})")
    return (str(row["series"]), f"{row['samples']:,}", *cells)


def _finding(table: pd.DataFrame, unit: str) -> str:
    """Summarize each series in one sentence: median and 99th percentile."""
    if table.empty:
        return "No run was measured, so there is no distribution."
    return " ".join(
        f"{row['series']}: median {pretty(row['median'], 3)} {unit}, 99th percentile "
        f"{pretty(row['p99'], 3)} {unit}, {row['samples']:,} samples."
        for row in table.to_dict("records")
    )


KIND = ExhibitKind("distribution", record, spec=Spec, draw=draw, check=check)
