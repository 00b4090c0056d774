"""The layers of a figure: ranges that a text allows, and marks that say what a number rests on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.markers import MarkerStyle
from matplotlib.transforms import Transform

from virtperf.core.provenance import Provenance
from virtperf.report.plot.theme import SURFACE_COLOUR, Look
from virtperf.report.range_words import WIDE

PRINTED, SOLID, CROSS, OWN_DATA = "printed", "solid", "cross", "own"
_MARK_OF_PROVENANCE = {
    Provenance.PUBLISHED: PRINTED,
    Provenance.MEASURED: SOLID,
    Provenance.EXAMPLE: CROSS,
}
WITH_INTERVAL = (SOLID, CROSS, OWN_DATA)  # of a printed number the range says what is uncertain
TEXT, WITH_ASSUMPTIONS = (
    "text",
    "given",
)  # kinds of ranges: what the text alone allows, and what it allows with our assumptions
SHARES = {
    TEXT: 0.8,
    WITH_ASSUMPTIONS: 0.45,
}  # widths of boxes: the one inside is narrower, so that both show where they are equal
ALPHAS = {TEXT: 0.2, WITH_ASSUMPTIONS: 0.6}
EDGES = {TEXT: 0.5, WITH_ASSUMPTIONS: 1.0}
LINK_ALPHA = 0.07
MEAN, STATED, RUN = (
    46,
    32,
    20,
)  # areas of marks, in square points; a printed number leaves its range to be seen
_COLUMNS = {
    TEXT: ("low_text", "high_text", "pieces_text"),
    WITH_ASSUMPTIONS: ("low", "high", "pieces"),
}


def marks_of(
    keys: Sequence[str],
    points: pd.DataFrame | None,
    means: pd.DataFrame | None,
    printed: pd.DataFrame | None,
) -> pd.DataFrame:
    """One row a mark: the columns that tell points apart (`keys`), mark, value, low, high.

    A mean's mark follows from its column `provenance`; without that column it is a reader's own,
    and solid as well.
    """
    parts = []
    if means is not None:
        kinds = (
            means["provenance"].map(_MARK_OF_PROVENANCE)
            if "provenance" in means
            else pd.Series(OWN_DATA, index=means.index)
        )
        parts.append(means.assign(mark=kinds.fillna(OWN_DATA)))
    if printed is not None:
        parts.append(printed.assign(mark=PRINTED))
    elif points is not None and "printed" in points:
        parts.append(
            points.assign(value=points["printed"], low=math.nan, high=math.nan, mark=PRINTED)
        )
    wanted = [*keys, "mark", "value", "low", "high"]
    kept = [part.reindex(columns=wanted).dropna(subset=["value"]) for part in parts]
    kept = [part.reset_index(drop=True) for part in kept if len(part)]
    return pd.concat(kept, ignore_index=True) if kept else pd.DataFrame(columns=wanted)


def bands_of(keys: Sequence[str], points: pd.DataFrame | None) -> pd.DataFrame:
    """One row a piece of a range: the columns that tell points apart (`keys`), kind (`TEXT` or
    `WITH_ASSUMPTIONS`), low, high.

    Where the text alone allows the same at every point, the figure has that kind only; where the
    frame does not say what the text alone allows, the other one only.
    """
    given = pd.DataFrame() if points is None else points
    kinds = [kind for kind, names in _COLUMNS.items() if {*names[:2]} <= {*given.columns}]
    rows: list[dict[str, Any]] = []
    for kind in kinds:
        low, high, pieces = _COLUMNS[kind]
        for row in given.to_dict("records"):
            ends = [row[low], row[high]] if not len(row.get(pieces, ())) else row[pieces]
            if not math.isnan(ends[0]):
                at = {name: row.get(name) for name in keys}
                rows += [
                    at | {"kind": kind, "low": a, "high": b}
                    for a, b in zip(ends[::2], ends[1::2], strict=True)
                ]
    found = pd.DataFrame(rows, columns=[*keys, "kind", "low", "high"])
    text, ours = (
        found[found["kind"] == kind].drop(columns="kind").reset_index(drop=True)
        for kind in (TEXT, WITH_ASSUMPTIONS)
    )
    return found[found["kind"] == TEXT] if len(kinds) == 2 and text.equals(ours) else found


def link(axes: Axes, x: np.ndarray, bands: pd.DataFrame, colour: str, transform: Transform) -> None:
    """A pale area from point to point: ranges are stated at the points only, it guides the eye."""
    bottom, top = axes.get_ylim()
    hull = (
        bands.assign(x=x)
        .groupby("x")
        .agg(low=("low", "min"), high=("high", "max"))
        .clip(bottom, top)
    )
    axes.fill_between(
        hull.index,
        hull["low"],
        hull["high"],
        color=colour,
        alpha=LINK_ALPHA,
        linewidth=0,
        zorder=1,
        transform=transform,
    )


def range_boxes(
    axes: Axes, x: np.ndarray, bands: pd.DataFrame, style: Look, transform: Transform, width: float
) -> None:
    """Ranges as upright boxes of `width` data units, cut off at the ends of the y axis; edges show
    the narrowest.

    A range over `WIDE` is a bracket: a tall box would look like data.
    """
    bottom, top = axes.get_ylim()
    brackets(axes, x, bands, style, transform, width)
    for kind, share in SHARES.items():
        chosen = (bands["kind"] == kind).to_numpy() & ~wide_bands(bands)
        if not chosen.any():
            continue
        low, high = (
            bands[end].to_numpy(dtype=float)[chosen].clip(bottom, top) for end in ("low", "high")
        )
        named: dict[str, Any] = {
            "bottom": low,
            "transform": transform,
            "zorder": 2 if kind == TEXT else 2.2,
        }
        edge = to_rgba(style.colour, EDGES[kind])
        axes.bar(
            x[chosen],
            high - low,
            width * share,
            **named,
            label=kind,
            linewidth=1,
            edgecolor=edge,
            color=to_rgba(style.colour, ALPHAS[kind]),
        )
        if style.hatch and kind == TEXT:  # a pattern within a pale box would be as pale as the box
            axes.bar(
                x[chosen],
                high - low,
                width * share,
                **named,
                label="hatch",
                linewidth=0,
                edgecolor=edge,
                color="none",
                hatch=style.hatch,
            )


def wide_bands(bands: pd.DataFrame) -> np.ndarray:
    """Which ranges are over `WIDE`, a factor, so that all of them are above 0; shape (n,)."""
    return ((bands["low"] >= 0) & (bands["high"] > WIDE * bands["low"])).to_numpy(dtype=bool)


def brackets(
    axes: Axes, x: np.ndarray, bands: pd.DataFrame, style: Look, transform: Transform, width: float
) -> None:
    """Wide ranges as upright lines with a foot and a head; without a head where they go on beyond
    the y axis.
    """
    bottom, top = axes.get_ylim()
    for kind, share in SHARES.items():
        chosen = (bands["kind"] == kind).to_numpy() & wide_bands(bands)
        if not chosen.any():
            continue
        at, half, gap = (
            x[chosen],
            np.full(chosen.sum(), width * share / 2),
            np.full(chosen.sum(), np.nan),
        )
        low, high = (bands[end].to_numpy(dtype=float)[chosen] for end in ("low", "high"))
        foot, end = low.clip(bottom, top), high.clip(bottom, top)
        head = np.where(high > top, np.nan, end)
        axes.plot(
            np.stack([at - half, at + half, at, at, at - half, at + half, gap], axis=1).ravel(),
            np.stack([foot, foot, foot, end, head, head, gap], axis=1).ravel(),
            color=to_rgba(style.colour, EDGES[kind]),
            linewidth=1,
            label=kind,
            transform=transform,
            zorder=2,
        )


def arrows(
    axes: Axes, x: np.ndarray, bands: pd.DataFrame, colour: str, transform: Transform
) -> None:
    """At the upper end of the axis: a filled arrow where a range has no limit, an open one where it
    goes on beyond.
    """
    top = axes.get_ylim()[1]
    high = bands["high"].to_numpy(dtype=float)
    for chosen, fill in (
        (np.isinf(high), colour),
        (np.isfinite(high) & (high > top), SURFACE_COLOUR),
    ):
        if chosen.any():  # an empty artist that is not clipped would count in the layout
            axes.plot(
                np.unique(x[chosen]),
                np.full(len(np.unique(x[chosen])), top),
                marker=6,
                markersize=7,
                color=colour,
                markerfacecolor=fill,
                linestyle="none",
                clip_on=False,
                zorder=5,
                transform=transform,
            )


def draw_columns(
    axes: Axes,
    x: np.ndarray,
    values: np.ndarray,
    style: Look,
    transform: Transform,
    width: float,
    *,
    solid: bool,
) -> None:
    """Bars from 0 up to values: solid ones of measurements, thin pale ones of printed numbers."""
    named: dict[str, Any] = {"transform": transform, "zorder": 1.9}
    if not solid:
        axes.bar(
            x,
            values,
            0.2 * width,
            **named,
            label="column",
            linewidth=0,
            color=to_rgba(style.colour, 0.3),
        )
        return
    axes.bar(
        x,
        values,
        SHARES[TEXT] * width,
        **named,
        label="column",
        linewidth=1,
        edgecolor=style.colour,
        color=to_rgba(style.colour, 0.55),
    )
    axes.bar(
        x,
        values,
        SHARES[TEXT] * width,
        **named,
        label="hatch",
        linewidth=0,
        edgecolor=style.colour,
        color="none",
        hatch=style.hatch,
    )


def intervals(
    axes: Axes, x: np.ndarray, marks: pd.DataFrame, colour: str, transform: Transform
) -> None:
    """Intervals of means as error bars."""
    value, low, high = (marks[name].to_numpy(dtype=float) for name in ("value", "low", "high"))
    there = np.isfinite(low) & np.isfinite(high)
    if there.any():
        axes.errorbar(
            x[there],
            value[there],
            yerr=np.array([value - low, high - value])[:, there],
            fmt="none",
            ecolor=colour,
            elinewidth=1.3,
            capsize=3,
            zorder=4,
            transform=transform,
        )


def scatter(
    axes: Axes,
    x: np.ndarray,
    values: np.ndarray,
    kind: str,
    style: Look,
    transform: Transform,
    *,
    area: int = MEAN,
) -> None:
    """Marks of one layer and series."""
    named: dict[str, Any] = {
        "x": x,
        "y": values,
        "ax": axes,
        "s": area,
        "transform": transform,
        "legend": False,
        "clip_on": False,
    }
    if kind == CROSS:  # never the series' own marker
        sns.scatterplot(**named, marker="x", color=style.colour, linewidth=2, zorder=5)
    elif kind in (SOLID, OWN_DATA):
        sns.scatterplot(
            **named, marker=style.marker, color=style.colour, edgecolor=style.colour, zorder=5
        )
    else:
        named["s"] = min(area, STATED)
        half = MarkerStyle(style.marker, fillstyle="bottom")
        edge: dict[str, Any] = {
            "marker": style.marker,
            "color": SURFACE_COLOUR,
            "edgecolor": style.colour,
        }
        sns.scatterplot(**named, **edge, linewidth=1.5, zorder=4.5)
        sns.scatterplot(**named, marker=half, color=style.colour, linewidth=0, zorder=4.8)
