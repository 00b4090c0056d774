"""Kinds of claims, one class each: its fields, relations, linear rows, compared numbers and words.

A new kind is a class beside those of its family, and its name in `AnyClaim`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator

from virtperf.study.claim_kinds.base import Claim
from virtperf.study.claim_kinds.curve import (
    ArgmaxClaim,
    ArgminClaim,
    ConcaveClaim,
    LinearClaim,
    MonotoneClaim,
    RuleClaim,
    SaturatesClaim,
)
from virtperf.study.claim_kinds.number import RangeClaim, ValueClaim
from virtperf.study.claim_kinds.order import OrderingClaim
from virtperf.study.claim_kinds.pair import (
    DifferenceClaim,
    EquivalenceClaim,
    PercentChangeClaim,
    RatioClaim,
)
from virtperf.study.claim_kinds.total import RelativeMeanClaim, SumClaim
from virtperf.study.kinds import class_of_kind, classes_by_kind, validation_error

AnyClaim = (
    ValueClaim
    | RatioClaim
    | DifferenceClaim
    | PercentChangeClaim
    | RangeClaim
    | OrderingClaim
    | ArgmaxClaim
    | ArgminClaim
    | MonotoneClaim
    | SaturatesClaim
    | LinearClaim
    | ConcaveClaim
    | EquivalenceClaim
    | SumClaim
    | RelativeMeanClaim
    | RuleClaim
)

CLAIM_KINDS: Mapping[str, type[Claim]] = classes_by_kind(AnyClaim)
"""Class of each kind by its name in `claims.yaml`."""
_RELATION_FIELDS = frozenset().union(*(kind.relation_fields() for kind in CLAIM_KINDS.values()))


def parse_claim(entry: Any) -> Claim:
    """The claim of an entry of `claims.yaml`, as the class of its `kind`.

    Raises pydantic's `ValidationError`: an unknown kind, or fields that the kind does not have.
    """
    if not isinstance(entry, Mapping):
        return Claim.model_validate(entry)
    kind = class_of_kind(entry, CLAIM_KINDS)
    others = [key for key in entry if key in _RELATION_FIELDS - kind.relation_fields()]
    if unused := [key for key in others if entry[key] not in ("", None)]:
        error = ValueError(f"{entry['kind']} does not use {', '.join(sorted(unused))}")
        raise validation_error(
            {"type": "value_error", "loc": (), "input": entry, "ctx": {"error": error}}
        )
    return kind.model_validate({key: entry[key] for key in entry if key not in others})


ParsedClaim = Annotated[AnyClaim, BeforeValidator(parse_claim)]
"""A claim as a field of a hand-written file."""
