"""Figures over time: the samples of one run, and what the text allows for the levels that it speaks of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pandas as pd

from virtperf.core.model import Model
from virtperf.core.provenance import Provenance
from virtperf.exhibits import frames
from virtperf.exhibits.joined import joined as joined_points
from virtperf.exhibits.joined import rows_of
from virtperf.exhibits.kinds import Context, ExhibitSpec, Kind, trace
from virtperf.exhibits.kinds._figure import drawing
from virtperf.exhibits.records import Numbers, Paragraph, Record
from virtperf.exhibits.wording import clock, exhibit_name, interval, joined, pretty
from virtperf.study.definition import Exhibit
from virtperf.study.parts import Condition

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ["series", "unit", "provenance", "run_id", "t_s", "value"]


class _Line(Model):
    label: str
    metric: str
    entity_kind: str
    unit: str
    entity: str = ""


class Spec(ExhibitSpec):
    """`run` is the condition whose samples are shown, `marks` the quantities whose level the text states."""

    run: Condition
    series: tuple[_Line, ...]
    marks: tuple[str, ...] = ()


def record(context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object) -> Record:
    """The figure with its numbers."""
    table = _samples(context, exhibit)
    marks = _marks(context, exhibit)
    name, said = exhibit_name(exhibit.id, "figure"), _finding(table, marks)
    numbers = [Numbers.of(table, f"{context.study.id}-{exhibit.id}")]
    if len(marks):
        limits = marks[["series", "low", "high", "told"]].replace([math.inf, -math.inf], math.nan)
        numbers.append(Numbers.of(limits, f"{context.study.id}-{exhibit.id}-levels", words=""))
    run = table["run_id"].iloc[0] if len(table) else "none"
    note = f"Run {run}: every sample that its raw files hold for these metrics. Nothing is smoothed."
    kinds = tuple(Provenance(kind) for kind in dict.fromkeys(table["provenance"]))
    return Record(
        kind="timeseries", id=exhibit.id, study=context.study.id, name=name, title=exhibit.title, caption=said,
        provenance=kinds or ((Provenance.RECONSTRUCTED,) if len(marks) else ()), numbers=tuple(numbers),
        claims=context.data.claims_about(exhibit.id),
        blocks=(Paragraph(words=note, style="small"), trace(context.study, exhibit)),
        drawing=drawing(figure, exhibit.id, f"{name}: {exhibit.title}", said, numbers),
    )  # fmt: skip


def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure:
    """The default picture: one panel a unit."""
    from virtperf.exhibits import plot

    marks = _marks(context, exhibit)
    return plot.timeline(_samples(context, exhibit), points=marks if len(marks) else None)


def _samples(context: Context, exhibit: Exhibit) -> pd.DataFrame:
    return frames.timeline(context.data, exhibit, examples=context.examples)[COLUMNS]


def _marks(context: Context, exhibit: Exhibit) -> pd.DataFrame:
    """The levels that the text speaks of, drawn as bands across the whole time."""
    if not exhibit.series:
        return pd.DataFrame(columns=["series", "low", "high", "told"])
    return joined_points(context.data, exhibit, level=context.level, assumptions=context.assumptions,
                         examples=context.examples)  # fmt: skip


def _finding(table: pd.DataFrame, marks: pd.DataFrame) -> str:
    parts = []
    for label, rows in table.groupby("series", sort=False):
        most, median = rows.iloc[int(rows["value"].argmax())], pretty(rows["value"].median(), 3)
        highest = f"at most {pretty(most['value'], 3)} {most['unit']} at {clock(most['t_s'])} min"
        parts.append(f"{label}: median {median} {most['unit']}, {highest}.")
    parts = parts or ["No run shows this yet."]
    if len(marks):
        allowed = joined(f"{interval(p.low, p.high)} for {p.series.lower()}" for p in rows_of(marks))
        parts.append(f"The text allows {allowed}.")
    return " ".join(parts)


KIND = Kind("timeseries", record, spec=Spec, draw=draw)
