"""Two sets of items compared: identical, within tolerance, moved (by how many interval widths),
missing or new.

How far two numbers may lie apart and still be the same is declared in one file, `tolerances.yaml`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, Strict, create_model

from rawperf.core.model import Model, NotNegative, load_model
from virtperf.verify.items import KINDS, Item

IDENTICAL, WITHIN, MOVED, MISSING, NEW = STATUSES = (
    "identical",
    "within tolerance",
    "moved",
    "missing",
    "new",
)
AGREEING = (IDENTICAL, WITHIN)
NOISE = 1e-9  # what another order of additions, or another linear algebra library, may change
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[-+]?\d+)?")
_Share = Annotated[float, Strict(), Field(ge=0, le=1)]


class Tolerance(Model):
    """How far two numbers may lie apart.

    Numbers that were rounded to `exported_digits` significant digits when they were written (0:
    kept in full) may differ by one unit of the last of them.
    """

    relative: _Share  # of the larger of the two magnitudes
    absolute: NotNegative  # in the numbers' own unit, for numbers near zero
    exported_digits: Annotated[int, Strict(), Field(ge=0, le=15)] = 0
    widths: _Share = 0.0  # of its interval, for a value between two limits: what the solver that places it leaves open

    def same(self, a: float, b: float, width: float = math.nan) -> bool:
        """Whether two numbers agree; NaN agrees with NaN, and an absent limit with an absent one.

        `width` is that of the interval that the numbers lie in, NaN where there is none.
        """
        if a == b or (math.isnan(a) and math.isnan(b)):
            return True
        if not math.isfinite(a - b):
            return False
        size = max(abs(a), abs(b))
        least = [self.absolute, self.relative * size]
        if self.exported_digits:
            unit = 10.0 ** (math.floor(math.log10(size)) + 1 - self.exported_digits)
            least.append(
                unit * (1 + 1e-6)
            )  # two decimal numbers one unit apart are, in binary, a little more or less
        if not math.isnan(width):
            least.append(self.widths * width)
        return abs(a - b) <= max(least)


Tolerances = Mapping[str, Tolerance]

DEFAULTS: Tolerances = {
    "limits": Tolerance(relative=NOISE, absolute=NOISE, exported_digits=7, widths=1e-6),
    "means": Tolerance(relative=NOISE, absolute=NOISE),
    "verdicts": Tolerance(relative=NOISE, absolute=NOISE, exported_digits=7),
    "estimates": Tolerance(relative=NOISE, absolute=NOISE, exported_digits=6),
    "tables": Tolerance(relative=0.0, absolute=0.0),
    "registers": Tolerance(relative=NOISE, absolute=NOISE, exported_digits=4),
    "drawings": Tolerance(relative=0.0, absolute=0.01),
}
"""Of each kind of item; what `tolerances.yaml` of the repository declares, too."""

_File = create_model("_File", __base__=Model, **dict.fromkeys(KINDS, (Tolerance | None, None)))  # type: ignore[call-overload]


def load_tolerances(path: Path) -> Tolerances:
    """Read a file of tolerances; a kind that it does not name has its default.

    Raises
    ------
    StudyError
        The file is missing or against its model, with the line.
    """
    file, _ = load_model(path, _File)
    return {kind: getattr(file, kind) or DEFAULTS[kind] for kind in KINDS}


@dataclass(frozen=True)
class Change:
    """One item before and now, one of which may be missing, and one of `STATUSES`.

    `widths` says of a number that moved by how many widths of its interval (the wider of the two);
    infinite where a number or a limit came or went, NaN where no interval tells.
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


def compare_all(
    old: Iterable[Item], new: Iterable[Item], tolerances: Tolerances
) -> Iterator[Change]:
    """Items matched by place, label and field, in the order of `new`; those that are gone come
    last.
    """
    before = {(item.place, item.label, item.field): item for item in old}
    for item in new:
        yield compare(
            before.pop((item.place, item.label, item.field), None), item, tolerances[item.kind]
        )
    yield from (Change(item, None, MISSING) for item in before.values())


def compare(old: Item | None, new: Item | None, tolerance: Tolerance) -> Change:
    """One item before and now; exchanged sides have the same status (missing and new exchanged) and
    the same shift.
    """
    if old is None or new is None:
        return Change(old, new, NEW if old is None else MISSING)
    a, b = old.value, new.value
    if a == b or (
        isinstance(a, float) and isinstance(b, float) and math.isnan(a) and math.isnan(b)
    ):
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
