"""Errata of the paper: misprinted cells with corrections and reasons, then other remarks."""

from __future__ import annotations

from virtperf.core.numbers import plural
from virtperf.report.kinds import Context, ExhibitKind, note, register
from virtperf.report.records import Block, Folded, Grid, Heading, Listing, Record, Span, Words
from virtperf.report.wording import exhibit_name
from virtperf.study.printed import corrections


def record(context: Context) -> Record:
    """Build a table of misprinted cells and a list of other remarks."""
    study = context.study
    wrong = corrections(study)
    remarks = [remark.says for remark in study.errata]
    if not wrong and not remarks:
        return register(context, "errata", note("No misprints are recorded."))
    exhibits = {str(e.spec["table"]): e for e in study.exhibits if e.spec.get("table")}
    rows: list[tuple[Words, ...]] = []
    for c in wrong:
        exhibit = exhibits.get(c.table)
        place = f"{exhibit_name(exhibit.id, exhibit.kind) if exhibit else c.table}, row {c.position + 1}, {c.column}"
        where = (Span(text=place, link=f"exhibit:{exhibit.id}"),) if exhibit else place
        rows.append((where, c.printed, c.corrected, c.reason))
    blocks: list[Block] = []
    if wrong:
        table = Grid(
            label="Misprints",
            columns=("Place", "Printed", "Corrected", "Reason"),
            rows=tuple(rows),
            stacks=True,
        )
        blocks += [Heading(text="Misprinted cells"), table]
    if remarks:
        summary = f"{plural(len(remarks), 'unclear or inconsistent place')}"
        blocks.append(Folded(summary=summary, blocks=(Listing(items=tuple(remarks)),)))
    return register(context, "errata", *blocks)


KIND = ExhibitKind("errata", record)
