"""Check of known contradictions."""

from __future__ import annotations

from collections.abc import Sequence

from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claims
from virtperf.study.constraints import natural_rows
from virtperf.study.definition import Study


def assert_irreducible(study: Study, claims: Claims, names: Sequence[str]) -> None:
    """Assert a minimal contradiction: infeasible together, feasible without any one member."""
    rows = [row for name in names for row in claims[name].rows(study)]
    quantities = dict.fromkeys(q for row in rows for q, _ in row.terms)
    system = LinearSystem([*rows, *natural_rows(study, quantities)])
    assert not system.feasible(system.mask_of(names))
    for name in names:
        assert system.feasible(system.mask_of(n for n in names if n != name)), f"without {name}"
