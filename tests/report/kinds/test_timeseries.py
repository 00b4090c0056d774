"""Time series figures: samples shown, and behaviour without runs."""

from __future__ import annotations

from pathlib import Path

from tests.report import toy
from tests.report.plain import plain
from tests.report.toy import HOSTILE
from virtperf.core import stage_tables
from virtperf.report.loaded import LoadedStudy, load_study


def test_record_holds_samples_levels_and_provenance(loaded: LoadedStudy) -> None:
    record = loaded.show("figure-5").record
    samples, levels = (n.frame() for n in record.numbers)
    assert len(samples) == 60 and set(samples["series"]) == {HOSTILE, "Memory"}
    assert levels[["low", "high", "low_text", "high_text"]].to_numpy().tolist() == [
        [90, 110, 80, 120]
    ]
    assert record.provenance == ("measured",) and "Run measured-a-4-r1" in plain(record)
    assert "median 101 1/s, maximum 102 1/s at 0:20 min" in record.caption
    assert "Throughput: 90 to 110." in record.caption
    assert ">with our assumptions<" in record.drawing
    assert "<script" not in record.drawing


def test_without_runs_stated_levels_are_shown_and_several_are_drawn(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    toy.change(data, stage_tables.TIMELINES, {}, provenance="example")
    record = load_study("toy", data).show("figure-5").record
    assert (
        record.caption == "No run was measured, so there is no time series. Throughput: 90 to 110."
    )
    assert record.provenance == ("reconstructed",) and [len(n.rows) for n in record.numbers] == [1]
    assert not record.drawing
    path = data / "published" / "toy" / "study.yaml"
    path.write_text(
        path.read_text().replace("marks: [throughput]", "marks: [throughput, resident]")
    )
    assert not load_study("toy", data).show("figure-5").record.drawing
    path.write_text(
        path.read_text().replace("[throughput, resident]", "[throughput, resident, utilization]")
    )
    drawing = load_study("toy", data).show("figure-5").record.drawing
    assert drawing and "Time from the start" not in drawing


def test_without_levels_nothing_is_drawn(tmp_path: Path) -> None:
    data = toy.build(tmp_path, stages=False)
    path = data / "published" / "toy" / "study.yaml"
    path.write_text(path.read_text().replace("    marks: [throughput]\n", ""))
    record = load_study("toy", data).show("figure-5").record
    assert (
        not record.drawing
        and record.numbers == ()
        and record.caption.startswith("No run was measured")
    )
