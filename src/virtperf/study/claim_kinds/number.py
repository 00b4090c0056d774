"""Claims about one number with limits: what `value`, `ratio`, `difference` and others share."""

from __future__ import annotations

import math
from typing import ClassVar

from virtperf.study.claim_kinds.base import Claim
from virtperf.study.readings import Read, Readings


class NumberClaim(Claim):
    """A claim about one number: a printed value, limits, or a word."""

    takes = ("value", "half_width", "low", "high", "word")
    numbered = True
    word_is_number: ClassVar[bool] = True
    """Whether a word such as "twice" stands for the number itself."""

    def _number_limits(self, readings: Readings) -> Read:
        value = self.value
        if value is None and self.word_is_number:
            value = readings[self.word].number
        unit = " %" if self.in_percent else ""
        return readings.number_limits(self.word, value, self.half_width or 0.0, unit)

    def consistent(self) -> None:
        if self.low == -math.inf and self.high == math.inf:
            raise ValueError(
                "no limits: set value and half_width (the printed precision), or low, or high"
            )
        super().consistent()

    @property
    def stated_limits(self) -> tuple[float, float]:
        return self.low, self.high
