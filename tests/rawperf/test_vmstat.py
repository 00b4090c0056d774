"""vmstat: old and new columns, times, repeated headings, damage."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rawperf import ParsedFile, sniff
from rawperf.core.errors import FormatError
from rawperf.vmstat import FORMAT
from tests.cases import each_case

# Written by vmstat of procps 4.0.2, shortened; rows of RHEL 6 have a tab and a zone.
TOP = "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----"
NAMES = " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st"
BOOT = " 3  0      0 21870484     89   1920    0    0  1375  2198  274  434 26  4 70  0  0"
ROW = " 2  0      0 128898976   5032 1948868    0    0   800     0  363  175 48  3 49  0  0"
LISTING = f"{TOP}\n{NAMES}\n{BOOT}\n{ROW}\n{ROW.replace(' 800 ', ' 801 ')}\n{TOP}\n{NAMES}\n{ROW}\n".encode()
STAMPED = (
    f"{TOP} -----timestamp-----\n{NAMES}                 UTC\n"
    + "".join(
        f"{row} 2026-11-22 12:31:{s}\n" for s, row in (("55", BOOT), ("56", ROW), ("57", ROW))
    )
).encode()


def get(reading: ParsedFile, field: str) -> list[float]:
    r = reading.records
    return r.loc[r["field"] == field, "value"].tolist()


def test_first_row_is_not_a_sample_and_headings_repeat() -> None:
    assert sniff(LISTING) is FORMAT
    reading = FORMAT.read(LISTING)
    assert reading.clock == "sample"
    assert get(reading, "bi") == [800, 801, 800]
    assert get(reading, "free") == [128898976] * 3  # wider than its column
    assert reading.records["t"].unique().tolist() == [0, 1, 2]
    assert reading.lines is not None
    assert sorted(set(reading.lines)) == [4, 5, 8]


def test_times_and_zone() -> None:
    first = datetime(2026, 11, 22, 12, 31, 56, tzinfo=UTC).timestamp()
    old = (
        STAMPED.replace(b"                 UTC", b"")
        .replace(b" 2026", b"\t2026")
        .replace(b":5", b":5")
        .decode()
    )
    behind = "".join(
        f"{line} JST\n" if "\t2026" in line else f"{line}\n"
        for line in old.rstrip("\n").split("\n")
    )
    for data, zone in (
        (STAMPED, "UTC"),
        (behind.encode(), "JST"),
        (STAMPED.replace(b"\n", b"\r\n"), "UTC"),
    ):
        reading = FORMAT.read(data)
        assert (reading.clock, reading.info) == ("absolute", {"zone": zone})
        assert reading.records["t"].unique().tolist() == [first, first + 1]


def test_columns_are_found_by_name() -> None:
    changed = (
        LISTING.replace(b"  buff  cache", b" inact active")
        .replace(b" wa st", b" wa st gu")
        .replace(b"0  0\n", b"0  0  7\n")
    )
    reading = FORMAT.read(changed)
    assert get(reading, "inact") == [5032] * 3
    assert get(reading, "gu") == [7] * 3


def test_truncated_line_is_dropped() -> None:
    reading = FORMAT.read(LISTING[:-4], file="v")
    assert get(reading, "bi") == [800, 801]
    assert reading.warnings == ("v line 8: the file is truncated; this line was left out",)


@each_case(
    ("old", "new", "line", "problem"),
    [
        (b" 363 ", b" 3x3 ", 4, "not a line of vmstat"),
        (b" 363 ", b" ", 4, "does not fit"),
        (f"{TOP}\n{NAMES}\n".encode(), b"", 1, "before the first heading"),
        (
            b"1948868    0    0   800",
            b"1948868    0    0   800 2026-11-22 12:31:55 1",
            4,
            "not a line",
        ),
    ],
)
def test_damaged_file_is_rejected_with_line_number(
    old: bytes, new: bytes, line: int, problem: str
) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        FORMAT.read(LISTING.replace(old, new, 1), file="v")
    assert caught.value.line == line


def test_unknown_heading_and_partial_times_are_rejected() -> None:
    head, tail = LISTING[:-200], LISTING[-200:].replace(b" cs ", b" ct ")
    with pytest.raises(FormatError, match="a heading that differs from the first") as caught:
        FORMAT.read(head + tail)
    assert caught.value.line == 7
    with pytest.raises(FormatError, match="only some rows have times") as caught:
        FORMAT.read(STAMPED.replace(b" 2026-11-22 12:31:57", b""))
    assert caught.value.line == 5
    with pytest.raises(FormatError, match="not a date and time"):
        FORMAT.read(STAMPED.replace(b"11-22 12:31:57", b"13-22 12:31:57"))
    with pytest.raises(FormatError, match="only the first row"):
        FORMAT.read(LISTING[: LISTING.index(ROW.encode())])
