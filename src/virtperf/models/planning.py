"""Planning of measurements: variance components of hosts, boots, runs and samples, optimal numbers
of repetitions, and sequential stopping. All of logarithms, so that spreads are relative.

    parts = variance_components("value", runs, levels=["host", "boot", "run"])
    parts.repetitions({"host": 3600, "boot": 120, "run": 10}, half_width=0.02)
    stop_when(ratios_of_blocks, half_width=0.02, at_most=20)

References
----------
Kalibera, T., Jones, R. (2013). Rigorous benchmarking in reasonable time. ISMM '13, 63-74. Searle, S.
R., Casella, G., McCulloch, C. E. (1992). Variance Components, section 5.2 (analysis of variance of
unbalanced nested data). Chow, Y. S., Robbins, H. (1965). On the asymptotic theory of fixed-width
sequential confidence intervals for the mean. Ann. Math. Stat. 36, 457-462.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from rawperf.core.errors import ModelError, ParameterError
from virtperf.core.estimate import Estimate
from virtperf.core.schema import require_columns
from virtperf.core.statistics import t_quantile
from virtperf.models import checks
from virtperf.models.fits import names_of
from virtperf.models.result import exp, t_interval

MIN_BLOCKS = 6
"""Minimum number of blocks before `stop_when` may stop."""
SEQUENTIAL_ALPHA = 0.8
"""Share of alpha for each interim look: a rule that stops at a narrow interval stops too often
where the spread happens to be small; with this share 95 % intervals cover 93.8 to 96.1 %
(docs/methods.md)."""
MAX_REPETITIONS = 1000


@dataclass(frozen=True)
class VarianceComponents:
    """Variance components of a nested design.

    Parameters
    ----------
    levels : tuple of str
        From the outermost (hosts) to the innermost (single values).
    groups : tuple of int
        Number of groups at each level.
    variances : tuple of float
        Variance of log values added by each level; negative estimates become zero.
    """

    levels: tuple[str, ...]
    groups: tuple[int, ...]
    variances: tuple[float, ...]

    def table(self) -> pd.DataFrame:
        """Return one row per level: number of groups, standard deviation in per cent of the mean,
        and share of the variance of a single value, in per cent.
        """
        total = sum(self.variances)
        return pd.DataFrame(
            {
                "groups": self.groups,
                "sd_percent": 100 * np.sqrt(self.variances),
                "share_percent": [
                    100 * v / total if total > 0 else math.nan for v in self.variances
                ],
            },
            index=pd.Index(self.levels, name="level"),
        )

    def half_width(self, counts: Mapping[str, int], alpha: float = 0.05) -> float:
        """Expected half-width of the interval of a mean, relative to it, given the repetitions of
        each level within one of the level above.

        The outermost repetitions are the units of the interval (Student's t).
        """
        if missing := [name for name in self.levels if name not in counts]:
            raise ParameterError(f"no number of repetitions is given for {missing[0]!r}")
        in_all = np.cumprod([counts[name] for name in self.levels])
        se = math.sqrt(float(np.sum(np.array(self.variances) / in_all)))
        return math.expm1(t_quantile(in_all[0] - 1, checks.level(alpha)) * se)

    def repetitions(
        self, costs: Mapping[str, float], *, half_width: float, alpha: float = 0.05
    ) -> pd.DataFrame:
        """Return the cheapest repetitions for an interval of that half-width.

        Within a level: ``sqrt(cost of the level above / cost of the level * variance of the level /
        variance of the level above)``, rounded up (Kalibera and Jones 2013); the outermost number
        is the smallest that achieves the half-width.

        Parameters
        ----------
        costs : mapping of str to float
            Of one more repetition of each level, without those nested in it, in one unit: the setup
            of a host, the boot, the warm-up and the run. Of the innermost: one value.
        half_width : float
            Relative to the mean: 0.02 for 2 %.

        Returns
        -------
        DataFrame
            One row per level: ``repetitions`` within one of the level above, ``in_all``, ``cost``.

        Raises
        ------
        ModelError
            The outermost level has no variance, so its number is undetermined, or 1000 repetitions
            are not enough.
        """
        if wrong := [name for name in self.levels if not costs.get(name, 0) > 0]:
            raise ParameterError(f"no positive cost is given for {wrong[0]!r}")
        if not half_width > 0:
            raise ParameterError("the half-width is not positive", found=repr(half_width))
        counts = dict.fromkeys(self.levels, 1)
        above = 0
        for place in range(1, len(self.levels)):
            upper, lower = self.variances[above], self.variances[place]
            if lower <= 0:
                continue  # no variance: one repetition suffices
            if upper <= 0:
                raise ModelError(
                    f"the variance component of {self.levels[above]} is 0 beside that of {self.levels[place]}",
                    remedy=f"leave {self.levels[above]} out, or repeat it more often",
                )
            costs_above = sum(costs[name] for name in self.levels[above:place])
            optimum = math.sqrt(costs_above / costs[self.levels[place]] * lower / upper)
            counts[self.levels[place]] = min(max(math.ceil(optimum - 1e-9), 1), MAX_REPETITIONS)
            above = place
        first = self.levels[0]
        counts[first] = 2
        while self.half_width(counts, alpha) > half_width:
            counts[first] += 1
            if counts[first] > MAX_REPETITIONS:
                raise ModelError(
                    f"{MAX_REPETITIONS} repetitions of {first} are not enough",
                    remedy="allow a larger half-width",
                )
        in_all = np.cumprod([counts[name] for name in self.levels])
        return pd.DataFrame(
            {
                "repetitions": [counts[name] for name in self.levels],
                "in_all": in_all,
                "cost": [n * costs[name] for n, name in zip(in_all, self.levels, strict=True)],
            },
            index=pd.Index(self.levels, name="level"),
        )


def variance_components(
    value: str, frame: pd.DataFrame, *, levels: Sequence[str]
) -> VarianceComponents:
    """Estimate variance components of nested repetitions, by the analysis of variance.

    Parameters
    ----------
    value : str
        The column of the values.
    levels : sequence of str
        Columns from the outermost to the innermost: ``["host", "boot", "run"]``. Several values in
        a group of the innermost column form a further level, ``"within"``.

    Raises
    ------
    ModelError
        Values are not positive, or a level is nowhere replicated.

    Notes
    -----
    The sum of ``size * mean**2`` over the groups of a level has the expectation ``N mean**2 +
    sum_k variance[k] * sum_groups(sum(size of its parts at level k)**2 / size)``.
    """
    names = names_of(levels)
    require_columns(frame, (value, *names))
    for name in names:
        if frame[name].isna().any():
            raise ModelError(
                f"a row has no {name}",
                expected="every level in every row",
                remedy="name it, or drop the row",
            )
    y = np.log(checks.column(frame[value], value, positive=True))
    labels = [np.zeros(len(y), dtype=int)]  # of all rows, then of the groups of each level
    for depth in range(1, len(names) + 1):
        nested = frame.groupby(list(names[:depth]), observed=True)
        labels.append(nested.ngroup().to_numpy())
    if np.bincount(labels[-1]).max() > 1:
        names = (*names, "within")
        labels.append(np.arange(len(y)))
    sizes = [np.bincount(label).astype(float) for label in labels]
    totals = [
        float(np.sum(np.bincount(label, y) ** 2 / n))
        for label, n in zip(labels, sizes, strict=True)
    ]
    expected = np.zeros((len(labels), len(names)))
    for row, (label, n) in enumerate(zip(labels, sizes, strict=True)):
        for column, part in enumerate(labels[1:]):
            pair = label * len(y) + part
            _, first, size = np.unique(pair, return_index=True, return_counts=True)
            expected[row, column] = float(np.sum(size.astype(float) ** 2 / n[label[first]]))
    coefficients = np.diff(expected, axis=0)
    free = np.diag(coefficients)
    if unreplicated := [name for name, f in zip(names, free, strict=True) if not f > 1e-9]:
        raise ModelError(
            f"{unreplicated[0]} is nowhere replicated, so its variance can't be estimated",
            expected="at least two of each level somewhere",
            remedy=f"leave {unreplicated[0]} out",
        )
    variances = np.maximum(np.linalg.solve(coefficients, np.diff(totals)), 0.0)
    groups = tuple(len(n) for n in sizes[1:])
    return VarianceComponents(names, groups, tuple(variances.tolist()))


@dataclass(frozen=True)
class Stopping:
    """Decision of the stopping rule after the blocks so far.

    Parameters
    ----------
    stop : bool
    estimate : Estimate
        Of the geometric mean of the blocks so far.
    blocks : int
        Number of blocks so far.
    reason : str
    """

    stop: bool
    estimate: Estimate
    blocks: int
    reason: str


def stop_when(
    blocks: ArrayLike, *, half_width: float = 0.02, at_most: int = 20, alpha: float = 0.05
) -> Stopping:
    """Decide after each block whether to measure another: until the interval's half-width is small
    enough, or `at_most` blocks.

    Repeated looks make an ordinary interval too narrow. From six blocks on, each look uses the
    quantile of four fifths of alpha, so that the final interval has its nominal coverage
    (docs/methods.md).

    Parameters
    ----------
    blocks : array_like
        One positive value per block, in order of measurement: a throughput, or the ratio of two
        conditions within the block.
    half_width : float
        Relative to the mean: 0.02 for 2 %.
    """
    y = np.log(checks.column(blocks, "block", positive=True))
    if not (half_width > 0 and at_most >= MIN_BLOCKS):
        raise ParameterError(
            "the parameters of the stopping rule are out of range",
            expected=f"a positive half-width, and at least {MIN_BLOCKS} blocks",
            found=f"{half_width!r}, {at_most!r}",
        )
    n, shared = len(y), SEQUENTIAL_ALPHA * alpha
    sd = float(y.std(ddof=1)) if n > 1 else math.nan
    interval = t_interval(float(y.mean()), sd / math.sqrt(n), n - 1, shared, "t, sequential")
    half = exp((interval.high - interval.low) / 2) - 1
    estimate = replace(interval.map(exp), level=1 - alpha)
    if n >= at_most:
        return Stopping(True, estimate, n, f"{at_most} blocks, the maximum")
    if n < MIN_BLOCKS:
        return Stopping(False, estimate, n, f"{n} of at least {MIN_BLOCKS} blocks")
    narrow = half <= half_width
    reason = f"half-width {half:.3g}, {'not ' if not narrow else ''}within {half_width:g}"
    return Stopping(narrow, estimate, n, reason)
