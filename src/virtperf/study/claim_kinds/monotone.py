"""`monotone`: a curve that rises or falls."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple, final

from virtperf.study.claim_kinds.base import part_words
from virtperf.study.claim_kinds.curve import CurveClaim
from virtperf.study.claim_kinds.order import OrderClaim
from virtperf.study.quantities import Expression, Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


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
