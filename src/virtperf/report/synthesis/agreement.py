"""Whether studies agree on a quantity that they share, by their ranges and intervals alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from virtperf.report.synthesis.values import Piece, Value
from virtperf.report.wording import PROSE_SIGNIFICANT, pretty

SAME_VALUE_RATIO = 1.05
"""Values whose quotient is at most this count as the same: a difference of 5 % between two machines
is none that a study of virtualization could explain.
"""
MAX_COMPARED_RATIO = 1.5
"""Quotient of the ends beyond which a range is too wide to be compared with anything."""


@dataclass(frozen=True)
class Agreement:
    """What a comparison of the values of one row found.

    `compared`: the values with two limits, at most `MAX_COMPARED_RATIO` apart. `left_out`: the others, which
        limit the quantity too little. `apart`: pairs of different studies whose values differ by more
        than `SAME_VALUE_RATIO` whatever they are. `same`: whether all values lie within `SAME_VALUE_RATIO`.
    """

    compared: tuple[Value, ...]
    left_out: tuple[Value, ...]
    apart: tuple[tuple[Value, Value], ...]
    same: bool

    @property
    def words(self) -> str:
        """The outcome in one sentence."""
        if self.same:
            low, high = (pretty(end, PROSE_SIGNIFICANT) for end in _ends(self.compared))
            return f"They agree within 5 %: {low if low == high else f'{low} to {high}'}."
        if self.apart:
            return "They differ."
        return "Not decided: the ranges overlap or are less than 5 % apart."


def agreement(values: Sequence[Value]) -> Agreement | None:
    """Compare values of one quantity; None where fewer than two studies give two limits that are
    close enough to each other.

    Limits of a text are certain, an interval of runs holds with its confidence.
    """
    limited = tuple(v for v in values if _narrow(v))
    if len({v.study for v in limited}) < 2:
        return None
    low, high = _ends(limited)
    apart = tuple(
        (a, b)
        for a, b in combinations(limited, 2)
        if a.study != b.study and _distance(a.pieces, b.pieces) > SAME_VALUE_RATIO
    )
    left_out = tuple(v for v in values if v not in limited)
    return Agreement(limited, left_out, apart, high <= SAME_VALUE_RATIO * low)


def _narrow(value: Value) -> bool:
    if not value.pieces:
        return False
    low, high = _ends([value])
    return low > 0 and high <= MAX_COMPARED_RATIO * low


def _ends(values: Sequence[Value]) -> Piece:
    ends = [end for value in values for piece in value.pieces for end in piece]
    return min(ends), max(ends)


def _distance(first: Sequence[Piece], second: Sequence[Piece]) -> float:
    """The smallest quotient of a value of one and a value of the other; 1 where they overlap."""
    return min(max(1.0, c / b, a / d) for a, b in first for c, d in second)
