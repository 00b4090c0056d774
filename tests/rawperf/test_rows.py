"""Records gathered one at a time, warnings, and the check of what was written."""

from __future__ import annotations

import pandas as pd
import pytest

from rawperf.base import RECORD_COLUMNS, Reading
from rawperf.core.errors import FormatError
from rawperf.rows import Rows, Warnings, checked, split_lines


class Numbers:
    """A format with one number a line."""

    name, title = "numbers", "numbers"

    def sniff(self, head: bytes) -> float:
        return 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        rows = Rows()
        for line in data.decode().split():
            if not line.isdigit():
                raise FormatError("no number", file=file, line=1, found=line)
            rows.add("", "host", "", "n", float(line))
        return Reading(rows.frame(), "none")

    def write(self, reading: Reading) -> bytes:
        return b""


def reading(*values: float, clock: str = "none", info: dict[str, str] | None = None) -> Reading:
    rows = Rows()
    for value in values:
        rows.add("", "host", "", "n", value)
    return Reading(rows.frame(), clock, info or {})


def test_rows_have_the_columns_and_types_of_records():
    rows = Rows()
    empty = rows.frame()
    rows.add("r", "k", "e", "f", 1)
    rows.add("r", "k", "e", "g", 2, 3.0)
    frame = rows.frame()
    assert tuple(frame.columns) == tuple(empty.columns) == RECORD_COLUMNS
    assert (frame.dtypes == empty.dtypes).all()
    assert frame["t"].isna().tolist() == [True, False]


def test_time_given_later_and_records_forgotten():
    rows = Rows()
    for value in range(4):
        rows.line = 10 + value
        rows.add("r", "k", "e", "f", value)
    rows.timed(2, 7.0)
    rows.drop(0, 1)
    assert rows.frame()["value"].tolist() == [1, 2, 3]
    assert rows.frame()["t"].fillna(-1).tolist() == [-1, 7, 7]
    assert rows.lines().tolist() == [11, 12, 13]


def test_many_warnings_are_counted_not_listed():
    warnings = Warnings("a.txt", ("first",))
    for line in range(1, 31):
        warnings.add(line, "damaged")
    said = warnings.sentences()
    assert said[:2] == ("first", "a.txt line 1: damaged")
    assert said[-1] == "a.txt: 11 more warnings of this kind"
    assert len(said) == 21


def test_lines_and_whether_the_last_one_is_whole():
    assert split_lines("a\nb\n") == (["a", "b"], True)
    assert split_lines("a\nb") == (["a", "b"], False)
    assert split_lines("") == ([], True)


def test_checked_lets_pass_what_reads_back():
    assert checked(Numbers(), b"1\n2\n", reading(1, 2)) == b"1\n2\n"


@pytest.mark.parametrize(
    ("data", "wanted", "problem"),
    [
        (b"1\n", reading(2), "another value"),
        (b"1\n", reading(1, 2), "lost or doubled"),
        (b"x\n", reading(1), "no number"),
        (b"1\n", reading(1, clock="sample"), "another clock"),
        (b"1\n", reading(1, info={"a": "b"}), "another info"),
    ],
)
def test_checked_refuses_what_does_not(data, wanted, problem):
    with pytest.raises(FormatError, match=rf"numbers can't print this reading: .*{problem}"):
        checked(Numbers(), data, wanted)


def test_checked_takes_a_frame_with_another_index():
    records = pd.concat([reading(1).records, reading(2).records])
    assert checked(Numbers(), b"1\n2\n", Reading(records, "none"))
