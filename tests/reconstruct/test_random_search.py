"""Searched ranges against known extremes and grids."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from tests.cases import each_case
from virtperf.models import many
from virtperf.reconstruct.random_search import search_ranges
from virtperf.reconstruct.region import Region
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.constraints import Inequality
from virtperf.study.quantities import Expression, Quantity

LOADS = np.array([1.0, 2.0, 4.0, 8.0])
NAMES = [Quantity(f"x{int(load)}", ()) for load in LOADS]
PARTS = [Expression(((1.0, q),)) for q in NAMES]


def box(low: np.ndarray, high: np.ndarray, *more: Inequality) -> Region:
    rows = [Inequality("", ((q, 1.0),), float(h)) for q, h in zip(NAMES, high, strict=True)]
    rows += [Inequality("", ((q, -1.0),), -float(x)) for q, x in zip(NAMES, low, strict=True)]
    system = LinearSystem([*rows, *more])
    return Region(system, (np.ones(len(system.rows), dtype=bool),))


def range_of(region: Region, function, name: str = "n", seed: int = 1) -> tuple[float, float]:
    ((found,),) = search_ranges([region], PARTS, (name,), function, seed)
    return found.ranges[name]


def number(function):
    return lambda y: {"n": (function(y), function(y))}


def test_linear_number_has_its_exact_range():
    region = box(
        np.array([1, 2, 3, 4]),
        np.array([2, 4, 6, 8]),
        Inequality("", tuple((q, 1.0) for q in NAMES), 15.0),
    )
    weights = np.array([1.0, -2.0, 0.5, 1.0])
    (exact,) = region.ranges(Expression(tuple(zip(weights, NAMES, strict=True))))
    assert range_of(region, number(lambda y: y @ weights)) == pytest.approx(exact, abs=1e-4)


def test_interior_extreme_and_extreme_at_a_kink_are_found():
    region = box(np.ones(4), np.full(4, 5.0))
    # a paraboloid with minimum 0 at (2, 3, 4, 2.5) and maximum 9 + 4 + 9 + 6.25 in a corner
    middle = np.array([2.0, 3.0, 4.0, 2.5])
    assert range_of(region, number(lambda y: ((y - middle) ** 2).sum(axis=1))) == pytest.approx(
        (0, 28.25), abs=0.02
    )
    assert range_of(region, number(lambda y: np.abs(y - middle).max(axis=1))) == pytest.approx(
        (0, 3), abs=0.05
    )


@each_case("seed", range(3))
def test_usl_range_equals_a_grid_search(seed):
    rng = np.random.default_rng(seed)
    exact = LOADS / (1 + 0.05 * (LOADS - 1) + 0.01 * LOADS * (LOADS - 1))
    low, high = exact * (1 - 0.05 * rng.random(4)), exact * (1 + 0.05 * rng.random(4))
    axes = [np.linspace(a, b, 9) for a, b in zip(low, high, strict=True)]
    grid = many.usl(LOADS, np.stack(np.meshgrid(*axes), axis=-1).reshape(-1, 4))
    for name in ("contention", "coherency", "peak_load", "peak_throughput"):
        found = range_of(box(low, high), lambda y: many.usl(LOADS, y), name)
        widest = (
            np.nanmin(grid[name][0]),
            np.nanmax(grid[name][1]),
        )  # one or two of 6561 fits do not converge
        room = 0.01 * (widest[1] - widest[0]) if np.isfinite(widest[1]) else 0.0
        assert found[0] <= widest[0] + room and found[1] >= widest[1] - room


def test_all_equally_good_breakpoints_count():
    region = box(np.full(4, 7.0), np.full(4, 7.0))  # one constant data set
    assert range_of(region, lambda y: many.plateau_decline(LOADS, y), "breakpoint") == (1.0, 8.0)


def test_search_is_reproducible_with_a_seed():
    region = box(np.ones(4), np.array([2.0, 4.0, 6.0, 9.0]))
    found = [range_of(region, lambda y: many.usl(LOADS, y), "coherency", seed=5) for _ in range(2)]
    assert found[0] == found[1]


def test_data_sets_of_a_subregion_count_in_the_larger_region():
    peak = np.array([1.3, 1.3, 1.3, 1.3])

    def needle(y):  # a peak of width 1e-6 that random search would miss
        near = np.abs(y - peak).max(axis=1) < 1e-6
        return {"n": (np.where(near, 9.0, y[:, 0]),) * 2}

    narrow, wide = box(peak, peak), box(np.ones(4), np.full(4, 2.0))
    apart = box(np.full(4, 1.5), np.full(4, 2.0))
    for order in permutations([narrow, wide, apart]):  # whichever search comes first
        found = dict(zip(order, search_ranges(order, PARTS, ("n",), needle, 1), strict=True))
        ends = {region: result.ranges["n"] for region, (result,) in found.items()}
        assert ends[narrow][1] == ends[wide][1] == 9.0
        assert ends[apart] == pytest.approx((1.5, 2.0))  # the data set lies outside this region


def test_data_sets_count_in_regions_with_further_quantities():
    other = Quantity("other", ())
    shared = [Inequality("", ((NAMES[0], 1.0), (other, 1.0)), 5.0)]  # 0 <= other <= 5 - x1
    shared.append(Inequality("", ((other, -1.0),), 0.0))
    low, high = np.ones(4), np.full(4, 6.0)
    for first in (box(low, high), box(low, high, *shared)):
        for second in (box(low, high), box(low, high, *shared)):
            function = number(lambda y: np.sin(40 * y).sum(axis=1))  # many local extremes
            (one,), (two,) = search_ranges([first, second], PARTS, ("n",), function, 1)
            inside = max(
                function(np.array([[x[q] for q in NAMES]]))["n"][1][0]
                for x in (*one.best, *two.best)
                if x[NAMES[0]] <= 5
            )
            assert min(one.ranges["n"][1], two.ranges["n"][1]) >= inside - 1e-3


def test_unbounded_values_are_searched_up_to_a_limit():
    system = LinearSystem(
        [
            *(Inequality("", ((q, -1.0),), -1.0) for q in NAMES),
            Inequality("", ((NAMES[0], 1.0),), 3.0),
        ]
    )
    open_ = Region(system, (np.ones(5, dtype=bool),))
    closed = open_.closed(PARTS, 30.0)
    assert range_of(closed, number(lambda y: y[:, 3])) == pytest.approx((1, 30), rel=1e-6)
    assert closed.closed(PARTS, 30.0) is closed and max(open_.limits(PARTS)) == 3.0
