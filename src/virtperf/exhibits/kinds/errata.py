"""Misprints of the paper: cells with what must be meant and why, then everything else a reader should know."""

from __future__ import annotations

import pandas as pd

from virtperf.exhibits.kinds import Context, Kind
from virtperf.exhibits.records import Block, Grid, Heading, Listing, Numbers, Paragraph, Record, Span, Words
from virtperf.exhibits.text import table_text
from virtperf.exhibits.wording import exhibit_name, plural
from virtperf.study.printed import corrections


def record(context: Context) -> Record:
    """The table of misprinted cells, and a list of other remarks.

    Raises
    ------
    StudyError
        A correction does not fit its table.
    """
    study = context.study
    wrong = corrections(study)
    remarks = [" ".join(str(remark).split()) for remark in study.data.get("errata", ())]
    made = Record(kind="errata", id="errata", study=study.id, title="")
    if not wrong and not remarks:
        words = "No misprint is noted."
        return made.model_copy(update={"blocks": (Paragraph(words=words, style="note"),), "text": words})
    exhibits = {str(e.spec["table"]): e for e in study.exhibits if e.spec.get("table")}
    rows: list[tuple[Words, ...]] = []
    text = []
    for c in wrong:
        exhibit = exhibits.get(c.table)
        place = f"{exhibit_name(exhibit.id, exhibit.kind) if exhibit else c.table}, row {c.position + 1}, {c.column}"
        where = (Span(text=place, link=f"exhibit:{exhibit.id}"),) if exhibit else place
        rows.append((where, c.printed, c.corrected, c.reason))
        text.append([place, c.printed, c.corrected])
    blocks: list[Block] = []
    if wrong:
        table = Grid(label="Misprints", columns=("Where", "Printed", "Meant", "Why"), rows=tuple(rows), stacks=True)
        blocks += [Heading(text="Misprinted cells"), table]
    if remarks:
        blocks += [Heading(text="Unclear or inconsistent places"), Listing(items=tuple(remarks))]
    columns = ["where", "printed", "meant"]
    return made.model_copy(update={
        "blocks": tuple(blocks), "text": f"{table_text(columns, text)}\n{plural(len(remarks), 'remark')}",
        "numbers": (Numbers.of(pd.DataFrame(text, columns=columns), f"{study.id}-errata", words=""),),
    })  # fmt: skip


KIND = Kind("errata", record)
