"""The reconstruct stage: points, ranges, verdicts and contradictions of a study."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd

from rawperf.core.files import json_text, replace_folder
from virtperf.core.params import Parameters
from virtperf.core.stage_tables import CLAIMS, POINTS, RANGES, READINGS
from virtperf.reconstruct.causes import contradictions_by_cause
from virtperf.reconstruct.feasible import Feasible, solve
from virtperf.reconstruct.leave_one_out import LeaveOneOut
from virtperf.reconstruct.lp_cache import CachedLinearSystem
from virtperf.reconstruct.ranges import Answers, ranges
from virtperf.reconstruct.reading_sensitivity import other_readings, solve_other_readings
from virtperf.study.claims import Claims, readings_of
from virtperf.study.definition import Study

OnProgress = Callable[[str], None]
END_TOLERANCE = 1e-5
"""Relative tolerance at which two ends of a range are equal."""


def reconstruct(
    study: Study,
    claims: Claims,
    parameters: Parameters,
    out: Path,
    progress: OnProgress,
) -> None:
    """Reconstruct the paper's data from its claims, and write the results to the folder `out`.

    Files: the tables `POINTS`, `RANGES`, `CLAIMS` and `READINGS` of `core.stage_tables`, and
    `contradictions.json`.
    """
    off = parameters.reconstruct.assumptions_off
    with replace_folder(out) as folder:
        progress("contradictions")
        feasible = solve(study, claims, off, linear=CachedLinearSystem)
        alone = solve(study, claims, ("all",), explain=False, known=feasible)
        progress("other readings of words")
        others = solve_other_readings(study, claims, alone)
        answers = Answers([feasible, alone, *(other.feasible for other in others)], parameters.seed)
        progress("points")
        points = _points(study, feasible, alone)
        POINTS.write(points, folder / POINTS.file)
        progress("ranges of derived numbers")
        derived = ranges(claims, feasible, alone, answers)
        RANGES.write(derived, folder / RANGES.file)
        progress("leave-one-out verdicts")
        verdicts = _verdicts(feasible, alone, claims)
        CLAIMS.write(verdicts, folder / CLAIMS.file)
        progress("effects of other readings")
        effects = other_readings(others, alone, answers, points, verdicts, derived)
        READINGS.write(effects, folder / READINGS.file)
        lenient = readings_of(study, claims, "lenient")
        (folder / "contradictions.json").write_text(
            json_text({"reading": claims.reading} | contradictions_by_cause(feasible, lenient))
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
                    "low_by": low.binding_claims,
                    "high_by": high.binding_claims,
                    "low_text_by": text_low.binding_claims,
                    "high_text_by": text_high.binding_claims,
                }
            )
    return POINTS.frame(rows)


def _verdicts(feasible: Feasible, alone: Feasible, claims: Claims) -> pd.DataFrame:
    """Judge the paper's claims by the text alone, and again with our assumptions."""
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
