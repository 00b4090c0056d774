"""Claims of printed tables: every cell of a numeric column says that its quantity has that value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from pydantic import Field

from virtperf.core.model import Level, Model, NotNegative, Texts
from virtperf.core.yamlio import Document
from virtperf.study.definition import Study
from virtperf.study.quantities import parse_level

Where = tuple[str, int]

_THOUSANDS = re.compile(r"-?\d{1,3}(,\d{3}){1,9}(\.\d{1,99})?")


class TableClaims(Model):
    """A printed table whose numeric cells are claims of their own.

    `levels` names the level that a printed cell of a key column stands for, where it is not the cell itself.
    """

    table: str = Field(pattern=r"^[a-z0-9-]+$")
    key: dict[str, str] = {}
    levels: dict[str, dict[Level, Level]] = {}
    columns: dict[str, str] = Field(min_length=1)
    half_width: NotNegative
    about: tuple[str, ...] = Field(min_length=1)
    section: Texts
    ledger: Texts


def table_claims(
    study: Study, tables: Sequence[TableClaims], document: Document
) -> Iterator[tuple[Where, dict[str, Any]]]:
    """The claims, as `claims.yaml` would write them, that `tables` of `claims.yaml` stands for, one a cell.

    An entry of `tables` names a file in `tables/`, the column that holds each varying factor's level (`key`), and for
    every numeric column the quantity that it prints (`columns`). Empty cells print nothing; thousands may have commas,
    as in ``307,200``. The cells of a row have the same sentence (``table-6 row 1``): they do not bear each other out.
    Raises `StudyError`: no such file or column, a cell that is no number.
    """
    for position, entry in enumerate(tables):
        where = ("tables", position)
        path = study.folder / "tables" / f"{entry.table}.csv"
        if not path.is_file():
            raise document.error(f"there is no table {entry.table!r}", *where, "table", expected=f"a file {path}")
        table = pd.read_csv(path, dtype="object", keep_default_na=False)
        for column in (*entry.key.values(), *entry.columns):
            if column not in table.columns:
                known = ", ".join(table.columns)
                raise document.error(f"{path.name} has no column {column!r}", *where, expected=f"one of {known}")
        for row, cells in enumerate(table.to_dict("records"), start=1):
            printed = {factor: parse_level(str(cells[column])) for factor, column in entry.key.items()}
            levels = {factor: entry.levels.get(factor, {}).get(level, level) for factor, level in printed.items()}
            for column, quantity in entry.columns.items():
                if cells[column] == "":
                    continue
                cell = cells[column].replace(",", "") if _THOUSANDS.fullmatch(cells[column]) else cells[column]
                try:
                    value = float(cell)
                except ValueError:
                    problem = f"{path.name}, row {row}: {column} is no number"
                    raise document.error(problem, *where, found=repr(cells[column])) from None
                at = ", ".join(f"{factor} {level}" for factor, level in levels.items())
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
                        "says": f"The table prints {cells[column]} for {column}" + (f" at {at}." if at else "."),
                        "about": entry.about,
                        "section": entry.section,
                        "ledger": entry.ledger,
                        "sentence": f"{entry.table} row {row}",
                    },
                )
