"""Text for a claim: printed number, range implied by the other claims, verdicts, computed
relations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any

from virtperf.core.numbers import NO_BREAK, interval, plural, pretty, rounded, with_interval
from virtperf.core.verdicts import Verdict
from virtperf.report.frames import StudyData
from virtperf.report.wording import placed_verdict, shown_verdict
from virtperf.study.claim_kinds.order import OrderClaim
from virtperf.study.claims import Claim
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity, quantities_of

_WITHOUT_NUMBER: Mapping[str, str] = {
    Verdict.CORROBORATED: "this claim",
    Verdict.INDEPENDENT: "not determined",
    Verdict.CONTRADICTED: "not this claim",
    Verdict.DEPENDS: "this claim or not, depending on the claims set aside",
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
    result, unit = data.result(claim.id), claim.unit_suffix(data.study)
    reason = result.get("reason")
    verdicts = verdict_words(claim, result)
    return ClaimWords(
        claim.printed_number(unit),
        implied(claim, result, unit),
        *verdicts,
        measured=estimate_words(claim, data.study, result),
        reason=reason if isinstance(reason, str) else "",
        shown=placed_verdict(verdicts[0], claim.n_places),
    )


def estimate_unit(claim: Claim, study: Study, result: Mapping[Any, Any]) -> str:
    """Unit of the runs' estimate with the space before it; "" for a ratio."""
    if claim.is_order and result.get("allowed_low") == 0:  # a difference of the sides
        return number_unit(claim, study)
    return claim.unit_suffix(study)


def estimate_words(claim: Claim, study: Study, result: Mapping[Any, Any]) -> str:
    """The runs' estimate in a row of verdicts with its interval, if it has one, and unit; the ratio of
    an order's sides says which one it divides by which. Digits show on which side of the claim's limits,
    and of no change, the interval ends. "" without an estimate.
    """
    value, low, high = (
        float(result.get(name, math.nan)) for name in ("estimate", "estimate_low", "estimate_high")
    )
    if not math.isfinite(value):
        return ""
    unit = estimate_unit(claim, study, result)
    finite = math.isfinite(low) and math.isfinite(high)
    beside = [float(result.get(f"allowed_{end}", math.nan)) for end in ("low", "high")]
    if claim.unit_cancels:
        beside.append(0.0 if unit else 1.0)  # no change
    words = (
        with_interval(value, low, high, unit, beside=beside) if finite else f"{pretty(value)}{unit}"
    )
    if isinstance(claim, OrderClaim) and float(result.get("allowed_low", math.nan)) > 0:  # a ratio
        words += compared_sides(claim, study)
    return words


def compared_sides(claim: OrderClaim, study: Study) -> str:
    """The larger side of an order over the smaller one, by the levels in which they differ:
    ``, 8 guests / 2 guests``; "" for several pairs, or sides of several terms.
    """
    steps = [step for instance in claim.instances[:1] for step in claim.steps(instance.parts)]
    if len(steps) != 1 or any(len(side.terms) != 1 for side in steps[0]):
        return ""
    smaller, larger = (side.terms[0][1] for side in steps[0])
    differ = [name for name, level in larger.at if smaller.level(name) != level]
    sides = (
        ", ".join(study.level_words(name, side.level(name)) for name in differ)
        for side in (larger, smaller)
    )
    return f", {' / '.join(sides)}" if differ else ""


def number_unit(claim: Claim, study: Study) -> str:
    """Unit of the numbers of a claim with the space before it, ``" s"``; "" for ratios and numbers of
    several units.
    """
    if suffix := claim.unit_suffix(study):
        return suffix
    named = {q.name for q in claim.quantities}
    units = {study.quantities[name].unit for name in named}
    if len(units) != 1 or not (claim.is_order or (claim.numbered and not claim.unit_cancels)):
        return ""
    (unit,) = units - {"count"} or {""}
    return f"{NO_BREAK}{unit}".rstrip()


MAX_SYMBOL = 4  # characters of a unit's symbol with its space; a longer unit is a word


def implied(claim: Claim, result: dict[str, Any], unit: str = "") -> str:
    """Range of the claim's number implied by all other claims; for a claim without a number, the
    implied outcome.
    """
    if not {"implied_low", "implied_high"} <= result.keys():
        return "not computed"
    low, high = rounded(float(result["implied_low"]), float(result["implied_high"]))
    if low == high == 1 and "/" not in unit and len(unit) > MAX_SYMBOL:
        unit = unit.removesuffix("s")
    limits, verdict = interval(low, high, unit), str(result.get("text_verdict", ""))
    if limits == "anything":
        return limits if claim.numbered else _WITHOUT_NUMBER.get(verdict, limits)
    return claim.implied_words(low, high, unit, single_pair=verdict != Verdict.CONTRADICTED)


def verdict_counts(data: StudyData) -> tuple[Counter[str], Counter[str]]:
    """Count the paper's claims by displayed text verdict, and by measured verdict."""
    words = [(c, *verdict_words(c, data.result(c.id))) for c in data.paper_claims]
    return (
        Counter(shown_verdict(text, claim.n_places) for claim, text, _ in words),
        Counter(measured for _, _, measured in words),
    )


def verdict_words(claim: Claim, result: dict[str, Any]) -> tuple[str, str]:
    """Verdicts on a claim in the stage tables: by the paper's other claims, and by measured runs."""
    absent = Verdict.ASSUMED if claim.assumed else "not computed"
    text = result.get("text_verdict")
    return text if isinstance(text, str) and text else absent, measured_verdict(result)


def measured_verdict(result: Mapping[Any, Any]) -> str:
    """Verdict of measured runs in a row of the verdicts table."""
    verdict = result.get("measured_verdict")
    return verdict if isinstance(verdict, str) and verdict else Verdict.NO_MEASUREMENT


MAX_SHOWN_RELATIONS = 3  # relations of one claim that are written out


def relations(claim: Claim, study: Study, about: Set[Quantity] = frozenset()) -> list[str]:
    """Text of the claim's first relations; relations with a quantity in `about` come first.

    Quantities are written with their levels: ``throughput (Xen, 12 guests) ÷ throughput (12
    guests): 0.59 to 0.61``.
    """
    ordered = sorted(
        claim.instances, key=lambda instance: about.isdisjoint(quantities_of(instance.parts))
    )
    written = [claim.relation_words(study, instance) for instance in ordered[:MAX_SHOWN_RELATIONS]]
    hidden = len(ordered) - len(written)
    return [*written, f"and {plural(hidden, 'relation')} of the same form"] if hidden else written
