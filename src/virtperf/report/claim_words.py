"""Text for a claim: printed number, range implied by the other claims, verdicts, computed
relations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from virtperf.report.frames import StudyData
from virtperf.report.wording import (
    NO_BREAK,
    as_precise,
    interval,
    placed_verdict,
    plural,
    pretty,
    shown_verdict,
)
from virtperf.study.claims import NUMBERED, Claim, Instance
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression, Quantity

_PRINTED = {
    "ordering": "only an order",
    "argmax": "the position of the maximum",
    "argmin": "the position of the minimum",
    "linear": "a straight line",
    "concave": "a concave curve",
    "sum": "a sum",
    "relative_mean": "a mean",
}
_DIRECTIONS = {
    "increasing": "a rise",
    "decreasing": "a fall",
    "nonincreasing": "no rise",
    "nondecreasing": "no fall",
}
_WITHOUT_NUMBER = {
    "corroborated": "this claim",
    "independent": "not determined",
    "contradicted": "not this claim",
    "depends": "this claim or not, depending on the claims set aside",
}


TAKEN_FROM = {
    "quotation": "Quoted word for word in a public text.",
    "report": "Reported in a public text.",
    "memory": "From memory, not checked in the paper.",
}
"""By `Claim.taken_from`, for a claim whose paper was not available."""


@dataclass(frozen=True)
class ClaimWords:
    """A claim as text: printed number, range implied by the other claims, both verdicts; the
    estimate from measured runs, or "".

    `text_verdict` is the verdict of the stage tables, `shown` its display label.
    """

    printed: str
    allowed: str
    text_verdict: str
    measured_verdict: str
    measured: str
    reason: str
    shown: str


def sections_sentence(claim: Claim) -> str:
    """Sections of the paper that state a claim, with a full stop unless the last title has its own
    punctuation; "" without sections.
    """
    titles = "; ".join(claim.sections)
    return titles if not titles or titles.endswith(("?", "!", ".")) else f"{titles}."


def claim_in_words(claim: Claim, data: StudyData) -> ClaimWords:
    """Text of a claim for tables."""
    result, unit = data.result(claim.id), unit_of(claim, data.study)
    values = [
        float(result.get(name, math.nan)) for name in ("estimate", "estimate_low", "estimate_high")
    ]
    value, low, high = as_precise(*values)
    measured = f"{value}{unit}" if low == high else f"{value} ({low} to {high}){unit}"
    reason = result.get("reason")
    verdicts = verdict_words(claim, result)
    return ClaimWords(
        printed_number(claim, unit),
        implied(claim, result, unit),
        *verdicts,
        measured=measured if math.isfinite(values[0]) else "",
        reason=reason if isinstance(reason, str) else "",
        shown=placed_verdict(verdicts[0], claim.n_places),
    )


def unit_of(claim: Claim, study: Study) -> str:
    """Unit suffix of percentages (`` %``) and their differences (`` points``), else ""; other units
    are part of the claim's wording.
    """
    if claim.kind == "percent_change":
        return f"{NO_BREAK}%"
    names = {
        q.name for instance in claim.instances for part in instance.parts for _, q in part.terms
    }
    percent = bool(names) and all(study.quantities[name].unit.startswith("%") for name in names)
    if not percent or claim.kind not in ("value", "range", "difference", "ordering"):
        return ""
    return f"{NO_BREAK}%" if claim.kind in ("value", "range") else f"{NO_BREAK}points"


def printed_number(claim: Claim, unit: str = "") -> str:
    """The printed number with its rounding interval, or the kind of relation if there is no number."""
    limits = interval(claim.low, claim.high, unit)
    if claim.value is not None:
        shown = f"{pretty(claim.value)}{unit}"
        exact = claim.low == claim.high == claim.value
        if exact or limits == "anything":
            return shown
        # limits that round to the same number are shown as a half-width: 22,990 (±0.5)
        near = pretty(claim.low) == pretty(claim.high)
        return (
            f"{shown} (±{pretty((claim.high - claim.low) / 2)}{unit})"
            if near
            else f"{shown} ({limits})"
        )
    if limits != "anything":
        return limits
    if claim.kind == "monotone":
        return _DIRECTIONS.get(claim.direction, "one direction")
    if claim.kind == "equivalence":
        return f"equal within {pretty(100 * claim.margin)}{NO_BREAK}%" if claim.margin else "equal"
    if claim.kind == "rule":
        return f"a line, {pretty(claim.intercept)} + {pretty(claim.slope)}{NO_BREAK}x"
    return _PRINTED.get(claim.kind, claim.kind)


def implied(claim: Claim, result: dict[str, Any], unit: str = "") -> str:
    """Range of the claim's number implied by all other claims; for a claim without a number, the
    implied outcome.
    """
    if not {"implied_low", "implied_high"} <= result.keys():
        return "not computed"
    low, high = float(result["implied_low"]), float(result["implied_high"])
    limits = interval(low, high, unit)
    if limits == "anything":
        word = str(result.get("text_verdict", ""))
        return limits if claim.kind in NUMBERED else _WITHOUT_NUMBER.get(word, limits)
    if claim.kind == "ordering":
        return _order(low, high, unit, single_pair=result.get("text_verdict") != "contradicted")
    return f"a ratio of {limits}" if claim.kind == "equivalence" else limits


def _order(low: float, high: float, unit: str, *, single_pair: bool) -> str:
    """Format an order by its difference, positive where the stated order holds.

    `single_pair` False: the claim orders several pairs, and the other claims imply the opposite for one.
    """
    if low == high == 0:
        return "no difference"
    if not math.isnan(low) and low >= 0:
        return f"this order, by {interval(low, high, unit)}"
    if high <= 0:
        return f"the opposite order, by {interval(-high, -low, unit)}"
    return f"{'either order' if single_pair else 'not always'}: {interval(low, high, unit)}"


def verdict_counts(data: StudyData) -> tuple[Counter[str], Counter[str]]:
    """Count the paper's claims by displayed text verdict, and by measured verdict."""
    words = [(c, *verdict_words(c, data.result(c.id))) for c in data.paper_claims]
    return (
        Counter(shown_verdict(text, claim.n_places) for claim, text, _ in words),
        Counter(measured for _, _, measured in words),
    )


def verdict_words(claim: Claim, result: dict[str, Any]) -> tuple[str, str]:
    """Verdicts on a claim in the stage tables: by the paper's other claims, and by measured runs."""
    absent = "assumed" if claim.assumed else "not computed"
    text, measured = (result.get(name) for name in ("text_verdict", "measured_verdict"))
    return (
        text if isinstance(text, str) and text else absent,
        measured if isinstance(measured, str) and measured else "no measurement",
    )


MAX_SHOWN_RELATIONS = 3  # relations of one claim that are written out
_RELATIONS = {
    "increasing": " < ",
    "decreasing": " > ",
    "nonincreasing": " ≥ ",
    "nondecreasing": " ≤ ",
}


def relations(claim: Claim, study: Study, about: Set[Quantity] = frozenset()) -> list[str]:
    """Text of the claim's first relations; relations with a quantity in `about` come first.

    Quantities are written with their levels: ``throughput (Xen, 12 guests) ÷ throughput (12
    guests): 0.59 to 0.61``.
    """
    ordered = sorted(claim.instances, key=lambda instance: not about & quantities(instance))
    written = [_relation(claim, instance, study) for instance in ordered[:MAX_SHOWN_RELATIONS]]
    hidden = len(ordered) - len(written)
    return [*written, f"and {plural(hidden, 'relation')} of the same form"] if hidden else written


def quantities(instance: Instance) -> set[Quantity]:
    """Quantities in a relation."""
    return {quantity for part in instance.parts for _, quantity in part.terms}


def _relation(claim: Claim, instance: Instance, study: Study) -> str:
    parts = [_sum(part, study) for part in instance.parts]
    unit = (
        study.quantities[instance.parts[0].terms[0][1].name].unit if instance.parts[0].terms else ""
    )
    unit = NO_BREAK + unit if unit not in ("", "1", "count") else ""
    limits = interval(claim.low, claim.high, "" if claim.kind == "ratio" else unit)
    axis = ", ".join(map(pretty, instance.axis))
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
        case "argmax" | "argmin":
            signs = "≥>" if claim.kind == "argmax" else "≤<"
            return f"{parts[0]} {signs[claim.strict]} each of {'; '.join(parts[1:])}"
        case "monotone":
            return _RELATIONS[claim.direction].join(parts)
        case "sum":
            if math.isfinite(claim.low):
                return f"{parts[0]} − ({' + '.join(parts[1:])}): {limits}"
            return f"{parts[0]} = {' + '.join(parts[1:])}"
        case "relative_mean":
            shares = "; ".join(
                f"{part} ÷ {to}" for part, to in zip(parts[1::2], parts[2::2], strict=True)
            )
            return f"{parts[0]} = 100 % × the mean of {shares}"
        case "linear":
            room = f" within {pretty(100 * claim.margin)}{NO_BREAK}%" if claim.margin else ""
            return f"on one line over {axis}{room}: {'; '.join(parts)}"
        case "rule":
            limited = zip(parts, claim.bounds, strict=True)
            return "; ".join(
                f"{part}: {interval(low, high, unit)}" for part, (low, high) in limited
            )
        case "concave":
            return f"concave over {axis}: {'; '.join(parts)}"
        case _:
            return f"clients = {parts[1]} × ({parts[0]} + think time)"


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
