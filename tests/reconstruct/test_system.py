"""A warm-started solver gives the answers of a fresh one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from virtperf.reconstruct.system import LinearSystem
from virtperf.study.constraints import Inequality
from virtperf.study.quantities import Expression, Quantity

NAMES = [Quantity(name, ()) for name in "abcde"]


def random_system(rng: np.random.Generator) -> LinearSystem:
    """Orderings, bounds and a fixed value, like claims; often unbounded above."""
    rows = []
    for i in range(6):
        smaller, larger = rng.choice(5, 2, replace=False)
        rows.append(Inequality(f"c{i}", ((NAMES[smaller], 1.0), (NAMES[larger], -1.0)), -1.0))
    rows += [Inequality("", ((name, -1.0),), 0.0) for name in NAMES]
    fixed = NAMES[rng.integers(5)]
    return LinearSystem(
        [*rows, Inequality("", ((fixed, 1.0),), 100.0), Inequality("", ((fixed, -1.0),), -100.0)]
    )


def smallest(system: LinearSystem, c: np.ndarray, mask: np.ndarray) -> float:
    found = linprog(
        c, A_ub=system.A[mask], b_ub=system.b[mask], bounds=(None, None), method="highs"
    )
    return found.fun if found.status == 0 else -np.inf


@pytest.mark.parametrize("seed", range(12))
def test_answers_do_not_depend_on_earlier_queries(seed):
    rng = np.random.default_rng(seed)
    system = random_system(rng)
    for _ in range(6):
        mask = system.mask_of([f"c{i}" for i in range(6) if rng.random() < 0.6])
        if not system.feasible(mask):
            assert smallest(system, np.zeros(5), mask) == -np.inf
            continue
        for name in system.quantities:
            for sign in (1.0, -1.0):
                expression = Expression(((sign, name),))
                expected = smallest(system, system.vector(expression), mask)
                assert system.minimum(expression, mask).value == pytest.approx(expected, abs=1e-6)


def test_natural_bounds_are_the_ranges_that_rows_of_no_claim_leave():
    x, y, z = (Quantity(name, ()) for name in "xyz")
    system = LinearSystem(
        [
            Inequality("", ((x, -1.0),), 0.0),
            Inequality("", ((x, 1.0),), 12.0),
            Inequality("", ((x, 2.0),), 20.0),
            Inequality("", ((y, -1.0),), -3.0),
            Inequality("claim", ((y, 1.0), (z, -1.0)), 1.0),
        ]
    )
    natural = system.mask_of(())
    by_solver = [system.interval(Expression(((1.0, q),)), natural) for q in (x, y, z)]
    low, high = system.natural_bounds
    assert list(zip(low, high, strict=True)) == [(a.value, b.value) for a, b in by_solver]
