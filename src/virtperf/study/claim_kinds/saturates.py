"""`saturates`: a curve that rises up to one level, and is flat from another on."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, final

from rawperf.core.model import Number
from virtperf.core.numbers import NO_BREAK, pretty
from virtperf.study.claim_kinds.base import part_words
from virtperf.study.claim_kinds.curve import CurveClaim
from virtperf.study.claim_kinds.margin import MarginClaim
from virtperf.study.claim_kinds.order import step_rows
from virtperf.study.compared_numbers import ComparedNumber, order_numbers, terms_of
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import Expression, Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class SaturatesClaim(MarginClaim, CurveClaim):
    """`of` rises with each level up to the first of `between`, by the quantity's resolution; from
    the second on, it is within the margin of its value there.
    """

    numeric = True
    ascending = True
    min_levels = 4  # a step up, and a flat one
    unit_cancels = True
    needs_margin = True
    prints = "a saturation"

    kind: Literal["saturates"]
    between: tuple[Number, Number]

    def consistent(self) -> None:
        super().consistent()
        last, first = self.between
        if not {last, first} <= set(self.levels):
            raise ValueError(f"between: {last:g} and {first:g} are not both levels")
        lowest, *_, highest = map(float, self.levels)
        if not lowest < last <= first < highest:
            raise ValueError("between needs a level below it and a level above it, in this order")

    def rising(self, instance: Instance) -> Iterator[tuple[Expression, Expression]]:
        """Pairs of neighbouring values up to the first of `between`, the smaller first."""
        yield from pairwise(
            part
            for part, x in zip(instance.parts, instance.axis, strict=True)
            if x <= self.between[0]
        )

    def flat(self, instance: Instance) -> Iterator[tuple[Expression, Expression]]:
        """Each value above the second of `between`, and the value there."""
        first, *later = (
            part
            for part, x in zip(instance.parts, instance.axis, strict=True)
            if x >= self.between[1]
        )
        yield from ((part, first) for part in later)

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        rows = step_rows(study, self.id, self.rising(instance), strict=True)
        for part, first in self.flat(instance):
            rows += limit_rows(self.id, *self.margin_factors, part, first)
        return rows

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        yield from order_numbers(study, self.rising(instance), strict=True)
        for part, first in self.flat(instance):
            yield ComparedNumber(terms_of(part), *self.margin_factors, under=terms_of(first))

    def relation_words(self, study: Study, instance: Instance) -> str:
        words = dict(zip(instance.parts, part_words(study, instance), strict=True))
        steps = list(self.rising(instance))
        rise = " < ".join([words[steps[0][0]], *(words[larger] for _, larger in steps)])
        flat = list(self.flat(instance))
        later = "; ".join(words[part] for part, _ in flat)
        margin = f"within {pretty(100 * self.margin)}{NO_BREAK}% of {words[flat[0][1]]}"
        return f"{rise}; {margin}: {later}"
