"""Columns of anybody's table, as models take them: errors name the file, the column and the row."""

from __future__ import annotations

import csv
import io
import json
import math
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rawperf.core.errors import VirtperfError
from virtperf.study.quantities import parse_level

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-"})
"""Cells that say that there is no number, in any case."""

SEPARATORS = (",", ";", "\t")


@dataclass(frozen=True)
class Columns:
    """A table of cells: texts, numbers, truth values or None; its index is where each row stands in
    the file.
    """

    file: str
    cells: pd.DataFrame
    unit: str  # what the index counts, from 1: "line" or "row"

    def __len__(self) -> int:
        return len(self.cells)

    @property
    def lines(self) -> pd.Index:
        """Where each row stands in the file."""
        return self.cells.index

    def labels(self, name: str) -> list[str]:
        """A column as text; raises `VirtperfError` where there is none."""
        if name not in self.cells:
            raise VirtperfError(
                f"there is no column {name!r}",
                file=self.file,
                expected=f"one of {', '.join(map(str, self.cells))}",
            )
        return ["" if cell is None else str(cell) for cell in self.cells[name]]

    def numbers(self, name: str) -> np.ndarray:
        """A column as float64, shape (n,); NaN where a cell is missing (`MISSING`).

        Raises
        ------
        VirtperfError
            No such column, or the first cell that is neither a number nor missing.
        """
        values = np.empty(len(self))
        for row, text in enumerate(map(str.strip, self.labels(name))):
            try:
                values[row] = math.nan if text.lower() in MISSING else float(text)
            except ValueError as err:
                comma = "," in text and "." not in text
                raise self._error(
                    f"column {name!r} holds something that is no number",
                    row,
                    text,
                    "write a point for the decimal comma" if comma else None,
                ) from err
            if math.isinf(values[row]):
                raise self._error(f"column {name!r} holds an infinite number", row, text)
        return values

    def where(self, name: str, level: str) -> Columns:
        """The rows whose cell is `level`, as a number where both are numbers.

        Raises
        ------
        VirtperfError
            No such column, or no such cell.
        """
        labels, wanted = self.labels(name), parse_level(level)
        keep = np.array([parse_level(label) == wanted for label in labels])
        if not keep.any():
            known = list(dict.fromkeys(labels))
            more = ", ..." if len(known) > 10 else ""
            raise VirtperfError(
                f"no row has {name} = {level}",
                file=self.file,
                expected=f"one of {', '.join(known[:10])}{more}",
            )
        return self.rows(keep)

    def rows(self, keep: np.ndarray) -> Columns:
        """Some of the rows; `keep` is bool, shape (n,)."""
        return Columns(self.file, self.cells[keep], self.unit)

    def _error(
        self, problem: str, row: int, found: str, remedy: str | None = None
    ) -> VirtperfError:
        place = int(self.lines[row])
        line, where = (place, "") if self.unit == "line" else (None, f" in row {place}")
        return VirtperfError(
            f"{problem}{where}", file=self.file, line=line, found=repr(found), remedy=remedy
        )


def parse_columns(data: bytes, *, file: str) -> Columns:
    """Read a table: Parquet, JSON (a list of objects, or an object with such a list under
    ``records``), or CSV.

    CSV may be separated by commas, semicolons or tabs; its first row names the columns.

    Raises
    ------
    VirtperfError
        With file and line: not a table, a column without name or named twice, a row of another
        length, no row.
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
            "not UTF-8",
            file=file,
            line=line,
            expected="a CSV, Parquet or JSON table",
            remedy="save it as UTF-8",
        ) from err
    reader = csv.reader(
        io.StringIO(text), delimiter=max(SEPARATORS, key=text.partition("\n")[0].count)
    )
    rows: dict[int, list[str]] = {}
    line = 1
    try:
        for cells in reader:
            if cells:
                rows[line] = cells
            line = reader.line_num + 1
    except csv.Error as err:
        raise VirtperfError(f"not a CSV table: {err}", file=file, line=reader.line_num) from err
    first = next(iter(rows), 1)
    names = [cell.strip() for cell in rows.pop(first, [])]
    for name in names:
        if not name or names.count(name) > 1:
            raise VirtperfError(
                f"the column {name!r} is named twice" if name else "a column without a name",
                file=file,
                line=first,
                expected="a heading with one name for each column",
            )
    for line, cells in rows.items():
        if len(cells) != len(names):
            raise VirtperfError(
                "a row of another length",
                file=file,
                line=line,
                expected=f"{len(names)} cells, as in the heading",
                found=f"{len(cells)}",
                remedy="put text that holds a separator into double quotes",
            )
    return Columns(
        file, pd.DataFrame(rows.values(), index=list(rows), columns=names, dtype=object), "line"
    )


def _parquet(data: bytes, file: str) -> Columns:
    try:
        table = pq.read_table(pa.BufferReader(data))
        columns = {
            name: pd.Series(table[name].to_pylist(), dtype=object) for name in table.column_names
        }
    except (pa.ArrowException, OSError, ValueError) as err:
        raise VirtperfError(f"not a Parquet table: {str(err).splitlines()[0]}", file=file) from err
    cells = pd.DataFrame(columns, index=range(table.num_rows)).set_axis(
        range(1, table.num_rows + 1)
    )
    return Columns(file, cells, "row")


def _json(data: bytes, file: str) -> Columns:
    try:
        content = json.loads(data)
    except (ValueError, RecursionError) as err:
        line = getattr(err, "lineno", None)
        raise VirtperfError(
            f"not valid JSON: {getattr(err, 'msg', err)}", file=file, line=line
        ) from err
    records = content.get("records") if isinstance(content, dict) else content
    if not isinstance(records, list) or not all(isinstance(record, dict) for record in records):
        raise VirtperfError(
            "no table",
            file=file,
            expected="a list of objects, or an object with that list as records",
        )
    for row, record in enumerate(records, start=1):
        for name, cell in record.items():
            if isinstance(cell, list | dict):
                raise VirtperfError(f"column {name!r} holds a nested value in row {row}", file=file)
    return _of_rows(
        records, list(dict.fromkeys(name for record in records for name in record)), file
    )


def _of_rows(rows: list[dict[str, object]], names: list[str], file: str) -> Columns:
    cells = [[row.get(name) for name in names] for row in rows]
    return Columns(
        file, pd.DataFrame(cells, index=range(1, len(rows) + 1), columns=names, dtype=object), "row"
    )
