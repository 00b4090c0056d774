"""`ordering`: sides in ascending order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, final

from pydantic import Field

from rawperf.core.model import Flag
from virtperf.core.levels import Level
from virtperf.core.numbers import interval
from virtperf.study.claim_kinds.base import part_words
from virtperf.study.claim_kinds.order import OrderClaim
from virtperf.study.quantities import Expression, Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class OrderingClaim(OrderClaim):
    """Each side of `order` is less than the next, or at most equal if not `strict`."""

    natural_least = -math.inf
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
        if not math.isnan(low) and low >= 0:
            return f"this order, by {interval(low, high, unit)}"
        if high <= 0:
            return f"the opposite order, by {interval(-high, -low, unit)}"
        return f"{'either order' if single_pair else 'not always this order'}: {interval(low, high, unit)}"

    def relation_words(self, study: Study, instance: Instance) -> str:
        return (" < " if self.strict else " ≤ ").join(part_words(study, instance))
