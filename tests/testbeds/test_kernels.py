"""The testbed of guests with different kernels: readers, cgroups, measured runs."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import yaml

from tests.cases import each_case
from tests.measured_runs import unpacked
from virtperf.measure.plan import load_definition, plan
from virtperf.runs.ingest.runs import Run
from virtperf.study.definition import load_study
from virtperf.study.hypotheses import load_hypotheses

ROOT = Path(__file__).parents[2]
TESTBED = ROOT / "testbeds" / "kernels"
STUDY = ROOT / "data" / "measured" / "kernels-2026"
MEASURED = sorted(path.parent for path in unpacked(STUDY.name).glob("*/run.yaml"))

sys.path.insert(0, str(TESTBED))
try:
    import files
    import groups
    import host
    import network
    import recompute
finally:
    sys.path.remove(str(TESTBED))

SMAPS = """\
7f0000000000-7f000c000000 rw-p 00000000 00:00 0
Size:             196608 kB
Rss:               80000 kB
Pss:               60000 kB
7f0000000000-7fff00000000 ---p 00000000 00:00 0                          [rollup]
Rss:              120000 kB
Pss:               90000 kB
"""


def test_memory_of_guest_and_emulator_are_separated():
    assert host.pss_kib(SMAPS) == (60000, 90000)


def test_page_cache_of_all_images_is_summed():
    assert host.cached_kib("RES PAGES SIZE FILE\n4096 1 9000 a\n8192 2 9000 b\n") == 12


def test_missing_line_of_meminfo_is_reported():
    assert files.meminfo_kib("MemTotal:  5 kB\nCached:   7 kB\n", "Cached") == 7
    with pytest.raises(OSError, match="no line Cached"):
        files.meminfo_kib("MemTotal:  5 kB\n", "Cached")


@pytest.mark.parametrize("version", [1, 2])
def test_weights_are_set_in_cgroups_that_are_removed(version, tmp_path, monkeypatch):
    monkeypatch.setattr(groups, "MOUNT", tmp_path)
    for controller in ("cpu", "cpuacct") if version == 1 else ():
        (tmp_path / controller).mkdir()
    group = groups.Group("guest1")
    groups.Group().make(groups.HEAVY)
    group.make(2)
    folder = tmp_path.joinpath(*(["cpu"] if version == 1 else []), groups.PARENT, "guest1")
    name, weight = ("cpu.shares", "2048") if version == 1 else ("cpu.weight", "200")
    assert (folder / name).read_text() == weight


def test_page_merging_settings_are_restored(tmp_path, monkeypatch):
    settings = {"run": "0", "pages_to_scan": "100", "sleep_millisecs": "20", "smart_scan": "1"}
    for name, value in settings.items():
        (tmp_path / name).write_text(value + "\n")
    monkeypatch.setattr(host, "KSM", tmp_path)
    mark = tmp_path / "mark"
    with pytest.raises(KeyError), host.merging(True, mark):
        assert (tmp_path / "smart_scan").read_text() == "0"
        raise KeyError
    assert {name: (tmp_path / name).read_text() for name in settings} == settings
    assert not mark.exists()


def test_every_measured_run_is_planned():
    study = load_study(STUDY)
    planned = {
        run.run_id: run for run in plan(load_definition(STUDY / "measure.yaml", study), study)
    }
    for folder in MEASURED:
        run = Run.model_validate(yaml.load((folder / "run.yaml").read_text(), yaml.CSafeLoader))
        assert planned[run.run_id].replicate == run.replicate
        assert {name: planned[run.run_id].levels[name] for name in run.factors} == run.factors


def column(run: Path, file: str, name: str) -> list[float]:
    with (run / file).open() as table:
        return [float(row[name]) for row in csv.DictReader(table)]


@each_case("run", [path for path in MEASURED if path.name.startswith("dcss")])
def test_tables_of_shared_data_equal_the_raw_files(run):
    numbers = recompute.dcss(run, {})
    assert numbers["host_data MiB"] == pytest.approx(column(run, "host.csv", "data_kib")[0] / 1024)
    reads = column(run, "guests.csv", "first_cpu_s")
    assert numbers["first_read s"] == pytest.approx(sum(reads) / len(reads))


@pytest.mark.parametrize(
    "run", [path for path in MEASURED if path.name.startswith("network")], ids=lambda run: run.name
)
def test_network_tables_equal_the_raw_files(run):
    numbers = recompute.network(run, {})
    rows = dict(
        zip(column(run, "guests.csv", "packets"), column(run, "guests.csv", "bytes"), strict=True)
    )
    packets = round(numbers["packets"] * 32)
    assert rows[packets] == pytest.approx((1 + numbers["additional %"] / 100) * (32 << 20))
    assert numbers["send_cpu ms"] == pytest.approx(
        column(run, "guests.csv", "busy_ms_per_mib")[0], abs=1e-4
    )


STREAM = """\
  eth0:     100       1    0    0    0     0          0         0     200       2    0    0    0     0       0          0
Tcp: 1 200 120000 -1 1 0 0 0 1 5 6 0 0 0 0
10.00 4.00
33554432 0.500000
13.00 6.00
  eth0:  200100      11    0    0    0     0          0         0 33554632      22    0    0    0     0       0          0
Tcp: 1 200 120000 -1 1 0 0 0 1 5 6 0 0 0 0
"""


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("guest1", [20, 33554432, 1.0, 0.625, 0.0, 31.25]),
        ("guest2", [10, 200000, 1.0, 0.3125, -99.404, 31.25]),
    ],
)
def test_stream_is_counted_per_direction_and_by_its_clock(name, expected):
    assert network._counted(name, STREAM) == pytest.approx(expected, abs=1e-4)


def test_memory_of_a_process_tree_includes_all_descendants():
    program = subprocess.Popen(["sh", "-c", "sleep 60 & sleep 60 & wait"], start_new_session=True)
    try:
        until = time.monotonic() + 20
        names: list[str] = []
        while (
            names != ["sh", "sleep", "sleep"] and time.monotonic() < until
        ):  # forked, then renamed
            found = host.memory_of_tree(program.pid)
            names = sorted(name for name, _ in found)
        assert names == ["sh", "sleep", "sleep"]
        assert all(kib > 0 for _, kib in found)
    finally:
        os.killpg(program.pid, signal.SIGKILL)
        program.wait()


def test_recomputation_needs_only_raw_files():
    output = subprocess.run(
        [sys.executable, "-I", TESTBED / "recompute.py", unpacked(STUDY.name)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    numbers = [
        line.rsplit("  expected ") for line in output.partition("hypotheses\n")[2].splitlines()
    ]
    named = {words.rsplit(maxsplit=1)[0]: float(words.split()[-1]) for words, _ in numbers}
    assert 95 < named["reporting-returns-all 160"] < 100
    assert named["merging-saves-as-much 4"] > 1.1
    hypotheses = load_hypotheses(load_study(STUDY))
    assert {name.split()[0] for name in named} == {claim.id for claim in hypotheses}
