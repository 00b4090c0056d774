"""`relative_mean`: a mean of parts, each relative to the same part elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Literal, final

from pydantic import Field

from virtperf.core.levels import Level
from virtperf.study.claim_kinds.base import Claim, part_words
from virtperf.study.compared_numbers import ComparedNumber
from virtperf.study.constraints import Inequality
from virtperf.study.quantities import Instance, Quotient

if TYPE_CHECKING:
    from virtperf.study.definition import Study


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
