"""Timelines of runs, and lineage from observations to raw lines."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf.core.errors import StudyError
from tests.toy_runs import STUDY
from virtperf.runs.summarize.observations import (
    THUMBNAIL_STEPS,
    chosen_runs,
    observe,
    thumbnail,
    timeline_rows,
)
from virtperf.runs.summarize.series import RunSeries, SampleSeries
from virtperf.study.definition import load_study

T = np.arange(10.0, 1201, 10)
METRICS = {
    "page_element_throughput": {"formats": ["x", "y"], "kind": "gauge", "unit": "1/s"},
    "processor_busy": {"formats": ["x"], "kind": "gauge", "unit": "processors"},
    "resident_memory": {"formats": ["x"], "kind": "gauge", "unit": "B"},
}
FIGURE = """\
exhibits:
  - id: figure-1
    kind: timeseries
    title: Over time
    run: {at: {system: a, guests: 1}}
    series:
      - {label: Throughput, metric: page_element_throughput, entity_kind: driver, unit: 1/min}
      - {label: Memory, metric: resident_memory, entity_kind: guest, entity: "web*", unit: UNIT}
"""


def study_with(tmp_path, unit="MiB"):
    folder = tmp_path / "toy"
    folder.mkdir()
    (folder / "study.yaml").write_text(
        STUDY.replace("exhibits: []\n", FIGURE.replace("UNIT", unit))
    )
    return load_study(folder)


def traced(value, t=T, file="a.txt", line=1):
    return SampleSeries(
        t, np.broadcast_to(float(value), t.shape), np.full(len(t), file), line + np.arange(len(t))
    )


def run_of(series, **info):
    facts = {
        "run_id": "r",
        "provenance": "measured",
        "factors": {},
        "window_s": [300, 900],
        "warmup_s": 300,
    } | info
    return RunSeries(facts, METRICS, series, 0.95)


SERIES = {
    ("x", "driver", "d1", "page_element_throughput"): traced(2),
    ("x", "driver", "d2", "page_element_throughput"): traced(3, T[:60], "b.txt", 100),
    ("y", "driver", "d1", "page_element_throughput"): traced(
        2
    ),  # the same metric from another tool counts once
    ("x", "guest", "web1", "resident_memory"): traced(2**20),
    ("x", "guest", "Web2", "resident_memory"): traced(2**20),
    ("x", "guest", "db", "resident_memory"): traced(2**20),
}


def test_samples_are_summed_and_converted(tmp_path):
    rows = list(timeline_rows(study_with(tmp_path).exhibits[0], run_of(SERIES)))
    memory = [row["value"] for row in rows if row["series"] == "Memory"]
    assert set(memory) == {1.0} and len(memory) == len(
        T
    )  # MiB of web1 alone: letters count as tools write them
    throughput = {row["t_s"]: row["value"] for row in rows if row["series"] == "Throughput"}
    assert (throughput[600.0], throughput[610.0]) == (
        pytest.approx(300),
        pytest.approx(120),
    )  # d2 ends at 600 s
    assert {(row["unit"], row["provenance"], row["run_id"]) for row in rows} == {
        ("MiB", "measured", "r"),
        ("1/min", "measured", "r"),
    }


def test_entities_sampled_in_sequence_are_summed(tmp_path):
    late = SERIES | {("x", "driver", "d2", "page_element_throughput"): traced(3, T + 0.2)}
    figure = study_with(tmp_path).exhibits[0]
    rows = list(timeline_rows(figure, run_of(late)))
    sums = {row["t_s"]: row["value"] for row in rows if row["series"] == "Throughput"}
    assert list(sums) == T.tolist()
    assert list(sums.values()) == pytest.approx([300] * len(T))
    # half an interval apart, they are two series with separate times
    apart = SERIES | {("x", "driver", "d2", "page_element_throughput"): traced(3, T + 5)}
    rows = list(timeline_rows(figure, run_of(apart)))
    assert sum(row["series"] == "Throughput" for row in rows) == 2 * len(T)


def test_impossible_unit_conversion_is_reported(tmp_path):
    with pytest.raises(
        StudyError, match=r"figure-1, Memory: 'B' measures information, 'ms' measures time"
    ):
        list(timeline_rows(study_with(tmp_path, "ms").exhibits[0], run_of(SERIES)))


def test_first_run_of_each_provenance_is_shown(tmp_path):
    def run(run_id, provenance="measured", **factors):
        return {
            "run_id": run_id,
            "provenance": provenance,
            "factors": {"test": "load", "system": "a", "guests": 1} | factors,
        }

    study = study_with(tmp_path)
    runs = [run("e1", "example"), run("r2"), run("r1"), run("r0", guests=2)]
    assert chosen_runs(study, study.exhibits[0], runs) == ["r1", "e1"]
    assert chosen_runs(study, study.exhibits[0], runs[-1:]) == []


def test_thumbnail_has_few_steps_and_keeps_the_mean(tmp_path):
    study = study_with(tmp_path)
    rows = list(thumbnail(study, run_of(SERIES)))
    assert len(rows) == THUMBNAIL_STEPS and [row["step"] for row in rows] == list(
        range(THUMBNAIL_STEPS)
    )
    assert {row["metric"] for row in rows} == {"page_element_throughput"}
    assert (rows[0]["value"], rows[-1]["value"]) == (5.0, 2.0)
    size = len(T) / THUMBNAIL_STEPS
    assert (rows[0]["t_s"], rows[-1]["t_s"]) == pytest.approx(
        (T[: round(size)].mean(), T[-round(size) :].mean()), abs=T[1] - T[0]
    )
    assert [row["t_s"] for row in rows] == sorted(row["t_s"] for row in rows)
    assert list(thumbnail(study, run_of({}))) == []


def test_lineage_lists_the_lines_of_the_window(tmp_path):
    rows, lineage = observe(study_with(tmp_path), run_of(SERIES))
    assert rows[0]["value"] == 5.0
    assert "30 time(s) of the window without a sample of every driver" in rows[0]["note"]
    # window samples are those after 300 s; one driver ends at 600 s
    of = [{k: row[k] for k in ("file", "first_line", "last_line", "samples")} for row in lineage]
    assert of == [
        {"file": "a.txt", "first_line": 31, "last_line": 90, "samples": 60},
        {"file": "b.txt", "first_line": 130, "last_line": 159, "samples": 30},
    ]
    head = {
        "quantity": "throughput",
        "metric": "page_element_throughput",
        "source": "x",
        "entity_kind": "driver",
        "entities": ["d1", "d2"],
        "role": "of",
        "begin_s": 300.0,
        "end_s": 900.0,
    }
    assert all(head.items() <= row.items() for row in lineage)


def test_total_has_its_line_and_the_declared_window(tmp_path):
    nan = np.array([np.nan])
    total = SampleSeries(nan, np.array([4.0]), np.array(["log"]), np.array([7]))
    _, lineage = observe(
        study_with(tmp_path), run_of({("x", "processor", "P0", "processor_busy"): total})
    )
    row = lineage[0]
    assert (row["file"], row["first_line"], row["last_line"], row["samples"]) == ("log", 7, 7, 1)
    assert (row["quantity"], row["begin_s"], row["end_s"]) == ("load", 300.0, 900.0)
