"""Claims that compare two sides, `of` and `to`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from virtperf.core.levels import Level
from virtperf.core.numbers import NO_BREAK, interval
from virtperf.study.claim_kinds.base import NEUTRAL_RATIO, Claim, bracketed, part_words
from virtperf.study.compared_numbers import ComparedNumber, terms_of
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import Instance, Quotient

if TYPE_CHECKING:
    from virtperf.study.definition import Study


SMALL_SHARE = 0.1  # a quotient up to it is a percentage in words


class PairClaim(Claim):
    """A claim about two sides."""

    of: str
    to: str

    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        return Instance((study.expression(self.of, also), study.expression(self.to, also)))

    def compared_words(self) -> str:
        return f"{self.of} with {self.to}"


class QuotientClaim(PairClaim):
    """A claim about the quotient of two sides."""

    unit_cancels = True
    neutral = NEUTRAL_RATIO

    @property
    def quotient_limits(self) -> tuple[float, float]:
        """Lowest and highest quotient."""
        return self.low, self.high

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return limit_rows(self.id, *self.quotient_limits, *instance.parts)

    def stated_number(self, instance: Instance) -> Quotient:
        return Quotient(*instance.parts)

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        of, to = map(terms_of, instance.parts)
        if of != to:
            yield ComparedNumber(of, *self.quotient_limits, under=to)

    def implied_words(self, low: float, high: float, unit: str, *, single_pair: bool) -> str:
        if high <= SMALL_SHARE and not unit:
            return interval(100 * low, 100 * high, f"{NO_BREAK}%")
        words = super().implied_words(low, high, unit, single_pair=single_pair)
        return f"{words} times this" if self.value == NEUTRAL_RATIO else words

    def relation_words(self, study: Study, instance: Instance) -> str:
        of, to = map(bracketed, part_words(study, instance))
        return f"{of} ÷ {to}: {interval(*self.quotient_limits)}"
