"""Trace from a plotted value to raw lines and claims."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pytest

from rawperf.core.files import json_text
from tests.report import toy
from virtperf.core import stage_tables
from virtperf.report.frames import load
from virtperf.report.trace import NO_CLAIM, Trace, trace_text, traces
from virtperf.report.wording import trace_key


def traced(data: Path) -> dict[str, Trace]:
    return {t.key: t for t in traces(load("toy", data))}


@pytest.fixture(scope="module")
def entries(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Trace]:
    return traced(toy.build(tmp_path_factory.mktemp("trace")))


def at(entries: dict[str, Trace], x: str, series: str = toy.HOSTILE) -> Trace:
    return next(
        t for t in entries.values() if (t.exhibit, t.series, t.x) == ("figure-2", series, x)
    )


def test_every_plotted_point_has_a_unique_key(entries: dict[str, Trace], tmp_path: Path) -> None:
    study = load("toy", toy.build(tmp_path)).study
    keys = [
        trace_key("toy", e.id, s.label, x) for e in study.exhibits for s, x, _ in study.points(e)
    ]
    assert len(set(keys)) == len(keys) == len(entries)
    assert set(keys) == set(entries)


def test_trace_contains_runs_files_and_lines_of_the_window(entries: dict[str, Trace]) -> None:
    trace = at(entries, "4")
    assert [r.run for r in trace.runs] == ["measured-a-4-r1", "measured-a-4-r2", "measured-a-4-r3"]
    (file,) = trace.runs[0].files
    # Samples are on lines 2 to 31 at 10 to 300 s; the window is from 60 s to 260 s.
    assert (file.path, file.first_line, file.last_line, file.samples) == (
        toy.HOSTILE_FILE,
        8,
        27,
        20,
    )
    assert trace.runs[0].value == 98 and trace.runs[0].window_s == (60, 260)
    assert ("bad-r1", f"{toy.HOSTILE} (sar.txt, line 12)") in trace.excluded


def test_window_and_lines_equal_the_lineage(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    later = {"begin_s": 100.0, "first_line": 12, "samples": 16}
    toy.change(data, stage_tables.LINEAGE, {"run_id": "measured-a-4-r1"}, **later)
    late, declared, *_ = at(traced(data), "4").runs
    assert (late.run, late.window_s, declared.window_s) == (
        "measured-a-4-r1",
        (100, 260),
        (60, 260),
    )
    assert (late.files[0].first_line, late.files[0].last_line, late.files[0].samples) == (
        12,
        27,
        16,
    )


def test_plotted_mean_equals_the_stored_one(entries: dict[str, Trace]) -> None:
    (measured,) = at(entries, "8").means
    assert (measured.origin.provenance, measured.value, measured.n, measured.level) == (
        "measured",
        152,
        3,
        0.95,
    )
    # 150, 152, 154: a spread of 2 over 3 runs, Student's t with two degrees of freedom is 4.303.
    assert measured.low == pytest.approx(152 - 4.303 * 2 / 3**0.5, abs=1e-3)
    assert "mean     152 over 3 runs, 95% interval 147 to 157 (measured)" in trace_text(
        at(entries, "8"), {}
    )


def test_measured_study_has_no_text_limits(entries: dict[str, Trace]) -> None:
    text = trace_text(at(entries, "8"), {}, paper=False)
    assert "text alone" not in text and "limit" not in text
    assert "mean     152 over 3 runs" in text


def test_trace_lists_the_claims_of_each_limit(entries: dict[str, Trace]) -> None:
    trace = at(entries, "16")
    assert (trace.low, trace.high) == (162.7, 166.5)
    assert trace.low_by == ("flat",) and trace.high_by == ("best-at-8", "flat")
    assert at(entries, "2", toy.DOLLARS).high is None
    printed = next(t for t in entries.values() if t.printed is not None)
    assert (printed.printed, printed.printed_by) == (80, ("busy",))


def test_trace_without_assumptions_has_text_limits_only(tmp_path: Path) -> None:
    alone = {t.key: t for t in traces(load("toy", toy.build(tmp_path)), assumptions=False)}
    assert (at(alone, "2").low, at(alone, "2").high) == (10, 90)


def test_formula_explains_the_value(entries: dict[str, Trace]) -> None:
    trace = at(entries, "2")
    assert "page_element_throughput (driver)" in trace.formula and "which is 100" in trace.formula
    text = trace_text(trace, {"bends-down": "Throughput bends downwards"})
    assert trace.key in text and "bends-down: Throughput bends downwards" in text


def test_limits_with_and_without_assumptions_are_separate(entries: dict[str, Trace]) -> None:
    trace = at(entries, "2")
    assert (trace.low_text, trace.high_text, trace.allowed_text) == (10, 90, "10 to 90")
    assert (trace.low, trace.high, trace.assumed) == (45, 60, True)
    assert trace.limits[0].assumptions == ("bends-down",) and not trace.limits[0].claims
    assert trace.limits[0].source == "an assumption of ours"
    text = trace_text(trace, {})
    alone, with_ours = text.split("with our assumptions  45 to 60")
    assert "by the text alone  10 to 90" in alone and "bends-down" not in alone
    assert "lower limit, by an assumption of ours" in with_ours and "bends-down" in with_ours
    same = at(entries, "8")
    assert not same.assumed and "with our assumptions" not in trace_text(same, {})
    assert {"low_text", "high_text"} <= asdict(same).keys()


def test_order_tolerance_and_word_readings_are_conventions(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    path = data / "published" / "toy" / "study.yaml"
    written = path.read_text()
    unit = 'unit: "% of reference"'
    assert unit in written
    path.write_text(written.replace(unit, f"{unit}\n    resolution: 0.5", 1))
    found = traced(data)
    # best-at-8, a peak, and flat, "nothing" read as 2 %, set the upper end; flat alone the lower one
    lower, upper = at(found, "16").limits_text
    assert upper.source == "the text and a convention of ours"
    assert "a difference of at least 0.5" in upper.conventions[0]
    assert lower.conventions == ("read as: nothing means within 2 %",) == upper.conventions[1:]
    exact = at(found, "8").limits_text[0]  # a printed number
    assert exact.source == "the text" and exact.conventions == ()
    assert at(found, "4").limits_text[0].source == NO_CLAIM


def test_run_without_reference_is_excluded_with_a_reason(tmp_path: Path) -> None:
    data = toy.build(tmp_path)
    alone = {"run_id": "measured-a-4-r1", "quantity": "throughput"}
    nothing = {
        "relative": float("nan"),
        "relative_se": float("nan"),
        "note": "its reference was not run",
    }
    toy.change(data, stage_tables.OBSERVATIONS, alone, **nothing)
    found = at(traced(data), "4")
    assert "measured-a-4-r1" not in [r.run for r in found.runs]
    assert ("measured-a-4-r1", "its reference was not run") in found.excluded
    assert "NaN" not in json_text(found.to_dict())
