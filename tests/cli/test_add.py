"""`virtperf add run`: checks, preview, copying, run.yaml, no partial copies."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.cli.conftest import Run
from tests.toy_runs import STUDY, console, netstat, sar, write_run
from virtperf.cli import _shared
from virtperf.core.paths import Layout
from virtperf.report.kinds.quality import warnings_of
from virtperf.runs.ingest.stage import INDEX, ingest
from virtperf.runs.intake.doubts import record_doubts
from virtperf.study.definition import load_study

FACTORS = ("--factor", "system=b", "--factor", "guests=2")
TIMES = (
    "--start",
    "2009-01-09T14:00:00",
    "--file",
    "drivers/*.log",
    "start_s=10,interval_s=10",
    "--warmup",
    "300",
)


@pytest.fixture
def repository(tmp_path: Path, root: Path) -> Path:
    """A repository with the toy study as working folder."""
    published = tmp_path / "data" / "published" / "toy"
    published.mkdir(parents=True)
    (published / "study.yaml").write_text(STUDY)
    shutil.copy(root / "params.yaml", tmp_path / "params.yaml")
    return tmp_path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Raw files of two tools without run.yaml, outside the repository."""
    place = tmp_path / "elsewhere" / "Monday run"
    (place / "drivers").mkdir(parents=True)
    (place / "guests" / "web1").mkdir(parents=True)
    (place / "drivers" / "d1.log").write_bytes(console(seed="monday"))
    (place / "guests" / "web1" / "sar.txt").write_bytes(sar())
    (place / "notes.md").write_text("What happened.\n")
    (place / ".hidden").write_text("x")
    return place


def measured(repository: Path) -> list[str]:
    place = repository / "data" / "measured"
    return (
        sorted(str(p.relative_to(place)) for p in place.rglob("*") if p.is_file())
        if place.exists()
        else []
    )


def test_preview_copies_nothing(run: Run, repository, folder):
    text = run("add", "run", "toy", str(folder), *FACTORS, *TIMES).output
    assert "monday-run: toy, measured, replicate 1" in text
    assert "test load (default), system b, guests 2" in text
    assert "common coverage of all files: 300 to 900 s" in text
    assert "measurement window 300 to 900 s" in text
    assert "iwl-console" in text
    assert "page_element_throughput" in text
    assert (
        "not measured in this run: no processor_busy of a processor or guest_cpu of a domain"
        in text
    )
    assert "5 % of the processor time was stolen by the hypervisor in the window" in text
    assert "Nothing was copied. To copy the run to data/measured/toy/monday-run, add --yes." in text
    assert measured(repository) == []
    assert not (repository / "data" / "measured").exists()


def test_copied_run_is_read_by_the_pipeline(run: Run, repository, folder):
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    run("add", "run", "toy", str(folder), *FACTORS, *TIMES, "--clients", "4", "--yes")
    assert measured(repository) == [
        "toy/monday-run/drivers/d1.log",
        "toy/monday-run/guests/web1/sar.txt",
        "toy/monday-run/notes.md",
        "toy/monday-run/run.yaml",
    ]
    made = yaml.safe_load((repository / "data/measured/toy/monday-run/run.yaml").read_text())
    assert made["factors"] == {"test": "load", "system": "b", "guests": 2}
    assert made["window_s"] == [300, 900]
    assert made["clients"] == 4
    assert made["files"][0] == {
        "path": "drivers/d1.log",
        "format": "iwl-console",
        "start_s": 10,
        "interval_s": 10,
    }
    study = load_study(repository / "data/published/toy")
    roots = {"measured": repository / "data/measured/toy"}
    done = ingest(
        study,
        roots,
        Layout(repository).metrics,
        repository / "out",
        repository / "cache",
    )
    assert (done.n_ok, done.quarantined) == (1, [])
    # what was warned of stays with the run: in run.yaml, the index and the page of data quality
    stolen = "guest web1: 5 % of the processor time was stolen by the hypervisor in the window"
    assert made["disturbed"] == [stolen]
    (entry,) = json.loads((repository / "out" / INDEX).read_text())["runs"]
    assert f"disturbed: {stolen}" in warnings_of(entry)
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


def test_existing_run_yaml_is_checked_and_kept(run: Run, repository, tmp_path):
    folder = write_run(tmp_path / "elsewhere", "r7")
    text = (folder / "run.yaml").read_text() + "# a remark\n"
    (folder / "run.yaml").write_text(text)
    renamed = folder.rename(tmp_path / "elsewhere" / "some folder")
    run("add", "run", "toy", str(renamed), "--yes")
    assert (repository / "data/measured/toy/r7/run.yaml").read_text() == text
    output = run("add", "run", "toy", str(renamed), *FACTORS, status=2).output
    assert "the folder has a run.yaml" in output


def test_run_without_times_is_accepted(run: Run, repository, tmp_path):
    unknown = dict.fromkeys(("start", "duration_s", "warmup_s", "window_s"))
    folder = write_run(tmp_path / "elsewhere", "r8", **unknown)
    output = run("add", "run", "toy", str(folder), "--yes").output
    assert "start unknown, no timestamps: values cover the whole run" in output
    assert "toy/r8/run.yaml" in " ".join(measured(repository))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"provenance": "invented"}, "expected 'measured' or 'example'; found 'invented'"),
        (
            {"factors": {"system": "c", "guests": 1}},
            "unknown level 'c' of system; expected one of 'a', 'b'",
        ),
        (
            {"window_s": [300, 2000]},
            "window_s: the window ends at 2000 s, after the end of the run",
        ),
        ({"study": "other"}, "study differs from the study"),
        ({"replicate": None}, "'replicate' is missing"),
        ({"start": None}, "'start' is missing; only a run without duration_s"),
    ],
)
def test_invalid_run_yaml_is_rejected(run: Run, repository, tmp_path, fields, message):
    folder = write_run(tmp_path / "elsewhere", "r7", **fields)
    messages = run("add", "run", "toy", str(folder), "--yes", status=1).output
    assert message in messages
    assert "run.yaml" in messages
    assert measured(repository) == []


def test_all_missing_options_are_reported_at_once(run: Run, repository, folder):
    output = run("add", "run", "toy", str(folder), "--yes", status=1).output
    for option in (
        "--factor system=... (a, b)",
        "--factor guests=... (1, 2, 3)",
        "--start",
        "--file drivers/d1.log start_s=...",
        "--file drivers/d1.log interval_s=...",
    ):
        assert option in output
    assert "--factor test" not in output  # it has a default


def test_terminal_prompts_for_missing_values_and_confirmation(
    run: Run, repository, folder, monkeypatch
):
    monkeypatch.setattr(_shared, "interactive", lambda: True)
    answers = ["", "b", "3", "2009-01-09T14:00:00", "10", "10"]
    output = run(
        "add",
        "run",
        "toy",
        str(folder),
        "--warmup",
        "300",
        stdin="\n".join([*answers, "n"]) + "\n",
        status=1,
    )
    assert "Copy it to data/measured/toy/monday-run?" in output.output
    assert measured(repository) == []
    run(
        "add", "run", "toy", str(folder), "--warmup", "300", stdin="\n".join([*answers, "y"]) + "\n"
    )
    made = yaml.safe_load((repository / "data/measured/toy/monday-run/run.yaml").read_text())
    assert made["factors"] == {"test": "load", "system": "b", "guests": 3}


def test_replicate_number_is_incremented(run: Run, repository, folder, tmp_path):
    write_run(
        repository / "data/measured/toy",
        "first",
        factors={"system": "b", "guests": 2},
        replicate=3,
        window_s=[400, 800],
    )
    text = run("add", "run", "toy", str(folder), *FACTORS, *TIMES).output
    assert "replicate 4" in text
    assert re.search(
        r"window, 300 to 900 s, differs from that of its replicates: first 400 to 800 s", text
    )
    assert (
        "replicate 1"
        in run(
            "add", "run", "toy", str(folder), "--factor", "system=a", "--factor", "guests=2", *TIMES
        ).output
    )


def test_the_start_is_taken_from_files_with_dates(run: Run, repository, folder):
    study = repository / "data" / "published" / "toy" / "study.yaml"
    study.write_text(STUDY + INPUTS.replace("numbered: true", "field: time, format: iso"))
    (folder / "drivers" / "d1.log").unlink()
    (folder / "drivers" / "d1.csv").write_text(
        "time,tps\n" + "".join(f"2009-01-09T12:00:{10 * k},{100 * k}\n" for k in (1, 2, 3))
    )
    (folder / "guests" / "web1" / "sar.txt").unlink()
    said = run("add", "run", "toy", str(folder), *FACTORS, "--yes").output
    assert "start 2009-01-09T12:00:00, duration 30 s" in said
    assert "start: one interval (10 s) before the first sample of drivers/d1.csv" in said
    assert re.search(r"drivers/d1\.csv .* 10 +30\n", said)


def test_reserved_name_is_refused(run: Run, repository, folder):
    before = measured(repository)
    for name in ("runs", "examples"):
        options = (*FACTORS, *TIMES, "--name", name, "--yes")
        output = run("add", "run", "toy", str(folder), *options, status=1).output
        assert f"'{name}' is a reserved name. Set another one with --name" in output
    assert measured(repository) == before


@pytest.mark.parametrize("kind", ["measured", "example"])
def test_duplicate_of_an_existing_run_is_rejected(run: Run, repository, tmp_path, kind):
    place = repository / (
        "data/measured/toy" if kind == "measured" else "data/measured/toy/examples"
    )
    existing = write_run(
        place, "there", raw={"d1.log": console(seed="x"), "a.txt": sar()}, provenance=kind
    )
    before = measured(repository)
    again = tmp_path / "again"
    shutil.copytree(existing, again)
    (again / "run.yaml").unlink()
    (again / "d1.log").rename(again / "other.log")
    for _ in range(2):
        output = run(
            "add", "run", "toy", str(again), *FACTORS, *TIMES[:2], "--yes", status=1
        ).output
        assert f"its raw files duplicate those of the {kind} run there" in output
        (again / "a.txt").unlink(missing_ok=True)  # a subset of a run's files counts as a duplicate
    assert measured(repository) == before


def test_one_shared_file_is_a_warning(run: Run, repository, folder):
    write_run(
        repository / "data/measured/toy",
        "there",
        raw={"d1.log": console(seed="y"), "sar.txt": sar()},
    )
    output = run("add", "run", "toy", str(folder), *FACTORS, *TIMES, "--yes").output
    warning = "guests/web1/sar.txt: identical to files of the measured run there"
    assert f"warning: {warning}" in output
    added = yaml.safe_load((repository / "data/measured/toy/monday-run/run.yaml").read_text())
    assert any(text.startswith(warning) for text in added["warned"])


def test_doubts_are_added_to_a_run_yaml_of_any_style(tmp_path):
    path = tmp_path / "run.yaml"
    for text in (
        "run: a\n# mine\nnotes: x\n",
        "{run: a, notes: x}\n",
        "run: a\nnotes: x\ndisturbed: [old]",
    ):
        path.write_text(text)
        record_doubts(path, ["old", "new"], ["w: x"])
        made = yaml.safe_load(path.read_text())
        assert made == {"run": "a", "notes": "x", "disturbed": ["old", "new"], "warned": ["w: x"]}
    path.write_text("run: a  # mine\n")
    record_doubts(path, ["new"], [])
    assert path.read_text() == "run: a  # mine\ndisturbed:\n- new\n"


@pytest.mark.parametrize("kind", ["file", "folder", "run.yaml", "whole", "broken"])
def test_symbolic_links_are_rejected(run: Run, repository, folder, tmp_path, kind):
    secret = tmp_path / "secret.txt"
    secret.write_bytes(sar())
    chosen = folder
    if kind == "file":
        (folder / "link.txt").symlink_to(secret)
    elif kind == "folder":
        (folder / "more").symlink_to(tmp_path, target_is_directory=True)
    elif kind == "run.yaml":
        (folder / "run.yaml").symlink_to(secret)
    elif kind == "broken":
        (folder / "link.txt").symlink_to(tmp_path / "nowhere")
    else:
        chosen = tmp_path / "linked"
        chosen.symlink_to(folder, target_is_directory=True)
    output = run(
        "add",
        "run",
        "toy",
        str(chosen),
        *FACTORS,
        *TIMES,
        "--yes",
        status=2 if kind == "run.yaml" else 1,
    ).output
    assert "link" in output or "run.yaml" in output
    assert measured(repository) == []


def test_damaged_file_is_rejected_with_file_and_line(run: Run, repository, folder):
    path = folder / "guests" / "web1" / "sar.txt"
    path.write_bytes(
        path.read_bytes().replace(
            b"14:09:00        all     40.00", b"14:09:00        all     4x.00"
        )
    )
    messages = run("add", "run", "toy", str(folder), *FACTORS, *TIMES, "--yes", status=1).output
    assert "guests/web1/sar.txt line" in messages
    assert measured(repository) == []


def test_run_without_any_quantity_of_the_study_is_rejected(run: Run, repository, tmp_path):
    folder = tmp_path / "only netstat"
    folder.mkdir()
    (folder / "netstat.txt").write_bytes(netstat(5))
    output = run(
        "add",
        "run",
        "toy",
        str(folder),
        *FACTORS,
        "--start",
        "2009-01-09T14:00:00",
        "--duration",
        "600",
        "--yes",
        status=1,
    ).output
    assert "the run contains none of the quantities of toy" in output
    assert "page_element_throughput of a driver" in output
    assert measured(repository) == []


def test_metric_of_the_wrong_entity_kind_is_reported(run: Run, repository, tmp_path):
    folder = tmp_path / "only sar"
    (folder / "guests" / "web1").mkdir(parents=True)
    (folder / "guests" / "web1" / "sar.txt").write_bytes(sar())
    study = repository / "data" / "published" / "toy" / "study.yaml"
    asked = "from: [{metric: page_element_throughput, entity_kind: driver}]"
    text = study.read_text()
    assert text.count(asked) == 1
    study.write_text(text.replace(asked, "from: [{metric: cpu_busy, entity_kind: host}]"))
    times = ("--start", "2009-01-09T14:00:00", "--duration", "600")
    messages = run("add", "run", "toy", str(folder), *FACTORS, *times, "--yes", status=1).output
    assert "cpu_busy of a host" in messages and "found cpu_busy of a guest" in messages
    assert measured(repository) == []


def test_existing_or_invalid_run_name_is_rejected(run: Run, repository, folder):
    run("add", "run", "toy", str(folder), *FACTORS, *TIMES, "--name", "taken", "--yes")
    (folder / "drivers" / "d1.log").write_bytes(console(seed="other"))
    (folder / "guests" / "web1" / "sar.txt").write_bytes(sar(rows=11))
    before = measured(repository)
    output = run(
        "add", "run", "toy", str(folder), *FACTORS, *TIMES, "--name", "taken", "--yes", status=1
    ).output
    assert "a run with this name already exists" in output
    for name in ("../out", "Upper", "-x"):
        assert (
            "invalid run name"
            in run(
                "add", "run", "toy", str(folder), *FACTORS, *TIMES, f"--name={name}", status=1
            ).output
        )
    assert measured(repository) == before


def test_failed_copy_leaves_no_files(run: Run, repository, folder, monkeypatch):
    import virtperf.runs.intake.snapshot as module

    def full(source, target, **_):
        (Path(target) / "half.txt").write_text("half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module.shutil, "copytree", full)
    output = run("add", "run", "toy", str(folder), *FACTORS, *TIMES, "--yes", status=1).output
    assert output.splitlines()[-1].startswith("Error:") and "No space left on device" in output
    assert not (repository / "data" / "measured").exists()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--factor", "colour=red"),
            "expected name=level, where name is one of test, system, guests",
        ),
        (("--factor", "guests=12"), "unknown level of guests; expected one of 1, 2, 3; found 12"),
        (("--start", "yesterday"), "invalid date and time"),
        (("--start", "2009-01-09"), "invalid date and time"),
        (("--start", "2009-01-09T14:00:00Z"), "invalid date and time"),
        (("--start", "2009-01-09T14:00:00+02:00"), "of the system under test and omit the offset"),
        (("--file", "*.xml", "start_s=1"), "no raw file matches"),
        (("--file", "drivers/*", "begin=1"), "expected key=value, where key is one of format"),
        (("--file", "drivers/*", "start_s=soon"), "start_s is not a number"),
    ],
)
def test_meaningless_options_are_rejected(run: Run, repository, folder, options, message):
    assert message in run("add", "run", "toy", str(folder), *options, "--yes", status=1).output


@pytest.mark.parametrize(
    ("window", "message"),
    [
        (("900", "300"), "--window 900 300: the window ends before it begins"),
        (("300", "9000"), "--window 300 9000: the window ends after the run; expected an end of"),
        (("100", "900"), "--window 100 900: the window begins in the warm-up; expected a begin of"),
    ],
)
def test_wrong_window_is_named_by_its_option(run: Run, repository, folder, window, message):
    said = run("add", "run", "toy", str(folder), *FACTORS, *TIMES, "--window", *window, status=1)
    assert f"Error: {message}" in said.output
    assert "run.yaml" not in said.output


def test_unknown_study_lists_the_known_ones(run: Run, repository, folder):
    assert (
        "there is no study 'tony'; expected one of toy"
        in run("add", "run", "tony", str(folder), status=1).output
    )


INPUTS = """
inputs:
  - name: my-driver
    match: {file: "*.csv"}
    reads: csv
    time: {numbered: true}
    entity: {kind: driver}
    fields: [{field: tps, metric: page_element_throughput, unit: 1/s}]
"""


def test_preview_shows_values_of_a_declared_input(run: Run, repository, folder):
    study = repository / "data" / "published" / "toy" / "study.yaml"
    study.write_text(STUDY + INPUTS)
    (folder / "drivers" / "d1.log").unlink()
    (folder / "drivers" / "d1.csv").write_text(
        "tps\n" + "".join(f"{100 + k % 7}\n" for k in range(120))
    )
    times = [t.replace("*.log", "*.csv") for t in TIMES]
    text = run("add", "run", "toy", str(folder), *FACTORS, *times, "--yes").output
    assert re.search(r"drivers/d1\.csv +my-driver +d1 +sample +120 +120 +10 +1200", text)
    written = yaml.safe_load(
        (repository / "data" / "measured" / "toy" / "monday-run" / "run.yaml").read_text()
    )
    assert {
        "path": "drivers/d1.csv",
        "format": "my-driver",
        "start_s": 10,
        "interval_s": 10,
    } in written["files"]
    study.write_text(STUDY + INPUTS.replace("field: tps", "field: tsp"))
    (folder / "drivers" / "d1.csv").write_text("tps\n" + "101\n" * 120)
    (folder / "guests" / "web1" / "sar.txt").write_bytes(sar(rows=9))
    output = run(
        "add", "run", "toy", str(folder), *FACTORS, *times, "--name", "r2", status=1
    ).output
    assert "d1.csv line 1: there is no column 'tsp'; found tps. Did you mean 'tps'" in output
