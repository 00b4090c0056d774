"""`difference`: one side minus another."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, final

from virtperf.core.numbers import interval
from virtperf.study.claim_kinds.base import bracketed, part_words, unit_words
from virtperf.study.claim_kinds.number import NumberClaim
from virtperf.study.claim_kinds.pair import PairClaim
from virtperf.study.compared_numbers import ComparedNumber, combine, level_numbers, terms_of
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import Expression, Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class DifferenceClaim(PairClaim, NumberClaim):
    """``low <= of - to <= high``."""

    natural_least = -math.inf
    word_is_number = False
    unit_of_percentages = "points"

    kind: Literal["difference"]

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return limit_rows(self.id, self.low, self.high, self.stated_number(instance))

    def stated_number(self, instance: Instance) -> Expression:
        first, second = instance.parts
        return first.minus(second)

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        first, second = map(terms_of, instance.parts)
        terms = combine((1.0, first), (-1.0, second))
        yield from level_numbers(study, [(terms, self.low, self.high)])

    def relation_words(self, study: Study, instance: Instance) -> str:
        first, second = part_words(study, instance)
        limits = interval(self.low, self.high, unit_words(study, instance))
        return f"{first} − {bracketed(second)}: {limits}"
