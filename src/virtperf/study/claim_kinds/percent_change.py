"""`percent_change`: how much higher or lower one side is than another."""

from __future__ import annotations

from collections.abc import Iterator
from math import inf
from typing import TYPE_CHECKING, Literal, final

from virtperf.core.numbers import NO_BREAK, interval
from virtperf.study.claim_kinds.base import bracketed, part_words
from virtperf.study.claim_kinds.number import NumberClaim
from virtperf.study.claim_kinds.pair import QuotientClaim
from virtperf.study.compared_numbers import ComparedNumber, terms_of
from virtperf.study.quantities import Instance, percent_of_ratio, ratio_of_percent
from virtperf.study.readings import Read, Readings, limits_in_words

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class PercentChangeClaim(QuotientClaim, NumberClaim):
    """``low <= 100 (of / to - 1) <= high``."""

    of_reference = True
    in_percent = True
    natural_least = -100.0
    word_is_number = False  # "twice" is a change of 100 %, not of 2 %

    kind: Literal["percent_change"]

    @property
    def quotient_limits(self) -> tuple[float, float]:
        return ratio_of_percent(self.low), ratio_of_percent(self.high)

    def of_quotient(self, quotient: float) -> float:
        return percent_of_ratio(quotient)

    def _size_limits(self, readings: Readings, low: float, high: float) -> Read:
        low, high = (100 * (low - 1) if low else -inf), 100 * (high - 1)
        return Read(low, high, f"{self.word}: {limits_in_words(low, high, ' %')}")

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        of, to = map(terms_of, instance.parts)
        if of != to:
            yield ComparedNumber(
                of, self.low, self.high, under=to, factor=100.0, shift=-100.0, unit=" %"
            )

    def unit_suffix(self, study: Study) -> str:
        return f"{NO_BREAK}%"

    def implied_words(self, low: float, high: float, unit: str, *, single_pair: bool) -> str:
        if high < 0:
            return f"{interval(-high, -low, unit)} less"
        return super().implied_words(low, high, unit, single_pair=single_pair)

    def relation_words(self, study: Study, instance: Instance) -> str:
        of, to = map(bracketed, part_words(study, instance))
        change = interval(self.low, self.high, f"{NO_BREAK}%")
        return f"100 × ({of} ÷ {to} − 1): {change}"
