"""Intervals against definitions, decisions against intervals, error rates and required runs against simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import stats

from tests.cases import each_case
from tests.intervals import ends
from virtperf.core.contrasts import Replicates, SampledRatio, independent_log_ratio, linear_ratio
from virtperf.core.estimate import ORDERED, Estimate, mean_over_runs
from virtperf.core.order_statistics import quantile
from virtperf.core.statistics import welch_df
from virtperf.runs.summarize.steady import independent_mean
from virtperf.verdicts.regions import (
    TARGET_POWER,
    Comparison,
    Decision,
    bonferroni_level,
    by_value,
    decide,
    detectable_difference,
    runs_to_decide,
    worst,
)

LEVEL = 0.95
DATA_SETS = 1000
OUTSIDE = stats.binom.ppf(0.9999, DATA_SETS, 0.05) / DATA_SETS
"""Share of data sets that a rate of 5 % exceeds once in ten thousand times."""


def compare(samples, over, under, low, high):
    replicates = [Replicates(np.array(runs), ("",) * len(runs)) for runs in samples]
    contrast = linear_ratio(replicates, np.array(over), np.array(under))
    counts = [len(runs) for runs in samples]
    return Comparison(contrast, low, high, (min(counts), max(counts)))


def level(runs, low=-math.inf, high=math.inf):
    return compare([runs], [1.0, 0], [0, 1.0], low, high)


def difference(a, b, low=-math.inf, high=math.inf):
    return compare([a, b], [1.0, -1, 0], [0, 0, 1.0], low, high)


def ratio(a, b, low=-math.inf, high=math.inf):
    return compare([a, b], [1.0, 0, 0], [0, 1.0, 0], low, high)


def log_ratio_of(a, b, low=-math.inf, high=math.inf):
    contrast = independent_log_ratio(np.array(a), np.array(b))
    return Comparison(contrast, low, high, (min(len(a), len(b)), max(len(a), len(b))))


def draws(rng, truth, cv, n):
    return truth * (1 + cv * rng.standard_normal(n))


runs = st.lists(st.floats(1, 100).map(lambda x: round(x, 3)), min_size=2, max_size=6)


@given(runs)
def test_level_has_students_t_interval(a):
    low, high = ends(level(a), LEVEL)
    if np.ptp(a):
        expected = stats.ttest_1samp(a, 0).confidence_interval(LEVEL)
        assert (low, high) == pytest.approx(expected, rel=1e-6, abs=1e-6)
    else:
        assert low == pytest.approx(a[0]) and high == pytest.approx(a[0])


@given(runs, runs)
def test_interval_has_the_degrees_of_freedom_of_both_samples(a, b):
    found = difference(a, b)
    low, high = ends(found, LEVEL)
    means = [mean_over_runs(x, (), (), level=LEVEL) for x in (a, b)]
    se = math.hypot(*(m.se for m in means))
    df = welch_df([m.se**2 for m in means], [m.df for m in means])
    assert high - low == pytest.approx(2 * stats.t.ppf(0.975, df) * se, rel=1e-6, abs=1e-9)


@given(runs, runs)
def test_ratio_interval_is_the_set_of_accepted_differences(a, b):
    # Fieller: r is in the interval if a - r b does not differ from zero, with the degrees of freedom at the estimate
    found = ratio(a, b)
    top, bottom = (mean_over_runs(x, (), (), level=LEVEL) for x in (a, b))
    shares = [top.se**2, (found.value * bottom.se) ** 2]
    df = welch_df(shares, [top.df, bottom.df])
    t = stats.t.ppf(0.975, df)
    low, high = ends(found, LEVEL)
    if not math.isfinite(low):
        assert bottom.value <= t * bottom.se * (1 + 1e-9)
        return
    for end in (low, high):
        gap = abs(top.value - end * bottom.value)
        assert gap == pytest.approx(t * math.hypot(top.se, end * bottom.se), rel=1e-5, abs=1e-5)
    assert low - 1e-9 <= found.value <= high + 1e-9


@given(
    runs,
    runs,
    st.floats(0, 5),
    st.floats(0, 5),
    st.sampled_from([level, difference, ratio, log_ratio_of]),
)
@example([1.0, 2.0], [1.0, 2.0], 1.0, math.ulp(0.0), difference)
def test_one_number_is_judged_by_its_interval(a, b, one, other, kind):
    given_ = (a,) if kind is level else (a, b)
    found = kind(*given_, *sorted((one, other)))
    low, high = ends(found, LEVEL)
    inside, apart = found.low <= low and high <= found.high, high < found.low or low > found.high
    expected = Decision.HOLDS if inside else Decision.FAILS if apart else Decision.UNDECIDED
    assert decide([found], LEVEL, whole=True) is expected
    assert found.score(LEVEL) >= 1 - 1e-9 if apart else found.score(LEVEL) <= 1 + 1e-9
    if math.isfinite(low):
        assert (found.score(LEVEL) <= 0) == (found.low <= found.value <= found.high)


def test_reported_case_is_undecided():
    # 0.7 (0.1 to 2.0) for a claim of 1.8 to 2.2
    found = ratio((0.6, 0.8, 0.7, 0.7), (0.4, 1.6, 1.3, 0.7), 1.8, 2.2)
    assert found.value == pytest.approx(0.7)
    low, high = ends(found, LEVEL)
    assert low < 1 and high > 1.8
    assert decide([found], LEVEL, whole=True) is Decision.UNDECIDED


def test_single_runs_give_neither_verdict_nor_required_number():
    alone = difference((300.0,), (100.0, 101.0), high=0)
    assert np.isnan(ends(alone, LEVEL)).all()
    assert alone.value == pytest.approx(199.5)
    assert decide([alone], LEVEL, whole=True) is Decision.UNDECIDED
    assert math.isnan(runs_to_decide([alone], LEVEL, whole=True))
    seen = difference((300.0, 301.0), (100.0, 101.0), high=0)
    assert decide([alone, seen], LEVEL, whole=True) is Decision.FAILS
    assert worst([alone, seen], LEVEL) is seen


def test_part_of_a_claim_can_fail_but_not_hold():
    inside, outside = level((5.0, 5.1, 4.9), 0, 10), level((15.0, 15.1, 14.9), 0, 10)
    assert decide([inside], LEVEL, whole=True) is Decision.HOLDS
    assert decide([inside], LEVEL, whole=False) is Decision.UNDECIDED
    assert decide([outside], LEVEL, whole=False) is Decision.FAILS
    assert decide([], LEVEL, whole=False) is Decision.UNMEASURED
    assert worst([inside, outside, inside], LEVEL) is outside


def test_values_without_spread_are_exact():
    assert decide([level((4.0, 4.0), 4, 4)], LEVEL, whole=True) is Decision.HOLDS
    assert decide([level((4.0, 4.0), 5, 6)], LEVEL, whole=True) is Decision.FAILS


def test_divisor_that_may_be_zero_gives_no_bounds():
    found = ratio((1.0, 1.2), (0.1, 1.0), 0, 2)
    assert ends(found, LEVEL) == (-math.inf, math.inf)
    assert decide([found], LEVEL, whole=True) is Decision.UNDECIDED


@each_case("n", [2, 3, 10])
def test_error_rates_of_true_and_false_statements(n):
    # seven equal means in an order that permits equality; the false statement has one slightly too small difference
    rng = np.random.default_rng(n)
    failed = held = 0
    for _ in range(DATA_SETS):
        means = [draws(rng, 1.0, 0.3, n) for _ in range(7)]
        pairs = list(zip(means[1:], means, strict=False))
        failed += (
            decide([difference(a, b, low=0) for a, b in pairs], LEVEL, whole=True) is Decision.FAILS
        )
        false = [difference(*pairs[0], low=0), *(difference(a, b, low=-50) for a, b in pairs[1:3])]
        held += decide(false, LEVEL, whole=True) is Decision.HOLDS
    assert failed / DATA_SETS < OUTSIDE
    assert 0 < held / DATA_SETS < OUTSIDE


@each_case("many", [3, 10])
def test_unbalanced_runs_have_nominal_error_rate(many):
    # the worst variance ratio for plain Welch degrees of freedom, whose interval misses up to 12 % of the time
    rng = np.random.default_rng(many)
    failed = 0
    for _ in range(DATA_SETS):
        a, b = draws(rng, 10.0, 0.1, 2), draws(rng, 10.0, 0.1 * math.sqrt(0.03 * many / 2), many)
        failed += decide([difference(a, b, low=0)], LEVEL, whole=True) is Decision.FAILS
    assert failed / DATA_SETS < OUTSIDE


@each_case(("truth", "low", "high"), [(1.0, 0.8, 1.25), (1.0, 1.1, math.inf)])
def test_required_runs_decide_with_eighty_percent_power(truth, low, high):
    rng = np.random.default_rng(3)
    n = 400
    spread = stats.norm.ppf(
        (np.arange(n) + 0.5) / n
    )  # runs whose mean and spread are the true ones
    a, b = (truth * (1 + 0.1 * spread / spread.std(ddof=1)), 1 + 0.1 * spread / spread.std(ddof=1))
    needed = runs_to_decide([ratio(a, b, low, high)], LEVEL, whole=True)
    decided = [
        decide(
            [
                ratio(
                    draws(rng, truth, 0.1, int(needed)),
                    draws(rng, 1.0, 0.1, int(needed)),
                    low,
                    high,
                )
            ],
            LEVEL,
            whole=True,
        )
        is not Decision.UNDECIDED
        for _ in range(600)
    ]
    assert 0.7 < np.mean(decided) < 0.92


def test_runs_needed_are_bounded_and_follow_the_spread():
    assert (
        runs_to_decide([difference((10.0, 12.0), (10.5, 11.5), low=0)], LEVEL, whole=True)
        == math.inf
    )
    few, many = (
        runs_to_decide([difference((10.0, 10 + s), (12.0, 12 - s), low=0)], LEVEL, whole=True)
        for s in (1, 3)
    )
    assert 2 < few < many < 1000
    inside = level((5.0, 6.0, 4.0), 0, 10)
    assert math.isnan(
        runs_to_decide([inside], LEVEL, whole=False)
    )  # the existing runs cannot decide alone
    assert bonferroni_level([inside] * 5, LEVEL) == pytest.approx(0.99)


@each_case("kind", [log_ratio_of, difference])
def test_detectable_difference_is_refuted_with_eighty_percent_power(kind):
    rng = np.random.default_rng(7)
    n, cv = 6, 0.1
    spread = stats.norm.ppf((np.arange(n) + 0.5) / n)
    a = 1 + cv * spread / spread.std(ddof=1)  # runs whose mean and spread are the true ones
    least, of = detectable_difference([kind(a, a, low=1 if kind is log_ratio_of else 0)], LEVEL)
    assert of is not None
    lower = 1 / (1 + least) if of.relative else 1 - least
    limit = 1 if of.relative else 0
    failed = [
        decide(
            [kind(draws(rng, lower, cv, n), draws(rng, 1.0, cv, n), low=limit)], LEVEL, whole=True
        )
        is Decision.FAILS
        for _ in range(600)
    ]
    assert abs(np.mean(failed) - TARGET_POWER) < 0.1  # the spread decreases with the mean


def test_detectable_difference_of_several_comparisons_is_the_worst():
    close, far = level((5.0, 5.1, 4.9), high=10), level((5.0, 7.0, 3.0), high=10)
    least, of = detectable_difference([close, far, level((5.0,), high=10)], LEVEL)
    assert of is far
    assert least == far.detectable(bonferroni_level([close, far], LEVEL))
    assert math.isnan(detectable_difference([level((5.0,), high=10)], LEVEL)[0])


def of_samples(value, low, high, method=ORDERED):
    se = (high - low) / (2 * stats.norm.ppf(0.975))
    return Estimate(value, low, high, LEVEL, method, se=se, df=499.0, n=500)


def compared(over, under, *means):
    contrast = SampledRatio(np.array(over), np.array(under), means)
    return Comparison(contrast, -math.inf, math.inf, (contrast.n, contrast.n))


def test_statistic_of_independent_samples_keeps_its_interval():
    found = ends(compared([2.0, 0], [0, 1.0], of_samples(110.0, 109.0, 113.0)), LEVEL)
    assert found == (218.0, 226.0)
    down = ends(compared([-1.0, 0], [0, 1.0], of_samples(110.0, 109.0, 113.0)), LEVEL)
    assert down == (-113.0, -109.0)


def test_interval_sides_of_a_difference_add_in_quadrature():
    a, b = of_samples(10.0, 7.0, 14.0), of_samples(4.0, 0.0, 7.0)
    low, high = ends(compared([1.0, -1, 0], [0, 0, 1.0], a, b), LEVEL)
    assert (low, high) == pytest.approx((6 - math.hypot(3, 3), 6 + math.hypot(4, 4)))


def test_ratio_limits_are_where_the_difference_reaches_zero():
    a, b = of_samples(214.0, 210.0, 215.0), of_samples(110.0, 109.0, 113.0)
    low, high = ends(compared([1.0, 0, 0], [0, 1.0, 0], a, b), LEVEL)
    for r, of_a, of_b in ((low, 4.0, 3.0), (high, 1.0, 1.0)):
        assert abs(214.0 - r * 110.0) == pytest.approx(math.hypot(of_a, r * of_b))


def test_mean_of_independent_samples_has_nearly_students_interval():
    rng = np.random.default_rng(3)
    a, b = rng.normal(10, 1, 300), rng.normal(8, 2, 400)
    found = compared(
        [1.0, -1, 0], [0, 0, 1.0], independent_mean(a, LEVEL), independent_mean(b, LEVEL)
    )
    welch = stats.ttest_ind(a, b, equal_var=False).confidence_interval(LEVEL)
    assert ends(found, LEVEL) == pytest.approx((welch.low, welch.high), rel=0.01)


def test_unbounded_side_stays_unbounded():
    a, b = of_samples(146.0, 143.0, math.inf), of_samples(110.0, 109.0, 113.0)
    low, high = ends(compared([1.0, -1, 0], [0, 0, 1.0], a, b), LEVEL)
    assert (low, high) == (pytest.approx(36 - math.hypot(3, 3)), math.inf)


@each_case(("low", "high", "word"), [(1, 3, "agrees"), (2.5, 3, "differs")])
def test_value_without_interval_is_inside_or_outside(low, high, word):
    one = Estimate(2.0, math.nan, math.nan, LEVEL, "one sample of one run", n=1)
    contrast = SampledRatio(np.array([1.0, 0]), np.array([0, 1.0]), (one,))
    found = [Comparison(contrast, low, high, (1, 1))]
    assert by_value(found).value == word
    assert decide(found, LEVEL, whole=True) is Decision.UNDECIDED


def test_intervals_of_quantile_differences_cover_the_truth():
    rng, truth = np.random.default_rng(4), math.exp(0.5) - 1.0
    hits = 0
    for _ in range(DATA_SETS):
        a, b = rng.lognormal(0.5, 1, 200), rng.lognormal(0, 0.5, 300)
        found = compared(
            [1.0, -1, 0],
            [0, 0, 1.0],
            quantile(a, 0.5, LEVEL),
            quantile(b, 0.5, LEVEL),
        )
        low, high = ends(found, LEVEL)
        hits += low <= truth <= high
    assert 1 - hits / DATA_SETS <= OUTSIDE
