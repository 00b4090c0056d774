"""Planning of measurements: variance components of hosts, boots, runs and samples, optimal numbers
of repetitions, and sequential stopping.

    parts = variance_components("value", runs, levels=["host", "boot", "run"])
    parts.repetitions({"host": 3600, "boot": 120, "run": 10}, half_width=0.02)
    stop_when(ratios_of_blocks, half_width=0.02, at_most=20)

References
----------
Kalibera, T., Jones, R. (2013). Rigorous benchmarking in reasonable time. ISMM '13, 63-74. Searle, S.
R., Casella, G., McCulloch, C. E. (1992). Variance Components, section 5.2 (analysis of variance of
unbalanced nested data). Chow, Y. S., Robbins, H. (1965). On the asymptotic theory of fixed-width
sequential confidence intervals for the mean. Ann. Math. Stat. 36, 457-462. Stein, C. (1945). A
two-sample test for a linear hypothesis whose power is independent of the variance. Ann. Math. Stat.
16, 243-258.
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
from virtperf.core.statistics import t_quantile
from virtperf.models import checks
from virtperf.models.checks import Array
from virtperf.models.fits import By, groups, names_of, require_columns
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
        Variance added by each level, of log values or of values; negative estimates become zero.
    log : bool
        Whether values are logarithms, so that standard deviations are relative to the mean.
    """

    levels: tuple[str, ...]
    groups: tuple[int, ...]
    variances: tuple[float, ...]
    log: bool

    def table(self) -> pd.DataFrame:
        """Return one row per level: number of groups, standard deviation (for logarithms in per
        cent of the mean), and share of the variance of a single value, in per cent.
        """
        total = sum(self.variances)
        sd = np.sqrt(self.variances) * (100 if self.log else 1)
        share = [100 * v / total if total > 0 else math.nan for v in self.variances]
        return pd.DataFrame(
            {
                "groups": self.groups,
                "sd_percent" if self.log else "sd": sd,
                "share_percent": share,
            },
            index=pd.Index(self.levels, name="level"),
        )

    def half_width(self, counts: Mapping[str, int], alpha: float = 0.05) -> float:
        """Expected half-width of the interval of a mean, given the repetitions of each level within
        one of the level above.

        The outermost repetitions are the units of the interval (Student's t). For logarithms it is
        relative to the mean.
        """
        if missing := [name for name in self.levels if name not in counts]:
            raise ParameterError(f"no number of repetitions is given for {missing[0]!r}")
        below, variance = 1.0, 0.0
        for name, component in zip(self.levels, self.variances, strict=True):
            below *= counts[name]
            variance += component / below
        half = t_quantile(counts[self.levels[0]] - 1, checks.level(alpha)) * math.sqrt(variance)
        return math.expm1(half) if self.log else half

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
            Relative to the mean for logarithms: 0.02 for 2 %.

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
    value: str,
    frame: pd.DataFrame,
    *,
    levels: Sequence[str],
    by: By = None,
    log: bool = True,
) -> VarianceComponents:
    """Estimate variance components of nested repetitions, by the analysis of variance.

    Parameters
    ----------
    value : str
        The column of the values.
    levels : sequence of str
        Columns from the outermost to the innermost: ``["host", "boot", "run"]``. Several values in
        a group of the innermost column form a further level, ``"within"``.
    by : str or sequence of str, optional
        Conditions with different means: their sums of squares are added.
    log : bool
        Whether to take logarithms, so that conditions have a common relative spread.

    Raises
    ------
    ModelError
        Values are not positive (with `log`), or a level is nowhere replicated.
    """
    names = names_of(levels)
    require_columns(frame, value, *names, *names_of(by))
    for name in names:
        if frame[name].isna().any():
            raise ModelError(
                f"a row has no {name}",
                expected="every level in every row",
                remedy="name it, or drop the row",
            )
    y = checks.column(frame[value], value, positive=log, remedy="use log=False")
    rows = frame.assign(**{VALUE: np.log(y) if log else y})
    deep = rows.groupby([*names_of(by), *names], observed=True).size().max() > 1
    shown = (*names, "within") if deep else names
    depth = len(shown)
    squares, coefficients = np.zeros(depth), np.zeros((depth, depth))
    counts = np.zeros(depth, dtype=int)
    for _, group in groups(rows, by):
        sums = _nested_sums_of_squares(group, names, deep)
        squares, coefficients, counts = (
            squares + sums[0],
            coefficients + sums[1],
            counts + sums[2],
        )
    free = np.diag(coefficients)
    if unreplicated := [shown[k] for k in range(depth) if not free[k] > 1e-9]:
        raise ModelError(
            f"{unreplicated[0]} is nowhere replicated, so its variance can't be estimated",
            expected="at least two of each level somewhere",
            remedy=f"leave {unreplicated[0]} out",
        )
    variances = np.linalg.solve(coefficients, squares)
    return VarianceComponents(
        shown, tuple(counts.tolist()), tuple(np.maximum(variances, 0.0).tolist()), log
    )


VALUE = "value of a row"  # internal column of `variance_components`, absent from frames


def _nested_sums_of_squares(
    group: pd.DataFrame, names: tuple[str, ...], deep: bool
) -> tuple[Array, Array, Array]:
    """Nested sums of squares of each level, the coefficients of the variances in their
    expectations, and the numbers of groups.

    The sum of ``size * mean**2`` over the groups of a level has the expectation ``N mean**2 +
    sum_k variance[k] * sum_groups(sum(size of its parts at level k)**2 / size)``.
    """
    y = group[VALUE].to_numpy()
    labels = [
        np.zeros(len(y), dtype=int),
        *(
            group.groupby(list(names[:depth]), observed=True).ngroup().to_numpy()
            for depth in range(1, len(names) + 1)
        ),
    ]
    if deep:
        labels.append(np.arange(len(y)))
    sizes = [np.bincount(label).astype(float) for label in labels]
    totals = [
        float(np.sum(np.bincount(label, y) ** 2 / n))
        for label, n in zip(labels, sizes, strict=True)
    ]
    expected = np.zeros((len(labels), len(labels) - 1))
    for row, (label, n) in enumerate(zip(labels, sizes, strict=True)):
        for column, part in enumerate(labels[1:]):
            pair = label * len(y) + part
            _, first, size = np.unique(pair, return_index=True, return_counts=True)
            expected[row, column] = float(np.sum(size.astype(float) ** 2 / n[label[first]]))
    counts = np.array([len(n) for n in sizes[1:]])
    return np.diff(totals), np.diff(expected, axis=0), counts


@dataclass(frozen=True)
class Stopping:
    """Decision of the stopping rule after the blocks so far.

    Parameters
    ----------
    stop : bool
    estimate : Estimate
        Of the mean of the blocks so far (for logarithms, the geometric mean).
    blocks : int
        Number of blocks so far.
    needed : int
        Total number of blocks for the half-width, at the spread so far.
    reason : str
    """

    stop: bool
    estimate: Estimate
    blocks: int
    needed: int
    reason: str


def stop_when(
    blocks: ArrayLike,
    *,
    half_width: float = 0.02,
    at_most: int = 20,
    alpha: float = 0.05,
    log: bool = True,
) -> Stopping:
    """Decide after each block whether to measure another: until the interval's half-width is small
    enough, or `at_most` blocks.

    Repeated looks make an ordinary interval too narrow. From six blocks on, each look uses the
    quantile of four fifths of alpha, so that the final interval has its nominal coverage
    (docs/methods.md).

    Parameters
    ----------
    blocks : array_like
        One value per block, in order of measurement: a throughput, or the ratio of two conditions
        within the block.
    half_width : float
        Relative to the mean for logarithms: 0.02 for 2 %.
    log : bool
        Whether to average logarithms.
    """
    y = checks.column(blocks, "block", positive=log, remedy="use log=False")
    if not (half_width > 0 and at_most >= MIN_BLOCKS):
        raise ParameterError(
            "the parameters of the stopping rule are out of range",
            expected=f"a positive half-width, and at least {MIN_BLOCKS} blocks",
            found=f"{half_width!r}, {at_most!r}",
        )
    n, shared = len(y), SEQUENTIAL_ALPHA * alpha
    values = np.log(y) if log else y
    sd = float(values.std(ddof=1)) if n > 1 else math.nan
    interval = t_interval(float(values.mean()), sd / math.sqrt(n), n - 1, shared, "t, sequential")
    half = (interval.high - interval.low) / 2
    if log:
        interval, half = interval.map(exp), exp(half) - 1
    estimate = replace(interval, level=1 - alpha)
    needed = at_most if n < 2 else _predicted_blocks(sd, half_width, at_most, shared, log)
    if n >= at_most:
        return Stopping(True, estimate, n, n, f"{at_most} blocks, the maximum")
    if n < MIN_BLOCKS:
        reason = f"{n} of at least {MIN_BLOCKS} blocks"
        return Stopping(False, estimate, n, max(needed, MIN_BLOCKS), reason)
    narrow = half <= half_width
    reason = f"half-width {half:.3g}, {'not ' if not narrow else ''}within {half_width:g}"
    return Stopping(narrow, estimate, n, n if narrow else max(needed, n + 1), reason)


def blocks_needed(
    pilot: ArrayLike, *, half_width: float = 0.02, alpha: float = 0.05, log: bool = True
) -> int:
    """Total number of blocks, the pilot's included, for an interval of that half-width: at least
    ``(t sd / half_width)**2`` with the pilot's standard deviation and degrees of freedom.

    The mean of all blocks with *this* standard deviation and these degrees of freedom has exact
    coverage (Stein 1945), whatever the variance; the ordinary interval of all blocks is about as
    good.
    """
    y = checks.column(pilot, "block", positive=log, remedy="use log=False")
    if len(y) < 2 or not half_width > 0:
        raise ParameterError(
            "too few pilot blocks, or no positive half-width",
            expected="at least two blocks and a positive half-width",
        )
    sd = float((np.log(y) if log else y).std(ddof=1))
    width = math.log1p(half_width) if log else half_width
    return max(len(y), math.ceil((t_quantile(len(y) - 1, checks.level(alpha)) * sd / width) ** 2))


def _predicted_blocks(sd: float, half_width: float, at_most: int, alpha: float, log: bool) -> int:
    width = math.log1p(half_width) if log else half_width
    for n in range(MIN_BLOCKS, at_most):
        if t_quantile(n - 1, checks.level(alpha)) * sd / math.sqrt(n) <= width:
            return n
    return at_most
