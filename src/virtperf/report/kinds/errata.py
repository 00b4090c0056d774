"""Errata of the paper: corrected cells with reasons, then other remarks."""

from __future__ import annotations

import re

from virtperf.core.numbers import join_words, plural
from virtperf.report.kinds import Context, ExhibitKind, first_items, note, register
from virtperf.report.records import (
    Block,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Record,
    Span,
    Words,
)
from virtperf.report.wording import exhibit_name
from virtperf.study.printed import corrections

_ALIKE = str.maketrans("Il1O", "|||0")  # letters that many typefaces draw alike
FIRST_CELLS, FIRST = 2, 3  # corrected cells and remarks shown at once; the details have all
SHORT = 60  # characters of a cell, as printed and corrected, in such a line
SENTENCES = 2  # of a remark, the second often says what contradicts the first
_SENTENCE = re.compile(r"(?<=[a-z0-9%)][.:]) (?=[A-Z])")


def record(context: Context) -> Record:
    """Build a line that counts remarks and corrected cells, the first of both, a table of the
    cells, and a list of all remarks: those that touch claims come first.
    """
    study = context.study
    wrong = corrections(study)
    ranked = sorted(study.errata, key=lambda remark: not remark.claims)
    remarks = [" ".join(remark.says.split()) for remark in ranked]
    if not wrong and not remarks:
        unread = any(claim.taken_from for claim in context.data.paper_claims)
        none = "The paper's text was not available to look for misprints."
        return register(context, "errata", note(none if unread else "No misprints are recorded."))
    exhibits = {str(e.spec["table"]): e for e in study.exhibits if e.spec.get("table")}
    rows: list[tuple[Words, ...]] = []
    cells: list[Words] = []
    for c in wrong:
        exhibit = exhibits.get(c.table)
        place = f"{exhibit_name(exhibit.id, exhibit.kind) if exhibit else c.table}, row {c.position + 1}, {c.column}"
        where = Span(text=place, link=f"exhibit:{exhibit.id}") if exhibit else place
        rows.append(((where,), c.printed, c.corrected, c.reason))
        looks_alike = c.printed.translate(_ALIKE) == c.corrected.translate(_ALIKE)
        short = len(c.printed) + len(c.corrected) <= SHORT
        if len(cells) < FIRST_CELLS and short and not looks_alike:
            cells.append((where, f": {c.printed} is read as {c.corrected}."))
    unclear = plural(len(remarks), "unclear or inconsistent place")
    corrected = (
        f"{plural(len(wrong), 'table cell')} corrected (misprints, or damage in the text used here)"
    )
    counted = join_words([*([unclear] if remarks else []), *([corrected] if wrong else [])])
    blocks: list[Block] = [Paragraph(words=f"{counted}.")]
    first = (" ".join(_SENTENCE.split(says)[:SENTENCES]) for says in remarks[:FIRST])
    blocks.append(first_items([*first, *cells], len(rows) + len(remarks)))
    if wrong:
        table = Grid(
            label="Corrected cells",
            columns=("Place", "Printed", "Corrected", "Reason"),
            rows=tuple(rows),
            stacks=True,
        )
        blocks += [Heading(text="Corrected cells"), table]
    if remarks:
        blocks.append(Folded(summary=unclear, blocks=(Listing(items=tuple(remarks)),)))
    return register(context, "errata", *blocks)


KIND = ExhibitKind("errata", record)
