"""Ingest in parts of any size gives byte-identical tables."""

from __future__ import annotations

import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rawperf.core.metrics import MetricDictionary, load_metrics
from rawperf.core.sample_rows import ROW, CounterRates, DuplicateFilter, SampleRows, build_samples
from rawperf.tidy import RawTables, read_raw
from tests.toy_runs import console, netstat, sar, toy_study, write_run, xentop
from tools.benchmarks.raw_files import write
from virtperf.runs.ingest import samples
from virtperf.runs.ingest.folder import RunFolder, raw_files
from virtperf.runs.ingest.runs import load_run
from virtperf.runs.ingest.samples import RunSamples, Spill, read_run

RNG = np.random.default_rng(5)


@pytest.fixture(scope="module")
def dictionary(root: Path) -> MetricDictionary:
    return load_metrics(root / "src" / "rawperf" / "metrics.yaml")


def counters(n: int) -> bytes:
    """Two domains, one of which is restarted."""
    seconds = np.cumsum(RNG.integers(1, 50, n))
    again = np.where(np.arange(n) > n // 2, seconds - seconds[n // 2], seconds)
    cpu = {name: [float(x) for x in RNG.integers(0, 99, n)] for name in ("vm", "web")}
    return xentop(cpu, {"vm": seconds.tolist(), "web": again.tolist()}, interval=20)


RUN = {
    "xentop.txt": counters(40),
    "guests/g1/sar.txt": sar(14),
    "guests/g1/twice.txt": sar(6, first_minute=9),
    "guests/g2/begin.txt": netstat(1000),
    "guests/g2/end.txt": netstat(61000, retransmitted=6),
    "drivers/d1.log": console(n=60),
    "notes.bin": b"\0\1",
}
SAID = [
    {"path": "drivers/d1.log", "start_s": 10, "interval_s": 10},
    {"path": "guests/g2/begin.txt", "format": "netstat", "at_s": 300},
    {"path": "guests/g2/end.txt", "format": "netstat", "at_s": 900},
]


def ingested(folder: Path, out: Path, dictionary: MetricDictionary) -> tuple[RunSamples, bytes]:
    study = toy_study(out)
    found = read_run(
        folder,
        load_run(RunFolder(folder), study, "measured", raw_files(folder)),
        dictionary,
        out / "samples.parquet",
    )
    return found, (out / "samples.parquet").read_bytes()


@pytest.mark.parametrize(("piece", "rows"), [(200, 10), (900, 64), (3000, 7), (10**6, 1)])
def test_run_in_parts_equals_the_whole_run(
    piece: int,
    rows: int,
    tmp_path: Path,
    dictionary: MetricDictionary,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    folder = write_run(tmp_path, raw=RUN, files=SAID)
    whole, data = ingested(folder, tmp_path / "whole", dictionary)
    assert len(whole.warnings) == 2  # a restart, and values given by two files
    assert whole.samples > 500
    monkeypatch.setattr("rawperf.text.PIECE_BYTES", piece)
    monkeypatch.setattr(samples, "SPILL_ROWS", rows)
    found, again = ingested(folder, tmp_path / "parts", dictionary)
    assert found == whole
    assert again == data


def test_row_groups_do_not_depend_on_part_size(
    tmp_path: Path, dictionary: MetricDictionary, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "ROW_GROUP", 100)
    folder = write_run(tmp_path, raw=RUN, files=SAID)
    _, data = ingested(folder, tmp_path / "whole", dictionary)
    monkeypatch.setattr(samples, "SPILL_ROWS", 30)
    assert ingested(folder, tmp_path / "parts", dictionary)[1] == data


def test_undated_listing_is_aligned_as_a_whole(
    tmp_path: Path, dictionary: MetricDictionary, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its first half precedes the run, so that parts alone would be aligned differently."""
    listing = counters(200)
    folder = write_run(
        tmp_path,
        raw={"xentop.txt": listing},
        start="2009-01-10T00:30:00",
        files=[{"path": "xentop.txt", "clock_offset_s": 36000}],
    )
    _, data = ingested(folder, tmp_path / "whole", dictionary)
    times = pd.read_parquet(tmp_path / "whole" / "samples.parquet")["t_s"]
    assert times.min() < 0 < times.max() < 5000
    monkeypatch.setattr("rawperf.text.PIECE_BYTES", 500)
    monkeypatch.setattr(samples, "SPILL_ROWS", 50)
    assert ingested(folder, tmp_path / "parts", dictionary)[1] == data


@pytest.mark.parametrize("name", ["xentop.txt", "guests/g1/sar.txt"])
def test_tidy_table_in_parts_equals_the_whole_table(
    name: str, dictionary: MetricDictionary, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "raw.txt"
    path.write_bytes(RUN[name])
    with path.open("rb") as stream:
        whole = read_raw(stream, file="raw.txt", dictionary=dictionary)
    monkeypatch.setattr("rawperf.text.PIECE_BYTES", 500)
    with path.open("rb") as stream:
        raw = RawTables(stream, file="raw.txt", dictionary=dictionary)
        parts = list(raw.tables())
    assert len(parts) > 2
    assert pd.concat(parts, ignore_index=True).equals(whole.table)
    assert (raw.warnings, raw.info, raw.clock) == (whole.warnings, whole.info, whole.clock)
    assert whole.table["metric_value"].notna().sum() > 20


def random_rows(n: int, series: int) -> SampleRows:
    rows = build_samples(
        n, series=RNG.integers(0, series, n), file=RNG.integers(0, 3, n), value=RNG.random(n)
    )
    rows["t"] = np.where(RNG.random(n) < 0.05, np.nan, RNG.integers(0, n, n))
    rows["order"] = np.arange(n)
    return rows


@pytest.mark.parametrize(("size", "series"), [(40, 100), (40, 7), (40, 1), (5000, 9)])
def test_spilled_samples_are_sorted_with_complete_times(
    size: int, series: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(samples, "SPILL_ROWS", size)
    rows, rank, shift = (
        random_rows(2000, series),
        RNG.permutation(series),
        np.array([0.0, 500.0, -86400.0]),
    )
    with Spill(tmp_path) as store:
        for part in np.split(rows, [3, 50, 600, 601, 1500]):
            store.add(part)
        parts = list(store.parts(rank, shift))
    expected = rows.copy()
    expected["t"] += shift[rows["file"]]
    expected["series"] = rank[rows["series"]]
    expected = expected[np.lexsort((expected["order"], expected["t"], expected["series"]))]
    found = np.concatenate(parts)
    assert all(
        found[name].tobytes() == expected[name].tobytes() for name in expected.dtype.names or ()
    )
    for one, next_ in pairwise(parts):
        assert (one["series"][-1], one["t"][-1]) != (next_["series"][0], next_["t"][0])
    assert (len(parts) > 1) == (size < 2000)
    assert list(tmp_path.iterdir()) == []


def test_rates_continue_across_parts() -> None:
    def numbered(number: int) -> tuple[str, str, str, str]:
        return ("tool", "host", f"h{number}", "m")

    rows = build_samples(6, t=[10, 20, 20, 40, 50, 60], value=[0, 5, 9, 25, 1, 2], order=range(6))
    whole, parts = CounterRates(numbered), CounterRates(numbered)
    expected = whole.compute(rows)
    assert expected["value"].tolist() == [0.5, 1.0, 0.1]
    found = np.concatenate([parts.compute(part) for part in np.split(rows, [1, 3, 5])])
    assert all(
        found[name].tobytes() == expected[name].tobytes() for name in expected.dtype.names or ()
    )
    assert parts.messages() == whole.messages()
    assert [
        sentence.partition(":")[0].partition(" duplicate")[0] for sentence in whole.messages()
    ] == [
        "1",
        "h0",
    ]
    late = parts.compute(build_samples(1, t=55, value=1.5, order=6))
    assert len(late) == 0  # behind the given samples, so its increment is unknown


def test_duplicate_is_reported_with_the_first_occurrence() -> None:
    once = DuplicateFilter(lambda number: ("tool", "host", "", f"m{number}"))
    rows = build_samples(4, series=[0, 0, 1, 1], t=[1, 1, 2, 2], order=[5, 6, 1, 2])
    assert once.drop_duplicates(rows[:2])["order"].tolist() == [5]
    assert once.drop_duplicates(rows[2:])["order"].tolist() == [1]
    assert once.messages() == [
        "2 duplicate value(s) were dropped, the first being m1 of host from tool at 2 s"
    ]
    assert ROW.itemsize < 64


def test_same_line_in_two_units_is_not_reported() -> None:
    once = DuplicateFilter(lambda number: ("tool", "host", "", f"m{number}"))
    rows = build_samples(
        4, series=[0, 0, 1, 1], t=1, value=[4096, 4101, 0, 0], line=[7, 7, 8, 8], order=range(4)
    )
    assert once.drop_duplicates(rows)["value"].tolist() == [4096, 0]
    assert once.messages() == []
    for line, value in (([7, 8], [4096, 4096]), ([7, 7], [4096, 5000]), ([0, 0], [1, 1])):
        other = DuplicateFilter(lambda number: ("tool", "host", "", f"m{number}"))
        other.drop_duplicates(build_samples(2, t=1, value=value, line=line, order=range(2)))
        assert other.messages()[0].startswith("1 duplicate value(s) were dropped")


def test_memory_of_ingest_does_not_grow_with_the_file(tmp_path: Path, root: Path) -> None:
    """In a subprocess, since Python does not return memory."""
    folder = write_run(
        tmp_path,
        raw={},
        files=[{"path": "x.log", "format": "xentop", "start_s": 0, "interval_s": 1}],
    )
    write("xentop", folder / "x.log", 20_000_000)
    toy_study(tmp_path)
    read = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tools.benchmarks.raw_files import peak_memory\n"
        "from rawperf.core.metrics import load_metrics\n"
        "from virtperf.runs.ingest.folder import RunFolder\n"
        "from virtperf.runs.ingest.runs import load_run\n"
        "from virtperf.runs.ingest.samples import read_run\n"
        "from virtperf.study.definition import load_study\n"
        "place, metrics = Path(sys.argv[1]), Path(sys.argv[2])\n"
        "run = load_run(RunFolder(place / 'r1'), load_study(place / 'toy'), 'measured', ['x.log'])\n"
        "found = read_run(place / 'r1', run, load_metrics(metrics), place / 'out' / 's.parquet')\n"
        "print(found.samples, peak_memory())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", read, str(tmp_path), str(root / "src" / "rawperf" / "metrics.yaml")],
        cwd=root,
        capture_output=True,
        text=True,
        check=True,
    )
    read_samples, megabytes = done.stdout.split()
    assert int(read_samples) > 2 * samples.SPILL_ROWS
    assert float(megabytes) < 600
