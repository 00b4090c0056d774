"""Declarations of tables: one for all tables with the same columns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from rawperf.core.errors import visible
from rawperf.results.names import split_unit
from virtperf.artifact.inspection import InspectedFile
from virtperf.artifact.path_layout import factor_name
from virtperf.artifact.undeclared_tables import Roles, Table
from virtperf.core.grouping import grouped

MAX_PATTERN = 900
MAX_FIELDS = 40
"""Most numbers of one table that are declared."""
UNKNOWN = "1"
"""Unit of numbers whose unit is not known: the placeholder in the definition says so."""


@dataclass(frozen=True)
class DeclaredField:
    """A number of a table: its column, or its name in long format, the metric, and its unit."""

    field: str
    metric: str
    unit: str
    is_unit_known: bool
    label: str
    is_optional: bool


@dataclass(frozen=True)
class DeclaredTable:
    """A declaration, as an entry of `inputs`, and its numbers."""

    name: str
    entry: Mapping[str, Any]
    fields: tuple[DeclaredField, ...]


def declare_tables(files: Sequence[InspectedFile]) -> dict[str, DeclaredTable]:
    """Declare the tables of an artifact, by their shape."""
    by_shape = grouped((file.shape, file) for file in files if file.table is not None)
    declared: dict[str, DeclaredTable] = {}
    names: set[str] = set()
    metrics: set[str] = set()
    for shape, of_shape in by_shape.items():
        name = _unique(_format_name(of_shape[0]), names, "-")
        fields = tuple(_fields(of_shape, metrics))
        if fields:
            declared[shape] = DeclaredTable(name, _entry(name, of_shape[0], fields), fields)
    return declared


def _format_name(file: InspectedFile) -> str:
    assert file.table is not None
    if file.table.headed:
        words = "-".join(re.sub(r"[^a-z0-9]+", "-", n.lower()).strip("-") for n in file.table.names)
    else:
        words = f"{len(file.table.names)}-columns"
    return f"table-{words.strip('-')}"[:50].rstrip("-")


def _unique(name: str, taken: set[str], mark: str) -> str:
    unique, number = name, 2
    while unique in taken:
        unique, number = f"{name}{mark}{number}", number + 1
    taken.add(unique)
    return unique


def _fields(files: Sequence[InspectedFile], metrics: set[str]) -> list[DeclaredField]:
    first = files[0]
    assert first.table is not None
    texts = list(first.roles.numbers)
    if first.roles.names:
        cells = (c for f in files if f.table for c in f.table.cells(f.roles.names) if c)
        texts = list(dict.fromkeys(cells))
    fields = []
    for text in texts[:MAX_FIELDS]:
        # rows of one condition may lack the name of a number, or have empty cells only
        optional = len(texts) > 1
        if not first.roles.names:
            optional = any(not cell for f in files if f.table for cell in f.table.cells(text))
        unit = split_unit(text)[1]
        words = text if first.table.headed else f"{_common_word(files)}_{text}"
        metric = _unique(f"published_{factor_name(words)}", metrics, "_")
        label = words.replace("_", " ").strip()
        fields.append(DeclaredField(text, metric, unit or UNKNOWN, bool(unit), label, optional))
    return fields


def _common_word(files: Sequence[InspectedFile]) -> str:
    """The word with which the names of all files begin, else ``table``."""
    words = {re.split(r"[^A-Za-z]+", PurePosixPath(file.path).name)[0] for file in files}
    return words.pop() if len(words) == 1 and all(words) else "table"


def _entry(name: str, file: InspectedFile, fields: Sequence[DeclaredField]) -> dict[str, Any]:
    table, roles = file.table, file.roles
    assert table is not None
    entry: dict[str, Any] = {"name": name, "title": _title(table, roles)}
    between = r"[ \t]+" if table.delimiter == " " else re.escape(table.delimiter)
    pattern = rf"\A{between.join(map(re.escape, table.names))}\s*$"
    if table.headed and len(pattern) <= MAX_PATTERN:
        entry["match"] = {"text": pattern}
    entry["reads"] = "csv"
    if table.delimiter != ",":
        entry["delimiter"] = table.delimiter
    if not table.headed:
        entry["columns"] = list(table.names)
    if table.about:
        entry["columns"].append("...")
        entry["leave_out_rows"] = 1
    if roles.repeats or roles.time:
        entry["time"] = {"numbered": True}  # a run without start and duration has no clock
    if roles.names:
        entry |= {"names": roles.names, "value": roles.numbers[-1]}
    is_total = "time" not in entry
    entry["fields"] = [_field(field) for field in fields]
    entry["metrics"] = {f.metric: _metric(f, table, is_total=is_total) for f in fields}
    return entry


def _field(field: DeclaredField) -> dict[str, Any]:
    entry: dict[str, Any] = {"field": field.field, "metric": field.metric, "unit": field.unit}
    return entry | ({"optional": True} if field.is_optional else {})


def _title(table: Table, roles: Roles) -> str:
    if not table.headed:
        words = f"table of {len(table.names)} columns without a header row"
        return f"{words}; its first line is not read" if table.about else words
    words = f"table with the columns {visible(', '.join(table.names))}"[:200]
    if roles.time:
        words += "; EXAMPLE, replace: numbered rows, though one column may be a time"
    return words


def _metric(field: DeclaredField, table: Table, *, is_total: bool) -> dict[str, Any]:
    words = f"EXAMPLE, replace by the definition: {visible(field.field)} of the published tables"
    if not field.is_unit_known:
        words += "; its unit is not in the name, and 1 is a placeholder"
    return {
        "unit": field.unit,
        **({"kind": "total"} if is_total else {}),
        "definition": f"{words}.",
    }
