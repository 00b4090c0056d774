"""Quick plots of fits: rows, curve, confidence band."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from rawperf.core.errors import ModelError
from virtperf.models.result import FitResult

if TYPE_CHECKING:
    from matplotlib.axes import Axes

STEPS = 200
"""Number of points of a plotted curve."""


def draw(fit: FitResult, ax: Axes | None = None, alpha: float = 0.05, label: str = "") -> Axes:
    """Plot one fit; see `FitResult.plot`."""
    if ax is None:
        from matplotlib import pyplot

        _, ax = pyplot.subplots()
    y = fit.y if fit.observed is None else fit.observed
    points = ax.plot(fit.x, y, "o", label=label or "rows")
    x = np.linspace(float(fit.x.min()), float(fit.x.max()), STEPS)
    try:
        table = fit.predict(x, "mean", alpha)
        assert isinstance(table, pd.DataFrame)  # with an interval it is one
        value = table["value"]
        ax.fill_between(x, table["low"], table["high"], color=points[0].get_color(), alpha=0.2)
    except ModelError:  # no degrees of freedom: draw the curve without a band
        value = pd.Series(np.asarray(fit.predict(x)))
    ax.plot(x, value, color=points[0].get_color())
    if not label:
        ax.set_title(fit.model.partition(":")[0])
    return ax


def draw_all(fits: Mapping[Hashable, FitResult], x: str, y: str, alpha: float) -> Axes:
    """Plot several fits on one pair of axes; see `Fits.plot`."""
    from matplotlib import pyplot

    _, ax = pyplot.subplots()
    for label, fit in fits.items():
        draw(fit, ax, alpha, str(label))
    ax.set(xlabel=x, ylabel=y)
    if len(fits) > 1:
        ax.legend()
    return ax
