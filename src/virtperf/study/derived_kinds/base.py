"""A derived number: what all kinds have in common, and what a module of a kind defines."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field, model_validator

from rawperf.core.model import Level, Model, Texts
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.parts import Id
from virtperf.study.quantities import Expression

if TYPE_CHECKING:
    from virtperf.study.definition import Study
    from virtperf.study.derived_kinds import AnyDerived

ORDER_ONLY_LIMITS = 1.1, 5.0
"""Thresholds of "order only": largest lower limit of an open ratio (from 1), and of an open
difference (from 0) as a multiple of the quantity's resolution.
"""


@dataclass(frozen=True)
class Bounds:
    """Natural bounds of a number, and the neutral value of its comparison.

    `same` is the value of equal sides: 1 for a ratio, 0 for a difference, NaN without a comparison.
    An open range with its limit between `same` and `order` is reported as an order only.
    """

    low: float = -math.inf
    high: float = math.inf
    same: float = math.nan
    order: float = math.nan


@dataclass(frozen=True)
class Derivation:
    """One number of a declaration, with levels filled into label and unit.

    `gives`: name of the result; "" if the declaration has one only.
    `parts`: value: (of,); difference, ratio, percent_change: (of, to); else one per level.
    `axis`: x coordinates of the parts, for models.
    """

    derived: AnyDerived
    gives: str
    label: str
    unit: str
    parts: tuple[Expression, ...]
    axis: tuple[float, ...] = ()

    @property
    def of_itself(self) -> bool:
        """Whether numerator and reference are the same: the base of a row of ratios."""
        return self.derived.of_reference and self.parts[0] == self.parts[1]

    def bounds(self, study: Study) -> Bounds:
        """Natural bounds of the number, and the value of equal sides."""
        return self.derived.bounds(study, self)


class Derived(Model):
    """Declaration of a derived number; docs/add-a-study.md documents it."""

    results: ClassVar[tuple[str, ...]] = ()
    """Results of a kind with several numbers."""
    of_reference: ClassVar[bool] = False
    """Whether the number is relative to another quantity."""
    in_percent: ClassVar[bool] = False
    """Whether the number is a change in per cent."""
    is_position: ClassVar[bool] = False
    """Whether the number is a level of a factor."""
    searched: ClassVar[bool] = False
    """Whether its range is searched, not computed exactly."""

    id: Id
    kind: str
    exhibits: Texts = Field(alias="about")
    label: str = Field(min_length=1)
    of: str
    for_each: dict[str, Annotated[tuple[Level, ...], Field(min_length=1)]] = {}
    gives: dict[str, str] = {}
    unit: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _knows_results(self) -> Derived:
        if unknown := [name for name in self.gives if name not in self.results]:
            known = ", ".join(self.results) or "one number"
            raise ValueError(f"{self.kind} has no result {unknown[0]!r}, only {known}")
        return self

    @abstractmethod
    def parts(self, study: Study, also: Mapping[str, Level]) -> tuple[Expression, ...]:
        """Parts at these levels of `for_each`; raises `ValueError` for unknown names."""

    def axis(self) -> tuple[float, ...]:
        """X coordinates of the parts of a model, () otherwise; raises `ValueError`."""
        return ()

    def unit_of(self, study: Study, gives: str, units: tuple[str, ...]) -> str:
        """Unit of a result, from those of its parts."""
        return units[0]

    def bounds(self, study: Study, derivation: Derivation) -> Bounds:
        """Natural bounds of a result."""
        return Bounds(0.0 if not_negative(study, derivation) else -math.inf)

    def printed_by(self, gives: str, claim: Claim) -> float | None:
        """The number that a claim of the same relation prints for a result; None without one.

        Numbers with a vague word are left out.
        """
        return None

    def expand(self, study: Study) -> list[Derivation]:
        """Numbers of the declaration.

        Raises `ValueError` for names that the study does not define.
        """
        each = self.for_each
        combos = (dict(zip(each, combo, strict=True)) for combo in product(*each.values()))
        derivations = [derivation for also in combos for derivation in self._at(study, also)]
        labels = [derivation.label for derivation in derivations]
        if twice := [label for label in labels if labels.count(label) > 1]:
            raise ValueError(f"duplicate label {twice[0]!r}: include the levels of for_each")
        return derivations

    def _at(self, study: Study, also: Mapping[str, Level]) -> Iterator[Derivation]:
        for factor, level in also.items():
            if wrong := study.level_problem(factor, level):
                raise ValueError(f"{wrong['problem']}, expected {wrong['expected']}")
        parts, axis = self.parts(study, also), self.axis()
        units = tuple(study.quantities[part.terms[0][1].name].unit for part in parts)
        label = _fill(study, self.label, also)
        for gives, words in self.gives.items() if self.results else [("", "")]:
            yield Derivation(
                self,  # type: ignore[arg-type]
                gives,
                f"{label}: {words}" if words else label,
                self.unit or self.unit_of(study, gives, units),
                parts,
                axis,
            )


def not_negative(study: Study, derivation: Derivation) -> bool:
    """Whether the number is a sum of quantities that are not negative."""
    terms = [term for part in derivation.parts for term in part.terms]
    return all(c > 0 and study.quantities[q.name].low >= 0 for c, q in terms)


def _fill(study: Study, label: str, also: Mapping[str, Level]) -> str:
    for name, level in also.items():
        factor = study.factors[name]
        plain = isinstance(level, int) and level not in factor.level_labels
        shown = f"{level:,}" if plain else factor.show(level)
        label = label.replace(f"{{{name}}} {factor.label}", f"{shown} {factor.noun(level)}")
        label = label.replace(f"{{{name}}}", shown)
    if placeholder := re.search(r"{[^{}]*}", label):
        raise ValueError(f"{placeholder[0]} in the label is not a factor of for_each")
    return label
