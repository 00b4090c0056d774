"""Times of day below a date, several time formats, units in a column of their own, groups of columns."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from rawperf.core.errors import FormatError, StudyError
from rawperf.core.metrics import load_metrics
from rawperf.registry import METRICS, extend_dictionary
from rawperf.tidy import open_raw
from tests.cases import each_case
from tests.rawperf.declared.declaring import declared, read, rows

NOON = 1_772_366_400.0  # 2026-03-01 12:00
MIDNIGHT = NOON + 43_200

DATED_LINES = r"""
    reads: lines
    strict: true
    lines: '(?P<at>[\d:]+) (?P<value>\d+)'
    time: {field: at, format: "%H:%M:%S", date: 'run of (?P<date>\S+)', date_format: "%d/%m/%Y"}
    fields: [{field: value}]
"""
DATED_CSV = r"""
    reads: csv
    time: {field: at, format: "%H:%M:%S", date: '# (?P<date>\S+)'}
    fields: [{field: value}]
"""


@each_case(
    ("declaration", "text"),
    [
        (DATED_LINES, "run of 01/03/2026\n23:59:50 1\n00:00:10 2\n"),
        (DATED_CSV, "# 2026-03-01\nat,value\n23:59:50,1\n00:00:10,2\n"),
        (DATED_CSV, "\n# 2026-03-01\nat,value\n23:59:50,1\n00:00:10,2\n"),
    ],
)
def test_times_of_day_below_a_date_continue_past_midnight(declaration: str, text: str) -> None:
    reading = read(declaration, text)
    assert reading.clock == "absolute"
    assert rows(reading, "t", "value") == [(MIDNIGHT - 10, 1), (MIDNIGHT + 10, 2)]


@each_case(
    ("text", "words"),
    [
        ("12:00:00 1\n", "no line above gives the date"),
        ("12:00:00 1\nrun of 01/03/2026\n", "no line above gives the date"),
        ("run of 2026-03-01\n12:00:00 1\n", "line 1: the date does not match the format"),
    ],
)
def test_missing_or_wrong_date_is_an_error(text: str, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(DATED_LINES, text)
    assert words in str(caught.value)


SEVERAL = r"""
    reads: csv
    time: {field: at, format: [number, "%Y/%m/%d %H:%M:%S.%f", "%Y-%m-%d %H:%M:%S"], unit: ms, plus: took}
    fields: [{field: took}]
"""


@each_case(
    "time",
    ["1772366400000", "2026/03/01 12:00:00.000", "2026-03-01 12:00:00"],
)
def test_first_time_of_a_file_decides_its_format(time: str) -> None:
    later = time.replace("6400000", "6401000").replace("12:00:00", "12:00:01")
    found = rows(read(SEVERAL, f"at,took\n{time},250\n{later},250\n"), "t")
    assert found == [(pytest.approx(NOON + 0.25),), (pytest.approx(NOON + 1.25),)]
    with pytest.raises(FormatError, match="line 3"):
        read(SEVERAL, f"at,took\n{time},250\nyesterday,250\n")


UNITS = r"""
    reads: lines
    lines: '\[(?P<group>\w+)\], (?P<key>[^,(]+)(?:\((?P<unit>[^)]+)\))?, (?P<value>\S+)'
    entity: {kind: operation, name: group}
    names: key
    value: value
    others: true
    fields: [{field: "*Latency", suffix: unit, printed: {us: us, ms: ms}, unit: ms}]
"""


def test_unit_in_a_column_of_its_own_serves_all_names_of_a_pattern() -> None:
    text = "[READ], AverageLatency(us), 1500\n[READ], MaxLatency(ms), 12\n[READ], Operations, 7\n"
    found = rows(read(UNITS, text), "entity", "field", "value")
    assert found == [
        ("READ", "AverageLatency", 1.5),
        ("READ", "MaxLatency", 12),
        ("READ", "Operations", 7),
    ]
    with pytest.raises(FormatError, match=r"line 1: AverageLatency is not a number.*'us', 'ms'"):
        read(UNITS, text.replace("(us)", "(min)"))


GROUPS = """
    reads: csv
    time: {numbered: true}
    tables:
      - {report: host, fields: [{field: busy}]}
      - {report: guest, repeat: id, entity: {kind: guest, name: name}, fields: [{field: busy, optional: %s}, {field: memory}]}
"""


def test_number_of_a_group_is_not_read_from_a_column_before_the_groups() -> None:
    text = "busy,id,name,memory\n12,1,web,64,2,db,32\n"
    found = rows(read(GROUPS % "true", text), "report", "entity", "field", "value")
    assert found == [
        ("host", "", "busy", 12),
        ("guest", "web", "memory", 64),
        ("guest", "db", "memory", 32),
    ]
    with pytest.raises(
        FormatError, match="line 1: there is no column 'busy' in the repeated group"
    ):
        read(GROUPS % "false", text)


def test_other_columns_of_a_group_are_its_own() -> None:
    declaration = """
        reads: csv
        repeat: id
        entity: {kind: guest, name: name}
        time: {numbered: true}
        others: true
    """
    found = rows(
        read(declaration, "total,id,name,memory\n9,1,web,64\n"), "entity", "field", "value"
    )
    assert found == [("web", "id", 1), ("web", "memory", 64)]


def test_value_needs_any_of_several_fields() -> None:
    declaration = """
        reads: csv
        time: {numbered: true}
        fields: [{field: cpu, needs: [memory, cpu]}, {field: memory, optional: true}]
    """
    found = rows(read(declaration, "cpu,memory\n0,0\n0,64\n3,0\n"), "t", "field", "value")
    assert [row for row in found if row[1] == "cpu"] == [(1, "cpu", 0), (2, "cpu", 3)]
    assert rows(read(declaration.replace("memory, cpu", "cpu"), "cpu\n0\n3\n"), "value") == [(3,)]


def test_row_above_the_heading_is_refused() -> None:
    declaration = """
        reads: csv
        heading: 'at,.*'
        time: {field: at, since: start}
        fields: [{field: busy}]
    """
    assert len(read(declaration, "version 1, of 2\nat,busy\n1,2\n").records) == 1
    with pytest.raises(FormatError, match="line 2: a row above the heading"):
        read(declaration, "aX,busy\n1,2\nat,busy\n3,4\n")


def test_rows_that_are_left_out_may_be_shorter() -> None:
    declaration = """
        reads: csv
        leave_out_rows: 1
        time: {field: at, since: start}
        fields: [{field: busy}]
    """
    assert rows(read(declaration, "at,busy,idle\n1,\n2,3,4\n"), "t", "value") == [(2, 3)]
    with pytest.raises(FormatError, match="line 3"):
        read(declaration, "at,busy,idle\n1,\n2,\n")


def test_error_of_the_tool_comes_before_what_follows_from_it() -> None:
    declaration = r"""
        reads: lines
        failed: 'FATAL: (?P<error>.*)'
        lines: 'rate (?P<rate>\S+)'
        fields: [{field: rate}]
    """
    with pytest.raises(FormatError, match=r"line 2: the tool reports an error.*no connection"):
        read(declaration, "start\nFATAL: no connection\n")
    reading = read(declaration, "rate 5\nFATAL: no connection\n")
    assert reading.warnings == ("a/b.txt line 2: the tool reports: no connection",)


def test_rate_with_the_metric_of_a_counter_is_told_of_kind_gauge() -> None:
    declaration = declared(
        """
        reads: csv
        time: {numbered: true}
        fields: [{field: x, metric: network_receive_rate, unit: 1/s, kind: counter}]
        """
    )
    with pytest.raises(StudyError, match="kind: gauge"):
        extend_dictionary(load_metrics(METRICS), (declaration,))


@each_case(
    ("declaration", "words"),
    [
        ("time: {field: at, format: ['%H:%M', iso]}", "each of several formats needs a date"),
        ("time: {field: at, format: iso, date: '(?P<date>.*)'}", "date is for times of day"),
        ("time: {field: at, line: '(?P<time>.*)'}", "need optional: true"),
        ("failed: 'x(?P<y>.*)'", "one group, (?P<error>...)"),
        ("verified: {output: a.txt}", "need each other"),
        ("verified: {none: a, source: b}", "else none"),
    ],
)
def test_contradictory_options_are_refused(declaration: str, words: str) -> None:
    with pytest.raises(StudyError) as caught:
        declared(f"reads: csv\n{declaration}\nfields: [{{field: x}}]\n")
    assert words in str(caught.value)


def test_rows_without_either_time_have_none(tmp_path: Path) -> None:
    declaration = r"""
        reads: lines
        lines: '(?P<name>[a-z]) (?P<value>\d+)(?: (?P<stamp>\d+))?'
        time: {field: stamp, line: '(?P<time>\d{10})', unit: auto, optional: true}
        entity: {kind: x, name: name}
        fields: [{field: value}]
    """
    found = rows(read(declaration, "a 1 1772366400500\nb 2\n1772366400\nc 3\n"), "entity", "t")
    assert found[0] == ("a", NOON + 0.5)
    assert math.isnan(found[1][1])
    assert found[2] == ("c", NOON)


def test_columns_are_named_below_a_heading_whose_names_have_blanks() -> None:
    declaration = r"""
        reads: csv
        delimiter: " "
        heading: 'HH:MM:SS .*'
        columns: [time, in, out]
        time: {field: time, format: "%H:%M:%S"}
        fields: [{field: in}]
    """
    text = "  Time            lo\nHH:MM:SS   KB/s in  KB/s out\n09:42:20   1.06   1.07\n"
    assert rows(read(declaration, text), "t", "value") == [(9 * 3600 + 42 * 60 + 20, 1.06)]


def test_columns_at_the_end_need_no_name() -> None:
    declaration = """
        reads: csv
        columns: [version, name, size, ...]
        time: {numbered: true}
        entity: {kind: disk, name: name}
        fields: [{field: size}]
    """
    assert rows(read(declaration, "1.98,a,5,6,7\n1.98,b,6\n"), "entity", "value") == [
        ("a", 5),
        ("b", 6),
    ]
    with pytest.raises(FormatError, match="line 1"):
        read(declaration, "1.98,a\n")


def test_first_rows_of_lines_are_left_out() -> None:
    declaration = r"""
        reads: lines
        leave_out_rows: 1
        lines: 'cpu (?P<at>\d+) (?P<busy>\d+)'
        time: {field: at}
        fields: [{field: busy}]
    """
    assert rows(read(declaration, "cpu 1 99\ncpu 2 5\n"), "t", "value") == [(2, 5)]


def test_declared_share_of_busy_time_is_not_taken_for_idle_time(tmp_path: Path) -> None:
    (tmp_path / "busy.yaml").write_text(
        "name: own\nreads: csv\ntime: {numbered: true}\n"
        'fields: [{field: busy, metric: cpu_busy, unit: "%"}]\n'
    )
    (tmp_path / "busy.csv").write_text("busy,x\n82,1\n")
    with open_raw(tmp_path / "busy.csv", tmp_path / "busy.yaml") as raw:
        (table,) = raw.tables()
    assert table["metric_value"].tolist() == [pytest.approx(0.82)]
