"""Whether studies agree on a quantity that they share, by their ranges and intervals alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from virtperf.report.synthesis.values import Piece, Value
from virtperf.report.wording import PROSE_SIGNIFICANT, plural, pretty


@dataclass(frozen=True)
class Agreement:
    """What a comparison of the values of one row found."""

    apart: tuple[
        tuple[Value, Value], ...
    ]  # pairs of different studies that have no value in common
    common: tuple[Piece, ...]  # what all of them have in common

    @property
    def words(self) -> str:
        """The outcome in one sentence."""
        if self.apart:
            have = "has" if len(self.apart) == 1 else "have"
            return f"They differ: {plural(len(self.apart), 'pair')} of values {have} nothing in common."
        if not self.common:
            return (
                "Within a study the values differ; between studies each pair has values in common."
            )
        said = " or ".join(map(_ends, self.common))
        return f"They agree as far as they go: {said} is possible in all of them."


def agreement(values: Sequence[Value]) -> Agreement | None:
    """Compare values of one quantity; None where fewer than two studies give limits.

    Of a study that measured and whose text allows a range, both count. Limits of a text are
    certain, an interval of runs holds with its confidence.
    """
    limited = [v for v in values if any(math.isfinite(end) for piece in v.pieces for end in piece)]
    if len({v.study for v in limited}) < 2:
        return None
    apart = [
        (a, b)
        for a, b in combinations(limited, 2)
        if a.study != b.study and not overlap(a.pieces, b.pieces)
    ]
    common: tuple[Piece, ...] = ((-math.inf, math.inf),)
    for value in limited:
        common = overlap(common, value.pieces)
    return Agreement(tuple(apart), common)


def overlap(first: Sequence[Piece], second: Sequence[Piece]) -> tuple[Piece, ...]:
    """What two unions of ranges have in common; touching ends count."""
    both = ((max(a, c), min(b, d)) for a, b in first for c, d in second)
    return tuple(sorted((low, high) for low, high in both if low <= high))


def _ends(piece: Piece) -> str:
    low, high = (pretty(end, PROSE_SIGNIFICANT) if math.isfinite(end) else "" for end in piece)
    if low and high:
        return low if low == high else f"{low} to {high}"
    return f"at least {low}" if low else f"at most {high}" if high else "any value"
