"""What a file states twice is checked; what is missing or not understood is told with its line."""

from __future__ import annotations

import json

import pytest

from rawperf.core.errors import FormatError, StudyError
from tests.cases import each_case
from tests.rawperf.declared.declaring import FILE, declared, read, rows

CPU = """
reads: csv
time: {field: t, since: start}
entity: {kind: cpu, name: cpu}
integer: [cpu, n]
at_most: {user: 100, used: size}
sum_of: {"100": {fields: [user, sys, idle], within: 0.15}}
one_of: {state: [up, "off*"]}
fields: [{field: user}, {field: sys}, {field: idle}, {field: n}, {field: used}, {field: size}]
"""
HEADING = "t,cpu,user,sys,idle,n,used,size,state\n"
ROW = "1,0,2.5,1.5,96.1,7,3,3,up\n"


def test_consistent_rows_pass() -> None:
    reading = read(CPU, HEADING + ROW + "2,1,0,0,100,8,2,3,off-line\n")
    assert len(reading.records) == 12
    assert reading.warnings == ()


@each_case(
    ("old", "new", "words"),
    [
        ("1,0,", "1,0.5,", "cpu is not an integer; expected an integer; found 0.5"),
        (",7,", ",7.5,", "n is not an integer"),
        ("2.5,1.5,96.1", "150,0,-50", "user exceeds its limit; expected at most 100; found 150"),
        (",3,3,", ",4,3,", "used exceeds its limit; expected at most 3, which is size; found 4"),
        ("2.5,1.5", "1.5,1.5", "user, sys, idle do not add up to 100; expected 100, within 0.15"),
        (",up", ",7", "state has a text that is not among those declared; expected up or off*"),
        ("1,0,", "1,,", "cpu is empty, but names the cpu"),
    ],
)
def test_contradiction_is_an_error_with_its_line(old: str, new: str, words: str) -> None:
    for before in ("", ROW.replace("1,", "0,", 1)):
        changed = ROW.replace(old, new, 1)
        assert changed != ROW
        data = HEADING + before + changed
        with pytest.raises(FormatError) as caught:
            read(CPU, data)
        assert words in str(caught.value)
        assert caught.value.line == data.count("\n")


def test_checks_refer_to_converted_numbers() -> None:
    text = """
    reads: lines
    lines: '(?P<name>\\w+): (?P<used>\\S+) of (?P<size>\\S+)'
    entity: {kind: disk, name: name}
    at_most: {used: size}
    fields:
      - {field: used, unit: B, printed: {MB: MiB, GB: GiB}}
      - {field: size, unit: B, printed: {MB: MiB, GB: GiB}}
    """
    assert len(read(text, "a: 900MB of 1GB\n").records) == 2
    with pytest.raises(FormatError, match="used exceeds its limit") as caught:
        read(text, "a: 900MB of 1GB\nb: 2GB of 900MB\n")
    assert caught.value.line == 2


@each_case(
    ("old", "new", "words"),
    [
        ("integer: [cpu, n]", "integer: [cpus]", "there is no column 'cpus'"),
        ("reads: csv", "reads: csv\nuniform: true", "uniform is only valid with reads: lines"),
        ("fields: [user, sys, idle]", "fields: [user]", "sum_of"),
    ],
)
def test_wrong_checks_are_reported(old: str, new: str, words: str) -> None:
    with pytest.raises((StudyError, FormatError)) as caught:
        read(CPU.replace(old, new, 1), HEADING + ROW)
    assert words in str(caught.value)


TABLE = """
reads: lines
heading: 'name +size +used'
lines: '(?P<name>\\w+) +(?P<size>\\d+) +(?P<used>\\d+)'
entity: {kind: disk, name: name}
time: {numbered: true}
fields: [{field: size}, {field: used}]
"""


def test_rows_of_lines_need_their_heading() -> None:
    assert len(read(TABLE, "name size used\na 5 3\nname  size used\na 5 4\n").records) == 4
    for data in ("a 5 3\nname size used\n", "name used size\na 5 3\n"):
        with pytest.raises(FormatError, match="a row without its heading") as caught:
            read(TABLE, data)
        assert caught.value.line == data[: data.index("a 5")].count("\n") + 1


def test_uniform_rows_match_one_expression() -> None:
    text = TABLE.replace("heading: 'name +size +used'\n", "uniform: true\n").replace(
        "lines: '", "lines:\n  - '(?P<name>\\w+) +(?P<size>\\d+) +(?P<used>\\d+) +\\d+'\n  - '"
    )
    for data in ("a 5 3\nb 5 2\n", "a 5 3 1\nb 5 2 1\n"):
        assert len(read(text, data).records) == 4
    with pytest.raises(FormatError, match="a row has other cells") as caught:
        read(text, "a 5 3\nb 5 2\nc 5 2 1\n")
    assert caught.value.line == 3


def test_lines_that_are_not_understood_are_counted_with_the_first() -> None:
    data = "name size used\na 5 3\nb - 3\n\nc 5\nd 5 2\n"
    reading = read(TABLE, data)
    assert reading.warnings == (
        f"{FILE} line 3: a line that no expression of own matches was left out: 'b - 3' (and 1 more)",
    )
    assert rows(reading, "entity", "value") == [("a", 5), ("a", 3), ("d", 5), ("d", 2)]
    assert read(TABLE + "ignore: ['. (?:-|\\d)[ 0-9]*']\n", data).warnings == ()


OPTIONAL = """
reads: csv
time: {field: t, since: start}
fields: [{field: tps, optional: true}, {field: p99, optional: true}]
"""


def test_renamed_optional_column_is_named() -> None:
    assert read(OPTIONAL, "t,tps\n1,5\n").warnings == ()  # nothing could be p99
    assert read(OPTIONAL, "t,tps,p99,other\n1,5,6,7\n").warnings == ()
    reading = read(OPTIONAL, "t,tps,other,p_99\n1,5,6,7\n")
    assert reading.warnings == (f"{FILE}: the file has no p99; not read: p_99, other",)
    ignored = read(OPTIONAL + "ignore: ['p_.*', other]\n", "t,tps,other,p_99\n1,5,6,7\n")
    assert ignored.warnings == ()


def test_column_without_a_name_is_told() -> None:
    reading = read(OPTIONAL, "t,tps,,p99\n1,5,6,7\n")
    assert reading.warnings == (f"{FILE} line 1: column 3 has no name and was not read",)


def test_columns_that_match_no_melt_are_named() -> None:
    text = "reads: csv\nmelt: 'cpu(?P<cpu>\\d)'\nentity: {kind: cpu, name: cpu}\ntime: {numbered: true}\n"
    text += "fields: [{field: value}]\n"
    reading = read(text, "cpu0,cpu1,cpuX\n1,2,3\n")
    assert reading.warnings == (f"{FILE} line 1: columns that no table reads: cpuX",)
    assert read(text + "ignore: cpuX\n", "cpu0,cpu1,cpuX\n1,2,3\n").warnings == ()


def test_missing_cells_are_told_with_the_first_line() -> None:
    data = "t,tps,p99\n1,5,6\n2,,7\n3,,8\n4,5,\n"
    assert read(OPTIONAL, data).warnings == (
        f"{FILE} line 3: tps has no value; this is so in 2 of 4 rows",
        f"{FILE} line 5: p99 has no value; this is so in 1 of 4 rows",
    )
    assert read(OPTIONAL + "missing: ['']\n", data).warnings == ()
    assert read(OPTIONAL, "t,tps,p99\n1,5,\n2,6,\n").warnings == ()  # none has it


JSON = """
reads: json
rows: jobs/*
entity: {kind: job, name: id}
fields: [{field: id, name: number}, {field: read/bw, optional: true}, {field: read/p99/us, optional: true}]
"""


@each_case(
    ("members", "words"),
    [
        ({"bw": 5, "p99": {"us": 6}}, None),
        ({"bw": 5}, None),
        ({"bandwidth": 5, "p99": {"us": 6}}, "the file has no read/bw; not read: read/bandwidth"),
        ({"bw": 5, "p99_new": {"us": 6}}, "the file has no read/p99/us; not read: read/p99_new"),
        ({"p99": {"us": 6}}, "the file has no read/bw"),
        ({"bw": 5, "io": {"us": 6}}, None),  # not similar: another version
    ],
)
def test_renamed_key_is_named(members: dict[str, object], words: str | None) -> None:
    text = json.dumps({"jobs": [{"id": 1, "read": members}]})
    assert read(JSON, text).warnings == ((f"{FILE}: {words}",) if words else ())


def test_key_that_some_rows_lack_is_told() -> None:
    text = json.dumps(
        {"jobs": [{"id": n, "read": {"bw": 5} if n else {}} for n in (1, 0, 2)]}, indent=0
    )
    (warning,) = read(JSON, text).warnings
    assert warning.endswith("read/bw has no value; this is so in 1 of 3 rows")


def test_pairs_tell_empty_values_and_snapshots_that_differ() -> None:
    text = "reads: pairs\ntime: {line: '(?P<time>\\d+)'}\nothers: true\nfields: [{field: a}]\n"
    reading = read(text, "7\na: 1\nb: 2\n8\na: 3\nb:\n9\na: 4\nc: 5\n")
    assert rows(reading, "field", "value") == [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("c", 5)]
    assert reading.warnings == (
        f"{FILE} line 6: b has no value; this is so in 1 of 2 rows",
        f"{FILE} line 1: b, c stands only in some snapshots; this one is the first that differs",
    )


BUCKETS = """
reads: lines
lines: '(?P<low>\\d+) -> (?P<high>\\d+): (?P<n>\\d+)'
entity: {kind: bucket}
histogram: {lower: low, upper: high, whole: true, unit: us}
time: {line: 'at (?P<time>\\d+)'}
fields: [{field: n}]
"""


def test_histogram_with_a_gap_is_damaged() -> None:
    whole = "at 7\n0 -> 1: 5\n2 -> 3: 6\n4 -> 7: 1\nat 8\n2 -> 3: 6\n4 -> 7: 1\n"
    assert len(read(BUCKETS, whole).records) == 5
    damaged = whole.replace("2 -> 3: 6\n", "", 1)
    with pytest.raises(FormatError, match="a bucket of the histogram is missing") as caught:
        read(BUCKETS, damaged)
    assert caught.value.line == 3
    assert "a bucket from 2; found from 4" in str(caught.value)
    assert (
        len(read(BUCKETS.replace("whole: true", "whole: true, gaps: true"), damaged).records) == 4
    )
    with pytest.raises(StudyError, match="gaps needs both bounds"):
        declared(BUCKETS.replace("lower: low, ", "").replace("whole: true", "gaps: true"))
