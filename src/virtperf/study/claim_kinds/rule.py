"""`rule`: a printed line, "12 s plus 63 s a GB"."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, final

from pydantic import Field

from rawperf.core.model import NonNegative, Number
from virtperf.core.numbers import NO_BREAK, interval, pretty
from virtperf.study.claim_kinds.base import part_words, unit_words
from virtperf.study.claim_kinds.curve import CurveClaim
from virtperf.study.compared_numbers import ComparedNumber, open_at_bounds
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import Expression, Instance
from virtperf.study.readings import Readings

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class RuleClaim(CurveClaim):
    """`of` is ``intercept + slope * level`` at each level, within the precision of both.

    `bounds`: lowest and highest value at each level, filled when the claim is read.
    """

    takes = ("word",)
    numeric = True

    kind: Literal["rule"]
    intercept: Number
    slope: Number
    intercept_half_width: NonNegative
    slope_half_width: NonNegative
    bounds: tuple[tuple[float, float], ...] = Field((), alias="<bounds>")

    @property
    def coefficients(self) -> Mapping[str, float]:
        return {"intercept": self.intercept, "slope": self.slope}

    def read(self, readings: Readings) -> RuleClaim:
        """The claim with the bounds of its rule at each level.

        Bounds follow from the printed precision of the coefficients, or from the rule's word.
        """
        bounds, words = [], [self.reading] if self.reading else []
        for x in map(float, self.levels):
            value = self.intercept + self.slope * x
            room = self.intercept_half_width + self.slope_half_width * abs(x)
            read = readings.number_limits(self.word, value, room) if self.word else None
            bounds.append((read.low, read.high) if read else (value - room, value + room))
        if self.word:
            low, high = readings.limits(self.word)
            words.insert(
                0, f"{self.word}: {low:.4g} to {high:.4g} times the number, at every level"
            )
        return self.model_copy(update={"bounds": tuple(bounds), "reading": "; ".join(words)})

    def limited_parts(self, instance: Instance) -> Iterator[tuple[Expression, tuple[float, float]]]:
        """Each part of a relation with its bounds."""
        yield from zip(instance.parts, self.bounds, strict=True)

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return [
            row
            for part, ends in self.limited_parts(instance)
            for row in limit_rows(self.id, *ends, part)
        ]

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        for part, ends in self.limited_parts(instance):
            yield from open_at_bounds(study, part, *ends)

    def printed_relation(self) -> str:
        return f"a line, {pretty(self.intercept)} + {pretty(self.slope)}{NO_BREAK}x"

    def relation_words(self, study: Study, instance: Instance) -> str:
        unit, parts = unit_words(study, instance), part_words(study, instance)
        limited = zip(parts, self.bounds, strict=True)
        return "; ".join(f"{part}: {interval(*ends, unit)}" for part, ends in limited)
