"""Where the cells of printed tables stand: the file that they were transcribed into, line by line."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from virtperf.exhibits.data import StudyData
from virtperf.study.printed import corrections


@dataclass(frozen=True)
class TableTrace:
    """A printed table: its key (``study/table-4``), its file, the line of every row with its first cell, misprinted
    cells with the reasons of their corrections, the claims that speak of it.
    """

    key: str
    exhibit: str
    title: str
    section: str
    file: str
    reworded: bool
    lines: tuple[tuple[int, str], ...]
    corrected: tuple[tuple[str, str], ...]
    claims: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def table_traces(data: StudyData) -> Iterator[TableTrace]:
    """The trace of every printed table, in the study's order; raises `StudyError` as its kind does."""
    study = data.study
    for exhibit in study.exhibits:
        name = exhibit.spec.get("table")
        if not name:
            continue
        wrong = corrections(study, str(name))
        with (study.folder / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            reader = csv.reader(file)
            next(reader, None)
            lines, last = [], reader.line_num
            for row in reader:
                lines.append((last + 1, row[0] if row else ""))
                last = reader.line_num
        yield TableTrace(
            key=f"{study.id}/{exhibit.id}", exhibit=exhibit.id, title=exhibit.title, section=exhibit.section,
            file=f"data/published/{study.id}/tables/{name}.csv",
            reworded=bool(exhibit.spec.get("reworded")), lines=tuple(lines),
            corrected=tuple(
                (f"{c.row}, {c.column}: printed {c.printed or 'nothing'}, corrected {c.corrected}", c.reason)
                for c in wrong
            ),
            claims=data.claims_about(exhibit.id),
        )  # fmt: skip


def table_text(trace: TableTrace, claims: dict[str, str]) -> str:
    """The trace in lines of plain text."""
    lines = [
        trace.key,
        f"  value    {trace.title}, {'reworded, numbers ' * trace.reworded}as printed"
        + (f" in section {trace.section!r}" if trace.section else ""),
        f"  file     {trace.file}",
    ]
    lines += [f"    line {line}: {cell}" for line, cell in trace.lines]
    lines += [f"  corrected {cell}; {reason}" for cell, reason in trace.corrected]
    lines += [f"  claim    {c}: {claims[c]}" for c in trace.claims]
    return "\n".join(lines)
