"""Claims about parts of a whole: `sum`, and `relative_mean`, a mean of relative parts."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, final

from pydantic import Field

from virtperf.core.levels import Level
from virtperf.core.numbers import interval
from virtperf.study.claim_kinds.base import Claim, part_words, unit_words
from virtperf.study.compared_numbers import ComparedNumber, combine, level_numbers, terms_of
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import Instance, Quotient

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@final
class SumClaim(Claim):
    """``of`` is the sum of the parts, or differs from it by `low` to `high`."""

    takes = ("value", "half_width", "low", "high")
    tolerance_of_size = True  # the limits are 0, and a share of 0 is no tolerance
    prints = "a sum"

    kind: Literal["sum"]
    of: str
    parts: tuple[str, ...] = Field(min_length=1)

    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        return Instance(tuple(study.expression(text, also) for text in (self.of, *self.parts)))

    def compared_words(self) -> str:
        return f"{self.of} with {', '.join(self.parts)}"

    @property
    def limits_of_rest(self) -> tuple[float, float]:
        """Lowest and highest difference of the total and its parts."""
        return (self.low, self.high) if math.isfinite(self.low) else (0.0, 0.0)

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        total, *parts = instance.parts
        return limit_rows(self.id, *self.limits_of_rest, total.minus(*parts))

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        total, *parts = map(terms_of, instance.parts)
        terms = combine((1.0, total), *((-1.0, part) for part in parts))
        yield from level_numbers(study, [(terms, *self.limits_of_rest)])

    @property
    def has_tolerance(self) -> bool:
        return True

    def relation_words(self, study: Study, instance: Instance) -> str:
        total, *parts = part_words(study, instance)
        if not math.isfinite(self.low):
            return f"{total} = {' + '.join(parts)}"
        limits = interval(self.low, self.high, unit_words(study, instance))
        return f"{total} − ({' + '.join(parts)}): {limits}"


@final
class RelativeMeanClaim(Claim):
    """``of`` is 100 % times the mean of the parts' quotients by themselves at `relative_to`."""

    prints = "a mean"

    kind: Literal["relative_mean"]
    of: str
    parts: tuple[str, ...] = Field(min_length=1)
    relative_to: dict[str, Level]

    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        at = (also, {**also, **self.relative_to})
        pairs = (study.expression(part, levels) for part in self.parts for levels in at)
        return Instance((study.expression(self.of, also), *pairs))

    def compared_words(self) -> str:
        return f"{self.of} with {', '.join(self.parts)}"

    def mean_of(self, instance: Instance) -> tuple[Quotient, ...]:
        _, *parts = instance.parts
        return tuple(map(Quotient, parts[::2], parts[1::2]))

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return []  # they follow from the ranges of the parts, by `mean_of`

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        yield from ()

    def relation_words(self, study: Study, instance: Instance) -> str:
        mean, *parts = part_words(study, instance)
        shares = "; ".join(
            f"{part} ÷ {to}" for part, to in zip(parts[::2], parts[1::2], strict=True)
        )
        return f"{mean} = 100 % × the mean of {shares}"
