"""Claims along the levels of a factor."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar

from pydantic import Field, model_validator

from rawperf.core.model import Levels
from virtperf.core.levels import Level
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.quantities import Expression, Instance

if TYPE_CHECKING:
    from virtperf.study.definition import Study


class CurveClaim(Claim):
    """A claim about `of` at each of the `levels` of the factor `over`."""

    numeric: ClassVar[bool] = False
    """Whether levels must be numbers."""
    ascending: ClassVar[bool] = False
    """Whether numeric levels must ascend; otherwise they may descend, too."""
    min_levels: ClassVar[int] = 2

    of: str
    over: str
    levels: Levels = Field(min_length=2)

    @model_validator(mode="after")
    def _levels_suffice(self) -> CurveClaim:
        if self.numeric and not all(isinstance(level, int | float) for level in self.levels):
            raise ValueError(f"{self.kind} needs numeric levels")
        if len(self.levels) < self.min_levels:
            raise ValueError(f"{self.kind} needs at least {self.min_levels} levels")
        return self

    @property
    def named_levels(self) -> Sequence[Level]:
        return self.levels

    def levels_of_parts(self) -> Sequence[Level]:
        """Level of each part of a relation."""
        return self.levels

    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        levels = self.levels_of_parts()
        parts = tuple(study.expression(self.of, {**also, self.over: level}) for level in levels)
        axis = tuple(float(level) for level in levels if isinstance(level, int | float))
        return Instance(parts, axis if len(axis) == len(levels) else ())

    def compared_words(self) -> str:
        return f"{self.of} over {self.over} {', '.join(map(str, self.levels))}"

    def expand(self, study: Study) -> tuple[Instance, ...]:
        instances = super().expand(study)
        self.check_axis(instances[0].axis)
        return instances

    def check_axis(self, axis: Sequence[float]) -> None:
        """Check that numeric levels are in order; raises `ValueError`."""
        steps = [later > earlier for earlier, later in pairwise(axis)]
        if any(steps) and not all(steps):
            raise ValueError("levels are not in order: sort them")
        if self.ascending and not all(steps):
            raise ValueError("levels must be ascending")


def slopes(instance: Instance) -> list[Expression]:
    """Slope between each two neighbouring levels."""
    return [
        Expression(
            tuple((c / (x2 - x1), q) for c, q in right.terms)
            + tuple((-c / (x2 - x1), q) for c, q in left.terms)
        )
        for (left, right), (x1, x2) in zip(
            pairwise(instance.parts), pairwise(instance.axis), strict=True
        )
    ]
