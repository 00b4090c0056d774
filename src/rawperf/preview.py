"""Preview of a file that is read part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pandas as pd

from rawperf.core.number_text import format_number, plural
from rawperf.tidy import RawTables

FIRST_RECORDS = 5
MAX_FIELDS = 30
CLOCK_WORDS = {
    "time-of-day": "seconds since midnight",
    "elapsed": "seconds since the tool started",
    "sample": "the sample number",
    "interval": "seconds since the first sample",
    "none": "not given",
}
_ALWAYS_SHOWN = ("entity_kind", "entity", "field", "value")
_NUMERIC = ("t", "value", "line", "metric_value", "samples", "mean", "lowest", "highest")
_FIELD = ["report", "entity_kind", "field"]
_AGGREGATIONS = {"size": "sum", "count": "sum", "sum": "sum", "min": "min", "max": "max"}


class FilePreview:
    """Running summary of a file: first records, range of times, entities and fields.

    A field's numbers are in the unit of its metric if its first record has one.
    """

    def __init__(self) -> None:
        self.records = 0
        self.entities: set[tuple[str, str]] = set()
        self.first, self._field_rows, self._numbers = pd.DataFrame(), pd.DataFrame(), pd.DataFrame()
        self.low, self.high = np.nan, np.nan

    def add(self, table: pd.DataFrame) -> None:
        """Add a part: columns as `rawperf.tidy.COLUMNS`."""
        self.first = pd.concat(
            [self.first, table.head(max(0, FIRST_RECORDS - self.records))], ignore_index=True
        )
        self.records += len(table)
        self.entities |= set(
            table[["entity_kind", "entity"]].drop_duplicates().itertuples(index=False, name=None)
        )
        self.low, self.high = (
            np.fmin(self.low, table["t"].min()),
            np.fmax(self.high, table["t"].max()),
        )
        self._field_rows = pd.concat(
            [self._field_rows, table[[*_FIELD, "metric", "metric_unit"]]]
        ).drop_duplicates(_FIELD)
        part = table.groupby(_FIELD, sort=False)[["value", "metric_value"]].agg(list(_AGGREGATIONS))
        combined = pd.concat([self._numbers, part]).groupby(level=[0, 1, 2], sort=False)
        self._numbers = combined.agg({column: _AGGREGATIONS[column[1]] for column in part.columns})

    def fields(self) -> pd.DataFrame:
        """Summarise each field in order of occurrence: name, metric, unit, samples, mean, range."""
        numbers = self._numbers.reindex(pd.MultiIndex.from_frame(self._field_rows[_FIELD]))
        translated = self._field_rows["metric"].to_numpy()[:, None] != ""
        values = np.where(translated, numbers["metric_value"], numbers["value"])
        size, count, total, low, high = values.T
        mean = total / np.where(count, count, np.nan)
        return self._field_rows.assign(
            samples=size.astype(int), mean=mean, lowest=low, highest=high
        )


def preview_lines(raw: RawTables, file: str) -> Iterator[str]:
    """Yield the lines of a preview: format, times, first records, one row per field.

    It reads the whole file. Lines may contain control characters of the file.
    """
    preview = FilePreview()
    for table in raw.tables():
        preview.add(table)
    yield f"{file}: {raw.title} (format {raw.format}{_format_certainty(raw)})"
    entities = plural(len(preview.entities), "entity", "entities")
    yield f"{plural(preview.records, 'record')} of {entities}; {_format_time_range(raw, preview)}"
    for name, value in raw.info.items():
        yield f"  {name}: {value}"
    first = preview.first
    columns = [
        c
        for c in first.columns
        if c != "kind"
        and (c in _ALWAYS_SHOWN or (first[c].notna() & ~first[c].isin(["", 0])).any())
    ]
    yield ""
    yield f"The first of {plural(preview.records, 'record')}"
    rows = ([_format_cell(v) for v in row] for row in first[columns].itertuples(index=False))
    yield from _format_table(columns, rows)
    fields = preview.fields()
    rows_shown = fields.head(MAX_FIELDS).itertuples(index=False)
    yield ""
    yield "Fields"
    yield from _format_table(
        ["report", "of", "field", "metric", "unit", "samples", "mean", "lowest", "highest"],
        (
            [
                report,
                kind,
                name,
                metric or "-",
                unit or "as printed",
                samples,
                *map(format_number, ends),
            ]
            for report, kind, name, metric, unit, samples, *ends in rows_shown
        ),
    )
    if len(fields) > MAX_FIELDS:
        yield f"... and {len(fields) - MAX_FIELDS} more fields; -o writes everything to a file."


def _format_table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    """Format a table, with numeric columns right-aligned."""
    cells = [list(columns), *([str(cell) for cell in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for row in cells:
        padded = (
            cell.rjust(width) if name in _NUMERIC else cell.ljust(width)
            for name, cell, width in zip(columns, row, widths, strict=True)
        )
        yield "  ".join(padded).rstrip()


def _format_certainty(raw: RawTables) -> str:
    if np.isnan(raw.certainty):
        return ", as specified"
    rival = (
        f", but it could also be {raw.runner_up}: choose with --input-format"
        if raw.runner_up
        else ""
    )
    return f", recognised with certainty {raw.certainty:g}{rival}"


def _format_time_range(raw: RawTables, preview: FilePreview) -> str:
    low, high = preview.low, preview.high
    if not low <= high:
        return "no times"
    if raw.clock == "absolute":
        ends = [str(np.datetime64(int(v), "s")).replace("T", " ") for v in (low, high)]
        return f"t is seconds since 1970, from {ends[0]} to {ends[1]}"
    return f"t is {CLOCK_WORDS[raw.clock]}, {low:g} to {high:g}"


def _format_cell(value: object) -> object:
    if not isinstance(value, float):
        return value
    return "" if np.isnan(value) else format_number(value, 10)
