"""Linear inequalities between quantities.

On the scale of levels every relation of a claim is linear: "a is 66 % higher than b, printed to
whole percents" is ``1.655 b <= a <= 1.665 b``. A claim is the conjunction of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from virtperf.study.quantities import Expression, Quantity

if TYPE_CHECKING:
    from virtperf.study.definition import Study


@dataclass(frozen=True)
class Inequality:
    """The inequality ``sum of coefficient x quantity <= bound``.

    `claim` is "" for natural bounds and conventions.
    """

    claim: str
    terms: tuple[tuple[Quantity, float], ...]
    bound: float


def natural_rows(study: Study, quantities: Iterable[Quantity]) -> list[Inequality]:
    """Rows of the quantities' natural bounds, and of reference points that fix a relative scale."""
    rows = []
    for quantity in quantities:
        kind = study.quantities[quantity.name]
        if np.isfinite(kind.low):
            rows.append(Inequality("", ((quantity, -1.0),), -kind.low))
        if np.isfinite(kind.high):
            rows.append(Inequality("", ((quantity, 1.0),), kind.high))
        for at, value in kind.references:
            if study.quantity_at(quantity.name, at) == quantity:
                rows += [
                    Inequality("", ((quantity, 1.0),), value),
                    Inequality("", ((quantity, -1.0),), -value),
                ]
    return rows


def combined_row(claim: str, bound: float, *weighted: tuple[float, Expression]) -> Inequality:
    """Row for a weighted sum of expressions that is at most `bound`."""
    total: dict[Quantity, float] = {}
    for weight, expression in weighted:
        for coefficient, quantity in expression.terms:
            total[quantity] = total.get(quantity, 0.0) + weight * coefficient
    return Inequality(claim, tuple((q, c) for q, c in total.items() if c != 0.0), bound)


def limit_rows(
    claim: str, low: float, high: float, of: Expression, to: Expression | None = None
) -> list[Inequality]:
    """Rows for ``low <= of <= high``, or ``low x to <= of <= high x to`` where `to` is given."""
    rows = []
    for sign, end in ((1.0, high), (-1.0, low)):
        if not np.isfinite(end):
            continue
        if to is None:
            rows.append(combined_row(claim, sign * end, (sign, of)))
        else:
            rows.append(combined_row(claim, 0.0, (sign, of), (-sign * end, to)))
    return rows
