"""`maximum` and `argmax`: the largest value over the levels of a factor, and its level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, final

from pydantic import Field, model_validator

from rawperf.core.model import Level, Positive
from virtperf.study.derived_kinds.base import Bounds, Derivation, Derived
from virtperf.study.quantities import Expression

if TYPE_CHECKING:
    from virtperf.study.definition import Study


class CurveDerived(Derived):
    """A number of the curve `of` over the `levels` of the factor `over`."""

    min_levels: ClassVar[int] = 2

    over: str
    levels: tuple[Level, ...] = Field(min_length=2)
    dividend: Positive | None = None

    @model_validator(mode="after")
    def _levels_suffice(self) -> CurveDerived:
        if len(self.levels) < self.min_levels:
            raise ValueError(f"{self.kind} needs at least {self.min_levels} levels")
        return self

    def expand(self, study: Study) -> list[Derivation]:
        if self.over not in study.factors:
            raise ValueError(f"unknown factor {self.over!r}")
        return super().expand(study)

    def parts(self, study: Study, also: Mapping[str, Level]) -> tuple[Expression, ...]:
        return tuple(study.expression(self.of, {**also, self.over: level}) for level in self.levels)

    def unit_of_axis(self, study: Study) -> str:
        """Unit of the axis: that of the factor, or none with a dividend."""
        return "" if self.dividend else study.factors[self.over].label


@final
class MaximumDerived(CurveDerived):
    """The largest value."""

    kind: Literal["maximum"]


@final
class ArgmaxDerived(CurveDerived):
    """The level of the largest value."""

    is_position = True

    kind: Literal["argmax"]

    def unit_of(self, study: Study, gives: str, units: tuple[str, ...]) -> str:
        return self.unit_of_axis(study)

    def bounds(self, study: Study, derivation: Derivation) -> Bounds:
        return Bounds()
