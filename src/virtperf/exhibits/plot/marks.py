"""The layers of a figure: what a text allows, and means and numbers with a mark that says what they rest on."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.markers import MarkerStyle
from matplotlib.transforms import Transform

from virtperf.core.provenance import Provenance
from virtperf.exhibits.plot.theme import SURFACE_COLOUR, Look

HOLLOW, PRINTED, SOLID, CROSS, OWN = "hollow", "printed", "solid", "cross", "own"
_OF = {Provenance.SIMULATED: HOLLOW, Provenance.RECONSTRUCTED: HOLLOW, Provenance.PUBLISHED: PRINTED,
       Provenance.MEASURED: SOLID, Provenance.EXAMPLE: CROSS}  # fmt: skip
WITH_INTERVAL = (SOLID, CROSS, OWN)  # of the others the band says what is uncertain
BAND_ALPHA = 0.32
LINK_ALPHA = 0.12
MEAN, RUN = 46, 20  # areas of marks, in square points


@dataclass(frozen=True)
class Columns:
    """The names of a caller's columns; `hue` and `row` may be None."""

    x: str
    hue: str | None
    row: str | None

    def keys(self) -> list[str]:
        """The columns that tell points apart."""
        return [c for c in (self.row, self.hue, self.x) if c is not None]


def marks_of(
    columns: Columns, points: pd.DataFrame | None, means: pd.DataFrame | None, printed: pd.DataFrame | None
) -> pd.DataFrame:
    """One row a mark: the columns that tell points apart, mark, value, low, high.

    A mean's mark follows from its column `provenance`; without that column it is a reader's own, and solid as well. A
    point of `points` has its centre as hollow mark where it has no mean that was made from the text and no printed
    number.
    """
    keys = columns.keys()
    parts = []
    if means is not None:
        kinds = means["provenance"].map(_OF) if "provenance" in means else pd.Series(OWN, index=means.index)
        parts.append(means.assign(mark=kinds.fillna(OWN)))
    if printed is not None:
        parts.append(printed.assign(mark=PRINTED))
    elif points is not None and "printed" in points:
        parts.append(points.assign(value=points["printed"], low=math.nan, high=math.nan, mark=PRINTED))
    if points is not None and "centre" in points:
        parts.append(_centres(points, parts, keys))
    wanted = [*keys, "mark", "value", "low", "high"]
    kept = [part.reindex(columns=wanted).dropna(subset=["value"]) for part in parts]
    kept = [part.reset_index(drop=True) for part in kept if len(part)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=wanted)


def _centres(points: pd.DataFrame, others: Iterable[pd.DataFrame], keys: list[str]) -> pd.DataFrame:
    told = {
        tuple(row) for part in others for row in part[part["mark"].isin([HOLLOW, PRINTED]) & part["value"].notna()]
        [keys].itertuples(index=False)
    }  # fmt: skip
    untold = [tuple(row) not in told for row in points[keys].itertuples(index=False)]
    free = points[untold]
    return free.assign(value=free["centre"], low=math.nan, high=math.nan, mark=HOLLOW)


def bands_of(columns: Columns, points: pd.DataFrame | None, marks: pd.DataFrame) -> pd.DataFrame:
    """The points at which a band is drawn: a number that is only printed needs none, its rounding is all its room."""
    if points is None or "low" not in points:
        return pd.DataFrame(columns=[*columns.keys(), "low", "high", "low_text", "high_text"])
    keys = columns.keys()
    by_mark = {name: set(part[keys].itertuples(index=False, name=None)) for name, part in marks.groupby("mark")}
    only_printed = by_mark.get(PRINTED, set()) - by_mark.get(HOLLOW, set())
    place = points[keys].itertuples(index=False, name=None)
    shown = points[points["low"].notna() & np.array([key not in only_printed for key in place], dtype=bool)]
    return shown.assign(**{c: shown[c.removesuffix("_text")] for c in ("low_text", "high_text") if c not in shown})


def link(axes: Axes, x: np.ndarray, bands: pd.DataFrame, colour: str, transform: Transform) -> None:
    """A pale area between the bands: a band is stated at the points only, the link guides the eye."""
    low, high = inside(axes, bands)
    axes.fill_between(x, low, high, color=colour, alpha=LINK_ALPHA, linewidth=0, zorder=1, transform=transform)


def bars(axes: Axes, x: np.ndarray, bands: pd.DataFrame, colour: str, transform: Transform) -> None:
    """The band at each point as an upright bar."""
    low, high = inside(axes, bands)
    axes.vlines(
        x, low, high, colors=colour, alpha=BAND_ALPHA, linewidth=8, capstyle="butt", zorder=2, transform=transform,
        label="band",
    )  # fmt: skip
    bottom, top = axes.get_ylim()
    narrow = high - low < (top - bottom) * 0.004  # pinned to one value: still to be seen
    axes.plot(
        x[narrow], low[narrow], marker="_", markersize=14, color=colour, linestyle="none", markeredgewidth=2,
        zorder=2.1, transform=transform,
    )  # fmt: skip


def arrows(axes: Axes, x: np.ndarray, bands: pd.DataFrame, colour: str, transform: Transform) -> None:
    """An arrow at the axis' end where a band goes beyond it."""
    top = axes.get_ylim()[1]
    beyond = bands["high"].to_numpy(dtype=float) > top
    if not beyond.any():
        return  # an empty artist that is not clipped would count in the layout
    axes.plot(
        x[beyond], np.full(beyond.sum(), top), marker=6, markersize=8, color=colour, linestyle="none", clip_on=False,
        zorder=5, markeredgewidth=0, transform=transform,
    )  # fmt: skip


def hairlines(axes: Axes, x: np.ndarray, bands: pd.DataFrame, colour: str, transform: Transform) -> None:
    """A hairline over what the text allows without our assumptions, where that is more."""
    wider = without_assumptions(bands).to_numpy()
    x, bands = x[wider], bands[wider]
    bottom, top = axes.get_ylim()
    low, high = inside(axes, bands, "_text")
    axes.vlines(x, low, high, colors=colour, alpha=0.75, linewidth=1, zorder=1.8, transform=transform, label="hairline")
    for end, shown in ((low, bands["low_text"] >= bottom), (high, bands["high_text"] <= top)):
        axes.plot(
            x[shown.to_numpy()], end[shown.to_numpy()], marker="_", markersize=7, color=colour, alpha=0.75,
            linestyle="none", zorder=1.8, transform=transform,
        )  # fmt: skip


def without_assumptions(bands: pd.DataFrame) -> pd.Series:
    """Whether the text alone allows something else than the text with our assumptions."""
    same = (bands["low_text"] == bands["low"]) & (bands["high_text"] == bands["high"])
    return bands["low_text"].notna() & ~same


def inside(axes: Axes, bands: pd.DataFrame, suffix: str = "") -> tuple[np.ndarray, np.ndarray]:
    """Limits of bands, cut off at the ends of the y axis."""
    bottom, top = axes.get_ylim()
    low, high = (bands[f"{name}{suffix}"].to_numpy(dtype=float) for name in ("low", "high"))
    return np.maximum(low, bottom), np.minimum(high, top)


def intervals(axes: Axes, x: np.ndarray, marks: pd.DataFrame, colour: str, transform: Transform) -> None:
    """Intervals of means as error bars."""
    value, low, high = (marks[name].to_numpy(dtype=float) for name in ("value", "low", "high"))
    there = np.isfinite(low) & np.isfinite(high)
    if there.any():
        axes.errorbar(
            x[there], value[there], yerr=np.array([value - low, high - value])[:, there], fmt="none", ecolor=colour,
            elinewidth=1.3, capsize=3, zorder=4, transform=transform,
        )  # fmt: skip


def scatter(
    axes: Axes, x: np.ndarray, values: np.ndarray, kind: str, style: Look, transform: Transform, *, area: int = MEAN
) -> None:
    """Marks of one layer and series."""
    named: dict[str, Any] = {"x": x, "y": values, "ax": axes, "s": area, "transform": transform, "legend": False,
                             "clip_on": False}  # fmt: skip
    if kind == CROSS:  # never the series' own marker
        sns.scatterplot(**named, marker="x", color=style.colour, linewidth=2, zorder=5)
        return
    if kind in (SOLID, OWN):
        sns.scatterplot(**named, marker=style.marker, color=style.colour, edgecolor=style.colour, zorder=5)
        return
    sns.scatterplot(
        **named, marker=style.marker, color=SURFACE_COLOUR, edgecolor=style.colour, linewidth=1.5, zorder=4.5
    )
    if kind == PRINTED:
        half = MarkerStyle(style.marker, fillstyle="bottom")
        sns.scatterplot(**named, marker=half, color=style.colour, linewidth=0, zorder=4.8)
