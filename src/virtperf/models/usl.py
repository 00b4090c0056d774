"""Universal Scalability Law, with Amdahl's law and linear scaling nested in it, fitted by
statsmodels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from virtperf.models import checks
from virtperf.models.glm_curve import PLACES
from virtperf.models.glm_fit import fit_curve
from virtperf.models.irls import solve
from virtperf.models.result import FTest, f_test
from virtperf.models.usl_result import USLResult

SUPERLINEAR = 0.05  # p-value below which a bound contradicts the data


def fit_usl(
    load: ArrayLike,
    throughput: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    kind: str = "usl",
    bounded: bool = True,
    noise: str = "proportional",
) -> USLResult:
    """Fit a scalability curve as a generalized linear model with inverse link.

    ``X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`` with contention ``alpha``, coherency
    ``beta`` and the throughput ``gamma`` of a load of one (Gunther 2007). Replicates are rows with
        equal load.

    Parameters
    ----------
    load : array_like, shape (n,)
        Clients, processors, guests: positive.
    throughput : array_like, shape (n,)
        Positive, in any unit; gamma has the same unit per unit of load.
    weights : array_like, shape (n,), optional
        Proportional to one over the variance (proportional noise: the relative variance) of each
        throughput.
    kind : {"usl", "amdahl", "linear"}
    bounded : bool
        Keep ``0 <= alpha <= 1`` and ``beta >= 0`` (the default). Where the best coefficient is
        negative, the model is fitted again without its column; ``at_bound`` and ``warnings`` say
        so.
    noise : {"proportional", "constant"}
        Standard deviation a share of the mean (Gamma family, whose canonical link this is), as
        replicates of throughput mostly show, or the same everywhere (Gaussian family). Replicates
        that speak against it make a warning.

    Raises
    ------
    ModelError
        For rows that are not positive or not finite, or too few rows or distinct loads.

    References
    ----------
    Gunther, N. J. (2007). Guerrilla Capacity Planning. Springer.
    McCullagh, P., Nelder, J. A. (1989). Generalized Linear Models. Section 8.4 (Gamma family,
    inverse link).
    """
    fit = fit_curve(
        USLResult,
        load,
        throughput,
        "throughput",
        weights=weights,
        kind=kind,
        bounded=bounded,
        noise=noise,
    )
    return replace(fit, warnings=(*fit.warnings, *_against_bounds(fit)))


def _against_bounds(fit: USLResult) -> tuple[str, ...]:
    """Warn where a curve without bounds fits better than noise explains."""
    if (
        not fit.bounded
        or fit.df_resid < 2
        or fit.exact
        or not (any(fit.at_bound) or fit.kind == "linear")
    ):
        return ()
    free = fit.free() | np.array([True, True, False])
    spent = int(free.sum())
    if len(np.unique(fit.x)) < spent:
        return ()
    found = solve(
        fit.mean(),
        fit.columns(fit.x),
        fit.y[None, :],
        fit.weights[None, :],
        free=free,
        bounded=False,
    )
    left, df = float(found.deviance[0]), fit.nobs - spent
    if not math.isfinite(left) or df < 1:
        return ()
    p = f_test(fit.deviance - left, spent - (fit.nobs - fit.df_resid), left, df, "").pvalue
    if p >= SUPERLINEAR:
        return ()
    d, s, k = found.b[0]
    if s < 0:
        return (
            f"throughput grows faster than the load (superlinear, p = {p:.2g}), which the law does not describe: "
            "look for its cause, for example a cache that begins to suffice, before using the curve",
        )
    if k < 0 or d < 0:
        return (
            f"a curve outside the law's bounds fits better (p = {p:.2g}): the law does not describe these data",
        )
    return ()


@dataclass(frozen=True, eq=False)
class USLComparison:
    """The three nested curves fitted to the same data, by kind, and the tests against the next
    smaller ones.
    """

    fits: dict[str, USLResult]
    tests: dict[str, FTest]

    def preferred(self, alpha: float = 0.05) -> USLResult:
        """Return the largest curve that an F test at `alpha` still asks for.

        The test is two-sided although coefficients are bounded, and has the larger curve's scale
        and degrees of freedom, as its profile interval has: the USL is preferred if the interval of
        beta excludes zero.
        """
        checks.level(alpha)
        asked = (kind for kind in ("usl", "amdahl") if self.tests[kind].pvalue < alpha)
        return self.fits[next(asked, "linear")]


def compare_usl(
    load: ArrayLike,
    throughput: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    bounded: bool = True,
    noise: str = "proportional",
) -> USLComparison:
    """Fit linear scaling, Amdahl's law and the USL, and test each against the next smaller one; see
    `fit_usl`.

    Without degrees of freedom for the test of the USL there is a ModelError.
    """
    fits = {
        k: fit_usl(load, throughput, weights=weights, kind=k, bounded=bounded, noise=noise)
        for k in PLACES
    }
    tests = {}
    for small, large in (("linear", "amdahl"), ("amdahl", "usl")):
        fit = fits[large]
        spare = max(fit.df_resid, 0)
        left = 0.0 if fit.exact else fit.scale * spare
        gain = fits[small].deviance - fit.deviance
        tests[large] = f_test(
            0.0 if fits[small].exact else gain, 1, left, spare, f"{small} scaling suffices"
        )
    return USLComparison(fits, tests)
