"""What is compared, one thing at a time: a number with its interval, a curve, or words."""

from __future__ import annotations

import math
from dataclasses import dataclass

KINDS = ("limits", "means", "verdicts", "estimates", "tables", "registers")
"""What tolerances are declared for: limits of the text and claims' numbers; means of runs and their samples; verdicts;
fitted parameters and computed tables; printed tables; registers in words."""

EXPLANATIONS = ("low_set_by", "high_set_by")
"""Fields that say which statements set a limit, in words; the limit stands beside them."""

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Item:
    """One thing that is compared.

    Attributes
    ----------
    exhibit : str
        Its anchor, such as ``figure-5``, or ``claims``.
    label : str
        Which row or point of the exhibit.
    field : str
        Which of its numbers: a column's name; empty where there is only one.
    kind : str
        One of `KINDS`.
    value, low, high : float
        NaN where there is none; an infinite limit is an absent one.
    words : str
        What stands there in words.
    curve : tuple of float
        The values of a series that is too long for one item a value.
    """

    exhibit: str
    label: str
    field: str
    kind: str
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    words: str = ""
    curve: tuple[float, ...] = ()

    @property
    def key(self) -> Key:
        """What the item is matched by."""
        return self.exhibit, self.label, self.field

    @property
    def explains(self) -> bool:
        """Whether the words only explain the limit beside them, which several sets of statements may set equally."""
        return self.field in EXPLANATIONS

    @property
    def numbers(self) -> tuple[float, float, float]:
        """Value and limits."""
        return self.value, self.low, self.high

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the largest value of a curve, NaN where it has none."""
        finite = [v for v in self.curve if math.isfinite(v)]
        return (min(finite), max(finite)) if finite else (math.nan, math.nan)

    @property
    def width(self) -> float:
        """The interval's width, a curve's range; NaN without finite limits, or where they coincide."""
        low, high = self.ends if self.curve else (self.low, self.high)
        width = high - low
        return width if math.isfinite(width) and width > 0 else math.nan
