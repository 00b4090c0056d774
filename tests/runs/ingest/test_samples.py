from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from rawperf.core.errors import FormatError, RunError
from rawperf.core.metrics import load_metrics
from tests.rawperf.sample_files import sample
from tests.toy_runs import console, netstat, sar, toy_study, write_run, xentop
from virtperf.core.stage_tables import SAMPLES
from virtperf.runs.ingest.clocks import align
from virtperf.runs.ingest.folder import RunFolder, raw_files
from virtperf.runs.ingest.runs import RawFile, load_run
from virtperf.runs.ingest.samples import read_run


@pytest.fixture
def study(tmp_path):
    return toy_study(tmp_path / "studies")


@pytest.fixture(scope="module")
def dictionary(root):
    return load_metrics(root / "src" / "rawperf" / "metrics.yaml")


@pytest.fixture
def read(tmp_path, study, dictionary):
    def run(raw=None, not_read=None, **fields):
        folder = write_run(tmp_path, raw=raw, **fields)
        out = tmp_path / "out" / "samples.parquet"
        loaded = load_run(RunFolder(folder), study, "measured", raw_files(folder))
        found = read_run(folder, loaded, dictionary, out, not_read=not_read)
        samples = SAMPLES.read(out)
        assert found.samples == len(samples) and found.metrics == sorted(set(samples["metric"]))
        assert [p.name for p in out.parent.iterdir()] == [out.name]
        return SimpleNamespace(**vars(found) | {"samples": samples})

    return run


def series(found, metric, entity):
    rows = found.samples[(found.samples["metric"] == metric) & (found.samples["entity"] == entity)]
    return rows["t_s"].tolist(), rows["value"].tolist()


# ---- clocks


def aligned(t, clock, run_fields=None, **file):
    class Run:
        run_id, start_epoch, duration_s = "r", 1231509600.0, 1200.0  # 2009-01-09 14:00

    run = Run()
    for key, value in (run_fields or {}).items():
        setattr(run, key, value)
    return align(np.array(t, dtype=float), clock, RawFile(path="f", **file), run).tolist()


def test_clock_alignment():
    assert aligned([1231509600 + 60], "absolute") == [60]
    assert aligned([14 * 3600 + 60], "time-of-day") == [60]
    assert aligned([5], "elapsed") == [5]
    assert aligned([5], "elapsed", start_s=100) == [105]
    assert aligned([0, 1, 2], "sample", start_s=10, interval_s=20) == [10, 30, 50]
    assert aligned([np.nan, np.nan], "none", at_s=300) == [300, 300]
    assert aligned([1231509600 - 3600], "absolute", clock_offset_s=3660) == [60]


def test_file_crossing_midnight():
    late = {"start_epoch": 1231545000.0, "duration_s": 3600.0}  # 23:50
    assert aligned([85800, 86399, 86401, 87000], "time-of-day", late) == [0, 599, 601, 1200]
    # a file that begins after midnight counts from that midnight
    assert aligned([60, 600], "time-of-day", late) == [660, 1200]


def test_monitor_started_before_the_run():
    assert aligned([13 * 3600 + 3590, 14 * 3600 + 50], "time-of-day") == [-10, 50]
    # started at 23:59 for a run of 00:01
    early = {"start_epoch": 1231459260.0}
    assert aligned([86340, 86400 + 90], "time-of-day", early) == [-120, 30]


def test_numbered_samples_need_an_interval():
    with pytest.raises(RunError, match="start_s and interval_s"):
        aligned([0, 1], "sample", start_s=3)
    assert np.isnan(aligned([np.nan], "sample")).all()  # totals need no interval


# ---- samples


def test_driver_log(read):
    found = read()
    assert list(found.samples.columns) == list(SAMPLES.columns)
    t, value = series(found, "page_element_throughput", "d1")
    assert t == [10.0 * i for i in range(1, 121)]
    assert np.mean(value[30:90]) == pytest.approx(100, rel=0.02)
    assert set(found.samples["entity_kind"]) == {"driver"}
    assert found.samples[list(SAMPLES.columns)].equals(
        found.samples.sort_values(list(SAMPLES.columns)[:6])
    )


def test_counters_become_rates(read):
    found = read({"xentop.txt": xentop({"vm": [0.0, 50.0, 50.0]}, {"vm": [100, 130, 160]})})
    assert series(found, "guest_cpu", "vm") == ([360.0, 420.0], [0.5, 0.5])
    assert series(found, "guest_cpu_seconds", "vm") == ([360.0, 420.0], [0.5, 0.5])
    assert series(found, "network_transmit_rate", "vm") == ([360.0, 420.0], [100 * 1024 / 60] * 2)
    assert series(found, "guest_memory", "vm")[1] == [2.0**30] * 3
    assert found.processors == 8


def test_no_rate_across_a_counter_reset(read):
    found = read({"xentop.txt": xentop({"vm": [0.0, 50, 1, 50]}, {"vm": [1000, 1030, 2, 32]})})
    assert series(found, "guest_cpu_seconds", "vm") == ([360.0, 480.0], [0.5, 0.5])
    assert len(found.warnings) == 1
    assert "vm: guest_cpu_seconds decreased at 420 s" in found.warnings[0]


def test_snapshots_give_one_rate_and_a_missing_counter_was_zero(read):
    files = {
        "guests/g1/begin.txt": netstat(1000),
        "guests/g1/end.txt": netstat(61000, retransmitted=6),
    }
    found = read(
        files,
        files=[
            {"path": "guests/g1/begin.txt", "format": "netstat", "at_s": 300},
            {"path": "guests/g1/end.txt", "format": "netstat", "at_s": 900},
        ],
    )
    assert series(found, "tcp_segments_received", "g1") == ([900.0], [100.0])
    assert series(found, "tcp_segments_retransmitted", "g1") == ([900.0], [0.01])
    assert series(found, "tcp_connections_opened", "g1") == ([900.0], [0.0])
    assert set(found.samples["entity_kind"]) == {"guest"}


def test_snapshots_across_a_restart_give_no_rate(read):
    files = {"g1/begin.txt": netstat(1000), "g1/end.txt": netstat(10)}
    found = read(
        files,
        files=[
            {"path": p, "format": "netstat", "at_s": t}
            for p, t in zip(files, (300, 900), strict=True)
        ],
    )
    assert series(found, "tcp_segments_received", "g1") == ([], [])
    assert "counter reset" in found.warnings[0]


def test_snapshot_without_time_is_reported(read):
    found = read(
        {"g1/begin.txt": netstat(1), "d1.log": console()},
        files=[
            {"path": "d1.log", "start_s": 10, "interval_s": 10},
            {"path": "g1/begin.txt", "format": "netstat"},
        ],
    )
    assert any("at_s" in w for f in found.files for w in f["warnings"])


def test_view_inside_a_guest_gets_the_name_of_the_guest(read):
    found = read({"guests/g1/sar.txt": sar(), "guests/g2/sar.txt": sar()})
    assert series(found, "cpu_user", "g1") == ([300.0 + 60 * i for i in range(1, 11)], [0.4] * 10)
    assert set(found.samples["entity"]) == {"g1", "g2"}
    assert set(found.samples["entity_kind"]) == {"guest"}
    assert [f["format"] for f in found.files] == ["sar", "sar"]


def test_view_of_the_host_belongs_to_the_host(read):
    found = read({"sar.txt": sar()})
    assert set(zip(found.samples["entity_kind"], found.samples["entity"], strict=True)) == {
        ("host", "")
    }


def test_disks_of_guests_are_distinguished(read):
    data = sample("sar/sar-A.txt")
    found = read(
        {"guests/g1/sar.txt": data, "guests/g2/sar.txt": data},
        start="2026-11-24T00:00:00",
        duration_s=86400,
    )
    disks = found.samples[found.samples["entity_kind"] == "dev"]
    assert {"g1/vda", "g2/vda"} <= set(disks["entity"])


def test_duplicates_are_kept_once_and_reported(read):
    found = read({"guests/g1/a.txt": sar(), "guests/g1/b.txt": sar(5)})
    assert series(found, "cpu_user", "g1")[1] == [0.4] * 10
    assert len(found.warnings) == 1 and "duplicate value(s) were dropped" in found.warnings[0]


def test_unknown_files_and_metrics_are_reported(read):
    fan = b"Linux 5 (h) \t2009-01-09\n\n14:05:00          FAN       rpm      drpm    DEVICE\n14:06:00            1   3000.00   1000.00  x\n"
    found = read({"notes.bin": b"\x00\x01", "sar.txt": fan, "d/sar.txt": sar()})
    warnings = {f["path"]: f["warnings"] for f in found.files}
    assert "no format recognises the file" in warnings["notes.bin"][0]
    assert "no value belongs to a metric" in warnings["sar.txt"][0]
    assert warnings["d/sar.txt"] == []


def test_excluded_file_has_a_reason_and_no_warning(read):
    raw = {"notes.bin": b"\x00\x01", "d/e/sar.txt": sar(), "sar.txt": sar()}
    found = read(raw, not_read={"d/*.txt": "summed up elsewhere", "*.bin": "an image"})
    files = {f["path"]: f for f in found.files}
    assert files["notes.bin"]["not_read"] == "an image"
    assert files["d/e/sar.txt"]["not_read"] == "summed up elsewhere"
    assert not any(f["warnings"] for f in found.files)
    assert "not_read" not in files["sar.txt"]
    assert files["sar.txt"]["samples"] == len(found.samples) > 0


def test_file_listed_in_run_yaml_overrides_the_exclusion(read):
    listed = [{"path": "sar.txt"}]
    found = read({"sar.txt": sar()}, not_read={"sar.txt": "not of interest"}, files=listed)
    assert len(found.samples) > 0


def test_listed_file_must_be_recognised(read):
    with pytest.raises(FormatError, match="no known format"):
        read({"notes.bin": b"\x00\x01"}, files=[{"path": "notes.bin"}])


def test_truncated_file_is_kept_up_to_the_damage(read):
    data = xentop({"vm": [0.0, 50, 50]}, {"vm": [100, 130, 160]})
    found = read({"xentop.txt": data[:-30]})
    assert series(found, "guest_cpu", "vm")[0] == [360.0]
    assert found.files[0]["warnings"]


def test_inconsistent_clock_is_reported(read):
    found = read({"sar.txt": sar(day="2009-01-10")})
    assert "no sample is within the run" in found.files[0]["warnings"][0]


@pytest.mark.parametrize(
    ("start", "first_minute", "rows", "words"),
    [
        (
            "14:00",
            6,
            20,
            "from 360 s to 1500 s after the run's start: as long as it, but 300 s later",
        ),
        (
            "14:00",
            6,
            19,
            "from 360 s to 1440 s after the run's start: as long as it, but 270 s later",
        ),
        (
            "14:15",
            6,
            20,
            "from -540 s to 600 s after the run's start: as long as it, but 600 s earlier",
        ),
        ("14:00", 1, 20, ""),
        ("14:00", 4, 20, ""),  # not more than three intervals late
        ("14:00", 6, 15, ""),  # began late, ended with the run
        ("14:00", 6, 40, ""),  # began late, ended long after the run
        ("14:10", 2, 50, ""),  # a monitor of the whole hour
    ],
)
def test_file_as_long_as_the_run_at_another_time_is_reported(
    read, start, first_minute, rows, words
):
    raw = {"sar.txt": sar(rows, first_minute=first_minute)}
    found = read(raw, start=f"2009-01-09T{start}:00")
    warnings = [w for w in found.files[0]["warnings"] if "compare start" in w]
    assert len(warnings) == bool(words)
    assert all(words in warning for warning in warnings)


def test_restart_during_the_run_is_reported(read):
    lines = sar().decode().splitlines(keepends=True)
    lines[9:9] = [
        "\n",
        "14:08:30       LINUX RESTART\t(1 CPU)\n",
        "\n",
        lines[2].replace("14:05:00", "14:08:40"),
    ]
    found = read({"g1/sar.txt": "".join(lines).encode()})
    assert found.files[0]["warnings"] == ["the machine was restarted 510 s after the run's start"]


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "a&b", "'; --", "\u202e", "ünïcode"])
def test_names_are_kept_as_text(read, name):
    path = f"{name.replace('/', '_')}/sar.txt"
    found = read({path: sar()})
    assert set(found.samples["entity"]) == {path.removesuffix("/sar.txt")}


def test_xml_with_an_entity_is_rejected(read):
    bomb = b'<?xml version="1.0"?><!DOCTYPE iwl [<!ENTITY a SYSTEM "file:///etc/passwd">]><iwl><snapshot>&a;</snapshot></iwl>'
    with pytest.raises(FormatError, match="not allowed"):
        read({"drivers/d1/s.xml": bomb})


def test_failing_reader_is_reported(read, monkeypatch):
    def fail(self, stream, *, file):
        raise KeyError("surprise")

    monkeypatch.setattr("rawperf.listing.ListingFormat.blocks", fail)
    with pytest.raises(FormatError, match="the reader of format sar failed"):
        read({"sar.txt": sar()})


def test_run_without_readable_file(read):
    found = read({"x.bin": b"\x00"})
    assert isinstance(found.samples, pd.DataFrame) and found.samples.empty
    assert found.warnings == ["no file of the run was read"]
