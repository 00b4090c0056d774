"""Numbers of a claim that measured runs estimate, with the limits that the claim states for them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from virtperf.study.quantities import Expression, Quantity

if TYPE_CHECKING:
    from virtperf.study.definition import Study

Terms = dict[Quantity, float]
MORE_THAN_ZERO = math.ulp(0.0)
"""Limit of a strict order without a minimum difference, for the difference of its sides."""


@dataclass(frozen=True)
class ComparedNumber:
    """The number ``factor * over / under + shift``, or `over` where `under` is empty, and its limits.

    `order`: whether the number is an order of two sides; `over` is the larger, and `low` the
    minimum difference, in units of the claim's scale. `unit` is None if the number is not in the
    claim's. `strict`: whether `low` stands for an exclusive limit just below it. `bounds`: natural
    bounds of the number.
    """

    over: Terms
    low: float
    high: float
    under: Terms = field(default_factory=dict)
    factor: float = 1.0
    shift: float = 0.0
    unit: str | None = ""
    order: bool = False
    strict: bool = False
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @property
    def quantities(self) -> list[Quantity]:
        return list(dict.fromkeys((*self.over, *self.under)))


def terms_of(part: Expression) -> Terms:
    """Coefficients of an expression by quantity, without zeros."""
    return combine(*((c, {q: 1.0}) for c, q in part.terms))


def combine(*weighted: tuple[float, Terms]) -> Terms:
    """Weighted sum of terms, without zeros."""
    total: Terms = {}
    for weight, terms in weighted:
        for quantity, coefficient in terms.items():
            total[quantity] = total.get(quantity, 0.0) + weight * coefficient
    return {q: c for q, c in total.items() if c != 0.0}


def level_numbers(
    study: Study, levels: Iterable[tuple[Terms, float, float]]
) -> Iterator[ComparedNumber]:
    """Yield levels (terms, lowest and highest value), without those that are always 0."""
    for terms, low, high in levels:
        if terms:
            units = {study.quantities[q.name].unit if abs(c) == 1 else "" for q, c in terms.items()}
            unit = f" {units.pop()}".rstrip() if len(units) == 1 else ""
            yield ComparedNumber(terms, low, high, unit=unit, bounds=_bounds(study, terms))


def open_at_bounds(
    study: Study, part: Expression, low: float, high: float
) -> Iterator[ComparedNumber]:
    """Yield a level whose limits at the natural bounds of its quantities are replaced by infinity.

    An interval of 99.93 to 100.03 % does not contradict 98 to 100 %: it is symmetric, and values
    above 100 % are impossible.
    """
    terms = terms_of(part)
    least, most = _bounds(study, terms)
    ends = (-math.inf if low <= least else low), (math.inf if high >= most else high)
    yield from level_numbers(study, [(terms, *ends)])


def order_numbers(
    study: Study, steps: Iterable[tuple[Expression, Expression]], *, strict: bool
) -> Iterator[ComparedNumber]:
    """Yield the orders of (smaller, larger), without equal sides."""
    for smaller, larger in ((terms_of(a), terms_of(b)) for a, b in steps):
        if smaller != larger:
            units = {study.quantities[q.name].unit for q in (*smaller, *larger)}
            unit = f" {units.pop()}".rstrip() if len(units) == 1 else ""
            least = study.quantities[next(iter(smaller)).name].resolution if strict else 0.0
            if strict and not least:
                least = MORE_THAN_ZERO
            yield ComparedNumber(larger, least, math.inf, under=smaller, unit=unit, order=True)


def _bounds(study: Study, terms: Terms) -> tuple[float, float]:
    """Natural bounds of a linear combination, from those of its quantities."""
    sides = [
        sorted((c * study.quantities[q.name].low, c * study.quantities[q.name].high))
        for q, c in terms.items()
    ]
    return sum(side[0] for side in sides), sum(side[1] for side in sides)
