"""Linear inequalities between quantities, derived from claims.

On the scale of levels every relation of a claim is linear: "a is 66 % higher than b, printed to
whole percents" is ``1.655 b <= a <= 1.665 b``. A claim is the conjunction of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import assert_never

import numpy as np

from virtperf.study.claims import Claim
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Instance, Quantity


@dataclass(frozen=True)
class Inequality:
    """The inequality ``sum of coefficient x quantity <= bound``.

    `claim` is "" for natural bounds and conventions.
    """

    claim: str
    terms: tuple[tuple[Quantity, float], ...]
    bound: float


def claim_rows(study: Study, claim: Claim) -> list[Inequality]:
    """Rows of a claim; `study` gives the resolution that a strict ordering must exceed."""
    return [row for instance in claim.instances for row in _instance_rows(study, claim, instance)]


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


def _limits(
    claim: Claim, low: float, high: float, of: Expression, to: Expression | None = None
) -> list[Inequality]:
    """Rows for ``low <= of <= high``, or ``low x to <= of <= high x to`` where `to` is given."""
    rows = []
    for sign, end in ((1.0, high), (-1.0, low)):
        if not np.isfinite(end):
            continue
        if to is None:
            rows.append(combined_row(claim.id, sign * end, (sign, of)))
        else:
            rows.append(combined_row(claim.id, 0.0, (sign, of), (-sign * end, to)))
    return rows


def margin_factors(claim: Claim) -> tuple[float, float]:
    """Lower and upper factor of a margin: a is within it of b iff b is within it of a."""
    return 1 / (1 + claim.margin), 1 + claim.margin


def _steps(
    study: Study, claim: Claim, pairs: Iterable[tuple[Expression, Expression]], strict: bool
) -> list[Inequality]:
    """Rows for ``smaller <= larger``, if strict by at least the quantity's resolution."""
    rows = []
    for smaller, larger in pairs:
        margin = study.quantities[smaller.terms[0][1].name].resolution if strict else 0.0
        rows.append(combined_row(claim.id, -margin, (1, smaller), (-1, larger)))
    return rows


def _slopes(instance: Instance) -> list[Expression]:
    gaps = np.diff(instance.axis)
    return [
        Expression(
            tuple((c / gap, q) for c, q in right.terms)
            + tuple((-c / gap, q) for c, q in left.terms)
        )
        for left, right, gap in zip(instance.parts, instance.parts[1:], gaps, strict=False)
    ]


def _instance_rows(study: Study, claim: Claim, instance: Instance) -> list[Inequality]:
    parts, low, high = instance.parts, claim.low, claim.high
    first, *others = parts
    match claim.kind:
        case "value" | "range":
            return _limits(claim, low, high, first)
        case "ratio":
            return _limits(claim, low, high, *parts)
        case "percent_change":
            return _limits(claim, 1 + low / 100, 1 + high / 100, *parts)
        case "difference":
            return _limits(claim, low, high, first.minus(*others))
        case "sum":
            low, high = (low, high) if np.isfinite(low) else (0.0, 0.0)
            return _limits(claim, low, high, first.minus(*others))
        case "equivalence":
            return _limits(claim, *margin_factors(claim), *parts)
        case "ordering":
            return _steps(study, claim, pairwise(parts), claim.strict)
        case "argmax":
            return _steps(study, claim, ((other, first) for other in others), claim.strict)
        case "argmin":
            return _steps(study, claim, ((first, other) for other in others), claim.strict)
        case "monotone":
            ascending = parts if claim.direction in ("increasing", "nondecreasing") else parts[::-1]
            return _steps(
                study, claim, pairwise(ascending), claim.direction in ("increasing", "decreasing")
            )
        case "concave":
            return [
                combined_row(claim.id, 0.0, (1, later), (-1, earlier))
                for earlier, later in pairwise(_slopes(instance))
            ]
        case "linear":
            slopes = _slopes(instance)
            pairs = combinations(slopes, 2) if claim.margin else pairwise(slopes)
            return [
                row
                for earlier, later in pairs
                for row in _limits(claim, *margin_factors(claim), later, earlier)
            ]
        case "rule":
            limited = zip(parts, claim.bounds, strict=True)
            return [row for part, ends in limited for row in _limits(claim, *ends, part)]
        case "relative_mean":  # derived from the ranges of its parts (`feasible.mean_rows`)
            return []
    assert_never(claim.kind)
