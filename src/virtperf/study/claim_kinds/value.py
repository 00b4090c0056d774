"""`value` and `range`: a level, printed or with limits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, final

from virtperf.core.levels import Level
from virtperf.core.numbers import interval
from virtperf.study.claim_kinds.base import part_words, unit_words
from virtperf.study.claim_kinds.number import NumberClaim
from virtperf.study.compared_numbers import ComparedNumber, open_at_bounds
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import Expression, Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


class LevelClaim(NumberClaim):
    """``low <= of <= high``."""

    is_level = True
    unit_of_percentages = "%"

    of: str

    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        return Instance((study.expression(self.of, also),))

    def compared_words(self) -> str:
        return self.of

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return limit_rows(self.id, self.low, self.high, instance.parts[0])

    def stated_number(self, instance: Instance) -> Expression:
        return instance.parts[0]

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        yield from open_at_bounds(study, instance.parts[0], self.low, self.high)

    def relation_words(self, study: Study, instance: Instance) -> str:
        (part,) = part_words(study, instance)
        return f"{part}: {interval(self.low, self.high, unit_words(study, instance))}"


@final
class ValueClaim(LevelClaim):
    """A level that the paper prints."""

    prints_level = True

    kind: Literal["value"]


@final
class RangeClaim(LevelClaim):
    """Limits of a level."""

    kind: Literal["range"]
