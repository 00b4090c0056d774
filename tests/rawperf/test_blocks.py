"""Reading in parts of any size gives the reading of the whole, in bounded memory."""

from __future__ import annotations

import io
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

from rawperf import (
    RECORD_COLUMNS,
    Format,
    ParsedFile,
    all_formats,
    base,
    read_blocks,
    rechunk_by_sample,
)
from rawperf.base import Streaming, concat_parts
from rawperf.core.errors import FormatError
from rawperf.core.table_columns import decode_categories
from rawperf.declared import read as declared_read
from rawperf.tidy import open_raw, write_parquet
from tests.cases import each_case
from tests.rawperf.declared.declaring import declared
from tests.rawperf.seeds import FORMATS, SEEDS
from tests.rawperf.trial import FILE
from tools.benchmarks.raw_files import write

LONG = {
    "cms-console",
    "iostat",
    "pidstat",
    "vmstat",
    "iwl-console",
    "iwl-xml",
    "mpstat",
    "perf-stat-intervals",
    "perfkit",
    "sadf-json",
    "sar",
    "xentop",
}
STREAMED = [name for name in FORMATS if isinstance(all_formats()[name], Streaming)]
SIZES = (100, 350, 900)
MAX_PARTS = 30
"""Most parts that a file is cut into."""


def outcome(form: Format, data: bytes) -> tuple[ParsedFile | FormatError, int]:
    """Content or error of a file, and its number of blocks."""
    try:
        blocks = list(read_blocks(form, io.BytesIO(data), file=FILE))
    except FormatError as err:
        return err, 0
    assert len({block.clock for block in blocks}) == 1
    return concat_parts(blocks), len(blocks)


def same(one: ParsedFile, other: ParsedFile) -> bool:
    """Whether two readings are equal, line numbers included."""
    assert one.lines is not None and other.lines is not None
    return (
        one.records.equals(other.records)
        and (one.clock, one.info, sorted(one.warnings))
        == (other.clock, other.info, sorted(other.warnings))
        and one.lines.tolist() == other.lines.tolist()
    )


def test_formats_of_long_files_are_streamed() -> None:
    assert set(STREAMED) >= LONG


@each_case("name", STREAMED)
def test_parts_give_the_reading_of_the_whole(name: str) -> None:
    most = 0
    for seed in SEEDS[name]:
        whole, number = outcome(all_formats()[name], seed)
        assert isinstance(whole, ParsedFile) and number == 1
        with pytest.MonkeyPatch.context() as small:
            small.setattr("rawperf.text.PIECE_BYTES", max(SIZES[0], len(seed) // MAX_PARTS))
            small.setattr(declared_read, "BLOCK_RECORDS", 7)
            found, number = outcome(all_formats()[name], seed)
        assert isinstance(found, ParsedFile), found
        assert same(found, whole)
        most = max(most, number)
    assert most > 1 or name not in LONG


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    """An hour of a large host, 24 MB unpacked, in a subprocess, since Python does not return memory."""
    write("xentop", tmp_path / "log", 24_000_000)
    read = (
        "import sys\n"
        "from pathlib import Path\n"
        "from rawperf import read_blocks, get_format\n"
        "with open(sys.argv[1], 'rb') as stream:\n"
        "    n = sum(len(block.records) for block in read_blocks(get_format('xentop'), stream))\n"
        # not getrusage, which starts with the parent process's size
        "peak = next(line for line in Path('/proc/self/status').read_text().splitlines() if line.startswith('VmHWM'))\n"
        "print(n, int(peak.split()[1]) // 1024)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", read, str(tmp_path / "log")],
        capture_output=True,
        text=True,
        check=True,
    )
    records, megabytes = map(int, done.stdout.split())
    assert records > 2_000_000
    assert megabytes < 400


def test_unterminated_sample_is_rejected_before_it_fills_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("rawperf.text.PIECE_BYTES", 1000)
    monkeypatch.setattr("rawperf.text.MAX_PIECE_BYTES", 5000)
    endless = SEEDS["xentop"][0].rpartition(b"\n")[0] + b" 1" * 10_000
    with pytest.raises(FormatError, match="a sample or a line is too long"):
        list(read_blocks(all_formats()["xentop"], io.BytesIO(endless), file=FILE))


def test_records_of_one_time_stay_in_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    t = [1.0, 1.0, 2.0, 3.0, 3.0, 3.0, 3.0, np.nan, np.nan, np.nan]
    rows = [("", "host", "", "f", at, float(place)) for place, at in enumerate(t)]
    records = pd.DataFrame(rows, columns=list(RECORD_COLUMNS))
    lines = np.arange(10)

    def block(begin: int, end: int) -> ParsedFile:
        return ParsedFile(
            records.iloc[begin:end], "elapsed", {"to": str(end)}, (f"w{end}",), lines[begin:end]
        )

    parts = [block(0, 1), block(1, 5), block(5, 6), block(6, 8), block(8, 10)]
    found = list(rechunk_by_sample(parts))
    assert [part.records["t"].tolist() for part in found[:-1]] == [[1, 1, 2], [3, 3, 3, 3]]
    assert same(concat_parts(found), concat_parts(parts))
    assert list(rechunk_by_sample([parts[0]])) == [parts[0]]
    monkeypatch.setattr(base, "MAX_SAMPLE_RECORDS", 2)
    assert len(list(rechunk_by_sample(parts))) > len(found)


def test_blocks_of_a_declared_file_end_at_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rawperf.text.PIECE_BYTES", 60)
    monkeypatch.setattr(declared_read, "BLOCK_RECORDS", 1)
    form = declared(
        "reads: csv\ntime: {field: t}\nentity: {kind: e, name: e}\nfields: [{field: v}]"
    )
    rows = [f"{second},e{n},{n}\n" for second in range(40) for n in range(3)]
    data = ("t,e,v\n" + "".join(rows)).encode()
    parts = list(form.blocks(io.BytesIO(data), file=FILE))
    assert len(parts) > 10
    ends = [part.records["t"].iloc[[0, -1]].tolist() for part in parts]
    assert all(before[1] < after[0] for before, after in pairwise(ends))
    assert same(concat_parts(parts), concat_parts(rechunk_by_sample(parts)))
    assert len(list(rechunk_by_sample(parts))) == len(parts)
    assert concat_parts(parts).records["t"].tolist() == [s for s in range(40) for _ in range(3)]


@pytest.mark.parametrize("coded", [True, False])
def test_parquet_of_parts_equals_that_of_the_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, coded: bool
) -> None:
    path, out = tmp_path / "xentop.txt", tmp_path / "x.parquet"
    write("xentop", path, 60_000)
    with open_raw(path, "xentop") as raw:
        whole = pd.concat(list(raw.tables()), ignore_index=True)
    monkeypatch.setattr("rawperf.text.PIECE_BYTES", 9000)
    with open_raw(path, "xentop") as raw:
        tables = list(raw.tables(categorical=coded))
    assert len(tables) > 3
    with out.open("wb") as stream:
        write_parquet(tables, stream)
    found = pd.read_parquet(out)
    assert found["metric_value"].isna().any()
    pd.testing.assert_frame_equal(decode_categories(found), whole)
    nulls = pq.read_table(out).column("metric_value").null_count
    assert nulls == int(whole["metric_value"].isna().sum())
