"""Probabilities of orders, against what is known exactly."""

import numpy as np
import pytest
from scipy import stats

from virtperf.core.errors import ModelError
from virtperf.models.ordering import best_probability, order_probability


def test_two_means_agree_with_the_t_distribution_of_equal_samples():
    """One sample without spread leaves a single t: the probability is its distribution function."""
    a, fixed = np.array([1.0, 2.0, 3.0]), np.array([2.5, 2.5])
    exact = stats.t.cdf((2.5 - 2.0) / (1 / np.sqrt(3)), 2)
    found = order_probability([a, fixed], seed=1, alpha=1e-4)
    assert found.low <= exact <= found.high and found.value == pytest.approx(exact, abs=0.005)


def test_orders_of_equal_samples_are_equally_probable():
    a = np.array([1.0, 2.0, 3.0])
    assert order_probability([a, a, a], seed=2).value == pytest.approx(1 / 6, abs=0.006)
    best = best_probability({"a": a, "b": a, "c": a, "d": a}, seed=3)
    assert [e.value for e in best.values()] == pytest.approx([0.25] * 4, abs=0.007)
    assert sum(e.value for e in best.values()) == pytest.approx(1)


def test_a_clear_order_is_almost_sure_and_its_reverse_almost_impossible():
    low, high = np.array([1.0, 1.1, 0.9]), np.array([5.0, 5.1, 4.9])
    assert order_probability([low, high], seed=4).value > 0.999
    reverse = order_probability([high, low], seed=4)
    assert reverse.value < 0.001 and reverse.low >= 0 and reverse.high > 0


def test_the_same_seed_gives_the_same_number():
    samples = [np.array([1.0, 2.0]), np.array([1.5, 2.5])]
    assert order_probability(samples, seed=5) == order_probability(samples, seed=5)
    assert order_probability(samples, seed=5) != order_probability(samples, seed=6)


@pytest.mark.parametrize("samples", [[[1.0, 2.0]], [[1.0], [2.0, 3.0]], [[1.0, np.nan], [2.0, 3.0]]])
def test_too_little_is_refused(samples):
    with pytest.raises(ModelError):
        order_probability(samples, seed=1)
