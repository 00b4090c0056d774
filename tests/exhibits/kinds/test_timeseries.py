"""Figures over time: whose samples they show, and what they say without any run."""

from __future__ import annotations

from tests.exhibits.plain import plain
from tests.exhibits.toy import HOSTILE
from virtperf.exhibits.loaded import LoadedStudy


def test_the_record_holds_samples_levels_and_provenance(loaded: LoadedStudy) -> None:
    record = loaded.show("figure-5").record
    samples, levels = (n.frame() for n in record.numbers)
    assert len(samples) == 60 and set(samples["series"]) == {HOSTILE, "Memory"}
    assert levels[["low", "high", "told"]].to_numpy().tolist() == [[90, 110, 100]]
    assert record.provenance == ("measured",) and "Run measured-a-4-r1" in plain(record)
    assert "median 101 1/s, at most 102 1/s at 0:20 min" in record.caption
    assert "The text allows 90 to 110 for throughput." in record.caption
    assert record.drawing is not None and "printed level" in record.drawing.svg
    assert "<script" not in record.drawing.svg


def test_without_a_run_it_says_so(bare: LoadedStudy) -> None:
    record = bare.show("figure-5").record
    assert record.caption.startswith("No run shows this yet.") and record.numbers[0].rows == ()
