"""vmstat: old and new columns, times, repeated headings, damage, round trip."""

from __future__ import annotations

from contextlib import suppress

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from virtperf_vmstat import FORMAT

from virtperf.core.errors import FormatError
from virtperf.formats import all_formats, sniff
from virtperf.formats.base import RECORD_COLUMNS, Reading

TOP = "procs -----------memory---------- ---swap-- -----io---- --system-- ----cpu----\n"
HEAD = " r  b   swpd   free   buff  cache   si   so    bi    bo   in    cs us sy id wa\n"
BOOT = " 0  0    160  18244   5024 1948876    0    0     0     2    3     2  4  0 95  0\n"
ROW = " 1  0    160 128898976   5032 1948868    0    0     0    32 1035    66 10  0 89  1\n"


def get(reading: Reading, field: str) -> list[float]:
    r = reading.records
    return r.loc[r["field"] == field, "value"].tolist()


def test_the_first_row_is_no_sample():
    reading = FORMAT.read((TOP + HEAD + BOOT + ROW + ROW.replace("  32 ", "  40 ")).encode())
    assert reading.clock == "sample"
    assert get(reading, "bo") == [32, 40]
    assert get(reading, "free") == [128898976, 128898976]  # wider than its column
    assert sorted(set(reading.records["t"])) == [0, 1]
    assert set(reading.lines) == {4, 5}


def test_headings_that_are_repeated_are_skipped():
    assert get(FORMAT.read((TOP + HEAD + BOOT + ROW + TOP + HEAD + ROW).encode()), "us") == [10, 10]


def test_times_and_columns_of_newer_versions():
    head = HEAD[:-1] + " st                 UTC\n"
    rows = [row[:-1] + f"  0 2024-03-01 10:00:0{k}\n" for k, row in enumerate((BOOT, ROW, ROW))]
    reading = FORMAT.read((TOP + head + "".join(rows)).encode())
    assert reading.clock == "absolute"
    assert reading.records["t"].iloc[0] == 1709287201
    assert get(reading, "st") == [0, 0]


def test_times_of_older_versions_stand_behind_a_tab_and_name_a_zone():
    rows = [row[:-1] + f"\t2011-04-12 20:49:2{k} JST\r\n" for k, row in enumerate((BOOT, ROW))]
    reading = FORMAT.read((TOP + HEAD + "".join(rows)).encode())
    assert (reading.clock, reading.info["zone"], len(get(reading, "r"))) == ("absolute", "JST", 1)


def test_a_line_that_breaks_off_is_left_out():
    reading = FORMAT.read((TOP + HEAD + BOOT + ROW + ROW[:30]).encode(), file="v.txt")
    assert get(reading, "r") == [1]
    assert reading.warnings == ("v.txt line 5: the file breaks off; this line was left out",)


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        (TOP + HEAD + BOOT + ROW.replace("1035", "10x5"), 4, "a damaged row"),
        (TOP + HEAD + BOOT + ROW.replace(" 1035", ""), 4, "a damaged row"),
        (ROW, 1, "a row before any heading"),
        (TOP + HEAD + BOOT + TOP + HEAD.replace("cs", "ct") + ROW, 5, "another heading"),
        (TOP + HEAD + BOOT + ROW[:-1] + "\t2011-04-12 20:49:26 JST\n", 4, "times in some rows only"),
        (TOP + "hello\n", 2, "not a heading"),
        ("", 1, "no heading"),
    ],
)
def test_damage_is_refused_with_its_line(text, line, problem):
    with pytest.raises(FormatError) as caught:
        FORMAT.read(text.encode(), file="v.txt")
    assert (caught.value.file, caught.value.line) == ("v.txt", line)
    assert problem in caught.value.problem


def test_virtperf_finds_and_recognises_the_format():
    assert all_formats()["vmstat"] is FORMAT
    assert sniff((TOP + HEAD + BOOT).encode()) is FORMAT


@given(st.binary(max_size=300))
def test_any_bytes_give_a_reading_or_a_format_error(data):
    for prefix in (b"", (TOP + HEAD + BOOT).encode()):
        with suppress(FormatError):
            FORMAT.read(prefix + data)


@given(
    st.lists(st.lists(st.integers(0, 2**53 - 1), min_size=4, max_size=4), max_size=5),
    st.sampled_from(["sample", "absolute"]),
    st.integers(0, 2**32),
)
def test_what_is_written_is_read_again(rows, clock, start):
    names = ["r", "b", "swpd", "free"]
    times = [float(start + k) if clock == "absolute" else float(k) for k in range(len(rows))]
    frame = pd.DataFrame(
        [
            ("", "host", "", name, t, float(v))
            for t, row in zip(times, rows, strict=True)
            for name, v in zip(names, row, strict=True)
        ],
        columns=list(RECORD_COLUMNS),
    ).astype(dict.fromkeys(RECORD_COLUMNS[:4], "str") | dict.fromkeys(RECORD_COLUMNS[4:], "float64"))
    info = {"columns": "4"}
    if not rows:  # nothing names the columns of a listing without samples
        return
    again = FORMAT.read(FORMAT.write(Reading(frame, clock, info)))
    pd.testing.assert_frame_equal(again.records, frame)
    assert (again.clock, again.info) == (clock, info)
