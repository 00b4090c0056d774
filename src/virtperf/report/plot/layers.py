"""A caller's frames put together for drawing: marks, bands and runs with the columns that tell
points apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from rawperf.core.errors import VirtperfError
from rawperf.core.near import did_you_mean
from virtperf.report.plot import marks
from virtperf.report.plot.axis import AxisWords
from virtperf.report.plot.theme import Look, look

QUANTITY = "quantity"  # the column of a study's frames that says what is measured
PANEL_COLUMN = "panel"  # the column made of it where quantities of one unit share a panel
UNNAMED = ""  # the one panel, or the one series, of a figure without such a column


@dataclass(frozen=True)
class Layers:
    """What a figure, a panel or a series draws: `marks`, `bands` and single `runs` as `marks_of`
    and `bands_of` make them.

    `rows` and `series` are panels and series, in order of appearance. `needs_words`: whether the
    legend explains marks; those of somebody's own runs speak for themselves. `given` are the
    caller's frames: their levels stand on the axis, whether there is something to draw or not.
    """

    x: str
    hue: str | None
    row: str | None
    marks: pd.DataFrame
    bands: pd.DataFrame
    runs: pd.DataFrame
    rows: tuple[Any, ...]
    series: tuple[Any, ...]
    words: AxisWords
    y: str
    ylabel: str
    needs_words: bool
    given: tuple[pd.DataFrame, ...]

    def look(self, label: Any) -> Look:
        """How a series looks: in the colour that its study gives it, else by its place in the
        figure.
        """
        return look(self.words.colours.get(str(label), self.series.index(label)))

    def part(self, row: Any) -> Layers:
        """One panel."""
        return replace(self._where(self.row, row) if self.row else self, rows=(row,))

    def only(self, label: Any) -> Layers:
        """One series; those of all are kept in `series`."""
        return self._where(self.hue, label) if self.hue else self

    def levels(self, label: Any) -> list[Any]:
        """The levels at which a series has anything."""
        own = self.only(label)
        return list(
            dict.fromkeys(
                v for frame in (own.bands, own.marks, own.runs) for v in frame[self.x].tolist()
            )
        )

    def _where(self, column: str, value: Any) -> Layers:
        marks, bands, runs = (
            frame[frame[column] == value] for frame in (self.marks, self.bands, self.runs)
        )
        return replace(self, marks=marks, bands=bands, runs=runs)


def gathered(
    points: pd.DataFrame | None,
    means: pd.DataFrame | None,
    printed: pd.DataFrame | None,
    runs: pd.DataFrame | None = None,
    *,
    x: str,
    y: str,
    hue: str | None,
    row: str | None,
    labels: Mapping[str, str] | None,
    xlabel: str | None,
    ylabel: str | None,
) -> Layers:
    """Put frames together; raises `VirtperfError` where there is none, or one has not the columns
    that are named.
    """
    given = {"points": points, "means": means, "printed": printed, "runs": runs}
    frames = {name: frame for name, frame in given.items() if frame is not None}
    if not frames:
        raise VirtperfError(
            "there is nothing to draw", expected="one of the frames points, means, printed, runs"
        )
    words = AxisWords.of(frames.values(), {**(labels or {}), **({x: xlabel} if xlabel else {})})
    if all(QUANTITY in frame for frame in frames.values()):
        frames = {
            n: f.assign(**{PANEL_COLUMN: f[QUANTITY].map(words.panel)}) for n, f in frames.items()
        }
    shown = list(
        dict.fromkeys(
            p for f in frames.values() if PANEL_COLUMN in f for p in f[PANEL_COLUMN].tolist()
        )
    )
    if row is None and len(shown) > 1:
        row = PANEL_COLUMN  # different units share no axis
    keys = [column for column in (row, hue, x) if column is not None]
    for name, frame in frames.items():
        for column in (*keys, *(() if name in ("points", "printed") else (y,))):
            if column not in frame.columns:
                raise VirtperfError(
                    f"{name} has no column {column!r}", remedy=did_you_mean(column, frame.columns)
                )
    only = str(shown[0]) if len(shown) == 1 and str(shown[0]) in words.labels else y
    points, means, printed, runs = (frames.get(name) for name in given)
    means, runs = (
        None if frame is None else frame.assign(value=frame[y]) for frame in (means, runs)
    )
    drawn, bands = marks.marks_of(keys, points, means, printed), marks.bands_of(keys, points)
    single = marks.marks_of(keys, None, runs, None)
    own = {*drawn["mark"], *single["mark"]} <= {marks.OWN_DATA} and not len(bands)

    def distinct(column: str | None) -> tuple[Any, ...]:
        if column is None:
            return (UNNAMED,)
        return tuple(
            dict.fromkeys(v for frame in frames.values() for v in frame[column].tolist())
        ) or (UNNAMED,)

    return Layers(
        x,
        hue,
        row,
        drawn,
        bands,
        single,
        distinct(row),
        distinct(hue),
        words,
        only if y == "value" else y,
        ylabel or "",
        not own,
        tuple(frames.values()),
    )
