"""Contrasts of statsmodels formula fits: ``smf.ols``, ``smf.wls``, ``smf.gls``, ``smf.glm``.

    fit = smf.ols("np.log(value) ~ C(guests) * C(think_ms) + C(replicate)", runs).fit()
    models.contrasts(fit, of={"guests": 8}, to={"guests": 2}, by="think_ms")

A contrast is the difference of two predicted marginal means, each averaged over the model's rows
with the named columns set to their levels. For a log response, or a GLM with a log link, it is
reported as a ratio.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.errors import ParameterError
from virtperf.core.estimate import Estimate, Estimates, Missing
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.fits import By, Levels
from virtperf.models.result import NO_DF, exp
from virtperf.models.two_sides import compare_sides

LOGARITHM = re.compile(r"(np\.|numpy\.)?log\(")
"""Prefix of a response name that denotes a logarithm."""


def contrasts(
    results: Any,
    *,
    of: Levels,
    to: Levels,
    by: By = None,
    label: str | None = None,
    alpha: float = 0.05,
) -> Estimates:
    """Estimate ratios or differences between levels from a statsmodels formula fit.

    Parameters
    ----------
    results : results object of statsmodels
        From ``ols``, ``wls``, ``gls`` or ``glm``, by formula. Blocks are fixed effects.
    of, to : mapping
        Column to level: numerator and denominator (or minuend and subtrahend).
    by : str or sequence of str, optional
        One contrast at each level.
    label : str, optional
        As in `virtperf.models.ratios`.
    alpha : float
        One minus the confidence level.

    Returns
    -------
    Estimates
        `Estimate` by label, or `Missing` where the model has no rows at one side.

    Raises
    ------
    ParameterError
        Results without a formula, or of another model, and levels that the model does not distinguish.

    Notes
    -----
    Intervals are Student's t with the residual degrees of freedom. A GLM with a fixed scale
    (Poisson, binomial) has normal quantiles.
    """
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.regression.linear_model import RegressionModel

    model = getattr(results, "model", None)
    frame = getattr(getattr(model, "data", None), "frame", None)
    if frame is None or not isinstance(model, RegressionModel | GLM):
        raise ParameterError(
            "contrasts need a linear model fitted from a formula, by ols, wls, gls or glm",
            expected="for example smf.ols('np.log(value) ~ C(host) + C(block)', frame).fit()",
            found=type(model or results).__name__,
            remedy="add random effects of blocks as fixed effects, + C(block)",
        )
    ratio = _is_logarithmic(model)

    def estimate(above: pd.DataFrame, below: pd.DataFrame, fixed: Mapping[str, Any]) -> Any:
        first, second = (_marginal(model, frame, {**fixed, **side}) for side in (of, to))
        return _estimate(results, first - second, ratio, alpha)

    default = "{of} / {to}" if ratio else "{of} - {to}"
    return compare_sides(estimate, frame, of, to, by, label, default=default)


def _marginal(model: Any, frame: pd.DataFrame, levels: Mapping[str, Any]) -> Array:
    """Mean row of the design matrix with columns set to levels; dtypes (categories) are kept."""
    import patsy

    columns = {
        name: pd.Series([level] * len(frame), index=frame.index).astype(frame[name].dtype)
        for name, level in levels.items()
    }
    design = patsy.build_design_matrices([model.data.model_spec], frame.assign(**columns))[0]
    return np.asarray(design, dtype=float).mean(axis=0)


def _is_logarithmic(model: Any) -> bool:
    link = getattr(getattr(model, "family", None), "link", None)
    if link is not None:
        return type(link).__name__ == "Log"
    return bool(LOGARITHM.match(str(model.endog_names)))


def _estimate(results: Any, row: Array, ratio: bool, alpha: float) -> Estimate | Missing:
    level = checks.level(alpha)
    if not np.any(np.abs(row) > 1e-12):
        raise ParameterError(
            "the contrast is zero: no term of the model differs between the two sides",
            remedy="add the column that differs to the formula",
        )
    known_scale = hasattr(results.model, "family") and not results.use_t and results.scale == 1
    test = results.t_test(row, use_t=not known_scale)
    se, df = float(np.ravel(test.sd)[0]), float(results.df_resid)
    if not (df > 0 and se > 0 and math.isfinite(se)):
        return Missing(f"{NO_DF}, or the contrast is not estimable")
    value, (low, high) = float(test.effect[0]), map(float, test.conf_int(alpha)[0])
    method, df = ("z", math.inf) if known_scale else ("t", df)
    estimate = Estimate(value, low, high, level, method, se=se, df=df)
    return estimate.map(exp) if ratio else estimate
