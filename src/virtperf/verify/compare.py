"""Two sets of items compared: identical, within tolerance, moved (by how many interval widths), missing or new."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from virtperf.verify.items import Item
from virtperf.verify.tolerances import Tolerance, Tolerances

IDENTICAL, WITHIN, MOVED, MISSING, NEW = STATUSES = ("identical", "within tolerance", "moved", "missing", "new")
AGREEING = (IDENTICAL, WITHIN)
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Change:
    """One item before and now.

    Attributes
    ----------
    old, new : Item or None
        None where there is none; never both.
    status : str
        One of `STATUSES`.
    widths : float
        Of a moved item: the largest shift of its value or of a limit, in widths of its interval (the wider of the
        two); infinite where a number or a limit came or went, NaN where no interval tells.
    """

    old: Item | None
    new: Item | None
    status: str
    widths: float = math.nan

    @property
    def item(self) -> Item:
        """The item now, or as it was where it is gone."""
        item = self.new or self.old
        assert item is not None
        return item

    @property
    def agrees(self) -> bool:
        """Whether nothing has changed beyond tolerance."""
        return self.status in AGREEING


def compare(old: Item | None, new: Item | None, tolerance: Tolerance) -> Change:
    """One item before and now; at least one of them is there.

    The words of an explanation may differ while the limit that they explain is the same.

    The comparison is symmetric: exchanged items have the same status (missing and new exchanged) and the same shift.
    """
    if old is None or new is None:
        return Change(old, new, NEW if old is None else MISSING)
    if new.explains:
        same = old.words == new.words
        agree = all(tolerance.same(a, b) for a, b in zip(old.numbers, new.numbers, strict=True))
        return Change(old, new, IDENTICAL if same else WITHIN if agree else MOVED)
    whole = len(old.curve) == len(new.curve)
    pairs = [*zip(old.numbers, new.numbers, strict=True), *zip(old.curve, new.curve, strict=False)]
    if whole and old.words == new.words and all(_equal(a, b) for a, b in pairs):
        return Change(old, new, IDENTICAL)
    width = max(filter(math.isfinite, (old.width, new.width)), default=math.nan)
    near = tolerance.same(old.value, new.value, width) and all(tolerance.same(a, b) for a, b in pairs[1:])
    if whole and near and same_words(old.words, new.words, tolerance):
        return Change(old, new, WITHIN)
    return Change(old, new, MOVED, _shift(old, new, pairs))


def compare_all(old: Iterable[Item], new: Iterable[Item], tolerances: Tolerances) -> Iterator[Change]:
    """Items matched by their keys, in the order of `new`, those that are gone behind the item before them."""
    before, now = {item.key: item for item in old}, {item.key: item for item in new}
    for key in merged(list(before), list(now)):
        item = now.get(key) or before[key]
        yield compare(before.get(key), now.get(key), tolerances[item.kind])


def merged(old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    """Names of both lists in the order of the new one; a name that is gone stands behind the one that it followed."""
    there = set(new)
    behind: dict[Any, list[Any]] = {}
    last = None
    for name in old:
        if name in there:
            last = name
        else:
            behind.setdefault(last, []).append(name)
    return behind.get(None, []) + [part for name in new for part in (name, *behind.get(name, ()))]


def same_words(a: str, b: str, tolerance: Tolerance) -> bool:
    """Whether two texts differ in nothing but numbers, and those agree."""
    if a == b:
        return True
    if _NUMBER.sub("#", a) != _NUMBER.sub("#", b):
        return False
    pairs = zip(_NUMBER.findall(a), _NUMBER.findall(b), strict=True)
    return all(x == y or _same_number(x, y, tolerance) for x, y in pairs)


def _same_number(a: str, b: str, tolerance: Tolerance) -> bool:
    try:
        return tolerance.same(float(a.replace(",", "")), float(b.replace(",", "")))
    except ValueError:  # 1.2.3 is a version
        return False


def _equal(a: float, b: float) -> bool:
    return a == b or (math.isnan(a) and math.isnan(b))


def _shift(old: Item, new: Item, pairs: Sequence[tuple[float, float]]) -> float:
    if any(math.isfinite(a) != math.isfinite(b) for a, b in pairs) or len(old.curve) != len(new.curve):
        return math.inf
    shifts = [abs(a - b) for a, b in pairs if math.isfinite(a - b)]
    widths = [w for w in (old.width, new.width) if not math.isnan(w)]
    if not shifts or max(shifts) == 0 or not widths:
        return math.nan
    return max(shifts) / max(widths)
