"""Ratios of replicated conditions against formulas and statsmodels; invariance to block effects."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from tests.intervals import ends
from virtperf.core.contrasts import Replicates, block_name, linear_ratio, log_ratio, pooled_error

BLOCKS = ("1", "2", "3", "4")


def drawn(rng, mean, cv=0.05, blocks=BLOCKS, drift=None):
    values = mean * (1 + cv * rng.standard_normal(len(blocks)))
    return Replicates(values if drift is None else values * drift, tuple(blocks))


def test_within_blocks_equals_paired_t_test_of_logarithms():
    rng = np.random.default_rng(1)
    drift = np.array([1.0, 2.0, 0.5, 3.0])
    a, b = (drawn(rng, mean, drift=drift) for mean in (3.0, 2.0))
    found = log_ratio(a, b)
    expected = stats.ttest_rel(np.log(a.values), np.log(b.values)).confidence_interval(0.9)
    assert ends(found, 0.9) == pytest.approx(tuple(map(math.exp, expected)))
    assert (found.n, found.design) == (4, "within 4 blocks")


def test_block_effects_cancel():
    rng = np.random.default_rng(2)
    conditions = [drawn(rng, mean) for mean in (1.0, 2.0, 5.0)]
    drift = np.array([1.0, 2.0, 0.5, 3.0])
    drifted = [replace(c, values=c.values * drift) for c in conditions]
    for some in (conditions, drifted):
        assert pooled_error(some).deviation == pytest.approx(pooled_error(conditions).deviation)
        assert log_ratio(some[0], some[1]).se == pytest.approx(log_ratio(*conditions[:2]).se)


def test_the_error_between_machines_is_not_pooled():
    rng = np.random.default_rng(2)
    conditions = [drawn(rng, mean) for mean in (1.0, 2.0, 5.0)]
    machines = [replace(each, block_name="machine") for each in conditions]
    assert pooled_error(conditions) is not None
    assert pooled_error(machines) is None
    assert log_ratio(*machines[:2]).design == "within 4 machines"
    assert block_name("within 4 machines, error pooled over 3 conditions") == "machine"
    assert block_name("by block means") == ""


def test_pooled_error_equals_randomised_block_design():
    rng = np.random.default_rng(33)
    conditions = [drawn(rng, mean) for mean in (1.0, 2.0, 5.0, 4.0)]
    rows = [
        {"y": math.log(value), "condition": str(k), "block": block}
        for k, c in enumerate(conditions)
        for value, block in zip(c.values, c.blocks, strict=True)
    ]
    fit = smf.ols("y ~ condition + block", pd.DataFrame(rows)).fit()
    pooled = pooled_error(conditions)
    assert pooled.deviation == pytest.approx(math.sqrt(fit.scale))
    assert (pooled.df, pooled.conditions) == (fit.df_resid, 4)
    found = log_ratio(conditions[1], conditions[0], pooled)
    own = log_ratio(conditions[1], conditions[0])
    assert math.log(found.value) == pytest.approx(fit.params["condition[T.1]"])
    assert found.se == pytest.approx(max(fit.bse["condition[T.1]"], own.se))
    assert found.df == fit.df_resid > own.df


def test_independent_runs_pool_the_variance_of_their_logarithms():
    rng = np.random.default_rng(4)
    conditions = [drawn(rng, mean, blocks=("",) * 5) for mean in (1.0, 2.0, 5.0)]
    pooled = pooled_error(conditions)
    variances = [np.log(c.values).var(ddof=1) for c in conditions]
    assert pooled.deviation == pytest.approx(math.sqrt(np.mean(variances)))
    assert pooled.df == 12


@pytest.mark.parametrize("spread", [0.03, 0.05, 0.08])
def test_spreads_of_independent_runs_are_compared_by_bartletts_test(spread):
    rng = np.random.default_rng(61)
    for _ in range(20):
        spreads = (spread, 0.03, 0.03)
        conditions = [drawn(rng, 1.0, cv, blocks=("",) * 5) for cv in spreads]
        pvalue = stats.bartlett(*(np.log(c.values) for c in conditions)).pvalue
        assert (pooled_error(conditions) is not None) == (pvalue > 0.1)


def test_unequal_spreads_are_not_pooled():
    rng = np.random.default_rng(5)
    spreads = (0.3, 0.003, 0.003)
    conditions = [drawn(rng, 1.0, cv, blocks=("",) * 8) for cv in spreads]
    assert stats.bartlett(*(np.log(c.values) for c in conditions)).pvalue < 0.1
    assert pooled_error(conditions) is None


@pytest.mark.parametrize("n_blocks", [4, 6])
def test_noisy_condition_does_not_widen_quiet_ones_of_its_blocks(n_blocks):
    rng = np.random.default_rng(34)
    blocks = tuple(map(str, range(n_blocks)))
    pooled = 0
    for _ in range(100):
        drift = np.exp(0.1 * rng.standard_normal(n_blocks))
        conditions = [
            replace(drawn(rng, 1.0, 0.03, blocks), values=np.exp(cv * noise) * drift)
            for cv, noise in zip((0.3, 0.03, 0.03), rng.standard_normal((3, n_blocks)), strict=True)
        ]
        pooled += pooled_error(conditions) is not None
    assert pooled <= 25  # detected in 18 of 100 data sets with 6 blocks, in 99 with pairs


def test_equal_spreads_within_blocks_are_mostly_pooled():
    rng = np.random.default_rng(35)
    found = [
        pooled_error([drawn(rng, mean, drift=np.array([1, 2, 0.5, 3])) for mean in (1, 2, 5, 4)])
        for _ in range(400)
    ]
    assert 0.85 <= np.mean([one is not None for one in found]) <= 0.95


def test_no_residual_error_when_only_blocks_vary():
    conditions = [Replicates(mean * np.array([1.0, 2.0, 0.5, 3.0]), BLOCKS) for mean in (1, 2, 4)]
    assert pooled_error(conditions).deviation == pytest.approx(0.0, abs=1e-12)
    moved = [*conditions[:2], replace(conditions[2], values=np.array([1.0, 2.1, 0.5, 3.0]))]
    assert pooled_error(moved) is None


def test_few_runs_and_nonpositive_values_are_not_pooled():
    rng = np.random.default_rng(6)
    assert pooled_error([drawn(rng, 1.0, blocks=("", "")) for _ in range(6)]) is None
    assert pooled_error([drawn(rng, 1.0), drawn(rng, 2.0), drawn(rng, -1.0)]) is None
    assert pooled_error([drawn(rng, 1.0), drawn(rng, 2.0)]) is None


def test_disjoint_blocks_are_compared_by_block_means():
    rng = np.random.default_rng(7)
    a = drawn(rng, 2.0, blocks=("1", "1", "2", "2", "3", "3"))
    b = drawn(rng, 1.0, blocks=("4", "4", "5", "5"))
    found = log_ratio(a, b)
    means = [np.array([*side.by_block.values()]) for side in (a, b)]
    assert found.confounded and (found.n, found.design) == (2, "by block means")
    assert found.value == pytest.approx(means[0].mean() / means[1].mean())
    level = linear_ratio([a, b], np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    assert level.confounded and level.design == "by block means"


def test_single_block_gives_no_error():
    rng = np.random.default_rng(8)
    a, b = drawn(rng, 2.0, blocks=("1",) * 5), drawn(rng, 1.0, blocks=("2",) * 5)
    assert math.isnan(log_ratio(a, b).se)
    same = log_ratio(a, replace(b, blocks=a.blocks))
    assert same.design == "within one block" and same.se > 0


def test_days_are_blocks_only_if_conditions_share_none():
    rng = np.random.default_rng(9)
    a, b = (replace(drawn(rng, 1.0), blocks=("",) * 4, days=("1", "1", "2", "2")) for _ in "ab")
    assert log_ratio(a, b).design == ""
    elsewhere = replace(b, days=("3", "3", "4", "4"))
    assert log_ratio(a, elsewhere).design == "by block means"


def test_level_has_the_spread_of_its_blocks():
    rng = np.random.default_rng(10)
    runs = drawn(rng, 1.0, blocks=("1", "1", "2", "2", "3", "3"))
    found = linear_ratio([runs], np.array([1.0, 0]), np.array([0, 1.0]))
    means = np.array([*runs.by_block.values()])
    expected = stats.ttest_1samp(means, 0).confidence_interval(0.95)
    assert ends(found, 0.95) == pytest.approx(tuple(expected))


def test_sum_over_quantities_of_the_same_runs_has_the_spread_of_its_runs():
    rng = np.random.default_rng(11)
    ids = ("r1", "r2", "r3", "r4", "r5")
    drift = rng.standard_normal(5)
    parts = [
        replace(drawn(rng, 10.0, 0.01, ("",) * 5, 10 + drift), days=("1",) * 5, run_ids=ids)
        for _ in range(3)
    ]
    found = linear_ratio(parts, np.array([1.0, 1.0, -1.0, 0.0]), np.array([0, 0, 0, 1.0]))
    sums = parts[0].values + parts[1].values - parts[2].values
    expected = stats.ttest_1samp(sums, 0).confidence_interval(0.95)
    assert ends(found, 0.95) == pytest.approx(tuple(expected))
    assert found.design == "within 5 blocks"


def test_three_conditions_without_a_common_day_are_compared_by_their_days():
    rng = np.random.default_rng(12)
    days = (("1", "1", "2", "2"), ("3", "3", "4", "4"), ("5", "5", "6", "6"))
    sides = [replace(drawn(rng, 1.0), blocks=("",) * 4, days=of) for of in days]
    found = linear_ratio(sides, np.array([1.0, 1.0, -1.0, 0.0]), np.array([0, 0, 0, 1.0]))
    assert (found.design, found.confounded, found.n) == ("by block means", True, 2)


def test_two_quantities_of_a_single_run_are_in_one_block_without_an_error():
    first, second = (Replicates(np.array([value]), ("",), ("1",), ("r1",)) for value in (2.0, 1.0))
    level = linear_ratio([first, second], np.array([1.0, 0, 0]), np.array([0, 1.0, 0]))
    for found in (log_ratio(first, second), level):
        assert (found.value, found.n, found.design) == (2.0, 1, "within one block")
        assert math.isnan(found.se) and not found.confounded
