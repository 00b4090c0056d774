"""`ratio`: one side as a multiple of another."""

from __future__ import annotations

from math import inf
from typing import Literal, final

from virtperf.study.claim_kinds.number import NumberClaim
from virtperf.study.claim_kinds.pair import QuotientClaim
from virtperf.study.readings import Read, Readings, limits_in_words


@final
class RatioClaim(QuotientClaim, NumberClaim):
    """``low <= of / to <= high``."""

    of_reference = True

    kind: Literal["ratio"]

    def _size_limits(self, readings: Readings, low: float, high: float) -> Read:
        words = limits_in_words(low or -inf, high)
        return Read(low or -inf, high, f"{self.word}: {words} times the other")
