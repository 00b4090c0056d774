"""Claims that state only which side is larger."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, ClassVar

from virtperf.study.claim_kinds.base import Claim
from virtperf.study.compared_numbers import ComparedNumber, order_numbers
from virtperf.study.constraints import Inequality, combined_row
from virtperf.study.quantities import Expression, Instance
from virtperf.study.readings import Read, Readings

if TYPE_CHECKING:
    from virtperf.study.definition import Study

DIRECTIONS = ((1.0, inf), (0.0, 1.0))
"""Limits of a word that gives a direction only."""


class OrderClaim(Claim):
    """A claim about pairs of a smaller and a larger side."""

    takes = ("word",)
    is_order = True
    unit_cancels = True
    precedence: ClassVar[int] = 0
    """Place among the kinds of orders, the most informative about a figure first."""

    @abstractmethod
    def steps(self, parts: Sequence[Expression]) -> Iterator[tuple[Expression, Expression]]:
        """Pairs of the smaller and the larger side."""

    @property
    @abstractmethod
    def is_strict(self) -> bool:
        """Whether a difference must be at least the quantity's resolution."""

    def _size_limits(self, readings: Readings, low: float, high: float) -> Read:
        if (low, high) in DIRECTIONS:
            return Read(-inf, inf, f"{self.word}: the direction only")
        raise self._word_not_allowed()

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return step_rows(study, self.id, self.steps(instance.parts), strict=self.is_strict)

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        yield from order_numbers(study, self.steps(instance.parts), strict=self.is_strict)


def step_rows(
    study: Study, claim: str, steps: Iterable[tuple[Expression, Expression]], *, strict: bool
) -> list[Inequality]:
    """Rows for pairs of a smaller and a larger side; `strict`: by at least the resolution."""
    rows = []
    for smaller, larger in steps:
        least = study.quantities[smaller.terms[0][1].name].resolution if strict else 0.0
        rows.append(combined_row(claim, -least, (1, smaller), (-1, larger)))
    return rows
