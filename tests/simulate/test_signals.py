"""The numbers of a run: what is true in it, noise that depends on a signal's own name alone, errors that name lines."""

from __future__ import annotations

import numpy as np
import pytest

from rawperf.core.errors import StudyError
from tests.simulate.toy_raw import RAW, toy_run, with_signal


def test_a_signal_is_made_of_truth_conventions_levels_and_attributes(tmp_path):
    run = toy_run(tmp_path, sample_cv=0)
    # 100 % x 2 /s per %, shared by 2 drivers
    assert run.signal("rate").data == pytest.approx(np.full((10, 2), 100.0))
    assert (run.signal("rate").times, run.signal("rate").entities) == ("ticks", "drivers")
    assert run.times("ticks").tolist() == list(range(10, 101, 10))
    assert run.number("2 * guests", ()) == 4


def test_entities_come_in_turns(tmp_path):
    run = toy_run(tmp_path)
    assert [row["name"] for row in run.entities("guests")] == ["g1", "h7", "g2"]
    assert run.value("share(weight)", (), "", "guests").data.tolist() == [[0.4, 0.2, 0.4]]


def test_noise_is_a_signals_own(tmp_path):
    before = toy_run(tmp_path / "1").signal("rate").data
    more = with_signal("aaa: {times: ticks, of: drivers, is: normal()}", "zzz: normal()")
    run = toy_run(tmp_path / "2", raw=more)
    run.signal("aaa"), run.signal("zzz")
    assert np.array_equal(run.signal("rate").data, before)
    assert abs(np.corrcoef(run.signal("aaa").data[:, 0], before[:, 0])[0, 1]) < 0.9
    assert not np.array_equal(toy_run(tmp_path / "3", seed=2).signal("rate").data, before)
    assert not np.array_equal(toy_run(tmp_path / "4", "b-2-r1").signal("rate").data / 0.7, before)


def test_values_at_other_times(tmp_path):
    raw = with_signal(
        "later: {times: half, is: at(cumsum(rate))}",
        "once: at(rate, 50)",
        "early: {times: half, is: t}",
        "lacking: {times: ticks, is: at(early)}",
    )
    run = toy_run(tmp_path, raw=raw, sample_cv=0)
    assert run.signal("later").data[:, 0].tolist() == [500, 1000]
    assert run.signal("once").data.tolist() == [[100, 100]]
    lacking = run.signal("lacking").data[:, 0]
    assert np.flatnonzero(~np.isnan(lacking)).tolist() == [4, 9]  # 50 s and 100 s


def test_a_reference_point_has_its_own_numbers(tmp_path):
    raw = with_signal("times_reference: level / reference(throughput, level)")
    # 150 / 4 guests against 100 / 2 guests
    assert toy_run(tmp_path, "a-4-r1", raw).signal("times_reference").number == pytest.approx(0.75)


def test_what_the_text_does_not_say_can_be_replaced(tmp_path):
    raw = with_signal("known: given(throughput, 7)", "also: given(level, 8)")
    run = toy_run(tmp_path, "b-4-r1", raw)
    assert (run.signal("known").number, run.signal("also").number) == (7, 8)
    assert toy_run(tmp_path, "b-2-r1", raw).signal("known").number == 70
    with pytest.raises(
        StudyError, match=r"raw.yaml line \d+: run b-4-r1: .*the text gives no throughput"
    ):
        toy_run(tmp_path, "b-4-r1", raw).value("level + 1", ("blocks", 0, "signals", "level"))


BAD = {
    "a: b\n      b: a": "a circle of signals: .*a -> b -> a|b -> a -> b",
    "a: 1 / (guests - 2)": "divide by zero",
    "a: log(guests - 2)": "divide by zero",
    "a: at(rate, 55)": "ticks has no sample at 55 s",
    "a: reference(load, 1)": "'load' is no quantity with a reference point",
    "a: reference(throughput, normal())": "noise belongs to a signal",
    "a: clip(1, 2)": r"clip does not take 2 argument\(s\)",
    "a: weight": "nothing is called 'weight' in this run, for these times and entities",
    "a: rate + at(rate)": "needs `times` beside the expression",
}


@pytest.mark.parametrize("line", BAD)
def test_errors_name_run_and_line(tmp_path, line):
    raw = with_signal(line)
    run = toy_run(tmp_path, raw=raw)
    with pytest.raises(StudyError, match=BAD[line]) as err:
        run.value("a * 1", ("blocks", 0, "files"))
    assert err.value.file == "raw.yaml" and "run a-2-r1" in err.value.problem
    assert raw.splitlines()[err.value.line - 1].strip()[:2] in ("a:", "b:")


def test_a_grid_that_ends_before_it_begins(tmp_path):
    with pytest.raises(StudyError, match="no times from 50 to 40 in steps of 50"):
        toy_run(tmp_path, raw=RAW.replace("to: 100, step: 50", "to: 40, step: 50")).times("half")


def test_facts_that_every_run_needs(tmp_path):
    with pytest.raises(StudyError, match="no block for it says warmup_s"):
        toy_run(tmp_path, raw=RAW.replace("warmup_s: 20, ", ""))


def test_half_an_entity(tmp_path):
    with pytest.raises(StudyError, match=r"run a-2-r1: 0.5 entities") as err:
        toy_run(tmp_path, raw=RAW.replace("count: 1, from", "count: guests / 4, from")).entities(
            "guests"
        )
    assert (
        err.value.line
        == RAW.splitlines().index(next(x for x in RAW.splitlines() if "guests: [{" in x)) + 1
    )


def test_a_grid_of_one_time(tmp_path):
    run = toy_run(
        tmp_path,
        raw=with_signal("once: {times: half, is: t + step}").replace("from: 50", "from: 100"),
    )
    assert run.signal("once").data.tolist() == [[150]]
