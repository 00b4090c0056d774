"""What is compared, one cell at a time: of the stages' tables, of exhibit records."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virtperf.core import stage_tables
from virtperf.report.records import (
    Block,
    Facts,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Record,
    Words,
)

KINDS = ("limits", "means", "verdicts", "estimates", "tables", "registers", "drawings")
"""What tolerances are declared for: limits of the text; means of runs and their samples; claims and
their verdicts; numbers of exhibits; printed tables; numbers within sentences; coordinates within
drawings."""

KEYS: dict[str, tuple[str, tuple[str, ...]]] = {
    stage_tables.POINTS.file: ("limits", ("exhibit", "series", "x", "quantity")),
    stage_tables.RANGES.file: ("limits", ("derived", "label")),
    stage_tables.CLAIMS.file: ("verdicts", ("claim",)),
    stage_tables.READINGS.file: ("limits", ("reading", "kind", "name")),
    stage_tables.VERDICTS.file: ("verdicts", ("claim",)),
    stage_tables.SERIES.file: ("means", ("run_id", "source", "entity_kind", "entity", "metric")),
    stage_tables.OBSERVATIONS.file: ("means", ("run_id", "quantity")),
    stage_tables.MEANS.file: ("means", ("quantity", "provenance", "scale")),
    stage_tables.AUDITS.file: ("means", ("run_id", "audit")),
    stage_tables.LINEAGE.file: ("means", ("run_id", "quantity", "role", "file", "entities")),
    stage_tables.TIMELINES.file: ("means", ("exhibit", "series", "run_id", "t_s")),
    stage_tables.THUMBNAILS.file: ("registers", ("run_id", "metric", "step")),
}
"""Of each table its kind, and the columns that name a row; those of means are the study's factors,
too.
"""

EXPLANATIONS = ("low_by", "high_by", "conflicts")
"""Columns that say which claims set a limit or conflict, of which several sets may do so equally:
not compared.
"""


@dataclass(frozen=True)
class Item:
    """One cell: its table (``points``) or exhibit (``figure-5``), row and column, and which of
    `KINDS` it is.

    The value is NaN where there is nothing; an infinite limit is an absent one. The width is that
    of the interval in the same row, NaN without one.
    """

    place: str
    label: str
    field: str
    kind: str
    value: float | str
    width: float = math.nan


def table_items(path: Path) -> list[Item]:
    """The cells of one table of a stage; a row that occurs twice is numbered."""
    frame = pd.read_parquet(path)
    kind, named = KEYS.get(path.name, ("means", ()))
    factors = (
        set(frame.columns) - set(stage_tables.MEANS.columns)
        if path.name == stage_tables.MEANS.file
        else ()
    )
    keys = [str(c) for c in frame.columns if c in named or c in factors]
    rest = [str(c) for c in frame.columns if c not in keys and c not in EXPLANATIONS]
    found: list[Item] = []
    seen: Counter[str] = Counter()
    for row in frame.to_dict("records"):
        label = _numbered(", ".join(str(_value(row[key])) for key in keys), seen)
        width = _width(row)
        for field in rest:
            cells = row[field]
            if isinstance(cells, np.ndarray) and cells.dtype.kind == "f":
                found += [
                    Item(path.stem, label, f"{field} {k}", kind, float(v), width)
                    for k, v in enumerate(cells, 1)
                ]
            else:
                found.append(Item(path.stem, label, field, kind, _value(cells), width))
    return found


def record_items(records: Iterable[Record]) -> list[Item]:
    """Everything that records say: words, numbers, drawings."""
    return [item for record in records for item in _record_items(record)]


def _record_items(record: Record) -> Iterator[Item]:
    tables = "tables" if record.kind == "table" else "estimates"
    words = "tables" if record.kind == "table" else "registers"
    facts = {
        "title": f"{record.name} {record.title}".strip(),
        "caption": record.caption,
        "provenance": ", ".join(record.provenance),
        "claims": ", ".join(record.claims),
        "lineage": ", ".join(record.lineage),
    }
    for field, value in facts.items():
        yield Item(record.id, "", field, "registers", value)
    for numbers in record.numbers:
        seen: Counter[str] = Counter()
        leading = next(
            (
                k
                for k, c in enumerate(zip(*numbers.rows, strict=True))
                if any(isinstance(v, float) for v in c)
            ),
            0,
        )
        for row in numbers.rows:
            cells = dict(zip(numbers.columns, row, strict=True))
            label = _numbered(", ".join([numbers.name, *map(str, row[:leading])]), seen)
            width = _width(cells)
            for field, cell in list(cells.items())[leading:]:
                yield Item(record.id, label, field, tables, _value(cell), width)
    for number, (field, text) in enumerate(_texts(record.blocks), start=1):
        yield Item(record.id, f"text {number}", field, words, text)
    if record.drawing is not None:
        yield Item(record.id, "drawing", "", "drawings", record.drawing.svg)


def _texts(blocks: Sequence[Block]) -> Iterator[tuple[str, str]]:
    for block in blocks:
        match block:
            case Paragraph():
                yield "", _plain(block.words)
            case Heading():
                yield "", block.text
            case Listing():
                yield from (("", _plain(item)) for item in block.items)
            case Grid():
                for row in block.rows:
                    yield from (
                        (column, _plain(cell))
                        for column, cell in zip(block.columns, row, strict=False)
                    )
            case Facts():
                yield from (
                    (fact.label, f"{fact.value} {fact.note}".strip()) for fact in block.facts
                )
            case Folded():
                yield "", block.summary
                yield from _texts(block.blocks)
            case _:
                yield block.block, block.model_dump_json()


def _plain(words: Words) -> str:
    return (
        words
        if isinstance(words, str)
        else "".join(w if isinstance(w, str) else w.text for w in words)
    )


def _numbered(label: str, seen: Counter[str]) -> str:
    seen[label] += 1
    return label if seen[label] == 1 else f"{label} ({seen[label]})"


def _value(cell: Any) -> float | str:
    if cell is None or cell is pd.NA:
        return math.nan
    if isinstance(cell, bool | str):
        return str(cell)
    if hasattr(cell, "tolist") or isinstance(cell, list | tuple):
        listed = cell.tolist() if hasattr(cell, "tolist") else cell
        return ";".join(map(str, listed)) if isinstance(listed, list | tuple) else _value(listed)
    return float(cell)


def _width(row: dict[Any, Any]) -> float:
    low, high = row.get("low"), row.get("high")
    if not isinstance(low, int | float) or not isinstance(high, int | float):
        return math.nan
    width = float(high) - float(low)
    return width if math.isfinite(width) and width > 0 else math.nan
