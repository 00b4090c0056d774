"""The concrete relations of a claim: its quantities at the study's levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from virtperf.core.levels import Level
from virtperf.study.definition import Study
from virtperf.study.quantities import Expression

if TYPE_CHECKING:
    from virtperf.study.claims import Claim


@dataclass(frozen=True)
class Instance:
    """One concrete relation of a claim (a claim that holds `for_each` of some levels has several).

    `parts`: value, range: (of,); ratio, difference, percent_change, equivalence: (of, to); ordering: ascending; argmax,
        argmin: the winner, then the others; monotone, linear, concave, rule: along the axis; sum: the total, then its
        parts; relative_mean: the mean, then each part and its reference; response_law: (response time, throughput).
    `axis`: the axis positions of `parts` for linear, concave and rule.
    """

    parts: tuple[Expression, ...]
    axis: tuple[float, ...] = ()


def instances_of(study: Study, claim: Claim, needs: tuple[str, ...]) -> tuple[Instance, ...]:
    """The relations of a claim whose kind `needs` these fields; raises `ValueError` on what the study does not have."""
    each = claim.for_each
    combos = [dict(zip(each, combo, strict=True)) for combo in product(*each.values())]
    return tuple(_instance(study, claim, needs, also) for also in combos)


def _instance(study: Study, claim: Claim, needs: tuple[str, ...], also: Mapping[str, Level]) -> Instance:
    kind = claim.kind
    if kind == "relative_mean":
        at = (also, {**also, **claim.relative_to})
        pairs = (study.expression(part, levels) for part in claim.parts for levels in at)
        return Instance((study.expression(claim.of, also), *pairs))
    if "levels" not in needs:
        texts = {"ordering": claim.order, "sum": (claim.of, *claim.parts)}.get(
            kind, tuple(getattr(claim, name) for name in ("of", "to") if name in needs)
        )
        parts = tuple(study.expression(text, also) for text in texts)
        return Instance(parts, (float(also.get(claim.over, 0)),) if kind == "response_law" else ())
    levels = claim.levels
    if kind in ("argmax", "argmin"):
        levels = tuple(sorted(levels, key=lambda level: level != claim.at))  # the winner first
    parts = tuple(study.expression(claim.of, {**also, claim.over: level}) for level in levels)
    numeric = all(isinstance(level, int | float) for level in levels)
    return Instance(parts, tuple(float(level) for level in levels) if numeric else ())
