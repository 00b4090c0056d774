"""What the paper says about an exhibit: every claim with its printed number and both of its verdicts, in words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from virtperf.claims import Claim
from virtperf.exhibits import display
from virtperf.exhibits.data import StudyData, names
from virtperf.exhibits.display import Html, Shown, Table
from virtperf.exhibits.words import VERDICTS, breakable, escape, interval, number, plural, pretty, printable

_UNITS = {"percent_change": " %"}
_NUMBERED = ("value", "range", "ratio", "percent_change", "difference")
_IMPLIED_AS = {"equivalence": "a ratio of ", "ordering": "a difference of "}
_WORDS = {
    "ordering": "an order",
    "argmax": "which is highest",
    "argmin": "which is lowest",
    "linear": "a straight line",
    "concave": "no upward bend",
    "sum": "a sum",
    "response_law": "clients, throughput and response time",
}


def claims_exhibit(data: StudyData, claims: Sequence[Claim], *, anchor: str, title: str) -> Shown:
    """A table of claims: what is said and where, the printed number, what the other statements allow, the verdicts."""
    if not claims:
        return Shown(f'<p class="vp-note" id="{escape(anchor)}">No statement about this is encoded.</p>', "no claims")
    rows, text, csv = [], [], []
    for claim in claims:
        result = data.result(claim.id)
        text_verdict = _verdict(result, "text_verdict", "assumed" if claim.assumed else "not computed")
        measured = _verdict(result, "measured_verdict", "no measurement")
        rows.append(
            (
                Html(_saying(claim)), printed(claim), implied(claim, result), Html(_text_cell(text_verdict, result)),
                Html(_measured_cell(measured, result)),
            )
        )  # fmt: skip
        text.append([claim.id, _ascii(printed(claim)), _ascii(implied(claim, result)), text_verdict, measured])
        csv.append(_row(claim, result, text_verdict, measured))
    header = (
        "The paper says",
        "Printed",
        "Its other statements allow",
        "Verdict from the text",
        "Verdict from measurements",
    )
    ids = tuple(f"claim-{claim.id}" for claim in claims)
    body = display.table_html(Table(header, tuple(rows), frozenset(), ids, stacks=True), title)
    link = f'<p class="vp-links">{display.download(pd.DataFrame(csv), f"{data.study.id}-{anchor}")}</p>'
    html = f'<section class="vp-claims" id="{escape(anchor)}"><h4>{escape(printable(title))}</h4>{body}{link}</section>'
    return Shown(
        html, display.table_text(["claim", "printed", "others allow", "from the text", "from measurements"], text)
    )


def printed(claim: Claim) -> str:
    """The printed number with what its rounding leaves open, or the kind of relation where no number is printed."""
    unit = _UNITS.get(claim.kind, "")
    limits = interval(claim.low, claim.high)
    if claim.value is not None:
        shown = f"{pretty(claim.value)}{unit}"
        exact = claim.low == claim.high == claim.value
        if exact or limits == "anything":
            return shown
        # Limits that round to one number are told by their distance: 22,990 (±0.5).
        near = pretty(claim.low) == pretty(claim.high)
        return f"{shown} (±{pretty((claim.high - claim.low) / 2)}{unit})" if near else f"{shown} ({limits}{unit})"
    if limits != "anything":
        return f"{limits}{unit}"
    if claim.kind == "monotone":
        return claim.direction or "one direction"
    if claim.kind == "equivalence":
        return f"equal within {pretty(100 * claim.margin)} %" if claim.margin else "equal"
    return _WORDS.get(claim.kind, claim.kind)


def implied(claim: Claim, result: dict[str, Any]) -> str:
    """What all other statements together allow for the claim's number."""
    if not {"implied_low", "implied_high"} <= result.keys():
        return "not computed"
    limits = interval(float(result["implied_low"]), float(result["implied_high"]))
    if limits == "anything":
        return limits if claim.kind in _NUMBERED else "no number"
    return f"{_IMPLIED_AS.get(claim.kind, '')}{limits}{_UNITS.get(claim.kind, '')}"


def verdict(word: str) -> str:
    """A verdict as a badge; what it means stands in its title, and the word itself says it without colour."""
    meaning = escape(VERDICTS.get(word, ""))
    return f'<span class="vp-verdict vp-{escape(word.replace(" ", "-"))}" title="{meaning}">{escape(word)}</span>'


def _saying(claim: Claim) -> str:
    parts = [escape(printable(section)) for section in claim.sections]
    parts += [f"said {claim.statements} times"] if claim.statements > 1 else []
    small = f'<small class="vp-where">{"; ".join([*parts, f"<code>{breakable(claim.id)}</code>"])}</small>'
    reading = f'<small class="vp-where">Read as: {escape(printable(claim.reading))}</small>' if claim.reading else ""
    return f"<span>{breakable(printable(claim.says))}</span>{small}{reading}"


def _verdict(result: dict[str, Any], name: str, absent: str) -> str:
    value = result.get(name)
    return str(value) if isinstance(value, str) and value else absent


def _text_cell(word: str, result: dict[str, Any]) -> str:
    notes = []
    share = result.get("information", math.nan)
    if isinstance(share, float) and share >= 0.01:
        notes.append(f"narrows its figures by {pretty(100 * share, 2)} %")
    others = names(result.get("conflicts"))
    if others:
        links = ", ".join(f'<a href="#claim-{escape(c)}"><code>{breakable(c)}</code></a>' for c in others)
        notes.append(f"<details><summary>conflicts with {plural(len(others), 'statement')}</summary>{links}</details>")
    if str(result.get("dropped", "0")) in ("1", "True", "true"):
        notes.append("set aside in the reconstruction")
    return verdict(word) + "".join(f'<div class="vp-where">{note}</div>' for note in notes)


def _measured_cell(word: str, result: dict[str, Any]) -> str:
    notes = [
        f"{label} {pretty(result[name])} ({interval(float(result[low]), float(result[high]))})"
        for label, name, low, high in (
            ("measured", "estimate", "estimate_low", "estimate_high"),
            (
                "reconstructed runs, for comparison:",
                "reconstructed_estimate",
                "reconstructed_low",
                "reconstructed_high",
            ),
        )
        if name in result and math.isfinite(float(result[name]))
    ]
    reason = result.get("reason")
    if isinstance(reason, str) and reason and word != "no measurement":
        notes.append(printable(reason))
    return verdict(word) + "".join(f'<small class="vp-where">{escape(note)}</small>' for note in notes)


def _row(claim: Claim, result: dict[str, Any], text_verdict: str, measured: str) -> dict[str, Any]:
    return {
        "claim": claim.id, "kind": claim.kind, "says": claim.says, "section": "; ".join(claim.sections),
        "printed": claim.value, "printed_low": _finite(claim.low), "printed_high": _finite(claim.high),
        "implied_low": result.get("implied_low"), "implied_high": result.get("implied_high"),
        "text_verdict": text_verdict, "measured_verdict": measured,
        "estimate": result.get("estimate"), "estimate_low": result.get("estimate_low"),
        "estimate_high": result.get("estimate_high"), "reason": result.get("reason", ""),
    }  # fmt: skip


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _ascii(text: str) -> str:
    return text.replace("−", "-")


def count_words(counts: dict[str, int]) -> str:
    """``12 corroborated, 3 independent``."""
    return ", ".join(f"{number(float(n))} {word}" for word, n in counts.items() if n) or "none"
