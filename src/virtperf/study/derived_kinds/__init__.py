"""Kinds of derived numbers, one class each: its fields, parts, units, bounds and results.

A new kind is a class with its name in `AnyDerived`; `reconstruct.ranges` and `report.run_estimates`, which
say how its range and its estimate from runs are computed, do not type-check without it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from virtperf.study.derived_kinds.base import Derived
from virtperf.study.derived_kinds.extreme import ArgmaxDerived, MaximumDerived
from virtperf.study.derived_kinds.fitted import LineDerived, SegmentedDerived, UslDerived
from virtperf.study.derived_kinds.pair import (
    DifferenceDerived,
    PercentChangeDerived,
    RatioDerived,
    ValueDerived,
)
from virtperf.study.kinds import class_of_kind, classes_by_kind

AnyDerived = (
    ValueDerived
    | DifferenceDerived
    | RatioDerived
    | PercentChangeDerived
    | MaximumDerived
    | ArgmaxDerived
    | LineDerived
    | UslDerived
    | SegmentedDerived
)
DERIVED_KINDS: Mapping[str, type[Derived]] = classes_by_kind(AnyDerived)
"""Class of each kind by its name in `study.yaml`."""


def parse_derived(entry: Any) -> Derived:
    """The declaration of an entry of `study.yaml`, as the class of its `kind`.

    Raises pydantic's `ValidationError`: an unknown kind, or fields that the kind does not have.
    """
    kind = class_of_kind(entry, DERIVED_KINDS) if isinstance(entry, Mapping) else Derived
    return kind.model_validate(entry)


ParsedDerived = Annotated[AnyDerived, BeforeValidator(parse_derived)]
"""A derived number as a field of a hand-written file."""
