"""Verdicts on runs with a known ratio: directions, margins, Holm correction, blocks, single runs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

from tests.cases import each_case
from tests.intervals import ends
from virtperf.comparison.comparison_table import ComparisonTable
from virtperf.comparison.outliers import outlying_runs
from virtperf.comparison.ratio_rows import (
    Pair,
    contrast,
    p_value,
    ratio_rows,
)
from virtperf.core.contrasts import LogRatio, PooledError, Replicates, log_ratio
from virtperf.models import ratio_of_means, ratio_of_pairs
from virtperf.runs.run_values import ComparedQuantity

RATE = {"rate": ComparedQuantity("1/s", "higher", "rate")}
SPREAD = np.array([-1.0, 0.5, 0.2, -0.4, 0.9, -0.2])
OTHER_SPREAD = np.array([0.6, -0.8, 0.3, 0.1, -0.9, 0.7])


def side(mean: float, cv: float = 0.01, spread=SPREAD, blocks=None) -> Replicates:
    return Replicates(mean * (1 + cv * spread), blocks or ("",) * len(spread))


def pair(ratio: float, cv: float = 0.01, quantity: str = "rate", condition=()) -> Pair:
    return Pair(quantity, condition, side(100, cv), side(100 * ratio, cv, OTHER_SPREAD))


def only(rows):
    (row,) = rows
    return row


@each_case(
    ("better", "ratio", "verdict"),
    [
        ("higher", 0.9, "slower"),
        ("higher", 1.1, "faster"),
        ("lower", 1.1, "slower"),
        ("lower", 0.9, "faster"),
        ("", 1.1, "higher"),
        ("", 0.9, "lower"),
        ("higher", 1.0005, "undecided"),
    ],
)
def test_direction_decides_between_better_and_worse(better, ratio, verdict):
    quantities = {"rate": ComparedQuantity("1/s", better)}
    row = only(ratio_rows([pair(ratio)], quantities, margin=0.0, level=0.95))
    assert row.verdict == verdict


def test_interval_equals_that_of_the_models():
    two = pair(0.97)
    row = only(ratio_rows([two], RATE, margin=0.0, level=0.9))
    expected = ratio_of_means(two.b.values, two.a.values, alpha=0.1)
    assert (row.ratio, row.low, row.high) == pytest.approx(
        (expected.value, expected.low, expected.high)
    )


@each_case(
    ("ratio", "cv", "verdict"),
    [
        (1.001, 0.002, "same within the margin"),
        (0.9, 0.002, "slower"),
        (0.97, 0.002, "slower"),
        (0.985, 0.02, "undecided"),
    ],
)
def test_small_changes_are_the_same_within_the_margin(ratio, cv, verdict):
    row = only(ratio_rows([pair(ratio, cv)], RATE, margin=0.02, level=0.95))
    assert row.verdict == verdict
    assert (row.more_runs is not None) == (verdict == "undecided")


@each_case("margin", [0.0, 0.02])
@each_case("ratio", [0.95, 0.99, 1.004, 1.03])
def test_interval_at_level_one_minus_p_touches_the_margin(ratio, margin):
    found = contrast(pair(ratio))
    p = p_value(found, margin)
    found_ends = ends(found, 1 - p)
    limits = (1 / (1 + margin), 1 + margin)
    gaps = [abs(math.log(end / limit)) for end in found_ends for limit in limits]
    assert min(gaps) == pytest.approx(0, abs=1e-9)


def test_rows_are_judged_together_by_holm():
    ratios = (0.98, 0.9885, 0.989, 0.9885, 1.0)
    quantities = {f"q{k}": ComparedQuantity("1/s", "higher") for k in range(len(ratios))}
    pairs = [pair(ratio, quantity=f"q{k}") for k, ratio in enumerate(ratios)]
    rows = ratio_rows(pairs, quantities, margin=0.0, level=0.95)
    adjusted = multipletests([row.p for row in rows], method="holm")[1]
    assert [row.p_holm for row in rows] == pytest.approx(list(adjusted))
    alone = [only(ratio_rows([each], quantities, margin=0.0, level=0.95)).verdict for each in pairs]
    assert alone == ["slower"] * 4 + ["undecided"]
    assert [row.verdict for row in rows] == ["slower"] + ["undecided"] * 4


def test_runs_in_blocks_are_compared_within_blocks():
    days = tuple("abcdef")
    drift = np.array([1.0, 1.3, 0.8, 1.5, 0.9, 1.2])
    a = Replicates(100 * drift * (1 + 0.002 * SPREAD), days)
    b = Replicates(98 * drift * (1 + 0.002 * OTHER_SPREAD), days)
    row = only(ratio_rows([Pair("rate", (), a, b)], RATE, margin=0.0, level=0.95))
    assert row.verdict == "slower"
    assert row.compared == "within 6 blocks"
    paired = ratio_of_pairs(b.values, a.values)
    assert (row.low, row.high) == pytest.approx((paired.low, paired.high))
    free = [Replicates(side.values, ("",) * 6) for side in (a, b)]
    row = only(ratio_rows([Pair("rate", (), *free)], RATE, margin=0.0, level=0.95))
    assert row.verdict == "undecided"


@each_case(("n_a", "n_b", "message"), [(1, 6, "A has"), (6, 1, "B has"), (1, 1, "A and B have")])
def test_single_run_per_side_has_no_interval(n_a, n_b, message):
    two = Pair("rate", (), side(100, spread=SPREAD[:n_a]), side(50, spread=OTHER_SPREAD[:n_b]))
    row = only(ratio_rows([two], RATE, margin=0.0, level=0.95))
    assert row.ratio == pytest.approx(0.5, rel=0.02)
    assert (row.verdict, row.low, row.high, row.p, row.more_runs) == ("undecided", *[None] * 4)
    assert row.note.startswith(f"{message} one run: the variance between runs can't be estimated")


def test_one_block_per_side_has_no_interval():
    a = Replicates(side(100).values, ("",) * 6, ("2026-01-01",) * 6)
    b = Replicates(side(90).values, ("",) * 6, ("2026-01-02",) * 6)
    row = only(ratio_rows([Pair("rate", (), a, b)], RATE, margin=0.0, level=0.95))
    assert row.verdict == "undecided"
    assert "so there is no interval" in row.note


def test_runs_without_spread_are_compared_exactly():
    def of(mean_b, margin=0.0, unit="1"):
        kinds = {"rate": ComparedQuantity(unit, "higher", "rate")}
        pair = Pair("rate", (), side(100, cv=0.0), side(mean_b, cv=0.0))
        return only(ratio_rows([pair], kinds, margin=margin, level=0.95))

    row = of(90)
    assert (row.verdict, row.exact, row.low, row.p_holm) == ("slower", True, None, None)
    assert f"probability of {2 / math.comb(12, 6):.2g}" in row.note  # of the equal splits, two
    assert of(99, margin=0.02).verdict == "same within the margin"
    assert of(100).verdict == "the same, exactly"
    assert "clock" in of(90, unit="s").note and "probability" not in of(90.5).note


def test_a_time_of_zero_is_not_judged():
    kinds = {"time": ComparedQuantity("s", "lower", "time")}
    pair = Pair("time", (), side(20), Replicates(np.array([0.0, 20.1, 19.9]), ("",) * 3))
    row = only(ratio_rows([pair], kinds, margin=0.0, level=0.95))
    assert (row.verdict, row.ratio) == ("not judged", None) and "1 of 3 runs of B" in row.note
    row = only(ratio_rows([pair], kinds, margin=0.0, level=0.95, zeros=True))
    assert row.verdict != "not judged" and row.ratio is not None


FAILED = {"failures": ComparedQuantity("1", "lower", "failures")}


def failures(a, b, counts=None):
    runs = [Replicates(np.array(values), ("",) * len(values)) for values in (a, b)]
    return only(ratio_rows([Pair("failures", (), *runs, counts)], FAILED, margin=0.0, level=0.95))


def test_failures_are_judged_by_their_difference():
    row = failures([0.0, 0.0, 0.0], [0.31, 0.35, 0.33])
    welch = stats.ttest_1samp([0.31, 0.35, 0.33], 0.0)
    assert (row.verdict, row.ratio) == ("worse", None)
    assert row.difference == pytest.approx(0.33) and row.p == pytest.approx(welch.pvalue)
    assert (row.low, row.high) == pytest.approx(tuple(welch.confidence_interval()))
    assert failures([0.31, 0.35, 0.33], [0.0, 0.0, 0.0]).verdict == "better"
    assert failures([0.01, 0.05], [0.02, 0.05]).verdict == "undecided"


def test_failures_of_single_runs_are_judged_by_requests():
    row = failures([0.0], [0.3], ((0, 100), (30, 100)))
    assert row.verdict == "worse" and "by requests" in row.note
    assert row.p == pytest.approx(stats.fisher_exact([[0, 100], [30, 70]]).pvalue)
    assert failures([0.0], [0.01], ((0, 100), (1, 100))).verdict == "undecided"
    assert failures([0.0], [0.3]).verdict == "undecided"


def test_numbers_of_failures_are_said_to_be_no_shares():
    def judged(a, b):
        kinds = {"errors": ComparedQuantity("count", "lower", "errors")}
        runs = [Replicates(np.array(values), ("",) * 3) for values in (a, b)]
        return only(ratio_rows([Pair("errors", (), *runs)], kinds, margin=0.0, level=0.95))

    more = judged([10.0, 11.0, 12.0], [30.0, 31.0, 32.0])
    assert more.verdict == "worse" and "not a share" in more.note
    first = judged([0.0, 0.0, 0.0], [30.0, 31.0, 32.0])
    assert first.verdict == "worse" and "not a share" not in first.note


def test_one_outlying_run_is_named_with_the_result_without_it():
    a, b = side(100, cv=0.01), side(95, cv=0.01)
    b.values[2] *= 1.3
    b = Replicates(b.values, b.blocks, run_ids=tuple(f"b/r{k}.csv" for k in range(6)))
    row = only(ratio_rows([Pair("rate", (), a, b)], RATE, margin=0.0, level=0.95))
    assert (row.verdict, row.more_runs) == ("undecided", None)
    assert (row.outlier.name, row.outlier.side) == ("r2.csv", "B")
    without = ratio_of_means(np.delete(b.values, 2), a.values)
    assert (row.without.ratio, row.without.low, row.without.high) == pytest.approx(
        (without.value, without.low, without.high)
    )
    assert row.without.verdict == "slower" and row.outlier.deviation == pytest.approx(1.3, rel=0.03)


def test_outlying_runs_that_mask_each_other_are_named_together():
    draw = np.random.default_rng(9)
    values = {of: 100 * np.exp(draw.normal(0, 0.01, 12)) for of in "ab"}
    values["b"][[2, 7]] *= 1.3, 1.4
    a, b = (Replicates(each, ("",) * 12) for each in values.values())
    row = only(ratio_rows([Pair("rate", (), a, b)], RATE, margin=0.0, level=0.95))
    assert (row.outlier.name, row.outlier.places) == ("run 3 and run 8", (2, 7))
    without = ratio_of_means(np.delete(values["b"], [2, 7]), values["a"])
    assert (row.without.ratio, row.without.low) == pytest.approx((without.value, without.low))


def test_runs_without_outliers_are_seldom_named():
    """At a level of 0.5 %, at most 12 of 1,000 are named with a probability of 99 %."""
    draw = np.random.default_rng(10)
    sides = np.exp(0.02 * draw.standard_normal((1000, 2, 10)))
    found = [outlying_runs(*(Replicates(of, ("",) * 10) for of in each)) for each in sides]
    assert sum(each is not None for each in found) <= 12


def test_an_outlying_run_in_blocks_is_found_in_the_ratios_of_blocks():
    days, drift = tuple("abcdef"), np.array([1.0, 1.3, 0.8, 1.5, 0.9, 1.2])
    a = Replicates(100 * drift * (1 + 0.002 * SPREAD), days)
    b = Replicates(98 * drift * (1 + 0.002 * OTHER_SPREAD), days)
    row = only(ratio_rows([Pair("rate", (), a, b)], RATE, margin=0.0, level=0.95))
    assert row.without is None  # a block that is apart from others is none
    slow = Replicates(b.values * [1, 1, 1, 0.7, 1, 1], days)
    row = only(ratio_rows([Pair("rate", (), a, slow)], RATE, margin=0.0, level=0.95))
    assert (row.outlier.side, row.outlier.name, row.without.verdict) == ("", "d", "slower")
    assert row.outlier.deviation == pytest.approx(0.7, rel=0.01)


def test_ranks_give_hodges_and_lehmanns_estimate():
    a, b = side(100, cv=0.02), side(90, cv=0.02)
    row = only(ratio_rows([Pair("rate", (), a, b)], RATE, margin=0.0, level=0.95, ranks=True))
    ratios = np.sort(np.divide.outer(b.values, a.values).ravel())
    assert row.ranks.ratio == pytest.approx(np.sqrt(ratios[17] * ratios[18]))
    # the 6th smallest of 36: P(U <= 5) = 0.0206, P(U <= 6) = 0.0325
    assert (row.ranks.low, row.ranks.high) == pytest.approx((ratios[5], ratios[-6]))
    assert row.ranks.p == pytest.approx(stats.mannwhitneyu(a.values, b.values).pvalue)


def test_zero_values_are_compared_by_means():
    a = Replicates(np.array([0.0, 4.0, 5.0, 6.0, 5.0, 4.0]), ("",) * 6)
    b = Replicates(10 * a.values + 1, ("",) * 6)
    row = only(ratio_rows([Pair("rate", (), b, a)], RATE, margin=0.0, level=0.95, zeros=True))
    assert row.ratio == pytest.approx(a.mean / b.mean)
    nothing = Replicates(np.zeros(3), ("",) * 3)
    assert ratio_rows([Pair("rate", (), nothing, nothing)], RATE, margin=0.0, level=0.95) == []


def test_geometric_mean_over_conditions_has_an_interval():
    ratios = (0.9, 0.95, 1.02)
    pairs = [pair(r, condition=(("guests", k),)) for k, r in enumerate(ratios)]
    rows = ratio_rows(pairs, RATE, margin=0.0, level=0.95)
    mean = rows[-1]
    assert [row.condition for row in rows] == [
        "guests=0",
        "guests=1",
        "guests=2",
        "geometric mean over 3 conditions",
    ]
    logs = [math.log(row.ratio) for row in rows[:-1]]
    assert mean.ratio == pytest.approx(math.exp(sum(logs) / 3))
    assert mean.low < mean.ratio < mean.high
    assert mean.verdict == "slower"


def test_an_error_pooled_over_conditions_is_a_remark():
    pooled = PooledError(deviation=0.02, df=15, conditions=4)
    kinds = {name: ComparedQuantity("1/s", "higher", name) for name in ("rate", "part", "own")}
    pairs = [
        pair(0.9, quantity=name, condition=(("guests", guests),))
        for name in kinds
        for guests in (1, 2)
    ]

    def ratio(two: Pair) -> LogRatio:
        alone = two.quantity == "own" or (two.quantity == "part" and two.condition[0][1] == 2)
        return log_ratio(two.b, two.a, None if alone else pooled)

    rows = ratio_rows(pairs, kinds, margin=0.0, level=0.95, contrast_function=ratio)
    table = ComparisonTable(("a", "b"), 0.0, 0.95, tuple(rows))
    remark = "error pooled over 4 conditions: rate; part, guests=1"
    assert table.remarks() == [remark] and f"- {remark}" in table.to_markdown()


def test_geometric_mean_of_complete_runs_is_taken_per_run():
    quantities = {
        name: ComparedQuantity("1/s", "higher", "rate") for name in ("rate of x", "rate of y")
    }
    ids = {s: tuple(f"{s}{k}" for k in range(6)) for s in "ab"}
    factor = {
        "rate of x": np.array([1.0, 2, 1, 2, 1, 2]),
        "rate of y": np.array([2.0, 1, 2, 1, 2, 1]),
    }
    pairs = [
        Pair(
            name,
            (),
            Replicates(side(100).values * factor[name], ("",) * 6, (), ids["a"]),
            Replicates(
                side(80, spread=OTHER_SPREAD).values * factor[name], ("",) * 6, (), ids["b"]
            ),
        )
        for name in quantities
    ]
    *rows, mean = ratio_rows(pairs, quantities, margin=0.0, level=0.95)
    assert {row.verdict for row in rows} == {"undecided"}
    assert mean.verdict == "slower"
    assert (mean.runs_a, mean.runs_b) == (6, 6)


def test_a_geometric_mean_of_single_runs_is_not_exact():
    def single(value, name):
        return Replicates(np.array([value]), ("",), (), (name,))

    pairs = [
        Pair("rate", (("clients", n),), single(100.0 * n, f"a{n}"), single(101.0 * n, f"b{n}"))
        for n in (1, 2, 4)
    ]
    *_, mean = ratio_rows(pairs, RATE, margin=0.0, level=0.95)
    assert mean.ratio == pytest.approx(1.01)
    assert (mean.verdict, mean.p) == ("undecided", None) and "one run" in mean.note


def test_recommended_number_of_runs_is_sufficient():
    row = only(ratio_rows([pair(0.995)], RATE, margin=0.0, level=0.95))
    assert row.verdict == "undecided"
    n = row.runs_a + row.more_runs
    rng = np.random.default_rng(1)
    decided = 0
    for _ in range(40):
        noise = rng.normal(0, side(1).values.std(ddof=1), (2, n))
        means = zip((1, row.ratio), noise, strict=True)
        two = Pair("rate", (), *(Replicates(m * (1 + e), ("",) * n) for m, e in means))
        decided += p_value(contrast(two), 0.0) < 0.05
    assert 0.65 < decided / 40 < 0.95
