"""Packed runs: the same runs by the same addresses; hostile archives; packing that is interrupted."""

from __future__ import annotations

import json
import shutil
import stat
import struct
import zipfile

import pytest
import yaml
from click.testing import CliRunner

import virtperf
from rawperf.core.errors import RunError
from tests.comparison.test_compare import A, B, wrk
from tests.comparison.test_places import git
from tests.toy_runs import STUDY, console, netstat, write_run
from virtperf.cli import main
from virtperf.core.paths import Layout
from virtperf.runs import packing
from virtperf.runs.addresses import Addresses
from virtperf.runs.ingest.folder import RunFolder, run_folders
from virtperf.runs.ingest.packed import Archive
from virtperf.runs.ingest.stage import ingest
from virtperf.runs.packing import pack, unpack
from virtperf.study.definition import load_study

PROTOCOL = {"fingerprint": "1", "settings": "2"}


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with six runs of two experiments of the toy study, as folders."""
    published = tmp_path / "data" / "published" / "toy"
    published.mkdir(parents=True)
    (published / "study.yaml").write_text(STUDY)
    (tmp_path / "params.yaml").write_text("")
    runs = tmp_path / "data" / "measured" / "toy"
    for experiment in "ab":
        for number in (1, 2, 3):
            write_run(
                runs,
                f"{experiment}-{number}",
                replicate=number,
                factors={"system": experiment, "guests": 1},
                protocol={**PROTOCOL, "experiment": experiment},
            )
    (runs / "a-1" / "guests" / "g1").mkdir(parents=True)
    (runs / "a-1" / "guests" / "g1" / "netstat.log").write_bytes(netstat(5))
    (runs / "a-1" / "notes.md").write_text("A note.\n")
    monkeypatch.chdir(tmp_path)
    return Layout(tmp_path)


@pytest.fixture
def study(repository):
    return load_study(repository.published("toy"))


def contents(folder):
    return {
        p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()
    }


def ingested(repository, study, root, out):
    summary = ingest(
        study,
        {"measured": repository.measured("toy")},
        root / "src" / "rawperf" / "metrics.yaml",
        out,
        out.parent / f"{out.name}.cache",
        jobs=1,
    )
    return summary, contents(out)


def virtperf_command(*arguments):
    result = CliRunner().invoke(main, [*map(str, arguments)])
    assert isinstance(result.exception, SystemExit | None), result.exception
    return result.exit_code, result.output


def test_packed_runs_give_the_same_samples(repository, study, root, tmp_path):
    runs = repository.measured("toy")
    _, as_folders = ingested(repository, study, root, tmp_path / "one")
    written = pack(runs, study)
    assert {path.name: count for path, count in written.items()} == {"a.zip": 3, "b.zip": 3}
    assert [p.name for p in runs.iterdir()] == ["runs"]
    summary, packed = ingested(repository, study, root, tmp_path / "two")
    assert (summary.n_ok, summary.quarantined) == (6, [])
    index = json.loads(packed.pop("index.json"))
    assert {run.pop("archive") for run in index["runs"]} == {"runs/a.zip", "runs/b.zip"}
    assert index == json.loads(as_folders.pop("index.json"))
    assert packed == as_folders


def test_unpacking_restores_each_byte_and_packing_again_each_member(repository, study):
    runs = repository.measured("toy")
    before = contents(runs)
    pack(runs, study)
    archives = contents(runs)
    assert unpack(runs) == ["a-1", "a-2", "a-3", "b-1", "b-2", "b-3"]
    assert contents(runs) == before
    pack(runs, study)
    assert contents(runs) == archives
    assert unpack(runs, ["a-[12]"]) == ["a-1", "a-2"]
    assert [run.name for run in run_folders(runs) if run.archive] == ["a-3", "b-1", "b-2", "b-3"]


def test_hashes_stay_valid_when_a_run_is_packed_and_unpacked(repository, study, root, tmp_path):
    runs = repository.measured("toy")
    folder = RunFolder(runs / "a-1")
    digests = folder.digests(folder.raw_files())
    hashes = {name: digest[:12] for name, digest in digests.items()}
    with (runs / "a-1" / "run.yaml").open("a") as file:
        file.write(yaml.safe_dump({"hashes": hashes}))
    summary, _ = ingested(repository, study, root, tmp_path / "folder")
    assert summary.quarantined == []
    pack(runs, study)
    summary, _ = ingested(repository, study, root, tmp_path / "packed")
    assert summary.quarantined == []
    unpack(runs)
    (runs / "a-1" / "guests" / "g1" / "netstat.log").write_bytes(netstat(6))
    summary, _ = ingested(repository, study, root, tmp_path / "changed")
    (refused,) = summary.quarantined
    assert refused["run"] == "a-1"
    assert refused["problem"] == "the raw file guests/g1/netstat.log was changed after the run"
    with pytest.raises(RunError, match=r"netstat\.log was changed"):
        pack(runs, study)


def test_later_runs_go_to_a_part_of_their_own(repository, study):
    runs = repository.measured("toy")
    pack(runs, study, ["a-[12]"])
    first = (runs / "runs" / "a.zip").read_bytes()
    assert {path.name for path in pack(runs, study)} == {"a-part-2.zip", "b.zip"}
    assert (runs / "runs" / "a.zip").read_bytes() == first


def test_parts_are_below_the_size(repository, study, monkeypatch):
    monkeypatch.setattr(packing, "MAX_ARCHIVE_BYTES", 5_000)
    runs = repository.measured("toy")
    written = pack(runs, study)
    assert len(written) > 2
    assert all(path.stat().st_size <= 5_000 for path in written)
    assert sum(written.values()) == 6
    monkeypatch.setattr(packing, "MAX_ARCHIVE_BYTES", 1_000)
    unpack(runs)
    with pytest.raises(
        RunError, match=r"a-1: the run is too large for an archive; expected at most"
    ):
        pack(runs, study)
    assert not (runs / "runs").exists()


@pytest.mark.parametrize("inside", [False, True])
def test_interrupted_packing_loses_nothing_and_is_ended_by_the_next_call(
    repository, study, monkeypatch, inside
):
    runs = repository.measured("toy")
    before = contents(runs)

    def interrupted(_):
        raise KeyboardInterrupt

    def interrupted_inside(folder):
        (folder / "run.yaml").unlink()
        raise KeyboardInterrupt

    monkeypatch.setattr(packing.shutil, "rmtree", interrupted_inside if inside else interrupted)
    with pytest.raises(KeyboardInterrupt):
        pack(runs, study)
    monkeypatch.undo()
    assert len(run_folders(runs)) == 6  # equal copies are one run
    assert pack(runs, study) == {}
    assert [p.name for p in runs.iterdir()] == ["runs"]
    unpack(runs)
    assert contents(runs) == before


def test_folder_that_differs_from_its_packed_copy_is_kept(repository, study):
    runs = repository.measured("toy")
    shutil.copytree(runs / "a-1", runs.parent / "kept")
    pack(runs, study)
    shutil.move(runs.parent / "kept", runs / "a-1")
    (runs / "a-1" / "d1.log").write_bytes(console(seed="changed"))
    with pytest.raises(RunError, match="the run is also in a folder a-1"):
        run_folders(runs)
    for change in (pack, unpack):
        with pytest.raises(RunError, match="a-1: the folder differs from the packed run"):
            change(*((runs, study) if change is pack else (runs,)))
    assert (runs / "a-1" / "d1.log").read_bytes() == console(seed="changed")


@pytest.mark.parametrize("name", [".hidden", "link"])
def test_files_that_an_archive_does_not_take_are_refused(repository, study, name):
    runs = repository.measured("toy")
    if name == "link":
        (runs / "a-1" / name).symlink_to("d1.log")
    else:
        (runs / "a-1" / name).write_text("x")
    with pytest.raises(RunError, match=f"a-1: .*{name}"):
        pack(runs, study)
    assert not (runs / "runs").exists()


def test_addresses_and_patterns_find_packed_runs_and_their_files(repository, study, tmp_path):
    runs = "data/measured/toy"
    pack(repository.measured("toy"), study, ["a-*", "b-1"])
    with_scratch = Addresses(tmp_path / "scratch")

    def found(written):
        return [with_scratch.address(str(path)) for path in with_scratch.find(written)]

    assert found(f"{runs}/[ab]-[12]") == [f"{runs}/{n}" for n in ("a-1", "a-2", "b-1", "b-2")]
    assert found(f"{runs}/a-1/d1.log") == [f"{runs}/a-1/d1.log"]
    assert found("data/*/toy/a-*/guests/*/*.log") == [f"{runs}/a-1/guests/g1/netstat.log"]
    assert found(str(tmp_path / runs / "a-2")) == [str(tmp_path / runs / "a-2")]
    assert found(f"{runs}/../toy/a-[12]") == [f"{runs}/../toy/{n}" for n in ("a-1", "a-2")]
    assert found(f"{runs}/none") == found(f"{runs}/a-1/none") == found("../x") == []
    assert found(f"{runs}/a-*/../../../x") == []


def test_packed_file_is_read_by_its_address(repository, study):
    expected = virtperf.read("data/measured/toy/a-1/d1.log", interval_s=10)
    code, text = virtperf_command("read", "data/measured/toy/a-1/d1.log", "--interval", 10)
    pack(repository.measured("toy"), study)
    found = virtperf.read("data/measured/toy/a-1/d1.log", interval_s=10)
    assert found.equals(expected)
    assert virtperf_command("read", "data/measured/toy/a-1/d1.log", "--interval", 10) == (
        code,
        text,
    )
    code, text = virtperf_command("read", "data/measured/toy/a-1/run.yaml")
    assert code == 1
    assert text.startswith("Error: data/measured/toy/a-1/run.yaml")


def test_comparison_of_packed_runs_is_that_of_folders(repository, study, tmp_path):
    places = ("data/measured/toy/a-*", "data/measured/toy/b-*")
    as_folders = virtperf_command("compare", *places, "--format", "json")
    assert as_folders[0] == 0
    pack(repository.measured("toy"), study)
    assert virtperf_command("compare", *places, "--format", "json") == as_folders
    for run in ("a-1", "b-1"):
        _, text = virtperf_command("compare", f"data/measured/toy/{run}", *places[1:])
        assert "packed-" not in text
        assert str(tmp_path) not in text


def test_revision_with_folders_is_compared_with_packed_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "study.yaml").write_text(STUDY.replace("study: toy", "study: kernels"))
    study = load_study(tmp_path / "kernels")
    runs = tmp_path / "data" / "measured" / "kernels"
    git(tmp_path, "init", "-q")
    for rates, tag in ((A, "folders"), (B, "packed")):
        for number, rate in enumerate(rates, 1):
            fields = {"study": "kernels", "factors": {"system": "a", "guests": 1}}
            write_run(
                runs, f"r{number}", {"wrk.txt": wrk(rate).encode()}, replicate=number, **fields
            )
        if tag == "packed":
            pack(runs, study)
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", tag)
        git(tmp_path, "tag", tag)
        shutil.rmtree(runs)
    for inside in ("data/measured/kernels", "data/measured/kernels/r*"):
        code, text = virtperf_command(
            "compare", f"folders:{inside}", f"packed:{inside}", "--format", "json"
        )
        assert code == 0, text
        rows = {row["quantity"]: row for row in json.loads(text)["rows"]}
        assert rows["throughput"]["ratio"] == pytest.approx(sum(B) / sum(A))
        assert (rows["throughput"]["runs_a"], rows["throughput"]["runs_b"]) == (6, 6)


def test_commands_pack_and_unpack(repository):
    code, text = virtperf_command("pack", "toy", "a-*")
    assert (code, text.partition(",")[0]) == (0, "data/measured/toy/runs/a.zip: 3 runs")
    assert virtperf_command("unpack", "toy", "a-2") == (0, "1 run in data/measured/toy\n")
    assert virtperf_command("unpack", "toy", "nothing") == (0, "Nothing to unpack.\n")


def member(name, **fields):
    info = zipfile.ZipInfo(name)
    for field, value in fields.items():
        setattr(info, field, value)
    return info


def hostile(path, *members, method=zipfile.ZIP_DEFLATED, patch=None):
    with zipfile.ZipFile(path, "w", method) as archive:
        for each in members:
            archive.writestr(each, b"x" * 100)
    if patch:
        path.write_bytes(patch(path.read_bytes()))
    return path


def encrypted(data):
    """Set the flag of encryption in the central directory."""
    at = data.index(b"PK\1\2") + 8
    return data[:at] + struct.pack("<H", 1) + data[at + 2 :]


def damaged(data):
    at = data.index(b"run.yaml") + len(b"run.yaml") + 2
    return data[:at] + bytes(byte ^ 0xFF for byte in data[at : at + 4]) + data[at + 4 :]


@pytest.mark.parametrize(
    ("members", "patch", "problem"),
    [
        (["r1/../../x"], None, "a member has a path that is not allowed"),
        (["/etc/passwd"], None, "a member has a path that is not allowed"),
        (["r1/.hidden"], None, "a member has a path that is not allowed"),
        (["r1//x"], None, "a member has a path that is not allowed"),
        (["r1/a\nb"], None, "a member has a path that is not allowed"),
        (["r1\\x"], None, "a member has a path that is not allowed"),
        (["run.yaml"], None, "a member has a path that is not allowed"),
        (["r1/"], None, "a member is no plain file"),
        (
            [member("r1/l", external_attr=(stat.S_IFLNK | 0o777) << 16)],
            None,
            "a member is no plain file",
        ),
        (
            [member("r1/p", external_attr=(stat.S_IFIFO | 0o666) << 16)],
            None,
            "a member is no plain file",
        ),
        (["r1/run.yaml"], encrypted, "a member is encrypted"),
        ([member("r1/x", compress_type=zipfile.ZIP_BZIP2)], None, "another compression method"),
        (["r1/run.yaml"], lambda _: b"no archive", "not a zip archive that can be read"),
        (["r1/run.yaml"], lambda data: data[:-30], "not a zip archive that can be read"),
    ],
)
def test_hostile_archives_are_refused_by_name(repository, study, root, members, patch, problem):
    runs = repository.measured("toy")
    (runs / "runs").mkdir()
    hostile(runs / "runs" / "z.zip", *members, patch=patch)
    with pytest.raises(RunError, match=problem) as refused:
        run_folders(runs)
    assert refused.value.file == "runs/z.zip"
    summary, _ = ingested(repository, study, root, repository.root / "out")
    assert summary.n_ok == 6
    assert [(each["run"], each["root"]) for each in summary.quarantined] == [("z.zip", "measured")]


def test_two_members_of_one_name_are_refused(repository):
    path = repository.root / "z.zip"
    with pytest.warns(UserWarning, match="Duplicate name"):
        hostile(path, "r1/run.yaml", "r1/run.yaml")
    with pytest.raises(RunError, match="two members have one name"):
        Archive.open(path)


def test_size_out_of_proportion_is_refused_before_anything_is_extracted(repository):
    path = repository.root / "z.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("r1/run.yaml", bytes(80_000_000))
    assert path.stat().st_size < 100_000
    with pytest.raises(RunError, match="the unpacked archive is too large"):
        Archive.open(path)


def test_damaged_member_quarantines_its_run_alone(repository, study, root):
    runs = repository.measured("toy")
    pack(runs, study, ["a-*"])
    path = runs / "runs" / "a.zip"
    path.write_bytes(damaged(path.read_bytes()))
    summary, _ = ingested(repository, study, root, repository.root / "out")
    (refused,) = summary.quarantined
    assert (summary.n_ok, refused["run"]) == (5, "a-1")
    assert refused["problem"] == "a member is damaged"
