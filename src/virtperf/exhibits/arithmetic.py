"""A claim as the relation between quantities that was computed with."""

from __future__ import annotations

import math
from collections.abc import Set

from virtperf.exhibits.wording import NO_BREAK, interval, plural, pretty
from virtperf.study.claims import Claim, Instance
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Quantity

SHOWN = 3  # relations of one claim that are written out
_RELATIONS = {"increasing": " < ", "decreasing": " > ", "nonincreasing": " ≥ ", "nondecreasing": " ≤ "}


def relations(claim: Claim, study: Study, about: Set[Quantity] = frozenset()) -> list[str]:
    """The claim's relations, the first few of many; those that speak of a quantity in `about` come first.

    Quantities stand in words with their levels: ``throughput (Xen, 12 guests) ÷ throughput (12 guests): 0.59 to 0.61``.
    """
    ordered = sorted(claim.instances, key=lambda instance: not about & quantities(instance))
    written = [_relation(claim, instance, study) for instance in ordered[:SHOWN]]
    hidden = len(ordered) - len(written)
    return [*written, f"and {plural(hidden, 'relation')} of the same form"] if hidden else written


def quantities(instance: Instance) -> set[Quantity]:
    """What a relation speaks of."""
    return {quantity for part in instance.parts for _, quantity in part.terms}


def _relation(claim: Claim, instance: Instance, study: Study) -> str:
    parts = [_sum(part, study) for part in instance.parts]
    unit = study.quantities[instance.parts[0].terms[0][1].name].unit if instance.parts[0].terms else ""
    unit = NO_BREAK + unit if unit not in ("", "1") else ""
    limits = interval(claim.low, claim.high, "" if claim.kind == "ratio" else unit)
    match claim.kind:
        case "value" | "range":
            return f"{parts[0]}: {limits}"
        case "ratio":
            return f"{_factor(parts[0])} ÷ {_factor(parts[1])}: {limits}"
        case "difference":
            return f"{parts[0]} − {_factor(parts[1])}: {limits}"
        case "percent_change":
            change = interval(claim.low, claim.high, f"{NO_BREAK}%")
            return f"100 × ({_factor(parts[0])} ÷ {_factor(parts[1])} − 1): {change}"
        case "equivalence":
            same = interval(1 / (1 + claim.margin), 1 + claim.margin)
            return f"{_factor(parts[0])} ÷ {_factor(parts[1])}: {same}"
        case "ordering":
            return (" < " if claim.strict else " ≤ ").join(parts)
        case "argmax":
            return f"{parts[0]} {'>' if claim.strict else '≥'} each of {'; '.join(parts[1:])}"
        case "argmin":
            return f"{parts[0]} {'<' if claim.strict else '≤'} each of {'; '.join(parts[1:])}"
        case "monotone":
            return _RELATIONS[claim.direction].join(parts)
        case "sum":
            if math.isfinite(claim.low):
                return f"{parts[0]} − ({' + '.join(parts[1:])}): {limits}"
            return f"{parts[0]} = {' + '.join(parts[1:])}"
        case "relative_mean":
            shares = "; ".join(f"{part} ÷ {to}" for part, to in zip(parts[1::2], parts[2::2], strict=True))
            return f"{parts[0]} = 100 % × the mean of {shares}"
        case "linear":
            room = f" within {pretty(100 * claim.margin)}{NO_BREAK}%" if claim.margin else ""
            return f"on one line over {_axis(instance)}{room}: {'; '.join(parts)}"
        case "rule":
            limited = zip(parts, claim.bounds, strict=True)
            return "; ".join(f"{part}: {interval(low, high, unit)}" for part, (low, high) in limited)
        case "concave":
            return f"no upward bend over {_axis(instance)}: {'; '.join(parts)}"
        case _:
            return f"clients = {parts[1]} × ({parts[0]} + think time)"


def _axis(instance: Instance) -> str:
    return ", ".join(pretty(a) for a in instance.axis)


def _sum(expression: Expression, study: Study) -> str:
    """``2 × a + b − c``."""
    text = ""
    for coefficient, quantity in expression.terms:
        size = "" if abs(coefficient) == 1 else f"{pretty(abs(coefficient))} × "
        sign = (" − " if coefficient < 0 else " + ") if text else ("−" if coefficient < 0 else "")
        text += f"{sign}{size}{study.show(quantity)}"
    return text


def _factor(part: str) -> str:
    return f"({part})" if " + " in part or " − " in part else part
