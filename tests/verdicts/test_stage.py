"""Verdicts that other runs contradict, and the table of verdicts by level."""

from __future__ import annotations

import shutil
from pathlib import Path

import pandas as pd
import pytest

from virtperf.core import stage_tables
from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.study.definition import load_study
from virtperf.verdicts.stage import judge_claims

STUDY = """
study: sessions
kind: measured
title: Reads in three sessions
question: Does a level last?
judged_over: session
blocks: [replicate]
factors:
  session: {label: session, levels: [1, 2, 3], default: 1, labels: {3: long}}
quantities:
  reads: {label: Reads, unit: 1/s, bounds: [0, 100]}
exhibits:
  - {id: figure-1, kind: line, title: Reads, quantity: reads, over: session, series: [{label: all, levels: [1, 2, 3]}]}
"""
HYPOTHESES = """
study: sessions
hypotheses:
  - {id: above-90, kind: range, of: reads, low: 90, says: More than 90 are read., about: [figure-1]}
  - {id: above-50, kind: range, of: reads, low: 50, says: More than 50 are read., about: [figure-1]}
  - {id: below-99, kind: range, of: reads, high: 99.9, says: Less than all are read., about: [figure-1],
     against: "a run that was not kept read 100"}
"""
READS = {1: (98.0, 98.4, 98.2), 2: (98.0, 99.8, 99.9), 3: (80.0, 81.0, 79.0)}


@pytest.fixture
def layout(tmp_path: Path, root: Path) -> Layout:
    """A study of three sessions, the third with other results."""
    folder = tmp_path / "data" / "measured" / "sessions"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(STUDY)
    (folder / "hypotheses.yaml").write_text(HYPOTHESES)
    shutil.copy(root / "data" / "readings.yaml", tmp_path / "data" / "readings.yaml")
    shutil.copy(root / "params.yaml", tmp_path / "params.yaml")
    rows = [
        {
            "run_id": f"s{session}-{k}",
            "provenance": "measured",
            "replicate": k,
            "block": f"{session}/{k}",
            "day": "2026-01-05",
            "quantity": "reads",
            "session": session,
            "value": value,
            "n": 20,
            "entities": 1,
        }
        for session, values in READS.items()
        for k, value in enumerate(values, 1)
    ]
    runs = tmp_path / "data" / "runs" / "sessions"
    runs.mkdir(parents=True)
    table = stage_tables.OBSERVATIONS
    frame = table.frame(rows, ("session",))
    table.write(frame, runs / table.file, ("session",))
    return Layout(tmp_path)


@pytest.fixture
def tables(layout: Layout) -> tuple[pd.DataFrame, pd.DataFrame]:
    judge_claims(
        layout, load_study(layout.definition("sessions")), load_parameters(layout.parameters)
    )
    folder = layout.verdicts("sessions")
    verdicts, by_level = stage_tables.VERDICTS, stage_tables.VERDICTS_BY_LEVEL
    return (
        verdicts.read(folder / verdicts.file).set_index("claim"),
        by_level.read(folder / by_level.file),
    )


def test_verdict_that_other_runs_contradict_is_not_counted_as_holding(
    tables: tuple[pd.DataFrame, pd.DataFrame],
) -> None:
    found, _ = tables
    assert found["measured_verdict"].to_dict() == {
        "above-90": "contradicted elsewhere",
        "above-50": "holds here",
        "below-99": "contradicted elsewhere",
    }
    reason = str(found.loc["above-90", "reason"])
    assert reason.startswith("session 1: holds here (measured 98")
    assert "; long session: does not hold here (measured 80" in reason and "session 2" not in reason
    assert str(found.loc["below-99", "reason"]).endswith("; a run that was not kept read 100")


def test_every_level_has_its_own_verdict(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    _, by_level = tables
    words = {
        (row["claim"], str(row["level"])): row["measured_verdict"]
        for row in by_level.to_dict("records")
    }
    assert [words["above-90", level] for level in "123"] == [
        "holds here",
        "holds here",
        "does not hold here",
    ]


def test_interval_ends_at_a_natural_bound(tables: tuple[pd.DataFrame, pd.DataFrame]) -> None:
    found, by_level = tables
    second = by_level[(by_level["claim"] == "above-50") & (by_level["level"].astype(str) == "2")]
    assert second["estimate_high"].iloc[0] == 100
    assert " to 100.0, " in second["reason"].iloc[0]
    assert found.loc["above-50", "allowed_low"] == 50
    assert found.loc["above-50", "allowed_high"] == float("inf")
