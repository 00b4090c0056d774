"""`value`, `difference`, `ratio` and `percent_change`: of sums of quantities."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, final

from rawperf.core.model import Level
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.claim_kinds.pair import DifferenceClaim
from virtperf.study.derived_kinds.base import (
    ORDER_ONLY_LIMITS,
    Bounds,
    Derivation,
    Derived,
    not_negative,
)
from virtperf.study.quantities import Expression, percent_of_ratio, ratio_of_percent

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class ValueDerived(Derived):
    """The sum `of`."""

    kind: Literal["value"]

    def parts(self, study: Study, also: Mapping[str, Level]) -> tuple[Expression, ...]:
        return (study.expression(self.of, also),)

    def printed_by(self, gives: str, claim: Claim) -> float | None:
        return claim.value if claim.prints_level and not claim.reading else None


class PairDerived(Derived):
    """A comparison of two sides."""

    to: str

    def parts(self, study: Study, also: Mapping[str, Level]) -> tuple[Expression, ...]:
        return study.expression(self.of, also), study.expression(self.to, also)


@final
class DifferenceDerived(PairDerived):
    """``of - to``."""

    kind: Literal["difference"]

    def bounds(self, study: Study, derivation: Derivation) -> Bounds:
        (_, quantity), *_ = derivation.parts[0].terms
        resolution = study.quantities[quantity.name].resolution
        return Bounds(same=0.0, order=ORDER_ONLY_LIMITS[1] * resolution)

    def printed_by(self, gives: str, claim: Claim) -> float | None:
        of_a_difference = isinstance(claim, DifferenceClaim) and not claim.reading
        return claim.value if of_a_difference else None


@final
class RatioDerived(PairDerived):
    """``of / to``."""

    of_reference = True

    kind: Literal["ratio"]

    def unit_of(self, study: Study, gives: str, units: tuple[str, ...]) -> str:
        return "" if units[0] == units[1] else f"{units[0]} per {units[1]}"

    def bounds(self, study: Study, derivation: Derivation) -> Bounds:
        least = 0.0 if not_negative(study, derivation) else -math.inf
        if derivation.unit:
            return Bounds(least)
        return Bounds(least, math.inf, 1.0, ORDER_ONLY_LIMITS[0])

    def printed_by(self, gives: str, claim: Claim) -> float | None:
        if not claim.of_reference or claim.reading or claim.value is None:
            return None
        return ratio_of_percent(claim.value) if claim.in_percent else claim.value


@final
class PercentChangeDerived(PairDerived):
    """``100 (of / to - 1)``."""

    of_reference = True
    in_percent = True

    kind: Literal["percent_change"]

    def unit_of(self, study: Study, gives: str, units: tuple[str, ...]) -> str:
        return "%"

    def bounds(self, study: Study, derivation: Derivation) -> Bounds:
        least = -100.0 if not_negative(study, derivation) else -math.inf
        return Bounds(least, math.inf, 0.0, percent_of_ratio(ORDER_ONLY_LIMITS[0]))

    def printed_by(self, gives: str, claim: Claim) -> float | None:
        if not claim.of_reference or claim.reading or claim.value is None:
            return None
        return claim.value if claim.in_percent else percent_of_ratio(claim.value)
