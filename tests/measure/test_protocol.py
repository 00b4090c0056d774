"""Runs with another protocol, machine or testbed are never pooled."""

from __future__ import annotations

import re
import subprocess

import pytest
import yaml

from rawperf.core.errors import RawperfError
from virtperf.check.everything import check_everything
from virtperf.core.paths import Layout
from virtperf.measure import harness as harness_module
from virtperf.measure.identity import MACHINE_ID, Protocols, session
from virtperf.measure.machine import kernel_parameters
from virtperf.measure.plan import plan
from virtperf.study.definition import load_study
from virtperf.study.run_groups import fact_differences, run_groups


@pytest.fixture
def testbed(repository):
    """A testbed of two files and a text, named by the workload."""
    folder = repository.root / "testbeds" / "toy"
    folder.mkdir(parents=True)
    (folder / "work.sh").write_text('. "$(dirname "$0")/length.sh"\nsleep $length; echo 1 > $1\n')
    (folder / "length.sh").write_text("length=0.2\n")
    (folder / "README.md").write_text("prose\n")
    repository.write(workload=[["sh", "{root}/testbeds/toy/work.sh", "out.csv"]])
    return folder


def protocols(repository):
    made = repository.harness()
    read = Protocols(repository.runs, repository.root)
    return {run.run_id: read.of(run) for run in plan(made.definition, made.study)}


def entries(repository):
    runs = [repository.described(name) for name in repository.present()]
    return [{**run, "run_id": run["run"]} for run in runs]


def edit_study(repository, more):
    path = repository.root / "data" / "published" / "toy" / "study.yaml"
    path.write_text(f"{path.read_text()}{more}\n")


def test_protocol_lists_its_files_for_all_conditions(repository, testbed):
    found = protocols(repository)
    assert {tuple(p["files"]) for p in found.values()} == {("testbeds/toy",)}
    assert len({p["fingerprint"] for p in found.values()}) == 1
    assert re.fullmatch("[0-9a-f]{12}", found["cpu-guests-1-r1"]["fingerprint"])


def test_fingerprint_depends_on_what_is_measured_but_not_on_prose(repository, testbed):
    def fingerprint(**fields):
        base = {"workload": [["sh", "{root}/testbeds/toy/work.sh", "out.csv"]]}
        repository.write(**base | fields)
        return protocols(repository)["cpu-guests-1-r1"]["fingerprint"]

    first = fingerprint()
    same = [
        fingerprint(replicates=3),
        fingerprint(seed=8),
        fingerprint(experiments=[{"name": "cpu", "over": {"guests": [1, 2, 4]}}]),
        fingerprint(workload=[{"run": "sh {root}/testbeds/toy/work.sh out.csv", "timeout_s": 5}]),
    ]
    (testbed / "README.md").write_text("other prose\n")
    assert {*same, fingerprint()} == {first}
    changed = [
        fingerprint(window_s=0.3),
        fingerprint(warmup_s=0.1),
        fingerprint(disturbed={"others_cpus": 9}),
        fingerprint(on_disturbed="again"),
        fingerprint(monitors=["vmstat 1"]),
        fingerprint(setup=["true"]),
    ]
    (testbed / "length.sh").write_text("length=0.25\n")
    changed.append(fingerprint())
    assert len({first, *changed}) == 8


def test_shell_text_contributes_files_and_ignored_files_do_not_count(repository, testbed):
    shell = {"run": 'sh "$root/testbeds/toy/work.sh" out.csv', "shell": True}
    repository.write(workload=[shell])
    assert list(protocols(repository)["cpu-guests-1-r1"]["files"]) == ["testbeds/toy"]
    subprocess.run(["git", "init", "-q", str(repository.root)], check=True)
    (repository.root / ".gitignore").write_text("*.img\n")
    before = protocols(repository)
    (testbed / "disk.img").write_text("made by the setup")
    assert protocols(repository) == before
    (testbed / "more.sh").write_text("echo\n")
    assert protocols(repository) != before


def test_protocol_covers_files_with_any_name(repository, testbed):
    (repository.runs / "my work's.sh").write_text("sleep 0.2\n")
    (testbed / "no script").write_text("1\n")
    work = ["sh", "{here}/my work's.sh", "{root}/testbeds/toy/no script", "{root}/none such"]
    repository.write(workload=[work])
    expected = ["data/measured/toy/my work's.sh", "testbeds/toy"]
    assert list(protocols(repository)["cpu-guests-1-r1"]["files"]) == expected


def test_declared_files_replace_those_found_in_commands(repository, testbed):
    repository.write(testbed=["testbeds/toy/length.*"])
    assert list(protocols(repository)["cpu-guests-1-r1"]["files"]) == ["testbeds/toy/length.*"]
    repository.write(testbed=["testbeds/none/*"])
    with pytest.raises(RawperfError, match="no file of the repository matches 'testbeds/none"):
        protocols(repository)


def commit_all(root):
    git = ["git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / ".gitignore").write_text(".cache\n.measure\n")
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)


def test_removed_testbed_file_keeps_earlier_fingerprints(repository, testbed):
    (testbed / "recompute.py").write_text("1\n")
    work = [["sh", "{root}/testbeds/toy/work.sh", "out.csv"]]
    repository.write(replicates=1, workload=work)
    commit_all(repository.root)
    repository.measure()
    before = repository.described("cpu-guests-1-r1")["protocol"]
    (testbed / "recompute.py").write_text("2\n")
    with pytest.raises(RawperfError, match="differ in testbeds/toy"):
        repository.measure(replicates=2, workload=work)
    out = {"workload": work, "not_part_of_runs": ["testbeds/toy/recompute.*"]}
    assert repository.measure(**out)[0].measured == 2
    after = repository.described("cpu-guests-1-r2")["protocol"]
    assert (after["fingerprint"], after["files"]) == (before["fingerprint"], before["files"])
    (testbed / "recompute.py").write_text("3\n")
    assert repository.measure(replicates=3, **out)[0].measured == 2
    (testbed / "length.sh").write_text("length=0.25\n")
    with pytest.raises(RawperfError, match="differ in testbeds/toy"):
        repository.measure(replicates=4, **out)
    (testbed / "length.sh").write_text("length=0.2\n")
    repository.write(not_part_of_runs=["testbeds/toy/none.py"])
    with pytest.raises(RawperfError, match="not_part_of_runs: no file of the repository"):
        protocols(repository)


def test_run_yaml_records_protocol_time_and_machine_anonymously(repository, testbed):
    repository.measure(replicates=1, workload=[["sh", "{root}/testbeds/toy/work.sh", "out.csv"]])
    protocol = repository.described("cpu-guests-1-r1")["protocol"]
    assert {"fingerprint", "experiment", "settings", "files", "utc_offset", "boot"} <= set(protocol)
    assert protocol["experiment"] == "cpu"
    text = (repository.runs / "cpu-guests-1-r1" / "run.yaml").read_text()
    if MACHINE_ID.is_file() and (machine_id := MACHINE_ID.read_text().strip()):
        assert machine_id not in text and machine_id[:12] not in text


def test_commit_and_uncommitted_changes_are_recorded(repository):
    root = repository.root
    assert "commit" not in session(root)
    git = ["git", "-C", str(root), "-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    (root / "file").write_text("1")
    subprocess.run([*git, "add", "file"], check=True)
    subprocess.run([*git, "commit", "-qm", "one"], check=True)
    assert (len(session(root)["commit"]), session(root)["dirty"]) == (12, False)
    (root / "file").write_text("2")
    assert session(root)["dirty"] is True


def test_changed_measure_yaml_is_rejected_before_measuring(repository):
    repository.measure(replicates=1)
    with pytest.raises(RawperfError) as caught:
        repository.measure(replicates=2, window_s=0.3)
    assert (
        "the settings of experiment cpu in measure.yaml are not those of cpu-guests-1-r1, "
        "cpu-guests-2-r1; git has no version with the earlier settings. Undo the change, or "
        "remove the runs of one kind"
    ) in str(caught.value)
    assert repository.present() == ["cpu-guests-1-r1", "cpu-guests-2-r1"]
    edit_study(repository, "machine_may_differ: {protocol: the window was too short at first}")
    outcome, _, _ = repository.measure()
    assert outcome.measured == 2


def test_changed_settings_are_named_if_git_has_the_earlier_ones(repository):
    git = ["git", "-C", str(repository.root), "-c", "user.name=x", "-c", "user.email=x@y.z"]
    subprocess.run([*git, "init", "-q"], check=True)
    disturbed, sleep = {"others_cpus": 5}, {"run": ["sleep", "9"], "stop": "SIGTERM"}
    first = {"replicates": 1, "disturbed": disturbed, "monitors": [sleep]}
    for fields in ({**first, "window_s": 0.1}, first, {"replicates": 1}):
        repository.write(**fields)  # the version of the runs is neither the first nor the last
        subprocess.run([*git, "add", "-A"], check=True)
        subprocess.run([*git, "commit", "-qm", "version"], check=True)
    repository.measure(**first)
    monitors = [{**sleep, "timeout_s": 7}, {**sleep, "run": "sleep 8"}]
    changed = {"warmup_s": 0.5, "disturbed": {"steal_percent": 90}, "monitors": monitors}
    with pytest.raises(RawperfError) as caught:
        repository.measure(**{**first, **changed, "replicates": 2})
    assert (
        "are not those of cpu-guests-1-r1, cpu-guests-2-r1: warmup_s was 0.0, is 0.5; "
        "disturbed/steal_percent was not set, is 90.0; disturbed/others_cpus was 5.0, is not set; "
        "monitors. Undo the change"
    ) in str(caught.value)


def test_changed_testbed_file_ends_the_session_between_runs(repository, testbed):
    work = [["sh", "{root}/testbeds/toy/work.sh", "out.csv"]]
    later = {"run": 'echo "# $run" >> "$root/testbeds/toy/length.sh"', "shell": True}
    with pytest.raises(RawperfError, match="testbeds/toy changed while cpu was measured"):
        repository.measure(workload=work, teardown=[later])
    assert len(repository.present()) == 1
    with pytest.raises(RawperfError, match="differ in testbeds/toy"):
        repository.measure()
    assert len(repository.present()) == 1


def test_changed_kernel_is_rejected_unless_it_is_a_factor_or_allowed(repository, monkeypatch):
    repository.measure(replicates=1)
    monkeypatch.setattr(harness_module, "machine", lambda: {"cpu": "some", "kernel": "Linux 6.2"})
    repository.measure(replicates=2)  # the first runs record no kernel
    monkeypatch.setattr(harness_module, "machine", lambda: {"cpu": "some", "kernel": "Linux 6.9"})
    with pytest.raises(RawperfError, match=r"differ in kernel: Linux 6.2 in .*; Linux 6.9 in"):
        repository.measure(replicates=3)
    assert len(repository.present()) == 4
    edit_study(repository, "machine_may_differ: {kernel: an update that could not be put off}")
    assert repository.measure()[0].measured == 2


@pytest.mark.parametrize(
    ("factor", "compared"), [("kernel", ""), ("session", "machine_factor: session\n")]
)
def test_facts_that_are_factor_levels_are_not_compared(repository, factor, compared):
    study_file = repository.root / "data" / "published" / "toy" / "study.yaml"
    study_file.write_text(
        study_file.read_text().replace(
            "factors:\n", f"{compared}factors:\n  {factor}: {{levels: [old, new], default: old}}\n"
        )
    )
    study = load_study(study_file.parent)

    def run(name, level, kernel, memory=1):
        return {
            "run_id": name,
            "factors": {factor: level, "guests": 1, "mode": "plain"},
            "machine": {"kernel": kernel, "memory_mb": memory},
        }

    alike = [run("a", "old", "5"), run("b", "old", "5"), run("c", "new", "6", memory=2)]
    assert fact_differences(study, alike) == []
    (found,) = fact_differences(study, [*alike, run("d", "new", "5", memory=2)])
    assert (found.fact, dict(found.runs)) == ("kernel", {"6": ("c",), "5": ("d",)})


def test_check_and_ingest_report_runs_with_another_protocol(repository):
    repository.measure(replicates=2)
    path = repository.runs / "cpu-guests-1-r2" / "run.yaml"
    run_yaml = yaml.safe_load(path.read_text())
    run_yaml["machine"]["cpu"] = "other"
    del run_yaml["protocol"]
    path.write_text(yaml.safe_dump(run_yaml))
    problems = [str(p) for p in check_everything(Layout(repository.root), ["toy"])[0]]
    differ = [problem for problem in problems if "differ in" in problem]
    assert len(differ) == 2
    assert any(
        "experiment cpu differ in cpu: some in" in p and "other in cpu-guests-1-r2" in p
        for p in differ
    )
    assert any("differ in protocol: recorded in" in p for p in differ)
    edit_study(repository, "machine_may_differ: {cpu: the same model, protocol: written later}")
    assert not [
        str(p) for p in check_everything(Layout(repository.root), ["toy"])[0] if "differ" in str(p)
    ]
    edit_study(repository, "  # the end")
    text = (repository.root / "data" / "published" / "toy" / "study.yaml").read_text()
    (repository.root / "data" / "published" / "toy" / "study.yaml").write_text(
        text.replace("{cpu:", "{cpus: a misspelt fact, cpu:")
    )
    run_yaml = " ".join(str(p) for p in check_everything(Layout(repository.root), ["toy"])[0])
    assert "no run records 'cpus'" in run_yaml and "'cpu'" in run_yaml


def test_unknown_machine_factor_is_reported(repository):
    edit_study(repository, "machine_factor: sessions")
    problems = " ".join(str(p) for p in check_everything(Layout(repository.root), ["toy"])[0])
    assert "unknown factor" in problems


def test_runs_without_a_protocol_form_a_separate_group(repository):
    repository.measure(replicates=1)
    for name in repository.present():
        path = repository.runs / name / "run.yaml"
        run_yaml = yaml.safe_load(path.read_text())
        del run_yaml["protocol"], run_yaml["wall_s"]
        path.write_text(yaml.safe_dump(run_yaml))
    assert fact_differences(repository.harness().study, entries(repository)) == []
    (group,) = run_groups(entries(repository))
    assert (group.protocol, group.experiment, len(group.runs)) == ("not recorded", "", 2)
    with pytest.raises(RawperfError, match="differ in protocol: not recorded in"):
        repository.measure(replicates=2)


def test_runs_are_grouped_by_protocol_and_machine(repository, monkeypatch):
    repository.measure(replicates=1)
    edit_study(repository, "machine_may_differ: {cpu: two machines of one rack}")
    monkeypatch.setattr(harness_module, "machine", lambda: {"cpu": "other"})
    repository.measure(replicates=2)
    first, second = run_groups(entries(repository))
    assert [len(first.runs), len(second.runs)] == [2, 2]
    assert first.protocol == second.protocol
    assert [first.machine["cpu"], second.machine["cpu"]] == ["some", "other"]


def test_relevant_kernel_command_line_options_are_kept():
    line = (
        "BOOT_IMAGE=/vmlinuz root=/dev/nfs nfsroot=10.0.0.1:/x ip=dhcp hostname=secret quiet "
        "mitigations=off isolcpus=2-3 nosmt processor.max_cstate=1 password=x kvm_intel.nested=1"
    )
    assert kernel_parameters(line) == (
        "mitigations=off isolcpus=2-3 nosmt processor.max_cstate=1 kvm_intel.nested=1"
    )
