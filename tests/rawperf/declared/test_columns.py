"""Column files: headings, delimiters, comments, quotes, long tables, rejected input."""

from __future__ import annotations

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.core.errors import FormatError, StudyError
from tests.cases import each_case
from tests.rawperf.declared.declaring import FILE, declared, read, rows

DRIVER = """
reads: csv
time: {field: time}
entity: {kind: driver, name: host}
fields:
  - {field: tps}
  - {field: p99, optional: true}
"""


def test_rows_give_the_declared_numbers() -> None:
    reading = read(DRIVER, "time,host,tps,note\n100,a,5.5,x\n110,b,6e1,y\n")
    assert rows(reading, "entity_kind", "entity", "field", "t", "value") == [
        ("driver", "a", "tps", 100.0, 5.5),
        ("driver", "b", "tps", 110.0, 60.0),
    ]
    assert reading.clock == "absolute"
    assert reading.lines is not None and reading.lines.tolist() == [2, 3]


def test_comments_blank_lines_quotes_and_lines_within_quotes() -> None:
    data = '# made by me, "a\n\ntime,host,tps\n1,"a ""b""\n, c",2\n# in between\n\n3,d,4\n'
    reading = read(DRIVER + "comment: '#'\n", data)
    assert rows(reading, "entity", "value") == [('a "b"\n, c', 2.0), ("d", 4.0)]
    assert reading.lines is not None and reading.lines.tolist() == [4, 8]


@each_case(
    ("options", "data"),
    [
        ("delimiter: ';'\ndecimal: ','\nthousands: '.'", "time;host;tps\n1;a;1.234,5\n2;b;2\n"),
        ('delimiter: "\\t"', "time\thost\ttps\n1\ta\t1234.5\n2\tb\t2\n"),
        ("thousands: ','\ndelimiter: '|'", "time|host|tps\n1|a|1,234.5\n2|b|2\n"),
        ("delimiter: ' '", "time  host tps\n  1  a  1234.5\n2 b     2\n"),
        ("columns: [time, host, tps, p99]", "1,a,1234.5,\n2,b,2,\n"),
        ("missing: [NA, '-']", "time,host,tps\n1,a,1234.5\n2,b,2\n3,c,NA\n4,d,-\n5,e,\n"),
        ("", "\ufefftime,host,tps\r\n1,a,1234.5\r\n2,b,2\r\n"),
    ],
)
def test_equivalent_notations_give_equal_readings(options: str, data: str) -> None:
    assert rows(read(DRIVER + options, data), "t", "entity", "value") == [
        (1.0, "a", 1234.5),
        (2.0, "b", 2.0),
    ]


def test_last_blank_separated_column_takes_the_rest() -> None:
    form = declared(
        "reads: csv\ndelimiter: ' '\nentity: {kind: process, name: CMD}\nfields: [{field: C}]"
    )
    assert rows(form.read(b"C CMD\n5 java -jar x y\n"), "entity", "value") == [
        ("java -jar x y", 5.0)
    ]


def test_row_filters() -> None:
    text = DRIVER + "where: {host: [web*, db]}\nunless: {state: warmup}\n"
    data = "time,host,tps,state\n1,web1,1,run\n2,web2,2,warmup\n3,db,3,run\n4,other,4,run\n"
    assert rows(read(text, data), "value") == [(1.0,), (3.0,)]


def test_name_and_value_columns() -> None:
    text = """
    reads: csv
    time: {field: t, since: start}
    names: what
    value: n
    entity: {kind: host}
    fields: [{field: cycles, name: all cycles}, {field: gone, optional: true}]
    """
    data = "t,what,n\n1,cycles,10\n1,other,x\n2,cycles,30\n"
    reading = read(text, data)
    assert rows(reading, "field", "t", "value") == [
        ("all cycles", 1.0, 10.0),
        ("all cycles", 2.0, 30.0),
    ]
    assert reading.clock == "elapsed"
    with pytest.raises(FormatError, match="other is not a number"):
        read(f"{text.rstrip()}\n    others: true\n", data)
    assert ("other", 1.0, 20.0) in rows(
        read(f"{text.rstrip()}\n    others: true\n", data.replace("x", "20")), "field", "t", "value"
    )


def test_undeclared_columns_may_be_read() -> None:
    reading = read(DRIVER + "others: true\n", "time,host,tps,extra\n1,a,2,3\n")
    assert rows(reading, "field", "value") == [("tps", 2.0), ("extra", 3.0)]


@each_case(
    ("data", "line", "words"),
    [
        (
            "time,host,tpss\n1,a,2\n",
            1,
            "there is no column 'tps'; found time, host, tpss. Did you mean 'tpss'?",
        ),
        (
            "time;host;tps\n1;a;2\n",
            1,
            "found time;host;tps. The columns may have another `delimiter`",
        ),
        ("time,host,tps,tps\n1,a,2,3\n", 1, "two columns are named 'tps'"),
        ("x,y\n1,2\n", 1, "there is no column 'time'"),
        ("time,host,tps\n1,a\n", 2, "does not fit the heading; expected 3 cells"),
        ("time,host,tps\n1,a,2,3\n", 2, "does not fit the heading"),
        (
            "time,host,tps\n1,a,2x\n",
            2,
            "tps is not a number; expected a number, or nothing; found 2x",
        ),
        ("time,host,tps\n1,a,1,5\n", 2, "does not fit"),
        ("time,host,tps\n,a,2\n", 2, "the time time is missing"),
        ("time,host,tps\n-1,a,2\n", 2, "is out of range"),
        ("time,host,tps\n1,a,inf\n", 2, "not a number"),
        ("time,host,tps\n1,a,1e999\n", 2, "not a number"),
        ('time,host,tps\n1,"a,2\n3,b,4\n', 2, "A quote may be missing"),
        ("", 1, "the heading is missing"),
        ("\n\n", 1, "the heading is missing"),
        ("time,host,tps\n", None, "no row of the table is in the file; expected rows with tps"),
    ],
)
def test_undeclared_content_is_rejected_with_line_number(
    data: str, line: int | None, words: str
) -> None:
    with pytest.raises(FormatError) as caught:
        read(DRIVER, data)
    assert words in str(caught.value)
    assert (caught.value.file, caught.value.line) == (FILE, line)


def test_last_line_without_newline_is_dropped() -> None:
    reading = read(DRIVER, "time,host,tps\n1,a,2\n2,a,3")
    assert rows(reading, "value") == [(2.0,)]
    assert reading.warnings == (
        f"{FILE} line 3: the last line has no newline, may be truncated, and was left out",
    )


TEXTS = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\0", exclude_categories=("Cs",)), max_size=8
)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(TEXTS.filter(str.strip), st.floats(allow_nan=False, allow_infinity=False)),
        min_size=1,
        max_size=8,
    ),
    st.sampled_from(",;|\t"),
)
def test_csv_module_round_trip(written: list[tuple[str, float]], delimiter: str) -> None:
    out = io.StringIO()
    table = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    table.writerow(["n", "who", "x"])
    table.writerows([(place, who, repr(x)) for place, (who, x) in enumerate(written)])
    form = declared(
        f"reads: csv\ndelimiter: {delimiter!r}\ntime: {{field: n}}\nentity: {{kind: e, name: who}}\nfields: [{{field: x}}]".replace(
            "'\\t'", '"\\t"'
        )
    )
    reading = form.read(out.getvalue().encode())
    assert rows(reading, "t", "entity", "value") == [
        (float(p), who, x) for p, (who, x) in enumerate(written)
    ]
    assert reading.lines is not None
    text = out.getvalue().split("\n")
    assert all(
        text[line - 1].startswith(f"{place}{delimiter}") for place, line in enumerate(reading.lines)
    )


def test_many_rows_are_read_in_blocks() -> None:
    n = 45_000
    data = "time,host,tps\n" + "".join(f"{i},h{i % 3},{i * 0.5}\n" for i in range(n))
    reading = read(DRIVER, data)
    assert np.array_equal(reading.records["value"], np.arange(n) * 0.5)
    assert reading.lines is not None and np.array_equal(reading.lines, np.arange(n) + 2)
    assert reading.records["entity"].iloc[-1] == f"h{(n - 1) % 3}"


COUNTS = """
reads: csv
time: {field: t, since: start}
fields:
  - {field: n, per: s, metric: transaction_rate, unit: 1/s, kind: gauge}
"""


def test_interval_counts_become_rates() -> None:
    assert rows(read(COUNTS, "t,s,n\n1.25,1.25,10\n2,0.75,9\n3,0,\n"), "field", "t", "value") == [
        ("n", 1.25, 8.0),
        ("n", 2.0, 12.0),
    ]


@each_case(("length", "found"), [("0", "0"), ("-1", "-1"), ("", "nothing"), ("1e-308", "1e-308")])
def test_interval_of_invalid_length_is_rejected(length: str, found: str) -> None:
    with pytest.raises(
        FormatError, match=rf"line 3: s is 0, below it, or too small.*found {found}"
    ):
        read(COUNTS, f"t,s,n\n1,1,5\n2,{length},70\n")


def test_count_that_may_be_zero_leaves_a_gap_in_the_quotient() -> None:
    text = """
reads: csv
time: {field: t, since: start}
fields:
  - {field: answered}
  - {field: waiting, name: response, per: answered, UNLESS}
"""
    data = "t,answered,waiting\n1,5,1.0\n2,0,2.0\n3,4,1.0\n"
    kept = read(text.replace("UNLESS", 'unless: {answered: "0"}'), data)
    assert rows(kept, "field", "t", "value") == [
        ("answered", 1.0, 5.0),
        ("response", 1.0, 0.2),
        ("answered", 2.0, 0.0),
        ("answered", 3.0, 4.0),
        ("response", 3.0, 0.25),
    ]
    with pytest.raises(FormatError, match=r'leave such rows out: unless: \{answered: "0"\}'):
        read(text.replace(", UNLESS", ""), data)


def test_rate_needs_both_columns() -> None:
    with pytest.raises(FormatError, match=r"no column 's'.*Did you mean 'sec'"):
        read(COUNTS, "t,sec,n\n1,1,5\n")
    with pytest.raises(StudyError, match="per refers to another field in one row"):
        declared("reads: csv\nnames: k\nvalue: v\nfields: [{field: n, per: s}]")


@pytest.mark.parametrize("optional", ["", ", optional: true"])
def test_error_lists_the_columns_found(optional: str) -> None:
    text = f"reads: csv\nnames: k\nvalue: v\nfields: [{{field: memory{optional}}}]"
    with pytest.raises(FormatError) as caught:
        read(text, "k,v\nevents,3\ntime,4\n")
    assert caught.value.found == "events, time"
    assert "memory" in str(caught.value)
    assert "collect the run again" not in str(caught.value)
