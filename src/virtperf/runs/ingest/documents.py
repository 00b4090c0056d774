"""Rows of JSON documents: lists of objects, objects of numbers, and an object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from rawperf.core.errors import RawperfError
from rawperf.core.number_text import MAX_NUMBER
from rawperf.json_lines import NotFiniteError, loads_strict
from rawperf.results.names import parse_unit, to_base
from virtperf.core.numbers import join_names

RECORDS = "records"
"""Member of the output of `virtperf read` that has its rows."""
ROW_NAME = re.compile(
    r"(?i)(?:.*[_/ ])?(?:name|full_?name|benchmark|test|label|case|title|command|scenario|operation|"
    r"function|workload|method|request|transaction|id)"
)
"""Members that name a row: other texts, such as times, may differ too."""
LEFT_OUT = "left_out"
"""Key of `DataFrame.attrs` with a sentence on what of the document is no cell."""
MAX_EXACT = 2**53
"""Largest integer that is converted to float without rounding."""
NO_ROWS_REMEDY = (
    "write the results to a CSV file with a row of names, or declare their place, see "
    "docs/formats/declared.md"
)


class TableError(RawperfError):
    """Invalid table; the name of its file is added by the reader."""


NUMBER = re.compile(r"[+-]?\d+(\.\d+)?([eE][+-]?\d+)?")
"""A number that a document writes as a text."""


def document_rows(data: bytes) -> pd.DataFrame:
    """Read the rows of a JSON document; `attrs` has a sentence on what is left out (`LEFT_OUT`).

    The rows are those of a list of objects, of such a list under ``records`` (the output of
    `virtperf read`), or of the only list of an object whose objects have different names (`ROW_NAME`).
    Any other object is one row. Members of an object within a row are columns of their own,
    ``latency/p99``; lists within a row are left out.

    Raises
    ------
    TableError
        Several lists of named objects, no number outside of lists, or a number that is not finite.
    ValueError
        Not a JSON document, or neither an object nor a list of objects.
    """
    content = parse_json(data.decode(json.detect_encoding(data)))
    beside: list[str] = []
    rows = content
    if isinstance(content, dict):
        rows = content.get(RECORDS)
        if not _are_objects(rows):
            rows, beside = _rows_of_object(content)
    if not _are_objects(rows) and rows != []:
        raise ValueError("the JSON document is neither an object nor a list of objects")
    return _frame(rows, beside)


def line_rows(data: bytes) -> pd.DataFrame:
    """Read a JSON object a line as rows, as `document_rows` does; raises `TableError`, `ValueError`."""
    rows = []
    for number, line in enumerate(data.decode("utf-8-sig").split("\n")):
        if line.strip():
            row = parse_json(line, number)
            if not isinstance(row, dict):
                raise TableError("the line is not an object", line=number + 1)
            rows.append(row)
    return _frame(rows, [])


def parse_json(text: str, lines_before: int = 0) -> Any:
    """Parse JSON with NaN for missing values; raises `TableError` at other numbers that are not
    finite, and `ValueError` for a text that is not JSON or nested too deeply.
    """
    try:
        return loads_strict(text, nan=True)
    except NotFiniteError as err:
        raise TableError(
            err.msg, line=lines_before + err.lineno, expected="finite numbers, or null"
        ) from None
    except RecursionError:
        raise ValueError("the JSON document is nested too deeply") from None


def _rows_of_object(content: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Rows of an object: those of its only list of named objects, else the object itself; also the
    names of the numbers beside such a list.
    """
    cells = _cells(content)
    named = [name for name, value in cells.items() if _are_objects(value) and _are_named(value)]
    if len(named) > 1:
        raise TableError(
            "the JSON document has several lists of rows",
            expected="one list of objects with names",
            found=", ".join(named),
            remedy="write the list to compare to a file of its own: jq .NAME FILE",
        )
    if named:
        beside = [name for name, value in cells.items() if is_number(value)]
        return cells[named[0]], beside
    if not any(
        is_number(x) or (isinstance(x, str) and NUMBER.fullmatch(x)) for x in cells.values()
    ):
        lists = ", ".join(name for name, value in cells.items() if isinstance(value, list))
        raise TableError(
            "the JSON document has no rows",
            expected="numbers outside of lists, or one list of objects with different names",
            found=f"lists: {lists}" if lists else "no number",
            remedy=NO_ROWS_REMEDY,
        )
    return [content], []


def _frame(rows: Sequence[Mapping[str, Any]], beside: Sequence[str]) -> pd.DataFrame:
    flat = [_cells(row) for row in rows]
    lists = dict.fromkeys(
        name for row in flat for name, value in row.items() if isinstance(value, list)
    )
    if lists and not any(is_number(value) for row in flat for value in row.values()):
        raise TableError(
            "the rows have no numbers outside of lists",
            expected="a number beside the name of a row",
            found=f"lists: {join_names(list(lists))}",
            remedy=NO_ROWS_REMEDY,
        )
    frame = pd.DataFrame(
        [{name: value for name, value in row.items() if name not in lists} for row in flat]
    )
    sentences = [
        f"left out: {join_names(names)} ({why})"
        for names, why in ((list(lists), "lists within a row"), (beside, "beside the list of rows"))
        if names
    ]
    frame.attrs[LEFT_OUT] = tuple(sentences)
    return frame


def _cells(row: Mapping[str, Any]) -> dict[str, Any]:
    """Members of an object, with the path of those of objects within it."""
    cells: dict[str, Any] = {}
    stack: list[tuple[str, Any]] = [*row.items()][::-1]
    while stack:
        name, value = stack.pop()
        if isinstance(value, dict) and (unit := _unit_beside(value)):
            base, factor = to_base(unit)
            others = {key: of for key, of in value.items() if key not in ("value", "unit")}
            stack += [(f"{name}/{inner}", of) for inner, of in [*others.items()][::-1]]
            stack.append((f"{name} ({base})", value["value"] * factor))
        elif isinstance(value, dict):
            stack += [(f"{name}/{inner}", of) for inner, of in [*value.items()][::-1]]
        elif name in cells:
            raise TableError(f"two members have the path {name!r}", remedy="rename one of them")
        else:
            is_long = isinstance(value, int) and MAX_EXACT < abs(value) < MAX_NUMBER
            cells[name] = float(value) if is_long else value  # too long for a column of integers
    return cells


def _unit_beside(value: Mapping[str, Any]) -> str:
    """Known unit of an object of a number and its unit: ``{"value": 1.5, "unit": "ms"}``."""
    unit = value.get("unit")
    is_pair = is_number(value.get("value")) and isinstance(unit, str)
    return parse_unit(unit) if is_pair and unit else ""


def _are_objects(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)


def _are_named(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the objects have a text that names them, which differs between all of them."""
    flat = [_cells(row) for row in rows]
    for name in flat[0]:
        texts = {row[name] for row in flat if isinstance(row.get(name), str)}
        if ROW_NAME.fullmatch(name) and len(texts) == len(flat):
            return True
    return False


def is_number(value: object) -> bool:
    """Whether a value of a JSON document is a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)
