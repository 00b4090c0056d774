"""Contradictions by cause, with their alternative resolutions.

A cause is what is set aside: a sentence (or an assumption of ours) that every smallest resolution
sets aside, or a choice between sentences. Each is one entry, with the conflicts that it resolves
and the ranges that each way to resolve it leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf, prod
from typing import Any

import numpy as np

from rawperf.core.table_columns import round_digits
from virtperf.reconstruct.contradictions import groups_sharing_keys, sentence_keys
from virtperf.reconstruct.feasible import Feasible
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claim
from virtperf.study.constraints import natural_rows
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity
from virtperf.study.readings import Readings

MAX_LISTED_POINTS = 6
"""Maximum number of points listed per choice: those that depend most on the dropped claims."""
SAME_END = 1e-6
"""Relative tolerance below which two ends of alternative ranges are equal."""

Options = Sequence[Sequence[str]]
"""The claims that each way to resolve a cause sets aside."""


def contradictions_by_cause(feasible: Feasible, lenient: Readings) -> dict[str, Any]:
    """Build the content of `contradictions.json`.

    ``dropped``: the claims that the first resolution drops. ``may_be_wider``: whether there are
    more resolutions than are enumerated. ``contradictions``: one entry per cause. A conflict that
    several causes resolve is listed under the first of them. Fields of an entry:

    - ``conflicts``: its irreducible sets of claims, those without an assumption of ours first, then
      the shortest.
    - ``always``: the claims that every resolution drops.
    - ``choices``: at most one, if there are several smallest resolutions. Each option lists the
      claims that it drops (``aside``) and the ranges of the points that differ most (``points``;
      None for no limit), the same points in each.
    - ``readings``: the claims of the paper whose words name no number, if its conflicts follow from
      the numbers that data/readings.yaml gives these words; else empty.
    - ``lenient``: whether one of its conflicts stands with the `lenient` limits of all words.
    """
    claims = {c.id: c for c in feasible.active}
    assumed = {c for c in claims if claims[c].assumed}

    def order(conflict: Sequence[str]) -> tuple[bool, int, Sequence[str]]:
        return not assumed.isdisjoint(conflict), len(conflict), conflict

    entries = []
    for options, conflicts in _causes(feasible, claims):
        of_cause = sorted(map(list, conflicts), key=order)
        entries.append(
            {
                "conflicts": of_cause,
                "always": list(options[0]) if len(options) == 1 else [],
                "choices": [_options(feasible, options)] if len(options) > 1 else [],
                "readings": _readings_at_fault(feasible.study, of_cause, claims, lenient),
                "lenient": any(
                    _excluded(feasible.study, [claims[c].read(lenient) for c in conflict])
                    for conflict in of_cause
                ),
            }
        )
    return {
        "dropped": list(feasible.contradictions.dropped),
        "may_be_wider": feasible.contradictions.wider,
        "contradictions": entries,
    }


def _causes(
    feasible: Feasible, claims: Mapping[str, Claim]
) -> list[tuple[Options, list[tuple[str, ...]]]]:
    """The ways to resolve each cause, and its conflicts; causes without alternative first."""
    in_all = {
        claim
        for cluster in feasible.clusters
        for claim in frozenset.intersection(*map(frozenset, cluster.contradictions.resolutions))
    }
    always = [c for c in claims if c in in_all]
    keys = [sentence_keys(claims[c]) or {c} for c in always]
    causes: list[Options] = [[group] for group in groups_sharing_keys(always, keys)]
    conflicts = feasible.contradictions.conflicts
    unresolved = [conflict for conflict in conflicts if in_all.isdisjoint(conflict)]
    for choice in feasible.contradictions.choices:
        further = list(dict.fromkeys(tuple(c for c in o if c not in in_all) for o in choice))
        causes += _independent_choices(further, unresolved, claims)
    resolved_by = [
        [k for k, options in enumerate(causes) if not set().union(*options).isdisjoint(conflict)]
        for conflict in conflicts
    ]
    found = []
    for k, options in enumerate(causes):
        first = [c for c, by in zip(conflicts, resolved_by, strict=True) if by[:1] == [k]]
        shared = [c for c, by in zip(conflicts, resolved_by, strict=True) if k in by]
        found.append((options, first or shared))
    return [(options, of_cause) for options, of_cause in found if of_cause]


def _independent_choices(
    options: list[tuple[str, ...]],
    conflicts: Iterable[tuple[str, ...]],
    claims: Mapping[str, Claim],
) -> list[Options]:
    """Split a choice into choices that are made independently; itself if there are none.

    Claims of one sentence or one conflict belong together.
    """
    if len(options) == 1:
        return []
    members = list(dict.fromkeys(c for option in options for c in option))
    keys = [[*sentence_keys(claims[m]), *(c for c in conflicts if m in c)] for m in members]
    split: list[Options] = [
        list(dict.fromkeys(tuple(c for c in option if c in group) for option in options))
        for group in groups_sharing_keys(members, keys)
    ]
    return split if prod(map(len, split)) == len(options) else [options]


def _readings_at_fault(
    study: Study,
    conflicts: Iterable[Sequence[str]],
    claims: Mapping[str, Claim],
    lenient: Readings,
) -> list[str]:
    """The claims whose words make the conflicts, if the paper prints no number that does.

    A word without a number ("similar") is reduced to its direction, if it has one; a word beside a
    printed number ("about 45 %") has its lenient limits.
    """
    worded: dict[str, None] = {}
    vague: dict[str, None] = {}
    for conflict in conflicts:
        members = [claims[c] for c in conflict]
        if any(claim.assumed for claim in members):
            continue
        relaxed = [_without_size(claim, lenient) for claim in members]
        if _excluded(study, [claim for claim in relaxed if claim is not None]):
            return []
        worded |= dict.fromkeys(claim.id for claim in members if claim.word)
        vague |= dict.fromkeys(
            claim.id
            for claim, other in zip(members, relaxed, strict=True)
            if other != claim and lenient[claim.word].of == "reference"
        )
    return list(vague or worded)


def _without_size(claim: Claim, lenient: Readings) -> Claim | None:
    """The claim without the number of a word that has none in the text; None if nothing is left."""
    if not claim.word or lenient[claim.word].of == "number":
        return claim.read(lenient)
    least, most = lenient.limits(claim.word)
    if claim.is_order or (least >= 1.0 and np.isinf(most)):
        return claim
    if claim.of_reference and least >= 1.0:
        return claim.read(lenient).model_copy(update={"high": inf})
    if claim.of_reference and least > 0.0 and most <= 1.0:
        return claim.read(lenient).model_copy(update={"low": -inf})
    return None


def _excluded(study: Study, claims: Sequence[Claim]) -> bool:
    """Whether no values satisfy the claims; a mean of quotients has no rows, so it counts as such."""
    if any(claim.mean_of(instance) for claim in claims for instance in claim.instances):
        return True
    rows = [row for claim in claims for row in claim.rows(study)]
    quantities = dict.fromkeys(q for row in rows for q, _ in row.terms)
    return bool(rows) and not LinearSystem([*rows, *natural_rows(study, quantities)]).feasible()


def _options(feasible: Feasible, options: Options) -> list[dict[str, Any]]:
    named = {c for option in options for c in option}
    cluster = next(c for c in feasible.clusters if any(named & s.claims for s in c.systems))
    every = [set(r) for r in cluster.contradictions.resolutions]
    # fall back to all resolutions: not every combination is enumerated
    under = [[r for r in every if named & r == set(option)] or every for option in options]
    places: dict[Quantity, dict[str, Any]] = {}
    ranges: dict[Quantity, list[tuple[float, float]]] = {}
    for system in cluster.systems:
        resolutions, owners = feasible.resolutions(system), system.claims
        for exhibit in feasible.study.exhibits:
            for series, level, quantity in feasible.study.points(exhibit):
                if quantity not in system.index or quantity in places:
                    continue
                places[quantity] = {
                    "exhibit": exhibit.id,
                    "series": series.label,
                    "x": level,
                    "quantity": quantity.key(),
                }
                pieces = dict(zip(resolutions, feasible.pieces(quantity), strict=True))
                ends = [[pieces[frozenset(owners & r)] for r in some] for some in under]
                ranges[quantity] = [
                    (min(low.value for low, _ in some), max(high.value for _, high in some))
                    for some in ends
                ]
    spread = {quantity: _spread(ends) for quantity, ends in ranges.items()}
    differing = sorted((q for q in places if spread[q] > SAME_END), key=lambda q: -spread[q])
    return [
        {
            "aside": list(option),
            "points": [
                places[q] | {"low": _end(ranges[q][k][0]), "high": _end(ranges[q][k][1])}
                for q in differing[:MAX_LISTED_POINTS]
            ],
        }
        for k, option in enumerate(options)
    ]


def _spread(ranges: Sequence[tuple[float, float]]) -> float:
    """Largest distance between the ends of ranges, relative to the largest end.

    Infinite if an end is open in some of the ranges only.
    """
    ends = np.array(ranges)
    if (np.isinf(ends).any(axis=0) != np.isinf(ends).all(axis=0)).any():
        return float("inf")
    finite = ends[:, np.isfinite(ends).all(axis=0)]
    if not finite.size:
        return 0.0
    return float(np.ptp(finite, axis=0).max() / max(np.abs(finite).max(), SAME_END))


def _end(value: float) -> float | None:
    return float(round_digits(value)) if np.isfinite(value) else None
