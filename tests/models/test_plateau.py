"""A level with an excursion, recovered; and the interval's coverage."""

import numpy as np
import pytest

from virtperf.core.errors import ModelError
from virtperf.models.plateau import find_plateau


def test_level_and_peak_of_a_known_series():
    t = np.arange(40.0)
    y = 10 + 0.1 * np.random.default_rng(1).standard_normal(40)
    y[22:25] = [30, 50, 28]
    found = find_plateau(t, y)
    assert 10 in found.level and found.level.value == pytest.approx(10, abs=0.1)
    assert (found.peak, found.peak_at) == (50, 23)
    assert found.share == pytest.approx(37 / 40)


def test_limits_are_the_order_statistics_of_the_tables():
    """n = 10 gives the second and the ninth value, with 97.85 % (benchstat's table of exact median intervals)."""
    found = find_plateau(np.arange(10.0), np.arange(1.0, 11.0))
    assert (found.level.low, found.level.high) == (2, 9)


def test_coverage_of_skewed_independent_samples():
    rng = np.random.default_rng(2)
    hits = sum(np.log(2) in find_plateau(np.arange(25.0), rng.exponential(size=25)).level for _ in range(1000))
    assert 0.935 <= hits / 1000 <= 0.985  # exact coverage 0.9567


def test_correlated_samples_are_told():
    walk = np.cumsum(np.random.default_rng(3).standard_normal(50))
    assert "correlate" in find_plateau(np.arange(50.0), walk).level.warnings[0]


@pytest.mark.parametrize(
    ("t", "y"), [([0, 1, 2], [1, 1, 1]), ([0, 0, 1, 2, 3, 4], [1] * 6), (range(6), [1, 1, 1, 1, 1, np.nan])]
)
def test_what_has_no_plateau_is_refused(t, y):
    with pytest.raises(ModelError):
        find_plateau(t, y)
