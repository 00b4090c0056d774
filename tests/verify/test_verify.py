"""A replay against what is stored: exactly what changed is named."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from virtperf.core.tables import write_parquet
from virtperf.models import linear
from virtperf.verify.outcome import REDRAWN


def affected(outcome) -> set[str]:
    (study,) = outcome.studies
    return {e.name for e in study.affected}


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times in {path.name}"
    path.write_text(text.replace(old, new))


def test_nothing_changed_is_identical(outcome) -> None:
    found = outcome()
    assert found.agrees and not found.findings
    assert set(found.counts) == {"identical"}
    assert {e.drawing for e in found.studies[0].exhibits} == {"", "identical"}


def test_one_raw_value_moves_its_figure_and_the_fit_through_it_only(repository: Path, outcome) -> None:
    log = repository / "data" / "measured" / "toy" / "load-3" / "d1.log"
    lines = log.read_text().splitlines(keepends=True)
    lines[60] = re.sub(r"pg elem/s = \d+\.", "pg elem/s = 310.", lines[60])
    log.write_text("".join(lines))
    found = outcome()
    assert affected(found) == {"figure-1", "growth-per-guest"}
    (study,) = found.studies
    moved = [c for e in study.affected for c in e.changes if not c.agrees]
    assert {c.item.label for c in moved} >= {"load, 3", "growth per guest"}
    assert {c.item.label for c in moved if c.item.exhibit == "figure-1"} <= {"load, 3", "caption"}
    assert all(c.status == "moved" for c in moved)
    assert not found.findings  # what is stored agrees with itself


def test_a_changed_claim_moves_its_points_and_statements_only(repository: Path, outcome) -> None:
    edit(
        repository / "data" / "published" / "toy" / "claims.yaml",
        "value: 50, half_width: 0.5",
        "value: 52, half_width: 0.5",
    )
    found = outcome()
    assert {"figure-2", "claims"} <= affected(found) <= {"figure-2", "claims", "summary"}
    assert found.studies[0].claims == ["memory-at-1"]
    assert found.studies[0].claim_exhibits["memory-at-1"] == ("figure-2",)


def test_a_changed_style_redraws_from_the_same_numbers(repository: Path, outcome, monkeypatch) -> None:
    monkeypatch.setattr("virtperf.exhibits.line.DODGE_PX", 7)
    monkeypatch.setattr("virtperf.exhibits.line.SOLID_PX", 11)
    found = outcome()
    assert found.agrees and set(found.counts) == {"identical"}
    assert [e.name for e in found.studies[0].exhibits if e.drawing == REDRAWN] == ["figure-1", "figure-2"]


@pytest.mark.parametrize(("factor", "moved"), [(1 + 1e-3, {"growth-per-guest"}), (1 + 1e-12, set())])
def test_another_version_of_a_library_moves_what_it_computes_only(outcome, monkeypatch, factor, moved) -> None:
    fit_line = linear.fit_line
    monkeypatch.setattr(linear, "fit_line", lambda x, y: fit_line(x, y * factor))
    found = outcome()
    assert affected(found) == moved and found.agrees is not bool(moved)
    assert {p.name: p.version for p in found.packages}["numpy"] == np.__version__


def test_the_noise_of_another_linear_algebra_library_is_within_tolerance(repository: Path, outcome) -> None:
    path = repository / "data" / "runs" / "toy" / "observations.parquet"
    table = pd.read_parquet(path)
    write_parquet(table.assign(value=table["value"] * (1 + 1e-12)), path)
    found = outcome()
    assert found.agrees and found.counts["within tolerance"] >= 4
    write_parquet(table.assign(value=table["value"] * (1 + 1e-7)), path)
    assert affected(outcome()) == {"figure-1", "figure-2"}  # the figures' own numbers, stored in full
