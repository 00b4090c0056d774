"""`each_case`: a table of cases as one test fails if any case fails, and reports each of them."""

from __future__ import annotations

import pytest

from tests.cases import each_case


def test_all_cases_run_and_failures_are_reported():
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


def test_single_failure_keeps_its_exception():
    @each_case("number", range(3))
    def small(number: int) -> None:
        assert number < 2

    with pytest.raises(AssertionError) as caught:
        small()
    assert caught.value.__notes__ == ["case: number=2"]


def test_stacked_tables_are_combined():
    seen = []

    @each_case("a", [1, 2])
    @each_case(("b", "c"), [(3, 4), (5, 6)])
    def keep(a: int, b: int, c: int) -> None:
        seen.append((a, b, c))

    keep()
    assert seen == [(1, 3, 4), (1, 5, 6), (2, 3, 4), (2, 5, 6)]


def test_invalid_table_is_rejected():
    for rows in ([], [(1, 2), (3,)]):
        with pytest.raises(ValueError, match="expected rows of 2 values"):
            each_case("a, b", rows)
    with pytest.raises(TypeError, match="shares \\['tmp_path'\\]"):

        @each_case("a", [1])
        def test(a: int, tmp_path: object) -> None: ...


@each_case("number", [1, 2])
@pytest.mark.parametrize("other", [3, 4])
def test_pytest_gets_the_remaining_arguments(number: int, other: int, root: object) -> None:
    assert number < other and root is not None
