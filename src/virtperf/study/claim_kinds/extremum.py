"""`argmax` and `argmin`: the level of the largest or smallest value."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, final

from rawperf.core.model import Flag
from virtperf.core.levels import Level
from virtperf.study.claim_kinds.base import part_words
from virtperf.study.claim_kinds.curve import CurveClaim
from virtperf.study.claim_kinds.order import OrderClaim
from virtperf.study.quantities import Expression, Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


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
