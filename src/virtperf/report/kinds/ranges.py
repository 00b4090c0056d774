"""Derived numbers: the range allowed by a text, and estimates from measured runs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from rawperf.core.errors import StudyError, did_you_mean
from virtperf.core.numbers import join_words, plural, pretty, with_interval
from virtperf.core.provenance import Origin, Provenance
from virtperf.report import run_estimates
from virtperf.report.axis_words import unit_words
from virtperf.report.frames import StudyData
from virtperf.report.kinds import Context, ExhibitKind, analysis, estimates, note
from virtperf.report.origins import TEXT
from virtperf.report.other_readings import (
    READING_NAMES,
    changed_readings,
    claims_by_number,
    collapsed_table,
)
from virtperf.report.range_words import peak_words, range_words
from virtperf.report.records import Block, Grid, Numbers, Record, Span, Words
from virtperf.report.wording import exhibit_name, slug
from virtperf.study.definition import Study
from virtperf.study.derived_kinds.base import Derivation

NO_RUNS = "No run has measured these numbers yet."
NO_RANGES = "The ranges of these numbers are not computed yet."
MAX_SENTENCES = 2
"""Number of sentences named that change a number under other readings."""
SEARCH_NOTE = (
    "“Found”: a fitted model is not linear in the values, so its range was searched over data sets "
    "consistent with the text. The number can lie outside this range."
)


def record(context: Context, names: str | Sequence[str], *, title: str = "") -> Record:
    """Build a table of derived numbers: `names` are exhibits, for all of each, or ids of `derived`
    in study.yaml. For a measured study, which has no text, it has the estimates from runs.

    Raises `StudyError` with close matches if a name is neither.
    """
    requested = (names,) if isinstance(names, str) else tuple(names)
    selected = _select(context.data, requested)
    exhibits = dict.fromkeys(
        name for derivation in selected for name in derivation.derived.exhibits if name != TEXT
    )
    title = (
        title or f"Numbers that follow from {join_words(map(exhibit_name, exhibits)) or 'the text'}"
    )
    if context.study.kind == "measured":
        measured_ratios = {
            derivation.label: run_estimates.estimate(context.data, derivation, context.level)
            for derivation in selected
            if not derivation.of_itself
        }
        measured = {
            label: estimate for label, estimate in measured_ratios.items() if estimate is not None
        }
        if measured:
            estimates_record = estimates.record(context, measured, title=title)
            return estimates_record.model_copy(
                update={"lineage": tuple(f"exhibit:{name}" for name in exhibits)}
            )
        return analysis(context, "estimates", title, None, pd.DataFrame(), note(NO_RUNS))
    table = context.data.ranges
    rows: dict[Any, Any] = {(row["derived"], row["label"]): row for row in table.to_dict("records")}
    lines = [
        _Line(
            context,
            derivation,
            rows[derivation.derived.id, derivation.label],
            _unit(context.study, derivation, selected),
        )
        for derivation in selected
        if (derivation.derived.id, derivation.label) in rows and not derivation.of_itself
    ]
    study, anchor = context.study.id, slug(title)
    blocks: list[Block] = [_grid(title, lines) if lines else note(NO_RANGES)]
    blocks += _changes_by_reading(context.data, lines)
    if tried := sum(
        int(line.row["data_sets"])
        for line in {line.derivation.parts: line for line in lines}.values()
    ):
        blocks.append(note(f"{SEARCH_NOTE} {plural(tried, 'data set')} were tried."))
    is_shown = {
        Provenance.PUBLISHED: any(line.printed for line in lines),
        Provenance.RECONSTRUCTED: bool(lines),
        Provenance.MEASURED: any(
            isinstance(getattr(line.measured, "origin", None), Origin) for line in lines
        ),
    }
    units = {line.unit for line in lines}
    return Record(
        kind="ranges",
        id=anchor,
        study=study,
        title=title,
        caption=f"In {units.pop()}." if len(units) == 1 and "" not in units else "",
        provenance=tuple(kind for kind, is_there in is_shown.items() if is_there),
        numbers=(Numbers.of(pd.DataFrame([line.cells() for line in lines]), f"{study}-{anchor}"),)
        if lines
        else (),
        lineage=tuple(f"exhibit:{name}" for name in exhibits),
        blocks=tuple(blocks),
    )


def _select(data: StudyData, names: Iterable[str]) -> list[Derivation]:
    known = data.derivations
    ids = dict.fromkeys(derivation.derived.id for derivation in known)
    about = dict.fromkeys(name for derivation in known for name in derivation.derived.exhibits)
    for name in names:
        if name not in ids and name not in about:
            exists = any(name == exhibit.id for exhibit in data.study.exhibits)
            problem = (
                f"{name} has no derived numbers"
                if exists
                else f"there is no exhibit or derived number {name!r}"
            )
            raise StudyError(problem, file="study.yaml", remedy=did_you_mean(name, [*about, *ids]))
    return [
        a for name in names for a in known if name == a.derived.id or name in a.derived.exhibits
    ]


class _Line:
    """One derived number: its row of the table `RANGES` and its estimate from measured runs."""

    def __init__(
        self, context: Context, derivation: Derivation, row: dict[str, Any], unit: str
    ) -> None:
        self.derivation, self.row, self.unit = derivation, row, unit
        bounds, searched = derivation.bounds(context.study), row["method"] == "searched"
        if derivation.derived.is_position:
            self.text, assumed = (
                peak_words(row[name], derivation) for name in ("levels_text", "levels")
            )
        else:
            both = (row["pieces_text"], row["pieces"])
            self.text, assumed = (range_words(pieces, bounds, searched=searched) for pieces in both)
        self.assumed = assumed if context.assumptions else self.text
        self.printed = join_words(map(pretty, row["printed"]))
        self.measured = run_estimates.estimate(context.data, derivation, context.level)

    @property
    def label(self) -> str:
        """The number's name, with its unit unless the name includes it."""
        name = self.derivation.label
        return name if not self.unit or self.unit in name else f"{name}, {self.unit}"

    @property
    def measured_words(self) -> str:
        if self.measured is None:
            return "none"
        if not self.measured.available:
            return str(self.measured.reason)
        return with_interval(self.measured.value, self.measured.low, self.measured.high)

    def cells(self) -> dict[str, Any]:
        """The row of the download."""
        row, measured = self.row, self.measured
        known = measured is not None and measured.available
        return {
            "number": self.derivation.label,
            "kind": row["kind"],
            "unit": self.unit,
            **{name: row[name] for name in ("low_text", "high_text", "low", "high")},
            **{
                name: "; ".join(map(str, row[name]))
                for name in ("pieces_text", "pieces", "levels_text", "levels")
            },
            "method": row["method"],
            "data_sets": int(row["data_sets"]),
            "printed": self.printed,
            **{
                f"measured_{name}": getattr(measured, name) if known else math.nan
                for name in ("value", "low", "high")
            },
            "remarks": row["note"],
        }


def _grid(title: str, lines: Sequence[_Line]) -> Grid:
    shared = len({line.unit for line in lines}) == 1
    labels = [line.derivation.label if shared else line.label for line in lines]
    columns = {"Number": labels, "The text allows": [line.text for line in lines]}
    if any(line.assumed != line.text for line in lines):
        columns["With our assumptions"] = [
            "the same" if ln.assumed == ln.text else ln.assumed for ln in lines
        ]
    if any(line.printed for line in lines):
        columns["Printed"] = [line.printed or "" for line in lines]
    if any(line.measured is not None for line in lines):
        columns["Measured"] = [line.measured_words for line in lines]
    if any(line.row["note"] for line in lines):
        columns["Remarks"] = [line.row["note"] or "" for line in lines]
    rows = tuple(zip(*columns.values(), strict=True))
    return Grid(label=title, columns=tuple(columns), rows=rows, stacks=True)


def _changes_by_reading(data: StudyData, lines: Sequence[_Line]) -> list[Block]:
    """Ranges of the numbers under other readings of words, by the text alone."""
    changed, claims = changed_readings(data, "derived"), claims_by_number(data)
    sentences = {claim.id: claim.says for claim in data.paper_claims}
    rows: dict[Words, list[Words]] = {}
    for line in lines:
        cells = changed.get((line.derivation.derived.id, line.derivation.label))
        if cells is not None:
            rows[line.label] = [
                levels
                or range_words(
                    (low, high),
                    line.derivation.bounds(data.study),
                    searched=line.row["method"] == "searched",
                )
                for levels, low, high in (cells[r] for r in READING_NAMES)
            ]
            names = [
                name
                for name in claims[line.derivation.derived.id, line.derivation.label]
                if name in sentences
            ]
            rows[line.label] += [_claim_links(names, sentences)]
    counted = f"{len(rows)} of {plural(len(lines), 'number')}"
    return collapsed_table(data, counted, "Number", rows, ("Claims read differently",))


def _claim_links(names: Sequence[str], sentences: Mapping[str, str]) -> Words:
    """The first sentences as links to their claims, and the count of the rest."""
    words: list[str | Span] = []
    for name in names[:MAX_SENTENCES]:
        words += [" "] * bool(words) + [Span(text=sentences[name], link=f"claim:{name}")]
    more = len(names) - MAX_SENTENCES
    return (*words, f" and {plural(more, 'more claim')}") if more > 0 else tuple(words)


def _unit(study: Study, derivation: Derivation, shown: Sequence[Derivation]) -> str:
    """Unit with the reference point named, in the same way for all numbers shown; "" for counts and
    shares.
    """
    unit = derivation.unit
    if not derivation.derived.unit:
        for name in dict.fromkeys(part.terms[0][1].name for part in derivation.parts):
            points = [
                q
                for other in shown
                for part in other.parts
                for _, q in part.terms
                if q.name == name
            ]
            unit = unit.replace(study.quantities[name].unit, unit_words(study, name, points))
    return "" if unit == "1" else unit


KIND = ExhibitKind("ranges", record)
