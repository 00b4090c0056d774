"""Handling of disturbed runs: kept and marked, repeated and counted, abort, manual exclusion."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
import yaml

from rawperf.core.errors import RawperfError
from rawperf.core.model import load_model
from tests.report.conftest import loaded, toy_data  # noqa: F401 - fixtures
from tests.report.plain import plain
from virtperf.core.paths import Layout
from virtperf.measure import harness as harness_module
from virtperf.measure import run as run_module
from virtperf.measure.definition import Definition
from virtperf.measure.requirements import change_messages, fact_rows
from virtperf.report.kinds.quality import record
from virtperf.runs.ingest.stage import ingest

BUSY = "other processes used more than 5 processors"
ONE = {"replicates": 1, "experiments": [{"name": "one", "at": {"guests": 1}}]}
RULES = {"disturbed": {"others_cpus": 5}}


@pytest.fixture
def busy_for(monkeypatch):
    """`busy_for(n)`: the counters show ten busy processors during the first n runs."""

    def begin(n):
        real, read = run_module.counters, []

        def counters(ours):
            read.append(None)
            now = real(ours)
            if (len(read) + 1) // 2 > n:
                return now
            return replace(now, busy=now.busy + 10 * now.at, total=now.total + 10 * now.at)

        monkeypatch.setattr(run_module, "counters", counters)

    return begin


def leftover_files(repository):
    return sorted(p.name for p in repository.own.iterdir())


def test_disturbed_run_is_repeated_and_attempts_are_counted(repository, busy_for):
    busy_for(2)
    outcome, events, messages = repository.measure(**ONE, **RULES, on_disturbed="again")
    assert (outcome.measured, outcome.disturbed, outcome.again) == (1, 0, 2)
    run = repository.described("one-r1")
    assert run["disturbed"] == []
    assert [attempt["disturbed"] for attempt in run["attempts"]] == [[BUSY], [BUSY]]
    assert all(0 < attempt["wall_s"] < 20 for attempt in run["attempts"])
    assert messages == [f"one-r1 disturbed: {BUSY}; repetition {n} follows" for n in (1, 2)]
    assert len([event for event in events if event.words]) == 1
    assert leftover_files(repository) == ["times.json"]


def test_run_still_disturbed_after_last_attempt_is_kept_and_marked(repository, busy_machine):
    again = {"then": "again", "at_most": 1}
    outcome, _, _ = repository.measure(**ONE, **RULES, on_disturbed=again)
    assert (outcome.measured, outcome.disturbed, outcome.again) == (1, 1, 1)
    run = repository.described("one-r1")
    assert run["disturbed"] == [BUSY] and len(run["attempts"]) == 1


def test_attempts_persist_across_harness_restarts(repository, busy_machine):
    """Same state as after a kill behind the first attempt."""
    with pytest.raises(RawperfError, match=r"one-r1 disturbed: .* it was discarded") as caught:
        repository.measure(**ONE, **RULES, on_disturbed="abort")
    assert "on_disturbed: abort" in str(caught.value)
    assert repository.present() == []
    kept = json.loads((repository.own / "disturbed.json").read_text())
    assert [attempt["disturbed"] for attempt in kept["one-r1"]] == [[BUSY]]
    repository.measure(**ONE, **RULES, on_disturbed="keep")
    run = repository.described("one-r1")
    assert (run["disturbed"], len(run["attempts"])) == ([BUSY], 1)
    assert leftover_files(repository) == ["times.json"]


def test_killed_harness_keeps_recorded_attempts(repository):
    """Killed during the second attempt; the first is disturbed by a monitor that ends early."""
    import time

    first = {"run": 'test -e "$here/second" || exit 0; sleep 600', "shell": True}
    mark = {"run": 'test -e "$here/first" && touch "$here/second"; touch "$here/first"'}
    repository.write(
        **ONE,
        window_s=1,
        on_disturbed="again",
        setup=[{**mark, "shell": True}],
        monitors=[first],
    )
    process = repository.start()
    until = time.monotonic() + 60
    while not (repository.runs / "second").exists():
        assert time.monotonic() < until and process.poll() is None
        time.sleep(0.01)
    process.kill()
    process.output()
    assert repository.present() == []
    repository.measure()
    run = repository.described("one-r1")
    assert run["disturbed"] == []
    assert [attempt["disturbed"] for attempt in run["attempts"]] == [
        ["monitors-1 (sh) ended before the end of the window"]
    ]


def test_machine_state_change_within_a_block_marks_the_run(repository, monkeypatch):
    state = {"swap_used_mb": 0, "d_state_tasks": 0, "free_memory_mb": 900}
    states = iter([state, state, {**state, "free_memory_mb": 100}, {**state, "swap_used_mb": 656}])
    last = []

    def machine_state():
        last[:] = [next(states, last[0] if last else state)]
        return last[0]

    monkeypatch.setattr(harness_module, "machine_state", machine_state)
    monkeypatch.setattr(harness_module, "machine_settings", lambda: {"governor": "performance"})
    repository.measure(replicates=1)
    disturbances = [repository.described(run)["disturbed"] for run in repository.present()]
    words = "swap in use (MiB) changed from 0 before the block's first run to 656"
    assert sorted(disturbances) == [[], [words]]
    assert repository.described(repository.present()[0])["machine_state"] == state


@pytest.mark.parametrize("apart", ["session", "boot"])
def test_block_restarts_in_a_new_session_or_after_a_reboot(repository, monkeypatch, apart):
    study_file = repository.root / "data" / "published" / "toy" / "study.yaml"
    study_file.write_text(
        study_file.read_text().replace(
            "factors:\n",
            "machine_factor: session\nfactors:\n  session: {levels: [1, 2], default: 1}\n",
        )
    )
    monkeypatch.setattr(harness_module, "machine", lambda: {"cpu": "some", "damon": "on"})
    experiment = {"name": "one", "at": {"guests": 1}, "over": {"session": [1]}}
    repository.measure(replicates=1, experiments=[experiment])
    first = repository.runs / repository.present()[0] / "run.yaml"
    run_yaml = yaml.safe_load(first.read_text())
    run_yaml["machine_state"] = {"swap_used_mb": 0}
    run_yaml["protocol"]["boot"] = "another" if apart == "boot" else run_yaml["protocol"]["boot"]
    first.write_text(yaml.safe_dump(run_yaml))
    monkeypatch.setattr(harness_module, "machine_settings", lambda: {"damon": "off"})
    if apart == "session":
        experiment["over"]["session"] = [1, 2]
    else:
        experiment["over"]["mode"] = ["plain", "a b; touch x"]
    repository.measure(replicates=1, experiments=[experiment])
    disturbances = [repository.described(run)["disturbed"] for run in repository.present()]
    assert len(disturbances) > 1 and not any(disturbances)


@pytest.mark.parametrize(
    ("first", "now", "words"),
    [
        ({"governor": "performance"}, {"governor": "powersave"}, ["the governor changed from"]),
        ({"swap_used_mb": 3}, {"swap_used_mb": 11}, []),
        ({"swap_used_mb": 3}, {"swap_used_mb": 12}, ["swap in use (MiB) changed from 3"]),
        ({"d_state_tasks": 2}, {"d_state_tasks": 1}, []),
        ({"d_state_tasks": 0}, {"d_state_tasks": 1}, ["tasks in state D changed from 0"]),
        ({"transparent_hugepage": "always"}, {}, []),
        ({"free_memory_mb": 9000}, {"free_memory_mb": 9}, []),
    ],
)
def test_allowed_changes_of_machine_facts(first, now, words):
    found = change_messages(first, now)
    assert len(found) == len(words)
    assert all(word in text for word, text in zip(words, found, strict=True))


def test_machine_not_meeting_requirements_is_rejected(repository, monkeypatch):
    monkeypatch.setattr(harness_module, "machine", lambda: {"cpu": "some", "swap_mb": 656})
    with pytest.raises(RawperfError) as caught:
        repository.measure(machine={"swap_mb": 0, "cpu": "so*"}, replicates=1)
    text = str(caught.value)
    assert "expected swap_mb: 0; found swap_mb: 656" in text and "swapoff -a" in text.lower()
    assert repository.present() == []
    assert repository.measure(machine={"swap_mb": {"at_most": 700}}, replicates=1)[0].measured == 2


@pytest.mark.parametrize(
    ("wanted", "found", "holds"),
    [
        (0, 0, True),
        (0, 1, False),
        ("Linux 6.1*", "Linux 6.1.192", True),
        ("Linux 6.1", "Linux 6.1.192", False),
        (["madvise", "never"], "never", True),
        ({"at_least": 4000}, 3999, False),
        ({"at_least": 4000, "at_most": 5000}, 4500, True),
        ({"at_most": 1}, "two", False),
        (2, "2", True),
    ],
)
def test_forms_of_a_required_fact(tmp_path, wanted, found, holds):
    path = tmp_path / "measure.yaml"
    document = {"seed": 1, "machine": {"fact": wanted}, "experiments": [{"name": "x"}]}
    path.write_text(yaml.safe_dump(document))
    machine = load_model(path, Definition)[0].machine
    (row,) = fact_rows(machine, {"fact": found})
    assert row.holds is holds
    (unknown,) = [row for row in fact_rows(machine, {"facts": 1}) if row.declared]
    assert not unknown.holds and "does not report fact" in unknown.advice


def test_quality_page_counts_disturbed_repeated_and_excluded_runs(
    repository,
    busy_for,
    root,
    loaded,  # noqa: F811 - the fixture
):
    busy_for(1)
    work = {"run": "sleep 0.3; printf 'time,work\\n1,%s\\n' $seed > work.csv", "shell": True}
    repository.measure(replicates=2, **RULES, on_disturbed="again", workload=[work])
    path = repository.runs / "cpu-guests-2-r2" / "run.yaml"
    path.write_text(f"{path.read_text()}excluded: {{reason: the guest's clock stood still}}\n")
    layout = Layout(repository.root)
    study = repository.harness().study
    roots = {"measured": repository.runs}
    metrics = root / "src" / "rawperf" / "metrics.yaml"
    done = ingest(study, roots, metrics, layout.samples("toy"), repository.root / "cache")
    assert (done.n_ok, done.quarantined) == (3, [])
    index = json.loads((layout.samples("toy") / "index.json").read_text())
    assert [run["run_id"] for run in index["excluded"]] == ["cpu-guests-2-r2"]
    assert not (layout.samples("toy") / "cpu-guests-2-r2.parquet").exists()
    data = replace(loaded.data, index=index)
    text = " ".join(plain(record(replace(loaded.context, data=data))).split())
    assert "cpu-guests-2-r2 the guest's clock stood still not disturbed" in text
    assert "kept, not disturbed 3 used" in text
    assert "repeated 1 1 disturbed attempt before them" in text
    assert "excluded by hand 1" in text
    assert f"{BUSY[0].upper()}{BUSY[1:]}: 1 attempt repeated" in text
    assert "3 measured runs by 1 protocol on 1 machine" in text
