"""Claims that state only which side is larger; `ordering`: sides in ascending order."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from math import inf, isnan
from typing import TYPE_CHECKING, ClassVar, Literal, final

from pydantic import Field

from rawperf.core.model import Flag
from virtperf.core.levels import Level
from virtperf.core.numbers import interval
from virtperf.study.claim_kinds.base import Claim, part_words
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


NEGLIGIBLE = 0.01
"""Lower limit of a difference, relative to its upper limit, below which only the upper one is told: it is
the smallest difference that counts, or little more.
"""


def _difference(low: float, high: float, unit: str) -> str:
    """Range of a difference in the order that is told."""
    return interval(-inf if low < NEGLIGIBLE * high < inf else low, high, unit)


@final
class OrderingClaim(OrderClaim):
    """Each side of `order` is less than the next, or at most equal if not `strict`."""

    natural_least = -inf
    unit_of_percentages = "points"
    prints = "only an order"
    precedence = 3

    kind: Literal["ordering"]
    order: tuple[str, ...] = Field(min_length=2)
    strict: Flag = True

    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        return Instance(tuple(study.expression(text, also) for text in self.order))

    def compared_words(self) -> str:
        return " < ".join(self.order)

    def steps(self, parts: Sequence[Expression]) -> Iterator[tuple[Expression, Expression]]:
        yield from pairwise(parts)

    @property
    def is_strict(self) -> bool:
        return self.strict

    def stated_number(self, instance: Instance) -> Expression | None:
        """The difference of two sides, positive where the stated order holds."""
        if len(instance.parts) != 2:
            return None
        smaller, larger = instance.parts
        return larger.minus(smaller)

    def shows_estimate(self, n_numbers: int) -> bool:
        return n_numbers == 1

    def implied_words(self, low: float, high: float, unit: str, *, single_pair: bool) -> str:
        if low == high == 0:
            return "no difference"
        if not isnan(low) and low >= 0:
            return f"this order, by {_difference(low, high, unit)}"
        if high <= 0:
            return f"the opposite order, by {_difference(-high, -low, unit)}"
        return f"{'either order' if single_pair else 'not always this order'}: {interval(low, high, unit)}"

    def relation_words(self, study: Study, instance: Instance) -> str:
        return (" < " if self.strict else " ≤ ").join(part_words(study, instance))
