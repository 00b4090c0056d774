"""Claims about one number with limits: `value` and `range` are a level, others are of two sides."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, final

from virtperf.core.levels import Level
from virtperf.core.numbers import interval
from virtperf.study.claim_kinds.base import Claim, part_words, unit_words
from virtperf.study.compared_numbers import ComparedNumber, open_at_bounds
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import Expression, Instance
from virtperf.study.readings import Read, Readings

if TYPE_CHECKING:
    from virtperf.study.definition import Study


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
