"""Key-value files, and lines matched by regular expressions."""

from __future__ import annotations

import json

import pytest

from rawperf.core.errors import FormatError, StudyError
from tests.cases import each_case
from tests.rawperf.declared.declaring import FILE, declared, read, rows
from tests.rawperf.trial import bounded

MEMORY = "reads: pairs\nprinted: {kB: KiB}\nfields: [{field: Free, unit: KiB}]\n"
RESULT = r"""
reads: lines
lines:
  - 'run (?P<run>\w+): (?P<ops>[\d.]+) ops(?:, (?P<errors>\d+) errors)?'
entity: {kind: driver, name: run}
fields: [{field: ops}, {field: errors, optional: true}]
"""


@each_case(
    ("options", "data"),
    [
        ("", "Total: 9 kB\nFree:   5 kB\n"),
        ("separator: '='\n", "Total=9 kB\nFree = 5 kB\n"),
        ("separator: blank\n", "Total 9 kB\nFree\t5 kB\n"),
    ],
)
def test_keys_and_values(options: str, data: str) -> None:
    reading = read(MEMORY + options, data)
    assert rows(reading, "field", "value") == [("Free", 5.0)]
    assert (reading.clock, reading.lines.tolist()) == ("none", [2])  # type: ignore[union-attr]


def test_snapshots_with_time_headings() -> None:
    text = MEMORY + "time: {line: '(?P<time>.*T.*)', format: iso}\nothers: true\n"
    data = "2026-11-22T10:00:00\nFree: 5 kB\nHuge: 2\n2026-11-22T10:00:10\nFree: 6 kB\nHuge: 2\n"
    reading = read(text, data)
    first = 1795341600.0
    assert rows(reading, "field", "t", "value") == [
        ("Free", first, 5),
        ("Huge", first, 2),
        ("Free", first + 10, 6),
        ("Huge", first + 10, 2),
    ]
    assert reading.lines.tolist() == [2, 3, 5, 6]  # type: ignore[union-attr]
    with pytest.raises(FormatError, match="the time is missing"):
        read(text, "Free: 5 kB\n" + data)
    with pytest.raises(FormatError, match="does not match the format iso") as caught:
        read(text, data.replace("10:00:10", "10:00:99"))
    assert caught.value.line == 4


def test_first_wrong_snapshot_is_reported() -> None:
    text = MEMORY + "time: {line: '(?P<time>[0-9]+)'}\nothers: true\n"
    with pytest.raises(FormatError, match="Huge is not a number") as caught:
        read(text, "7\nFree: 5 kB\nHuge: x\n8\nFree: x\nHuge: 2\n")
    assert caught.value.line == 3


def test_times_are_required_in_all_snapshots_or_none() -> None:
    text = MEMORY + "time: {line: '(?P<time>[0-9]+)', optional: true}\n"
    assert read(text, "Free: 5 kB\n").clock == "none"
    assert read(text, "7\nFree: 5 kB\n").clock == "absolute"
    with pytest.raises(FormatError, match="only part of the file has times"):
        read(text, "Free: 5 kB\n7\nFree: 6 kB\n")


@each_case(
    ("data", "line", "words"),
    [
        ("Free: 5 kB\nFree: 6 kB\n", 2, "'Free' is given twice"),
        ("Free: 5 MB\n", 1, "found 5 MB"),
        ("Free: 5\n", 1, "expected a number and one of 'kB'"),
        ("Freee: 5 kB\n", None, "'Free' is missing from the file. Did you mean 'Freee'?"),
        (
            "Huge: 5 kB\n",
            None,
            "'Free' is missing from the file. Another version or option of the tool may not print it",
        ),
        ("Free 5 kB\n", 1, "expected a key, : and a value"),
        ("Free: x kB\n", 1, "not a number"),
        ("", None, "expected rows with Free"),
    ],
)
def test_invalid_pairs_are_rejected(data: str, line: int | None, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(MEMORY, data)
    assert words in str(caught.value)
    assert (caught.value.file, caught.value.line) == (FILE, line)


def test_expressions_match_whole_lines() -> None:
    reading = read(RESULT, "hello\nrun a: 5 ops\nrun b: 6.5 ops, 2 errors\nrun c: 7 ops!\n")
    assert rows(reading, "entity", "field", "value") == [
        ("a", "ops", 5),
        ("b", "ops", 6.5),
        ("b", "errors", 2),
    ]
    assert reading.info == {}
    assert reading.warnings == (
        f"{FILE} line 1: a line that no expression of own matches was left out: 'hello' (and 1 more)",
    )
    ignored = read(RESULT + "ignore: ['hello']\n", "hello\nrun a: 5 ops\n\nrun a: - ops\n")
    assert ignored.warnings == (
        f"{FILE} line 4: a line that no expression of own matches was left out: 'run a: - ops'",
    )


def test_strict_declaration_rejects_other_lines() -> None:
    text = RESULT + "strict: true\nignore: ['hello.*']\ncomment: '#'\n"
    assert len(read(text, "# made by\nhello you\n\nrun a: 5 ops\n").records) == 1
    with pytest.raises(FormatError, match="not a line of own") as caught:
        read(text, "hello\nrun a: 5 ops\nrun c: 7 ops!\n")
    assert caught.value.line == 3


def test_untimed_results_need_distinct_entities() -> None:
    reading = read(RESULT, "run a: 5 ops\nrun a: 6 ops\nrun b: 7 ops\n")
    assert rows(reading, "entity", "value") == [("a", 5), ("a#2", 6), ("b", 7)]
    unnamed = RESULT.replace("entity: {kind: driver, name: run}\n", "")
    with pytest.raises(FormatError, match="ops is given twice") as caught:
        read(unnamed, "run a: 5 ops\nrun a: 6 ops\n")
    assert caught.value.line == 2


def test_same_field_under_different_conditions() -> None:
    text = r"""
    reads: lines
    lines: '(?P<way>read|write) (?P<n>\d+) (?P<unit>ms|s)'
    fields:
      - {field: n, name: read time, where: {way: read}, unit: ms}
      - {field: n, name: write time, where: {way: write}, unit: ms}
    """
    assert rows(read(text, "read 5 ms\nwrite 6 ms\n"), "field", "value") == [
        ("read time", 5),
        ("write time", 6),
    ]


def test_lines_of_several_forms_keep_file_order() -> None:
    text = r"""
    reads: lines
    lines: ['(?P<at>[\d:]+) rate (?P<rate>\d+)', '(?P<at>[\d:]+) errors (?P<errors>\d+)']
    fields: [{field: rate}, {field: errors}]
    """
    data = "".join(
        f"{at} rate {n}\n{at} errors {n + 10}\n"
        for n, at in enumerate(("23:59:50", "00:00:00", "00:00:10"))
    )
    of_day = read(text.rstrip() + "\n    time: {field: at, format: '%H:%M:%S'}", data)
    want = [
        ("rate", 86390, 0),
        ("errors", 86390, 10),
        ("rate", 86400, 1),
        ("errors", 86400, 11),
        ("rate", 86410, 2),
        ("errors", 86410, 12),
    ]
    assert rows(of_day, "field", "t", "value") == want
    numbered = read(text.rstrip() + "\n    time: {interval_s: 5}", data)
    assert rows(numbered, "field", "t") == [
        (f, 5.0 * k) for k in range(3) for f in ("rate", "errors")
    ]


def test_numbers_with_units_and_durations() -> None:
    text = r"""
    reads: lines
    lines: ['lat (?P<lat>\S+)', 'run (?P<run>\S+)', 'size (?P<size>.+)']
    fields:
      - {field: lat, unit: s, printed: {us: us, ms: ms, s: s}}
      - {field: run, printed: duration}
      - {field: size, printed: {k: 1000, M: 1.0e+6, "": 1}}
    """
    for lat, run, size, want in (
        ("2.5ms", "1:02:03.5", "1.5k", (0.0025, 3723.5, 1500)),
        ("12us", "2-00:00:01", "3 M", (12e-6, 172801, 3e6)),
        ("1s", "5:00", "7", (1, 300, 7)),
    ):
        reading = read(text, f"lat {lat}\nrun {run}\nsize {size}\n")
        assert reading.records["value"].tolist() == pytest.approx(want, rel=1e-15)
    for bad in ("lat 2.5h", "lat ms", "lat 1.2.3ms"):
        with pytest.raises(FormatError, match="lat is not a number"):
            read(text, f"{bad}\nrun 5:00\nsize 7\n")


def test_entity_comes_from_the_file_name() -> None:
    text = "reads: pairs\nentity: {kind: resource, file: 'load-(?P<name>[a-z]+)[.].*'}\nfields: [{field: n}]"
    assert rows(read(text, "n: 5\n", "x/load-cpu.txt"), "entity") == [("cpu",)]
    with pytest.raises(
        FormatError, match="neither the file nor its name gives the entity"
    ) as caught:
        read(text, "n: 5\n", "x/other.txt")
    assert "Rename the file" in str(caught.value)


def test_patterns_end_and_are_bounded() -> None:
    line = "a" * 50_000 + "!"
    form = declared(
        "reads: lines\nlines: '(?P<x>(?:a|aa|a*a)*)b'\nfields: [{field: x, optional: true}]"
    )
    with bounded(), pytest.raises(FormatError, match="no value in the file"):
        form.read(f"{line}\n".encode())
    with pytest.raises(FormatError, match="the line is too long"):
        form.read(b"a" * 100_001 + b"\n")
    for pattern in (
        r"(?P<a>x)\1",
        "(?P<a>x)(?=y)",
        "(?P<a>x{2000})",
        "(?P<a>x)(y)",
        "(?P<a>x",
        "(?P<a>" + "x" * 1000 + ")",
    ):
        with pytest.raises(StudyError):
            declared(
                json.dumps(
                    {"name": "own", "reads": "lines", "lines": pattern, "fields": [{"field": "a"}]}
                )
            )


@pytest.mark.parametrize("option", ["needs", "plus", "per", "where"])
def test_field_that_refers_to_a_group_of_another_line_is_refused(option: str) -> None:
    value = "{completed: '5'}" if option == "where" else "completed"
    text = rf"""
        reads: lines
        lines: ['completed: (?P<completed>\d+)', 'latency: (?P<avg>\S+) s']
        fields: [{{field: completed}}, {{field: avg, {option}: {value}}}]
        """
    with pytest.raises(
        StudyError, match="'avg' refers to 'completed', which is a group of another"
    ):
        declared(text)


def test_default_of_printed_may_have_several_units() -> None:
    text = """
        reads: lines
        lines: 'r (?P<a>.*)'
        printed: {K/s: KiB/s, M/s: MiB/s}
        fields: [{field: a, unit: KiB/s}]
        """
    assert rows(read(text, "r 3 K/s\n"), "value") == [(3.0,)]
    assert rows(read(text, "r 1 M/s\n"), "value") == [(1024.0,)]
