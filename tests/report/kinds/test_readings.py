"""Conclusions that depend on the reading of words."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from tests.report import toy
from tests.report.plain import links, plain
from virtperf.core.stage_tables import POINTS, READINGS
from virtperf.report.kinds.readings import FIRST, MAX_ROWS
from virtperf.report.loaded import LoadedStudy, load_study

AT_8 = "throughput[system=a, guests=8, storage=all, cipher=none]"


def build(root: Path, source: Path, rows: list[dict]) -> LoadedStudy:
    """The toy study with a word in one claim, and these changes."""
    data = toy.build(root)
    shutil.copy(source / "data" / "readings.yaml", data)
    path = data / "published" / "toy" / "claims.yaml"
    text = path.read_text()
    assert text.count("margin: 0.02, reading") == 1
    path.write_text(text.replace("margin: 0.02, reading", "word: flat, reading"))
    folder = data / "reconstructed" / "toy"
    READINGS.write(READINGS.frame(rows), folder / READINGS.file)
    points = POINTS.read(folder / POINTS.file)
    points.loc[
        (points["exhibit"] == "figure-2") & (points["x"] == 8) & (points["low_text"] == 165.5),
        "quantity",
    ] = AT_8
    POINTS.write(points, folder / POINTS.file)
    return load_study("toy", data)


def verdict(reading: str, claim: str, before: str, after: str) -> dict:
    ends = dict.fromkeys(("low", "high", "low_read", "high_read"), math.nan)
    return {
        "reading": reading,
        "kind": "verdict",
        "name": claim,
        "label": "",
        "claims": [],
        "verdict": before,
        "verdict_read": after,
        **ends,
    }


def moved(reading: str, quantity: str, low: float, high: float) -> dict:
    return {
        "reading": reading,
        "kind": "range",
        "name": quantity,
        "label": "",
        "claims": [],
        "verdict": "",
        "verdict_read": "",
        "low": 165.5,
        "high": 166.5,
        "low_read": low,
        "high_read": high,
    }


def test_changes_are_compared_with_the_current_reading(tmp_path: Path, root: Path) -> None:
    rows = [
        verdict("strict", "more-at-8", "corroborated", "depends"),
        verdict("lenient", "flat", "contradicted", "independent"),
        moved("lenient", AT_8, 160, math.inf),
    ]
    exhibit = build(tmp_path, root, rows).readings()
    assert exhibit.record.claims == ("more-at-8", "flat")
    text = plain(exhibit)
    assert "1 claim has a word that stands for a number." in text
    assert (
        "read strictly, 1 verdict, 0 ranges of plotted points and 0 derived numbers differ; "
        "read leniently, 1 verdict, 1 range of plotted points and 0 derived numbers differ" in text
    )
    # one point of the toy study has the name that stage tables use, the others the name of their quantity
    assert "2 verdicts of 4 and 3 ranges of 4 are the same" in text
    (first, _) = exhibit.record.blocks[1].items
    shown = "".join(part if isinstance(part, str) else part.text for part in first)
    assert shown.endswith(": here in conflict; stated once if words are read more widely.")
    assert "claim:flat" in links(exhibit) and "exhibit:figure-2" in links(exhibit)
    verdicts, ranges = [block for block in exhibit.record.blocks if block.block == "grid"]
    # contradicted claims come first; unlisted claims are unchanged by a reading
    assert [[cell[0].text for cell in row[1:]] for row in verdicts.rows] == [
        ["in conflict", "in conflict", "stated once"],
        ["others in conflict", "follows from others", "follows from others"],
    ]
    assert [row[1:] for row in ranges.rows] == [("165.5 to 166.5", "165.5 to 166.5", "160 or more")]
    assert "Default (here)" in verdicts.columns
    assert "0.9804 to 1.02 × the compared value" in text  # the word from the file


def test_long_tables_open_on_a_click(tmp_path: Path, root: Path) -> None:
    ids = ("more-at-8", "best-at-8", "flat", "busy")
    loaded = build(
        tmp_path,
        root,
        [
            verdict("strict", ids[k % 4] + "x" * (k // 4), "independent", "depends")
            for k in range(FIRST + 3)
        ],
    )
    (grid,) = [block for block in loaded.readings().record.blocks if block.block == "grid"]
    assert len(grid.rows) == FIRST and "Show 3 more verdicts" in plain(loaded.readings())


@pytest.mark.parametrize("name", ["loaded", "bare"])
def test_study_without_words_is_stated(request: pytest.FixtureRequest, name: str) -> None:
    assert "No claim has a word" in plain(request.getfixturevalue(name).readings())


def test_very_long_tables_are_truncated_with_download(tmp_path: Path, root: Path) -> None:
    rows = [verdict("strict", f"claim-{k}", "corroborated", "depends") for k in range(MAX_ROWS + 5)]
    text = plain(build(tmp_path, root, rows).readings())
    assert f"Show {MAX_ROWS - FIRST} more verdicts" in text
    assert "The download has 5 more verdicts." in text
    assert f"claim-{MAX_ROWS - 1}" in text and f"claim-{MAX_ROWS}" not in text


def test_limits_by_hand_are_listed_with_their_reason(tmp_path: Path, root: Path) -> None:
    loaded = build(tmp_path, root, [])
    path = next(tmp_path.rglob("claims.yaml"))
    text = path.read_text()
    path.write_text(
        text.replace(
            "value: 80, half_width: 0.5}", "low: 75, high: 85, reading: no digits are printed}"
        )
    )
    text = plain(load_study("toy", path.parents[2]).readings())
    assert "1 claim has limits of their own" in text
    assert "75 to 85" in text and "no digits are printed" in text
    assert "limits of their own" not in plain(loaded.readings())
