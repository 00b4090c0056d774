"""Records of the synthesis: matrix, one table a question, comparisons (agreement of studies by
their ranges and intervals alone), capacities, limits, studies.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import pandas as pd

from virtperf.core.provenance import Provenance
from virtperf.core.verdicts import Verdict
from virtperf.report.claim_words import verdict_counts
from virtperf.report.frames import StudyData
from virtperf.report.records import (
    Block,
    Grid,
    Heading,
    Listing,
    Numbers,
    Paragraph,
    Record,
    Span,
    Words,
)
from virtperf.report.synthesis import capacity
from virtperf.report.synthesis.capacity import MIN_KEPT_SHARE, CurveValues
from virtperf.report.synthesis.capacity import RatioGrid as JointValues
from virtperf.report.synthesis.definition import QuantityRow, SynthesisQuestion
from virtperf.report.synthesis.values import Piece, Value
from virtperf.report.wording import (
    IN_CONFLICT,
    OTHERS_IN_CONFLICT,
    join_words,
    plural,
    printable,
    short_number,
)

SAME_VALUE_RATIO = 1.05
"""Largest ratio of equal values: no study of virtualization could explain a difference of 5 %
between two machines.
"""
MAX_COMPARED_RATIO = 1.5
"""Largest ratio of the limits of a range for comparisons."""


@dataclass(frozen=True)
class Agreement:
    """Result of a comparison of the values of one row.

    `compared`: values with two limits, at most a factor of `MAX_COMPARED_RATIO` apart. `left_out`:
        the others, with too wide a range.
    `apart`: pairs of different studies whose values certainly differ by more than
        `SAME_VALUE_RATIO`. `same`: whether all values lie within `SAME_VALUE_RATIO`.
    """

    compared: tuple[Value, ...]
    left_out: tuple[Value, ...]
    apart: tuple[tuple[Value, Value], ...]
    same: bool

    @property
    def words(self) -> str:
        """The result in one sentence."""
        if self.same:
            low, high = map(short_number, _ends(self.compared))
            return (
                f"They agree within 5 %, {f'at {low}' if low == high else f'from {low} to {high}'}."
            )
        if self.apart:
            return "They differ."
        return "Not decided: the ranges overlap or are less than 5 % apart."


def agreement(values: Sequence[Value]) -> Agreement | None:
    """Compare values of one quantity; None if fewer than two studies have a narrow range with two
    limits.

    Limits of a text are certain; an interval of runs has its confidence level.
    """
    limited = tuple(v for v in values if _narrow(v))
    if len({v.study for v in limited}) < 2:
        return None
    low, high = _ends(limited)
    apart = tuple(
        (a, b)
        for a, b in combinations(limited, 2)
        if a.study != b.study and _distance(a.pieces, b.pieces) > SAME_VALUE_RATIO
    )
    left_out = tuple(v for v in values if v not in limited)
    return Agreement(limited, left_out, apart, high <= SAME_VALUE_RATIO * low)


def _narrow(value: Value) -> bool:
    if not value.pieces:
        return False
    low, high = _ends([value])
    return low > 0 and high <= MAX_COMPARED_RATIO * low


def _ends(values: Sequence[Value]) -> Piece:
    ends = [end for value in values for piece in value.pieces for end in piece]
    return min(ends), max(ends)


def _distance(first: Sequence[Piece], second: Sequence[Piece]) -> float:
    """Smallest ratio between values of two ranges; 1 if they overlap."""
    return min(max(1.0, c / b, a / d) for a, b in first for c, d in second)


NO_NUMBER = "no number"
VALUE_KINDS_NOTE = (
    "Allows: the range of all values consistent with a paper's text. States: one claim of a paper, with the rounding "
    "of its printed digits. Measured: mean and confidence interval of runs. Order only: the text states only which is "
    "larger. Ratios: 1 is no change."
)
MAX_LISTED_PAIRS = 4
ValuesByRow = Mapping[str, Sequence[Value]]
"""Values by row id."""


def record(
    name: str,
    title: str,
    *blocks: Block,
    values: Sequence[Value] = (),
    numbers: pd.DataFrame | None = None,
) -> Record:
    """Build a record of the synthesis, with the provenance of all its values."""
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


def values_frame(rows: Mapping[str, QuantityRow], values_by_row: ValuesByRow) -> pd.DataFrame:
    """Frame with one row a value and piece, for the download and the picture."""
    return pd.DataFrame(
        [
            {
                "row": name,
                "quantity": rows[name].says,
                "unit": rows[name].unit,
                "study": value.study,
                "system": value.system,
                "compared": value.label,
                "number": value.number,
                "kind": value.kind,
                "value": value.value,
                "low": low,
                "high": high,
                "provenance": str(value.provenance),
            }
            for name, values in values_by_row.items()
            for value in values
            for low, high in value.pieces or ((math.nan, math.nan),)
        ]
    )


def matrix(
    questions: Sequence[SynthesisQuestion], values: ValuesByRow, studies: Sequence[str]
) -> Record:
    """Count the numbers of each system for each question, with the reasons for missing ones."""
    every = [value for question in questions for row in question.rows for value in values[row.id]]
    systems = dict.fromkeys(
        (v.study, v.system) for v in sorted(every, key=lambda value: studies.index(value.study))
    )
    rows: list[tuple[Words, ...]] = []
    for study, system in systems:
        cells: list[Words] = [_with_note(system or study, study if system else "")]
        for question in questions:
            count = sum(
                (value.study, value.system) == (study, system)
                for row in question.rows
                for value in values[row.id]
            )
            cells.append(str(count) if count else (Span(text="none", style="empty"),))
        rows.append(tuple(cells))
    columns = ("System", *(question.label for question in questions))
    grid = Grid(
        label="Numbers by system and question", columns=columns, rows=tuple(rows), stacks=True
    )
    reasons = [
        Paragraph(words=f"{question.label}, {study}: {reason}", style="small")
        for question in questions
        for study, reason in question.unused.items()
    ]
    numbers = values_frame({row.id: row for question in questions for row in question.rows}, values)
    title = "Number of values by system and question"
    return record("matrix", title, grid, *reasons, values=every, numbers=numbers)


def question(
    spec: SynthesisQuestion, values: ValuesByRow, sentences: Sequence[Words] = ()
) -> Record:
    """The answer to one question: the first of the `sentences`, then, below a heading, the others and
    the table of all numbers, with evidence and agreement of studies.
    """
    lines: list[tuple[Words, ...]] = []
    shown: list[Value] = []
    remarks: list[Block] = []
    for row in spec.rows:
        shown += values[row.id]
        lines += [
            (
                row.head,
                _with_note(value.system or value.study, value.study if value.system else ""),
                _with_note(value.label, value.reading),
                value.text,
                (Span(text=value.number, link=value.link),),
            )
            for value in values[row.id]
        ]
        compared = agreement(values[row.id]) if row.shared else None
        if compared is not None:
            remarks.append(
                Paragraph(words=(Span(text=f"{row.says}. ", style="strong"), compared.words))
            )
    columns = ("Quantity", "System", "Comparison", "Value", "Evidence")
    remarks.append(Paragraph(words=VALUE_KINDS_NOTE, style="small"))
    grid = Grid(label=spec.label, columns=columns, rows=tuple(lines), stacks=True)
    numbers = values_frame(
        {row.id: row for row in spec.rows}, {row.id: values[row.id] for row in spec.rows}
    )
    lead = [Paragraph(words=words) for words in sentences[:1]]
    more = [Listing(items=tuple(sentences[1:]))] if sentences[1:] else []
    blocks = (*lead, Heading(text="Evidence"), *more, grid, *remarks)
    answer = record(spec.id, spec.label, *blocks, values=shown, numbers=numbers)
    return answer.model_copy(update={"heading": spec.label, "level": 2, "note": spec.asks})


def agreements(questions: Sequence[SynthesisQuestion], values: ValuesByRow) -> Record:
    """Table of the quantities with two limits from several studies, with the result."""
    rows: list[tuple[Words, ...]] = []
    shown: list[Value] = []
    for row in (row for question in questions for row in question.rows if row.shared):
        compared = agreement(values[row.id])
        if compared is not None:
            shown += values[row.id]
            rows.append(
                (
                    row.head,
                    _values_list(compared.compared),
                    compared.words,
                    tuple(_differing_pairs(compared)) or "none",
                    _values_list(compared.left_out) or "none",
                )
            )
    columns = (
        "Quantity",
        "Compared",
        "Outcome",
        "More than 5 % apart",
        "Not compared (too wide or one-sided)",
    )
    grid = Grid(label="Shared quantities", columns=columns, rows=tuple(rows), stacks=True)
    note = (
        "Only ranges and intervals with two limits, at most a factor of 1.5 apart, are compared. Studies agree if all "
        "of their values lie within 5 %. They differ if two of them are more than 5 % apart at their nearest. Systems, "
        "workloads and machines are not the same, so a difference is not a contradiction."
    )
    remark = Paragraph(words=note, style="small")
    return record("agreements", "Agreement of the studies", grid, remark, values=shown)


def capacities(curves: Sequence[CurveValues], of: str, ratios: Sequence[float]) -> Record:
    """Table of all curves of one resource at the given overcommitment ratios."""
    selected = [curve for curve in curves if curve.curve.of == of]
    rows: list[tuple[Words, ...]] = [
        (
            curve.measure,
            _with_note(curve.system or curve.curve.study, curve.curve.study),
            _with_note(curve.curve.label, f"relative to {curve.curve.against}"),
            *(curve.at(ratio).words for ratio in ratios),
        )
        for curve in selected
    ]
    title = f"{capacity.RATIOS[of]}: {join_words(f'{ratio:g}' for ratio in ratios)}"
    values = [value for curve in selected for _, values in curve.points for value in values]
    columns = ("Measure", "System", "Comparison", *(f"at {ratio:g}" for ratio in ratios))
    grid = Grid(label=title, columns=columns, rows=tuple(rows), stacks=True)
    return record(
        f"capacity-{of}", title, grid, values=values, numbers=capacity.curve_frame(selected)
    )


def joint(joint_values: Sequence[JointValues], pairs: Sequence[tuple[float, float]]) -> Record:
    """Table of grids at pairs of a CPU ratio and a memory ratio."""
    rows: list[tuple[Words, ...]] = [
        (
            one.grid.measure,
            _with_note(one.system or one.grid.study, one.grid.study),
            _with_note(one.grid.label, f"relative to {one.grid.against}"),
            *(one.at(*pair) for pair in pairs),
        )
        for one in joint_values
    ]
    title = "CPUs and memory overcommitted together"
    heads = (f"CPUs {cpu:g}, memory {memory:g}" for cpu, memory in pairs)
    columns = ("Measure", "System", "Comparison", *heads)
    grid = Grid(label=title, columns=columns, rows=tuple(rows), stacks=True)
    values = [v for one in joint_values for cell in one.cells.values() for v in cell]
    return record("capacity-joint", title, grid, values=values)


def limits_record(curves: Sequence[CurveValues]) -> Record:
    """Table of the tested ratios by whether throughput stays near its reference."""
    selected = [curve_values for curve_values in curves if curve_values.measure == "throughput"]
    rows: list[tuple[Words, ...]] = []
    for curve_values in selected:
        known, curve = curve_values.limits, curve_values.curve
        start = capacity.ratio_text(curve.ratio(curve.reference))
        rows.append(
            (
                curve.of.replace("cpu", "CPU"),
                _with_note(curve_values.system or curve.study, curve.study),
                _with_note(curve.label, f"relative to {curve.against}, ratio {start}"),
                _ratios(known.kept),
                _ratios(known.lost),
                _ratios(known.unknown),
            )
        )
    percent = f"{100 * MIN_KEPT_SHARE:g} %"
    columns = (
        "Resource",
        "System",
        "Comparison",
        f"At least {percent} at",
        f"Less than {percent} at",
        "Unknown at",
    )
    title = (
        f"Overcommitment ratios with at least {percent} of the reference throughput, and with less"
    )
    grid = Grid(label=title, columns=columns, rows=tuple(rows), stacks=True)
    note = (
        "Total throughput of all guests at the tested ratios. A ratio is in the first or second "
        f"column if the whole range or interval lies on one side of {percent}."
    )
    values = [
        value for curve_values in selected for _, values in curve_values.points for value in values
    ]
    return record("limits", title, grid, Paragraph(words=note, style="small"), values=values)


def _ratios(ratios: Sequence[float]) -> str:
    return join_words(map(capacity.ratio_text, ratios)) or "none"


def coverage(studies: Mapping[str, StudyData]) -> Record:
    """Table of the content of each study: exhibits, claims encoded and not, runs, verdicts."""
    rows: list[tuple[Words, ...]] = []
    numbers = []
    for name, data in studies.items():
        text, measured = verdict_counts(data)
        runs = data.series["run_id"].nunique()
        left_out = len(data.claims.not_encoded) if data.claims else 0
        noted = int(data.study.data.get("n_statements", 0))
        kinds = (
            "hypotheses" if data.study.kind == "measured" else "claims",
            len(data.paper_claims),
        )
        judged = sum(count for word, count in measured.items() if word != Verdict.NO_MEASUREMENT)
        line = {
            "study": name,
            "exhibits": len(data.study.exhibits),
            "notes": noted,
            "left_out": left_out,
            "encoded": noted - left_out if noted else 0,
            "claims": kinds[1],
            "runs": runs,
            "judged": judged,
            "contradicted": text[IN_CONFLICT] + text[OTHERS_IN_CONFLICT],
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
        "In conflict, or others in conflict",
        "Measured",
        "Judged by its runs",
    )
    note = "Each study's claims.yaml lists the notes that are not encoded, with the reasons."
    remark = Paragraph(words=note, style="small")
    grid = Grid(label="Studies", columns=columns, rows=tuple(rows), stacks=True)
    return record(
        "studies", "Encoded content of each study", grid, remark, numbers=pd.DataFrame(numbers)
    )


def values_text(values: Sequence[Value], *, named: bool = True) -> str:
    """Format the values of a row for a sentence, optionally with their systems: ``z/VM 5.3, 2009:
    12 guests against 6: allows 0.9 to 1.1``. Without systems, values of several kinds say of which.
    """
    if not named:
        several = len({value.kind for value in values}) > 1
        return join_words([v.text if several else v.words for v in values]) or NO_NUMBER
    return "; ".join(f"{value.name}: {value.text}" for value in values) or NO_NUMBER


def _values_list(values: Sequence[Value]) -> str:
    return "; ".join(f"{value.name}: {value.text}" for value in values)


def _differing_pairs(compared: Agreement) -> Iterator[str | Span]:
    for k, (a, b) in enumerate(compared.apart[:MAX_LISTED_PAIRS]):
        yield "; " if k else ""
        yield f"{a.name} and {b.name}"
    if len(compared.apart) > MAX_LISTED_PAIRS:
        yield f"; and {plural(len(compared.apart) - MAX_LISTED_PAIRS, 'pair')} more"


def _with_note(label: str, reading: str) -> Words:
    return (label, Span(text=reading, style="small")) if reading else label
