"""A table of cases that is one test fails if any of its cases does, and names each that does."""

from __future__ import annotations

import pytest

from tests.cases import each_case


def test_every_case_is_tried_and_those_that_fail_are_named():
    tried = []

    @each_case("number, word", [(1, "a"), (2, "b"), (3, "c")])
    def odd(number: int, word: str, root: str) -> None:
        tried.append(f"{word}{root}")
        assert number == 2
        pytest.fail(word)

    with pytest.raises(BaseExceptionGroup, match="3 of 3 cases fail") as caught:
        odd(root="!")
    assert tried == ["a!", "b!", "c!"]
    notes = [error.__notes__[0] for error in caught.value.exceptions]
    assert notes == [f"case: number={n}, word='{w}'" for n, w in ((1, "a"), (2, "b"), (3, "c"))]


def test_a_case_that_fails_alone_fails_with_its_own_error():
    @each_case("number", range(3))
    def small(number: int) -> None:
        assert number < 2

    with pytest.raises(AssertionError) as caught:
        small()
    assert caught.value.__notes__ == ["case: number=2"]


def test_tables_stand_upon_each_other():
    seen = []

    @each_case("a", [1, 2])
    @each_case(("b", "c"), [(3, 4), (5, 6)])
    def keep(a: int, b: int, c: int) -> None:
        seen.append((a, b, c))

    keep()
    assert seen == [(1, 3, 4), (1, 5, 6), (2, 3, 4), (2, 5, 6)]


def test_what_is_no_table_is_refused():
    for rows in ([], [(1, 2), (3,)]):
        with pytest.raises(ValueError, match="expected rows of 2 values"):
            each_case("a, b", rows)
    with pytest.raises(TypeError, match="shares \\['tmp_path'\\]"):

        @each_case("a", [1])
        def test(a: int, tmp_path: object) -> None: ...


@each_case("number", [1, 2])
@pytest.mark.parametrize("other", [3, 4])
def test_pytest_sees_the_arguments_that_are_left(number: int, other: int, root: object) -> None:
    assert number < other and root is not None
