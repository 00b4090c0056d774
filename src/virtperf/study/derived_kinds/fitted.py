"""`line`, `usl` and `segmented`: results of a model fitted to a curve."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal, final

import numpy as np
from pydantic import model_validator

from rawperf.core.model import Positive
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.derived_kinds.base import Bounds, Derivation
from virtperf.study.derived_kinds.extreme import CurveDerived
from virtperf.study.quantities import Expression

if TYPE_CHECKING:
    from virtperf.study.definition import Study


class FittedDerived(CurveDerived):
    """Results of a model on numeric levels, or on `dividend` over each of them."""

    positive: ClassVar[bool] = False
    """Whether levels must be above 0."""

    gives: dict[str, str]

    def axis(self) -> tuple[float, ...]:
        levels = [float(level) for level in self.levels if isinstance(level, int | float)]
        if len(levels) < len(self.levels):
            raise ValueError(f"{self.kind} needs numeric levels")
        if (self.positive or self.dividend) and min(levels) <= 0:
            raise ValueError(
                f"{self.kind} needs levels above 0{' with dividend' if self.dividend else ''}"
            )
        return tuple(self.dividend / x if self.dividend else x for x in levels)


@final
class LineDerived(FittedDerived):
    """The least-squares line."""

    results = ("intercept", "slope")

    kind: Literal["line"]

    def unit_of(self, study: Study, gives: str, units: tuple[str, ...]) -> str:
        per = f" per {study.factors[self.over].noun(1)}" if gives == "slope" else ""
        return f"{units[0]}{per}"

    def bounds(self, study: Study, derivation: Derivation) -> Bounds:
        return Bounds()

    def printed_by(self, gives: str, claim: Claim) -> float | None:
        return claim.coefficients.get(gives)  # a rule's word is about the values, not about these

    def coefficient(self, derivation: Derivation) -> Expression:
        """The linear combination of the values that a regression coefficient equals."""
        x = np.array(derivation.axis) - np.mean(derivation.axis)
        weights = x / (x @ x)
        if derivation.gives == "intercept":
            weights = 1 / len(x) - np.mean(derivation.axis) * weights
        return Expression(
            tuple(
                (float(w) * c, q)
                for w, part in zip(weights, derivation.parts, strict=True)
                for c, q in part.terms
            )
        )


@final
class UslDerived(FittedDerived):
    """The Universal Scalability Law; `load` is where `capacity` is evaluated."""

    results = ("contention", "coherency", "peak_load", "peak_throughput", "capacity")
    min_levels = 3
    positive = True
    searched = True

    kind: Literal["usl"]
    load: Positive | None = None

    @model_validator(mode="after")
    def _has_load(self) -> UslDerived:
        if ("capacity" in self.gives) != (self.load is not None):
            raise ValueError("load is required with capacity, and only there")
        return self

    def unit_of(self, study: Study, gives: str, units: tuple[str, ...]) -> str:
        if gives == "peak_load":
            return self.unit_of_axis(study)
        return "" if gives in ("contention", "coherency") else units[0]

    def bounds(self, study: Study, derivation: Derivation) -> Bounds:
        if derivation.gives == "contention":
            return Bounds(0.0, 1.0)
        return super().bounds(study, derivation)


@final
class SegmentedDerived(FittedDerived):
    """A plateau, then a decline."""

    results = ("breakpoint", "plateau")
    min_levels = 4
    searched = True

    kind: Literal["segmented"]

    def unit_of(self, study: Study, gives: str, units: tuple[str, ...]) -> str:
        return self.unit_of_axis(study) if gives == "breakpoint" else units[0]

    def bounds(self, study: Study, derivation: Derivation) -> Bounds:
        return Bounds() if derivation.gives == "breakpoint" else super().bounds(study, derivation)
