"""JSON, JSON lines, YAML and XML: paths, several documents, damage, malicious input."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.core.errors import FormatError
from tests.cases import each_case
from tests.rawperf.declared.declaring import FILE, declared, read, rows

JOBS = """
reads: json
rows: jobs/*
entity: {kind: job, name: name}
fields:
  - {field: read/iops, needs: read/ms}
  - {field: 'lat~1us', optional: true}
"""
DOCUMENT = {
    "jobs": [
        {"name": "a", "read": {"iops": 5.5, "ms": 10}, "lat/us": 7},
        {"name": "b", "read": {"iops": 0, "ms": 0}},
    ]
}


def test_objects_at_a_path_become_rows() -> None:
    text = json.dumps(DOCUMENT, indent=1)
    reading = read(JOBS, text)
    assert rows(reading, "entity", "field", "value") == [
        ("a", "read/iops", 5.5),
        ("a", "lat~1us", 7),
    ]
    lines = text.split("\n")
    assert [lines[line - 1].strip(" ,") for line in reading.lines.tolist()] == [
        '"iops": 5.5',
        '"lat/us": 7',
    ]  # type: ignore[union-attr]


def test_keys_of_an_object_and_the_root_become_rows() -> None:
    text = "reads: json\nrows: '*'\nentity: {kind: e}\ntime: {numbered: true}\nfields: [{field: n}]"
    assert rows(read(text, '{"x": {"n": 1}, "y": {"n": 2}}'), "t", "value") == [(0, 1), (1, 2)]
    assert rows(read("reads: json\nfields: [{field: n}]", '{"n": 3}'), "value") == [(3,)]


def test_leading_text_and_several_documents() -> None:
    one, two = ("note: io\n" + json.dumps({"n": n}) for n in (1, 2))
    form = "reads: json\nfields: [{field: n}]\n"
    assert rows(read(form, one), "value") == [(1,)]
    with pytest.raises(FormatError, match="a second JSON document") as caught:
        read(form, f"{one}\n{two}\n")
    assert caught.value.line == 4
    both = read(form + "documents: last\n", f"{one}\n{two}\n")
    assert rows(both, "value") == [(2,)]
    assert both.lines.tolist() == [4]  # type: ignore[union-attr]
    cut = read(form + "documents: last\n", f'{one}\n{{"n": 2')
    assert rows(cut, "value") == [(1,)]
    assert cut.warnings == (
        f"{FILE} line 3: the JSON document that begins in line 3 is incomplete or damaged and was "
        "left out",
    )


def test_json_lines() -> None:
    form = "reads: json-lines\ntime: {field: t, unit: ms}\nentity: {kind: driver, name: [who, n]}\nfields: [{field: v/x}]"
    data = '{"t": 1500, "who": "a", "n": 1, "v": {"x": 2}}\n\n{"t": 2500, "who": "b", "n": true, "v": {"x": "3"}}\n'
    reading = read(form, data)
    assert rows(reading, "t", "entity", "value") == [(1.5, "a 1", 2), (2.5, "b true", 3)]
    assert reading.lines.tolist() == [1, 3]  # type: ignore[union-attr]
    assert "line 4: the file is truncated" in read(form, data + '{"t": 35').warnings[0]
    with pytest.raises(FormatError, match="not a JSON object") as caught:
        read(form, '{"t": 35\n' + data)
    assert caught.value.line == 1


def test_yaml_documents() -> None:
    form = "reads: yaml\nrows: metrics/*\nentity: {kind: stressor, name: stressor}\nfields: [{field: ops}]"
    reading = read(
        form,
        "---\ninfo: x\nmetrics:\n  - stressor: cpu\n    ops: 5\n  - stressor: vm\n    ops: 6.5\n...\n",
    )
    assert rows(reading, "entity", "value") == [("cpu", 5), ("vm", 6.5)]
    assert reading.lines.tolist() == [5, 7]  # type: ignore[union-attr]
    with pytest.raises(FormatError, match="YAML aliases"):
        read(form, "a: &x [1, 2]\nmetrics: *x\n")


SERIES = """
reads: json
rows: result/*/values
entries: [t, v]
time: {field: t}
entity: {kind: series, name: metric, optional: true}
names: metric/name
unnamed: value
value: v
others: true
"""


def test_label_value_pairs_become_rows_with_entity() -> None:
    text = """{"result": [
{"metric": {"name": "up", "mode": "a\\"b", "cpu": 0, "gone": null},
 "values": [[1, "5"],
            [2,
             "6"]]},
{"metric": {}, "values": [[1, 7]]},
{"metric": {"name": "down"}}
]}"""
    reading = read(SERIES, text)
    labels = r'cpu="0",mode="a\"b"'
    assert rows(reading, "t", "entity", "field", "value") == [
        (1, labels, "up", 5),
        (2, labels, "up", 6),
        (1, "", "value", 7),
    ]
    assert reading.lines.tolist() == [3, 5, 6]  # type: ignore[union-attr]
    swapped = text.replace('"mode": "a\\"b", "cpu": 0', '"cpu": 0, "mode": "a\\"b"')
    assert swapped != text
    assert read(SERIES, swapped).records.equals(reading.records)


def test_entry_values_may_be_objects() -> None:
    form = "reads: json\nrows: s/*/h\nentries: [t, h]\ntime: {field: t}\nfields: [{field: h/n}]"
    reading = read(form, '{"s": [{"h": [[1, {"n": 2}],\n[2, {"m": 0,\n"n": 3}]]}]}')
    assert rows(reading, "t", "value") == [(1, 2), (2, 3)]
    assert reading.lines.tolist() == [1, 3]  # type: ignore[union-attr]


def test_number_in_a_path_is_a_list_index() -> None:
    form = "reads: json\nrows: s/1/*\ntime: {field: at/0}\nfields: [{field: at/1}]"
    reading = read(form, '{"s": [[{"at": [5, 6]}], [{"at": [7,\n8]}]]}')
    assert rows(reading, "t", "value") == [(7, 8)]
    assert reading.lines.tolist() == [2]  # type: ignore[union-attr]
    with pytest.raises(FormatError, match="'at/2' is missing"):
        read(form.replace("at/1", "at/2"), '{"s": [[], [{"at": [5, 6]}]]}')


def test_entries_of_several_one_line_documents() -> None:
    form = SERIES.replace("json", "json-lines").replace("result/*/values", "values")
    reading = read(
        form, '{"metric": {"c": 1}, "values": [[1, 2]]}\n{"metric": {"c": 2}, "values": [[1, 3]]}\n'
    )
    assert rows(reading, "entity", "value") == [('c="1"', 2), ('c="2"', 3)]
    assert reading.lines.tolist() == [1, 2]  # type: ignore[union-attr]


XML = "reads: xml\nrows: [results/a, results/group/a]\ntime: {field: ts, unit: ms, plus: d}\nentity: {kind: driver, name: who}\nfields: [{field: d}, {field: size, optional: true}]\n"


def test_xml_elements_attributes_and_child_texts() -> None:
    data = (
        '<?xml version="1.0"?>\n<results v="1"><a ts="1000" d="5" who="w">\n <a ts="9" d="9" who="inner"/><size> 7 </size></a>\n'
        '<group><a ts="2000" d="6" who="v"/></group><other/></results>\n'
    )
    reading = read(XML, data)
    assert rows(reading, "t", "entity", "field", "value") == [
        (1.005, "w", "d", 5),
        (1.005, "w", "size", 7),
        (2.006, "v", "d", 6),
    ]
    assert reading.lines.tolist() == [2, 2, 4]  # type: ignore[union-attr]


@each_case(
    ("form", "data", "words"),
    [
        (JOBS, '{"jobs": [5]}', "a row is not an object; expected an object at jobs/*; found 5"),
        (JOBS, '{"job": []}', "the path of the rows matches nothing; expected jobs/*"),
        (
            JOBS,
            '{"jobs": [{"name": "a", "read": {"iop": 1, "ms": 1}}]}',
            "'read/iops' is missing from the file. Did you mean 'read/iop'",
        ),
        (
            JOBS,
            '{"jobs": [{"name": "a", "read": {"iops": [1], "ms": 1}}]}',
            "'read/iops' is missing",
        ),
        (
            JOBS,
            '{"jobs": [{"name": "a", "read": {"iops": true, "ms": 1}}]}',
            "read/iops is not a number",
        ),
        (
            JOBS,
            '{"jobs": [\n{"name": "NaN", "read": {"iops": NaN, "ms": 1}}]}',
            "line 2: invalid JSON; found NaN is not a finite number",
        ),
        (
            JOBS,
            '{"jobs": [\n{"name": "a", "read": {"iops": 1,\n "ms": -1e400}}]}',
            "line 3: invalid JSON; found -1e400 is not a finite number",
        ),
        (
            JOBS,
            '{"jobs": [{"name": "a", "read": {"iops": 1' + "0" * 400 + ', "ms": 1}}]}',
            "float64",
        ),
        (JOBS, "[" * 5000, "nested too deeply"),
        (JOBS, "no document", "no JSON document"),
        (
            SERIES,
            '{"result": [{"metric": {}, "values": [[1, 2], [1, 2, 3]]}]}',
            "line 1: an entry is not a pair; expected [key, value] in a list of entries; found [1, 2, 3]",
        ),
        (SERIES, '{"result": [{"metric": {}, "values": [5]}]}', "an entry is not a pair"),
        (SERIES, '{"result": [{"metric": {}, "values": [[1, "x"]]}]}', "value is not a number"),
        (SERIES, '{"result": [{"metric": {}, "values": [[[1], 2]]}]}', "the time t is missing"),
        (
            SERIES,
            '{"result": [{"metric": {"a": [1]}, "values": [[1, 2]]}]}',
            "a of metric, which names an entity, is neither text nor a number",
        ),
        (
            XML,
            '<!DOCTYPE x [<!ENTITY e "1">]><results/>',
            "document types and entity declarations are not allowed",
        ),
        (XML, "<other/>", "wrong root element"),
        (
            XML,
            '<results><a ts="1" d="x" who="w"/></results>',
            "d, which is added to the time ts, is not a number",
        ),
        (XML, '<results><a d="1" who="w"/></results>', "the time ts is missing"),
    ],
)
def test_invalid_documents_are_rejected(form: str, data: str, words: str) -> None:
    with pytest.raises(FormatError) as caught:
        read(form, data)
    assert words in str(caught.value)
    assert caught.value.file == FILE


def test_truncated_document_keeps_complete_elements() -> None:
    reading = read(XML, '<results><a ts="1" d="1" who="w"/>\n<a ts="2" d="2" who="w"/><a ts="3')
    assert rows(reading, "field", "value") == [("d", 1), ("d", 2)]
    assert f"{FILE} line 2: the document is truncated" in reading.warnings[0]


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), VALUES), min_size=1, max_size=4
    ),
    st.sampled_from([None, 1]),
)
def test_number_is_found_among_any_siblings(
    written: list[tuple[float, object]], indent: int | None
) -> None:
    text = json.dumps(
        {"rows": [{"junk": junk, "n": n, "more": junk} for n, junk in written]}, indent=indent
    )
    reading = declared(
        "reads: json\nrows: rows/*\ntime: {numbered: true}\nfields: [{field: n}]"
    ).read(text.encode())
    assert reading.records["value"].tolist() == [n for n, _ in written]
    lines = text.split("\n")
    assert all(
        repr(n) in lines[line - 1] for (n, _), line in zip(written, reading.lines, strict=True)
    )  # type: ignore[arg-type]


AROUND = """
reads: json
rows: value/*/series/*/data/*
time: {field: t, since: start}
entity: {kind: series, name: [../../name, ../labels/0/value], optional: true}
fields: [{field: n, where: {../../unit: "%"}}, {field: m, optional: true}]
"""


def test_row_may_use_fields_of_its_parent() -> None:
    document = {
        "value": [
            {
                "name": "cpu",
                "unit": "%",
                "series": [
                    {
                        "labels": [{"value": "a"}],
                        "data": [{"t": 0, "n": 1}, {"t": 1, "n": 2, "m": 5}],
                    },
                    {"labels": [], "data": [{"t": 0, "n": 3}]},
                ],
            },
            {"name": "disk", "unit": "B", "series": [{"data": [{"t": 0, "n": 4}]}]},
        ]
    }
    text = json.dumps(document, indent=1)
    reading = read(AROUND, text)
    assert rows(reading, "entity", "field", "value") == [
        ("cpu a", "n", 1),
        ("cpu a", "n", 2),
        ("cpu a", "m", 5),
        ("cpu", "n", 3),
    ]
    printed = text.split("\n")
    assert [printed[line - 1].strip(" ,") for line in reading.lines.tolist()] == [  # type: ignore[union-attr]
        '"n": 1',
        '"n": 2',
        '"m": 5',
        '"n": 3',
    ]


def test_parent_of_the_root_is_rejected() -> None:
    with pytest.raises(FormatError, match=r"'\.\./name' is missing from the file"):
        read("reads: json\nentity: {kind: e, name: ../name}\nfields: [{field: n}]", '{"n": 1}')
    form = "reads: json-lines\nrows: a/*\nentity: {kind: e, name: ../who}\nfields: [{field: n}]"
    reading = read(form, '{"who": "x", "a": [{"n": 1}]}\n{"who": "y", "a": [{"n": 2}]}\n')
    assert rows(reading, "entity", "value") == [("x", 1), ("y", 2)]
    assert reading.lines.tolist() == [1, 2]  # type: ignore[union-attr]
