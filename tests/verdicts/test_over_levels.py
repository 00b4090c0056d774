"""Hypotheses judged over all levels of a factor, such as sessions: one mean a level, t over levels."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from virtperf.core import stage_tables
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.study.conditions import condition_means, pooled_rows
from virtperf.study.definition import load_study
from virtperf.verdicts.stage import judge_claims

STUDY = """
study: sessions
kind: measured
title: Reads on three machines
question: Does a ratio hold on every machine?
judged_over: session
blocks: [session, replicate]
factors:
  session: {label: machine, levels: [every, 1, 2, 3], default: every}
  data: {label: data, levels: [own, shared], default: own}
quantities:
  reads: {label: Reads, unit: 1/s}
exhibits:
  - {id: figure-1, kind: bar, title: Reads, quantity: reads, over: data, series: [{label: all, levels: [own, shared]}]}
"""
HYPOTHESES = """
study: sessions
hypotheses:
  - {id: twice, kind: ratio, of: "reads[data=shared]", to: reads, low: 1.9, high: 2.1, says: Shared data is read twice as fast., about: [figure-1]}
  - {id: faster, kind: ordering, order: [reads, "reads[data=shared]"], says: Shared data is read faster., about: [figure-1]}
"""
RATIOS = {1: 2.0, 2: 2.3, 3: 1.8}
LEVELS = {1: 100.0, 2: 300.0, 3: 50.0}
FACTORS = ("session", "data")


def observed(session: int) -> list[dict[str, object]]:
    """Six blocks of one machine, whose ratios scatter by 1 % around the machine's own."""
    noise = 1 + 0.01 * np.array([-1.0, 1.0, -0.5, 0.5, 0.25, -0.25])
    return [
        {
            "run_id": f"s{session}-{data}-{k}",
            "provenance": "measured",
            "replicate": k,
            "block": f"{session} {k}",
            "day": "",
            "quantity": "reads",
            "session": session,
            "data": data,
            "value": LEVELS[session] * (1.0 if data == "own" else RATIOS[session] * noise[k - 1]),
            "n": 20,
            "entities": 1,
            "trend": math.nan,
            "method": "runs",
            **dict.fromkeys(("se", "df", "low", "high", "relative", "relative_se"), math.nan),
            "relative_df": math.nan,
        }
        for data in ("own", "shared")
        for k in range(1, 7)
    ]


@pytest.fixture
def repository(tmp_path: Path, root: Path) -> Layout:
    folder = tmp_path / "data" / "measured" / "sessions"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(STUDY)
    (folder / "hypotheses.yaml").write_text(HYPOTHESES)
    shutil.copy(root / "data" / "readings.yaml", tmp_path / "data" / "readings.yaml")
    shutil.copy(root / "params.yaml", tmp_path / "params.yaml")
    return Layout(tmp_path)


def judged(layout: Layout, *sessions: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Verdicts over the machines, and those by machine."""
    study = load_study(layout.definition("sessions"))
    rows = [row for session in sessions for row in observed(session)]
    table = stage_tables.OBSERVATIONS
    folder = layout.runs("sessions")
    folder.mkdir(parents=True, exist_ok=True)
    frame = table.frame([*rows, *pooled_rows(study, rows)], FACTORS)
    table.write(frame, folder / table.file, FACTORS)
    judge_claims(layout, study, load_parameters(layout.parameters))
    out = layout.verdicts("sessions")
    verdicts, by_level = stage_tables.VERDICTS, stage_tables.VERDICTS_BY_LEVEL
    return (
        verdicts.read(out / verdicts.file).set_index("claim"),
        by_level.read(out / by_level.file),
    )


def test_ratio_has_the_spread_between_machines(repository: Layout) -> None:
    found, by_level = judged(repository, 1, 2, 3)
    logs = np.log([*RATIOS.values()])
    half = stats.t(2).ppf(0.975) * logs.std(ddof=1) / math.sqrt(3)
    expected = np.exp([logs.mean(), logs.mean() - half, logs.mean() + half])
    ends = ["estimate", "estimate_low", "estimate_high"]
    assert found.loc["twice", ends].tolist() == pytest.approx(expected, rel=1e-4)
    assert found["measured_verdict"].to_dict() == {"twice": "undecided", "faster": "holds here"}
    assert "18 runs per condition, within 3 machines" in str(found.loc["twice", "reason"])
    alone = by_level.set_index(["claim", by_level["level"].astype(str)])["measured_verdict"]
    words = [alone["twice", level] for level in ("1", "2", "3", "every")]
    assert words == ["holds here", "does not hold here", "does not hold here", "undecided"]


@pytest.mark.parametrize("sessions", [(1,), (1, 2)])
def test_too_few_machines_judge_nothing(repository: Layout, sessions: tuple[int, ...]) -> None:
    found, by_level = judged(repository, *sessions)
    assert set(found["measured_verdict"]) == {"not judged"}
    reason = str(found.loc["twice", "reason"])
    assert reason.startswith(f"measured on {len(sessions)} of at least 3 machines; measured ")
    assert "would" not in reason and found["runs_needed"].isna().all()
    alone = by_level[(by_level["claim"] == "twice") & (by_level["level"].astype(str) == "1")]
    assert alone["measured_verdict"].tolist() == ["holds here"]


def test_mean_of_a_condition_is_over_machines(repository: Layout) -> None:
    study = load_study(repository.definition("sessions"))
    rows = [row for session in (1, 2, 3) for row in observed(session)]
    frame = stage_tables.OBSERVATIONS.frame([*rows, *pooled_rows(study, rows)], FACTORS)
    means = condition_means(study, frame, 0.95)
    at = means[(means["session"].astype(str) == "every") & (means["data"] == "own")].iloc[0]
    levels = np.array([*LEVELS.values()])
    half = stats.t(2).ppf(0.975) * levels.std(ddof=1) / math.sqrt(3)
    assert at[["value", "high"]].tolist() == pytest.approx([levels.mean(), levels.mean() + half])
    assert at["n"] == 18 and len(at["runs"]) == 18


def test_condition_of_one_machine_is_not_over_machines(repository: Layout) -> None:
    study = load_study(repository.definition("sessions"))
    rows = [row for session in (1, 2) for row in observed(session)]
    rows += [row for row in observed(3) if row["data"] == "shared"]
    alone = [row for row in rows if row["data"] == "shared" or row["session"] == 1]
    assert {row["data"] for row in pooled_rows(study, rows)} == {"own", "shared"}
    assert {row["data"] for row in pooled_rows(study, alone)} == {"shared"}


def test_single_machine_keeps_its_blocks(repository: Layout) -> None:
    study = load_study(repository.definition("sessions"))
    rows = pooled_rows(study, observed(1))
    assert {row["session"] for row in rows} == {"every"}
    assert {row["block"] for row in rows} == {f"1 {k}" for k in range(1, 7)}
