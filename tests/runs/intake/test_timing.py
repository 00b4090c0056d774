"""Times of a run: common clock, overlap of all files, window."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from rawperf.core.errors import RunError
from virtperf.runs.intake.describe import FileTimes, complete_times, coverage_spans, first_time
from virtperf.runs.intake.given import RunFacts
from virtperf.study.parts import Procedure

START = datetime(2009, 1, 9, 14, 0)
EPOCH = START.replace(tzinfo=UTC).timestamp()


def absolute(path: str, first: float, last: float, step: float = 60.0) -> FileTimes:
    times = EPOCH + np.arange(first, last + step / 2, step)
    return FileTimes(path, "sar", "absolute", times)


def numbered(path: str, n: int) -> FileTimes:
    return FileTimes(path, "iwl-console", "sample", np.arange(float(n)))


def time_of_day(path: str, first: float, last: float) -> FileTimes:
    times = 14 * 3600 + np.arange(first, last + 1, 60.0)
    return FileTimes(path, "xentop", "time-of-day", times)


SNAPSHOT = FileTimes("netstat.txt", "netstat", "none")
UNKNOWN = FileTimes("notes.txt")


def derive(files, entries=None, procedure=None, **given):
    return complete_times(
        files, RunFacts(files=entries or {}, start=START, **given), Procedure(**(procedure or {}))
    )


def window(*args, **given):
    return derive(*args, **given)[0].window_s


def test_common_interval_is_covered_by_all_files():
    files = [
        absolute("a", 60, 1200),
        time_of_day("b", 120, 900),
        numbered("c", 100),
        SNAPSHOT,
        UNKNOWN,
    ]
    entries = {"c": {"start_s": 10.0, "interval_s": 10.0}}
    found, notes = derive(files, entries)
    # a sample covers the interval that ends at its time
    assert coverage_spans(files, found, 1200) == {"a": (0, 1200), "b": (60, 900), "c": (0, 1000)}
    assert "common coverage of all files: 60 to 900 s" in notes
    assert (found.window_s, found.duration_s) == ((60, 900), 1200)


def test_window_begins_after_the_warm_up():
    found, _ = derive([absolute("a", 60, 1200)], {}, {"warmup_s": 300, "run_s": 1200})
    assert (found.warmup_s, found.window_s) == (300, (300, 1200))
    assert window([absolute("a", 60, 1200)], {}, {"warmup_s": 300}, warmup_s=0) == (0, 1200)


def test_declared_window_is_used_if_covered():
    procedure = {"run_s": 1200, "warmup_s": 300, "window_s": [300, 900]}
    assert window([absolute("a", 60, 1200)], {}, procedure) == (300, 900)
    assert window([absolute("a", 60, 840)], {}, procedure) == (300, 900)  # one interval is missing
    short, notes = derive([absolute("a", 60, 780)], {}, procedure)
    assert short.window_s == (300, 780)
    assert any("a does not cover it" in note for note in notes)


def test_given_window_is_kept():
    assert window([absolute("a", 60, 1200)], window_s=(500, 800)) == (500, 800)


def test_files_without_overlap_are_rejected():
    with pytest.raises(RunError, match="no time after the warm-up is covered by all files"):
        derive([absolute("a", 60, 300), absolute("b", 600, 900)])


def test_time_zone_mismatch_is_reported_with_advice():
    with pytest.raises(RunError) as err:
        derive([absolute("a", 60, 600), absolute("b", 3661, 4201), absolute("c", 3660, 4200)])
    assert str(err.value).startswith("the clock of b, c is 3600 s ahead of the run's")
    assert "--file b clock_offset_s=-3600 --file c clock_offset_s=-3600" in str(err.value)
    # a start ten minutes later is no zone difference
    with pytest.raises(
        RunError, match=r"no time after the warm-up .* a 0 to 300 s; b 540 to 900 s"
    ):
        derive([absolute("a", 60, 300), absolute("b", 600, 900)])


def guests(first: float, last: float, n: int = 3) -> list[FileTimes]:
    return [absolute(f"guests/g{k}/sar.txt", first, last, 30) for k in range(n)]


CONSOLE = {"c": {"start_s": 10.0, "interval_s": 10.0}}


@pytest.mark.parametrize("shift_s", [7200, -7200, 19800, 900])
@pytest.mark.parametrize("n", [1, 3])
def test_time_zone_is_found_if_files_begin_after_the_run(shift_s, n):
    files = [numbered("c", 120), time_of_day("x", 300, 840)]
    shifted = guests(330 + shift_s, 870 + shift_s, n)
    with pytest.raises(RunError) as err:
        derive([*files, *shifted], CONSOLE, {"warmup_s": 300, "run_s": 1200})
    direction = "ahead of" if shift_s > 0 else "behind"
    names = ", ".join(file.path for file in shifted)
    assert f"the clock of {names} is {abs(shift_s)} s {direction} the run's" in str(err.value)
    for file in shifted:
        assert f"--file {file.path} clock_offset_s={-shift_s}" in str(err.value)


def test_time_zone_of_a_file_started_before_the_run():
    files = [numbered("c", 120), absolute("sar", 7200 - 1700, 7200 + 3000)]
    with pytest.raises(RunError, match="the clock of sar is 7200 s ahead of the run's"):
        derive(files, CONSOLE)


def test_start_from_files_trusts_the_majority():
    files = [absolute("sadf.json", -7140, -6600), *guests(30, 600)]
    facts = RunFacts(start=first_time(files, {})[0])
    with pytest.raises(
        RunError, match=r"the clock of sadf\.json is 7200 s behind that of the other"
    ):
        complete_times(files, facts, Procedure(), start_from_files=True)


def test_unexplained_times_are_listed_with_the_odd_files_apart():
    files = [numbered("c", 120), *guests(30, 600, 9), absolute("odd", 90_060, 90_300)]
    entries = {**CONSOLE, "odd": {"clock_offset_s": 400_000.0}}
    with pytest.raises(RunError, match="10 files together 0 to 600 s; odd 490000 to 490300 s"):
        derive(files, entries)


def test_start_after_all_samples_is_reported():
    with pytest.raises(RunError) as err:
        derive([absolute("sar.txt", -7190, -7170, 10)])
    assert "sar.txt all lie before the start, the last one 7170 s before it" in str(err.value)
    assert "Correct --start (sar.txt begins at 2009-01-09T12:00:00)" in str(err.value)
    with pytest.raises(RunError, match=r"all 2 files all lie after .* 1800 s .* lasts 1200 s"):
        derive([absolute("a", 1860, 2400), absolute("b", 1920, 2400)], duration_s=1200)


def test_start_long_before_the_first_sample_is_a_warning():
    found, notes = derive([absolute("sar.txt", 3610, 3630, 10)])
    assert found.window_s == (3600, 3630)
    assert any("warning: the first sample, in sar.txt" in n and "3600 s after" in n for n in notes)
    for warmup_s, first in ((0, 120), (300, 360)):
        _, notes = derive([absolute("a", first, 1200)], warmup_s=warmup_s)
        assert not any("warning" in note for note in notes)


def test_given_window_does_not_hide_files_without_overlap():
    files = [absolute("a", 330, 870, 30), absolute("b", 7530, 8070, 30)]
    _, notes = derive(files, window_s=(300, 870))
    assert not any("common coverage" in note for note in notes)
    assert "warning: the clock of b is 7200 s ahead of the run's" in "\n".join(notes)


def test_snapshots_need_a_run_length():
    with pytest.raises(RunError, match="the duration of the run is unknown"):
        derive([SNAPSHOT])
    found, notes = derive([SNAPSHOT], duration_s=600)
    assert (found.window_s, notes) == ((0, 600), [])


def test_first_time_is_the_start_only_without_tool_clocks():
    start, note = first_time([absolute("a", 60, 300), time_of_day("b", 0, 60)], {})
    assert start == datetime(2009, 1, 9, 14, 0)
    assert note == "start: one interval (60 s) before the first sample of a"
    assert first_time([absolute("a", 60, 300), numbered("c", 5)], {}) is None
    assert first_time([time_of_day("b", 0, 60), SNAPSHOT], {}) is None


def test_start_is_the_begin_of_the_earliest_interval():
    # b has the later first sample, and the earlier first interval
    files = [absolute("a", 50, 300, 10), absolute("b", 60, 300, 60)]
    start, note = first_time(files, {})
    assert (start, note.split()[-1]) == (START, "b")
    found, _ = complete_times(files, RunFacts(start=start), Procedure())
    assert (found.duration_s, found.window_s) == (300, (40, 300))
    # the interval of a single sample is unknown
    start, note = first_time([absolute("only", 60, 60), absolute("b", 180, 300)], {})
    assert start == datetime(2009, 1, 9, 14, 1)
    assert note == "start: the time of the only sample of only, whose interval is unknown"
    assert first_time([absolute("only", 60, 60), absolute("b", 60, 300)], {})[0] == START
    # a file's clock is corrected first
    shifted = [absolute("a", 60, 300), absolute("b", 7260, 7500)]
    assert first_time(shifted, {"a": {"clock_offset_s": 7200.0}})[0] == datetime(2009, 1, 9, 16, 0)


def test_clock_offset_of_a_file_is_applied():
    files = [absolute("a", 3660, 4800)]
    found, _ = derive(files, {"a": {"clock_offset_s": -3600.0}})
    assert coverage_spans(files, found, 1200)["a"] == (0, 1200)


def test_time_after_year_9999_is_not_a_start():
    late = FileTimes("sar.txt", "sar", "absolute", np.array([253_402_300_801.0]))
    assert first_time([late], {}) is None
