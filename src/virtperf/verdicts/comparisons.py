"""From a claim to the numbers of measured means that it compares, each with the range that it
allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from virtperf.core.mean import Mean
from virtperf.study.claims import NUMBERED, Claim, Instance
from virtperf.study.constraints import Row, claim_rows
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity
from virtperf.verdicts.regions import Comparison

TOLERANCE = 0.02
"""Widening of a printed number's limits, as a share: two laboratories agree less closely than a
number is printed.
"""
RATIOS = ("ratio", "percent_change", "equivalence")
ORDERS = ("ordering", "argmax", "argmin", "monotone")

Terms = dict[Quantity, float]


def comparisons(
    study: Study, claim: Claim, means: Mapping[Quantity, Mean]
) -> tuple[list[Comparison], int]:
    """Those of a claim's comparisons whose conditions were all measured, and how many it makes.

    The ranges are those of the claim's rows (`reconstruct.constraints`), widened by `TOLERANCE` for
    printed numbers, sums and plain equality: a ratio or a level by a share of its limits, a
    difference by that share of the mean size of its two sides. A level on a relative scale is a
    ratio to the mean of its reference point, which has an error too; ratios and orders need no
    scale. An order that is strict asks for a difference of the quantity's resolution, and for any
    difference where the reference point was not measured. `means` are in the units in which runs
    observe them.
    """
    label = _labels(study, claim)
    numbers = [
        number for instance in claim.instances for number in _numbers(study, claim, instance)
    ]
    scaled = [(number, _scaled(study, claim, number, means)) for number in numbers]
    return [
        _comparison(claim, found, means, label(number)) for number, found in scaled if found
    ], len(numbers)


@dataclass(frozen=True)
class _Number:
    """``over / under``, or ``over`` where `under` is empty, and its limits; `unit` None where it is
    not the claim's.
    """

    over: Terms
    low: float
    high: float
    under: Terms = field(default_factory=dict)
    unit: str | None = ""


def _numbers(study: Study, claim: Claim, instance: Instance) -> Iterator[_Number]:
    rows = [
        row
        for row in claim_rows(study, claim.model_copy(update={"instances": (instance,)}))
        if any(_of(row).values())
    ]
    if claim.kind in RATIOS:
        yield _ratio(claim, instance, rows)
        return
    limits: dict[tuple[tuple[Quantity, float], ...], tuple[float, float]] = {}
    for row in rows:
        upper = (
            row.terms[0][1] > 0 and claim.kind not in ORDERS
        )  # an order's number is the larger less the smaller
        terms = row.terms if upper else tuple((q, -c) for q, c in row.terms)
        low, high = limits.get(terms, (-math.inf, math.inf))
        limits[terms] = (low, min(high, row.bound)) if upper else (max(low, -row.bound), high)
    for terms, (low, high) in limits.items():
        units = {study.quantities[q.name].unit if abs(c) == 1 else "" for q, c in terms}
        yield _Number(
            dict(terms), low, high, unit=f" {units.pop()}".rstrip() if len(units) == 1 else ""
        )


def _ratio(claim: Claim, instance: Instance, rows: list[Row]) -> _Number:
    """Its rows are multiples of ``of - high to`` and ``low to - of``; the limits are in their
    coefficients.
    """
    of, to = ({q: c for c, q in part.terms} for part in instance.parts)
    quantities = sorted({*of, *to})
    sides = np.array([[side.get(q, 0.0) for side in (of, to)] for q in quantities])
    low, high = -math.inf, math.inf
    for row in rows:
        a, b = np.linalg.lstsq(sides, np.array([_of(row).get(q, 0.0) for q in quantities]))[0]
        low, high = (low, min(high, -b / a)) if a > 0 else (max(low, -b / a), high)
    if claim.kind != "percent_change":
        return _Number(of, low, high, under=to)
    change = {q: 100 * (of.get(q, 0.0) - to.get(q, 0.0)) for q in quantities}
    return _Number(change, 100 * (low - 1), 100 * (high - 1), under=to, unit=" %")


def _scaled(
    study: Study, claim: Claim, number: _Number, means: Mapping[Quantity, Mean]
) -> _Number | None:
    """The number on the claim's scale; None where a mean that it needs was not measured."""
    if not {*number.over, *number.under} <= means.keys():
        return None
    references = {study.reference_for(q) for q in number.over}
    if number.under or references == {None}:
        return number
    reference = references.pop() if len(references) == 1 else None
    if reference is not None and reference[0] in means and means[reference[0]].value:
        point, hundred = reference
        if claim.kind not in ORDERS:
            return replace(number, under={point: 1 / hundred})
        unit = hundred / means[point].value
        return replace(number, over={q: c * unit for q, c in number.over.items()})
    if claim.kind in ORDERS:
        return replace(number, low=min(number.low, math.ulp(0.0)), unit=None)
    return (
        replace(number, unit=None)
        if {number.low, number.high} <= {0.0, -math.inf, math.inf}
        else None
    )


def _comparison(
    claim: Claim, number: _Number, means: Mapping[Quantity, Mean], label: str
) -> Comparison:
    quantities = list(dict.fromkeys((*number.over, *number.under)))
    over = np.array([*(number.over.get(q, 0.0) for q in quantities), 0.0])
    under = np.array(
        [*(number.under.get(q, 0.0) for q in quantities), 0.0 if number.under else 1.0]
    )
    found = Comparison(
        tuple(means[q] for q in quantities),
        over,
        under,
        number.low,
        number.high,
        label,
        unit=number.unit,
    )
    if not (
        claim.kind in (*NUMBERED, "sum") or (claim.kind == "equivalence" and claim.margin == 0)
    ):
        return found
    low, high = number.low, number.high
    if claim.kind == "percent_change":
        low, high = (100 * (limit - 1) for limit in _wider(1 + low / 100, 1 + high / 100))
    elif claim.kind in RATIOS or len({math.copysign(1, c) for c in number.over.values()}) == 1:
        low, high = _wider(low, high)
    else:
        room = TOLERANCE / 2 * found.size
        low, high = low - room, high + room
    return replace(found, low=low, high=high, remark=f"with {100 * TOLERANCE:g} % tolerance")


def _labels(study: Study, claim: Claim) -> Callable[[_Number], str]:
    """How to tell a claim's comparisons apart: the levels, and the quantities, that are not the
    same in all of them.
    """
    named = [q for instance in claim.instances for part in instance.parts for _, q in part.terms]
    varied = [name for name in study.factors if len({q.level(name) for q in named}) > 1]
    kinds = {q.name for q in named}

    def words(quantity: Quantity) -> str:
        kind = [study.quantities[quantity.name].label] if len(kinds) > 1 else []
        return ", ".join(
            [*kind, *(study.level_words(name, quantity.level(name)) for name in varied)]
        )

    def label(number: _Number) -> str:
        first = [q for q, c in number.over.items() if q not in number.under and c > 0]
        second = list(number.under) or [q for q, c in number.over.items() if c < 0]
        sides = (" and ".join(dict.fromkeys(map(words, side))) for side in (first, second))
        return (" to " if number.under else " minus ").join(filter(None, sides))

    return label


def _of(row: Row) -> Terms:
    return dict(row.terms)


def _wider(low: float, high: float) -> tuple[float, float]:
    return low - TOLERANCE * abs(low), high + TOLERANCE * abs(high)
