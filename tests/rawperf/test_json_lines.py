"""Lines of the values of a JSON document."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.json_lines import first_line, loads_strict, parse_with_lines
from tests.cases import each_case


def test_every_value_has_its_line_number() -> None:
    text = (
        '{"a":\n 1,\n"b": [true, "x\\"1",\nnull, {"1": -2.5e-3}], "c"\n:\n{}, "d": NaN, "a": 7\n}'
    )
    document, lines = parse_with_lines(text, json.loads)
    assert document["b"] == [True, 'x"1', None, {"1": -0.0025}]
    assert lines == {
        "a": 6,
        "b": [3, 3, 4, {"1": 4}],
        "c": {},
        "d": 6,
    }  # the last duplicate key wins


def test_invalid_document_raises_the_parser_error() -> None:
    with pytest.raises(json.JSONDecodeError):
        parse_with_lines('{"a": 1', json.loads)


@each_case("number", ["NaN", "-Infinity", "1e400", "-2.5E+999"])
def test_a_number_that_is_not_finite_is_rejected_at_its_place(number: str) -> None:
    text = f'{{"a": "{number}", "{number}": 1e300,\n"b": [0, {number}]}}'
    with pytest.raises(json.JSONDecodeError) as caught:
        loads_strict(text)
    assert caught.value.msg == f"{number} is not a finite number"
    assert (caught.value.lineno, caught.value.colno) == (2, 10)


def test_first_line_of_a_part() -> None:
    assert first_line({"a": [], "b": {"c": [{}, 4]}, "d": 3}) == 4
    assert first_line([{}, []]) is None
    assert first_line(2) == 2


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None, derandomize=True)
@given(VALUES, st.booleans())
def test_line_numbers_mirror_the_document_structure(value: object, ascii_only: bool) -> None:
    text = json.dumps(value, indent=1, ensure_ascii=ascii_only)
    _, lines = parse_with_lines(text, json.loads)

    def check(part: object, at: object) -> None:
        if isinstance(part, dict):
            assert isinstance(at, dict) and list(part) == list(at)
            for key in part:
                check(part[key], at[key])
        elif isinstance(part, list):
            assert isinstance(at, list) and len(part) == len(at)
            for one, place in zip(part, at, strict=True):
                check(one, place)
        else:
            assert json.dumps(part, ensure_ascii=ascii_only) in text.split("\n")[at - 1]

    check(value, lines)
