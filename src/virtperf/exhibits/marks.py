"""Marks of the layers: band, hollow point, half-filled point, solid point; one place for lines and bars."""

from __future__ import annotations

import math

from matplotlib.axes import Axes

from virtperf.exhibits.layers import Mean, Point
from virtperf.exhibits.style import SURFACE, Look

BAND_ALPHA = 0.32
LINK_ALPHA = 0.12


def band(axes: Axes, x: float, point: Point, look: Look, *, width: float) -> None:
    """The feasible band of one point as an upright bar; where it has no upper limit, an arrow at the axis' end."""
    if not point.banded:
        return
    bottom, top = axes.get_ylim()
    low, high = max(point.low, bottom), min(point.high, top)
    axes.vlines(x, low, high, colors=look.colour, alpha=BAND_ALPHA, linewidth=width, capstyle="butt", zorder=2)
    if high - low < (top - bottom) * 0.004:  # pinned to one value: still to be seen
        half = width / 2
        axes.plot(
            [x], [point.low], marker="_", markersize=2 * half + 6, color=look.colour, zorder=2.1, markeredgewidth=2
        )
    if point.high > top:
        axes.plot([x], [top], marker=6, markersize=8, color=look.colour, clip_on=False, zorder=5, markeredgewidth=0)


def bare(axes: Axes, x: float, point: Point, look: Look) -> None:
    """A hairline over what the text allows without our assumptions, where that is more."""
    bottom, top = axes.get_ylim()
    if math.isnan(point.low_bare) or (point.low_bare == point.low and point.high_bare == point.high):
        return
    low, high = max(point.low_bare, bottom), min(point.high_bare, top)
    axes.vlines(x, low, high, colors=look.colour, alpha=0.75, linewidth=1, zorder=1.8)
    ends = [end for end, inside in ((low, point.low_bare >= bottom), (high, point.high_bare <= top)) if inside]
    axes.plot(
        [x] * len(ends), ends, marker="_", markersize=7, color=look.colour, alpha=0.75, linestyle="none", zorder=1.8
    )


def _bars(axes: Axes, x: float, mean: Mean, look: Look) -> None:
    if math.isfinite(mean.low) and math.isfinite(mean.high):
        axes.errorbar(
            [x], [mean.value], yerr=[[mean.value - mean.low], [mean.high - mean.value]], fmt="none", ecolor=look.colour,
            elinewidth=1.3, capsize=3, zorder=4,
        )  # fmt: skip


def hollow(axes: Axes, x: float, point: Point, look: Look) -> None:
    """The reconstructed point."""
    if math.isfinite(point.hollow):
        axes.plot(
            [x], [point.hollow], marker=look.marker, color=look.colour, markerfacecolor=SURFACE, markeredgewidth=1.6,
            linestyle="none", zorder=4.5,
        )  # fmt: skip


def published(axes: Axes, x: float, point: Point, look: Look) -> None:
    """The printed number: half-filled, between the hollow point of a reconstruction and the solid one of a run."""
    if point.published is not None:
        axes.plot(
            [x], [point.published.value], marker=look.marker, color=look.colour, markerfacecolor=look.colour,
            markerfacecoloralt=SURFACE, fillstyle="bottom", markeredgewidth=1.4, linestyle="none", zorder=4.8,
        )  # fmt: skip


def solid(axes: Axes, x: float, mean: Mean | None, look: Look) -> None:
    """The measured point with its interval."""
    if mean is not None:
        _bars(axes, x, mean, look)
        axes.plot([x], [mean.value], marker=look.marker, color=look.colour, linestyle="none", zorder=5)


def example(axes: Axes, x: float, mean: Mean | None, look: Look) -> None:
    """A made-up example: a cross in the series' colour, never its own marker."""
    if mean is not None:
        _bars(axes, x, mean, look)
        axes.plot([x], [mean.value], marker="x", color=look.colour, markeredgewidth=2, linestyle="none", zorder=5)
