"""Universal Scalability Law, with Amdahl's law and linear scaling nested in it.

A generalized linear model with inverse link (`usl_law`), fitted by statsmodels. The noise of throughput is a share of
its mean unless the caller says otherwise: the Gamma family, whose canonical link this is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from virtperf.models import checks, usl_law
from virtperf.models.checks import Array
from virtperf.models.glm_fit import fit_curve
from virtperf.models.irls import solve
from virtperf.models.question import KINDS, Question, inverse_of
from virtperf.models.result import FTest, f_test
from virtperf.models.usl_law import FORMULAS, gradient, throughput
from virtperf.models.usl_quantities import Quantities

__all__ = ["KINDS", "USLComparison", "USLResult", "compare_usl", "fit_usl", "gradient", "throughput"]

SUPERLINEAR = 0.05  # p-value below which a bound contradicts the data


@dataclass(frozen=True, eq=False, kw_only=True)
class USLResult(Quantities):
    """A fitted scalability curve: parameters alpha, beta, gamma; see `GLMCurve` and `Quantities`.

    ``results`` has the coefficients of ``1/X = b0/N + b1 (N - 1)/N + b2 (N - 1)``: ``gamma = 1/b0``, ``alpha = b1/b0``,
    ``beta = b2/b0``. With alpha on its bound 1, the first two columns are one: ``1/X = b0 + b2 (N - 1)``.
    """

    inverse: ClassVar[bool] = True
    formulas: ClassVar[dict[str, str]] = FORMULAS
    names: ClassVar[tuple[str, str, str]] = ("alpha", "beta", "gamma")
    columns = staticmethod(usl_law.columns)

    @staticmethod
    def parameters(b: Array) -> tuple[Array, Array]:
        """(alpha, beta, gamma) and their derivatives in (d, s, k)."""
        return usl_law.coefficients(b), usl_law.derivatives(b)

    @staticmethod
    def stated(used: NDArray[np.bool_]) -> tuple[Array, list[str]]:
        """The matrix from statsmodels' coefficients to (d, s, k), and the names of their columns."""
        if not used[0]:  # alpha is 1
            return np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])[:, [True, used[2]]], ["1", "N - 1"][: 1 + used[2]]
        turn = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        return turn[:, used], [n for n, u in zip(("1/N", "(N - 1)/N", "N - 1"), used, strict=True) if u]

    def question(self, name: str) -> Question:
        """The equation of a parameter."""
        alpha, beta, gamma = (float(v) for v in self.coefficients)
        one, zero = np.ones_like, np.zeros_like
        least = 0.0 if self.bounded else -math.inf
        if name == "alpha":
            top = 1.0 if self.bounded else math.inf
            return Question(lambda c: np.stack((-c, 1 - c, zero(c)), 1), zero, alpha, (least, top))
        if name == "beta":
            return Question(lambda c: np.stack((-c, -c, one(c)), 1), zero, beta, (least, math.inf))
        return Question(
            lambda c: np.stack((one(c), one(c), zero(c)), 1), lambda c: c, 1 / gamma, (0.0, math.inf), inverse_of
        )


def fit_usl(
    load: ArrayLike, throughput: ArrayLike, *, weights: ArrayLike | None = None, kind: str = "usl",
    bounded: bool = True, noise: str = "proportional",
) -> USLResult:  # fmt: skip
    """Fit a scalability curve as a generalized linear model with inverse link.

    ``X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`` with contention ``alpha``, coherency ``beta`` and the
    throughput ``gamma`` of a load of one (Gunther 2007). Replicates are rows with equal load.

    Parameters
    ----------
    load : array_like, shape (n,)
        Clients, processors, guests: positive.
    throughput : array_like, shape (n,)
        Positive, in any unit; gamma has the same unit per unit of load.
    weights : array_like, shape (n,), optional
        Proportional to one over the variance (proportional noise: the relative variance) of each throughput.
    kind : {"usl", "amdahl", "linear"}
    bounded : bool
        Keep ``0 <= alpha <= 1`` and ``beta >= 0`` (the default). Where the best coefficient is negative, the model is
        fitted again without its column; ``at_bound`` and ``warnings`` say so.
    noise : {"proportional", "constant"}
        Standard deviation a share of the mean (Gamma family), as replicates of throughput mostly show, or the same
        everywhere (Gaussian family: least squares). Replicates that speak against the choice make a warning.

    Returns
    -------
    USLResult

    Raises
    ------
    ModelError
        For rows that are not positive or not finite, or too few rows or distinct loads.

    References
    ----------
    Gunther, N. J. (2007). Guerrilla Capacity Planning. Springer.
    McCullagh, P., Nelder, J. A. (1989). Generalized Linear Models. Section 8.4 (Gamma family, inverse link).
    """
    fit = fit_curve(USLResult, load, throughput, "throughput", weights=weights, kind=kind, bounded=bounded, noise=noise)
    return replace(fit, warnings=(*fit.warnings, *_against_bounds(fit)))


def _against_bounds(fit: USLResult) -> tuple[str, ...]:
    """Warn where a curve without bounds fits better than noise explains."""
    if not fit.bounded or fit.df_resid < 2 or fit.exact or not (any(fit.at_bound) or fit.kind == "linear"):
        return ()
    free = fit.free() | np.array([True, True, False])
    if len(np.unique(fit.x)) < free.sum():
        return ()
    found = solve(fit.mean(), fit.columns(fit.x), fit.y[None, :], fit.weights[None, :], free=free, bounded=False)
    spent = int(free.sum())
    left, df = float(found.deviance[0]), fit.nobs - spent
    if not math.isfinite(left) or df < 1:
        return ()
    p = f_test(fit.deviance - left, spent - (fit.nobs - fit.df_resid), left, df, "").pvalue
    if p >= SUPERLINEAR:
        return ()
    if found.b[0, 1] < 0:
        return (
            f"throughput grows faster than the load (superlinear, p = {p:.2g}), which the law does not describe: "
            "look for its cause, for example a cache that begins to suffice, before using the curve",
        )
    if found.b[0, 2] < 0 or found.b[0, 0] < 0:
        return (f"a curve outside the law's bounds fits better (p = {p:.2g}): the law does not describe these data",)
    return ()


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

        The test is two-sided although coefficients are bounded, and has the larger curve's scale and degrees of
        freedom, as its profile interval has: the USL is preferred if the interval of beta excludes zero.
        """
        checks.level(alpha)
        for kind in ("usl", "amdahl"):
            if self.tests[kind].pvalue < alpha:
                return self.fits[kind]
        return self.fits["linear"]


def compare_usl(
    load: ArrayLike, throughput: ArrayLike, *, weights: ArrayLike | None = None, bounded: bool = True,
    noise: str = "proportional",
) -> USLComparison:  # fmt: skip
    """Fit linear scaling, Amdahl's law and the USL, and test each against the next smaller one; see `fit_usl`.

    Raises
    ------
    ModelError
        As `fit_usl`, and if no degrees of freedom are left for the test of the USL.
    """
    fits = {k: fit_usl(load, throughput, weights=weights, kind=k, bounded=bounded, noise=noise) for k in KINDS}
    tests = {}
    for small, large in (("linear", "amdahl"), ("amdahl", "usl")):
        fit = fits[large]
        spare = max(fit.df_resid, 0)
        left = 0.0 if fit.exact else fit.scale * spare
        gain = fits[small].deviance - fit.deviance
        tests[large] = f_test(0.0 if fits[small].exact else gain, 1, left, spare, f"{small} scaling suffices")
    return USLComparison(fits, tests)
