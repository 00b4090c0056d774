"""Columns of anybody's table, as models take them: errors name the file, the column and the row."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from virtperf.core.errors import VirtperfError
from virtperf.study.quantities import parse_level

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-"})
"""Cells that say that there is no number, in any case."""

SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True)
class Columns:
    """A table of cells.

    Attributes
    ----------
    file : str
        Its name, for errors.
    cells : mapping of str to list
        Columns of equal length, every cell a text, a number, a truth value or None.
    lines : list of int
        Where each row stands in the file: its line in CSV, else its number from 1.
    unit : str
        What `lines` counts: ``"line"`` or ``"row"``.
    """

    file: str
    cells: Mapping[str, Sequence[Any]]
    lines: Sequence[int]
    unit: str

    def __len__(self) -> int:
        return len(self.lines)

    def column(self, name: str) -> Sequence[Any]:
        """One column; raises `VirtperfError` listing the known ones."""
        if name not in self.cells:
            raise VirtperfError(
                f"there is no column {name!r}", file=self.file, expected=f"one of {', '.join(map(str, self.cells))}"
            )
        return self.cells[name]

    def numbers(self, name: str) -> np.ndarray:
        """A column as float64, shape (n,); NaN where a cell is missing (`MISSING`).

        Raises
        ------
        VirtperfError
            No such column, or the first cell that is neither a number nor missing.
        """
        values = np.empty(len(self))
        for row, cell in enumerate(self.column(name)):
            text = "" if cell is None else str(cell).strip()
            try:
                values[row] = math.nan if text.lower() in MISSING else float(text)
            except ValueError as err:
                comma = "," in text and "." not in text
                raise self.error(
                    f"column {name!r} holds something that is no number", row, found=repr(text),
                    remedy="write a point for the decimal comma" if comma else None,
                ) from err  # fmt: skip
            if math.isinf(values[row]):
                raise self.error(f"column {name!r} holds an infinite number", row, found=repr(text))
        return values

    def labels(self, name: str) -> list[str]:
        """A column as text."""
        return ["" if cell is None else str(cell) for cell in self.column(name)]

    def where(self, name: str, level: str) -> Columns:
        """The rows whose cell is `level`, as a number where both are numbers.

        Raises
        ------
        VirtperfError
            No such column, or no such cell.
        """
        wanted = parse_level(level)
        keep = [parse_level(cell) == wanted for cell in self.labels(name)]
        if not any(keep):
            known = list(dict.fromkeys(self.labels(name)))
            more = ", ..." if len(known) > 10 else ""
            raise VirtperfError(
                f"no row has {name} = {level}", file=self.file, expected=f"one of {', '.join(known[:10])}{more}"
            )
        return self.rows(np.array(keep))

    def rows(self, keep: np.ndarray) -> Columns:
        """Some of the rows; `keep` is bool, shape (n,)."""
        places = np.flatnonzero(keep).tolist()
        cells = {name: [column[i] for i in places] for name, column in self.cells.items()}
        return Columns(self.file, cells, [self.lines[i] for i in places], self.unit)

    def error(self, problem: str, row: int, *, found: str | None = None, remedy: str | None = None) -> VirtperfError:
        """An error at a row, counted from 0."""
        if self.unit == "line":
            return VirtperfError(problem, file=self.file, line=self.lines[row], found=found, remedy=remedy)
        return VirtperfError(f"{problem} in row {self.lines[row]}", file=self.file, found=found, remedy=remedy)


def parse_columns(data: bytes, *, file: str) -> Columns:
    """Read a table: Parquet, JSON (a list of objects, or an object with such a list under ``records``), or CSV.

    CSV may be separated by commas, semicolons or tabs; its first row names the columns.

    Raises
    ------
    VirtperfError
        With file and line: not a table, a column without name or named twice, a row of another length, no row.
    """
    if data[:4] == b"PAR1":
        table = _parquet(data, file)
    elif data.lstrip()[:1] in (b"[", b"{"):
        table = _json(data, file)
    else:
        table = _csv(data, file)
    if not len(table):
        raise VirtperfError("the table has no row", file=file)
    return table


def _csv(data: bytes, file: str) -> Columns:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        line = data.count(b"\n", 0, err.start) + 1
        raise VirtperfError(
            "not UTF-8", file=file, line=line, expected="a CSV, Parquet or JSON table", remedy="save it as UTF-8"
        ) from err
    head = text.partition("\n")[0]
    separator = max(SEPARATORS, key=head.count)
    reader = csv.reader(io.StringIO(text), delimiter=separator)
    names: list[str] = []
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        before = 0
        for cells in reader:
            line, before = before + 1, reader.line_num
            if not cells:
                continue
            if not names:
                names = _names([cell.strip() for cell in cells], file, line)
            elif len(cells) != len(names):
                raise VirtperfError(
                    "a row of another length", file=file, line=line, expected=f"{len(names)} cells, as in the heading",
                    found=f"{len(cells)}", remedy="put text that holds a separator into double quotes",
                )  # fmt: skip
            else:
                rows.append(cells)
                lines.append(line)
    except csv.Error as err:
        raise VirtperfError(f"not a CSV table: {err}", file=file, line=reader.line_num) from err
    return Columns(file, {name: [row[i] for row in rows] for i, name in enumerate(names)}, lines, "line")


def _names(names: list[str], file: str, line: int) -> list[str]:
    for name in names:
        if not name or names.count(name) > 1:
            raise VirtperfError(
                f"the column {name!r} is named twice" if name else "a column without a name", file=file, line=line,
                expected="a heading with one name for each column",
            )  # fmt: skip
    return names


def _parquet(data: bytes, file: str) -> Columns:
    try:
        table = pq.read_table(pa.BufferReader(data))
        cells = {name: table[name].to_pylist() for name in table.column_names}
    except (pa.ArrowException, OSError, ValueError) as err:
        raise VirtperfError(f"not a Parquet table: {str(err).splitlines()[0]}", file=file) from err
    return Columns(file, cells, range(1, table.num_rows + 1), "row")


def _json(data: bytes, file: str) -> Columns:
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as err:
        line = getattr(err, "lineno", None)
        raise VirtperfError(f"not valid JSON: {getattr(err, 'msg', err)}", file=file, line=line) from err
    records = content.get("records") if isinstance(content, dict) else content
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise VirtperfError("no table", file=file, expected="a list of objects, or an object with that list as records")
    names = list(dict.fromkeys(name for record in records for name in record))
    for row, record in enumerate(records, start=1):
        for name, cell in record.items():
            if isinstance(cell, list | dict):
                raise VirtperfError(f"column {name!r} holds a nested value in row {row}", file=file)
    cells = {name: [record.get(name) for record in records] for name in names}
    return Columns(file, cells, range(1, len(records) + 1), "row")
