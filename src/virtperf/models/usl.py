"""Universal Scalability Law, with nested Amdahl's law and linear scaling, fitted by statsmodels."""

from __future__ import annotations

import math
import warnings as python_warnings
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from rawperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.diagnostics import fit_with_notes
from virtperf.models.irls import Family, solve
from virtperf.models.noise import check_noise, power_of, resolve_noise
from virtperf.models.result import MISFIT_LEVEL, NO_DF, NO_NOISE, f_test
from virtperf.models.robust import robust_fit
from virtperf.models.usl_result import (
    FREE_PARAMETERS,
    PARAMETERS,
    PLACES,
    USLResult,
    coefficients,
    design_columns,
)

FORMULAS = {
    "usl": "Universal Scalability Law: X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))",
    "amdahl": "Amdahl's law: X(N) = gamma N / (1 + alpha (N - 1))",
    "linear": "Linear scaling: X(N) = gamma N",
}
BOUND_LEVEL = 0.05
"""P-value below which a bound contradicts the data."""
FAMILIES = {0: "Gaussian", 1: "Poisson", 2: "Gamma"}
"""statsmodels family by the power of the mean in the variance."""


def fit_usl(
    load: ArrayLike,
    throughput: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    kind: str = "usl",
    noise: str | None = None,
    robust: bool = False,
) -> USLResult:
    """Fit a scalability curve as a generalized linear model with inverse link.

    ``X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`` with contention ``alpha``, coherency
    ``beta`` and throughput ``gamma`` at a load of one (Gunther 2007); ``0 <= alpha <= 1`` and
    ``beta >= 0``. If the best coefficient is negative, the model is refitted without its column, as
    recorded in ``at_bound`` and ``warnings``. Replicates are rows with equal load.

    Parameters
    ----------
    load : array_like, shape (n,)
        Clients, processors, guests: positive.
    throughput : array_like, shape (n,)
        In any unit; gamma has the same unit per unit of load. Positive; zero is allowed with counts
        or constant noise.
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each throughput; excludes `noise`.
    kind : {"usl", "amdahl", "linear"}
    noise : {"proportional", "counts", "constant"}
        Variance function: proportional to the squared mean (Gamma family with its canonical link),
        the default, as in most replicates of throughput; to the mean (Poisson family with a free
        dispersion); or constant (Gaussian family). A warning is given if replicates contradict it.
    robust : bool
        Whether to limit the influence of single outliers: Huber's M estimator
        (`virtperf.models.robust`). Warnings name the outliers.

    Raises
    ------
    ModelError
        Rows are not positive or not finite, there are too few rows or distinct loads, or the fit
        does not converge.

    References
    ----------
    Gunther, N. J. (2007). Guerrilla Capacity Planning. Springer.
    McCullagh, P., Nelder, J. A. (1989). Generalized Linear Models. Section 8.4 (Gamma family,
    inverse link).
    """
    checks.require_one_of(kind, tuple(PLACES), "kind of scalability curve")
    noise = resolve_noise(noise, weights, "proportional")
    x = checks.column(load, "load", positive=True)
    y = _throughput(throughput, noise)
    checks.same_length(("load", x), ("throughput", y))
    w = checks.weights_or_ones(weights, len(x))

    if robust:
        return robust_fit(lambda of: _fit(x, of, w, kind, noise), y, len(PLACES[kind]))
    return fit_with_notes(partial(_fit, kind=kind, noise=noise), x, y, w)


def _throughput(values: ArrayLike, noise: str) -> Array:
    if noise == "proportional":
        remedy = "use counts or constant noise, which allow a throughput of zero"
        return checks.column(values, "throughput", positive=True, remedy=remedy)
    return checks.column(values, "throughput", nonnegative=True, remedy="repair its value")


def _fit(x: Array, y: Array, w: Array, kind: str, noise: str) -> USLResult:
    """Fit validated columns."""
    family, places = Family(power_of(noise)), list(PLACES[kind])
    names = tuple(PARAMETERS[i] for i in places)
    checks.enough(x, names, name="load")
    design, free = design_columns(x), np.array(FREE_PARAMETERS[kind])
    solution = solve(family, design, y[None, :], w[None, :], free=free)
    best = solution.b[0]
    if not (np.isfinite(solution.deviance[0]) and solution.converged[0]):
        raise ModelError(
            f"the fit did not converge: {FORMULAS[kind]}",
            remedy="fit a smaller curve or measure more loads",
        )
    if not design_columns(np.ones(1))[0] @ best > 0:
        raise ModelError(
            "the fitted throughput at a load of 1 is not positive",
            remedy="fit a smaller curve or measure small loads",
        )
    used = free & (best != 0)
    transform, labels = _glm_columns(used)
    start = np.linalg.lstsq(transform, best, rcond=None)[0]
    results = _fit_glm(design @ transform, labels, y, w, family, start)
    b, df = transform @ np.asarray(results.params), len(x) - int(used.sum())
    cov_b = transform @ results.cov_params() @ transform.T if df > 0 else np.full((3, 3), math.nan)
    slope = _parameter_slopes(b)
    covariance = slope[places] @ cov_b @ slope[places].T
    is_at_bound = (
        not (used[0] and used[1]) and kind != "linear",
        not used[2] and kind == "usl",
        False,
    )
    at_bound = tuple(is_at_bound[i] for i in places)
    covariance[:, at_bound], covariance[at_bound, :] = math.nan, math.nan
    fit = USLResult(
        model=FORMULAS[kind],
        param_names=names,
        theta=coefficients(b)[places],
        covariance=covariance,
        x=x,
        y=y,
        weights=w,
        fittedvalues=1 / (design @ b),
        df_resid=df,
        results=results,
        noise=noise,
        kind=kind,
        b=b,
        cov_b=cov_b,
        at_bound=at_bound,
    )
    return replace(fit, warnings=(*_fit_warnings(fit), *_bound_violation_warnings(fit)))


def _parameter_slopes(b: Array) -> Array:
    """Jacobian of (alpha, beta, gamma) in (d, s, k), shape (3, 3)."""
    d, s, k = b
    g = 1 / (d + s)
    return np.array(
        [[-s * g * g, d * g * g, 0.0], [-k * g * g, -k * g * g, g], [-g * g, -g * g, 0.0]]
    )


def _glm_columns(used: NDArray[np.bool_]) -> tuple[Array, list[str]]:
    """Return the linear map from statsmodels' coefficients to (d, s, k), restricted to the used
    ones, and the column names.
    """
    if not used[0]:  # alpha is 1
        transform = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[:, [True, used[2]]]
        return transform, ["1", "N - 1"][: 1 + used[2]]
    transform = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    names = ("1/N", "(N - 1)/N", "N - 1")
    return transform[:, used], [name for name, u in zip(names, used, strict=True) if u]


def _fit_glm(
    design: Array, names: list[str], y: Array, weights: Array, family: Family, start: Array
) -> Any:
    from statsmodels.genmod import families
    from statsmodels.genmod.generalized_linear_model import GLM

    # statsmodels warns about every non-default link, and about the scale without degrees of
    # freedom.
    with python_warnings.catch_warnings(), np.errstate(all="ignore"):
        python_warnings.simplefilter("ignore")
        glm_family = getattr(families, FAMILIES[family.power])(
            families.links.InversePower(), check_link=False
        )
        model = GLM(y, design, family=glm_family, var_weights=weights)
        model.data.xnames = names
        settings: dict[str, Any] = {
            "scale": "X2",
            "use_t": True,
            "maxiter": 50,
            "tol_criterion": "params",
            "atol": 0.0,
            "rtol": 1e-11,
        }
        try:
            return model.fit(start_params=start, **settings)
        except ValueError:  # 0/0 from an exact start
            return model.fit(start_params=start * (1 + 1e-7), **settings)


def _fit_warnings(fit: USLResult) -> tuple[str, ...]:
    """Warnings of bounds, of a contradicted noise model, and of lack of fit."""
    notes = [
        f"{name} is on its bound {value:g}: standard errors of the others are conditional on it, and 95 % intervals of "
        "quantities that depend on it cover up to 98 %"
        for name, value, is_at_bound in zip(fit.param_names, fit.theta, fit.at_bound, strict=True)
        if is_at_bound
    ]
    if fit.df_resid <= 0:
        return (
            *notes,
            f"{NO_DF}: the curve interpolates all points, and the intervals are unbounded",
        )
    if fit.exact:
        return (*notes, NO_NOISE)
    notes.extend(_near_bound_warnings(fit))
    notes.extend(check_noise(fit.x, fit.y, fit.weights, fit.noise))
    if fit.misfit < MISFIT_LEVEL:
        notes.append(
            "lack of fit: the curve deviates from the means of the replicates by more than their "
            f"spread explains (p = {fit.misfit:.2g})"
        )
    return tuple(notes)


def _near_bound_warnings(fit: USLResult) -> list[str]:
    """Warn if zero is within reach of alpha or beta: intervals are then conservative, not exact."""
    free, near = fit.free(), []
    threshold = fit.deviance + fit.t_quantile(0.05) ** 2 * fit.scale
    for place, name in ((1, "alpha"), (2, "beta")):
        if free[place] and not fit.at_bound[fit.index(name)]:
            without = np.where(np.arange(3) == place, False, free)
            if fit.refitted(without).deviance[0] <= threshold:
                near.append(name)
    if not near:
        return []
    return [
        f"the data are compatible with {' and '.join(f'{name} = 0' for name in near)}, the bound: 95 % intervals of "
        "quantities that depend on it cover up to 98 %"
    ]


def _bound_violation_warnings(fit: USLResult) -> tuple[str, ...]:
    """Warn if an unbounded curve fits significantly better."""
    if fit.df_resid < 2 or fit.exact or not (any(fit.at_bound) or fit.kind == "linear"):
        return ()
    free = fit.free() | np.array([True, True, False])
    spent = int(free.sum())
    if len(np.unique(fit.x)) < spent:
        return ()
    solution = fit.refitted(free, bounded=False)
    deviance, df = float(solution.deviance[0]), fit.nobs - spent
    if not math.isfinite(deviance) or df < 1:
        return ()
    p = f_test(fit.deviance - deviance, spent - (fit.nobs - fit.df_resid), deviance, df).pvalue
    if p >= BOUND_LEVEL:
        return ()
    d, s, k = solution.b[0]
    if s < 0:
        return (
            f"superlinear speedup (p = {p:.2g}): the law does not describe throughput that grows faster than the "
            "load; find the cause, for example a working set that fits into the cache, before using the curve",
        )
    if k < 0 or d < 0:
        return (
            f"a curve outside the law's bounds fits better (p = {p:.2g}): the law does not describe these data",
        )
    return ()


def fit_scaling(
    load: ArrayLike, throughput: ArrayLike, *, alpha: float = 0.05, **options: Any
) -> USLResult:
    """Fit linear scaling, Amdahl's law and the USL, and return the largest that an F test at `alpha`
    supports, with the tests of each against the next smaller one (``comparisons``).

    The test is two-sided although coefficients are bounded, and uses the scale and degrees of
    freedom of the larger curve, like its profile interval: the USL is preferred if the interval of
    beta excludes zero. `options` are those of `fit_usl`. Raises a ModelError without degrees of
    freedom for the test of the USL.
    """
    checks.level(alpha)
    fits = {kind: fit_usl(load, throughput, kind=kind, **options) for kind in PLACES}
    tests = {}
    for small, large in (("linear", "amdahl"), ("amdahl", "usl")):
        fit = fits[large]
        df = max(fit.df_resid, 0)
        rss = 0.0 if fit.exact else fit.scale * df
        gain = 0.0 if fits[small].exact else fits[small].deviance - fit.deviance
        tests[large] = f_test(gain, 1, rss, df)
    supported = (kind for kind in ("usl", "amdahl") if tests[kind].pvalue < alpha)
    return replace(fits[next(supported, "linear")], comparisons=tests)
