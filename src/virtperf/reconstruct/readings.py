"""What would change if words that stand for numbers were read otherwise (`study.readings`)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pandas as pd

from rawperf.core.tables import rounded
from virtperf.core.params import Reading
from virtperf.core.stage_tables import READINGS
from virtperf.reconstruct.feasible import Feasible, connected_claims, solve
from virtperf.reconstruct.leave_one_out import SURE_DIGITS, LeaveOneOut
from virtperf.reconstruct.remembered import CachedLinearSystem
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study

MATERIAL = 0.05
"""Share of a range's width by which an end has to move, to count; of the end itself where the range
is open.
"""

_TEXT = ("all",)
"""Assumptions that are off: those of ours are no part of what the words say."""


def other_readings(
    study: Study, claims: Claims, points: pd.DataFrame, verdicts: pd.DataFrame
) -> pd.DataFrame:
    """The table `READINGS`: verdicts and ranges by the text alone that differ under the readings
    not in force.

    Only groups of connected quantities with a claim whose limits differ are computed again;
    `points` and `verdicts` are the tables `POINTS` and `CLAIMS` under the reading in force.
    """
    rows = []
    for reading in (reading for reading in get_args(Reading) if reading != claims.reading):
        others = load_claims(study, reading=reading)
        if touched := _touched(study, claims, others):
            again = replace(others, claims=tuple(c for c in others if c.id in touched))
            feasible = solve(study, again, _TEXT, explain=False, linear=CachedLinearSystem)
            found = (*_verdicts(feasible, again, verdicts), *_ranges(study, feasible, points))
            rows += [{"reading": reading, **row} for row in found]
    return READINGS.frame(rows)


def _touched(study: Study, claims: Claims, others: Claims) -> set[str]:
    """The claims in clusters of which one has other limits."""
    before = {c.id: c for c in claims}
    changed = {c.id for c in others if c != before[c.id]}
    members = connected_claims(study, others.active(_TEXT))
    return {claim for group in members if group & changed for claim in group}


def _verdicts(
    feasible: Feasible, again: Claims, verdicts: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    in_force = verdicts.set_index("claim")["text_verdict"]
    others = LeaveOneOut(feasible)
    for claim in again:
        found = others.verdict(claim)
        if found != in_force[claim.id]:
            yield {
                "kind": "verdict",
                "name": claim.id,
                "verdict": in_force[claim.id],
                "verdict_read": found,
                "low": np.nan,
                "high": np.nan,
                "low_read": np.nan,
                "high_read": np.nan,
            }


def _ranges(study: Study, feasible: Feasible, points: pd.DataFrame) -> Iterator[dict[str, Any]]:
    rows = points.drop_duplicates("quantity").to_dict("records")
    named = [(study.quantity(row["quantity"]), row) for row in rows]
    about = [
        (q, row)
        for q, row in named
        if (system := feasible.system_of(q)) is not None and any(system.owner)
    ]
    feasible.measure(q for q, _ in about)
    for quantity, row in about:
        low, high = map(
            float, rounded([end.value for end in feasible.interval(quantity)], SURE_DIGITS)
        )
        before = float(row["low_text"]), float(row["high_text"])
        if differs(before, (low, high), study.quantities[quantity.name].resolution):
            yield {
                "kind": "range",
                "name": row["quantity"],
                "verdict": "",
                "verdict_read": "",
                "low": before[0],
                "high": before[1],
                "low_read": low,
                "high_read": high,
            }


def differs(before: tuple[float, float], after: tuple[float, float], resolution: float) -> bool:
    """Whether an end of a range moved by more than `MATERIAL` and the resolution, or became or
    ceased to be open.
    """
    width = before[1] - before[0]
    for old, new in zip(before, after, strict=True):
        if np.isfinite(old) != np.isfinite(new):
            return True
        least = max(MATERIAL * (width if np.isfinite(width) else abs(old)), resolution)
        if np.isfinite(old) and abs(new - old) > least + 1e-6:
            return True
    return False
