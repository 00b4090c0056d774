"""Joint confidence regions of intercept and slope, with the published pair: one small panel a line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from virtperf.exhibits import display
from virtperf.exhibits.attempt import Unavailable
from virtperf.exhibits.axes import left_margin
from virtperf.exhibits.display import Shown
from virtperf.exhibits.seal import sealed
from virtperf.exhibits.style import INK, NARROW, WIDE, Size, house_style, look, panels
from virtperf.exhibits.svg import to_svg
from virtperf.exhibits.wording import interval, number, pretty, slug

PANEL_PX = 200


def region_exhibit(
    fits: Mapping[str, Any], published: Mapping[str, tuple[float, float]], *,
    title: str, axes: tuple[str, str], provenance: str, level: float, study: str, of: Sequence[str] = (),
) -> Shown:  # fmt: skip
    """Ellipses of several straight lines.

    Parameters
    ----------
    fits : mapping
        Label to a fitted line (`joint_region`, `joint_test`, `params`), or to `Unavailable`.
    published : mapping
        Label to the printed (intercept, slope), for those that have one.
    axes : tuple of str
        What intercept and slope are, with units.
    """
    known = {label: fit for label, fit in fits.items() if not isinstance(fit, Unavailable)}
    regions = {label: fit.joint_region(1 - level) for label, fit in known.items()}
    rows, csv, said = [], [], []
    for label, fit in known.items():
        pair = published.get(label)
        test = fit.joint_test(intercept=pair[0], slope=pair[1]) if pair else None
        verdict = "none printed" if test is None else "inside" if test.pvalue > 1 - level else "outside"
        low, high = regions[label].min(axis=0), regions[label].max(axis=0)
        rows.append([label, number(fit.params[0]), number(fit.params[1]), verdict])
        csv += [{"line": label, "intercept": a, "slope": b} for a, b in regions[label]]
        said.append(
            f"{label}: intercept {interval(low[0], high[0])}, slope {interval(low[1], high[1])}"
            + (f"; the printed pair {pretty(pair[0])}, {pretty(pair[1])} is {verdict}." if pair else ".")
        )
    missing = [f"{label}: {fit.reason}" for label, fit in fits.items() if isinstance(fit, Unavailable)]
    finding = " ".join([*said, *missing])
    anchor = slug(title)
    table = pd.DataFrame(csv)
    pairs = {label: published.get(label, (math.nan, math.nan)) for label in known}
    centres = pd.DataFrame([(label, *fit.params[:2], *pairs[label]) for label, fit in known.items()])
    drawings = []
    for size, kind in ((WIDE, "wide"), (NARROW, "narrow")):
        if not known:
            break
        with house_style():
            drawn = _draw(known, regions, published, axes, size)
            svg = to_svg(drawn, prefix=f"{anchor}-{kind}", title=title, description=finding, kind=kind)
        drawings.append(sealed(svg, table, centres))
    after = [
        display.badges([provenance]),
        display.origin(study, of),
        display.more(display.download(table, f"{study}-{anchor}")),
    ]
    name = f"Joint {pretty(100 * level)} % regions"
    html = display.block(anchor, name, title, "".join(drawings), after=after, finding=finding)
    return Shown(html, f"{title}\n{display.table_text(['line', 'intercept', 'slope', 'printed pair'], rows)}")


def _draw(
    fits: Mapping[str, Any], regions: Mapping[str, np.ndarray], published: Mapping[str, tuple[float, float]],
    names: tuple[str, str], size: Size,
) -> Figure:  # fmt: skip
    left = left_margin(float(r[:, 1].max()) for r in regions.values()) + 16
    tall = Size(size.width, round(PANEL_PX / (0.62 if len(fits) > 1 else 1)), size.narrow)
    figure, panes = panels(tall, len(fits), left=left, bottom=50, gap=64, shared=False)
    for k, (axes, (label, fit)) in enumerate(zip(panes, fits.items(), strict=True)):
        style = look(k)
        ring = regions[label]
        axes.fill(ring[:, 0], ring[:, 1], color=style.colour, alpha=0.2, linewidth=0)
        axes.plot(ring[:, 0], ring[:, 1], color=style.colour, linewidth=1.2)
        axes.plot([fit.params[0]], [fit.params[1]], marker=style.marker, color=style.colour, linestyle="none")
        if label in published:
            a, b = published[label]
            axes.plot([a], [b], marker="x", color=INK, markeredgewidth=2, linestyle="none", zorder=5)
            axes.annotate("printed", (a, b), xytext=(7, 5), textcoords="offset points")
        axes.margins(0.12)
        axes.locator_params(nbins=5)
        axes.yaxis.set_major_formatter(lambda value, _: pretty(value, 5))
        axes.set_title(f"{label}: {names[1]}", loc="left", pad=8)
    panes[-1].set_xlabel(names[0], labelpad=6)
    return figure
