"""Printed tables of a paper: cells, corrections of misprints, and claims derived from cells."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import Field

from rawperf.core.errors import StudyError
from rawperf.core.model import Level, Model, NonNegative, Texts
from rawperf.core.yamlio import Document, read_text
from virtperf.study.definition import Exhibit, Study
from virtperf.study.quantities import parse_level


def read_printed_table(study: Study, exhibit: Exhibit) -> pd.DataFrame:
    """Read a table's CSV file, with every cell as text; raises `StudyError` if it can't be read."""
    name = exhibit.spec.get("table")
    if not name:
        raise StudyError(
            f"{exhibit.id} has no table",
            file="study.yaml",
            expected="table: <name of a file in tables/>",
        )
    return _cells(study, str(name))


def _cells(study: Study, name: str) -> pd.DataFrame:
    path = study.folder / "tables" / f"{name}.csv"
    if path.parent.resolve() not in path.resolve().parents or not path.is_file():
        raise StudyError(
            f"the file of table {name} is missing",
            file=f"tables/{name}.csv",
            remedy="add the file, or correct `table`",
        )
    return _table(path)


def _table(path: Path) -> pd.DataFrame:
    """Read a file in tables/, with every cell as text; raises `StudyError` with the line."""
    file = f"tables/{path.name}"
    text = read_text(path, file)
    try:
        table = pd.read_csv(io.StringIO(text), dtype=str, keep_default_na=False, comment=None)
    except pd.errors.EmptyDataError as err:
        raise StudyError(
            "the file is empty",
            file=file,
            line=1,
            expected="a header line, then one line per row",
            remedy="write the table, or remove the file",
        ) from err
    except ValueError as err:
        place = re.search(r"\b(line|row) (\d+)", str(err))  # row numbers start at 0
        line = int(place[2]) + (place[1] == "row") if place else 1
        raise _invalid_table(file, line, str(err).strip()) from err
    if not isinstance(table.index, pd.RangeIndex):  # pandas takes surplus cells as the index
        raise _invalid_table(file, 2, "a row has more cells than the header")
    rows = csv.reader(io.StringIO(text))
    for row in rows:  # pandas fills up short rows
        if row and len(row) < len(table.columns):
            raise _invalid_table(file, rows.line_num, "a row has fewer cells than the header")
    return table


def _invalid_table(file: str, line: int, why: str) -> StudyError:
    return StudyError(
        f"not a table: {why}",
        file=file,
        line=line,
        expected="as many comma-separated cells as the header",
        remedy="put cells that contain a comma in double quotes",
    )


@dataclass(frozen=True)
class Correction:
    """A misprinted cell: `row` and `column` as in `corrections.csv`, `position` the 0-based row."""

    table: str
    row: str
    column: str
    printed: str
    corrected: str
    reason: str
    position: int


_CORRECTION = ("table", "row", "column", "printed", "corrected", "reason")


def corrections(study: Study, table: str | None = None) -> list[Correction]:
    """Load the corrections of one table, or of all, from `tables/corrections.csv`.

    `row` is the printed text of the row's first cell; the suffix ``#2`` selects the second row with
    that text.

    Raises `StudyError`: the file is no table with these columns; a correction names a cell that
    does not exist, or a printed text that differs from the cell's.
    """
    path = study.folder / "tables" / "corrections.csv"
    if not path.is_file():
        return []
    written = _table(path).fillna("")
    if set(written.columns) != set(_CORRECTION):
        raise StudyError(
            "unexpected header",
            file="tables/corrections.csv",
            line=1,
            expected=",".join(_CORRECTION),
            found=",".join(map(str, written.columns)),
            remedy="replace the first line by the expected one",
        )
    entries = written.to_dict("records")
    corrections = []
    for number, entry in enumerate(entries, 2):
        if table is not None and entry["table"] != table:
            continue
        cells = _cells(study, str(entry["table"]))
        first, _, count = (
            str(entry["row"]).rpartition("#") if "#" in entry["row"] else (entry["row"], "", "1")
        )
        rows = [k for k, text in enumerate(cells.iloc[:, 0]) if text == first]
        place = int(count) - 1 if count.isdecimal() else -1
        if entry["column"] not in cells.columns or not 0 <= place < len(rows):
            raise StudyError(
                f"table {entry['table']} has no cell in row {entry['row']!r}, column {entry['column']!r}",
                file="tables/corrections.csv",
                line=number,
                expected=f"the text of a row's first cell, and one of the columns {', '.join(map(str, cells.columns))}",
            )
        content = str(cells[entry["column"]].iloc[rows[place]])
        if content != entry["printed"]:
            raise StudyError(
                f"a correction of {entry['table']} does not match the table",
                file="tables/corrections.csv",
                line=number,
                expected=f"{content!r}, the content of that cell",
                found=repr(entry["printed"]),
            )
        corrections.append(
            Correction(**{str(k): str(v) for k, v in entry.items()}, position=rows[place])
        )
    return corrections


Where = tuple[str, int]

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3}){1,9}(\.\d{1,99})?")


class TableClaims(Model):
    """Declaration of a printed table whose numeric cells are claims.

    `levels` maps printed cells of a key column to levels, if they differ.
    """

    table: str = Field(pattern=r"^[a-z0-9-]+$")
    key: dict[str, str] = {}
    levels: dict[str, dict[Level, Level]] = {}
    columns: dict[str, str] = Field(min_length=1)
    half_width: NonNegative
    about: Texts
    section: Texts
    ledger: Texts


def table_claims(
    study: Study, tables: Sequence[TableClaims], document: Document
) -> Iterator[tuple[Where, dict[str, Any]]]:
    """Expand `tables` of `claims.yaml` to claims, one per numeric cell.

    An entry of `tables` names a file in `tables/`, the column with the level of each varying factor
    (`key`), and the quantity of every numeric column (`columns`). Empty cells are skipped;
    thousands separators are allowed, as in ``307,200``. The cells of a row share one sentence key
    (``table-6 row 1``), so that they do not corroborate each other. Raises `StudyError`: no such
    file or column, a cell that is no number.
    """
    for position, entry in enumerate(tables):
        where = ("tables", position)
        path = study.folder / "tables" / f"{entry.table}.csv"
        if not path.is_file():
            raise document.error(
                f"table {entry.table!r} not found", *where, "table", expected=f"a file {path}"
            )
        table = _cells(study, entry.table)
        named = entry.table.replace("-", " ").capitalize()
        for column in (*entry.key.values(), *entry.columns):
            if column not in table.columns:
                known = ", ".join(table.columns)
                raise document.error(
                    f"{path.name} has no column {column!r}", *where, expected=f"one of {known}"
                )
        for row, cells in enumerate(table.to_dict("records"), start=1):
            printed = {
                factor: parse_level(str(cells[column])) for factor, column in entry.key.items()
            }
            levels = {
                factor: entry.levels.get(factor, {}).get(level, level)
                for factor, level in printed.items()
            }
            for column, quantity in entry.columns.items():
                if cells[column] == "":
                    continue
                value = _cell_number(cells[column])
                if value is None:
                    problem = f"{path.name}, row {row}: {column} is not a number"
                    raise document.error(problem, *where, found=repr(cells[column]))
                at = ", ".join(
                    study.level_words(factor, level)
                    if factor in study.factors
                    else f"{factor} {level}"
                    for factor, level in levels.items()
                )
                name = " ".join([entry.table, column, *map(str, levels.values())])
                yield (
                    where,
                    {
                        "id": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"),
                        "kind": "value",
                        "of": quantity,
                        "for_each": {factor: [level] for factor, level in levels.items()},
                        "value": value,
                        "half_width": entry.half_width,
                        "says": f"{named} prints {cells[column]} for {column}"
                        + (f": {at}." if at else "."),
                        "about": entry.about,
                        "section": entry.section,
                        "ledger": entry.ledger,
                        "sentence": f"{entry.table} row {row}",
                    },
                )


def _cell_number(cell: str) -> float | None:
    """Number of a cell, possibly with thousands separators; None for any other text."""
    text = cell.strip()
    plain = text.replace(",", "") if _THOUSANDS.fullmatch(text) else text
    return float(plain) if _NUMBER.fullmatch(plain) else None
