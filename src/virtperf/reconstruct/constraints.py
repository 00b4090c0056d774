"""From claims to linear inequalities between quantities.

In level space every relation of a claim is linear: "a is 66 % higher than b, printed to whole percents" is
``1.655 b <= a <= 1.665 b``. A claim is the conjunction of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise

import numpy as np

from virtperf.study.claims import Claim
from virtperf.study.definition import Study
from virtperf.study.instances import Instance
from virtperf.study.quantities import Expression, Quantity


@dataclass(frozen=True)
class Row:
    """The inequality ``sum of coefficient x quantity <= bound``; `claim` is "" for natural bounds and conventions."""

    claim: str
    terms: tuple[tuple[Quantity, float], ...]
    bound: float


def claim_rows(study: Study, claim: Claim) -> list[Row]:
    """The rows of a claim; `study` gives the resolution that a strict ordering must exceed."""
    return [row for instance in claim.instances for row in _RULES[claim.kind](study, claim, instance)]


def natural_rows(study: Study, quantities: Iterable[Quantity]) -> list[Row]:
    """Natural bounds of the quantities and the reference points that fix a relative scale."""
    rows = []
    for quantity in quantities:
        kind = study.quantities[quantity.name]
        if np.isfinite(kind.low):
            rows.append(Row("", ((quantity, -1.0),), -kind.low))
        if np.isfinite(kind.high):
            rows.append(Row("", ((quantity, 1.0),), kind.high))
        for at, value in kind.references:
            if study.quantity_at(quantity.name, at) == quantity:
                rows += [Row("", ((quantity, 1.0),), value), Row("", ((quantity, -1.0),), -value)]
    return rows


def _row(claim: Claim, bound: float, *weighted: tuple[float, Expression]) -> Row:
    total: dict[Quantity, float] = {}
    for weight, expression in weighted:
        for coefficient, quantity in expression.terms:
            total[quantity] = total.get(quantity, 0.0) + weight * coefficient
    return Row(claim.id, tuple((q, c) for q, c in total.items() if c != 0.0), bound)


def _limits(claim: Claim, of: Expression, to: Expression | None, low: float, high: float) -> list[Row]:
    """Rows for ``low <= of <= high``, or ``low x to <= of <= high x to`` where `to` is given."""
    rows = []
    if np.isfinite(high):
        rows.append(_row(claim, high, (1, of)) if to is None else _row(claim, 0.0, (1, of), (-high, to)))
    if np.isfinite(low):
        rows.append(_row(claim, -low, (-1, of)) if to is None else _row(claim, 0.0, (-1, of), (low, to)))
    return rows


def _within(claim: Claim) -> tuple[float, float]:
    """Factors of a margin: a is within it of b where b is within it of a."""
    return 1 / (1 + claim.margin), 1 + claim.margin


def _value(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    return _limits(claim, instance.parts[0], None, claim.low, claim.high)


def _ratio(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    return _limits(claim, instance.parts[0], instance.parts[1], claim.low, claim.high)


def _percent_change(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    return _limits(claim, instance.parts[0], instance.parts[1], 1 + claim.low / 100, 1 + claim.high / 100)


def _difference(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    of, to = instance.parts
    difference = Expression(of.terms + tuple((-c, q) for c, q in to.terms))
    return _limits(claim, difference, None, claim.low, claim.high)


def _equivalence(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    return _limits(claim, instance.parts[0], instance.parts[1], *_within(claim))


def _sum(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    total, *parts = instance.parts
    terms = total.terms + tuple((-c, q) for part in parts for c, q in part.terms)
    low, high = (claim.low, claim.high) if np.isfinite(claim.low) else (0.0, 0.0)
    return _limits(claim, Expression(terms), None, low, high)


def _steps(study: Study, claim: Claim, pairs: Iterable[tuple[Expression, Expression]], strict: bool) -> list[Row]:
    """Rows saying that the first of each pair is smaller, by the quantity's resolution where strict."""
    rows = []
    for smaller, larger in pairs:
        margin = study.quantities[smaller.terms[0][1].name].resolution if strict else 0.0
        rows.append(_row(claim, -margin, (1, smaller), (-1, larger)))
    return rows


def _ordering(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    return _steps(study, claim, pairwise(instance.parts), claim.strict)


def _argmax(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    winner, *others = instance.parts
    return _steps(study, claim, ((other, winner) for other in others), claim.strict)


def _argmin(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    winner, *others = instance.parts
    return _steps(study, claim, ((winner, other) for other in others), claim.strict)


def _monotone(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    parts = instance.parts if claim.direction in ("increasing", "nondecreasing") else instance.parts[::-1]
    return _steps(study, claim, pairwise(parts), claim.direction in ("increasing", "decreasing"))


def _slopes(instance: Instance) -> list[Expression]:
    gaps = np.diff(instance.axis)
    return [
        Expression(tuple((c / gap, q) for c, q in right.terms) + tuple((-c / gap, q) for c, q in left.terms))
        for left, right, gap in zip(instance.parts, instance.parts[1:], gaps, strict=False)
    ]


def _concave(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    slopes = _slopes(instance)
    return [_row(claim, 0.0, (1, later), (-1, earlier)) for earlier, later in pairwise(slopes)]


def _linear(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    slopes = _slopes(instance)
    rows = []
    for earlier, later in combinations(slopes, 2) if claim.margin else pairwise(slopes):
        rows += _limits(claim, later, earlier, *_within(claim))
    return rows


def _rule(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    limited = zip(instance.parts, claim.bounds, strict=True)
    return [row for part, (low, high) in limited for row in _limits(claim, part, None, low, high)]


def _response_law(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    """A row that bounds nothing: it names the law's quantities, so that they belong to one group (`laws.LawSystem`)."""
    (_, response), (_, throughput) = instance.parts[0].terms[0], instance.parts[1].terms[0]
    return [Row(claim.id, ((response, 0.0), (throughput, 0.0)), 0.0)]


def _relative_mean(study: Study, claim: Claim, instance: Instance) -> list[Row]:
    """None yet: they follow from the ranges of the parts (`means.mean_rows`)."""
    return []


_RULES = {
    "value": _value, "range": _value, "ratio": _ratio, "percent_change": _percent_change, "difference": _difference,
    "equivalence": _equivalence, "sum": _sum, "ordering": _ordering, "argmax": _argmax, "argmin": _argmin,
    "monotone": _monotone, "concave": _concave, "linear": _linear, "rule": _rule, "response_law": _response_law,
    "relative_mean": _relative_mean,
}  # fmt: skip
