import numpy as np
import pytest

from rawperf.core.errors import ModelError
from virtperf.models.changepoints import _best, find_changepoints


def test_the_statistic_is_that_of_its_definition():
    y = np.random.default_rng(2).standard_normal(9)
    d = np.abs(y[:, None] - y[None, :])

    def statistic(k):
        a, b = np.arange(k), np.arange(k, 9)
        across = d[np.ix_(a, b)].mean()
        within = [d[np.ix_(i, i)].sum() / (len(i) * (len(i) - 1)) for i in (a, b)]
        return k * (9 - k) / 9 * (2 * across - sum(within))

    wanted = max(range(2, 8), key=statistic)
    assert _best(d, 2) == (wanted, pytest.approx(statistic(wanted)))


def test_changes_are_found_where_they_are():
    rng = np.random.default_rng(5)
    y = np.repeat([100.0, 104.0, 98.0], [20, 15, 25]) + rng.standard_normal(60)
    found = find_changepoints([f"r{k}" for k in range(60)], y, alpha=0.01)
    assert [c.at for c in found.changes] == ["r20", "r35"]
    assert all(c.pvalue <= 0.01 for c in found.changes)
    assert 1.04 in found.changes[0].ratio
    assert list(found.segments["n"]) == [20, 15, 25] and found.segments.loc[1, "first"] == "r20"
    assert find_changepoints(range(60), y).changes == find_changepoints(range(60), y).changes


def test_noise_alone_has_changes_as_often_as_alpha_says():
    """30 series at alpha 0.2: 6 expected; more than 13 have a probability below 0.002."""
    rng = np.random.default_rng(6)
    hits = sum(
        bool(find_changepoints(range(12), rng.standard_normal(12), alpha=0.2).changes)
        for _ in range(30)
    )
    assert 0 < hits <= 13


def test_bad_input():
    with pytest.raises(ModelError, match="5 values can't be searched"):
        find_changepoints(range(5), np.arange(5.0))
    with pytest.raises(ModelError, match="y in row 2 of 8 is not a finite number"):
        find_changepoints(range(8), [1, np.nan, 1, 1, 1, 1, 1, 1])
    assert find_changepoints(range(8), np.ones(8)).changes == ()
