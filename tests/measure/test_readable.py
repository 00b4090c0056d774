"""A run is read as soon as it was measured."""

from __future__ import annotations

import shutil

import pytest

from rawperf.core.errors import RawperfError
from tests.measured_runs import unpacked
from virtperf.core.paths import Layout
from virtperf.measure.readable import readability
from virtperf.study.definition import load_study

ONE = {"replicates": 1, "experiments": [{"name": "one", "at": {"guests": 1}}]}
HEADING_ONLY = (
    "cpu-guests-1-r1/work.csv: no row of the table is in the file; expected rows with work"
)


def writes(text, **fields):
    return {"run": ["sh", "-c", f"sleep 0.3; printf '{text}'"], "output": "work.csv", **fields}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("time,work\\n", "one-r1/work.csv: no row of the table is in the file"),
        ("time,work\\n1,x\\n", "one-r1/work.csv line 2: work is not a number"),
        ("other\\n", "one-r1: the run contains none of the quantities of toy"),
    ],
)
def test_run_without_data_is_named_and_counted(repository, text, words):
    outcome, events, _ = repository.measure(workload=[writes(text)], **ONE)
    assert (outcome.measured, outcome.unreadable, outcome.failed) == (1, 1, 0)
    assert f", but not readable: {words}" in events[-1].words
    assert not events[-1].fine
    assert repository.present() == ["one-r1"]


def test_readable_run_and_warnings_are_said_once_an_experiment(repository):
    collect = [{"run": "echo hello", "shell": True, "output": "notes.txt"}]
    outcome, events, messages = repository.measure(collect=collect)
    assert (outcome.measured, outcome.unreadable) == (4, 0)
    assert all(event.fine for event in events)
    assert [m.partition(": ")[2] for m in messages] == [
        "notes.txt: not read: no format recognises the file, and run.yaml does not list it"
    ]


def test_unreadable_run_is_repeated_and_the_last_attempt_kept(repository):
    """The second attempt has data, that of the other condition never."""
    code = 'printf "time,work\\n"; sleep 0.3; [ $guests = 2 ] || if [ -e "$here/.tried" ]; then echo 1,2; else touch "$here/.tried"; fi'
    workload = [{"run": code, "shell": True, "output": "work.csv"}]
    outcome, events, messages = repository.measure(
        workload=workload, replicates=1, on_disturbed={"then": "again", "at_most": 2}
    )
    assert (outcome.measured, outcome.unreadable, outcome.again) == (2, 1, 3)
    words = f"not readable: {HEADING_ONLY}"
    assert f"cpu-guests-1-r1 {words}; repetition 1 follows" in messages
    (attempt,) = repository.described("cpu-guests-1-r1")["attempts"]
    assert attempt["disturbed"] == [words]
    assert len(repository.described("cpu-guests-2-r1")["attempts"]) == 2
    assert {e.run_id: e.fine for e in events if e.words} == {
        "cpu-guests-1-r1": True,
        "cpu-guests-2-r1": False,
    }


def test_unreadable_run_may_end_the_session(repository):
    with pytest.raises(RawperfError, match=r"one-r1 not readable: one-r1/work\.csv: no row") as err:
        repository.measure(workload=[writes("time,work\\n")], on_disturbed="abort", **ONE)
    assert "Find the cause" in str(err.value)
    assert repository.present() == []


def test_failing_reader_is_a_problem_of_the_run(repository, monkeypatch):
    def fail(*_, **__):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("virtperf.measure.readable.preview", fail)
    outcome, events, _ = repository.measure(**ONE)
    assert (outcome.measured, outcome.unreadable) == (1, 1)
    assert "not readable: ZeroDivisionError: a bug" in events[-1].words


def test_summary_counts_unreadable_runs_and_the_exit_status_is_3(repository):
    repository.write(workload=[writes("time,work\\n")], **ONE)
    process = repository.start()
    out = process.output(120)
    assert process.returncode == 3, out
    assert out.splitlines()[-1] == "1 measured (0 disturbed, 1 not readable), 0 failed"


@pytest.mark.parametrize(("clients", "broken"), [(8, False), (16, True)])
def test_run_that_breaks_the_response_time_law_is_not_readable(tmp_path, root, clients, broken):
    """wrk measured with 8 clients: with 16, its throughput and response time contradict each other."""
    name = "cpu-session-1-guests-2-think-ms-0-r1"
    folder = shutil.copytree(unpacked("linux-2026") / name, tmp_path / name)
    text = (folder / "run.yaml").read_text()
    assert "\nclients: 8\n" in text
    (folder / "run.yaml").write_text(text.replace("\nclients: 8\n", f"\nclients: {clients}\n"))
    layout = Layout(root)
    found = readability(load_study(layout.definition("linux-2026")), folder, layout.metrics)
    law = [problem for problem in found.problems if "response-time law" in problem]
    assert bool(law) == bool(found.problems) == broken
    assert not broken or law[0].endswith("16 in run.yaml")
