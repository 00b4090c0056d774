"""Numeric columns of tables, by one rule for all commands that read tables, and line numbers of
their rows.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from itertools import islice, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.errors import RawperfError
from rawperf.core.number_text import MAX_NUMBER
from rawperf.results.names import parse_unit, split_unit, to_base
from rawperf.tidy import read_bytes

DELIMITED = (".csv", ".tsv")
THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d+)?")
DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")
OTHER_NOTATION = re.compile(
    r"[+-]?\d{1,3}(?:(\.\d{3})+,\d+|([ '\u2019\u00a0\u202f]\d{3})+([.,]\d+)?)"
)
"""Numbers with other marks between thousands: 1.234,5 and 1 234.5 and 1'234."""
WITH_ERROR = re.compile(r"[+-]?\d[\d.]*\s*(?:±|\+/?-)\s*\d.*")
EMPTY = ("", "-")
TRUTH = ("True", "False")
INFINITE = ("inf", "-inf")
WRITTEN_NUMBER = re.compile(r"[+-]?\d[\d.]*(?:[eE][+-]?\d+)?")
NUMBER_WITH_UNIT = re.compile(
    r"([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([A-Za-zµμ%][A-Za-zµμ%/]*)"
)
BEGINS_NUMBER = re.compile(r"[+-]?\.?\d")
DURATION = re.compile(r"(?=\d+[hm]\d)(?:(\d+)h)?(?:(\d+)m)?(\d+(?:\.\d+)?)s")
"""Durations as Go prints them: ``1m2.5s``."""


def number_columns(frame: pd.DataFrame, file: str) -> dict[str, pd.Series]:
    """Return the numeric columns by name, as float, with NaN for empty cells.

    Text, boolean and datetime columns are skipped, and empty ones.

    Raises
    ------
    RawperfError
        A mostly numeric column has a non-numeric cell, or a number that is not finite or beyond
        `MAX_NUMBER`; with the line.
    """
    numeric = frame.select_dtypes([np.integer, np.floating])
    cells = numeric.to_numpy(dtype=float, na_value=np.nan)
    empty = np.isnan(cells)
    bounded = (empty | (np.abs(cells) <= MAX_NUMBER)).all(axis=0) & ~empty.all(axis=0)
    checked = {
        name: pd.Series(cells[:, at], index=frame.index, name=name)
        for at, name in enumerate(numeric.columns)
        if bounded[at]
    }
    return {
        str(name): checked[name] if name in checked else to_numbers(column, str(name), file)
        for name, column in frame.items()
        if name in checked or _mostly_numbers(column)
    }


def to_numbers(column: pd.Series, name: str, file: str) -> pd.Series:
    """Convert a column to float, with NaN for empty cells.

    Raises
    ------
    RawperfError
        A cell is neither empty nor a finite number of at most `MAX_NUMBER`; with the line.
    """
    values, text = _parse_numbers(column), column.astype(str).str.strip()
    empty = column.isna() | text.isin(EMPTY)
    bad = (values.isna() & ~empty) | text.isin(TRUTH) | ~(values.abs().fillna(0) <= MAX_NUMBER)
    if not bad.any():
        return values
    at = int(np.argmax(bad))
    place, cell = column.index[at], text.iloc[at]
    line, where = row_place(place, file)
    overflow = _overflowing_number(file, line) if cell in INFINITE else ""
    large = bool(overflow) or (bool(np.isfinite(values.iloc[at])) and cell not in TRUTH)
    shown = (
        f"the column without a name ({name})"
        if name.startswith("Unnamed: ")
        else f"column {name!r}"
    )
    remedy = "correct the cell, or clear it"
    if NUMBER_WITH_UNIT.fullmatch(cell):
        remedy = "write one quantity a column, with its unit in its name"
    elif cell == name:
        remedy = "keep one table per file, and its heading once"
    elif int(place) == 0 and not any(map(str.isdigit, cell)):
        remedy = (
            "write the names of the columns in one row, each with its unit, or correct the cell"
        )
    raise RawperfError(
        f"{shown} contains "
        + ("a number that is too large" if large else "a value that is not a finite number")
        + where,
        file=file,
        line=line,
        expected=f"numbers of at most {MAX_NUMBER:g}"
        if large
        else "one number per row, or an empty cell",
        found=repr(overflow or cell),
        remedy=_suggest_notation(cell) or remedy,
    )


def _overflowing_number(file: str, line: int | None) -> str:
    """Return the first number of a line, as written, that is too large for a float; "" without."""
    if line is None:
        return ""
    text = io.StringIO(read_bytes(file).decode("utf-8", "replace"), newline=None)
    written = "".join(islice(text, line - 1, line))
    numbers = [n for n in WRITTEN_NUMBER.findall(written) if n.count(".") < 2]
    return next((number for number in numbers if np.isinf(float(number))), "")


def convert_units_of_cells(frame: pd.DataFrame, texts: Sequence[str] = ()) -> pd.DataFrame:
    """Convert columns whose cells are numbers with units, ``1.5 ms`` or ``12 %``, to numbers.

    They are in the base unit, which is appended to their name: ``mean`` becomes ``mean (s)``. Whole
    numbers with units, such as ``4 KiB``, may name what was measured: they stay texts unless the name
    of the column has a unit too, or all are percentages. `texts` stay as they are.
    """
    for name in [*frame.columns]:
        column = frame[name]
        if (
            not isinstance(name, str)
            or name in texts
            or not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column))
        ):
            continue
        short, unit = split_unit(name)
        found = numbers_with_units(column, is_measured=bool(unit))
        if found is not None and (renamed := f"{short} ({found[1]})") not in {*frame.columns} - {
            name
        }:
            frame = frame.assign(**{name: found[0]}).rename(columns={name: renamed})
    return frame


def numbers_with_units(
    column: Iterable[Any], *, is_measured: bool
) -> tuple[list[float], str] | None:
    """Numbers of a column in their base unit; None if a cell has no known unit, or another one.

    Whole numbers may name what was measured, unless `is_measured`.
    """
    values: list[float] = []
    units: set[str] = set()
    commas, points = False, False
    for cell in column:
        text = "" if cell is None or cell != cell else str(cell).strip()
        if text in EMPTY:
            values.append(np.nan)
            continue
        duration, match = DURATION.fullmatch(text), NUMBER_WITH_UNIT.fullmatch(text)
        if duration:
            hours, minutes, seconds = (float(part or 0) for part in duration.groups())
            value, unit, factor = 3600 * hours + 60 * minutes + seconds, "s", 1.0
        elif match and (unit := parse_unit(match[2])):
            commas, points = commas or "," in match[1], points or "." in match[1]
            value, (unit, factor) = float(match[1].replace(",", "")), to_base(unit)
        else:
            return None
        is_measured |= bool(duration) or "." in text
        values.append(value * factor)
        units.add(unit)
    if len(units) != 1 or (commas and not points):
        return None
    return (values, units.pop()) if is_measured or units == {"%"} else None


def has_numbers(column: pd.Series) -> bool:
    """Whether a column has a numeric cell."""
    return bool(_parse_numbers(column).notna().any())


def has_unit(cell: str) -> bool:
    """Whether a cell is a number with a known unit: ``100 MB/s``, but not ``200 OK``."""
    match = NUMBER_WITH_UNIT.fullmatch(cell)
    return match is not None and bool(parse_unit(match[2]))


def is_empty(column: pd.Series) -> bool:
    """Whether a column has no cell."""
    return bool((column.isna() | column.astype(str).str.strip().isin(EMPTY)).all())


def first_text(column: pd.Series) -> pd.Series:
    """Return the first non-numeric, non-empty cell of a column, as a series of at most one element."""
    filled = column[column.notna()]
    return filled[_parse_numbers(filled).isna() & ~filled.astype(str).str.strip().isin(EMPTY)].head(
        1
    )


def row_place(place: Any, file: str) -> tuple[int | None, str]:
    """Locate a row: its line, from 1, and ""; for files without lines None, and ``" in row 3"``."""
    lines = row_lines(file)
    if int(place) < len(lines):
        return lines[int(place)], ""
    return None, f" in row {int(place) + 1}"


def plain_heading(text: str) -> tuple[str, int]:
    """Bring a delimited text in the form of a heading and rows; lines keep their numbers.

    Comments (`blank_comments`) and titles above the heading are blanked: lines of one cell, or
    ``sep=;``, above a row of several names. A row of units below the heading is blanked too, and its
    units stand in the names: ``latency (ms)``.

    Returns
    -------
    tuple of str and int
        The text, and the number of titles above the heading.
    """
    text = blank_comments(text)
    lines = text.splitlines(keepends=True)
    filled = [place for place, line in enumerate(lines) if line.strip()]
    mark = next((m for m in "\t;,|" if filled and m in lines[filled[-1]]), None)
    if mark is None:
        return text, 0
    rows = ([c.strip() for c in lines[place].split(mark)] for place in filled)
    titles = takewhile(lambda row: len([*filter(None, row)]) < 2, rows)
    at = len([*titles])
    if at + 1 >= len(filled):
        return text, 0
    heading, below = filled[at], filled[at + 1]
    names = [cell.strip() for cell in lines[heading].split(mark)]
    if at and any(BEGINS_NUMBER.match(name) for name in names):
        return text, 0  # a row: what looked like titles is a heading with one name, or with a #
    ends = [line[len(line.rstrip("\r\n")) :] for line in lines]
    for place in filled[:at]:
        lines[place] = ends[place]
    units = [cell.strip().strip("[]()") for cell in lines[below].split(mark)]
    known = [parse_unit(unit) for unit in units]
    is_of_units = any(known) and len(units) == len(names) and '"' not in lines[heading]
    if is_of_units and all(unit in EMPTY or of for unit, of in zip(units, known, strict=True)):
        joined = [f"{n} ({u})" if u and n else n for n, u in zip(names, known, strict=True)]
        lines[heading], lines[below] = mark.join(joined) + ends[heading], ends[below]
    return "".join(lines), at


def row_lines(file: str) -> list[int]:
    """Return the first line of each row of a delimited text, from 1; [] for other files."""
    if Path(file).suffix.lower() not in DELIMITED:
        return []
    text, _ = plain_heading(read_bytes(file).decode("utf-8-sig", "replace"))
    reader = csv.reader(io.StringIO(text))
    lines, first = [], 1
    for cells in reader:
        if cells:
            lines.append(first)
        first = reader.line_num + 1
    return lines[1:]  # skip the header row


def blank_comments(text: str) -> str:
    """Blank the lines above the header of a table that begin with ``#``, so that lines keep their
    numbers. The last of them is the header if it has as many cells as the row below, and that has a
    number.
    """
    lines = text.split("\n")
    count = 0
    while count < len(lines) and (lines[count].startswith("#") or not lines[count].strip()):
        count += 1
    if count in (0, len(lines)):
        return text
    last, row = lines[count - 1], lines[count]
    marks = [mark for mark in "\t;,|" if mark in row and last.count(mark) == row.count(mark)]
    is_header = marks and any(
        WRITTEN_NUMBER.fullmatch(cell.strip(' \r"')) for cell in row.split(marks[0])
    )
    if is_header:
        title = last.removeprefix("#").lstrip(" ")
        lines[count - 1] = title if title[:1] != marks[0] else last
        count -= 1
    lines[:count] = [""] * count
    return "\n".join(lines)


def _mostly_numbers(column: pd.Series) -> bool:
    if pd.api.types.is_bool_dtype(column):
        return False
    if pd.api.types.is_numeric_dtype(column):
        return bool(column.notna().any())
    if not (pd.api.types.is_object_dtype(column) or pd.api.types.is_string_dtype(column)):
        return False
    text = column.astype(str).str.strip()
    filled = column.notna() & ~text.isin(EMPTY)
    # also count numbers in another notation: skipped as text they would be silently lost
    meant = _parse_numbers(column).notna() | text.str.fullmatch(THOUSANDS.pattern)
    meant |= text.str.fullmatch(DECIMAL_COMMA.pattern)
    meant |= text.str.fullmatch(OTHER_NOTATION.pattern) | text.str.fullmatch(WITH_ERROR.pattern)
    return bool(2 * (meant & filled & ~text.isin(TRUTH)).sum() > filled.sum())


def _parse_numbers(column: pd.Series) -> pd.Series:
    """Convert to float, with NaN for non-numeric cells."""
    try:
        return pd.to_numeric(column, errors="coerce").astype(float)
    except OverflowError:  # a Python int beyond the range of floats
        return pd.to_numeric(column.astype(str), errors="coerce").astype(float)


def _suggest_notation(text: str) -> str | None:
    """Suggest how to write a number with a comma, or a unit."""
    if THOUSANDS.fullmatch(text) and (text.count(",") > 1 or "." in text):
        return f"write {text.replace(',', '')!r}, without thousands separators"
    if THOUSANDS.fullmatch(text):
        whole, point = text.replace(",", ""), text.replace(",", ".")
        return f"write {whole} if the comma is between thousands, {point} if it is a decimal comma"
    if OTHER_NOTATION.fullmatch(text):
        return "use a decimal point, and no marks between thousands"
    if "," in text and "." not in text:
        return "use a decimal point, not a decimal comma"
    if parse_unit(text):
        return f"write the unit into the name of the column, such as latency ({text})"
    return None
