"""Check that rows of a group are replicates: rows at different loads are not, which shows in a
column that explains most of the variation within the groups.

References
----------
Searle, S. R. (1971). Linear Models. Chapter 7 (two crossed factors without interaction, unbalanced).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import special

from virtperf.models.checks import Array

LEVEL = 0.01
"""Bonferroni-adjusted p-value (times the number of tests) below which a column is named."""
MIN_SHARE = 0.5
"""Minimum share of the within-group sum of squares explained by a named column: less widens an
interval by less than the square root of two."""
MAX_LEVELS = 50
MIN_DF = 3
PERMUTATIONS, SEED = 999, 20
MIN_PERMUTED_ROWS, MIN_SHARE_OF_FEW = 12, 0.8
"""Minimum number of rows for a permutation test; with fewer, the explained share must be larger."""
MAX_ROWS = 1000
"""Maximum number of rows per group; larger groups are sampled, which suffices to detect
`MIN_SHARE`."""


@dataclass(frozen=True)
class ExplainingColumn:
    """A column that contradicts pooling rows as replicates.

    Parameters
    ----------
    share : float
        Share of the within-group sum of squares explained by its levels.
    pvalue : float
        P-value of the F test.
    common : bool
        Whether all groups have the same levels.
    single : bool
        Whether each level has one row per group.
    groups : int
        Number of groups.
    """

    name: str
    share: float
    pvalue: float
    common: bool
    single: bool
    groups: int = 2

    @property
    def finding(self) -> str:
        """``guests explains 93 % of the variation within the groups (p = 1e-05)``."""
        within = " within the groups" if self.groups > 1 else ""
        p = "p < 1e-12" if self.pvalue < 1e-12 else f"p = {self.pvalue:.1g}"
        return f"{self.name} explains {int(100 * self.share)} % of the variation{within} ({p})"

    def warning(self, remedy: str = "") -> str:
        """Describe the problem of the pooled rows, and the remedy; default: that of a comparison."""
        return f"the rows are not replicates: {self.finding}; {remedy or self._comparison_remedy()}"

    def _comparison_remedy(self) -> str:
        if not self.common:
            return f"and the groups have different levels of it: compare them at equal {self.name}"
        if self.single:
            return f'compare rows of equal {self.name}: `pairs` with on="{self.name}" (--on {self.name})'
        return f'compare at each {self.name}: by="{self.name}" (--by {self.name})'


def explaining_column(
    parts: Sequence[pd.DataFrame], value: str, columns: Collection[str], *, log: bool
) -> ExplainingColumn | None:
    """Return the one of `columns` that best explains the variation within groups of rows, if it
    explains most of it; None otherwise.

    F tests, Bonferroni-adjusted at `LEVEL` over all columns, of ``value = group + level`` against
    ``value = group``; where levels are repeated within a group also of ``value = group * level``;
    for numeric levels also of a parabola per group over their ranks, since curves over a load bend
    and differ. F tests are invalid if the groups have unequal variances: permutations of values
    within the groups must therefore rarely reach the p-value; with few rows instead, the test must
    hold after scaling the groups to equal spread, with a large share.

    Parameters
    ----------
    parts : sequence of DataFrame
        The rows of each group.
    columns : collection of str
        Candidate columns of conditions. Columns with a distinct value in each row, or with more
        than `MAX_LEVELS` levels, are skipped.
    log : bool
        Whether to test the logarithm of positive values, for ratios.
    """
    parts = [
        part.sample(MAX_ROWS, random_state=SEED) if len(part) > MAX_ROWS else part for part in parts
    ]
    y = np.concatenate([part[value].to_numpy(dtype=float) for part in parts])
    if not np.isfinite(y).all():
        return None
    if log and y.min(initial=np.inf) > 0:
        y = np.log(y)
    group = np.repeat(np.arange(len(parts)), [len(part) for part in parts])
    tests: list[_LevelTest] = []
    for name in columns:
        levels = pd.concat([part[name] for part in parts], ignore_index=True)
        codes = _codes(levels)
        if codes is not None:
            ordered = pd.api.types.is_numeric_dtype(levels)
            tests += _tests(name, group, codes, ordered)
    if not tests:
        return None
    results = [test.of(y[None, :]) for test in tests]
    p = np.array([float(each[1][0]) for each in results])
    best = int(np.argmin(p))
    test, share = tests[best], float(results[best][0][0])
    if not p[best] * len(tests) < LEVEL:
        return None
    if len(y) < MIN_PERMUTED_ROWS:
        again = test.of(_scale_to_equal_spread(y, group)[None, :])
        clear = float(again[1][0]) * len(tests) < LEVEL / 2 and again[0][0] >= MIN_SHARE_OF_FEW
    else:
        clear = _permuted_pvalue(tests, y, group, p[best]) <= LEVEL
    if not clear:
        return None
    return ExplainingColumn(
        test.name, share, float(p[best]), test.common, test.single, groups=len(parts)
    )


@dataclass(frozen=True, eq=False)
class _LevelTest:
    """F test of a column's levels, as an orthonormal basis of their contribution beyond the groups."""

    name: str
    kept: NDArray[np.bool_]  # rows at levels of all groups, or all
    group: NDArray[np.intp]  # of the kept rows
    basis: Array
    df: int
    common: bool
    single: bool

    def of(self, y: Array) -> tuple[Array, Array]:
        """Return explained share and p-value of each data set, shape (B,), for values (B, n); p is
        1 if the share is below `MIN_SHARE`.
        """
        values = _centre(y[:, self.kept], self.group)
        total = np.einsum("ij,ij->i", values, values)
        explained = np.einsum("ij,ij->i", values @ self.basis, values @ self.basis)
        more = self.basis.shape[1]
        with np.errstate(all="ignore"):
            share = np.where(total > 0, np.minimum(explained / total, 1.0), 0.0)
            statistic = share / more / ((1 - share) / self.df)
        p = special.fdtrc(more, self.df, np.where(np.isfinite(statistic), statistic, 1e300))
        return share, np.where(share >= MIN_SHARE, p, 1.0)


def _centre(y: Array, group: NDArray[np.intp]) -> Array:
    """Centre values on the means of their groups; shape (B, n)."""
    centred = y.copy()
    for g in np.unique(group):
        centred[:, group == g] -= y[:, group == g].mean(axis=1, keepdims=True)
    return centred


def _scale_to_equal_spread(y: Array, group: NDArray[np.intp]) -> Array:
    spread = np.array([y[group == g].std() or 1.0 for g in np.unique(group)])
    return y / spread[group]


def _permuted_pvalue(
    tests: Sequence[_LevelTest], y: Array, group: NDArray[np.intp], smallest: float
) -> float:
    """Permutation p-value of the smallest p-value of all tests, permuting within groups."""
    rng = np.random.default_rng(SEED)
    drawn = np.tile(y, (PERMUTATIONS, 1))
    for g in np.unique(group):
        drawn[:, group == g] = rng.permuted(drawn[:, group == g], axis=1)
    least = np.min([test.of(drawn)[1] for test in tests], axis=0)
    return float((1 + np.sum(least <= smallest * (1 + 1e-9))) / (1 + PERMUTATIONS))


def _codes(levels: pd.Series) -> NDArray[np.intp] | None:
    """Encode levels as sorted integer codes; None for columns that can't be repeated levels."""
    if levels.isna().any() or len(levels) < 2 * MIN_DF:
        return None
    try:
        codes, known = pd.factorize(levels, sort=True)
    except TypeError:  # lists and the like, and levels without an order
        return None
    few = 2 <= len(known) <= min(MAX_LEVELS, len(levels) // 2)
    return codes if few else None


def _tests(
    name: str, group: NDArray[np.intp], level: NDArray[np.intp], ordered: bool
) -> list[_LevelTest]:
    """Build the F tests that the rows allow."""
    count = int(group.max()) + 1
    sets = [set(level[group == g].tolist()) for g in range(count)]
    shared = set.intersection(*sets)
    cell = level * count + group
    single = len(np.unique(cell)) == len(cell)
    is_common = np.isin(level, list(shared))
    every = np.ones(len(level), dtype=bool)
    designs: list[tuple[NDArray[np.bool_], Array]] = []
    if count > 1 and len(shared) >= 2:
        designs.append((is_common, _indicators(level[is_common])))
    if not single:
        designs.append((every, _indicators(cell)))
    if ordered and min(map(len, sets)) >= 3:
        powers = np.vander(level / level.max() - 0.5, 3)
        designs.append((every, np.hstack([powers * (group == g)[:, None] for g in range(count)])))
    tests = []
    for rows, columns in designs:
        u, s, _ = np.linalg.svd(_centre(columns.T, group[rows]).T, full_matrices=False)
        basis = u[:, s > 1e-9 * max(s[0], 1.0)]
        df = int(rows.sum()) - 2 - basis.shape[1]
        if basis.shape[1] and df >= MIN_DF:
            common = all(each == shared for each in sets)
            tests.append(_LevelTest(name, rows, group[rows], basis, df, common, single))
    return tests


def _indicators(level: NDArray[np.intp]) -> Array:
    _, places = np.unique(level, return_inverse=True)
    return np.eye(places.max() + 1)[places]
