"""Time series figures: the samples of one run, and levels stated by the text."""

from __future__ import annotations

import math

import pandas as pd

from rawperf.core.model import Model
from virtperf.core.numbers import pretty
from virtperf.core.provenance import Provenance
from virtperf.report import frames
from virtperf.report.frames import allowed
from virtperf.report.kinds import Context, ExhibitKind, ExhibitSpec, Figure, trace
from virtperf.report.kinds._figure import check_colours, exhibit_record
from virtperf.report.records import Numbers, Paragraph, Record
from virtperf.report.wording import clock
from virtperf.study.definition import Exhibit
from virtperf.study.parts import SingleCondition

MIN_LEVELS = 3  # stated by the text: fewer are a sentence, no picture
COLUMNS = ["series", "unit", "provenance", "run_id", "t_s", "value"]


class _Line(Model):
    label: str
    colour: str = ""
    metric: str
    entity_kind: str
    unit: str
    entity: str = ""


class Spec(ExhibitSpec):
    """`run` is the condition of the samples shown, `marks` the quantities with a level stated by
    the text.
    """

    run: SingleCondition
    series: tuple[_Line, ...]
    marks: tuple[str, ...] = ()


def record(
    context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
) -> Record:
    """Build the record of the figure: samples of a measured run; without one, the levels stated by
    the text.
    """
    table = _samples(context, exhibit)
    marks = _marks(context, exhibit)
    # the trace is of quantities; samples without marked levels have none
    numbers, blocks = [], [trace(context.study, exhibit)] if len(marks) else []
    if len(table):
        numbers.append(Numbers.of(table, f"{context.study.id}-{exhibit.id}"))
        note = f"Run {table['run_id'].iloc[0]}: all samples of these metrics in its raw files, unsmoothed."
        blocks.insert(0, Paragraph(words=note, style="small"))
    if len(marks):
        limits = marks[["series", "low", "high", "low_text", "high_text", "printed"]]
        words = "" if numbers else "Numbers (CSV)"
        limits = limits.replace([math.inf, -math.inf], math.nan)
        numbers.append(Numbers.of(limits, f"{context.study.id}-{exhibit.id}-levels", words=words))
    kinds = tuple(Provenance(kind) for kind in dict.fromkeys(table["provenance"]))
    return exhibit_record(
        context,
        exhibit,
        figure,
        _finding(table, marks),
        numbers,
        provenance=kinds or ((Provenance.RECONSTRUCTED,) if len(marks) else ()),
        blocks=blocks,
    )


def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure | None:
    """Draw one panel a unit; without a run the stated levels side by side, None for fewer than
    `MIN_LEVELS`, which are no more than numbers.
    """
    from virtperf.report import plot

    samples, marks = _samples(context, exhibit), _marks(context, exhibit)
    if len(samples):
        return plot.timeline(samples, points=marks if len(marks) else None)
    return plot.bars(marks, x="series", xlabel="Quantity") if len(marks) >= MIN_LEVELS else None


def _samples(context: Context, exhibit: Exhibit) -> pd.DataFrame:
    return frames.timeline(context.data, exhibit)[COLUMNS]


def _marks(context: Context, exhibit: Exhibit) -> pd.DataFrame:
    """Levels stated by the text."""
    return context.points(exhibit) if exhibit.series else pd.DataFrame()


def _finding(table: pd.DataFrame, marks: pd.DataFrame) -> str:
    parts = []
    for label, rows in table.groupby("series", sort=False):
        most, median = rows.iloc[int(rows["value"].argmax())], pretty(rows["value"].median(), 3)
        highest = f"maximum {pretty(most['value'], 3)} {most['unit']} at {clock(most['t_s'])} min"
        parts.append(f"{label}: median {median} {most['unit']}, {highest}.")
    parts = parts or ["No run was measured, so there is no time series."]
    parts += [f"{mark['series']}: {allowed(mark['pieces'])}." for mark in marks.to_dict("records")]
    return " ".join(parts)


KIND = ExhibitKind("timeseries", record, spec=Spec, draw=draw, check=check_colours)
