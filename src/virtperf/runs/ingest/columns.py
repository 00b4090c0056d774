"""Columns of numbers of a table, by one rule for all commands that read tables, and the lines of its
rows.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.errors import VirtperfError
from rawperf.tidy import file_bytes
from virtperf.core.mean import MAX_NUMBER

DELIMITED = (".csv", ".tsv")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
EMPTY = ("", "-")
TRUTH = ("True", "False")


def number_columns(frame: pd.DataFrame, file: str) -> dict[str, pd.Series]:
    """The columns of numbers, by name: as float, NaN where a cell is empty.

    Columns of texts, of truth values and of times are left out, and those that are empty.

    Raises
    ------
    VirtperfError
        A column that is mostly numbers has a cell that is none, or a number that is not finite or
        beyond `core.mean.MAX_NUMBER`; with the line.
    """
    return {
        str(name): numbers_of(column, str(name), file)
        for name, column in frame.items()
        if _mostly_numbers(column)
    }


def numbers_of(column: pd.Series, name: str, file: str) -> pd.Series:
    """A column as float, NaN where a cell is empty.

    Raises
    ------
    VirtperfError
        A cell that is neither empty nor a finite number of at most `MAX_NUMBER`; with the line.
    """
    values, text = _parsed(column), column.astype(str).str.strip()
    empty = column.isna() | text.isin(EMPTY)
    bad = (values.isna() & ~empty) | text.isin(TRUTH) | ~(values.abs().fillna(0) <= MAX_NUMBER)
    if not bad.any():
        return values
    at = int(np.argmax(bad))
    place, found = column.index[at], text.iloc[at]
    large = bool(np.isfinite(values.iloc[at])) and found not in TRUTH
    line, where = row_place(place, file)
    raise VirtperfError(
        f"column {name!r} holds "
        + ("a number that is too large" if large else "something that is no finite number")
        + where,
        file=file,
        line=line,
        expected=f"numbers of at most {MAX_NUMBER:g}"
        if large
        else "one number a row, or an empty cell",
        found=repr(found),
        remedy=_without_comma(found) or "correct the cell, or leave it empty",
    )


def first_text(column: pd.Series) -> pd.Series:
    """The first cell of a column that is neither empty nor a number; no cell where there is none."""
    filled = column[column.notna()]
    return filled[_parsed(filled).isna() & ~filled.astype(str).str.strip().isin(EMPTY)].head(1)


def row_place(place: Any, file: str) -> tuple[int | None, str]:
    """The line of a row, from 1, and "" ; for files without lines None, and ``" in row 3"``."""
    lines = row_lines(file)
    if int(place) < len(lines):
        return lines[int(place)], ""
    return None, f" in row {int(place) + 1}"


def row_lines(file: str) -> list[int]:
    """The line on which each row of a delimited text begins, from 1; none for other files."""
    if Path(file).suffix.lower() not in DELIMITED:
        return []
    reader = csv.reader(io.StringIO(file_bytes(file).decode("utf-8", "replace")))
    found, first = [], 1
    for cells in reader:
        if cells:
            found.append(first)
        first = reader.line_num + 1
    return found[1:]  # the first has the names of the columns


def _mostly_numbers(column: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(column):
        return False
    if pd.api.types.is_numeric_dtype(column):
        return bool(column.notna().any())
    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return False
    text = column.astype(str).str.strip()
    filled = column.notna() & ~text.isin(EMPTY)
    # numbers of another notation too: left out as texts they would be missed without a word
    meant = _parsed(column).notna() | text.str.fullmatch(THOUSANDS.pattern)
    meant |= text.str.fullmatch(DECIMAL_COMMA.pattern)
    return bool(2 * (meant & filled & ~text.isin(TRUTH)).sum() > filled.sum())


def _parsed(column: pd.Series) -> pd.Series:
    """The numbers of a column, NaN for any other cell."""
    try:
        return pd.to_numeric(column, errors="coerce").astype(float)
    except OverflowError:  # a whole number of Python's beyond the range of floats
        return pd.to_numeric(column.astype(str), errors="coerce").astype(float)


def _without_comma(found: str) -> str | None:
    """What to write in place of a number with a comma."""
    if THOUSANDS.fullmatch(found) and (found.count(",") > 1 or "." in found):
        return f"write {found.replace(',', '')!r}, without commas between thousands"
    if "," in found and "." not in found:
        return "write a point for the decimal comma"
    return None
