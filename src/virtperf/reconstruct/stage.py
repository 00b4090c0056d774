"""The reconstruct stage: from a study's published folder to points, verdicts, contradictions and raw run folders."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pandas as pd

from virtperf.core.files import json_text, replaced_folder
from virtperf.core.params import Parameters
from virtperf.core.tables import csv_text, rounded
from virtperf.reconstruct.feasible import Feasible, centres, solve
from virtperf.reconstruct.leave_one_out import judge
from virtperf.simulate.load import load_raw
from virtperf.simulate.plan import plan_runs
from virtperf.simulate.raw import run_writer
from virtperf.study.claims import Claims
from virtperf.study.definition import Study
from virtperf.study.quantities import Quantity

Progress = Callable[[str], None]

# Given in full, so that a study without figures or statements has tables without rows rather than without columns.
POINTS = ("exhibit", "series", "x", "quantity", "low", "high", "centre", "low_bare", "high_bare", "low_by", "high_by")
CLAIMS = ("claim", "kind", "text_verdict", "value", "low", "high", "implied_low", "implied_high", "information",
          "conflicts", "dropped")  # fmt: skip


def reconstruct(study: Study, claims: Claims, parameters: Parameters, out: Path, progress: Progress) -> None:
    """Write everything that the paper's text implies into the folder `out`.

    Files: `points.csv` (feasible interval and centre of every plotted point), `claims.csv` (text verdicts),
    `contradictions.json`, `truth.csv` (what the simulated runs are made around) and, where the study plans runs,
    `runs/<run_id>/`.
    """
    raw = load_raw(study, parameters.reconstruct) if "runs" in study.data else None
    off = parameters.reconstruct.assumptions_off
    with replaced_folder(out) as folder, ExitStack() as open_:
        begin = open_.enter_context(run_writer(study.id, raw, parameters.seed, folder / "runs")) if raw else None
        progress("contradictions")
        feasible = solve(study, claims, off)
        bare = solve(study, claims, ("all",), explain=False)
        found = centres(feasible, progress)
        centre = {q: float(v) for q, v in zip(found, rounded(list(found.values())), strict=True)}
        plans = plan_runs(study, raw.borrow, centre, parameters.reconstruct.replicates) if raw else []
        written = begin(plans) if begin else iter(())
        progress("points")
        (folder / "points.csv").write_text(csv_text(_points(study, feasible, bare, centre)))
        progress("claims, each left out in turn")
        (folder / "claims.csv").write_text(csv_text(_verdicts(feasible, claims)))
        (folder / "contradictions.json").write_text(json_text(_contradictions(feasible)))
        (folder / "truth.csv").write_text(csv_text(_truth(centre)))
        for number, plan in enumerate(written, start=1):
            progress(f"run {number} of {len(plans)}: {plan.run_id}")


def _points(study: Study, feasible: Feasible, bare: Feasible, centre: dict[Quantity, float]) -> pd.DataFrame:
    rows = []
    for exhibit in study.exhibits:
        for series, level, quantity in study.points(exhibit):
            low, high = feasible.interval(quantity)
            bare_low, bare_high = bare.interval(quantity)
            rows.append({
                "exhibit": exhibit.id, "series": series.label, "x": level, "quantity": quantity.key(),
                "low": low.value, "high": high.value, "centre": centre.get(quantity, np.nan),
                "low_bare": bare_low.value, "high_bare": bare_high.value,
                "low_by": ";".join(low.held_by), "high_by": ";".join(high.held_by),
            })  # fmt: skip
    return pd.DataFrame(rows, columns=list(POINTS))


def _verdicts(feasible: Feasible, claims: Claims) -> pd.DataFrame:
    rows = []
    for claim in claims:
        verdict = judge(feasible, claim)
        against = {c for conflict in feasible.contradictions.conflicts if claim.id in conflict for c in conflict}
        rows.append({
            "claim": claim.id, "kind": claim.kind, "text_verdict": verdict.verdict,
            "value": np.nan if claim.value is None else claim.value, "low": claim.low, "high": claim.high,
            "implied_low": verdict.implied[0], "implied_high": verdict.implied[1], "information": verdict.information,
            "conflicts": ";".join(sorted(against - {claim.id})),
            "dropped": int(claim.id in feasible.contradictions.dropped),
        })  # fmt: skip
    return pd.DataFrame(rows, columns=list(CLAIMS))


def _contradictions(feasible: Feasible) -> dict[str, object]:
    dropped = feasible.contradictions.dropped
    return {
        "dropped": list(dropped),
        "conflicts": [
            {"claims": list(conflict), "dropped": [c for c in conflict if c in dropped]}
            for conflict in feasible.contradictions.conflicts
        ],
    }


def _truth(centre: dict[Quantity, float]) -> pd.DataFrame:
    rows = [{"quantity": quantity.key(), "value": value} for quantity, value in centre.items()]
    return pd.DataFrame(rows, columns=["quantity", "value"]).sort_values("quantity")
