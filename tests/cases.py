"""A table of cases as one test: every case runs, and each failing one is reported with its arguments.

`pytest.mark.parametrize` creates a test with its own fixtures per row, which is slow for rows that are one function
call. Slow rows, and rows that need their own folder or process, stay separate tests.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest

OF_ONE_TEST = {"capfd", "caplog", "capsys", "monkeypatch", "recwarn", "request", "tmp_path"}
"""Fixtures with state that one case would pass on to the next."""

Test = Callable[..., None]


def each_case(names: str | Sequence[str], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Call a test with each row of a table.

    Parameters
    ----------
    names : str or sequence of str
        Names of arguments, as `pytest.mark.parametrize` takes them.
    rows : iterable
        Values of one argument, or tuples of the values of several.

    Returns
    -------
    callable
        A decorator. The test that it makes fails if any case does: with the case's own error where one fails, with a group
        of all errors where several do.

    Raises
    ------
    TypeError
        For a test that uses a fixture in which a case would find what the one before it left.
    ValueError
        For a table without rows, or a row of another length.
    """
    arguments = [name.strip() for name in names.split(",")] if isinstance(names, str) else [*names]
    table = [tuple(row) if len(arguments) > 1 else (row,) for row in rows]
    if not table or {len(row) for row in table} != {len(arguments)}:
        raise ValueError(f"expected rows of {len(arguments)} values for {arguments}: {table[:3]}")

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        kept = [p for name, p in signature.parameters.items() if name not in arguments]
        if shared := OF_ONE_TEST & {p.name for p in kept}:
            raise TypeError(f"{test.__name__} shares {sorted(shared)} between cases")

        @functools.wraps(test)
        def every_case(**fixtures: Any) -> None:
            failures: list[BaseException] = []
            for row in table:
                case = dict(zip(arguments, row, strict=True))
                try:
                    test(**case, **fixtures)
                except (Exception, pytest.fail.Exception) as error:
                    error.add_note("case: " + ", ".join(f"{k}={v!r:.200}" for k, v in case.items()))
                    failures.append(error)
            if len(failures) == 1:
                raise failures[0]
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} cases fail", failures)

        every_case.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return every_case

    return decorate
