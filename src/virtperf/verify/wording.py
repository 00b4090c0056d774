"""Changes as a reader sees them: numbers with as many digits as the change needs, words that differ, shifts."""

from __future__ import annotations

import math
import re

from virtperf.exhibits.wording import number, pretty
from virtperf.verify.compare import MISSING, MOVED, NEW, WITHIN, Change
from virtperf.verify.items import Item
from virtperf.verify.sheets import IN_WORDS

DIGITS = (4, 6, 8, 10, 12, 15)
_FIELDS = {
    "": "estimate", "allowed": "what the text allows", IN_WORDS: "in words",
    "allowed_without_assumptions": "what the text allows without our assumptions",
    "implied": "what the other statements allow", "text_verdict": "verdict from the text",
    "measured_verdict": "verdict from measured runs", "low_set_by": "statements that set the lower limit",
    "high_set_by": "statements that set the upper limit", "estimate": "estimate from measured runs",
    "reconstructed_estimate": "estimate from reconstructed runs",
}  # fmt: skip
_CLAUSES = re.compile(r"(?<=[.;]) ")
LONGEST = 240  # characters of one cell


def field_words(item: Item) -> str:
    """Which number of an exhibit an item is."""
    if item.kind in ("tables", "registers"):
        return item.field
    return _FIELDS.get(item.field, item.field.replace("_", " "))


def place_words(item: Item) -> str:
    """Where in its exhibit an item stands."""
    what = field_words(item)
    return f"{item.label}: {what}" if what else item.label


def sides(change: Change) -> tuple[str, str]:
    """The item before and now; empty for one that is not there."""
    if change.old is None or change.new is None:
        there = _shown(change.item, DIGITS[0])
        return ("", there) if change.old is None else (there, "")
    if change.item.words or change.old.words:
        return _differing(change.old.words, change.new.words)
    for digits in DIGITS:
        old, new = _shown(change.old, digits), _shown(change.new, digits)
        if old != new:
            return old, new
    return old, new


def shift_words(change: Change) -> str:
    """How far an item moved."""
    if change.status in (NEW, MISSING, WITHIN):
        return change.status
    if math.isinf(change.widths):
        return "a number or a limit came or went"
    if math.isfinite(change.widths):
        amount = number(change.widths, 2)
        return f"{amount} interval {'width' if amount == '1' else 'widths'}"
    assert change.old is not None and change.new is not None
    old, new = change.old.value, change.new.value
    if change.status == MOVED and math.isfinite(old) and math.isfinite(new) and old:
        return f"{number(100 * (new / old - 1), 2)} %"
    return "moved" if math.isfinite(old) else "other words"


def _shown(item: Item, digits: int) -> str:
    if item.words:
        return _short(item.words)
    if item.curve:
        return f"{len(item.curve):,} values, {' to '.join(_number(end, digits) for end in item.ends)}"
    value, low, high = item.numbers
    if math.isnan(low) and math.isnan(high):
        return _number(value, digits)
    limits = f"{_number(low, digits)} to {_number(high, digits)}"
    return limits if math.isnan(value) else f"{_number(value, digits)} ({limits})"


def _number(value: float, digits: int) -> str:
    return "no limit" if not math.isfinite(value) else pretty(value, digits)


def _differing(old: str, new: str) -> tuple[str, str]:
    """The sentences and clauses that the other text does not have."""
    before, now = _CLAUSES.split(old), _CLAUSES.split(new)
    kept = [part for part in before if part not in now], [part for part in now if part not in before]
    return _short(" ".join(kept[0] or before)), _short(" ".join(kept[1] or now))


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
