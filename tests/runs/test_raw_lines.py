"""Raw lines behind values: first, last and heading, printable, and cut where they are long."""

from __future__ import annotations

import gzip
import tracemalloc
from pathlib import Path

import pytest

from rawperf.core.errors import FormatError, RawperfError
from tests.runs.summarize.test_stage import two_drivers
from tests.toy_runs import toy_study, write_run
from virtperf.core.stage_tables import LINEAGE, RAW_LINES
from virtperf.runs.ingest.folder import RunFolder
from virtperf.runs.ingest.stage import ingest
from virtperf.runs.raw_lines import raw_lines, store_raw_lines
from virtperf.runs.summarize.stage import summarize


def texts(folder: Path, data: bytes, *numbers: int, name: str = "raw.txt") -> dict[int, str]:
    (folder / name).write_bytes(data)
    return {row["line"]: row["text"] for row in raw_lines(RunFolder(folder), name, numbers)}


def test_first_line_has_its_heading_and_the_last_has_none(tmp_path: Path) -> None:
    table = (
        "Linux 6.1 (4 CPU)\n\n12:00:01 AM  CPU  %user\n12:00:02 AM  all  1.5\n12:00:03 AM  all  2\n"
    )
    (tmp_path / "sar.txt").write_text(table * 2)
    rows = raw_lines(RunFolder(tmp_path), "sar.txt", {4}, {10})
    assert [(row["line"], row["heading"]) for row in rows] == [(3, 0), (4, 3), (10, 0)]
    assert [row["text"] for row in rows] == [table.splitlines()[n] for n in (2, 3, 4)]


@pytest.mark.parametrize(
    ("above", "heading"),
    [
        (["time,cpu,mem", "1,2,3"], 1),
        (['  "jobs" : [', '  "read" : {', '    "runtime" : 60000,'], 2),
        (["<driver name='d1'>", "<sample t='1'/>"], 1),
        ([" r  b   swpd", "-----", " 1  0  -5.5"], 1),
        (["1 2", "2026-01-02 10:00:00"], 0),
    ],
)
def test_heading_is_the_nearest_line_without_a_number(
    tmp_path: Path, above: list[str], heading: int
) -> None:
    (tmp_path / "raw.txt").write_text("\n".join([*above, "9 9"]))
    (*_, row) = raw_lines(RunFolder(tmp_path), "raw.txt", {len(above) + 1})
    assert (row["text"], row["heading"]) == ("9 9", heading)


def test_control_characters_and_foreign_bytes_are_escaped(tmp_path: Path) -> None:
    data = b"</pre><script>\n\x1b[31m1\x00\x07\t\x9b\n\xe2\x80\xae2 \xff\xe9 \xc3\xa9\xc2\x85\n"
    assert texts(tmp_path, data, 1, 2, 3) == {
        1: "</pre><script>",
        2: r"\x1b[31m1\x00\x07" + "\t" + r"\x9b",
        3: r"\u202e2 \xff\xe9 é\x85",
    }


def test_line_ends_are_left_out_and_the_last_may_be_missing(tmp_path: Path) -> None:
    assert texts(tmp_path, b"1\r\n2\r3\r\n\r\n4\r", 1, 2, 3, 4, 5) == {
        1: "1",
        2: r"2\r3",
        3: "",
        4: r"4\r",
    }
    assert texts(tmp_path, b"1\n2", 0, 2) == {2: "2"}
    assert texts(tmp_path, b"", 1) == {}


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_long_lines_are_cut_between_characters(tmp_path: Path, end: bytes) -> None:
    note = " … (cut: the line has {} bytes)"
    assert texts(tmp_path, b"1" * 300 + end, 1) == {1: "1" * 300}
    assert texts(tmp_path, b"1" * 301 + end, 1) == {1: "1" * 300 + note.format(301)}
    assert texts(tmp_path, b"1" * 299 + "é".encode() + end, 1) == {1: "1" * 299 + note.format(301)}
    assert texts(tmp_path, b"1" * 298 + "é".encode() + end, 1) == {1: "1" * 298 + "é"}


def test_a_huge_line_is_never_held_as_a_whole(tmp_path: Path) -> None:
    (tmp_path / "raw.txt").write_bytes(b"1" * 10_000_000 + b"\r\n2\n")
    tracemalloc.start()
    rows = raw_lines(RunFolder(tmp_path), "raw.txt", {1, 2})
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert rows[0]["text"].endswith("… (cut: the line has 10,000,000 bytes)")
    assert rows[1]["text"] == "2" and peak < 3_000_000


def test_compressed_files_have_the_lines_of_their_content(tmp_path: Path) -> None:
    packed = gzip.compress(b"a b\n1 2\n", mtime=0) + gzip.compress(b"3 4\n" * 90_000, mtime=0)
    assert texts(tmp_path, packed, 2, 90_002, name="raw.gz") == {1: "a b", 2: "1 2", 90_002: "3 4"}
    with pytest.raises(FormatError, match="gzip data are damaged"):
        texts(tmp_path, packed[:-10], 90_002, name="raw.gz")
    with pytest.raises(RawperfError, match="can't be read"):
        raw_lines(RunFolder(tmp_path), "missing.txt", {1})


def test_lines_of_the_lineage_are_stored(tmp_path: Path, root: Path) -> None:
    study, out = toy_study(tmp_path / "studies"), tmp_path / "runs"
    roots, samples = {"measured": tmp_path / "measured"}, tmp_path / "samples"
    run = write_run(roots["measured"], "r1", **two_drivers(100, "a"))
    metrics = root / "src" / "rawperf" / "metrics.yaml"
    assert not ingest(study, roots, metrics, samples, tmp_path / "cache", jobs=1).quarantined
    summarize(study, samples, out, level=0.95)
    store_raw_lines(roots, samples, out)
    stored = {
        (row.file, row.line): row for row in RAW_LINES.read(out / RAW_LINES.file).itertuples()
    }
    lineage = LINEAGE.read(out / LINEAGE.file)
    assert len(lineage) == 2
    for part in lineage.itertuples():
        lines = (run / part.file).read_text().split("\n")
        first, last = stored[part.file, part.first_line], stored[part.file, part.last_line]
        assert first.line < last.line
        assert (first.text, last.text) == (lines[first.line - 1], lines[last.line - 1])
    before = (out / RAW_LINES.file).read_bytes()
    store_raw_lines(roots, samples, out)
    assert (out / RAW_LINES.file).read_bytes() == before
