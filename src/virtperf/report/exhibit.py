"""One exhibit with its related material: figure or table, fit estimates, derived numbers, claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from virtperf.core.estimate import Estimates
from virtperf.core.numbers import plural, pretty
from virtperf.core.provenance import RUN_KINDS, Provenance
from virtperf.report.axis_words import level_words
from virtperf.report.frames import StudyData
from virtperf.report.from_runs import ratio_of_runs
from virtperf.report.kinds import Context
from virtperf.report.records import (
    Folded,
    Grid,
    Heading,
    Paragraph,
    Record,
    is_long,
    row_count,
    split_tail,
)
from virtperf.study.definition import Exhibit, Study

DERIVED = "Derived numbers"
ESTIMATES = "Estimates"


def derived_ids(study: Study, exhibit: Exhibit) -> list[str]:
    """Ids of the derived numbers shown below an exhibit; a number based on several exhibits is
    shown below the first.
    """
    derived = (derivation.derived for derivation in study.derivations)
    return list(dict.fromkeys(d.id for d in derived if d.exhibits[:1] == (exhibit.id,)))


def joined_record(
    record: Record, parts: Sequence[Record], *, heading: str = "", note: str = "", shows: str = ""
) -> Record:
    """Merge an exhibit's record with the records shown below it.

    Tables get a heading within the exhibit. Collapsed blocks and links move to the end, the
    exhibit's own first. Numbers, claims and provenance are the union over all records. The lineage
    is the exhibit's own: the other exhibits that a derived number is about are not its sources.
    """
    body, end = split_tail(record.blocks)
    for part in parts:
        blocks, folded = split_tail(part.blocks)
        if part.kind == "ranges" and is_long(part.kind, *blocks):
            lead = [Paragraph(words=part.caption)] if part.caption else []
            summary = f"{DERIVED} ({plural(row_count(blocks), 'number')})"
            folded = [Folded(summary=summary, blocks=(*lead, *blocks)), *folded]
            blocks = []
        elif part.kind != "claims":
            title = DERIVED if part.kind == "ranges" else part.title.partition(": ")[2]
            blocks = [
                Heading(text=title),
                *([Paragraph(words=part.caption)] if part.caption else []),
                *blocks,
            ]
        body += blocks
        end += folded
    whole = (record, *parts)
    words = {
        "ranges": "Derived numbers (CSV)",
        "estimates": "Estimates (CSV)",
    }
    numbers = [
        table.model_copy(update={"words": words.get(part_record.kind, table.words)})
        for part_record in whole
        for table in part_record.numbers
    ]
    labels = {label for part in whole for label in part.provenance}
    return record.model_copy(
        update={
            "heading": heading,
            "note": note,
            "shows": shows,
            "blocks": (*body, *end),
            "numbers": tuple(numbers),
            "provenance": tuple(label for label in Provenance if label in labels),
            "claims": tuple(
                dict.fromkeys(claim for part_record in whole for claim in part_record.claims)
            ),
        }
    )


def fold(record: Record) -> Record:
    """Collapse a record, with its note as the first block."""
    note = [Paragraph(words=record.note)] if record.note else []
    return record.model_copy(update={"folded": True, "note": "", "blocks": (*note, *record.blocks)})


def fold_tables(record: Record) -> Record:
    """Collapse the long tables of a record of the appendix."""
    blocks = [
        Folded(summary=block.label, blocks=(block,))
        if isinstance(block, Grid) and is_long("appendix", block)
        else block
        for block in record.blocks
    ]
    return record.model_copy(update={"blocks": tuple(blocks)})


FIT_NAMES = (
    ("Scaling law", {"{x} at maximum {y}": "peak_load", "maximum {y}": "peak_throughput"}),
    (
        "Segmented line",
        {
            "{x} at the breakpoint": "breakpoint",
            "slope before": "slope1",
            "slope after": "slope2",
        },
    ),
    ("Straight line", {"change of {y} per unit of {x}": "slope", "{y} at 0": "intercept"}),
)
"""By family of fits: the table title; by label the methods or parameters that are tabulated, of which
the first identifies the family."""


def fit_estimates(context: Context, exhibit: Exhibit, fits: Mapping[Any, Any]) -> Estimates | None:
    """Estimates from the fits of a figure's series, with lack-of-fit warnings; None without fits or
    for an unknown family.
    """
    alpha, series = 1 - context.level, exhibit.series[0]
    available = [fit for fit in fits.values() if getattr(fit, "available", True)]
    families = (
        (title, names)
        for title, names in FIT_NAMES
        if available and hasattr(available[0], next(iter(names.values())))
    )
    title, names = next(families, ("", None))
    if names is None:
        return None
    from virtperf.models.fits import quantity  # the models take a second to load

    words = {
        "x": context.study.factors[series.over].label,
        "y": context.study.quantities[series.quantity].label.lower(),
    }
    estimates = {
        str(label): {
            ask.format(**words): add_lack_of_fit(quantity(fit, name, alpha), fit, alpha)
            for ask, name in names.items()
        }
        for label, fit in fits.items()
    }
    return Estimates(estimates, title)


def add_lack_of_fit(estimate: Any, fit: Any, alpha: float) -> Any:
    """Add a warning if the lack-of-fit test rejects the curve: largest relative error of a mean,
    and p-value.
    """
    from virtperf.models.fits import quantity

    test = quantity(fit, "lack_of_fit") if estimate.available else estimate
    if not test.available or test.pvalue >= alpha:
        return estimate
    means = fit.means()
    miss = 100 * (means["fitted"] / means["mean"] - 1).abs().max()
    p = "below 0.0001" if test.pvalue < 1e-4 else f"= {pretty(test.pvalue, 2)}"
    missed = f"misses a mean by {pretty(miss, 2)} %, more than the spread of the runs explains"
    return estimate.noted(f"lack of fit: the curve {missed} (p {p})")


def ratios_to_baseline(
    data: StudyData, exhibit: Exhibit, column: str, level: Any, confidence: float
) -> Estimates:
    """Ratios to a baseline `level` of a column, at each level of the other column.

    `column` is the factor of the figure's axis, or ``series``. Empty if no ratio can be estimated,
    e.g. with one run a condition.
    """
    factor = data.study.axis(exhibit)
    points = [(series.label, at, q) for series, at, q in data.study.points(exhibit)]
    kinds = (kind for kind in RUN_KINDS if any(q in data.samples(kind) for *_, q in points))
    provenance = next(kinds, Provenance.MEASURED)
    samples = data.samples(provenance)
    if column == "series":
        points.sort(key=lambda point: factor.levels.index(point[1]))
    conditions = {(label, at): q for label, at, q in points if q in samples}
    ratios: dict[str, Any] = {}
    for (label, at), quantity in conditions.items():
        baseline = conditions.get((label, level) if column == factor.name else (level, at))
        if baseline is None or baseline == quantity:
            continue
        count = plural(samples[quantity].n, "run")
        ratios[f"{label}, {level_words(factor, at)} ({count})"] = ratio_of_runs(
            data, {quantity: 1.0}, {baseline: 1.0}, confidence, provenance, (exhibit.id,)
        )
    if not any(estimate.available for estimate in ratios.values()):
        ratios = {}
    against = level_words(factor, level) if column == factor.name else str(level)
    return Estimates(ratios, f"Ratio to {against}")
