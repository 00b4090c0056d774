"""Exact ranges against vertex enumeration: linear and linear-fractional numbers are extreme in vertices."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.reconstruct.conftest import claim
from virtperf.reconstruct.feasible import solve
from virtperf.reconstruct.region import Region, Regions
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.constraints import Inequality
from virtperf.study.quantities import Expression, Quantity

NAMES = [Quantity(name, ()) for name in "xyz"]
SIZE = 20.0
WHOLE = st.integers(-4, 4)
CUTS = st.lists(st.tuples(WHOLE, WHOLE, WHOLE, st.integers(0, 12)), max_size=5)
SUMS = st.lists(st.tuples(WHOLE, WHOLE, WHOLE), min_size=2, max_size=3)


def rows_of(cuts: list[tuple[int, ...]]) -> list[Inequality]:
    """A box around (5, 5, 5) and half-spaces that contain this point."""
    box = [
        Inequality("", ((q, sign),), bound)
        for q in NAMES
        for sign, bound in ((1.0, SIZE), (-1.0, -1.0))
    ]
    planes = [
        Inequality(
            "cut",
            tuple((q, float(c)) for q, c in zip(NAMES, cut[:3], strict=True)),
            5.0 * sum(cut[:3]) + cut[3],
        )
        for cut in cuts
    ]
    return [*box, *planes]


def corners(A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """All vertices of ``A x <= b``, by solving every square subsystem."""
    n = A.shape[1]
    chosen = np.array(list(combinations(range(len(A)), n)))
    parts, bounds = A[chosen], b[chosen]
    regular = np.abs(np.linalg.det(parts)) > 1e-9
    points = np.linalg.solve(parts[regular], bounds[regular][..., None])[..., 0]
    return points[np.all(points @ A.T <= b + 1e-7, axis=1)]


def sums(found: list[tuple[int, ...]]) -> list[Expression]:
    return [
        Expression(tuple((float(c), q) for c, q in zip(terms, NAMES, strict=True)))
        for terms in found
    ]


def region(cuts: list[tuple[int, ...]]) -> tuple[Region, np.ndarray, np.ndarray]:
    system = LinearSystem(rows_of(cuts))
    order = [system.index[q] for q in NAMES]
    return Region(system, (system.mask_of(["cut"]),)), system.A[:, order], system.b


@settings(max_examples=100, deadline=None)
@given(CUTS, SUMS)
def test_sums_and_ratios_are_extreme_in_vertices(cuts, wanted):
    found, A, b = region(cuts)
    points = corners(A, b)
    for of, c in zip(sums(wanted), wanted, strict=True):
        values = points @ np.array(c)
        assert found.ranges(of)[0] == pytest.approx((values.min(), values.max()), abs=1e-5)
        for d in ((1, 0, 0), (1, 2, 3)):  # positive on the box
            ratios = values / (points @ np.array(d))
            assert found.ratios(of, sums([d])[0])[0] == pytest.approx(
                (ratios.min(), ratios.max()), abs=1e-5
            )


@settings(max_examples=80, deadline=None)
@given(CUTS, SUMS)
def test_maximum_of_several_sums(cuts, wanted):
    found, A, b = region(cuts)
    points, C = corners(A, b), np.array(wanted, dtype=float)
    lifted = corners(
        np.vstack([np.column_stack([A, np.zeros(len(A))]), np.column_stack([C, -np.ones(len(C))])]),
        np.append(b, np.zeros(len(C))),
    )
    assert found.maxima(sums(wanted))[0] == pytest.approx(
        (lifted[:, 3].min(), (points @ C.T).max()), abs=1e-5
    )
    can = [
        k
        for k in range(len(C))
        if len(corners(np.vstack([A, C - C[k]]), np.append(b, np.zeros(len(C)))))
    ]
    assert found.largest(sums(wanted)) == can


def test_divisor_that_can_be_zero_leaves_the_ratio_unbounded():
    system = LinearSystem(
        [Inequality("", ((q, -1.0),), 0.0) for q in NAMES]
        + [Inequality("", ((NAMES[0], -1.0),), -2.0)]
    )
    x, y = sums([(1, 0, 0), (0, 1, 0)])
    assert Region(system, (np.ones(4, dtype=bool),)).ratios(x, y) == [(0.0, np.inf)]


def test_every_resolution_has_its_range(tiny):
    at = "kind: value, of: 'throughput[system=b, guests=3]', half_width: 1"
    text = "claims:\n" + claim("low", f"{at}, value: 40") + claim("high", f"{at}, value: 60")
    feasible = solve(*tiny(text))
    quantity = feasible.study.quantity("throughput[system=b, guests=3]")
    assert sorted(
        Regions()
        .of(feasible, [Expression(((2.0, quantity),))])
        .ranges(Expression(((2.0, quantity),)))
    ) == [pytest.approx((78, 82)), pytest.approx((118, 122))]


def test_unconnected_groups_are_combined(tiny):
    text = "claims:\n" + claim(
        "one", "kind: value, of: 'throughput[guests=1]', value: 50, half_width: 10"
    )
    text += claim("two", "kind: value, of: 'response_time[guests=1]', value: 20, half_width: 5")
    feasible = solve(*tiny(text))
    of, to = (
        feasible.study.expression(f"{name}[guests=1]") for name in ("throughput", "response_time")
    )
    (found,) = Regions().of(feasible, [of, to]).ratios(of, to)
    assert found == pytest.approx((40 / 25, 60 / 15))
