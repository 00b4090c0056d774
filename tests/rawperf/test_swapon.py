"""swapon -s, /proc/swaps, swapon --show: both forms, units, escapes, snapshots, round trip, damage."""

from __future__ import annotations

import pytest

from rawperf.core.errors import FormatError
from rawperf.swapon import FORMAT, SHOW, SUMMARY
from tests.cases import each_case

SUMMARY_LIST = (
    b"Filename\t\t\t\tType\t\tSize\tUsed\tPriority\n"
    b"/dev/dasda2                            \tpartition\t1130392\t231380\t-1\n"
    b"/dev/dasdw1                            \tpartition\t1048564\t0\t-2\n"
)
PROC_SWAPS = (
    b"Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"
    b"/dev/dcssblk0                           partition\t1048568\t\t277128\t\t5\n"
)
SHOWN = (
    b"NAME       TYPE        SIZE  USED PRIO\n"
    b"/dev/dm-1  partition   1.5G    0B   -2\n"
    b"/swap.img  file      977.1M  512K   10\n"
)
BYTES = b"NAME TYPE SIZE USED PRIO\n/dev/dm-1 partition 2147479552 1048576 -2\n"


def numbers(data: bytes) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for row in FORMAT.read(data).records.itertuples():
        found.setdefault(row.entity, {})[row.field] = row.value
    return found


def test_summary_table():
    reading = FORMAT.read(SUMMARY_LIST)
    assert numbers(SUMMARY_LIST) == {
        "/dev/dasda2": {"Size": 1130392, "Used": 231380, "Priority": -1},
        "/dev/dasdw1": {"Size": 1048564, "Used": 0, "Priority": -2},
    }
    assert set(reading.records["report"]) == {SUMMARY}
    assert set(reading.records["entity_kind"]) == {"swap device"}
    assert reading.info == {"type /dev/dasda2": "partition", "type /dev/dasdw1": "partition"}
    assert (reading.clock, reading.warnings) == ("none", ())


def test_proc_swaps_and_blanks_in_place_of_tabs():
    want = {"/dev/dcssblk0": {"Size": 1048568, "Used": 277128, "Priority": 5}}
    assert numbers(PROC_SWAPS) == numbers(PROC_SWAPS.expandtabs()) == want


def test_wrapped_heading():
    assert numbers(PROC_SWAPS.replace(b"\t\tPriority", b"\t\nPriority")) == numbers(PROC_SWAPS)


def test_show_table():
    reading = FORMAT.read(SHOWN)
    assert numbers(SHOWN)["/dev/dm-1"] == {"SIZE": 1.5 * 2**30, "USED": 0, "PRIO": -2}
    assert numbers(SHOWN)["/swap.img"] == {
        "SIZE": pytest.approx(977.1 * 2**20),
        "USED": 512 * 2**10,
        "PRIO": 10,
    }
    assert set(reading.records["report"]) == {SHOW}
    assert reading.info["sizes"] == "rounded"
    assert numbers(SHOWN.replace(b"1.5G", b"1,5G")) == numbers(SHOWN)


def test_show_bytes_is_exact():
    assert numbers(BYTES) == {"/dev/dm-1": {"SIZE": 2147479552, "USED": 1048576, "PRIO": -2}}
    assert "sizes" not in FORMAT.read(BYTES).info


def test_show_with_chosen_columns():
    data = b"NAME USED UUID LABEL\n/dev/dm-1 1048576 81378348-4148 swap one\n/dev/dm-2 0\n"
    assert numbers(data) == {"/dev/dm-1": {"USED": 1048576}, "/dev/dm-2": {"USED": 0}}


@each_case(
    ("printed", "path"),
    [
        (rb"/var/swap\040file", "/var/swap file"),
        (rb"/var/swap\x20file", "/var/swap file"),
        (rb"/var/back\134slash", r"/var/back\slash"),
        (rb"/var/swapfile\040(deleted)", "/var/swapfile (deleted)"),
        (rb"/var/a\012b", r"/var/a\012b"),
        (b"/var/swap file", "/var/swap file"),
        ("/var/größe".encode(), "/var/größe"),
    ],
)
def test_paths(printed, path):
    assert list(numbers(PROC_SWAPS.replace(b"/dev/dcssblk0", printed))) == [path]
    assert list(numbers(BYTES.replace(b"/dev/dm-1", printed))) == [path]


def test_several_snapshots():
    reading = FORMAT.read(
        b"lnx001:~ # swapon -s\n"
        + SUMMARY_LIST
        + b"\nlnx001:~ # swapoff /dev/dasda2\n"
        + PROC_SWAPS
    )
    used = reading.records[reading.records["field"] == "Used"]
    assert used[["entity", "t", "value"]].values.tolist() == [
        ["/dev/dasda2", 0, 231380],
        ["/dev/dasdw1", 0, 0],
        ["/dev/dcssblk0", 1, 277128],
    ]
    assert reading.clock == "sample"
    assert reading.info["snapshots"] == "2"
    assert reading.warnings == (
        "<bytes> line 1: not a line of a list, left out and 1 more: 'lnx001:~ # swapon -s'",
    )


def test_snapshot_without_swap_counts():
    heading = PROC_SWAPS.splitlines(keepends=True)[0]
    assert FORMAT.read(heading + PROC_SWAPS).records["t"].tolist() == [1, 1, 1]
    assert FORMAT.read(heading).records.empty


def test_last_line_without_newline_is_dropped():
    reading = FORMAT.read(SUMMARY_LIST[:-1])
    assert set(reading.records["entity"]) == {"/dev/dasda2"}
    assert "line 3" in reading.warnings[0]


@each_case(
    ("data", "line", "part"),
    [
        (b"", 1, "no list of swap devices"),
        (b"NAME TYPE\n/dev/dm-1 disk\n", 1, "no list of swap devices"),
        (b"/dev/dasda2 partition 10 5 -1\n", 1, "a row without a heading"),
        (SUMMARY_LIST.replace(b"231380", b"23138O"), 2, "a damaged row"),
        (SUMMARY_LIST.replace(b"1130392", b""), 2, "a damaged row"),
        (SUMMARY_LIST.replace(b"/dev/dasda2", b"dev/dasda2"), 2, "a damaged row"),
        (SUMMARY_LIST + SUMMARY_LIST.splitlines(keepends=True)[1], 4, "listed twice"),
        (SUMMARY_LIST.replace(b"231380", b"1231380"), 2, "the used space exceeds the size"),
        (BYTES.replace(b"1048576", b"1048.5"), 2, "decimals without a unit"),
        (b"NAME UUID USED\n/dev/dm-1 8 5\n", 1, "unsupported order"),
        (b"NAME USED USED\n/dev/dm-1 8 5\n", 1, "unsupported order"),
    ],
)
def test_errors_report_the_line_number(data, line, part):
    with pytest.raises(FormatError, match=part) as caught:
        FORMAT.read(data)
    assert caught.value.line == line


def test_long_line_is_read_in_linear_time():
    with pytest.raises(FormatError):
        FORMAT.read(PROC_SWAPS + b"/a" + b" " * 300_000 + b"x\n")


def test_sniff():
    for data in (SUMMARY_LIST, PROC_SWAPS, SHOWN, BYTES):
        assert FORMAT.sniff(b"lnx001:~ # swapon\n" + data) > 0.9
    assert FORMAT.sniff(b"NAME USED PRIO\n/dev/dm-1 0 1\n") == 0.7
    assert FORMAT.sniff(b"NAME   USED  AVAIL  REFER  MOUNTPOINT\n") == 0.0
    assert FORMAT.sniff(b"NAME MAJ:MIN RM SIZE RO TYPE MOUNTPOINT\n") == 0.0
