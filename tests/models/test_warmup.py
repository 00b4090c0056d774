"""Changepoints against their definition, and warm-ups that are known. Seeds are derived from the tests' names."""

import itertools

import numpy as np
import pytest

from virtperf.core.errors import ModelError
from virtperf.models.warmup import changepoint_warmup, mean_changes


@pytest.fixture
def rng(request):
    return np.random.default_rng(list(request.node.name.encode()))


def cost(x, points, penalty):
    ends = [0, *points, len(x)]
    parts = [x[a:b] for a, b in itertools.pairwise(ends)]
    return sum(np.sum((p - p.mean()) ** 2) for p in parts) + penalty * len(points)


def test_no_other_changes_cost_less(rng):
    for _ in range(20):
        x = rng.standard_normal(14) + 3 * (np.arange(14) >= rng.integers(1, 14))
        found = mean_changes(x, 2.0)
        best = cost(x, found, 2.0)
        assert best <= cost(x, (), 2.0) + 1e-12
        for i in range(2, 13):
            assert best <= cost(x, (i,), 2.0) + 1e-12
            for j in range(i + 2, 13):
                assert best <= cost(x, (i, j), 2.0) + 1e-12


def test_steps_are_found_where_they_are():
    x = np.concatenate([np.full(10, 0.0), np.full(7, 5.0), np.full(20, 2.0)]) + 0.01 * np.cos(np.arange(37))
    assert mean_changes(x, 0.5) == (10, 17)
    assert mean_changes(x, 1e4) == ()


def test_a_step_in_the_first_half_is_the_end_of_the_warmup(rng):
    x = rng.standard_normal(90) - 6 * (np.arange(90) < 15)
    found = changepoint_warmup(x)
    assert (found.cut, found.status) == (15, "steady")


def test_a_step_in_the_second_half_is_no_warmup(rng):
    x = rng.standard_normal(90) + 12 * (np.arange(90) >= 70)
    found = changepoint_warmup(x)
    assert (found.cut, found.status) == (0, "not steady")
    assert found.points == (70,)


def test_correlated_noise_is_rarely_taken_for_changes(rng):
    cuts = []
    for _ in range(200):
        shocks = rng.standard_normal(90)
        x = np.empty(90)
        x[0] = shocks[0]
        for i in range(1, 90):
            x[i] = 0.6 * x[i - 1] + 0.8 * shocks[i]
        cuts.append(changepoint_warmup(x).cut > 0)
    assert np.mean(cuts) < 0.1


def test_level_and_scale_do_not_matter(rng):
    x = rng.standard_normal(60) - 5 * (np.arange(60) < 12)
    assert changepoint_warmup(1e5 + 30 * x) == changepoint_warmup(x)


def test_series_without_noise():
    assert changepoint_warmup(np.repeat([0.0, 1.0], [10, 40])).cut == 10
    assert changepoint_warmup(np.ones(50)).cut == 0
    assert changepoint_warmup(np.arange(19.0)).status == "too short"


def test_bad_input():
    with pytest.raises(ModelError, match="sample in row 3 of 30 is not a finite number"):
        changepoint_warmup(np.where(np.arange(30) == 2, np.nan, 1.0))
    with pytest.raises(ModelError, match="a change needs a price"):
        mean_changes(np.ones(5), 0.0)
