"""From a plotted value back to lines and statements."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.exhibits import toy
from virtperf.core.files import json_text
from virtperf.exhibits.book import Book
from virtperf.exhibits.trace import Trail, trail_key, trails
from virtperf.exhibits.trace_text import trail_text


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trail]:
    data: Path = toy.build(tmp_path_factory.mktemp("trail"))
    return {t.key: t for t in trails(Book("toy", data))}


def test_every_plotted_point_has_a_key_of_its_own(entries: dict[str, Trail], tmp_path: Path) -> None:
    book = Book("toy", toy.build(tmp_path))
    points = [(e.id, p) for e in book.study.exhibits if e.series for p in book.plotted(e.id)]
    keys = [trail_key("toy", e, p.series.label, p.x) for e, p in points]
    assert len(set(keys)) == len(keys) == len(entries)
    assert set(keys) == set(entries)


def test_it_leads_to_runs_files_and_the_lines_within_the_window(entries: dict[str, Trail]) -> None:
    trail = next(t for t in entries.values() if t.exhibit == "figure-2" and t.series == toy.HOSTILE and t.x == "4")
    assert [r.run for r in trail.runs][:3] == ["measured-a-4-r1", "measured-a-4-r2", "measured-a-4-r3"]
    (file,) = trail.runs[0].files
    # Samples stand on lines 2 to 31 at 10 to 300 s; the window is what comes after 60 s, up to 260 s.
    assert (file.path, file.first_line, file.last_line, file.samples) == (toy.HOSTILE_FILE, 8, 27, 20)
    assert trail.runs[0].value == 98 and trail.runs[0].window_s == (60, 260)
    assert ("bad-r1", f"{toy.HOSTILE} (sar.txt, line 12)") in trail.excluded


def test_a_longer_warmup_leaves_out_its_lines(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "runs" / "toy" / "observations.parquet"
    table = pd.read_parquet(path)
    table.loc[(table["run_id"] == "measured-a-4-r1") & (table["quantity"] == "throughput"), "begin_s"] = 100.0
    table.to_parquet(path)
    found = next(t for t in trails(Book("toy", data)) if t.exhibit == "figure-2" and t.x == "4")
    late, declared = found.runs[0], found.runs[1]
    assert (late.run, late.window_s, declared.window_s) == ("measured-a-4-r1", (100, 260), (60, 260))
    assert (late.files[0].first_line, late.files[0].last_line, late.files[0].samples) == (12, 27, 16)


def test_it_names_the_statements_that_set_each_limit(entries: dict[str, Trail]) -> None:
    trail = next(t for t in entries.values() if t.exhibit == "figure-2" and t.series == toy.HOSTILE and t.x == "16")
    assert (trail.low, trail.high) == (162.7, 166.5)
    assert trail.low_by == ("flat",) and trail.high_by == ("best-at-8", "flat")
    printed = next(t for t in entries.values() if t.printed is not None)
    assert (printed.printed, printed.printed_by) == (80, ("busy",))


def test_the_formula_says_how_samples_become_the_value(entries: dict[str, Trail]) -> None:
    trail = next(t for t in entries.values() if t.exhibit == "figure-2")
    assert "page_element_throughput (driver)" in trail.formula and "which is 100" in trail.formula
    text = trail_text(trail, {"bends-down": "Throughput bends downwards"})
    assert trail.key in text and "lower limit: bends-down: Throughput bends downwards" in text


def test_a_run_without_its_reference_is_not_used_and_says_why(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "runs" / "toy" / "observations.parquet"
    table = pd.read_parquet(path)
    alone = (table["run_id"] == "measured-a-4-r1") & (table["quantity"] == "throughput")
    assert alone.any()
    table.loc[alone, ["relative", "relative_se"]] = float("nan")
    table.loc[alone, "note"] = "its reference was not run"
    table.to_parquet(path)
    found = next(t for t in trails(Book("toy", data)) if t.exhibit == "figure-2" and t.x == "4")
    assert "measured-a-4-r1" not in [r.run for r in found.runs]
    assert ("measured-a-4-r1", "its reference was not run") in found.excluded
    assert "NaN" not in json_text(found.as_dict())
