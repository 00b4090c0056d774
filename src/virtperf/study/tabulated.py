"""Printed tables as claims: every cell of a numeric column says that its quantity has that value."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import pandas as pd

from virtperf.core.yamlio import Document
from virtperf.study.definition import Study
from virtperf.study.quantities import parse_level

Where = tuple[str, int]


def tabulated(study: Study, document: Document) -> Iterator[tuple[Where, dict[str, Any]]]:
    """The entries that `tables` of `claims.yaml` stands for, one a cell, in the form of hand-written claims.

    An entry of `tables` names a file in `tables/`, the column that holds each varying factor's level (`key`), and for
    every numeric column the quantity that it prints (`columns`). Empty cells print nothing.

    Raises
    ------
    StudyError
        No such file or column, a cell that is no number.
    """
    for position, entry in enumerate(document.data.get("tables", ())):
        where = ("tables", position)
        path = study.folder / "tables" / f"{entry['table']}.csv"
        if not path.is_file():
            raise document.error(f"there is no table {entry['table']!r}", *where, "table", expected=f"a file {path}")
        table = pd.read_csv(path, dtype="object", keep_default_na=False)
        for column in (*entry.get("key", {}).values(), *entry["columns"]):
            if column not in table.columns:
                known = ", ".join(table.columns)
                raise document.error(f"{path.name} has no column {column!r}", *where, expected=f"one of {known}")
        for row, cells in enumerate(table.to_dict("records")):
            levels = {factor: parse_level(str(cells[column])) for factor, column in entry.get("key", {}).items()}
            for column, quantity in entry["columns"].items():
                if cells[column] != "":
                    found = _entry(entry, column, quantity, levels, cells[column])
                    if found is None:
                        raise document.error(
                            f"{path.name}, row {row + 1}: {column} is no number", *where, found=repr(cells[column])
                        )
                    yield where, found


def _entry(
    entry: Mapping[str, Any], column: str, quantity: str, levels: Mapping[str, Any], cell: str
) -> dict[str, Any] | None:
    try:
        value = float(cell) * entry.get("scale", 1)
    except ValueError:
        return None
    at = ", ".join(f"{factor} {level}" for factor, level in levels.items())
    name = " ".join([entry["table"], column, *map(str, levels.values())])
    return {
        "id": re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-"),
        "kind": "value",
        "of": quantity,
        "for_each": {factor: [level] for factor, level in levels.items()},
        "value": value,
        "half_width": entry["half_width"],
        "says": f"The table prints {cell} for {column}" + (f" at {at}." if at else "."),
        "about": entry["about"],
        "section": entry["section"],
        "ledger": entry["ledger"],
    }
