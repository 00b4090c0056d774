"""What the synthesis shows, as records: the matrix, one table a question, comparisons, capacities,
studies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from virtperf.core.provenance import Provenance
from virtperf.report.claim_words import verdict_counts
from virtperf.report.data import StudyData
from virtperf.report.records import Block, Grid, Heading, Numbers, Paragraph, Record, Span, Words
from virtperf.report.synthesis import capacity
from virtperf.report.synthesis.agreement import Agreement, agreement
from virtperf.report.synthesis.capacity import Course
from virtperf.report.synthesis.definition import Question, Row
from virtperf.report.synthesis.values import Value
from virtperf.report.wording import joined, plural, printable

SILENT = "silent"
KINDS_OF_WORDS = (
    "Allows: the range of all values that agree with a paper's text. States: one statement of a paper, with the room "
    "of its printed digits. Measured: mean and confidence interval of runs. Order only: the text says which is larger, "
    "and no more. Silent: the study says nothing about it."
)
MAX_NAMED_PAIRS = 4  # pairs of values without a common one that are named
Found = Mapping[str, Sequence[Value]]
"""Values by the id of their row."""


def record(
    name: str,
    title: str,
    *blocks: Block,
    values: Sequence[Value] = (),
    numbers: pd.DataFrame | None = None,
) -> Record:
    """A record of the synthesis; its provenance is that of all its values."""
    kinds = dict.fromkeys(value.provenance for value in values)
    return Record(
        kind="synthesis",
        id=name,
        study="",
        title=title,
        blocks=blocks,
        provenance=tuple(kind for kind in Provenance if kind in kinds),
        numbers=() if numbers is None else (Numbers.of(numbers, f"synthesis-{name}"),),
    )


def frame(rows: Mapping[str, Row], found: Found) -> pd.DataFrame:
    """One row a value and piece: what the download holds and the picture draws."""
    return pd.DataFrame(
        [
            {
                "row": name,
                "quantity": rows[name].says,
                "unit": rows[name].unit,
                "study": value.study,
                "system": value.label,
                "number": value.number,
                "kind": value.kind,
                "value": value.value,
                "low": low,
                "high": high,
                "provenance": str(value.provenance),
            }
            for name, values in found.items()
            for value in values
            for low, high in value.pieces or ((math.nan, math.nan),)
        ]
    )


def matrix(questions: Sequence[Question], found: Found, studies: Sequence[str]) -> Record:
    """Studies by quantities, a table a question: what each allows, states or measured, and which
    are silent.
    """
    blocks: list[Block] = []
    for asked in questions:
        speak = {value.study for row in asked.rows for value in found[row.id]}
        rows = tuple(
            (study, *(_cell([v for v in found[row.id] if v.study == study]) for row in asked.rows))
            for study in studies
            if study in speak
        )
        columns = ("Study", *(row.says for row in asked.rows))
        blocks += [
            Heading(text=asked.label),
            Grid(label=asked.label, columns=columns, rows=rows, stacks=True),
        ]
        if silent := [study for study in studies if study not in speak]:
            blocks.append(Paragraph(words=f"Silent: {joined(silent)}.", style="small"))
    shown = [value for values in found.values() for value in values]
    numbers = frame({row.id: row for asked in questions for row in asked.rows}, found)
    remark = Paragraph(words=KINDS_OF_WORDS, style="small")
    return record(
        "matrix",
        "What every study says of every quantity",
        remark,
        *blocks,
        values=shown,
        numbers=numbers,
    )


def question(asked: Question, found: Found) -> Record:
    """Every number that answers one question, with the evidence, and whether the studies agree."""
    lines: list[tuple[Words, ...]] = []
    shown: list[Value] = []
    remarks: list[Block] = []
    for row in asked.rows:
        shown += found[row.id]
        lines += [
            (
                row.says,
                value.study,
                _with(value.label, value.reading),
                value.said,
                (Span(text=value.number, link=value.link),),
            )
            for value in found[row.id]
        ]
        compared = agreement(found[row.id]) if row.shared else None
        if compared is not None:
            remarks.append(
                Paragraph(words=(Span(text=f"{row.says}. ", style="strong"), compared.words))
            )
    columns = ("Quantity", "Study", "System", "Value", "Evidence")
    grid = Grid(label=asked.label, columns=columns, rows=tuple(lines), stacks=True)
    numbers = frame(
        {row.id: row for row in asked.rows}, {row.id: found[row.id] for row in asked.rows}
    )
    return record(asked.id, asked.asks, grid, *remarks, values=shown, numbers=numbers)


def agreements(questions: Sequence[Question], found: Found) -> Record:
    """All quantities that several studies share, with the outcome of the comparison."""
    rows: list[tuple[Words, ...]] = []
    shown: list[Value] = []
    for row in (row for asked in questions for row in asked.rows if row.shared):
        compared = agreement(found[row.id])
        if compared is not None:
            shown += found[row.id]
            who = joined(dict.fromkeys(v.study for v in found[row.id]))
            rows.append((row.says, who, compared.words, tuple(_apart(compared))))
    columns = ("Quantity", "Studies", "Outcome", "Without a common value")
    grid = Grid(label="Shared quantities", columns=columns, rows=tuple(rows), stacks=True)
    note = (
        "Computed from ranges, statements and intervals alone. Studies that differ need not contradict each other: "
        "systems, workloads and machines differ."
    )
    remark = Paragraph(words=note, style="small")
    return record(
        "agreements", "Where studies agree and where they differ", grid, remark, values=shown
    )


def capacities(found: Sequence[Course], of: str, ratios: Sequence[float]) -> Record:
    """What every curve of one resource says at these overcommitment ratios."""
    chosen = [course for course in found if course.curve.of == of]
    rows: list[tuple[Words, ...]] = []
    for course in chosen:
        curve = course.curve
        system = _with(f"{curve.study}: {curve.label}", f"relative to {curve.against}")
        rows.append((curve.measure, system, *(course.at(ratio).words for ratio in ratios)))
    title = f"{capacity.RATIOS[of]}: {joined(f'{ratio:g}' for ratio in ratios)}"
    values = [value for course in chosen for _, values in course.points for value in values]
    columns = ("Measure", "System", *(f"at {ratio:g}" for ratio in ratios))
    grid = Grid(label=title, columns=columns, rows=tuple(rows), stacks=True)
    return record(f"capacity-{of}", title, grid, values=values, numbers=capacity.frame(chosen))


def coverage(studies: Mapping[str, StudyData]) -> Record:
    """What the repository holds of each study: exhibits, claims encoded and not, runs, verdicts."""
    rows: list[tuple[Words, ...]] = []
    numbers = []
    for name, data in studies.items():
        text, measured = verdict_counts(data)
        runs = len(data.index.get("runs", ()))
        left_out = len(data.claims.not_encoded) if data.claims else 0
        noted = int(data.study.data.get("claims_in_ledger", 0))
        kinds = (
            "hypotheses" if data.study.kind == "measured" else "claims",
            len(data.paper_claims),
        )
        judged = sum(count for word, count in measured.items() if word != "no measurement")
        line = {
            "study": name,
            "exhibits": len(data.study.exhibits),
            "notes": noted,
            "left_out": left_out,
            "encoded": noted - left_out if noted else 0,
            "claims": kinds[1],
            "runs": runs,
            "judged": judged,
            "contradicted": text["contradicted"] + text["depends"],
        }
        numbers.append(line)
        rows.append(
            (
                (Span(text=printable(data.study.data["title"]), link=f"exhibit:{name}/summary"),),
                str(line["exhibits"]),
                f"{line['encoded']} of {noted}" if noted else "none",
                f"{kinds[1]} {kinds[0]}",
                str(line["contradicted"]) if data.study.kind != "measured" else "none",
                plural(runs, "run"),
                str(judged),
            )
        )
    columns = (
        "Study",
        "Exhibits",
        "Notes encoded",
        "Statements",
        "Contradicted or dependent",
        "Measured",
        "Judged by runs",
    )
    note = "Notes that are not encoded stand in each study's claims.yaml with a reason."
    remark = Paragraph(words=note, style="small")
    grid = Grid(label="Studies", columns=columns, rows=tuple(rows), stacks=True)
    return record(
        "studies", "What is encoded of each study", grid, remark, numbers=pd.DataFrame(numbers)
    )


def spoken(values: Sequence[Value]) -> str:
    """Values of a row for a sentence: ``z/VM 0.9 to 1.1; Xen measured 0.98 (0.97 to 0.99)``."""
    return "; ".join(f"{value.label}: {value.said}" for value in values) or SILENT


def _cell(values: Sequence[Value]) -> Words:
    if not values:
        return (Span(text=SILENT, style="empty"),)
    parts: list[str | Span] = []
    for k, value in enumerate(values):
        parts += [
            "; " if k else "",
            f"{value.label}: " if value.label else "",
            Span(text=value.said, link=value.link),
        ]
    return tuple(parts)


def _apart(compared: Agreement) -> Iterator[str | Span]:
    for k, (a, b) in enumerate(compared.apart[:MAX_NAMED_PAIRS]):
        yield "; " if k else ""
        yield f"{a.label} ({a.study}) {a.said}, {b.label} ({b.study}) {b.said}"
    if len(compared.apart) > MAX_NAMED_PAIRS:
        yield f"; and {plural(len(compared.apart) - MAX_NAMED_PAIRS, 'pair')} more"


def _with(label: str, reading: str) -> Words:
    return (label, Span(text=reading, style="small")) if reading else label
