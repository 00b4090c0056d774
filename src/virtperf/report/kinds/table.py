"""Printed tables of the paper, with corrections marked; optionally one column as bars."""

from __future__ import annotations

import re

import pandas as pd

from rawperf.core.errors import StudyError
from rawperf.core.model import Model
from virtperf.core.numbers import plural
from virtperf.core.provenance import Provenance
from virtperf.report.axis_words import rarest_colour
from virtperf.report.kinds import (
    Context,
    ExhibitKind,
    ExhibitSpec,
    Figure,
    note,
    parse_spec,
    source,
    trace,
)
from virtperf.report.kinds._figure import exhibit_record
from virtperf.report.records import Block, Grid, Listing, Numbers, Record, Span, Words
from virtperf.report.wording import exhibit_name
from virtperf.study.definition import Exhibit, Study
from virtperf.study.printed import Correction, corrections, read_printed_table

REWORDED = "Words in these cells are ours, shortened; numbers, names and versions are as printed."
TURNED = "Rows and columns are exchanged."
MAX_COLUMNS = 8
"""Columns of a printed table; one of numbers alone with more, and with fewer rows, is turned: a page has
no room for it.
"""
_NUMBER = re.compile(r"[-+−]?\d[\d,]*(\.\d+)?(:1| ?%)?|N/A|")


class Bars(Model):
    """A column of printed numbers to draw, and the axis label with its unit."""

    column: str
    label: str


class Spec(ExhibitSpec):
    """Specification of a printed table.

    `table`: a file in tables/, without its suffix. `reworded`: the words are ours, the numbers the
        paper's.
    `footnotes`: remarks below the table, in our words. `bars`: a column to draw above the table,
        one bar a row.
    """

    table: str
    reworded: bool = False
    footnotes: tuple[str, ...] = ()
    bars: Bars | None = None


def draw(context: Context, exhibit: Exhibit, *shown: object) -> Figure | None:
    """Draw one column as bars; None if study.yaml defines none."""
    bars = parse_spec(exhibit).bars
    if bars is None:
        return None
    from virtperf.report import plot

    cells = read_printed_table(context.study, exhibit)
    columns = {
        "row": cells.iloc[:, 0],
        "value": _numbers(exhibit, cells, bars.column),
        "words": cells[bars.column],
    }
    printed = pd.DataFrame(columns)
    printed.attrs["axes"] = {"colours": {"": rarest_colour(context.study)}}
    return plot.bars(
        printed=printed, x="row", xlabel=str(cells.columns[0]), ylabel=bars.label, words="words"
    )


def _numbers(exhibit: Exhibit, cells: pd.DataFrame, column: str) -> list[float]:
    try:
        return [float(cell.rstrip(" %").replace(",", "")) for cell in cells[column]]
    except (KeyError, ValueError) as err:
        raise StudyError(
            f"{exhibit.id}: bars of {column!r} can't be drawn",
            file="study.yaml",
            found=str(err),
            expected="a column of numbers",
        ) from err


def check(study: Study, exhibit: Exhibit) -> None:
    """Check that the table exists, and that the column of bars is numeric."""
    cells, bars = read_printed_table(study, exhibit), parse_spec(exhibit).bars
    if bars is not None:
        _numbers(exhibit, cells, bars.column)


def record(
    context: Context, exhibit: Exhibit, figure: Figure | None = None, *shown: object
) -> Record:
    """Build the printed table; corrected cells show both values, with the reasons below."""
    study, spec = context.study, parse_spec(exhibit)
    cells = read_printed_table(study, exhibit)
    wrong = corrections(study, spec.table)
    marks = {(c.position, c.column): (k, c) for k, c in enumerate(wrong, 1)}
    columns = [str(c) for c in cells.columns]
    rows = [
        tuple(
            _corrected(*marks[r, column]) if (r, column) in marks else cell
            for column, cell in zip(columns, map(str, line), strict=True)
        )
        for r, line in enumerate(cells.itertuples(index=False))
    ]
    numeric = tuple(
        k
        for k, c in enumerate(columns)
        if k and all(_NUMBER.fullmatch(v.strip()) for v in cells[c])
    )
    whole = f"{exhibit_name(exhibit.id, exhibit.kind)}: {exhibit.title}"
    remarks = [*spec.footnotes, *([REWORDED] if spec.reworded else [])]
    is_turned = len(columns) > max(MAX_COLUMNS, len(rows)) and len(numeric) == len(columns) - 1
    if is_turned and not any(column == columns[0] for _, column in marks):
        name, *heads = columns[0], *cells.iloc[:, 0].map(str)
        rows = [(c, *(row[k] for row in rows)) for k, c in enumerate(columns) if k]
        columns, numeric = [name, *heads], tuple(range(1, len(heads) + 1))
        remarks.append(TURNED)
    blocks: list[Block] = [
        Grid(label=whole, columns=tuple(columns), rows=tuple(rows), numeric=numeric)
    ]
    blocks += map(note, remarks)
    if wrong:
        reasons = [
            (Span(text=str(k), style="mark"), f" {c.reason}") for k, c in enumerate(wrong, 1)
        ]
        blocks.append(Listing(items=tuple(reasons)))
    how = "reworded" if spec.reworded else "transcribed"
    file = f"data/published/{study.id}/tables/{spec.table}.csv"
    blocks += [
        trace(study, exhibit, "File and lines"),
        source(study, exhibit, "Printed in ", f"; {how} into ", Span(text=file, style="code"), "."),
    ]
    words = f"{'Reworded' if spec.reworded else 'As printed'} (CSV)"
    numbers = (Numbers.of(cells, f"{study.id}-{exhibit.id}", words=words),)
    return exhibit_record(
        context,
        exhibit,
        figure,
        f"{plural(len(wrong), 'cell is', 'cells are')} corrected; the notes give the reasons."
        if wrong
        else "",
        numbers,
        provenance=(Provenance.PUBLISHED,),
        blocks=blocks,
        description=whole,
    )


def _corrected(mark: int, correction: Correction) -> Words:
    return (
        Span(text=correction.printed or "nothing", style="deleted"),
        " ",
        Span(text=correction.corrected, style="inserted"),
        Span(text=str(mark), style="mark"),
    )


KIND = ExhibitKind("table", record, spec=Spec, draw=draw, check=check)
