"""A/A splits: equal runs differ at the nominal rate, unequal runs more often."""

from __future__ import annotations

import numpy as np
import pytest

from virtperf.comparison.ratio_rows import ComparedQuantity
from virtperf.comparison.splits import equal_splits
from virtperf.core.contrasts import Replicates

RATE = {"rate": ComparedQuantity("1/s", "higher")}


def split(cells, **options):
    options = {"margin": 0.0, "level": 0.95, "splits": 200, "seed": 1} | options
    return equal_splits(cells, RATE, **options)


def test_equal_runs_differ_at_the_nominal_rate():
    rng = np.random.default_rng(5)
    called = []
    for _ in range(40):
        runs = Replicates(100 * (1 + 0.02 * rng.standard_normal(12)), ("",) * 12)
        (found,) = split({("rate", ()): runs}, splits=50)
        assert (found.splits, found.rows, found.possible) == (50, 1, 462)
        called.append(found.called)
    # binomial around 5 % of 2,000 splits, which are slightly dependent within a set of runs
    assert sum(called) / 2000 == pytest.approx(0.05, abs=0.02)


def test_splits_within_blocks_ignore_block_effects():
    rng = np.random.default_rng(7)
    blocks = tuple("abcdef")
    drift = np.array([1.0, 1.5, 0.7, 1.2, 0.9, 1.3])
    cells = {
        ("rate", (("guests", k),)): Replicates(
            (k + 1) * drift * (1 + 0.01 * rng.standard_normal(6)), blocks
        )
        for k in range(8)
    }
    halves, within = split(cells)
    assert halves.rows == 8  # sides in different blocks have no geometric mean
    assert (within.rows, within.splits) == (1, 200)
    assert within.called <= 20
    assert within.possible > 10**6


def test_conditions_with_unequal_spread_are_split_separately():
    rng = np.random.default_rng(2)
    spreads = (0.14, 0.005, 0.003, 0.002, 0.001, 0.001)
    cells = {
        ("rate", (("guests", k),)): Replicates(
            100 * (1 + spread * rng.standard_normal(6)), tuple("abcdef")
        )
        for k, spread in enumerate(spreads)
    }
    (halves,) = split(cells)
    assert halves.condition == "random halves of the runs of each condition"


def test_splits_are_reproducible_with_a_seed():
    runs = Replicates(np.random.default_rng(3).normal(100, 5, 9), ("",) * 9)
    assert split({("rate", ()): runs}) == split({("rate", ()): runs})


def test_too_few_runs_give_no_splits():
    assert split({("rate", ()): Replicates(np.array([1.0, 2.0, 3.0]), ("",) * 3)}) == []
