"""Conflicts that several equally cheap sets of claims resolve: what each set leaves of the plotted points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from virtperf.core.tables import rounded
from virtperf.reconstruct.feasible import Feasible
from virtperf.study.quantities import Quantity

MOST_POINTS = 6
"""How many points are listed for each conflict: those that depend most on what is set aside."""

SAME = 1e-6
"""Relative distance below which two ends of ranges are the same."""


def alternatives(feasible: Feasible) -> list[dict[str, Any]]:
    """One entry for each group of conflicts that several cheapest resolutions solve.

    ``always``: the claims that every resolution sets aside. ``resolutions``: for each what it sets aside beside them
    (``aside``) and the range of the points that differ most (``points``; None for no limit), the same points in each.
    """
    return [_entry(feasible, options) for options in feasible.contradictions.choices]


def _entry(feasible: Feasible, options: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    always = [c for c in options[0] if all(c in option for option in options)]
    named = {c for option in options for c in option}
    system = next(s for s in feasible.systems if named <= set(s.owner))
    resolutions = feasible.resolutions[feasible.systems.index(system)]
    under = [[k for k, r in enumerate(resolutions) if named.intersection(r) == set(option)] for option in options]

    def ranges(quantity: Quantity) -> list[tuple[float, float]]:
        pieces = feasible.pieces(quantity)
        return [(min(pieces[k][0].value for k in ks), max(pieces[k][1].value for k in ks)) for ks in under]

    places: dict[Quantity, dict[str, Any]] = {}
    for exhibit in feasible.study.exhibits:
        for series, level, quantity in feasible.study.points(exhibit):
            if quantity in system.index:
                place = {"exhibit": exhibit.id, "series": series.label, "x": level, "quantity": quantity.key()}
                places.setdefault(quantity, place)
    found = {quantity: ranges(quantity) for quantity in places}
    differing = sorted((q for q in found if _spread(found[q]) > SAME), key=lambda q: -_spread(found[q]))[:MOST_POINTS]
    return {
        "always": always,
        "resolutions": [
            {
                "aside": [c for c in option if c not in always],
                "points": [places[q] | {"low": _end(found[q][k][0]), "high": _end(found[q][k][1])} for q in differing],
            }
            for k, option in enumerate(options)
        ],
    }


def _spread(ranges: Sequence[tuple[float, float]]) -> float:
    """How far the ends of ranges lie apart, relative to the largest of them; infinite where one alone is open."""
    ends = np.array(ranges)
    if (np.isinf(ends).any(axis=0) != np.isinf(ends).all(axis=0)).any():
        return float("inf")
    finite = ends[:, np.isfinite(ends).all(axis=0)]
    return float(np.ptp(finite, axis=0).max() / max(np.abs(finite).max(), SAME)) if finite.size else 0.0


def _end(value: float) -> float | None:
    return float(rounded(value)) if np.isfinite(value) else None
