"""Straight lines that a single outlying run does not move far, by statsmodels' RLM."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from statsmodels.robust.norms import HuberT
from statsmodels.robust.robust_linear_model import RLM

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.linear import LineResult

OUTLIER = 0.5
"""A row to which Huber's norm gives less than this weight is named as an outlier: more than 2.7 robust deviations."""


def fit_robust_line(x: ArrayLike, y: ArrayLike) -> LineResult:
    """Fit a straight line by Huber's M estimator, which a single outlying run does not move far (statsmodels' RLM).

    Outliers stay in the fit with a small weight; a warning names each of them.

    Raises
    ------
    ModelError
        For rows that are not finite, or fewer than four rows.
    """
    xs, ys = checks.column(x, "x"), checks.column(y, "y")
    checks.same_length(("x", xs), ("y", ys))
    checks.enough(xs, ("intercept", "slope"), name="x")
    if len(xs) < 4:
        raise ModelError(f"{len(xs)} rows can't tell an outlier", expected="at least 4 rows")
    results = RLM(ys, np.vander(xs, 2, increasing=True), M=HuberT()).fit()
    if not results.scale > 1e-12 * float(np.ptp(ys)):
        raise ModelError("more than half of the rows lie on one line exactly", remedy="fit an ordinary line")
    outliers = tuple(
        f"row {i + 1} (x = {xs[i]:g}, y = {ys[i]:g}) is an outlier: it counts {100 * w:.0f} % of another row"
        for i, w in enumerate(results.weights)
        if w < OUTLIER
    )
    return LineResult(
        model="Straight line, Huber's M estimator: y = intercept + slope x", param_names=("intercept", "slope"),
        params=results.params, covariance=results.cov_params(), x=xs, y=ys, weights=np.asarray(results.weights),
        fittedvalues=results.fittedvalues, df_resid=len(xs) - 2, warnings=outliers, results=results, noise="weights",
        cov_type="Huber", degree=1,
    )  # fmt: skip
