"""A claim's numbers and verdicts in words: what is printed, what the other claims allow."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any

from virtperf.exhibits.data import StudyData
from virtperf.exhibits.wording import NO_BREAK, as_precise, interval, pretty
from virtperf.study.claims import NUMBERED, Claim
from virtperf.study.definition import Study

_PRINTED = {
    "ordering": "only an order",
    "argmax": "the place of the peak",
    "argmin": "the place of the low",
    "linear": "a straight line",
    "concave": "no upward bend",
    "sum": "a sum",
    "relative_mean": "a mean",
    "response_law": "clients, throughput and response time",
}
_DIRECTIONS = {
    "increasing": "a rise",
    "decreasing": "a fall",
    "nonincreasing": "no rise",
    "nondecreasing": "no fall",
}
_WITHOUT_NUMBER = {
    "corroborated": "only this", "independent": "this or something else", "contradicted": "something else only",
    "depends": "this or not, depending on what is set aside",
}  # fmt: skip


@dataclass(frozen=True)
class Said:
    """A claim in words: its number, what the other claims allow, both verdicts; what measured runs give, or ""."""

    printed: str
    allowed: str
    text_verdict: str
    measured_verdict: str
    measured: str
    reason: str


def said(claim: Claim, data: StudyData) -> Said:
    """What tables say of a claim."""
    result, unit = data.result(claim.id), unit_of(claim, data.study)
    reason = result.get("reason")
    return Said(
        printed(claim, unit), implied(claim, result, unit), *verdict_words(claim, result),
        measured=estimate_words(result, unit),
        reason=reason if isinstance(reason, str) else "",
    )  # fmt: skip


def unit_of(claim: Claim, study: Study) -> str:
    """`` %`` or `` points`` for quantities in percent and their differences; other units stand in the claim's words."""
    if claim.kind == "percent_change":
        return f"{NO_BREAK}%"
    names = {q.name for instance in claim.instances for part in instance.parts for _, q in part.terms}
    percent = bool(names) and all(study.quantities[name].unit.startswith("%") for name in names)
    if not percent or claim.kind not in ("value", "range", "difference", "ordering"):
        return ""
    return f"{NO_BREAK}%" if claim.kind in ("value", "range") else f"{NO_BREAK}points"


def printed(claim: Claim, unit: str = "") -> str:
    """The printed number with what its rounding leaves open, or the kind of relation where no number is printed."""
    limits = interval(claim.low, claim.high, unit)
    if claim.value is not None:
        shown = f"{pretty(claim.value)}{unit}"
        exact = claim.low == claim.high == claim.value
        if exact or limits == "anything":
            return shown
        # Limits that round to one number are told by their distance: 22,990 (±0.5).
        near = pretty(claim.low) == pretty(claim.high)
        return f"{shown} (±{pretty((claim.high - claim.low) / 2)}{unit})" if near else f"{shown} ({limits})"
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
    """What all other claims together allow for the claim's number, or for what it says without one."""
    if not {"implied_low", "implied_high"} <= result.keys():
        return "not computed"
    low, high = float(result["implied_low"]), float(result["implied_high"])
    limits = interval(low, high, unit)
    if limits == "anything":
        word = str(result.get("text_verdict", ""))
        return limits if claim.kind in NUMBERED else _WITHOUT_NUMBER.get(word, limits)
    if claim.kind == "ordering":
        return _order(low, high, unit, sure=result.get("text_verdict") != "contradicted")
    return f"a ratio of {limits}" if claim.kind == "equivalence" else limits


def _order(low: float, high: float, unit: str, *, sure: bool) -> str:
    """An order by its difference, which is positive where the order is the one that the claim states.

    `sure` False: the claim orders several pairs, and for one of them the other claims leave only the reverse.
    """
    if low == high == 0:
        return "no difference"
    if not math.isnan(low) and low >= 0:
        return f"this order, by {interval(low, high, unit)}"
    if high <= 0:
        return f"the reverse, by {interval(-high, -low, unit)}"
    return f"{'either order' if sure else 'not always'}: {interval(low, high, unit)}"


def estimate_words(result: dict[str, Any], unit: str) -> str:
    """The estimate from measured runs with its interval, ``66.2 (64.5 to 67.9) %``; empty where there is none."""
    values = [float(result.get(name, math.nan)) for name in ("estimate", "estimate_low", "estimate_high")]
    if not math.isfinite(values[0]):
        return ""
    shown, low, high = as_precise(values[0], values[1], values[2])
    return f"{shown}{unit}" if low == high else f"{shown} ({low} to {high}){unit}"


def verdict_counts(data: StudyData) -> tuple[Counter[str], Counter[str]]:
    """The paper's claims by verdict: by its other claims, and by measured runs."""
    words = [verdict_words(claim, data.result(claim.id)) for claim in data.paper_claims]
    return Counter(text for text, _ in words), Counter(measured for _, measured in words)


def verdict_words(claim: Claim, result: dict[str, Any]) -> tuple[str, str]:
    """Both verdicts on a claim: by the paper's other claims, and by measured runs."""

    def word(name: str, otherwise: str) -> str:
        value = result.get(name)
        return value if isinstance(value, str) and value else otherwise

    absent = "assumed" if claim.assumed else "not computed"
    return word("text_verdict", absent), word("measured_verdict", "no measurement")
