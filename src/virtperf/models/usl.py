"""Universal Scalability Law, with Amdahl's law and linear scaling nested in it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy import special

from virtperf.core.errors import ModelError
from virtperf.models import checks, usl_paths
from virtperf.models.checks import Array
from virtperf.models.nls import best_fit
from virtperf.models.result import Estimate, FTest, f_test
from virtperf.models.usl_law import KINDS, PLACES, LawResult, curve, gradient, throughput

__all__ = ["KINDS", "USLComparison", "USLResult", "compare_usl", "fit_usl", "gradient", "throughput"]


@dataclass(frozen=True, eq=False, kw_only=True)
class USLResult(LawResult):
    """A fitted scalability curve; see `FitResult` for the common part.

    The quantities below take ``alpha`` (one minus the confidence level) and ``method``: "profile" (the default: the
    law is rewritten in the quantity, and its likelihood profiled) or "delta".
    """

    def peak_load(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return the load of greatest throughput, ``N* = sqrt((1 - alpha) / beta)``.

        The upper limit is infinite if Amdahl's law (no peak) fits as well as the level asks.
        """
        return usl_paths.peak_load(self, alpha, method)

    def peak_throughput(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return the greatest throughput ``X(max(N*, 1))``; for Amdahl's law the asymptote."""
        return usl_paths.peak_throughput(self, alpha, method)

    def asymptote(self, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return ``gamma / alpha``: the throughput that contention alone would allow."""
        return usl_paths.asymptote(self, alpha, method)

    def efficiency(self, load: float, alpha: float = 0.05, method: str = "profile") -> Estimate:
        """Return ``X(N) / (gamma N)``: the share of linear scaling that is reached at a load of 1 or more."""
        return usl_paths.efficiency(self, load, alpha, method)


def fit_usl(
    load: ArrayLike,
    throughput: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    kind: str = "usl",
    bounded: bool = True,
) -> USLResult:
    """Fit a scalability curve by least squares.

    ``X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`` with contention ``alpha``, coherency ``beta`` and the
    throughput ``gamma`` of a load of one (Gunther 2007). Replicates are rows with equal load.

    Parameters
    ----------
    load : array_like, shape (n,)
        Clients, processors, guests: positive.
    throughput : array_like, shape (n,)
        Positive, in any unit; gamma has the same unit per unit of load.
    weights : array_like, shape (n,), optional
        Proportional to one over the variance of each throughput.
    kind : {"usl", "amdahl", "linear"}
    bounded : bool
        Keep ``0 <= alpha <= 1`` and ``beta >= 0`` (the default). A best value on a bound is reported in ``at_bound``
        and ``warnings``.

    Returns
    -------
    USLResult

    Raises
    ------
    ModelError
        For rows that are not positive or not finite, or too few rows or distinct loads.
    """
    chosen = curve(kind, bounded)
    n, x = checks.column(load, "load", positive=True), checks.column(throughput, "throughput", positive=True)
    checks.same_length(("load", n), ("throughput", x))
    checks.enough(n, chosen.param_names, name="load")
    w = checks.weights_or_ones(weights, len(n))
    grid, rss = _grid(n, x, w, kind)
    place = list(PLACES[kind])
    near = _linearised(n, x, w, kind)
    if near is not None:
        try:
            fit = best_fit(USLResult, chosen, n, x, w, [near[place]], kind=kind)
        except ModelError:
            fit = None
        # A point of the grid that is better than this optimum belongs to a better one.
        if fit is not None and fit.rss <= rss.min():
            return fit
    best = np.argsort(rss, kind="stable")[:2]
    starts = [near[place]] if near is not None else []
    return best_fit(USLResult, chosen, n, x, w, [*starts, *grid[best][:, place]], kind=kind)


def _linearised(load: Array, x: Array, w: Array, kind: str) -> Array | None:
    """Return (alpha, beta, gamma) by linear least squares of ``N/X``, or None if that has no use as a start.

    ``N/X = 1/gamma + (alpha/gamma) (N - 1) + (beta/gamma) N (N - 1)`` is linear in the three quotients; an error of X
    makes one of ``N/X`` that is ``N/X**2`` times as large, whence the weights. A negative quotient is set to zero.
    """
    root = np.sqrt(w) * x * x / load
    columns = root[:, None] * np.column_stack((load - 1, load * (load - 1), np.ones(len(load))))
    used = list(PLACES[kind])
    while used[0] < 2:
        found = np.linalg.lstsq(columns[:, used], root * load / x, rcond=None)[0]
        if found.min() >= 0:
            break
        used.pop(int(np.argmin(found[:-1])))
    else:
        found = np.linalg.lstsq(columns[:, used], root * load / x, rcond=None)[0]
    theta = np.zeros(3)
    theta[used] = found
    if not theta[2] > 0:
        return None
    return np.array([min(theta[0] / theta[2], 1.0), theta[1] / theta[2], 1 / theta[2]])


def _grid(load: Array, x: Array, w: Array, kind: str) -> tuple[Array, Array]:
    """Return points (alpha, beta, gamma) in units of the largest load, gamma being the best one, and their RSS."""
    top = load.max()
    shares = np.array([0.0, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0]) / max(top, 1.0)
    peaks = np.array([0.1, 0.25, 0.5, 1.0, 2.0, 5.0]) * top
    alphas = np.minimum(shares, 0.99) if kind != "linear" else np.zeros(1)
    betas = np.append(0.0, peaks**-2) if kind == "usl" else np.zeros(1)
    a, b = (g.ravel() for g in np.meshgrid(alphas, betas))
    below = 1 + (load - 1) * (a[:, None] + b[:, None] * load)
    below[below <= 0] = np.inf  # loads below 1 allow a denominator that the law forbids
    shape = load / below
    cross = shape @ (w * x)
    gamma = cross / np.maximum(shape**2 @ w, 1e-300)
    return np.column_stack((a, b, gamma)), float(w @ (x * x)) - gamma * cross


@dataclass(frozen=True, eq=False)
class USLComparison:
    """The three nested curves fitted to the same data.

    Parameters
    ----------
    fits : dict
        USLResult by kind: "linear", "amdahl", "usl".
    tests : dict
        FTest by the larger kind: "amdahl" (against linear) and "usl" (against Amdahl).
    """

    fits: dict[str, USLResult]
    tests: dict[str, FTest]

    def preferred(self, alpha: float = 0.05) -> USLResult:
        """Return the largest curve that an F test at `alpha` still asks for.

        The test is two-sided although coefficients are bounded, so that the choice agrees with the profile interval:
        USL is preferred if the interval of beta excludes zero.
        """
        checks.level(alpha)
        for kind in ("usl", "amdahl"):
            if self.tests[kind].pvalue < alpha:
                return self.fits[kind]
        return self.fits["linear"]

    def table(self) -> pd.DataFrame:
        """Return one row a curve with its F and likelihood-ratio test against the next smaller one.

        ``lr_pvalue_bound`` is half of ``lr_pvalue``: the extra coefficient lies on the bound of its range under the
        null, so the statistic is an equal mixture of chi-squared with 0 and 1 degrees of freedom (Self and Liang 1987).
        """
        rows = []
        smaller = None
        for kind in KINDS:
            fit = self.fits[kind]
            row: dict[str, object] = {"kind": kind, "rss": fit.rss, "df_resid": fit.df_resid}
            row |= {"llf": fit.llf, "aic": fit.aic, "aicc": fit.aicc}
            if smaller is not None:
                test = self.tests[kind]
                ratio = max(2 * (fit.llf - smaller.llf), 0.0) if math.isfinite(fit.llf) else math.inf
                p = float(special.chdtrc(1, ratio)) if math.isfinite(ratio) else 0.0
                row |= {"f": test.statistic, "f_pvalue": test.pvalue, "lr": ratio, "lr_pvalue": p}
                row["lr_pvalue_bound"] = p / 2 if ratio > 1e-9 else 1.0  # less is rounding at the bound itself
            rows.append(row)
            smaller = fit
        return pd.DataFrame(rows)


def compare_usl(
    load: ArrayLike, throughput: ArrayLike, *, weights: ArrayLike | None = None, bounded: bool = True
) -> USLComparison:
    """Fit linear scaling, Amdahl's law and the USL, and test each against the next smaller one.

    Raises
    ------
    ModelError
        As `fit_usl`, and if no degrees of freedom are left for the test of the USL.
    """
    fits = {k: fit_usl(load, throughput, weights=weights, kind=k, bounded=bounded) for k in KINDS}
    tests = {}
    for small, large in (("linear", "amdahl"), ("amdahl", "usl")):
        fit = fits[large]
        tests[large] = f_test(
            fits[small].rss - fit.rss, 1, fit.rss, fit.nobs - len(fit.params), f"{small} scaling suffices"
        )
    return USLComparison(fits, tests)
