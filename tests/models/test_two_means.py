import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rawperf.core.errors import ModelError, ParameterError
from tests.cases import each_case
from virtperf.core.statistics import fieller
from virtperf.models.two_means import METHODS, ratio_of_means, ratio_of_pairs
from virtperf.models.two_sides import ratios_over

A = np.array([101.2, 99.8, 100.5, 100.9, 99.5, 100.1])
B = np.array([50.7, 49.2, 51.0, 49.9, 50.4, 51.3])
OPTIONS = [{"method": method} for method in METHODS]


def test_degrees_of_freedom_equal_welch_at_the_estimate():
    """At the estimated ratio r, the Welch test of a against r b has Fieller's degrees of freedom."""
    e = ratio_of_means(A, B, method="fieller")
    r = A.mean() / B.mean()
    df = stats.ttest_ind(A, r * B, equal_var=False).df
    t2 = stats.t.ppf(0.975, df) ** 2
    other = fieller(A.mean(), B.mean(), t2 * A.var(ddof=1) / 6, t2 * B.var(ddof=1) / 6)
    assert (e.low, e.high) == pytest.approx(other, rel=1e-10)


def test_log_ratio_against_formula():
    e = ratio_of_means(A, B)
    u, v = A.std(ddof=1) / math.sqrt(6) / A.mean(), B.std(ddof=1) / math.sqrt(6) / B.mean()
    df = (u**2 + v**2) ** 2 / (u**4 / 5 + v**4 / 5)
    half = stats.t.ppf(0.975, df) * math.hypot(u, v)
    assert e.high / e.value == pytest.approx(math.exp(half), rel=1e-10)
    assert e.value / e.low == pytest.approx(math.exp(half), rel=1e-10)
    assert e.method == "log-ratio"


samples = st.tuples(
    st.integers(2, 8),
    st.floats(0.1, 1e4),
    st.floats(0.1, 1e4),
    st.floats(1e-4, 0.1),
    st.integers(0, 2**31),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(samples, st.sampled_from(OPTIONS))
def test_invariance_under_inversion_scaling_and_level(case, options):
    n, m1, m2, spread, seed = case
    rng = np.random.default_rng(seed)
    a, b = (m * (1 + spread * rng.standard_normal(n)) for m in (m1, m2))
    e, inverse = ratio_of_means(a, b, **options), ratio_of_means(b, a, **options)
    assert e.low <= e.value <= e.high
    if e.low > 0 and math.isfinite(e.high):
        assert (1 / inverse.high, 1 / inverse.low) == pytest.approx((e.low, e.high), rel=1e-6)
    scaled = ratio_of_means(1000 * a, 8 * b, **options)
    assert scaled.value == pytest.approx(125 * e.value, rel=1e-9)
    if math.isfinite(e.high):
        assert (scaled.low, scaled.high) == pytest.approx((125 * e.low, 125 * e.high), rel=1e-6)
    narrow = ratio_of_means(a, b, alpha=0.2, **options)
    assert e.low <= narrow.low
    assert narrow.high <= e.high


def test_replicates_without_spread_give_a_warning():
    assert "zero width" in ratio_of_means([2, 2], [1, 1]).warnings[0]


def test_denominator_near_zero_leaves_the_ratio_without_limits():
    found = ratio_of_means([9.0, 10.0, 11.0], [-1.0, 1.0, 3.0], method="fieller")
    assert (found.value, found.low, found.high) == (10.0, -math.inf, math.inf)
    assert "denominator does not differ significantly from zero" in found.warnings[0]


def test_invalid_input_is_rejected():
    with pytest.raises(
        ModelError, match="numerator has one value; expected at least two replicates"
    ):
        ratio_of_means([1], [1, 2])
    with pytest.raises(ModelError, match="denominator in row 2 of 2"):
        ratio_of_means([1, 2], [1, math.nan])
    with pytest.raises(ModelError, match="denominator's mean is zero"):
        ratio_of_means([1, 2], [-1, 1], method="fieller")
    with pytest.raises(ModelError, match="log-ratio interval needs positive means"):
        ratio_of_means([1, 2], [-1, -2], method="log-ratio")
    with pytest.raises(ParameterError, match="unknown interval method"):
        ratio_of_means([1, 2], [1, 2], method="delta")


def test_paired_ratio_is_a_t_interval_on_logarithms():
    e = ratio_of_pairs(A, B)
    logs = np.log(A / B)
    low, high = stats.t.interval(0.95, 5, logs.mean(), stats.sem(logs))
    assert (e.value, e.low, e.high) == pytest.approx(
        (stats.gmean(A / B), math.exp(low), math.exp(high)), rel=1e-12
    )
    assert e.method == "paired log-ratio"
    other = ratio_of_pairs(B, A)
    assert (1 / other.high, 1 / other.low) == pytest.approx((e.low, e.high), rel=1e-12)


def test_pair_effects_cancel():
    """Days differ strongly in speed; each pair's ratio is still 2."""
    days = np.array([1, 5, 20, 100.0])
    e = ratio_of_pairs(2 * days * [1.01, 0.99, 1.01, 0.99], days)
    assert 1.95 < e.low < 2 < e.high < 2.05


def test_invalid_pairs_are_rejected():
    with pytest.raises(ModelError, match="numerator has 2 rows but denominator has 3"):
        ratio_of_pairs([1, 2], [1, 2, 3])
    with pytest.raises(ModelError, match="denominator in row 2 of 2 is not positive"):
        ratio_of_pairs([1, 2], [1, 0])
    with pytest.raises(ModelError, match="numerator has one value"):
        ratio_of_pairs([1], [1])


@each_case("method", ["fieller", "log-ratio"])
def test_nonfinite_mean_or_error_is_rejected(method):
    for sample in ([1e200, 2e200], [1e308, 1.5e308]):
        with pytest.raises(ModelError, match="too large"), np.errstate(over="ignore"):
            ratio_of_means(sample, [1.0, 2.0], method=method)


def test_ratio_over_sessions_has_the_spread_of_the_sessions_ratios():
    """Sessions have ratios 2, 2.2 and 1.9; ten runs in one of them do not make it count more."""
    rows = [
        {"session": session, "side": side, "value": base * (ratio if side == "a" else 1) * noise}
        for session, base, ratio, noises in (
            (1, 100, 2.0, [0.9, 1.1]),
            (2, 150, 2.2, [1.0] * 10),
            (3, 80, 1.9, [0.99, 1.01]),
        )
        for side in "ab"
        for noise in noises
    ]
    rows.append({"session": 4, "side": "a", "value": 1.0})  # without the other side
    found = ratios_over(
        "value", pd.DataFrame(rows), of={"side": "a"}, to={"side": "b"}, over="session"
    )["a / b"]
    logs = np.log([2.0, 2.2, 1.9])
    half = stats.t(2).ppf(0.975) * logs.std(ddof=1) / np.sqrt(3)
    expected = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    assert (found.value, found.low, found.high) == pytest.approx(tuple(expected))
