"""Fitted curves with the confidence interval of the mean, from our models or statsmodels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from rawperf.core.errors import RawperfError, require_known
from virtperf.report.plot.theme import SeriesStyle

CURVE_STEPS = 31
_COLUMN_NAMES = {
    "mean": "value",
    "mean_ci_lower": "low",
    "mean_ci_upper": "high",
    "predicted": "value",
    "ci_lower": "low",
    "ci_upper": "high",
}


def evaluate_curve(fit: Any, x: str, levels: Sequence[Any], level: float) -> pd.DataFrame | None:
    """Evaluate a fitted curve over the range of the levels: columns x, value, low, high; None for a
    fit that is missing.

    The fit is a model of `virtperf.models` (``predict(x, interval="mean", alpha=...)``) or a
    statsmodels results object (``get_prediction``), made from a formula with the variable `x`.
    Raises `RawperfError` if the levels are not numeric, or the object has no predictions.
    """
    if not levels or not all(isinstance(v, int | float | np.number) for v in levels):
        raise RawperfError(
            "a curve can't be drawn over levels that are not numbers", expected="a numeric axis"
        )
    at = np.linspace(float(min(levels)), float(max(levels)), CURVE_STEPS)
    if hasattr(getattr(fit, "model", None), "exog"):  # statsmodels; ours have predict
        if not hasattr(fit.model, "formula"):
            raise RawperfError(
                "a curve needs a model with a formula",
                expected="smf.ols('y ~ x', frame)",
                remedy="fit it by a formula, or draw your own curve on the figure's axes.",
            )
        rows = pd.DataFrame({x: at})
        table = (
            fit.get_prediction(rows).summary_frame(alpha=1 - level).rename(columns=_COLUMN_NAMES)
        )
    elif hasattr(fit, "predict"):
        table = fit.predict(at, interval="mean", alpha=1 - level)
    else:
        raise RawperfError(
            f"a curve can't be drawn from a {type(fit).__name__}",
            expected="a fit with predict",
        )
    if not isinstance(table, pd.DataFrame):
        return None
    return pd.DataFrame(
        {"x": at, **{name: table[name].to_numpy(dtype=float) for name in ("value", "low", "high")}}
    )


def evaluate_curves(
    fits: Any, levels: Mapping[Any, Sequence[Any]], x: str, level: float
) -> dict[Any, pd.DataFrame]:
    """Evaluate curves by series label; a single fit, labelled or not, belongs to a figure's only
    series.

    Raises `RawperfError` with close matches if a label is no series of the figure.
    """
    if fits is None:
        return {}
    named = dict(fits) if isinstance(fits, Mapping) else {"": fits}
    if len(named) == len(levels) == 1:
        named = dict(zip(levels, named.values(), strict=True))
    for label in named:
        problem = f"no curve can be drawn for {label!r}: this figure has no such series"
        require_known(label, levels, problem)
    curves = {
        label: evaluate_curve(fit, x, levels[label], level)
        for label, fit in named.items()
        if getattr(fit, "available", True)
    }
    return {label: table for label, table in curves.items() if table is not None}


def draw_curve(axes: Axes, table: pd.DataFrame, style: SeriesStyle) -> None:
    """Draw a curve and, dotted, its interval, clipped to the axis."""
    axes.plot(
        table["x"],
        table["value"],
        color=style.colour,
        linestyle=style.dash,
        zorder=3,
        label="curve",
    )
    for limit in ("low", "high"):
        within = table[limit].where(table[limit].between(*axes.get_ylim()))
        if within.notna().any():
            axes.plot(
                table["x"],
                within,
                color=style.colour,
                linewidth=0.9,
                linestyle=(0, (1, 2)),
                zorder=2.5,
            )
