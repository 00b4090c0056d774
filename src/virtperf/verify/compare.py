"""Two sets of items compared: identical, within tolerance, moved (by how many interval widths), missing or new."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from virtperf.verify.items import Item
from virtperf.verify.tolerances import Tolerance, Tolerances

IDENTICAL, WITHIN, MOVED, MISSING, NEW = STATUSES = ("identical", "within tolerance", "moved", "missing", "new")
AGREEING = (IDENTICAL, WITHIN)
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")


@dataclass(frozen=True)
class Change:
    """One item before and now; one of the two may be missing.

    Attributes
    ----------
    old, new : Item or None
    status : str
        One of `STATUSES`.
    widths : float
        Of a number that moved: by how many widths of its interval (the wider of the two); infinite where a number or a
        limit came or went, NaN where no interval tells.
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


def compare_all(old: Iterable[Item], new: Iterable[Item], tolerances: Tolerances) -> Iterator[Change]:
    """Items matched by their keys, in the order of `new`; those that are gone come last."""
    before = {item.key: item for item in old}
    for item in new:
        yield compare(before.pop(item.key, None), item, tolerances[item.kind])
    yield from (Change(item, None, MISSING) for item in before.values())


def compare(old: Item | None, new: Item | None, tolerance: Tolerance) -> Change:
    """One item before and now; exchanged sides have the same status (missing and new exchanged) and the same shift."""
    if old is None or new is None:
        return Change(old, new, NEW if old is None else MISSING)
    a, b = old.value, new.value
    if a == b or (isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b)):
        return Change(old, new, IDENTICAL)
    width = max(filter(math.isfinite, (old.width, new.width)), default=math.nan)
    if isinstance(a, str) or isinstance(b, str):
        return Change(old, new, WITHIN if same_words(str(a), str(b), tolerance) else MOVED)
    # A limit has the width of its own interval, and may not move by a share of it.
    if tolerance.same(a, b, math.nan if new.field.startswith(("low", "high")) else width):
        return Change(old, new, WITHIN)
    return Change(old, new, MOVED, abs(a - b) / width if math.isfinite(a - b) else math.inf)


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
