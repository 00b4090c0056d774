"""A printed table of the paper as it stands there, with its corrections marked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from virtperf.core.errors import StudyError
from virtperf.exhibits import display
from virtperf.exhibits.display import Html, Shown, Table
from virtperf.exhibits.wording import breakable, escape, exhibit_name, plural, printable
from virtperf.study.definition import Exhibit, Study

REWORDED = "Words in these cells are ours, shortened; numbers, names and versions are as printed."
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(:1| ?%)?|N/A|")


def read_table(study: Study, exhibit: Exhibit) -> pd.DataFrame:
    """The table's CSV file, every cell as text.

    Raises
    ------
    StudyError
        The exhibit names no table, or its file is missing or can't be read.
    """
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
            f"the cells of {name} are missing", file=f"tables/{name}.csv", remedy="add it, or mend `table`"
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

    `row` is the printed text of the row's first cell; ``#2`` behind it is the second row that begins so.

    Raises
    ------
    StudyError
        A correction names a cell that the table does not have, or another text than that cell holds.
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


def table_exhibit(study: Study, exhibit: Exhibit) -> Shown:
    """The printed table; a cell that is corrected shows both values, and the reason stands below.

    Raises
    ------
    StudyError
        As `read_table`; or a correction does not fit the table.
    """
    cells = read_table(study, exhibit)
    wrong = corrections(study, str(exhibit.spec["table"]))
    marks = {(c.position, c.column): (k, c) for k, c in enumerate(wrong, 1)}
    columns = [str(c) for c in cells.columns]
    rows, text = [], []
    for r, record in enumerate(cells.itertuples(index=False)):
        shown, plain = [], []
        for column, cell in zip(columns, map(str, record), strict=True):
            mark = marks.get((r, column))
            shown.append(Html(_corrected(*mark)) if mark else cell or Html('<span class="vp-empty">not stated</span>'))
            plain.append(f"{mark[1].corrected} (printed {mark[1].printed})" if mark else cell)
        rows.append(tuple(shown))
        text.append(plain)
    numeric = frozenset(k for k, c in enumerate(columns) if k and all(_NUMBER.fullmatch(v.strip()) for v in cells[c]))
    name = exhibit_name(exhibit.id, "table")
    after = [
        f'<p class="vp-note">{REWORDED}</p>' if reworded(exhibit) else "",
        _notes(wrong),
        display.badges(["published"]),
        display.more(
            _source(study, exhibit),
            display.trail(study.id, exhibit.id, "File and lines"),
            display.download(
                cells, f"{study.id}-{exhibit.id}", f"Download {'reworded' if reworded(exhibit) else 'as printed'} (CSV)"
            ),
        ),
    ]
    body = display.table_html(Table(tuple(columns), tuple(rows), numeric), f"{name}: {exhibit.title}")
    finding = f"{plural(len(wrong), 'cell is', 'cells are')} corrected; the notes say why." if wrong else ""
    html = display.block(exhibit.id, name, exhibit.title, body, after=after, finding=finding, kind="printed")
    return Shown(html, f"{name}. {exhibit.title}\n{display.table_text(columns, text)}")


def reworded(exhibit: Exhibit) -> bool:
    """Whether words of the table's cells are ours, and only its numbers the paper's."""
    return bool(exhibit.spec.get("reworded"))


def _corrected(mark: int, correction: Correction) -> str:
    printed, corrected = breakable(correction.printed), breakable(correction.corrected)
    return (
        f'<del><span class="vp-hidden">printed: </span>{printed or "nothing"}</del> '
        f'<ins><span class="vp-hidden">corrected: </span>{corrected}</ins><sup>{mark}</sup>'
    )


def _notes(wrong: Sequence[Correction]) -> str:
    if not wrong:
        return ""
    items = "".join(f"<li>{escape(printable(c.reason))}</li>" for c in wrong)
    return f'<ol class="vp-notes">{items}</ol>'


def _source(study: Study, exhibit: Exhibit) -> str:
    place = f"section “{escape(printable(exhibit.section))}”" if exhibit.section else "the paper"
    how = "reworded" if reworded(exhibit) else "typed off"
    return display.details(
        "Where this comes from",
        f"<p>Printed in {place}; {how} into <code>data/published/{escape(study.id)}/tables/"
        f"{escape(exhibit.spec['table'])}.csv</code>.</p>",
    )
