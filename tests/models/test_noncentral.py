import math

import numpy as np
import pytest
from scipy import special

from tests.models.test_coverage import assert_covers
from virtperf.core.errors import ModelError
from virtperf.models.noncentral import LARGE, effect_size, noncentrality
from virtperf.models.result import FTest


def result(statistic, df_num, df_denom):
    return FTest(statistic, df_num, df_denom, float(special.fdtrc(df_num, df_denom, statistic)), "")


def test_published_limits():
    """Steiger (2004), example 3: F(3, 76) = 5. Bargman's example (also in Steiger): F(4, 50) = 11.221, n = 55."""
    assert noncentrality(5, 3, 76) == pytest.approx((1.8666, 32.563), rel=3e-5)
    e = effect_size(result(11.221, 4, 50), 55)
    assert (e.value, e.low, e.high) == pytest.approx((0.4263902, 0.226, 0.587), abs=5e-4)
    ninety = effect_size(result(11.221, 4, 50), 55, alpha=0.1)
    assert (ninety.low, ninety.high) == pytest.approx((0.261, 0.565), abs=5e-4)


@pytest.mark.parametrize("statistic", [0.9, 3.0, 50.0, 2001.0, 1e6])
@pytest.mark.parametrize(("df_num", "df_denom"), [(1, 1), (3, 20), (8, 18000), (200, 5)])
def test_limits_solve_their_equation(statistic, df_num, df_denom):
    low, high = noncentrality(statistic, df_num, df_denom, 0.1)
    for limit, probability in ((low, 0.95), (high, 0.05)):
        reached = special.ncfdtr(df_num, df_denom, limit, statistic)
        assert reached == pytest.approx(probability, abs=1e-9) or (limit == 0 and reached < probability)


def test_the_limits_pass_continuously_into_their_limiting_form():
    below, above = noncentrality(LARGE * 0.9999, 3, 12), noncentrality(LARGE * 1.0001, 3, 12)
    assert above == pytest.approx(below, rel=1e-3)
    assert noncentrality(math.inf, 3, 12) == (math.inf, math.inf)
    assert effect_size(result(math.inf, 3, 12), 16).low == 1.0


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_the_lower_limit_leaves_zero_where_the_test_rejects(alpha):
    critical = special.fdtri(3, 20, 1 - alpha / 2)
    assert effect_size(result(critical * 0.999, 3, 20), 24, alpha=alpha).low == 0
    assert effect_size(result(critical * 1.001, 3, 20), 24, alpha=alpha).low > 0


def test_what_the_estimates_are():
    f = result(4.0, 2, 12)
    assert effect_size(f, 15, kind="eta").value == pytest.approx(2 * 4 / (2 * 4 + 12))
    assert effect_size(f, 15).value == pytest.approx(2 * 3 / (2 * 3 + 15))
    small = effect_size(result(0.4, 2, 12), 15)
    assert small.value == 0
    assert "cut at 0" in small.warnings[0]
    tiny = effect_size(result(1e-4, 5, 12), 18, kind="eta")
    assert tiny.high == 0
    assert "smaller than it would be by chance" in tiny.warnings[0]
    biased = effect_size(result(1.0, 200, 5), 206, kind="eta", alpha=0.5)
    assert biased.value > biased.high
    assert "biased upwards" in biased.warnings[0]


def test_the_interval_covers():
    """20 cells of 3 rows; effect variance 0.3 of residual variance 1, so the share is 0.3/1.3; true level 0.9."""
    rng = np.random.default_rng(21)
    rows, df_num, df_denom = 60, 19, 40
    share = 0.3 / 1.3
    hits = 0
    for _ in range(1000):
        f = rng.noncentral_chisquare(df_num, rows * 0.3) / df_num / (rng.chisquare(df_denom) / df_denom)
        hits += share in effect_size(result(f, df_num, df_denom), rows, alpha=0.1)
    assert_covers(hits, 1000, level=0.9)


def test_bad_input():
    with pytest.raises(ModelError, match="F statistic is not negative"):
        noncentrality(-1.0, 2, 10)
    with pytest.raises(ModelError, match="F statistic is not negative"):
        noncentrality(math.nan, 2, 10)
    with pytest.raises(ModelError, match="alpha is out of range"):
        noncentrality(1.0, 2, 10, 0.0)
