"""Melted columns, delayed headings, entities from preceding lines, numbers within cells."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rawperf.core.errors import FormatError, StudyError
from rawperf.core.units import conversion_factor
from tests.cases import each_case
from tests.rawperf.declared.declaring import declared, read, rows

MELT = r"""
reads: csv
time: {field: t, since: start}
melt: 'cpu (?P<cpu>\d+) (?P<field>\w+)'
entity: {kind: cpu, name: cpu}
fields: [{field: busy, unit: "%"}]
"""


def test_columns_are_melted_into_entity_rows() -> None:
    reading = read(MELT, "t,cpu 0 busy,cpu 0 idle,cpu 1 busy,note\n1,5,95,6,x\n2,7,93,8,y\n")
    assert rows(reading, "t", "entity", "field", "value") == [
        (1.0, "0", "busy", 5.0),
        (1.0, "1", "busy", 6.0),
        (2.0, "0", "busy", 7.0),
        (2.0, "1", "busy", 8.0),
    ]
    assert reading.lines is not None and reading.lines.tolist() == [2, 2, 3, 3]


def test_melted_columns_are_selected_by_expression() -> None:
    reading = read(MELT + "others: true\n", "t,cpu 0 busy,cpu 0 idle,note\n1,5,95,x\n")
    assert rows(reading, "field", "value") == [("busy", 5.0), ("idle", 95.0)]


def test_node_columns_with_an_unnamed_first_column() -> None:
    text = r"""
    reads: csv
    delimiter: " "
    first: counter
    melt: '(?P<node>node\d+)'
    names: counter
    value: value
    entity: {kind: node, name: node}
    others: true
    """
    reading = read(text, "          node0 node1\nnuma_hit  10 20\nnuma_miss 0 3\n")
    assert rows(reading, "entity", "field", "value") == [
        ("node0", "numa_hit", 10.0),
        ("node1", "numa_hit", 20.0),
        ("node0", "numa_miss", 0.0),
        ("node1", "numa_miss", 3.0),
    ]


@each_case(
    ("heading", "words"),
    [
        ("t,a,b", r"no column name matches melt; expected cpu .*; found t, a, b"),
        ("t,cpu 0 busy,cpu 0 busy", "two columns give 'busy' of the same cpu"),
        ("u,cpu 0 busy,x", "there is no column 't'"),
    ],
)
def test_invalid_melt_headings_are_rejected(heading: str, words: str) -> None:
    with pytest.raises(FormatError, match=words) as caught:
        read(MELT, f"{heading}\n1,2,3\n")
    assert caught.value.line == 1


REPEAT = """
reads: csv
time: {field: t, since: start}
tables:
  - {report: host, fields: [{field: load}]}
  - {report: guest, repeat: id, entity: {kind: guest, name: name}, fields: [{field: load, unit: "%"}]}
"""


@each_case("heading", ["t,load,id,name,load", "t,load,id,name,load,id,name,load"])
def test_repeated_column_groups(heading: str) -> None:
    reading = read(REPEAT, f"{heading}\n1,9,1,a,2,2,b,3\n2,8\n3,7,2,b,4\n")
    assert rows(reading, "t", "report", "entity", "value") == [
        (1.0, "host", "", 9.0),
        (1.0, "guest", "a", 2.0),
        (1.0, "guest", "b", 3.0),
        (2.0, "host", "", 8.0),
        (3.0, "host", "", 7.0),
        (3.0, "guest", "b", 4.0),
    ]


def test_incomplete_column_group_is_rejected() -> None:
    with pytest.raises(FormatError, match=r"line 3: a row does not fit .* then groups of 3: id"):
        read(REPEAT, "t,load,id,name,load\n1,9,1,a,2\n2,9,1,a,2,2,b\n")
    with pytest.raises(
        FormatError, match="there is no column 'id', the first one of the repeated group"
    ):
        read(REPEAT, "t,load,ID,name\n1,9,1,a\n")


HEADING = """
reads: csv
delimiter: " "
heading: '#time +busy.*'
time: {field: "#time", since: start}
fields: [{field: busy}]
"""


def test_heading_may_follow_other_lines_and_repeat() -> None:
    data = "tool 1.0, a line\n# waiting\n#time busy\n1 5\n2 6\n#time busy\n3 7\n"
    reading = read(HEADING, data)
    assert rows(reading, "t", "value") == [(1.0, 5.0), (2.0, 6.0), (3.0, 7.0)]
    assert reading.lines is not None and reading.lines.tolist() == [4, 5, 7]
    assert reading.info == {"lines before the heading": "2"}
    with pytest.raises(
        FormatError, match=r"line 2: the heading is missing; expected a line that fully matches"
    ):
        read(HEADING, "tool 1.0\nno table\n")


PAIRS = r"""
reads: pairs
separator: "="
time: {line: '(?P<time>\d+)', since: start}
entity: {kind: guest, line: "Domain: '(?P<name>.*)'"}
fields: [{field: cpu}]
"""


def test_entity_comes_from_a_preceding_line() -> None:
    data = "1\nDomain: 'a'\ncpu=5\nDomain: 'b'\ncpu=6\n2\nDomain: 'a'\ncpu=7\n"
    reading = read(PAIRS, data)
    assert rows(reading, "t", "entity", "value") == [
        (1.0, "a", 5.0),
        (1.0, "b", 6.0),
        (2.0, "a", 7.0),
    ]
    assert reading.lines is not None and reading.lines.tolist() == [3, 5, 8]
    lines = PAIRS.replace("pairs", "lines").replace('separator: "="', "lines: 'cpu=(?P<cpu>.*)'")
    assert rows(read(lines, data), "t", "entity", "value") == rows(reading, "t", "entity", "value")
    with pytest.raises(FormatError, match=r"line 2: no line above names the guest"):
        read(lines, "1\ncpu=5\n")


def test_time_in_two_columns() -> None:
    text = """
    reads: csv
    time: {field: day, then: clock, format: "%Y%m%d %H:%M:%S"}
    fields: [{field: x}]
    """
    reading = read(text, "day,clock,x\n19700102,00:00:05,1\n")
    assert rows(reading, "t", "value") == [(86405.0, 1.0)]
    with pytest.raises(FormatError, match="line 2: the time day does not match the format"):
        read(text, "day,clock,x\n19700102,24h,1\n")


WITHIN = r"""
reads: csv
fields:
  - {field: mem, name: used, within: '(?P<value>\S+) / .*', unit: B, printed: {MiB: MiB, GiB: GiB}}
  - {field: mem, name: limit, within: '.* / (?P<value>\S+)', unit: B, printed: {MiB: MiB, GiB: GiB}}
"""


def test_two_numbers_with_units_in_one_cell() -> None:
    reading = read(WITHIN, "mem,n\n1.5MiB / 2GiB,1\n")
    assert rows(reading, "field", "value") == [("used", 1.5 * 1024**2), ("limit", 2.0 * 1024**3)]
    with pytest.raises(
        FormatError, match=r"line 2: mem does not match within .*found 1.5MiB of 2GiB"
    ):
        read(WITHIN, "mem,n\n1.5MiB of 2GiB,1\n")


def test_bits_are_converted_to_bytes() -> None:
    assert conversion_factor("bit/s", "B/s") == 0.125
    assert conversion_factor("Mbit/s", "kB/s") == 125.0
    assert conversion_factor("Gbit", "bit") == 1e9


def test_documented_examples_read_their_sample(root: Path) -> None:
    page = (root / "docs" / "formats" / "declared.md").read_text(encoding="utf-8")
    blocks = [b for b in re.findall(r"```yaml\n(.*?)```", page, re.DOTALL) if "reads:" in b]
    data = [
        "".join(f"{line[2:]}\n" for line in block.splitlines() if line.startswith("# "))
        for block in blocks
    ]
    data[1] += '"03/01/2026 10:00:00","85.20","4.30"\n'
    assert [
        rows(read(block, text), "entity", "field", "value")
        for block, text in zip(blocks, data, strict=True)
    ] == [
        [("web-01", "cpu.time", 430000000.0)],
        [("web01", "% Used", 85.2)],
        [("node0", "numa_hit", 12637.0), ("node1", "numa_hit", 11074.0)],
        [("", "%CPU", 12.5), ("web-01", "%CPU", 8.3), ("db-01", "%CPU", 4.2)],
        [("", "[CPU]User%", 33.0)],
        [("web", "used", 5.629 * 1024**2), ("web", "limit", 1.944 * 1024**3)],
        [("", "sum/bits_per_second", 21387913781.1)],
        [
            ('handler="/query" 0 to 0.1 s', "count", 8.0),
            ('handler="/query" 0.1 to inf s', "count", 1.0),
        ],
        [("scan 68608 to 69632 ns", "count", 1.0), ("scan 74752 to 75776 ns", "count", 4.0)],
        [('instance="a",job="web"', "up", 1.0), ('instance="a",job="web"', "up", 0.0)],
        [("Percentage CPU", "average", 3.5)],
        [
            ("0", "user", 2.5),
            ("0", "system", 1.5),
            ("0", "idle", 96.0),
            ("0", "used", 3.0),
            ("0", "size", 8.0),
        ],
    ]


@each_case(
    ("text", "words"),
    [
        (
            "reads: json\nmelt: '(?P<a>x)'\nfields: [{field: x}]",
            "melt is only valid with reads: csv",
        ),
        ("reads: csv\nmelt: '(?P<a>x)'\nfields: [{field: x}]", r"melt has no group \(\?P<field>"),
        (
            "reads: csv\nmelt: '(?P<value>x)'\nfields: [{field: x}]",
            "reserved for the melted number",
        ),
        ("reads: csv\nmelt: '(?P<a>x)'\nrepeat: b\nothers: true", "melt and repeat"),
        ("reads: csv\ncolumns: [a]\nheading: a\nfields: [{field: a}]", "files without a heading"),
        (
            "reads: csv\nentity: {line: '(?P<name>a)'}\nfields: [{field: a}]",
            "only valid with reads: pairs or lines",
        ),
        ("reads: csv\nfields: [{field: a, within: '(?P<x>a)'}]", r"one group, \(\?P<value>"),
        ("reads: csv\ntime: {field: a, then: b}\nfields: [{field: c}]", "set field and format"),
    ],
)
def test_mistakes_in_a_declaration_are_reported(text: str, words: str) -> None:
    with pytest.raises(StudyError, match=words):
        declared(text)


def test_arrow_and_python_parsers_agree() -> None:
    text = "reads: csv\ntime: {field: t, since: start}\nentity: {kind: e, name: who}\nfields: [{field: x}]\nmissing: [NA]"
    plain = "t,who,x\n" + "".join(
        f"{n}, w{n % 3} ,{'NA' if n % 7 == 0 else n / 8}\n" for n in range(500)
    )
    quoted = plain.replace("0, w0 ,", '0," w0 ",', 1)
    one, other = read(text, plain), read(text, quoted)
    assert one.records.equals(other.records)
    assert one.lines is not None and other.lines is not None
    assert one.lines.tolist() == other.lines.tolist()
    for damage, line in (("7, w1 ,NA\n", 9), ("400, w1 ,50.0\n", 402)):
        with pytest.raises(FormatError, match="does not fit the heading") as caught:
            read(text, plain.replace(damage, damage.replace(",", "", 1)))
        assert caught.value.line == line
    with pytest.raises(FormatError, match="x is not a number") as caught:
        read(text, plain.replace(",50.0\n", ",5O.0\n"))
    assert caught.value.line == 402
