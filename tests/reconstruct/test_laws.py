"""A law between two quantities: sharp ends by hand and by search, and no claim comes back through it."""

from __future__ import annotations

import numpy as np
import pytest

from virtperf.reconstruct.constraints import Row
from virtperf.reconstruct.laws import Law, LawSystem
from virtperf.study.quantities import Expression, Quantity

R, X, S, Y = (Quantity(name, ()) for name in ("r1", "x1", "r2", "x2"))


def limits(name: str, quantity: Quantity, low: float, high: float) -> list[Row]:
    return [Row(name, ((quantity, 1.0),), high), Row(name, ((quantity, -1.0),), -low)]


def system(*rows: Row) -> LawSystem:
    positive = [Row("", ((q, -1.0),), 0.0) for q in (R, X, S, Y)]
    markers = [Row("law", ((R, 0.0), (X, 0.0)), 0.0), Row("law", ((S, 0.0), (Y, 0.0)), 0.0)]
    return LawSystem(
        [*positive, *markers, *rows], [Law("law", R, X, 100.0), Law("law", S, Y, 100.0)]
    )


def ends(
    found: LawSystem, *terms: tuple[float, Quantity], claims=("law", "a", "b", "c")
) -> tuple[float, float]:
    low, high = found.interval(Expression(terms), found.mask_of(claims))
    return low.value, high.value


def test_an_interval_of_throughput_gives_that_of_response_time():
    found = system(*limits("a", X, 4.0, 20.0))
    assert ends(found, (1.0, R)) == pytest.approx((5.0, 25.0), rel=1e-4)


def test_without_the_law_nothing_follows():
    found = system(*limits("a", X, 4.0, 20.0))
    assert ends(found, (1.0, R), claims=("a",)) == (0.0, np.inf)


def test_a_claim_that_is_left_out_does_not_come_back_through_the_law():
    found = system(*limits("a", X, 4.0, 20.0), *limits("b", X, 9.0, 11.0))
    assert ends(found, (1.0, R)) == pytest.approx((100 / 11, 100 / 9), rel=1e-4)
    assert ends(found, (1.0, X), claims=("law", "a")) == pytest.approx((4.0, 20.0), rel=1e-4)


def test_a_sum_of_both_is_least_where_they_are_equal():
    found = system(*limits("a", X, 1.0, 100.0))
    # r + 100 / r over 1 to 100: least 20 at 10, most 101 at either end
    assert ends(found, (1.0, R), (1.0, X)) == pytest.approx((20.0, 101.0), rel=1e-4)


def test_a_conflict_with_the_law_is_irreducible():
    found = system(
        *limits("a", X, 4.0, 5.0), *limits("b", R, 26.0, 30.0), *limits("c", Y, 1.0, 2.0)
    )
    mask = found.mask_of(("law", "a", "b", "c"))
    assert not found.feasible(mask)
    assert set(found.owner[found.infeasible_rows(mask)]) - {""} == {"law", "a", "b"}


@pytest.mark.parametrize("seed", range(10))
def test_ends_are_those_of_a_search_on_a_grid(seed):
    rng = np.random.default_rng(seed)
    low = rng.uniform(1, 5, 2)
    high = low + rng.uniform(1, 15, 2)
    a, b, c, d = rng.normal(size=4)
    bound = rng.uniform(0, 30)
    # one row couples both laws: a r1 + b x2 <= bound
    found = system(
        *limits("a", X, low[0], high[0]),
        *limits("b", Y, low[1], high[1]),
        Row("c", ((R, a), (Y, b)), bound),
    )
    x, y = (np.linspace(lo, hi, 601) for lo, hi in zip(low, high, strict=True))
    x, y = np.meshgrid(x, y)
    allowed = a * 100 / x + b * y <= bound
    value = (c * 100 / x + d * 100 / y)[allowed]
    if not allowed.any():
        assert not found.feasible(found.mask_of(("law", "a", "b", "c")))
        return
    lowest, highest = ends(found, (c, R), (d, S))
    step = 0.01 * (value.max() - value.min()) + 1e-3
    assert lowest <= value.min() + 1e-3
    assert highest >= value.max() - 1e-3
    assert lowest == pytest.approx(value.min(), abs=step)
    assert highest == pytest.approx(value.max(), abs=step)
