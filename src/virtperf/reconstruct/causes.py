"""Contradictions grouped by cause, with their alternative resolutions.

Conflicts that the same statements explain are one entry, with the ways to resolve it and the ranges
that each way leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rawperf.core.tables import round_digits
from virtperf.reconstruct.contradictions import groups_sharing_keys, sentence_keys
from virtperf.reconstruct.feasible import Feasible
from virtperf.study.quantities import Quantity

MAX_LISTED_POINTS = 6
"""Maximum number of points listed per choice: those that depend most on the dropped claims."""
SAME_END = 1e-6
"""Relative tolerance below which two ends of alternative ranges are equal."""


def contradictions_by_cause(feasible: Feasible) -> dict[str, Any]:
    """Build the content of `contradictions.json`.

    ``dropped``: the claims that the first resolution drops. ``may_be_wider``: whether there are
    more resolutions than are enumerated. ``contradictions``: one entry per cause. Two conflicts
    have the same cause if some resolution drops the same sentence in both, or if the same claims
    remain of both. Fields of an entry:

    - ``conflicts``: its irreducible sets of claims, those without an assumption of ours first, then
      the shortest.
    - ``always``: the claims that every resolution drops.
    - ``choices``: one for each group of conflicts with several smallest resolutions. Each option
      lists the further claims that it drops (``aside``) and the ranges of the points that differ
      most (``points``; None for no limit), the same points in each.
    """
    claims = {c.id: c for c in feasible.active}
    resolutions = [r for cluster in feasible.clusters for r in cluster.contradictions.resolutions]
    assumed = {c for c in claims if claims[c].assumed}

    def order(conflict: list[str]) -> tuple[bool, int, list[str]]:
        return not assumed.isdisjoint(conflict), len(conflict), conflict

    aside = {claim for resolution in resolutions for claim in resolution}
    conflicts = [tuple(c) for c in feasible.contradictions.conflicts]
    keys: list[set[object]] = []
    for conflict in conflicts:
        remaining = frozenset(conflict) - aside
        conflict_keys: set[object] = {remaining} if remaining else set()
        for claim in aside.intersection(conflict):
            conflict_keys |= sentence_keys(claims[claim]) or {claim}
        keys.append(conflict_keys)
    shared = [
        (options, set(options[0]).intersection(*options))
        for options in feasible.contradictions.choices
    ]
    entries = []
    for group in groups_sharing_keys(conflicts, keys):
        members = aside.intersection(c for conflict in group for c in conflict)
        choices = [
            [[c for c in option if c not in in_all] for option in options]
            for options, in_all in shared
            if not members.isdisjoint(set().union(*options) - in_all)
        ]
        depends = {claim for options in choices for option in options for claim in option}
        entries.append(
            {
                "conflicts": sorted(map(list, group), key=order),
                "always": [c for c in claims if c in members - depends],
                "choices": [_options(feasible, options) for options in choices],
            }
        )
    return {
        "dropped": list(feasible.contradictions.dropped),
        "may_be_wider": feasible.contradictions.wider,
        "contradictions": entries,
    }


def _options(feasible: Feasible, options: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    named = {c for option in options for c in option}
    cluster = next(c for c in feasible.clusters if named & {o for s in c.systems for o in s.owner})
    every = [set(r) for r in cluster.contradictions.resolutions]
    # fall back to all resolutions: not every combination is enumerated
    under = [[r for r in every if named & r == set(option)] or every for option in options]
    places: dict[Quantity, dict[str, Any]] = {}
    ranges: dict[Quantity, list[tuple[float, float]]] = {}
    for system in cluster.systems:
        resolutions, owners = feasible.resolutions(system), set(system.owner)
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
