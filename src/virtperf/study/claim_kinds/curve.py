"""Claims along the levels of a factor: `argmax`, `argmin`, `monotone`, `concave`, `linear`, `saturates`, `rule`."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, final

from pydantic import Field, model_validator

from rawperf.core.model import Flag, Levels, NonNegative, Number
from virtperf.core.levels import Level
from virtperf.core.numbers import NO_BREAK, interval, pretty
from virtperf.study.claim_kinds.base import Claim, part_words, unit_words
from virtperf.study.claim_kinds.order import OrderClaim, step_rows
from virtperf.study.claim_kinds.pair import MarginClaim
from virtperf.study.compared_numbers import (
    ComparedNumber,
    combine,
    level_numbers,
    open_at_bounds,
    order_numbers,
    terms_of,
)
from virtperf.study.constraints import Inequality, combined_row, limit_rows
from virtperf.study.quantities import Expression, Instance
from virtperf.study.readings import Readings

if TYPE_CHECKING:
    from virtperf.study.definition import Study


class CurveClaim(Claim):
    """A claim about `of` at each of the `levels` of the factor `over`."""

    numeric: ClassVar[bool] = False
    """Whether levels must be numbers."""
    ascending: ClassVar[bool] = False
    """Whether numeric levels must ascend; otherwise they may descend, too."""
    min_levels: ClassVar[int] = 2

    of: str
    over: str
    levels: Levels = Field(min_length=2)

    @model_validator(mode="after")
    def _levels_suffice(self) -> CurveClaim:
        if self.numeric and not all(isinstance(level, int | float) for level in self.levels):
            raise ValueError(f"{self.kind} needs numeric levels")
        if len(self.levels) < self.min_levels:
            raise ValueError(f"{self.kind} needs at least {self.min_levels} levels")
        return self

    @property
    def named_levels(self) -> Sequence[Level]:
        return self.levels

    def levels_of_parts(self) -> Sequence[Level]:
        """Level of each part of a relation."""
        return self.levels

    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        levels = self.levels_of_parts()
        parts = tuple(study.expression(self.of, {**also, self.over: level}) for level in levels)
        axis = tuple(float(level) for level in levels if isinstance(level, int | float))
        return Instance(parts, axis if len(axis) == len(levels) else ())

    def compared_words(self) -> str:
        return f"{self.of} over {self.over} {', '.join(map(str, self.levels))}"

    def expand(self, study: Study) -> tuple[Instance, ...]:
        instances = super().expand(study)
        self.check_axis(instances[0].axis)
        return instances

    def check_axis(self, axis: Sequence[float]) -> None:
        """Check that numeric levels are in order; raises `ValueError`."""
        steps = [later > earlier for earlier, later in pairwise(axis)]
        if any(steps) and not all(steps):
            raise ValueError("levels are not in order: sort them")
        if self.ascending and not all(steps):
            raise ValueError("levels must be ascending")


def slopes(instance: Instance) -> list[Expression]:
    """Slope between each two neighbouring levels."""
    return [
        Expression(
            tuple((c / (x2 - x1), q) for c, q in right.terms)
            + tuple((-c / (x2 - x1), q) for c, q in left.terms)
        )
        for (left, right), (x1, x2) in zip(
            pairwise(instance.parts), pairwise(instance.axis), strict=True
        )
    ]


class ExtremumClaim(OrderClaim, CurveClaim):
    """`of` is extreme `at` one of the levels, also equal at others if not `strict`."""

    sign: ClassVar[tuple[str, str]]
    """Sign between the extreme and another value, and that of a strict claim."""
    is_largest: ClassVar[bool]

    at: Level
    strict: Flag = True

    def levels_of_parts(self) -> Sequence[Level]:
        """The extreme first."""
        return sorted(self.levels, key=lambda level: level != self.at)

    def check_axis(self, axis: Sequence[float]) -> None:
        """Levels of an extreme need no order."""

    @property
    def is_strict(self) -> bool:
        return self.strict

    def steps(self, parts: Sequence[Expression]) -> Iterator[tuple[Expression, Expression]]:
        first, *others = parts
        yield from ((o, first) if self.is_largest else (first, o) for o in others)

    def consistent(self) -> None:
        super().consistent()
        if self.at not in self.levels:
            raise ValueError(f"at: {self.at} is not one of the levels")

    def relation_words(self, study: Study, instance: Instance) -> str:
        extreme, *others = part_words(study, instance)
        return f"{extreme} {self.sign[self.strict]} each of {'; '.join(others)}"


@final
class ArgmaxClaim(ExtremumClaim):
    """The position of a maximum."""

    sign = ("≥", ">")
    is_largest = True
    prints = "the position of the maximum"
    precedence = 0

    kind: Literal["argmax"]


@final
class ArgminClaim(ExtremumClaim):
    """The position of a minimum."""

    sign = ("≤", "<")
    is_largest = False
    prints = "the position of the minimum"
    precedence = 1

    kind: Literal["argmin"]


class Direction(NamedTuple):
    """Whether values ascend along the levels, and whether strictly; its words and its sign."""

    ascends: bool
    strict: bool
    words: str
    sign: str


DIRECTIONS = {
    "increasing": Direction(True, True, "a rise", " < "),
    "decreasing": Direction(False, True, "a fall", " > "),
    "nonincreasing": Direction(False, False, "no rise", " ≥ "),
    "nondecreasing": Direction(True, False, "no fall", " ≤ "),
}


@final
class MonotoneClaim(OrderClaim, CurveClaim):
    """Each value of `of` along the levels is larger, or smaller, than the one before."""

    precedence = 2

    kind: Literal["monotone"]
    direction: Literal["increasing", "decreasing", "nonincreasing", "nondecreasing"]

    def steps(self, parts: Sequence[Expression]) -> Iterator[tuple[Expression, Expression]]:
        yield from pairwise(parts if DIRECTIONS[self.direction].ascends else parts[::-1])

    @property
    def is_strict(self) -> bool:
        return DIRECTIONS[self.direction].strict

    def printed_relation(self) -> str:
        return DIRECTIONS[self.direction].words

    def relation_words(self, study: Study, instance: Instance) -> str:
        return DIRECTIONS[self.direction].sign.join(part_words(study, instance))


@final
class ConcaveClaim(CurveClaim):
    """No slope between neighbouring levels is above the one before."""

    numeric = True
    ascending = True
    min_levels = 3  # two points have one slope
    prints = "a concave curve"

    kind: Literal["concave"]

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return [
            combined_row(self.id, 0.0, (1, later), (-1, earlier))
            for earlier, later in pairwise(slopes(instance))
        ]

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        bends = (
            combine((1.0, later), (-1.0, earlier))
            for earlier, later in pairwise(map(terms_of, slopes(instance)))
        )
        yield from level_numbers(study, ((bend, -math.inf, 0.0) for bend in bends))

    def relation_words(self, study: Study, instance: Instance) -> str:
        axis = ", ".join(map(pretty, instance.axis))
        return f"concave over {axis}: {'; '.join(part_words(study, instance))}"


@final
class LinearClaim(MarginClaim, CurveClaim):
    """Slopes between neighbouring levels are equal, each two within the margin."""

    numeric = True
    min_levels = 3  # two points have one slope
    prints = "a straight line"

    kind: Literal["linear"]

    def slope_pairs(self, instance: Instance) -> Iterator[tuple[Expression, Expression]]:
        """Pairs of slopes, the earlier first: neighbours if equal, else each two."""
        every = slopes(instance)
        yield from combinations(every, 2) if self.margin else pairwise(every)

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return [
            row
            for earlier, later in self.slope_pairs(instance)
            for row in limit_rows(self.id, *self.margin_factors, later, earlier)
        ]

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        low, high = self.margin_factors
        limited = []
        for pair in self.slope_pairs(instance):
            earlier, later = map(terms_of, pair)
            if low == high:
                limited.append((combine((1.0, later), (-1.0, earlier)), 0.0, 0.0))
                continue
            limited.append((combine((1.0, later), (-high, earlier)), -math.inf, 0.0))
            limited.append((combine((1.0, later), (-low, earlier)), 0.0, math.inf))
        yield from level_numbers(study, limited)

    def relation_words(self, study: Study, instance: Instance) -> str:
        room = f" within {pretty(100 * self.margin)}{NO_BREAK}%" if self.margin else ""
        axis = ", ".join(map(pretty, instance.axis))
        return f"on one line over {axis}{room}: {'; '.join(part_words(study, instance))}"


@final
class SaturatesClaim(MarginClaim, CurveClaim):
    """`of` rises with each level up to the first of `between`, by the quantity's resolution; from
    the second on, it is within the margin of its value there.
    """

    numeric = True
    ascending = True
    min_levels = 4  # a step up, and a flat one
    unit_cancels = True
    needs_margin = True
    prints = "a saturation"

    kind: Literal["saturates"]
    between: tuple[Number, Number]

    def consistent(self) -> None:
        super().consistent()
        last, first = self.between
        if not {last, first} <= set(self.levels):
            raise ValueError(f"between: {last:g} and {first:g} are not both levels")
        lowest, *_, highest = map(float, self.levels)
        if not lowest < last <= first < highest:
            raise ValueError("between needs a level below it and a level above it, in this order")

    def rising(self, instance: Instance) -> Iterator[tuple[Expression, Expression]]:
        """Pairs of neighbouring values up to the first of `between`, the smaller first."""
        yield from pairwise(
            part
            for part, x in zip(instance.parts, instance.axis, strict=True)
            if x <= self.between[0]
        )

    def flat(self, instance: Instance) -> Iterator[tuple[Expression, Expression]]:
        """Each value above the second of `between`, and the value there."""
        first, *later = (
            part
            for part, x in zip(instance.parts, instance.axis, strict=True)
            if x >= self.between[1]
        )
        yield from ((part, first) for part in later)

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        rows = step_rows(study, self.id, self.rising(instance), strict=True)
        for part, first in self.flat(instance):
            rows += limit_rows(self.id, *self.margin_factors, part, first)
        return rows

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        yield from order_numbers(study, self.rising(instance), strict=True)
        for part, first in self.flat(instance):
            yield ComparedNumber(terms_of(part), *self.margin_factors, under=terms_of(first))

    def relation_words(self, study: Study, instance: Instance) -> str:
        words = dict(zip(instance.parts, part_words(study, instance), strict=True))
        steps = list(self.rising(instance))
        rise = " < ".join([words[steps[0][0]], *(words[larger] for _, larger in steps)])
        flat = list(self.flat(instance))
        later = "; ".join(words[part] for part, _ in flat)
        margin = f"within {pretty(100 * self.margin)}{NO_BREAK}% of {words[flat[0][1]]}"
        return f"{rise}; {margin}: {later}"


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
