"""One row of a result, whatever command judges it: a number with its interval, a verdict, words."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import Any, ClassVar, Literal

from virtperf.core.estimate import Estimate
from virtperf.core.numbers import signed, unsigned
from virtperf.core.shown import Showable, json_values


@dataclass(frozen=True)
class Row:
    """A number of a quantity at a condition, with its verdict.

    `better` is "higher", "lower", or "" without a direction; `is_failure`: whether the quantity is a
    share or number of failures. `estimate` is None without a number, its limits are NaN without an
    interval. `note` is what a reader has to know of it.
    """

    quantity: str
    condition: str = ""
    unit: str = ""
    better: str = ""
    verdict: str = ""
    estimate: Estimate | None = None
    note: str = ""
    is_failure: bool = False

    own_names: ClassVar[dict[str, str]] = {}
    """Names in JSON of fields that a command calls otherwise, "" for those that it leaves out."""

    @property
    def name(self) -> str:
        """``seconds, test=read``."""
        return f"{self.quantity}, {self.condition}" if self.condition else self.quantity

    @property
    def low(self) -> float | None:
        """Lower limit of the estimate; None without one, or if it is infinite."""
        return finite_or_none(self.estimate.low) if self.estimate else None

    @property
    def high(self) -> float | None:
        """Upper limit of the estimate; None without one, or if it is infinite."""
        return finite_or_none(self.estimate.high) if self.estimate else None

    @property
    def has_interval(self) -> bool:
        """Whether both limits of the estimate are finite."""
        return self.estimate is not None and self.estimate.bounded

    def to_dict(self) -> dict[str, Any]:
        """Convert to a JSON-compatible dictionary; the estimate has the name that a command gives it."""
        named = ((self.own_names.get(each.name, each.name), each.name) for each in fields(self))
        return {name: _plain(getattr(self, field)) for name, field in named if name}


class Rows(Showable):
    """Rows of a result, with what is said about all of them."""

    rows: tuple[Any, ...]
    notes: tuple[str, ...]

    @property
    @abstractmethod
    def sentences(self) -> tuple[str, ...]:
        """Verbal summary."""

    @property
    def verdicts(self) -> frozenset[str]:
        """All verdicts."""
        return frozenset(row.verdict for row in self.rows)

    @property
    def judges_direction(self) -> bool:
        """Whether a row could be called slower or faster: of failures alone, a direction is known."""
        speeds = [row for row in self.rows if not row.is_failure]
        return any(row.better for row in speeds or self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Convert to a JSON-compatible dictionary; missing numbers are null."""
        values = {each.name: _plain(getattr(self, each.name)) for each in fields(self)}  # type: ignore[arg-type]
        return json_values({**values, "sentences": self.sentences})


def direction(*, is_up: bool, better: str) -> Literal["slower", "faster", "lower", "higher"]:
    """Verdict on a change: slower or faster; without a known direction higher or lower."""
    if not better:
        return "higher" if is_up else "lower"
    return "faster" if is_up == (better == "higher") else "slower"


def change_texts(change: Estimate, unit: str) -> tuple[str, str]:
    """A change and its limits, with their signs: ``+7 %`` and ``+6 to +8``."""
    by, low, high = signed(change.value, change.low, change.high)
    return f"{by}{unit}", f"{low} to {high}"


def size_texts(change: Estimate, unit: str) -> tuple[str, str]:
    """The size of a change and its limits: ``7 %`` and ``6 to 8 %``."""
    size, limits = unsigned(change.value, change.low, change.high)
    return f"{size}{unit}", f"{limits}{unit}"


def finite_or_none(value: float) -> float | None:
    """The value; None if it is infinite or NaN."""
    return value if math.isfinite(value) else None


def _plain(value: Any) -> Any:
    if isinstance(value, Row):
        return value.to_dict()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else value
