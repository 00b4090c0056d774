"""Records collected one by one, and warnings."""

from __future__ import annotations

from rawperf.base import RECORD_COLUMNS, RecordBuilder, Warnings


def test_rows_have_record_columns_and_types():
    rows = RecordBuilder()
    empty, _ = rows.take()
    rows.add("r", "k", "e", "f", 1)
    rows.add("r", "k", "e", "g", 2, 3.0)
    frame, _ = rows.take()
    assert tuple(frame.columns) == tuple(empty.columns) == RECORD_COLUMNS
    assert (frame.dtypes == empty.dtypes).all()
    assert frame["t"].isna().tolist() == [True, False]
    assert not len(rows)


def test_time_may_be_set_later_and_records_discarded():
    rows = RecordBuilder()
    for value in range(5):
        rows.line = 10 + value
        rows.add("r", "k", "e", "f", value)
    rows.set_time(2, 7.0)
    rows.drop(0, 1)
    frame, lines = rows.take(3)
    assert frame["value"].tolist() == [1, 2, 3]
    assert frame["t"].fillna(-1).tolist() == [-1, 7, 7]
    assert lines.tolist() == [11, 12, 13]
    assert rows.take()[0]["value"].tolist() == [4]


def test_many_warnings_are_counted():
    warnings = Warnings("a.txt")
    warnings.add_always(0, "first")
    for line in range(1, 31):
        warnings.add(line, "damaged")
    said = warnings.drain(is_last=False) + warnings.drain()
    assert said[:2] == ("a.txt: first", "a.txt line 1: damaged")
    assert said[-1] == "a.txt: 11 more warnings of this kind"
    assert len(said) == 21


def test_a_kind_of_warning_is_given_once():
    warnings = Warnings("a.txt")
    for line in (3, 4):
        warnings.add_once("zone", line, "another zone")
    assert warnings.drain() == ("a.txt line 3: another zone",)
