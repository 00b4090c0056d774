"""Derived numbers, declared under `derived` of study.yaml: ratios, slopes, peaks, fitted models.

A declaration is expanded over the levels of its `for_each`, and some kinds have several results;
each is one `Derivation`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, model_validator

from rawperf.core.model import Level, Model, Positive, Texts
from virtperf.study.parts import Id
from virtperf.study.quantities import Expression

if TYPE_CHECKING:
    from virtperf.study.definition import Study

DerivedKind = Literal[
    "value",
    "difference",
    "ratio",
    "percent_change",
    "maximum",
    "argmax",
    "line",
    "usl",
    "segmented",
]

CURVE_RESULTS: Mapping[str, tuple[str, ...]] = {
    "line": ("intercept", "slope"),
    "usl": ("contention", "coherency", "peak_load", "peak_throughput", "capacity"),
    "segmented": ("breakpoint", "plateau"),
}
"""Results of the kinds with several numbers."""

_CURVE_FIELDS = ("of", "over", "levels")
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "value": ("of",),
    "difference": ("of", "to"),
    "ratio": ("of", "to"),
    "percent_change": ("of", "to"),
    "maximum": _CURVE_FIELDS,
    "argmax": _CURVE_FIELDS,
    "line": (*_CURVE_FIELDS, "gives"),
    "usl": (*_CURVE_FIELDS, "gives"),
    "segmented": (*_CURVE_FIELDS, "gives"),
}
_MIN_LEVELS = {"line": 2, "usl": 3, "segmented": 4}


class Derived(Model):
    """Declaration of a derived number; docs/add-a-study.md documents it."""

    id: Id
    kind: DerivedKind
    exhibits: Texts = Field(alias="about")
    label: str = Field(min_length=1)
    of: str
    to: str = ""
    over: str = ""
    levels: tuple[Level, ...] = Field((), min_length=2)
    for_each: dict[str, Annotated[tuple[Level, ...], Field(min_length=1)]] = {}
    gives: dict[str, str] = {}
    load: Positive | None = None
    dividend: Positive | None = None
    unit: str = ""
    note: str = ""

    @model_validator(mode="after")
    def _complete(self) -> Derived:
        if missing := [name for name in _NEEDS[self.kind] if name not in self.model_fields_set]:
            raise ValueError(f"{self.kind} needs {', '.join(missing)}")
        known = CURVE_RESULTS.get(self.kind, ())
        if unknown := [name for name in self.gives if name not in known]:
            raise ValueError(
                f"{self.kind} has no result {unknown[0]!r}, only {', '.join(known) or 'one number'}"
            )
        if ("capacity" in self.gives) != (self.load is not None):
            raise ValueError("load is required with capacity, and only there")
        if self.levels and len(self.levels) < _MIN_LEVELS.get(self.kind, 2):
            raise ValueError(f"{self.kind} needs at least {_MIN_LEVELS[self.kind]} levels")
        return self


@dataclass(frozen=True)
class Derivation:
    """One number of a declaration, with levels filled into label and unit.

    `gives`: name of the result; "" if the declaration has one only.
    `parts`: value: (of,); difference, ratio, percent_change: (of, to); else one per level.
    `axis`: x coordinates of the parts, for models.
    """

    derived: Derived
    gives: str
    label: str
    unit: str
    parts: tuple[Expression, ...]
    axis: tuple[float, ...] = ()

    @property
    def of_itself(self) -> bool:
        """Whether numerator and reference are the same: the base of a row of ratios."""
        return self.derived.kind in ("ratio", "percent_change") and self.parts[0] == self.parts[1]


def derivations(study: Study) -> list[Derivation]:
    """All derived numbers of a study, in the order of study.yaml."""
    return [
        derivation for derived in study.derived for derivation in expand_derived(study, derived)
    ]


def expand_derived(study: Study, derived: Derived) -> list[Derivation]:
    """Expand one declaration; raises `ValueError` for names that the study does not define."""
    if derived.over and derived.over not in study.factors:
        raise ValueError(f"unknown factor {derived.over!r}")
    each = derived.for_each
    combos = (dict(zip(each, combo, strict=True)) for combo in product(*each.values()))
    derivations = [derivation for also in combos for derivation in _instance(study, derived, also)]
    labels = [derivation.label for derivation in derivations]
    if twice := [label for label in labels if labels.count(label) > 1]:
        raise ValueError(f"duplicate label {twice[0]!r}: include the levels of for_each")
    return derivations


def _instance(study: Study, derived: Derived, also: Mapping[str, Level]) -> Iterator[Derivation]:
    for factor, level in also.items():
        if wrong := study.level_problem(factor, level):
            raise ValueError(f"{wrong['problem']}, expected {wrong['expected']}")
    if derived.levels:
        parts = tuple(
            study.expression(derived.of, {**also, derived.over: level}) for level in derived.levels
        )
    else:
        parts = tuple(study.expression(text, also) for text in (derived.of, derived.to) if text)
    axis: tuple[float, ...] = ()
    if derived.kind in CURVE_RESULTS:
        if not all(isinstance(level, int | float) for level in derived.levels):
            raise ValueError(f"{derived.kind} needs numeric levels")
        levels = [float(level) for level in derived.levels]
        if (derived.kind == "usl" or derived.dividend) and min(levels) <= 0:
            raise ValueError(
                f"{derived.kind} needs levels above 0{' with dividend' if derived.dividend else ''}"
            )
        axis = (
            tuple(derived.dividend / level for level in levels)
            if derived.dividend
            else tuple(levels)
        )
    label = _fill(study, derived.label, also)
    for gives, words in derived.gives.items() if derived.kind in CURVE_RESULTS else [("", "")]:
        unit = derived.unit or _unit(study, derived, gives, parts)
        yield Derivation(derived, gives, f"{label}: {words}" if words else label, unit, parts, axis)


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


def _unit(study: Study, derived: Derived, gives: str, parts: tuple[Expression, ...]) -> str:
    """Unit of a number, derived from those of its quantities and its factor."""
    units = [study.quantities[part.terms[0][1].name].unit for part in parts]
    match derived.kind, gives:
        case "percent_change", _:
            return "%"
        case "ratio", _:
            return "" if units[0] == units[1] else f"{units[0]} per {units[1]}"
        case ("argmax", _) | (_, "peak_load" | "breakpoint"):
            return "" if derived.dividend else study.factors[derived.over].label
        case _, "contention" | "coherency":
            return ""
        case _, "slope":
            return f"{units[0]} per {study.factors[derived.over].noun(1)}"
    return units[0]
