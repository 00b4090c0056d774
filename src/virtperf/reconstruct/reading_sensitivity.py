"""Sensitivity to the reading of vague words (`study.readings`).

Compares verdicts, ranges of plotted points and derived numbers, and dropped claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np
import pandas as pd

from rawperf.core.table_columns import round_digits
from virtperf.core.params import WordReading
from virtperf.core.stage_tables import RANGES, READINGS
from virtperf.reconstruct.feasible import Feasible, connected_claims, solve
from virtperf.reconstruct.leave_one_out import STABLE_DIGITS, LeaveOneOut
from virtperf.reconstruct.lp_cache import CachedLinearSystem
from virtperf.reconstruct.ranges import Answers
from virtperf.study.claims import Claim, Claims
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity, quantities_of

MIN_MOVED_SHARE = 0.05
"""Minimum change of an end, as a share of the range's width, or of the end itself if the range is
open.
"""

_TEXT = ("all",)
"""Switched-off assumptions: all of ours, since the readings concern the text alone."""


@dataclass(frozen=True)
class OtherReading:
    """The feasible set of the text alone under another reading of words.

    `changed`: ids of the claims whose limits differ; `affected`: the claims of their clusters.
    """

    reading: WordReading
    feasible: Feasible
    changed: frozenset[str]
    affected: tuple[Claim, ...]


def solve_other_readings(study: Study, claims: Claims, alone: Feasible) -> list[OtherReading]:
    """Solve the text alone under each other reading that changes the limits of a claim.

    `alone` is the feasible set under the reading in force; systems with unchanged limits are reused
    from it.
    """
    found = []
    for reading in (reading for reading in get_args(WordReading) if reading != claims.reading):
        others = claims.reread(study, reading)
        before = {c.id: c for c in claims}
        changed = frozenset(c.id for c in others if c != before[c.id])
        if affected := _affected_claims(study, others, changed):
            feasible = solve(
                study, others, _TEXT, explain=False, linear=CachedLinearSystem, known=alone
            )
            affected_claims = tuple(c for c in others if c.id in affected)
            found.append(OtherReading(reading, feasible, changed, affected_claims))
    return found


def other_readings(
    others: Iterable[OtherReading],
    alone: Feasible,
    answers: Answers,
    points: pd.DataFrame,
    verdicts: pd.DataFrame,
    derived: pd.DataFrame,
) -> pd.DataFrame:
    """Build the table `READINGS`: differences, by the text alone, under the alternative readings.

    `alone` is the feasible set under the reading in force; `answers` has those of all `others` too.
    `points`, `verdicts` and `derived` are the tables `POINTS`, `CLAIMS` and `RANGES`.
    """
    rows = []
    for other in others:
        changes = (
            *_verdicts(other.feasible, other.affected, verdicts),
            *_dropped_differences(alone, other.feasible),
            *_ranges(alone.study, other.feasible, points),
            *_derived(alone, other, answers, derived),
        )
        rows += [{**_EMPTY, "reading": other.reading, **row} for row in changes]
    return READINGS.frame(rows)


_EMPTY = {
    "label": "",
    "claims": (),
    "verdict": "",
    "verdict_read": "",
    **dict.fromkeys(("low", "high", "low_read", "high_read"), np.nan),
}


def _affected_claims(study: Study, others: Claims, changed: Set[str]) -> set[str]:
    """Claims of the clusters in which the limits of at least one claim change."""
    members = connected_claims(study, others.active(_TEXT))
    return {claim for group in members if group & changed for claim in group}


def _verdicts(
    feasible: Feasible, affected_claims: Iterable[Claim], verdicts: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    in_force = verdicts.set_index("claim")["text_verdict"]
    others = LeaveOneOut(feasible)
    for claim in affected_claims:
        verdict = others.verdict(claim)
        if verdict != in_force[claim.id]:
            yield {
                "kind": "verdict",
                "name": claim.id,
                "verdict": in_force[claim.id],
                "verdict_read": verdict,
            }


def _dropped_differences(alone: Feasible, feasible: Feasible) -> Iterator[dict[str, Any]]:
    """Claims whose dropped state differs between the two readings."""
    before, after = _dropped_states(alone), _dropped_states(feasible)
    for claim in (c.id for c in feasible.active if c.id in before or c.id in after):
        states = before.get(claim, "kept"), after.get(claim, "kept")
        if states[0] != states[1]:
            yield {
                "kind": "set aside",
                "name": claim,
                "verdict": states[0],
                "verdict_read": states[1],
            }


def _dropped_states(feasible: Feasible) -> dict[str, str]:
    """Dropped claims, and whether every smallest resolution drops them or only some."""
    states: dict[str, str] = {}
    for cluster in feasible.clusters:
        resolutions = [frozenset(each) for each in cluster.contradictions.resolutions]
        always = frozenset.intersection(*resolutions)
        for claim in frozenset.union(*resolutions):
            states[claim] = "set aside" if claim in always else "set aside, or another"
    return states


def _ranges(study: Study, feasible: Feasible, points: pd.DataFrame) -> Iterator[dict[str, Any]]:
    rows = points.drop_duplicates("quantity").to_dict("records")
    named = [(study.quantity(row["quantity"]), row) for row in rows]
    about = [
        (q, row)
        for q, row in named
        if (system := feasible.system_of(q)) is not None and system.claims
    ]
    feasible.measure(q for q, _ in about)
    for quantity, row in about:
        low, high = map(
            float, round_digits([end.value for end in feasible.interval(quantity)], STABLE_DIGITS)
        )
        before = float(row["low_text"]), float(row["high_text"])
        if differs(before, (low, high), study.quantities[quantity.name].resolution):
            yield {
                "kind": "range",
                "name": row["quantity"],
                "low": before[0],
                "high": before[1],
                "low_read": low,
                "high_read": high,
            }


def _derived(
    alone: Feasible, other: OtherReading, answers: Answers, derived: pd.DataFrame
) -> Iterator[dict[str, Any]]:
    in_force = {(row["derived"], row["label"]): row for row in derived.to_dict("records")}
    feasible = other.feasible
    for derivation in feasible.study.derivations:
        named = quantities_of(derivation.parts)
        changed_quantities = [q for q in named if _system_changed(alone, feasible, q)]
        if derivation.of_itself or not changed_quantities:
            continue
        owners = {
            c
            for q in changed_quantities
            if (system := feasible.system_of(q))
            for c in system.claims
        }
        row = in_force[derivation.derived.id, derivation.label]
        allowed = answers.answer(feasible, derivation)
        before = float(row["low_text"]), float(row["high_text"])
        # round to the digits of the stored table: smaller differences do not count
        low, high = map(
            float,
            round_digits([allowed.pieces[0], allowed.pieces[-1]], RANGES.digits or STABLE_DIGITS),
        )
        levels = tuple(row["levels_text"])
        if levels != allowed.levels or (not levels and differs(before, (low, high), 0.0)):
            yield {
                "kind": "derived",
                "name": derivation.derived.id,
                "label": derivation.label,
                "verdict": ", ".join(levels),
                "verdict_read": ", ".join(allowed.levels),
                "low": before[0],
                "high": before[1],
                "low_read": low,
                "high_read": high,
                "claims": _nearest_first(feasible.active, owners & other.changed, set(named)),
            }


def _nearest_first(
    claims: Iterable[Claim], claim_ids: set[str], quantities: set[Quantity]
) -> list[str]:
    """Ids of the wanted claims: those that name an asked quantity first, then indirect ones."""
    selected = [claim for claim in claims if claim.id in claim_ids]
    return [c.id for c in sorted(selected, key=lambda c: quantities.isdisjoint(c.quantities))]


def _system_changed(alone: Feasible, feasible: Feasible, quantity: Quantity) -> bool:
    """Whether the system or the resolutions of a quantity differ under the other reading."""
    system = feasible.system_of(quantity)
    if system is not alone.system_of(quantity):
        return True
    return system is not None and feasible.resolutions(system) != alone.resolutions(system)


def differs(before: tuple[float, float], after: tuple[float, float], resolution: float) -> bool:
    """Whether a range's end moved beyond the tolerance, or changed between finite and infinite.

    The tolerance is the larger of `MIN_MOVED_SHARE` and the resolution.
    """
    width = before[1] - before[0]
    for old, new in zip(before, after, strict=True):
        if np.isfinite(old) != np.isfinite(new):
            return True
        least = max(MIN_MOVED_SHARE * (width if np.isfinite(width) else abs(old)), resolution)
        if np.isfinite(old) and abs(new - old) > least + 1e-6:
            return True
    return False
