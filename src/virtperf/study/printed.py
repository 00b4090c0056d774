"""Printed tables of a paper and the corrections of their misprints, as the study's folder holds them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from virtperf.core.errors import StudyError
from virtperf.study.definition import Exhibit, Study


def read_table(study: Study, exhibit: Exhibit) -> pd.DataFrame:
    """The table's CSV file, every cell as text; raises `StudyError` where it names none that can be read."""
    name = exhibit.spec.get("table")
    if not name:
        raise StudyError(
            f"{exhibit.id} names no table", file="study.yaml", expected="table: <name of a file in tables/>"
        )
    return _cells(study, str(name))


def _cells(study: Study, name: str) -> pd.DataFrame:
    path = study.folder / "tables" / f"{name}.csv"
    if path.parent.resolve() not in path.resolve().parents or not path.is_file():
        raise StudyError(
            f"the cells of {name} are missing", file=f"tables/{name}.csv", remedy="add it, or correct `table`"
        )
    try:
        return pd.read_csv(path, dtype=str, keep_default_na=False, comment=None)
    except (ValueError, pd.errors.ParserError) as err:
        raise StudyError(f"not a table: {err}", file=f"tables/{name}.csv") from err


@dataclass(frozen=True)
class Correction:
    """One misprinted cell: `row` and `column` as `corrections.csv` names them, `position` the row's number from 0."""

    table: str
    row: str
    column: str
    printed: str
    corrected: str
    reason: str
    position: int


def corrections(study: Study, table: str | None = None) -> list[Correction]:
    """The corrections of one table, or of all, from `tables/corrections.csv`.

    `row` is the printed text of the row's first cell; ``#2`` behind it is the second row that begins so. Raises
    `StudyError`: a correction names a cell that the table does not have, or another text than that cell holds.
    """
    path = study.folder / "tables" / "corrections.csv"
    if not path.is_file():
        return []
    entries = pd.read_csv(path, dtype=str, keep_default_na=False).to_dict("records")
    found = []
    for number, entry in enumerate(entries, 2):
        if table is not None and entry["table"] != table:
            continue
        cells = _cells(study, str(entry["table"]))
        first, _, count = str(entry["row"]).rpartition("#") if "#" in entry["row"] else (entry["row"], "", "1")
        rows = [k for k, text in enumerate(cells.iloc[:, 0]) if text == first]
        place = int(count) - 1 if count.isdigit() else -1
        if entry["column"] not in cells.columns or not 0 <= place < len(rows):
            raise StudyError(
                f"there is no cell {entry['row']!r}, {entry['column']!r} in {entry['table']}",
                file="tables/corrections.csv", line=number,
                expected=f"a first cell and one of the columns {', '.join(map(str, cells.columns))}",
            )  # fmt: skip
        held = str(cells[entry["column"]].iloc[rows[place]])
        if held != entry["printed"]:
            raise StudyError(
                f"a correction of {entry['table']} does not fit", file="tables/corrections.csv", line=number,
                expected=f"{held!r}, which stands in that cell", found=repr(entry["printed"]),
            )  # fmt: skip
        found.append(Correction(**{str(k): str(v) for k, v in entry.items()}, position=rows[place]))
    return found
