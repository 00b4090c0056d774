"""A printed table of the paper as it stands there, with its corrections marked."""

from __future__ import annotations

import re

from virtperf.core.provenance import Provenance
from virtperf.exhibits.kinds import Context, ExhibitSpec, Kind, note, source, spec_of, trace
from virtperf.exhibits.records import Block, Grid, Listing, Numbers, Record, Span, Words
from virtperf.exhibits.wording import exhibit_name, plural
from virtperf.study.definition import Exhibit
from virtperf.study.printed import Correction, corrections, read_table

REWORDED = "Words in these cells are ours, shortened; numbers, names and versions are as printed."
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(:1| ?%)?|N/A|")


class Spec(ExhibitSpec):
    """`table`: a file in tables/, without its suffix; `reworded`: its words are ours, its numbers the paper's.

    `footnotes`: what stands below the table, in our words.
    """

    table: str
    reworded: bool = False
    footnotes: tuple[str, ...] = ()


def record(context: Context, exhibit: Exhibit, figure: None = None, *shown: object) -> Record:
    """The printed table; a cell that is corrected shows both values, and the reason stands below.

    Raises
    ------
    StudyError
        The table's file is missing or can't be read; or a correction does not fit the table.
    """
    study, spec = context.study, spec_of(exhibit)
    cells = read_table(study, exhibit)
    wrong = corrections(study, spec.table)
    marks = {(c.position, c.column): (k, c) for k, c in enumerate(wrong, 1)}
    columns = [str(c) for c in cells.columns]
    rows = [
        tuple(
            _corrected(*marks[r, column]) if (r, column) in marks else cell or _EMPTY
            for column, cell in zip(columns, map(str, line), strict=True)
        )
        for r, line in enumerate(cells.itertuples(index=False))
    ]
    numeric = tuple(k for k, c in enumerate(columns) if k and all(_NUMBER.fullmatch(v.strip()) for v in cells[c]))
    name = exhibit_name(exhibit.id, "table")
    blocks: list[Block] = [
        Grid(label=f"{name}: {exhibit.title}", columns=tuple(columns), rows=tuple(rows), numeric=numeric)
    ]
    blocks += [note(text) for text in spec.footnotes]
    if spec.reworded:
        blocks.append(note(REWORDED))
    if wrong:
        reasons = [(Span(text=str(k), style="mark"), f" {c.reason}") for k, c in enumerate(wrong, 1)]
        blocks.append(Listing(items=tuple(reasons)))
    how = "reworded" if spec.reworded else "transcribed"
    file = f"data/published/{study.id}/tables/{spec.table}.csv"
    blocks += [
        trace(study, exhibit, "File and lines"),
        source(study, exhibit, "Printed in ", f"; {how} into ", Span(text=file, style="code"), "."),
    ]
    return Record(
        kind="table", id=exhibit.id, study=study.id, name=name, title=exhibit.title,
        caption=f"{plural(len(wrong), 'cell is', 'cells are')} corrected; the notes say why." if wrong else "",
        provenance=(Provenance.PUBLISHED,), blocks=tuple(blocks),
        numbers=(Numbers.of(cells, f"{study.id}-{exhibit.id}",
                            words=f"Download {'reworded' if spec.reworded else 'as printed'} (CSV)"),),
    )  # fmt: skip


_EMPTY: Words = (Span(text="not stated", style="empty"),)


def _corrected(mark: int, correction: Correction) -> Words:
    return (
        Span(text=correction.printed or "nothing", style="deleted"), " ",
        Span(text=correction.corrected, style="inserted"), Span(text=str(mark), style="mark"),
    )  # fmt: skip


KIND = Kind("table", record, spec=Spec, check=read_table)
