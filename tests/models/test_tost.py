import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.core.errors import ModelError
from virtperf.models.tost import tost_difference, tost_ratio

A = [101.2, 99.8, 100.5, 100.9, 99.5, 100.1]
B = [100.7, 100.2, 101.0, 99.9, 100.4, 101.3]

cases = st.tuples(
    st.integers(2, 10),
    st.integers(2, 10),
    st.floats(-3, 3),
    st.floats(0.1, 2),
    st.floats(0.05, 3),
    st.integers(0, 2**31),
    st.booleans(),
    st.booleans(),
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(cases)
def test_equivalent_if_and_only_if_the_interval_lies_inside(case):
    n, m, shift, spread, margin, seed, paired, equal = case
    rng = np.random.default_rng(seed)
    a = 20 + spread * rng.standard_normal(n)
    b = 20 + shift + rng.standard_normal(n if paired else m)
    found = [tost_difference(a, b, margin, paired=paired, equal_var=equal)]
    for method in ("fieller", "log", *(() if paired else ("log link",))):
        found.append(tost_ratio(a, b, 1 + margin / 10, method=method, paired=paired))
    for f in found:
        inside = f.margin[0] < f.estimate.low and f.estimate.high < f.margin[1]
        outside = f.estimate.low > f.margin[1] or f.estimate.high < f.margin[0]
        assert (f.verdict == "equivalent") == inside == (f.pvalue < 0.05)
        assert (f.verdict == "not equivalent") == outside
        assert f.estimate.level == pytest.approx(0.9)


def test_the_three_verdicts():
    assert tost_difference(A, B, 2.0).verdict == "equivalent"
    assert tost_difference(A, B, 0.5).verdict == "undecided"
    assert tost_difference(A, np.array(B) + 10, 2.0).verdict == "not equivalent"
    assert tost_ratio(A, B, 1.02).verdict == "equivalent"
    assert tost_ratio(A, np.array(B) * 2, 1.02).verdict == "not equivalent"
    assert "undecided otherwise" in tost_difference(A, B, 0.5).rule


def test_ratio_verdicts_do_not_depend_on_the_order_of_the_samples():
    for method in ("log link", "fieller", "log"):
        one, other = tost_ratio(A, B, 1.01, method=method), tost_ratio(B, A, 1.01, method=method)
        assert other.pvalue == pytest.approx(one.pvalue, rel=1e-9)
        assert other.estimate.high == pytest.approx(1 / one.estimate.low, rel=1e-9)


def test_both_ratios_agree_for_small_spread():
    a, g = tost_ratio(A, B, 1.02), tost_ratio(A, B, 1.02, method="log")
    assert a.estimate.high == pytest.approx(g.estimate.high, rel=1e-4)


def test_a_number_stands_for_a_symmetric_margin():
    assert tost_difference(A, B, 2.0).margin == (-2.0, 2.0)
    assert tost_difference(A, B, (-1.0, 3.0)).margin == (-1.0, 3.0)
    assert tost_ratio(A, B, 1.25).margin == (0.8, 1.25)


def test_a_smaller_alpha_is_harder_to_satisfy():
    assert tost_difference(A, B, 0.95, alpha=0.05).verdict == "equivalent"
    strict = tost_difference(A, B, 0.95, alpha=0.01)
    assert strict.verdict == "undecided"
    assert strict.estimate.level == pytest.approx(0.98)


def test_pairs_in_exact_proportion():
    b = np.array([1.0, 2, 3, 4])
    assert tost_ratio(1.1 * b, b, 1.25, paired=True).verdict == "equivalent"
    assert tost_ratio(2.0 * b, b, 1.25, paired=True).verdict == "not equivalent"


def test_bad_input():
    with pytest.raises(ModelError, match="margins do not enclose zero"):
        tost_difference(A, B, -1.0)
    with pytest.raises(ModelError, match="margins do not enclose 1"):
        tost_ratio(A, B, 0.9)
    with pytest.raises(ModelError, match="margins do not enclose 1"):
        tost_ratio(A, B, (0.0, 1.2))
    with pytest.raises(ModelError, match="replicates do not differ"):
        tost_difference([1, 1], [2, 2], 1.0)
    with pytest.raises(ModelError, match="replicates do not differ"):
        tost_ratio([1, 1], [2, 2], 1.5)
    with pytest.raises(ModelError, match="first sample has one value"):
        tost_difference([1], [2, 3], 1.0)
    with pytest.raises(ModelError, match="numerator in row 1 of 2 is not positive"):
        tost_ratio([-1, 1], [2, 3], 1.5, method="log")
    with pytest.raises(ModelError, match="first sample has 2 rows"):
        tost_difference([1, 2], [1, 2, 3], 1.0, paired=True)
    with pytest.raises(ModelError, match="alpha is out of range"):
        tost_difference(A, B, 1.0, alpha=0.5)
