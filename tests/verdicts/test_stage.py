"""Verdicts near natural bounds."""

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
study: reads
kind: measured
title: Reads of two guests
question: Does a level last?
blocks: [replicate]
factors:
  guest: {label: guest, levels: [1, 2], default: 1}
quantities:
  reads: {label: Reads, unit: 1/s, bounds: [0, 100]}
exhibits:
  - {id: figure-1, kind: line, title: Reads, quantity: reads, over: guest, series: [{label: all, levels: [1, 2]}]}
"""
HYPOTHESES = """
study: reads
hypotheses:
  - {id: above-50, kind: range, of: "reads[guest=2]", low: 50, says: More than 50 are read., about: [figure-1]}
"""
READS = {1: (98.0, 98.4, 98.2), 2: (98.0, 99.8, 99.9)}


@pytest.fixture
def layout(tmp_path: Path, root: Path) -> Layout:
    """A study of two guests, the second near a natural bound."""
    folder = tmp_path / "data" / "measured" / "reads"
    folder.mkdir(parents=True)
    (folder / "study.yaml").write_text(STUDY)
    (folder / "hypotheses.yaml").write_text(HYPOTHESES)
    shutil.copy(root / "data" / "readings.yaml", tmp_path / "data" / "readings.yaml")
    shutil.copy(root / "params.yaml", tmp_path / "params.yaml")
    rows = [
        {
            "run_id": f"g{guest}-{k}",
            "provenance": "measured",
            "replicate": k,
            "block": f"{guest}/{k}",
            "day": "2026-01-05",
            "quantity": "reads",
            "guest": guest,
            "value": value,
            "n": 20,
            "entities": 1,
        }
        for guest, values in READS.items()
        for k, value in enumerate(values, 1)
    ]
    runs = tmp_path / "data" / "runs" / "reads"
    runs.mkdir(parents=True)
    table = stage_tables.OBSERVATIONS
    frame = table.frame(rows, ("guest",))
    table.write(frame, runs / table.file, ("guest",))
    return Layout(tmp_path)


@pytest.fixture
def verdicts(layout: Layout) -> pd.DataFrame:
    judge_claims(layout, load_study(layout.definition("reads")), load_parameters(layout.parameters))
    table = stage_tables.VERDICTS
    return table.read(layout.verdicts("reads") / table.file).set_index("claim")


def test_interval_ends_at_a_natural_bound(verdicts: pd.DataFrame) -> None:
    assert verdicts.loc["above-50", "estimate_high"] == 100
    assert " to 100.0, " in verdicts.loc["above-50", "reason"]
    assert verdicts.loc["above-50", "allowed_low"] == 50
    assert verdicts.loc["above-50", "allowed_high"] == float("inf")
