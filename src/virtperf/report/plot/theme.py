"""Figure style: seaborn's grid with our colours, fonts, markers and sizes, as a context manager."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import Any

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.report.palette import GREY, GREYS, GRID, INK, MUTED, SERIES_COLOURS, SURFACE

_MARKERS = ("o", "s", "^", "D", "v", "P")
_DASHES: tuple[Any, ...] = (
    "-",
    (0, (6, 2)),
    (0, (2, 1.5)),
    (0, (8, 2, 2, 2)),
    (0, (4, 1, 1, 1, 1, 1)),
    (0, (1, 1)),
)
_HATCHES = (
    "",
    "////",
    "\\\\\\\\",
    "xxxx",
    "||||",
    "----",
)  # no dots: an SVG draws each by eight curves
FONT_SIZE = 11  # points, which are the pixels of an SVG
CHARACTER_WIDTH = 0.62 * FONT_SIZE  # mean character width of the widest likely font
FIGURE_WIDTH = 540
NARROW_WIDTH = 340  # of a figure with few levels, or at the head of a page: a phone shows it whole
_width: ContextVar[float] = ContextVar("width", default=FIGURE_WIDTH)
PANEL_HEIGHT = 250  # height of one panel with its axis
PANEL_SHARES = {1: 1.0, 2: 0.72}
"""Height of a panel relative to `PANEL_HEIGHT`, by number of panels; `MANY_PANELS_SHARE` for more."""
MANY_PANELS_SHARE = 0.58

_RC = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # a $ in a guest's name is a dollar sign
    "font.family": "DejaVu Sans",  # bundled with Matplotlib: the layout is machine-independent
    **dict.fromkeys(
        (
            "font.size",
            "axes.labelsize",
            "axes.titlesize",
            "xtick.labelsize",
            "ytick.labelsize",
            "legend.fontsize",
            "figure.titlesize",
        ),
        FONT_SIZE,
    ),
    "figure.constrained_layout.use": True,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "text.color": INK.light,
    "axes.labelcolor": INK.light,
    "axes.edgecolor": MUTED.light,
    "axes.linewidth": 0.8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": GRID.light,
    "grid.linewidth": 0.8,
    "xtick.bottom": True,
    "xtick.color": MUTED.light,
    "xtick.labelcolor": INK.light,
    "ytick.labelcolor": INK.light,
    "xtick.major.size": 4,
    "ytick.major.size": 0,
    "lines.linewidth": 1.5,
    "lines.markersize": 7,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "path.simplify": False,
}
SURFACE_COLOUR = SURFACE.light
INK_COLOUR, MUTED_COLOUR = INK.light, MUTED.light


@dataclass(frozen=True)
class SeriesStyle:
    """Style of one series: colour, marker and dash of lines, hatching of bars. Colour is never the
    only distinction.
    """

    colour: str
    marker: str
    dash: Any
    hatch: str


def series_style(position: int) -> SeriesStyle:
    """Style of the series at a position (from 0).

    After every six series the colours repeat with other markers, dashes and hatches; colour and
    hatch together repeat after 36.
    """
    turn, k = divmod(position, len(SERIES_COLOURS))
    other = (k + turn) % len(_MARKERS)
    return SeriesStyle(SERIES_COLOURS[k].light, _MARKERS[other], _DASHES[other], _HATCHES[other])


def series_styles(series: Iterable[Any], colours: Mapping[str, int]) -> dict[Any, SeriesStyle]:
    """Style of each series: its colour in the study, else by its position in the figure; series of one
    colour differ in markers, dashes and hatches, grey ones in their shade, too.
    """
    styles: dict[Any, SeriesStyle] = {}
    same: Counter[int] = Counter()
    for k, label in enumerate(series):
        position = colours.get(str(label), k)
        turn = same[position]
        if position == GREY:
            other = turn % len(_MARKERS)
            shade = GREYS[turn % len(GREYS)].light
            styles[label] = SeriesStyle(shade, _MARKERS[other], _DASHES[other], _HATCHES[other])
        else:
            styles[label] = series_style(position + len(SERIES_COLOURS) * turn)
        same[position] += 1
    return styles


@contextmanager
def theme(*, narrow: bool = False) -> Iterator[None]:
    """Context manager for our figure style; ignores the user's rcParams and restores them
    afterwards. `narrow`: new figures are so narrow that a phone shows them whole.
    """
    _load_backend()
    interactive = mpl.is_interactive()  # lets a notebook show a figure at the end of its cell
    with mpl.rc_context():
        mpl.rcdefaults()
        mpl.interactive(interactive)
        colours = [colour.light for colour in SERIES_COLOURS]
        size = ((NARROW_WIDTH if narrow else figure_width()) / 72, PANEL_HEIGHT / 72)
        rc = {**_RC, "figure.figsize": size}
        sns.set_theme(context="notebook", style="whitegrid", palette=colours, rc=rc)
        yield


def figure_width() -> float:
    """Width of the figures that are drawn now, in points."""
    return _width.get()


@contextmanager
def narrow_figures() -> Iterator[None]:
    """Context manager in which figures are drawn so narrow that a phone shows them whole."""
    before = _width.set(NARROW_WIDTH)
    try:
        yield
    finally:
        _width.reset(before)


@cache
def _load_backend() -> None:
    """Load the backend before the theme: the notebook backend enables interactive mode, which must
    persist after the theme.
    """
    plt.switch_backend(mpl.get_backend())


def create_panels(
    count: int = 1, *, height: float = PANEL_HEIGHT, width: float | None = None
) -> tuple[Figure, list[Axes]]:
    """Create a pyplot figure of `count` stacked panels with a common x axis; `width` in points, by
    default that of `figure_width`.

    The layout is constrained: labels and the legend below take the space that they need, and the
    figure grows with them.
    """
    total_height = height * PANEL_SHARES.get(count, MANY_PANELS_SHARE) * count
    figure, axes = plt.subplots(
        count,
        1,
        sharex=True,
        squeeze=False,
        figsize=((width or figure_width()) / 72, total_height / 72),
        dpi=100,
        layout="constrained",
    )
    return figure, list(np.ravel(axes))
