"""Tests of a breakpoint: whether there is one, and whether it is at a given place; by simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.breakpoint_search import Kinks
from virtperf.models.result import FitResult
from virtperf.models.segmented_law import NAMES, normal_numbers, search


@dataclass(frozen=True)
class BreakTest:
    """A test whose null distribution is simulated: of one straight line against two pieces, or of a breakpoint's place.

    Parameters
    ----------
    statistic : float
        Largest F statistic over all breakpoints; or how much worse the tested place is than the best.
    pvalue : float
        Share of data sets simulated under the null with a statistic at least as large, ``(1 + count) / (1 + n_sim)``.
    n_sim, seed : int
    """

    statistic: float
    pvalue: float
    n_sim: int
    seed: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Breaks(FitResult):
    """A fit of two pieces, with tests of its breakpoint.

    Parameters
    ----------
    form : str
    """

    form: str

    def _exact(self, kinks: Kinks) -> bool:
        return self.rss <= (1e-13 * float(np.linalg.norm(kinks.root * self.y))) ** 2

    def place_test(self, psi: float, n_sim: int = 1999, seed: int = 20) -> BreakTest:
        """Test whether the break is at `psi`.

        The statistic is ``(RSS(psi) - RSS) / s**2``. It is compared with F(1, df), and with data sets that are
        simulated around the best curve with its break at psi; the larger p-value counts.
        """
        if self.df_resid < 1:
            raise ModelError("no degrees of freedom are left for the test", remedy="measure more points or replicates")
        kinks, sign = search(self.x, self.y, self.weights, self.form)
        observed = float(kinks.excess(sign * psi, self.df_resid)[0])
        by_f = float(special.fdtrc(1, self.df_resid, observed))
        drawn = kinks.excess(sign * psi, self.df_resid, normal_numbers(n_sim, self.nobs, seed))
        simulated = (1 + int(np.sum(drawn >= observed))) / (1 + n_sim)
        return BreakTest(observed, max(by_f, simulated), n_sim, seed)

    def break_test(self, n_sim: int = 1999, seed: int = 20) -> BreakTest:
        """Test whether there is a break at all: a straight line against the free form, whatever `form` is.

        The breakpoint does not exist under the null, so the F statistic has no F distribution (Davies 1987). With
        normal errors the distribution of its maximum depends only on x and the weights: it is simulated.

        Raises
        ------
        ModelError
            With fewer than five rows or four distinct x.
        """
        checks.enough(self.x, NAMES["free"], name="x")
        kinks, _ = search(self.x, self.y, self.weights, "free")
        df = self.nobs - 4
        if df < 1:
            raise ModelError("a test for a break needs more rows", expected="at least 5", found=str(self.nobs))
        noise = normal_numbers(n_sim, self.nobs, seed)
        observed = float(kinks.largest_f(self.y[None, :], df)[0])
        if np.linalg.norm(kinks.e) <= 1e-13 * np.linalg.norm(kinks.root * self.y):
            observed = 0.0  # an exact straight line: what is left is rounding
        count = int(np.sum(kinks.largest_f(noise, df, weighted=True) >= observed))
        return BreakTest(observed, (1 + count) / (1 + n_sim), n_sim, seed)
