"""The house style: colours that work in light and dark and for colour-blind readers, type, markers, figure sizes.

Matplotlib draws with sentinel colours; `svg.to_svg` then replaces each by a CSS variable with a fallback, so that one
SVG follows the page's theme. Series differ by marker and dash as well as by colour.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, MUTED, GRID, SURFACE, BOX = "#010101", "#010102", "#010103", "#010104", "#010105"
_SERIES = ("#020201", "#020202", "#020203", "#020204", "#020205", "#020206")

# Okabe and Ito's palette; the page's dark theme redefines the variables with its lighter members.
CSS_COLOURS = {
    INK: "currentColor",
    MUTED: "var(--vp-muted, currentColor)",
    GRID: "var(--vp-grid, #8884)",
    SURFACE: "var(--vp-surface, var(--jp-layout-color0, #fff))",
    BOX: "var(--vp-box, #8881)",
    _SERIES[0]: "var(--vp-series-1, #0072b2)",
    _SERIES[1]: "var(--vp-series-2, #d55e00)",
    _SERIES[2]: "var(--vp-series-3, #00805d)",
    _SERIES[3]: "var(--vp-series-4, #aa4499)",
    _SERIES[4]: "var(--vp-series-5, #8a6d00)",
    _SERIES[5]: "var(--vp-series-6, #56779b)",
}

_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES: tuple[Any, ...] = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (8, 2, 2, 2)), (0, (4, 1, 1, 1, 1, 1)), (0, (1, 1)))
_HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----")
FONT_PX = 12
RIGHT_PX = 14  # margin right of every panel

RC = {
    "svg.fonttype": "none",
    "svg.hashsalt": "virtperf",
    "text.parse_math": False,  # a $ in a guest's name is a dollar sign
    "font.family": "DejaVu Sans",  # comes with Matplotlib, so that layout does not depend on the machine
    "font.size": FONT_PX,
    "axes.labelsize": FONT_PX,
    "axes.titlesize": FONT_PX,
    "xtick.labelsize": FONT_PX,
    "ytick.labelsize": FONT_PX,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": MUTED,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": GRID,
    "grid.linewidth": 0.8,
    "xtick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.color": MUTED,
    "ytick.labelcolor": INK,
    "xtick.major.size": 4,
    "ytick.major.size": 0,
    "lines.linewidth": 1.5,
    "lines.markersize": 7,
    "hatch.linewidth": 0.6,
    "path.simplify": False,
}


@dataclass(frozen=True)
class Size:
    """A drawing's size in CSS pixels; `narrow` is the version for phones."""

    width: int
    height: int
    narrow: bool


WIDE = Size(680, 380, narrow=False)
NARROW = Size(350, 320, narrow=True)


@dataclass(frozen=True)
class Look:
    """How one series looks: colour, marker and dash of lines, hatching of bars."""

    colour: str
    marker: str
    dash: Any
    hatch: str


def look(position: int) -> Look:
    """The look of the series at that position (from 0); it repeats after six."""
    k = position % len(_SERIES)
    return Look(_SERIES[k], _MARKERS[k], _DASHES[k], _HATCHES[k])


@contextmanager
def house_style() -> Iterator[None]:
    """seaborn's grid theme with the settings above, whatever the user's own are."""
    with mpl.rc_context():
        mpl.rcdefaults()
        import seaborn  # costs a second, which pages without a figure need not pay

        seaborn.set_theme(context="notebook", style="whitegrid", rc=RC)
        yield


def panels(
    size: Size, count: int = 1, *, left: int, bottom: int, top: int = 34, gap: int = 46, shared: bool = True
) -> tuple[Figure, list[Axes]]:
    """A figure of `count` panels above each other that share x (if `shared`), margins in CSS pixels.

    No automatic layout: the drawing's geometry depends on its data only.
    """
    height = size.height if count == 1 else round(size.height * 0.62 * count)
    figure = Figure(figsize=(size.width / 72, height / 72), dpi=72)
    room = (height - bottom - top - gap * (count - 1)) / count
    axes: list[Axes] = []
    for k in range(count):
        y = height - top - room * (k + 1) - gap * k
        box = (left / size.width, y / height, (size.width - left - RIGHT_PX) / size.width, room / height)
        axes.append(figure.add_axes(box, sharex=axes[0] if axes and shared else None))
    return figure, axes
