"""Figures over time: the samples of one run, and what the text allows for the levels that it speaks of."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict

from virtperf.core.provenance import Provenance
from virtperf.exhibits import frames
from virtperf.exhibits.joined import joined as joined_points
from virtperf.exhibits.joined import rows_of
from virtperf.exhibits.kinds import Context, ExhibitSpec, Kind, trace
from virtperf.exhibits.kinds._figure import drawing
from virtperf.exhibits.records import Numbers, Paragraph, Record
from virtperf.exhibits.wording import exhibit_name, interval, joined, pretty
from virtperf.study.definition import Exhibit

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = ["series", "unit", "provenance", "run_id", "t_s", "value"]


class _Line(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    label: str
    metric: str
    entity_kind: str
    unit: str
    entity: str = ""


class _Run(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)

    at: Mapping[str, str | int | float] = {}


class Spec(ExhibitSpec):
    """`run` is the condition whose samples are shown, `marks` the quantities whose level the text states."""

    run: _Run
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
        claims=tuple(c.id for c in context.data.claims.about(exhibit.id)) if context.data.claims else (),
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


def _levels(table: pd.DataFrame) -> Iterator[tuple[str, float, float, float]]:
    """Label, least, median and greatest value of every series."""
    for label, rows in table.groupby("series", sort=False):
        values = rows["value"].to_numpy(dtype=float)
        yield str(label), values.min(), float(np.median(values)), values.max()


def _finding(table: pd.DataFrame, marks: pd.DataFrame) -> str:
    parts = []
    for label, _, median, most in _levels(table):
        rows = table[table["series"] == label].reset_index(drop=True)
        unit, at = rows["unit"].iloc[0], rows["t_s"].iloc[int(rows["value"].to_numpy().argmax())]
        minutes, seconds = divmod(round(at), 60)
        when = f"{minutes}:{seconds:02d} min"
        parts.append(f"{label}: median {pretty(median, 3)} {unit}, at most {pretty(most, 3)} {unit} at {when}.")
    parts = parts or ["No run shows this yet."]
    if len(marks):
        allowed = joined(f"{interval(p.low, p.high)} for {p.series.lower()}" for p in rows_of(marks))
        parts.append(f"The text allows {allowed}.")
    return " ".join(parts)


KIND = Kind("timeseries", record, spec=Spec, draw=draw)
