"""Change detection for findings: the basis of a sentence when written against current numbers of
measured runs, verdicts of runs, and claims.

`written_for` in study.yaml stores the basis beside the sentence. A sentence without it is not
checked.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from virtperf.core.verdicts import Verdict
from virtperf.report.claim_words import verdict_words
from virtperf.report.findings import state
from virtperf.report.frames import StudyData
from virtperf.study.claims import Claim
from virtperf.study.parts import Finding

DIGEST_CHARACTERS = 8
_DIGEST_FIELDS: Mapping[str, Any] = {
    **dict.fromkeys(("kind", "of", "to", "over", "direction", "word"), ""),
    **dict.fromkeys(("order", "parts", "levels"), ()),
    "relative_to": {},
    "for_each": {},
    **dict.fromkeys(("at", "value", "half_width"), None),
    **dict.fromkeys(("intercept", "slope", "intercept_half_width", "slope_half_width"), 0.0),
    "strict": True,
}
"""Fields of a claim in its digest (not its wording, and not its location), with their values where
the kind has no such field.
"""
_LIMIT_FIELDS = ("low", "high", "margin")
"""Further digest fields of a claim without a word; the limits of a word depend on the reading."""


def basis(data: StudyData, finding: Finding, level: float) -> dict[str, str]:
    """Current basis of a finding, by the names of its numbers and the ids of its claims.

    A number is stored as formatted in the sentence, a claim as a digest of its fields with the
    verdict of runs. Raises `StudyError` as `findings.state` does.
    """
    known = {claim.id: claim for claim in data.claims or ()}
    numbers = state(data, finding, level).numbers
    values = {name: number.text for name, number in numbers.items()}
    for name in dict.fromkeys((*finding.claims, *(name for name, _ in finding.quoted))):
        if name in known:
            verdict = verdict_words(known[name], data.result(name))[1]
            judged = f", {verdict}" if verdict != Verdict.NO_MEASUREMENT else ""
            values[name] = f"{_digest(known[name])}{judged}"
    return values


def changes(data: StudyData, finding: Finding, level: float) -> tuple[str, ...]:
    """Changes since the sentence was written, in words; empty without `written_for`."""
    if not finding.written_for:
        return ()
    before, now = finding.written_for, basis(data, finding, level)
    known = {claim.id: claim for claim in data.claims or ()}
    return tuple(
        words
        for name in dict.fromkeys((*now, *before))
        if before.get(name) != now.get(name)
        for words in [_change(known.get(name), name, before.get(name), now.get(name))]
    )


def _change(claim: Claim | None, name: str, before: str | None, now: str | None) -> str:
    what = f"the claim “{claim.says.rstrip('.')}”" if claim else f"the number {name}"
    if before is None:
        return f"it also rests on {what}"
    if now is None:
        return f"it no longer rests on {name}"
    if claim is None:
        return f"{what} was {before}, is {now}"
    (old_value, _, verdict), (new_value, _, present) = before.partition(", "), now.partition(", ")
    if old_value != new_value:
        return f"{what} was changed"
    return f"the verdict on {what} was {verdict or 'open'}, is {present or 'open'}"


def _digest(claim: Claim) -> str:
    fields = {name: getattr(claim, name, absent) for name, absent in _DIGEST_FIELDS.items()}
    if not claim.word:
        fields |= {name: getattr(claim, name) for name in _LIMIT_FIELDS}
    text = json.dumps(fields, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:DIGEST_CHARACTERS]
