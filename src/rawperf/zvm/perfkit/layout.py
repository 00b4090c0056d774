"""Layouts of z/VM Performance Toolkit reports, loaded from YAML and matched with headings."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field, fields
from functools import lru_cache
from pathlib import Path
from typing import Any

from rawperf.core.errors import RawperfError
from rawperf.core.units import conversion_factor
from rawperf.core.yamlio import load_yaml

SHIPPED_LAYOUTS = Path(__file__).with_name("layouts.yaml")
LAYOUTS_VARIABLE = "VIRTPERF_PERFKIT_LAYOUTS"
REMEDY = "add your own layout, see docs/formats/perfkit.md."

_CAPTION = re.compile(r"<-*[ ]*([^<>]*?[^<> -])?[ ]*-*>")


@dataclass(frozen=True)
class Column:
    """Column of a table, or item of a key/value page."""

    name: str  # as printed
    field: str  # field of its records
    unit: str = "1"  # of numbers without a unit suffix
    required: bool = False
    caption: str = ""
    text: bool = False
    width: int = 0  # of a text column
    shift: int = 0  # offset of numbers to the right of the heading's last character
    repeats: bool = False  # a blank cell repeats the value of the row above
    known: bool = True


@dataclass(frozen=True)
class Section:
    """Titled group of items on one side of a key/value page; the top one has no title."""

    title: str
    side: str
    items: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class ReportLayout:
    """Layout of a report: an entry of ``layouts.yaml``, whose header documents it."""

    report: str  # the id, such as FCX112
    kind: str  # "table", or "items": two independent columns of label and value
    entity_kind: str
    name: str = ""  # the subcommand
    title: str = ""
    evidence: str = "assumed"
    release: str = ""  # prefix of the z/VM releases that it is for; empty for any
    entity: str = ""  # printed name of the entity's column; empty if the entity is the host
    owner: str = ""  # printed name of the column of the entity's owner
    time: str = ""  # printed name of the column of each row's time of day
    # of an entity's name (in a log of the host: of a row's time); other lines are not rows
    pattern: str = r"\S.*"
    # entities (in a log: times) that are averages -> entity kind
    averages: dict[str, str] = field(default_factory=dict)
    # column -> columns whose sum it is
    sum_of: dict[str, tuple[str, ...]] = field(default_factory=dict)
    complete: bool = False  # a column that has a number in one row has no blank cell in others
    log: bool = False  # rows are intervals of the page's period, for each entity if there is one
    below: bool = False  # follows another table on the same page
    heading: tuple[str, ...] = ()  # as the tool prints it; the last line names the columns
    columns: tuple[Column, ...] = ()  # of a table, from left to right
    # of a key/value page; other labels keep their printed names
    sections: tuple[Section, ...] = ()
    # name and unit of each number after a label, if there are several
    values: tuple[tuple[str, str], ...] = ()
    empty: tuple[str, ...] = ()  # labels that may have no number


@dataclass(frozen=True)
class LayoutCell:
    """Column located in a heading: its cells are characters ``start`` to ``end`` of each row."""

    column: Column
    start: int
    end: int


def load_layouts() -> dict[str, tuple[ReportLayout, ...]]:
    """Layouts by report id: the user's, from the environment variable, before the packaged ones.

    Raises `StudyError`, with the line: a file is missing or invalid.
    """
    names = [name for name in os.environ.get(LAYOUTS_VARIABLE, "").split(os.pathsep) if name]
    layouts: dict[str, tuple[ReportLayout, ...]] = {}
    for path in (*map(Path, names), SHIPPED_LAYOUTS):
        for layout in _load_layouts(path, path.stat().st_mtime_ns if path.is_file() else 0):
            layouts[layout.report] = (*layouts.get(layout.report, ()), layout)
    return layouts


@lru_cache(maxsize=16)
def _load_layouts(path: Path, _version: int) -> tuple[ReportLayout, ...]:
    document = load_yaml(path)
    entries = document.data.get("layouts")
    if not isinstance(entries, list):
        raise document.error("layouts is missing or not a list", "layouts")
    layouts = []
    for number, entry in enumerate(entries):
        where = ("layouts", number)
        try:
            layouts.append(_build_layout(entry))
        except (KeyError, TypeError, ValueError, AttributeError, re.error, RawperfError) as err:
            problem = f"not a layout: {err}{' is missing' if isinstance(err, KeyError) else ''}"
            raise document.error(
                problem, *where, remedy="see docs/formats/perfkit.md for an example."
            ) from err
    return tuple(layouts)


def _build_layout(entry: dict[str, Any]) -> ReportLayout:
    kind, report = entry["kind"], entry["report"]
    if kind not in ("table", "items") or not re.fullmatch(r"FCX\d{3}", report):
        raise ValueError(f"kind {kind!r} of report {report!r}, expected table or items of FCXnnn")
    parts = {part.name: entry[part.name] for part in fields(ReportLayout) if part.name in entry}
    parts["log"] = bool(entry.get("log", "time" in entry and "entity" not in entry))
    parts["release"] = str(entry.get("release", ""))
    parts["averages"] = dict(entry.get("averages", {}))
    parts["sum_of"] = {name: tuple(terms) for name, terms in entry.get("sum_of", {}).items()}
    lists = {
        name: entry.get(name, ()) for name in ("heading", "columns", "sections", "values", "empty")
    }
    lists["columns"] = map(_build_column, lists["columns"])
    lists["sections"] = (
        Section(part["title"], part["side"], tuple(map(_build_column, part["items"])))
        for part in lists["sections"]
    )
    lists["values"] = ((part["name"], part["unit"]) for part in lists["values"])
    layout = ReportLayout(
        **parts
        | {"entity_kind": entry["entity_kind"]}
        | {name: tuple(lists[name]) for name in lists}
    )
    re.compile(layout.pattern)
    if kind == "table":
        texts = {column.name for column in layout.columns if column.text}
        if not (layout.entity or layout.time) or not {layout.entity, layout.owner, layout.time} <= {
            *texts,
            "",
        }:
            raise ValueError(
                "entity, owner and time must be text columns, and a table needs an entity or a time"
            )
        if layout.log and not layout.time:
            raise ValueError("a log needs a time")
        if not layout.heading or locate_columns(layout, layout.heading) is None:
            raise ValueError("its own heading lacks a required column, its entity or its time")
    return layout


def _build_column(part: dict[str, Any]) -> Column:
    column = Column(**{"field": part["name"], **part})
    if not column.name or not isinstance(column.name, str):
        raise ValueError("a column without a name")
    if not column.text:
        conversion_factor(column.unit, column.unit)
    return column


@lru_cache(maxsize=256)
def match_layout(
    layouts: tuple[ReportLayout, ...], heading: tuple[str, ...], release: str
) -> tuple[ReportLayout, tuple[LayoutCell, ...]] | None:
    """First layout (those of a release before general ones) that matches the heading lines.

    The last line names the columns.
    """
    for layout in sorted(layouts, key=lambda layout: not layout.release):
        if layout.release and release and not release.startswith(layout.release):
            continue
        cells = locate_columns(layout, heading)
        if cells is not None:
            return layout, cells
    return None


def locate_columns(layout: ReportLayout, heading: tuple[str, ...]) -> tuple[LayoutCell, ...] | None:
    """Locate each column's cells by the character positions of the heading.

    Numbers end below the last character of their name and begin after the column before; texts
    begin below the first character of theirs. Names that the layout lacks become columns of their
    own. None if the heading does not match the layout.
    """
    line = heading[-1]
    located: list[tuple[int, int, Column]] = []
    position = 0
    for column in layout.columns:
        match = re.compile(rf"(?<![^ ]){re.escape(column.name)}(?![^ ])").search(line, position)
        if match is None or (
            column.caption and column.caption not in _captions(heading[:-1], *match.span())
        ):
            if column.required or column.name in (layout.entity, layout.owner, layout.time):
                return None
            continue
        position = match.end()
        located.append((*match.span(), column))
    known_fields = {column.field for column in layout.columns}
    covered = list(line)
    for start, end, _ in located:
        covered[start:end] = " " * (end - start)
    for match in re.finditer(r"\S+", "".join(covered)):
        name, count = match.group(), 1
        captions = _captions(heading[:-1], *match.span())
        field = name if name not in known_fields or not captions else f"<{captions[-1]}> {name}"
        while field in known_fields:
            count += 1
            field = f"{name} ({count})"
        known_fields.add(field)
        located.append((*match.span(), Column(name, field, known=False)))
    cells: list[LayoutCell] = []
    edge = 0
    for start, end, column in sorted(located, key=lambda part: part[0]):
        cell = LayoutCell(column, max(start, edge), max(start + column.width, end))
        if not column.text:
            cell = LayoutCell(column, edge, end + column.shift)
        if cell.end > cell.start:
            cells.append(cell)
        elif column.known:  # no room between its neighbours: the spacing is not this layout's
            return None
        edge = max(edge, cell.end)
    return tuple(cells) if any(not cell.column.text for cell in cells) else None


def _captions(lines: tuple[str, ...], start: int, end: int) -> list[str]:
    """Texts of the ``<--- captions --->`` above characters start to end, from top to bottom."""
    return [
        match[1] or ""
        for line in lines
        for match in _CAPTION.finditer(line)
        if match.start() < end and match.end() > start
    ]
