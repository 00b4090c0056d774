"""Claims of equality within a symmetric relative margin."""

from __future__ import annotations

from math import isfinite
from typing import Any, ClassVar

from pydantic import model_validator

from virtperf.study.claim_kinds.base import Claim
from virtperf.study.readings import Read, Readings

SYMMETRIC = 1e-3
"""Tolerance of the product of a symmetric word's limits, which are printed decimals."""


class MarginClaim(Claim):
    """A claim with a margin, or a word for it."""

    takes = ("margin", "word")
    needs_margin: ClassVar[bool] = False
    """Whether the margin, or a word for it, must be given; otherwise it is 0."""

    @model_validator(mode="after")
    def _has_margin(self) -> MarginClaim:
        if self.needs_margin and not self.word and "margin" not in self.model_fields_set:
            raise ValueError(f"{self.kind} needs margin")
        return self

    @property
    def margin_factors(self) -> tuple[float, float]:
        """Lower and upper factor of the margin: a is within it of b iff b is within it of a."""
        return 1 / (1 + self.margin), 1 + self.margin

    def _size_limits(self, readings: Readings, low: float, high: float) -> Read:
        if isfinite(high) and abs(low * high - 1) < SYMMETRIC:
            return Read(low, high, f"{self.word}: within {100 * (high - 1):.4g} %")
        raise self._word_not_allowed()

    def _limits_of(self, read: Read) -> dict[str, Any]:
        return {"margin": read.high - 1}

    def limit_words(self) -> str:
        return f"within {100 * self.margin:.4g} %"
