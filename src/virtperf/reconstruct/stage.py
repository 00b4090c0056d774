"""The reconstruct stage: from a study's published folder to points, verdicts, contradictions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.files import json_text, replaced_folder
from rawperf.core.tables import rounded
from virtperf.core.params import Parameters
from virtperf.core.stage_tables import CLAIMS, POINTS, RANGES, READINGS
from virtperf.reconstruct.feasible import Feasible, solve
from virtperf.reconstruct.leave_one_out import LeaveOneOut
from virtperf.reconstruct.ranges import ranges
from virtperf.reconstruct.readings import other_readings
from virtperf.reconstruct.remembered import CachedLinearSystem
from virtperf.study.claims import Claims
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity

Progress = Callable[[str], None]
END_TOLERANCE = 1e-5
"""Share of an end of a range below which two ends are one."""
MOST_POINTS = 6
"""How many points are listed for each conflict: those that depend most on what is set aside."""
SAME_END = 1e-6
"""Relative distance below which two ends of alternative ranges are the same."""


def reconstruct(
    study: Study,
    claims: Claims,
    parameters: Parameters,
    out: Path,
    progress: Progress,
) -> None:
    """Write everything that the paper's text implies into the folder `out`.

    Files: the tables `POINTS`, `RANGES`, `CLAIMS` and `READINGS` of `core.stage_tables`, and
    `contradictions.json`.
    """
    off = parameters.reconstruct.assumptions_off
    with replaced_folder(out) as folder:
        progress("contradictions")
        feasible = solve(study, claims, off, linear=CachedLinearSystem)
        alone = solve(study, claims, ("all",), explain=False, known=feasible)
        progress("points")
        points = _points(study, feasible, alone)
        POINTS.write(points, folder / POINTS.file)
        progress("ranges of derived numbers")
        RANGES.write(ranges(study, claims, feasible, alone, parameters.seed), folder / RANGES.file)
        progress("claims, each left out in turn")
        verdicts = _verdicts(feasible, alone, claims)
        CLAIMS.write(verdicts, folder / CLAIMS.file)
        progress("other readings of words")
        READINGS.write(other_readings(study, claims, points, verdicts), folder / READINGS.file)
        (folder / "contradictions.json").write_text(
            json_text(_contradictions(feasible, claims.reading))
        )


def _points(study: Study, feasible: Feasible, alone: Feasible) -> pd.DataFrame:
    rows = []
    for exhibit in study.exhibits:
        for series, level, quantity in study.points(exhibit):
            text_low, text_high = by_text = alone.interval(quantity)
            low, high = (  # the text's own where only the solver's tolerance parts them
                text
                if math.isclose(end.value, text.value, rel_tol=END_TOLERANCE, abs_tol=END_TOLERANCE)
                else end
                for end, text in zip(feasible.interval(quantity), by_text, strict=True)
            )
            rows.append(
                {
                    "exhibit": exhibit.id,
                    "series": series.label,
                    "x": level,
                    "quantity": quantity.key(),
                    "low": low.value,
                    "high": high.value,
                    "low_text": text_low.value,
                    "high_text": text_high.value,
                    "pieces": feasible.union(quantity),
                    "pieces_text": alone.union(quantity),
                    "low_by": low.held_by,
                    "high_by": high.held_by,
                }
            )
    return POINTS.frame(rows)


def _verdicts(feasible: Feasible, alone: Feasible, claims: Claims) -> pd.DataFrame:
    """Claims of the paper are judged by the text alone, and once more with our assumptions."""
    with_ours, by_text = LeaveOneOut(feasible), LeaveOneOut(alone)
    rows = []
    for claim in claims:
        differs = not claim.assumed and with_ours.assumes(claim)
        verdict = (by_text if differs else with_ours).judge(claim)
        assumed = with_ours.verdict(claim) if differs else verdict.verdict
        against = {
            c
            for conflict in feasible.contradictions.conflicts
            if claim.id in conflict
            for c in conflict
        }
        rows.append(
            {
                "claim": claim.id,
                "kind": claim.kind,
                "text_verdict": verdict.verdict,
                "verdict_with_assumptions": assumed,
                "value": np.nan if claim.value is None else claim.value,
                "low": claim.low,
                "high": claim.high,
                "implied_low": verdict.implied[0],
                "implied_high": verdict.implied[1],
                "information": verdict.information,
                "conflicts": sorted(against - {claim.id}),
                "dropped": claim.id in feasible.contradictions.dropped,
            }
        )
    return CLAIMS.frame(rows)


def _contradictions(feasible: Feasible, reading: str) -> dict[str, Any]:
    dropped = feasible.contradictions.dropped
    return {
        "reading": reading,
        "dropped": list(dropped),
        "may_be_wider": feasible.contradictions.wider,
        "conflicts": [
            {"claims": list(conflict), "dropped": [c for c in conflict if c in dropped]}
            for conflict in feasible.contradictions.conflicts
        ],
        "alternatives": alternatives(feasible),
    }


def alternatives(feasible: Feasible) -> list[dict[str, Any]]:
    """One entry for each group of conflicts that several smallest resolutions solve.

    ``always``: the claims that every resolution sets aside. ``resolutions``: for each what it sets
    aside beside them (``aside``) and the range of the points that differ most (``points``; None for
    no limit), the same points in each.
    """
    return [_entry(feasible, options) for options in feasible.contradictions.choices]


def _entry(feasible: Feasible, options: Sequence[tuple[str, ...]]) -> dict[str, Any]:
    always = [c for c in options[0] if all(c in option for option in options)]
    named = {c for option in options for c in option}
    cluster = next(c for c in feasible.clusters if options in c.found.choices)
    every = [set(r) for r in cluster.found.resolutions]
    # all, where there are more combinations than are tried one by one
    under = [[r for r in every if named & r == set(option)] or every for option in options]

    def ranges(quantity: Quantity) -> list[tuple[float, float]]:
        system = feasible.system_of(quantity)
        pieces = dict(zip(feasible.resolutions(system), feasible.pieces(quantity), strict=True))
        owners = set(system.owner)
        ends = [[pieces[frozenset(owners & r)] for r in some] for some in under]
        return [
            (min(low.value for low, _ in some), max(high.value for _, high in some))
            for some in ends
        ]

    places: dict[Quantity, dict[str, Any]] = {}
    for exhibit in feasible.study.exhibits:
        for series, level, quantity in feasible.study.points(exhibit):
            if any(quantity in system.index for system in cluster.systems):
                place = {
                    "exhibit": exhibit.id,
                    "series": series.label,
                    "x": level,
                    "quantity": quantity.key(),
                }
                places.setdefault(quantity, place)
    found = {quantity: ranges(quantity) for quantity in places}
    spread = {quantity: _spread(ends) for quantity, ends in found.items()}
    differing = sorted((q for q in found if spread[q] > SAME_END), key=lambda q: -spread[q])[
        :MOST_POINTS
    ]
    return {
        "always": always,
        "resolutions": [
            {
                "aside": [c for c in option if c not in always],
                "points": [
                    places[q] | {"low": _end(found[q][k][0]), "high": _end(found[q][k][1])}
                    for q in differing
                ],
            }
            for k, option in enumerate(options)
        ],
    }


def _spread(ranges: Sequence[tuple[float, float]]) -> float:
    """How far the ends of ranges lie apart, relative to the largest of them; infinite where one
    alone is open.
    """
    ends = np.array(ranges)
    if (np.isinf(ends).any(axis=0) != np.isinf(ends).all(axis=0)).any():
        return float("inf")
    finite = ends[:, np.isfinite(ends).all(axis=0)]
    return (
        float(np.ptp(finite, axis=0).max() / max(np.abs(finite).max(), SAME_END))
        if finite.size
        else 0.0
    )


def _end(value: float) -> float | None:
    return float(rounded(value)) if np.isfinite(value) else None
