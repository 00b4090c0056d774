import numpy as np
import pytest

from virtperf.core.errors import ModelError
from virtperf.models.linear import fit_line
from virtperf.models.weights import relative_weights


def test_replicates_share_the_weight_of_their_mean():
    found = relative_weights([1, 2, 1, 2], [9, 40, 11, 40])
    assert found == pytest.approx([1 / 100, 1 / 1600, 1 / 100, 1 / 1600])


def test_points_of_two_factors():
    assert relative_weights([[1, 2], [1, 3], [1, 2]], [1, 5, 3]) == pytest.approx([1 / 4, 1 / 25, 1 / 4])


def test_the_residual_spread_is_a_share_of_the_mean():
    x = np.repeat([1, 2, 4, 8, 16.0], 40)
    y = 10 * x * (1 + 0.03 * np.random.default_rng(1).standard_normal(200))
    fit = fit_line(x, y, weights=relative_weights(x, y))
    assert np.sqrt(fit.scale) == pytest.approx(0.03, rel=0.1)


def test_bad_input():
    with pytest.raises(ModelError, match="y in row 1 of 2 is not positive"):
        relative_weights([1, 2], [0, 1])
    with pytest.raises(ModelError, match="x has 1 rows but y has 2"):
        relative_weights([1], [1, 2])
