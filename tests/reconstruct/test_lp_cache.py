"""The cache of linear programs returns equal values with fewer solves."""

from __future__ import annotations

import numpy as np
import pytest

from tests.reconstruct.test_system import random_system
from virtperf.reconstruct.lp_cache import CachedLinearSystem
from virtperf.reconstruct.system import OPTIMAL, LinearSystem, Program
from virtperf.study.quantities import Expression


@pytest.fixture
def solved(monkeypatch) -> list[int]:
    """A list that grows with every solved program."""
    found: list[int] = []
    minimum = Program.minimum
    monkeypatch.setattr(
        Program, "minimum", lambda *arguments: found.append(1) or minimum(*arguments)
    )
    return found


def asked(system: LinearSystem, mask: np.ndarray, others: np.ndarray) -> list[float]:
    """Answers to all kinds of queries for some rows."""
    found: list[float] = [system.feasible(mask)]
    if not found[0]:
        return found
    for first in system.quantities:
        one = Expression(((1.0, first),))
        found += [end.value for end in system.interval(one, mask)]
        for second in system.quantities:
            found += system.ratio_interval(one, Expression(((1.0, second),)), mask)
    found += [
        system.can_exceed(row, bound + 1e-6, mask)
        for row, bound in zip(system.A, system.b, strict=True)
    ]
    return [*found, system.feasible(mask & others)]


def test_cached_values_equal_solved_values(solved):
    counts = np.zeros(2, dtype=int)
    for seed in range(8):
        rng = np.random.default_rng([4, seed])
        plain = random_system(rng)
        remembered = CachedLinearSystem(plain.rows)
        for _ in range(8):
            mask, others = (
                plain.mask_of([f"c{i}" for i in range(6) if rng.random() < 0.7]) for _ in range(2)
            )
            answers = []
            for k, system in enumerate((plain, remembered)):
                before = len(solved)
                answers.append(asked(system, mask, others))
                counts[k] += len(solved) - before
            assert answers[1] == pytest.approx(answers[0], rel=1e-7, abs=1e-7), seed
    assert counts[1] < 0.5 * counts[0]


def test_cached_certificate_is_valid_for_the_queried_rows(solved):
    rng = np.random.default_rng(7)
    plain = random_system(rng)
    system = CachedLinearSystem(plain.rows)
    recalled = 0
    for _ in range(30):
        mask = plain.mask_of([f"c{i}" for i in range(6) if rng.random() < 0.7])
        for c in np.vstack([np.eye(5), -np.eye(5)]):
            before = len(solved)
            found = system._solve(c, mask)
            if found.status != OPTIMAL or len(solved) > before:
                continue
            recalled += 1
            assert mask[list(found.binding)].all()
            assert len(
                plain.feasible_points(found.x[None], mask)
            ) == 1 and c @ found.x == pytest.approx(found.value)
            alone = np.isin(np.arange(len(mask)), found.binding)
            assert LinearSystem(plain.rows)._solve(c, alone).value == pytest.approx(found.value)
    assert recalled > 50
