"""Records collected one by one, warnings, and the round-trip check."""

from __future__ import annotations

from rawperf.base import RECORD_COLUMNS
from rawperf.rows import RecordBuilder, Warnings, split_lines


def test_rows_have_record_columns_and_types():
    rows = RecordBuilder()
    empty = rows.to_frame()
    rows.add("r", "k", "e", "f", 1)
    rows.add("r", "k", "e", "g", 2, 3.0)
    frame = rows.to_frame()
    assert tuple(frame.columns) == tuple(empty.columns) == RECORD_COLUMNS
    assert (frame.dtypes == empty.dtypes).all()
    assert frame["t"].isna().tolist() == [True, False]


def test_time_may_be_set_later_and_records_discarded():
    rows = RecordBuilder()
    for value in range(4):
        rows.line = 10 + value
        rows.add("r", "k", "e", "f", value)
    rows.set_time(2, 7.0)
    rows.drop(0, 1)
    assert rows.to_frame()["value"].tolist() == [1, 2, 3]
    assert rows.to_frame()["t"].fillna(-1).tolist() == [-1, 7, 7]
    assert rows.lines().tolist() == [11, 12, 13]


def test_many_warnings_are_counted():
    warnings = Warnings("a.txt", ("first",))
    for line in range(1, 31):
        warnings.add(line, "damaged")
    said = warnings.messages()
    assert said[:2] == ("first", "a.txt line 1: damaged")
    assert said[-1] == "a.txt: 11 more warnings of this kind"
    assert len(said) == 21


def test_lines_and_completeness_of_the_last_one():
    assert split_lines("a\nb\n") == (["a", "b"], True)
    assert split_lines("a\nb") == (["a", "b"], False)
    assert split_lines("") == ([], True)
