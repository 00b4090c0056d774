"""`virtperf measure` options: doctor, A/A runs in ABBA order, run times learned from earlier runs."""

from __future__ import annotations

import re

import pytest

from rawperf.core.errors import StudyError
from tests.cli.test_measure import toy  # noqa: F401 - fixture
from tests.measure.conftest import busy_machine, repository  # noqa: F401 - fixtures
from virtperf.measure import machine as machine_module
from virtperf.measure.plan import plan

WORK = {"run": "sleep 0.3; printf 'time,work\\n1,%s\\n' $seed > work.csv", "shell": True}


@pytest.fixture
def facts(monkeypatch):
    """A machine with three known facts."""
    machine = {"cpu": "some", "governor": "powersave", "swap_mb": 656}
    state = {"swap_used_mb": 3, "d_state_tasks": 0, "free_memory_mb": 900}
    monkeypatch.setattr(machine_module, "machine", lambda: machine)
    monkeypatch.setattr(machine_module, "machine_state", lambda: state)


def test_doctor_lists_facts_and_advice_without_measuring(toy, run, facts):  # noqa: F811
    toy.write(machine={"swap_mb": 0, "d_state_tasks": 0, "thp": "never"})
    text = run("measure", "toy", "--doctor", status=3).output
    assert re.search(r"fact +found +required +advice", text)
    assert re.search(r"swap_mb +656 +0 \(not met\) +swapoff -a", text)
    assert re.search(r"d_state_tasks +0 +0", text)
    assert re.search(r"governor +powersave +may disturb: cpupower", text)
    assert re.search(r"thp +unknown +never \(not met\) +this machine does not report thp", text)
    assert toy.present() == [] and not toy.own.exists()
    toy.write(machine={"swap_mb": {"at_most": 700}})
    run("measure", "toy", "--doctor")


def test_one_condition_is_measured_under_two_labels_in_abba_order(toy, run, tmp_path):  # noqa: F811
    toy.write(workload=[WORK])
    out = tmp_path / "alike"
    chosen = ("--only", "guests=2", "--replicates", "4", "--aa", str(out))
    text = run("measure", "toy", *chosen).output
    assert re.findall(r"(?m)^([ab])-cpu-guests-2-r(\d) \(", text) == [
        (label, str(block)) for block, pair in enumerate(["ab", "ba"] * 2, 1) for label in pair
    ]
    assert toy.present() == []
    names = {path.name for path in out.iterdir() if path.name[0] != "."}
    assert names == {f"{x}-cpu-guests-2-r{k}" for x in "ab" for k in (1, 2, 3, 4)}
    assert "0 to measure" in run("measure", "toy", *chosen).output


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--aa", "alike"), "--aa needs exactly one condition; found 2"),
        (("--aa", "data/alike", "--only", "guests=1"), "runs of --aa are not part of a study"),
    ],
)
def test_aa_runs_need_a_single_condition_outside_a_study(
    toy,  # noqa: F811
    run,
    options,
    words,
):
    assert words in run("measure", "toy", *options, status=1).output


def test_blocks_follow_abba_order(toy):  # noqa: F811
    toy.write(order="abba", replicates=4)
    made = toy.harness()
    order = [run.levels["guests"] for run in plan(made.definition, made.study)]
    assert order == [1, 2, 2, 1, 1, 2, 2, 1]
    toy.write(order="abba", experiments=[{"name": "cpu", "over": {"guests": [1, 2, 4]}}])
    with pytest.raises(StudyError, match="order abba needs two conditions; found 3"):
        toy.harness()


def test_estimated_duration_comes_from_earlier_runs(toy, run):  # noqa: F811
    slow = {"run": 'test "$guests" = 1 || sleep 2', "shell": True}
    toy.write(setup=[slow], replicates=1)
    run("measure", "toy")
    text = run("measure", "toy", "--dry-run", "--replicates", "2").output
    assert ", about " in text.splitlines()[0]
    took = dict(re.findall(r"(cpu-guests-\d-r2) +to measure +(\d+) s", text))
    assert int(took["cpu-guests-2-r2"]) - int(took["cpu-guests-1-r2"]) in (1, 2, 3)
    wall = toy.described("cpu-guests-2-r1")["wall_s"]
    assert 2.2 < wall < 20
