"""Joint confidence regions of intercept and slope, one small panel a line."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from virtperf.exhibits.plot import axis, legend
from virtperf.exhibits.plot.theme import INK_COLOUR, look, panels, theme
from virtperf.exhibits.wording import pretty, printable

HEIGHT = 260


def regions(
    rings: pd.DataFrame, *, centres: Mapping[str, tuple[float, float]], axes: tuple[str, str],
    published: Mapping[str, tuple[float, float]] | None = None, level: float = 0.95,
) -> Figure:  # fmt: skip
    """Draw the outlines of joint regions.

    Parameters
    ----------
    rings : DataFrame
        line, intercept, slope: the points of every outline in order.
    centres, published : mapping
        Line to its estimate, and to the pair that a paper prints: (intercept, slope).
    axes : tuple of str
        What intercept and slope are, with units.
    """
    printed = published or {}
    labels = list(dict.fromkeys(rings["line"]))
    with theme():
        figure, panes = panels(len(labels), share_x=False, height=HEIGHT)
        for k, (pane, label) in enumerate(zip(panes, labels, strict=True)):
            style, ring = look(k), rings[rings["line"] == label]
            pane.fill(ring["intercept"], ring["slope"], facecolor=style.colour, alpha=0.2, linewidth=0)
            pane.plot(ring["intercept"], ring["slope"], color=style.colour, linewidth=1.2)
            pane.plot(*([v] for v in centres[label]), marker=style.marker, color=style.colour, linestyle="none")
            if label in printed:
                pane.plot(*([v] for v in printed[label]), marker="x", color=INK_COLOUR, markeredgewidth=2,
                          linestyle="none", zorder=5)  # fmt: skip
            pane.margins(0.12)
            axis.y_axis(pane, *pane.get_ylim(), f"{label}: {axes[1]}", begins=False)
            pane.locator_params(nbins=5)
            pane.xaxis.set_major_formatter(lambda value, _: pretty(value, 5))
        panes[-1].set_xlabel(printable(axes[0]), labelpad=6)
        region = Patch(facecolor=INK_COLOUR, alpha=0.25)
        cross = Line2D([], [], linestyle="none", marker="x", color=INK_COLOUR, markeredgewidth=2)
        legend.legend(
            figure, [(region, f"joint {pretty(100 * level)} % region and estimate")],
            [(cross, "pair printed in the paper")] if set(printed) & set(labels) else [],
        )  # fmt: skip
    return figure
