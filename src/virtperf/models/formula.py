"""Contrasts of statsmodels formula fits: ``smf.ols``, ``smf.wls``, ``smf.glm``, ``smf.mixedlm``.

    fit = smf.ols("np.log(value) ~ C(guests) * C(think_ms) + C(replicate)", runs).fit()
    models.contrasts(fit, of={"guests": 8}, to={"guests": 2}, by="think_ms")

A contrast is the difference of two predicted marginal means, each averaged over the model's rows
with the named columns set to their levels. For a log response, or a GLM with a log link, it is
reported as a ratio.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rawperf.core.errors import ModelError, ParameterError
from virtperf.core.estimate import Estimate, Estimates, Missing
from virtperf.core.provenance import common_origin
from virtperf.core.statistics import normal_quantile
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.fits import (
    By,
    Levels,
    groups,
    levels_of,
    require_columns,
    rows_at,
    source,
)
from virtperf.models.result import NO_DF, t_interval

LOGARITHM = re.compile(r"(np\.|numpy\.)?log\(")
"""Prefix of a response name that denotes a logarithm."""


def contrasts(
    results: Any,
    *,
    of: Levels,
    to: Levels,
    by: By = None,
    ratio: bool | None = None,
    label: str | None = None,
    alpha: float = 0.05,
) -> Estimates:
    """Estimate ratios or differences between levels from a statsmodels formula fit.

    Parameters
    ----------
    results : results object of statsmodels
        From ``ols``, ``wls``, ``gls``, ``glm`` or ``mixedlm`` (one random intercept), by formula.
    of, to : mapping
        Column to level: numerator and denominator (or minuend and subtrahend).
    by : str or sequence of str, optional
        One contrast at each level.
    ratio : bool, optional
        Whether to exponentiate; default for a response ``log(...)``, and for a GLM with log link.
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
    ModelError
        Results without a formula, an unsupported model, random slopes or nested random effects, or
        levels that the model does not distinguish.

    Notes
    -----
    Intervals are Student's t with the residual degrees of freedom. For a mixed model they are those
    of the stratum of the contrast (Pinheiro and Bates 2000, section 2.4.2): if it can be estimated
    within the groups, those of the same model with fixed groups, else the number of groups minus
    the rank of the group means. A GLM with a fixed scale (Poisson, binomial) has normal quantiles.

    References
    ----------
    Pinheiro, J. C., Bates, D. M. (2000). Mixed-Effects Models in S and S-PLUS. Springer.
    """
    frame = _frame_of(results)
    design = functools.partial(_design, results)
    shown_as_ratio = _is_logarithmic(results) if ratio is None else ratio
    require_columns(frame, *of, *to)
    for side in (of, to):
        rows_at(frame, side)
    words = {name: ", ".join(map(str, side.values())) for name, side in (("of", of), ("to", to))}
    estimates = Estimates()
    for at, group in groups(frame, by):
        fixed = levels_of(by, at)
        pattern = label or ("{of} / {to}" if shown_as_ratio else "{of} - {to}")
        name: Any = at if by is not None and label is None else pattern.format(**words, **fixed)
        empty = [
            words[side]
            for side, levels in (("of", of), ("to", to))
            if not _matches(group, levels).any()
        ]
        if empty:
            estimates[name] = Missing(f"no rows of {empty[0]}", source(group))
            continue
        sides = [_with_levels(frame, {**fixed, **levels}) for levels in (of, to)]
        row = design(sides[0]).mean(axis=0) - design(sides[1]).mean(axis=0)
        origin = common_origin(
            [source(group[_matches(group, levels)]) for levels in (of, to)]  # rows compared
        )
        estimates[name] = _estimate(results, row, shown_as_ratio, alpha, origin)
    return estimates


def _frame_of(results: Any) -> pd.DataFrame:
    frame = getattr(getattr(getattr(results, "model", None), "data", None), "frame", None)
    if frame is None:
        raise ParameterError(
            "contrasts need a model fitted from a formula",
            expected="for example smf.ols('np.log(value) ~ C(host) + C(block)', frame).fit()",
            found=type(results).__name__,
        )
    return frame


def _matches(frame: pd.DataFrame, levels: Levels) -> Array:
    return np.logical_and.reduce(
        [(frame[name] == level).to_numpy() for name, level in levels.items()]
    )


def _with_levels(frame: pd.DataFrame, levels: Mapping[str, Any]) -> pd.DataFrame:
    """Copy the rows with columns set to levels; dtypes (categories) are kept."""
    columns = {
        name: pd.Series([level] * len(frame), index=frame.index).astype(frame[name].dtype)
        for name, level in levels.items()
    }
    return frame.assign(**columns)


def _design(results: Any, frame: pd.DataFrame) -> Array:
    """Build the design matrix at new rows, by the library that parsed the formula."""
    spec = results.model.data.model_spec
    if hasattr(spec, "get_model_matrix"):  # formulaic
        return np.asarray(spec.get_model_matrix(frame), dtype=float)
    import patsy

    return np.asarray(patsy.build_design_matrices([spec], frame)[0], dtype=float)


def _is_logarithmic(results: Any) -> bool:
    link = getattr(getattr(results.model, "family", None), "link", None)
    if link is not None:
        return type(link).__name__ == "Log"
    return bool(LOGARITHM.match(str(results.model.endog_names)))


def _estimate(
    results: Any, row: Array, ratio: bool, alpha: float, origin: Any
) -> Estimate | Missing:
    checks.level(alpha)
    if not np.any(np.abs(row) > 1e-12):
        raise ModelError(
            "the contrast is zero: no term of the model differs between the two sides",
            remedy="add the column that differs to the formula",
        )
    params, covariance, df = _fixed_effects(results, row)
    variance = float(row @ covariance @ row)
    value = float(row @ params)
    if not (df > 0 and variance > 0 and math.isfinite(variance)):
        return Missing(f"{NO_DF}, or the contrast is not estimable", origin)
    se = math.sqrt(variance)
    if math.isinf(df):
        half = normal_quantile(1 - alpha) * se
        estimate = Estimate(value, value - half, value + half, 1 - alpha, "z", se=se, df=df)
    else:
        estimate = t_interval(value, se, df, alpha)
    if ratio:
        with np.errstate(over="ignore"):
            estimate = estimate.map(lambda v: float(np.exp(v)))
    return replace(estimate, origin=origin)


def _fixed_effects(results: Any, row: Array) -> tuple[Array, Array, float]:
    """Return coefficients, their covariance, and the degrees of freedom of a contrast."""
    from statsmodels.genmod.generalized_linear_model import GLM
    from statsmodels.regression.linear_model import RegressionModel
    from statsmodels.regression.mixed_linear_model import MixedLM

    model = results.model
    if isinstance(model, MixedLM):
        return _mixed_fixed_effects(results, row)
    if not isinstance(model, RegressionModel | GLM):
        raise ParameterError(
            "contrasts of this model are not supported",
            expected="a fit of ols, wls, gls, glm or mixedlm",
            found=type(model).__name__,
        )
    fixed_scale = isinstance(model, GLM) and not results.use_t and results.scale == 1
    df = math.inf if fixed_scale else float(results.df_resid)
    return np.asarray(results.params), np.asarray(results.cov_params()), df


def _mixed_fixed_effects(results: Any, row: Array) -> tuple[Array, Array, float]:
    model = results.model
    if model.k_vc or model.k_re != 1:
        raise ModelError(
            "a mixed model is supported with one random intercept only",
            expected="smf.mixedlm(formula, frame, groups='block')",
            remedy="add nested factors as fixed effects, for example + C(block)",
        )
    if not results.converged:
        raise ModelError(
            "the mixed model did not converge", remedy="add the block as a fixed effect, + C(block)"
        )
    x = np.asarray(model.exog, dtype=float)
    _, group = np.unique(np.asarray(model.groups), return_inverse=True)
    indicators = np.eye(group.max() + 1)[group]
    means = (indicators.T @ x) / indicators.sum(axis=0)[:, None]
    inner = x - means[group]
    rank = int(np.linalg.matrix_rank(inner))
    df = len(means) - int(np.linalg.matrix_rank(means))
    if int(np.linalg.matrix_rank(np.vstack((inner, row)))) == rank:  # estimated within groups
        df = len(x) - len(means) - rank
    return np.asarray(results.fe_params), _gls_covariance(results, x, means, group), float(df)


def _gls_covariance(results: Any, x: Array, means: Array, group: NDArray[np.intp]) -> Array:
    """GLS covariance of the fixed effects at the estimated variances, ``inv(X' inv(V) X)``;
    statsmodels inverts a Hessian, which fails if the group variance is on its bound 0.
    """
    scale = float(results.scale)
    between = max(float(np.asarray(results.cov_re)[0, 0]), 0.0) / scale
    size = np.bincount(group).astype(float)
    shrunk = between * size**2 / (1 + between * size)
    return np.asarray(scale * np.linalg.pinv(x.T @ x - (means.T * shrunk) @ means))
