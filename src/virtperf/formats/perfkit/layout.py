"""Known layouts of z/VM Performance Toolkit reports, loaded from YAML, and where their columns stand in a heading."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from virtperf.core.errors import VirtperfError
from virtperf.core.units import conversion_factor
from virtperf.core.yamlio import Document, load_yaml

SHIPPED_LAYOUTS = Path(__file__).with_name("layouts.yaml")
LAYOUTS_VARIABLE = "VIRTPERF_PERFKIT_LAYOUTS"

_CAPTION = re.compile(r"<-*[ ]*([^<>]*?[^<> -])?[ ]*-*>")


@dataclass(frozen=True)
class Column:
    """A column of a table, or an item of a key/value page.

    `name` is printed, `field` is what records are called, `unit` what the number is in where no unit is glued to it;
    `width` is that of a text column, `shift` how far numbers stand to the right of the heading's last character;
    `repeats` says that a blank cell holds what the row above holds.
    """

    name: str
    field: str
    unit: str = "1"
    decimals: int = 1
    required: bool = False
    caption: str = ""
    text: bool = False
    width: int = 0
    shift: int = 0
    repeats: bool = False
    known: bool = True


@dataclass(frozen=True)
class Section:
    """A titled group of items on one side of a key/value page; an empty title is the page's beginning."""

    title: str
    side: str
    items: tuple[Column, ...]


@dataclass(frozen=True, eq=False)
class Layout:
    """What a report looks like.

    Attributes
    ----------
    report, name, title : str
        The id (``FCX112``), the subcommand and the title line.
    kind : str
        ``table`` or ``items`` (two independent columns of label and value).
    evidence : str
        ``screen`` when verified on a screen, else ``assumed``.
    release : str
        Beginning of the z/VM release that it is for; empty for any.
    entity_kind : str
    entity : str
        Printed name of the column that names the entity; empty when the report describes the host.
    owner : str
        Printed name of the column with the entity's owner, for entities called ``owner:name``; empty without.
    pattern : str
        Regular expression that an entity's name (in a log of the host: a row's time) matches; a line with another one
        is no row.
    averages : dict of str to str
        Entities that are averages over the others (in a log: what stands in the place of a time) -> their entity kind.
    time : str
        Printed name of the column with each row's time of day, where rows have their own. Without an entity column
        the report is a log of the host: one row for each interval of the page's period.
    log : bool
        Rows are intervals of the page's period: one for each interval, or for each interval and entity.
    below : bool
        Stands below another table of the same page.
    heading : tuple of str
        Lines as `write` prints them; the last one names the columns.
    columns : tuple of Column
        Of a table, from left to right.
    sections : tuple of Section
        Of a key/value page; labels that stand in none of them are kept under their printed names.
    values : tuple of (str, str)
        Name and unit of the numbers behind a label, where there are several (``Count``, ``Rate/s``).
    empty : tuple of str
        Labels that may stand without a number.
    """

    report: str
    name: str
    title: str
    kind: str
    evidence: str
    release: str
    entity_kind: str
    entity: str
    owner: str
    pattern: str
    averages: dict[str, str]
    time: str
    log: bool
    below: bool
    heading: tuple[str, ...]
    columns: tuple[Column, ...]
    sections: tuple[Section, ...]
    values: tuple[tuple[str, str], ...]
    empty: tuple[str, ...]


@dataclass(frozen=True)
class Cell:
    """A column found in a heading: its cells are characters ``start`` to ``end`` of each row."""

    column: Column
    start: int
    end: int


def load_layouts() -> dict[str, tuple[Layout, ...]]:
    """Layouts by report id: the user's, named by the environment, before the shipped ones.

    Raises
    ------
    StudyError
        A file is missing or wrong; names its line.
    """
    names = [name for name in os.environ.get(LAYOUTS_VARIABLE, "").split(os.pathsep) if name]
    found: dict[str, tuple[Layout, ...]] = {}
    for path in (*map(Path, names), SHIPPED_LAYOUTS):
        for layout in _load(path, path.stat().st_mtime_ns if path.is_file() else 0):
            found[layout.report] = (*found.get(layout.report, ()), layout)
    return found


@lru_cache(maxsize=16)
def _load(path: Path, _version: int) -> tuple[Layout, ...]:
    document = load_yaml(path)
    listed = document.data.get("layouts")
    if not isinstance(listed, list):
        raise document.error("layouts is missing or no list", "layouts")
    layouts = []
    for number, entry in enumerate(listed):
        where = ("layouts", number)
        try:
            layouts.append(_layout(entry))
        except (KeyError, TypeError, ValueError, AttributeError, re.error, VirtperfError) as err:
            problem = f"{err} is missing" if isinstance(err, KeyError) else str(err)
            raise _error(document, problem, where) from err
    return tuple(layouts)


def _error(document: Document, problem: str, where: tuple[str | int, ...]) -> VirtperfError:
    return document.error(f"not a layout: {problem}", *where, remedy="docs/formats/perfkit.md shows one.")


def _layout(entry: dict[str, Any]) -> Layout:
    kind = entry["kind"]
    if kind not in ("table", "items") or not re.fullmatch(r"FCX\d{3}", entry["report"]):
        raise ValueError(f"kind {kind!r} of report {entry['report']!r}, expected table or items of FCXnnn")
    layout = Layout(
        report=entry["report"],
        name=entry.get("name", ""),
        title=entry.get("title", ""),
        kind=kind,
        evidence=entry.get("evidence", "assumed"),
        release=str(entry.get("release", "")),
        entity_kind=entry["entity_kind"],
        entity=entry.get("entity", ""),
        owner=entry.get("owner", ""),
        pattern=re.compile(entry.get("pattern", r"\S.*")).pattern,
        averages=dict(entry.get("averages", {})),
        time=entry.get("time", ""),
        log=bool(entry.get("log", "time" in entry and "entity" not in entry)),
        below=bool(entry.get("below", False)),
        heading=tuple(entry.get("heading", ())),
        columns=tuple(_column(part) for part in entry.get("columns", ())),
        sections=tuple(
            Section(part["title"], part["side"], tuple(_column(item) for item in part["items"]))
            for part in entry.get("sections", ())
        ),
        values=tuple((part["name"], part["unit"]) for part in entry.get("values", ())),
        empty=tuple(entry.get("empty", ())),
    )
    if kind == "table":
        texts = {column.name for column in layout.columns if column.text}
        if not (layout.entity or layout.time) or not {layout.entity, layout.owner, layout.time} <= {*texts, ""}:
            raise ValueError("entity, owner and time must be text columns, and a table has an entity or a time")
        if layout.log and not layout.time:
            raise ValueError("a log has a time")
        if not layout.heading or locate(layout, layout.heading) is None:
            raise ValueError("its own heading lacks a required column, its entity or its time")
    return layout


def _column(part: dict[str, Any]) -> Column:
    column = Column(**{"field": part["name"], **part})
    if not column.name or not isinstance(column.name, str):
        raise ValueError("a column without a name")
    if not column.text:
        conversion_factor(column.unit, column.unit)
    return column


@lru_cache(maxsize=256)
def choose(
    layouts: tuple[Layout, ...], heading: tuple[str, ...], release: str
) -> tuple[Layout, tuple[Cell, ...]] | None:
    """The first layout (of a release before a general one) that the heading lines, names last, agree with."""
    for layout in sorted(layouts, key=lambda layout: not layout.release):
        if layout.release and release and not release.startswith(layout.release):
            continue
        cells = locate(layout, heading)
        if cells is not None:
            return layout, cells
    return None


def locate(layout: Layout, heading: tuple[str, ...]) -> tuple[Cell, ...] | None:
    """Where each column's cells stand, by the character positions of the heading; None when it isn't this layout's.

    Numbers end below the last character of their name and begin after the column before; texts begin below the
    first character of theirs. Names that the layout lacks become columns of their own.
    """
    line = heading[-1]
    found: list[tuple[int, int, Column]] = []
    place = 0
    for column in layout.columns:
        at = _find(line, column.name, place)
        if at >= 0 and column.caption and column.caption not in _captions(heading[:-1], at, at + len(column.name)):
            at = -1
        if at < 0:
            if column.required or column.name in (layout.entity, layout.owner, layout.time):
                return None
            continue
        place = at + len(column.name)
        found.append((at, place, column))
    taken = {column.field for column in layout.columns}
    covered = list(line)
    for start, end, _ in found:
        covered[start:end] = " " * (end - start)
    for match in re.finditer(r"\S+", "".join(covered)):
        name, count = match.group(), 1
        captions = _captions(heading[:-1], match.start(), match.end())
        field = name if name not in taken or not captions else f"<{captions[-1]}> {name}"
        while field in taken:
            count += 1
            field = f"{name} ({count})"
        taken.add(field)
        found.append((match.start(), match.end(), Column(name, field, known=False)))
    cells: list[Cell] = []
    edge = 0
    for start, end, column in sorted(found, key=lambda part: part[0]):
        cell = Cell(column, max(start, edge), max(start + column.width, end))
        if not column.text:
            cell = Cell(column, edge, end + column.shift)
        if cell.end > cell.start:
            cells.append(cell)
        elif column.known:  # no room between its neighbours: another spacing than this layout's texts need
            return None
        edge = max(edge, cell.end)
    return tuple(cells) if any(not cell.column.text for cell in cells) else None


def _find(line: str, name: str, place: int) -> int:
    """Where `name` stands as a whole word (or whole words), from `place` on, or -1."""
    at = line.find(name, place)
    while at >= 0:
        end = at + len(name)
        if (at == 0 or line[at - 1] == " ") and (end == len(line) or line[end] == " "):
            return at
        at = line.find(name, at + 1)
    return -1


def _captions(lines: tuple[str, ...], start: int, end: int) -> list[str]:
    """Texts of the ``<--- captions --->`` that stand over characters start to end, the upper ones first."""
    return [
        match[1] or ""
        for line in lines
        for match in _CAPTION.finditer(line)
        if match.start() < end and match.end() > start
    ]
