"""`equivalence`: two sides equal within a margin."""

from __future__ import annotations

from typing import Literal, final

from virtperf.core.numbers import NO_BREAK, interval, pretty
from virtperf.study.claim_kinds.margin import MarginClaim
from virtperf.study.claim_kinds.pair import QuotientClaim


@final
class EquivalenceClaim(QuotientClaim, MarginClaim):
    """``of / to`` within a margin: at most 1 + margin, and so its reciprocal."""

    needs_margin = True

    kind: Literal["equivalence"]

    @property
    def quotient_limits(self) -> tuple[float, float]:
        return self.margin_factors

    @property
    def stated_limits(self) -> tuple[float, float]:
        return self.margin_factors

    @property
    def has_tolerance(self) -> bool:
        return self.margin == 0

    def shows_estimate(self, n_numbers: int) -> bool:
        return True

    def printed_relation(self) -> str:
        return f"equal within {pretty(100 * self.margin)}{NO_BREAK}%" if self.margin else "equal"

    def implied_words(self, low: float, high: float, unit: str, *, single_pair: bool) -> str:
        return f"a ratio of {interval(low, high, unit)}"
