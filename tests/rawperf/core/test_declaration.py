"""Mistakes in a declaration are reported with line number and a name suggestion."""

from __future__ import annotations

import pytest

from rawperf.core.errors import StudyError
from tests.cases import each_case
from tests.rawperf.declared.declaring import declared

GOOD = """\
reads: csv
match: {file: "driver*.csv"}
time: {field: time, unit: ms}
fields:
  - {field: tps, metric: transaction_rate, unit: 1/s}
"""


@each_case(
    ("old", "new", "line", "words"),
    [
        ("reads: csv", "reads: cvs", 2, "found 'cvs'. Did you mean 'csv'?"),
        ("fields:", "field:", 5, "unknown key 'field'. Did you mean 'fields'"),
        ("unit: ms}", "unti: ms}", 4, "unknown key 'unti'. Did you mean 'unit'?"),
        (
            "{field: time, unit: ms}",
            "{unit: ms}",
            4,
            "time needs exactly one of field, line, interval_s and numbered",
        ),
        ("{field: time, unit: ms}", "{field: time, interval_s: 5}", 4, "time needs exactly one of"),
        (
            "{field: time, unit: ms}",
            "{field: time, format: '%q'}",
            4,
            "'%q' is not a time format",
        ),
        ("{field: time, unit: ms}", "{field: time, zone: Mars}", 4, "'Mars' is not a time zone"),
        ("{field: time, unit: ms}", "{line: '(?P<t>x)'}", 4, "one group, (?P<time>...)"),
        (", unit: 1/s", "", 6, "the unit of tps is missing"),
        (
            "metric: transaction_rate, unit: 1/s",
            "printed: {ms: ms, s: s}",
            6,
            "the unit of tps is missing: printed has ms, s",
        ),
        (
            "reads: csv",
            "reads: csv\nprinted: {ms: ms, s: s}\nothers: true",
            1,
            "the unit of fields that are not declared is missing",
        ),
        (
            "{field: tps, metric: transaction_rate, unit: 1/s}",
            "{field: tps, needs: x}\nnames: name\nvalue: value",
            1,
            "needs refers to another field in one row",
        ),
        (
            "reads: csv",
            "reads: json\ndelimiter: ';'",
            1,
            "delimiter is only valid with reads: csv, not json",
        ),
        ("reads: csv", "reads: lines", 1, "lines is missing"),
        ("reads: csv", "reads: csv\nunnamed: value", 1, "unnamed is for tables in long format"),
        ("reads: csv", "reads: xml", 1, "rows is missing"),
        (
            "reads: csv",
            "reads: csv\ncolumns: [time, tp]",
            1,
            "there is no column 'tps'; did you mean 'tp'",
        ),
        (
            "reads: csv",
            "reads: lines\nlines: '(?P<time>x) (?P<tp>y)'",
            1,
            "there is no group 'tps'; did you mean 'tp'",
        ),
        ('{file: "driver*.csv"}', "{}", 3, "match is empty"),
        ('{file: "driver*.csv"}', "{text: '(x'}", 3, "missing )"),
        (
            "reads: csv",
            "reads: csv\ntables: [{fields: [{field: a}]}]",
            1,
            "fields is outside of tables",
        ),
        (
            "  - {field: tps, ",
            "  - {field: tps}\n  - {field: tps, ",
            1,
            "two fields are named 'tps'",
        ),
        ("unit: 1/s}", "unit: 1/s, printed: {ms: ms}}", 6, "no conversion exists"),
        ("unit: 1/s}", "unit: 1/s, each: max}", 6, "unknown key 'each'"),
        ("unit: 1/s}", "unit: 1/s, complement: true}", 6, "complement subtracts a share"),
        ("unit: 1/s}", "unit: 1/s, absent: 0}", 1, "absent is for totals of a whole file"),
        ("reads: csv", "reads: csv\ndecimal: ','\nthousands: ','", 1, "the same character"),
        ("reads: csv", "reads: csv\nnames: a", 1, "names and value need each other"),
    ],
)
def test_mistake_is_reported_with_line_number(old: str, new: str, line: int, words: str) -> None:
    assert old in GOOD
    declared(GOOD)
    with pytest.raises(StudyError) as caught:
        declared(GOOD.replace(old, new, 1))
    assert words in str(caught.value)
    assert caught.value.line == line


def test_row_paths_need_a_common_root() -> None:
    with pytest.raises(StudyError, match="begin with different elements"):
        declared("reads: xml\nrows: [a/b, c/d]\nfields: [{field: n}]")
