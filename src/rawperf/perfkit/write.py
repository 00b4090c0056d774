"""Performance Toolkit listings, written in the printed form that `perfkit` reads back."""

from __future__ import annotations

import re
from itertools import groupby, zip_longest

import numpy as np

from rawperf.base import RECORD_COLUMNS, Reading
from rawperf.core.errors import FormatError
from rawperf.core.units import conversion_factor
from rawperf.perfkit.layout import Column, Layout, locate
from rawperf.perfkit.page import NO_DATA, PAGE_BEGINS, Page, Spans, log_times
from rawperf.rows import refused
from rawperf.text import DAY, clock_text

DEFAULT_INTERVAL = 60.0
MARGIN = 96


Row = tuple[str, str, str, float, float]  # entity kind, entity, field, t, value


def write_listing(reading: Reading, layouts: dict[str, tuple[Layout, ...]]) -> bytes:
    """One page for each run of records of one table and one time; of a log, one page for all its
    times.

    Where `info` has no ``interval s``, an interval begins where the report's last one ended, and
    the first one is as long as the second, or 60 s. Numbers are printed with as many decimals as
    their layout and their column allow.

    Raises `FormatError`: a report without a layout for such entities, a field without a column or a
    label, a number too wide for its column, times that times of day can't tell.
    """
    records = reading.records
    if records.empty:
        raise FormatError("a reading without records makes no listing")
    of_kind = {
        (report, kind): layout
        for report, known in layouts.items()
        for layout in reversed(known)  # the first one counts
        if not layout.values and (layout.log or not layout.time)
        for kind in (layout.entity_kind, *(() if layout.log else layout.averages.values()))
    }
    kinds = records[["report", "entity_kind"]].drop_duplicates().itertuples(index=False, name=None)
    unknown = sorted(" of ".join(pair[::-1]) for pair in set(kinds) - set(of_kind))
    if unknown:
        known = ", ".join(sorted(" of ".join(pair[::-1]) for pair in of_kind))
        raise refused("perfkit", "no layout for these reports", ", ".join(unknown), known)
    if records["t"].isna().any() or not ((records["value"] >= 0) & (records["value"] < 1e15)).all():
        raise FormatError("a listing holds numbers from 0 to 1e15 only, each at a time")
    expected = "whole seconds, the first on day 0, steps of less than half a day"
    untellable = FormatError("times of day alone can't tell these times", expected=expected)
    lines: list[str] = []
    ends: list[float] = []
    pages: list[Page] = []
    lengths = _lengths(reading)
    rows = records[[*RECORD_COLUMNS]].itertuples(index=False, name=None)

    def page_of(row: tuple[str, str, str, str, float, float]) -> tuple[str, int, float]:
        layout = of_kind[row[0], row[1]]
        return row[0], id(layout), -1.0 if layout.log else row[4]

    for (report, _, _), group in groupby(rows, key=page_of):
        found: list[Row] = [row[1:] for row in group]
        layout = of_kind[report, found[0][0]]
        first, last = found[0][3], found[-1][3]
        begin, end = max(0, round(first - lengths[report, first])), round(last)
        if layout.log:
            times = np.array([t for *_, t, _ in found])
            spans = np.full(len(times), float(begin)), np.full(len(times), float(end))
            if (times % 1).any() or not np.array_equal(log_times(*spans, times % DAY)[0], times):
                raise untellable
        ends.append(last)
        pages.append(Page(report, 0, 0, "printed", True, begin % DAY, end % DAY, end - begin))
        lines += _header(layout, reading.info, begin, end)
        body = _items(layout, found) if layout.kind == "items" else _table(layout, found)
        if any(NO_DATA.match(line) or PAGE_BEGINS.match(line) for line in body):
            raise FormatError(
                "a name would begin a new page", found=" ".join(sorted({row[1] for row in found}))
            )
        lines += body
    if not np.array_equal(Spans().of(pages)[1], ends):
        raise untellable
    return "".join(f"{line.rstrip()}\n" for line in lines).encode()


def _lengths(reading: Reading) -> dict[tuple[str, float], float]:
    """Length of the interval that ends at each time of each report."""
    given = float(reading.info.get("interval s", np.nan))
    found: dict[tuple[str, float], float] = {}
    for report, ends in reading.records.groupby("report", sort=False)["t"]:
        times = np.unique(ends)
        steps = np.diff(times) if len(times) > 1 else np.array([DEFAULT_INTERVAL])
        for place, t in enumerate(times.tolist()):
            found[str(report), t] = float(steps[max(place - 1, 0)]) if np.isnan(given) else given
    return found


def _header(layout: Layout, info: dict[str, str], begin: int, end: int) -> list[str]:
    stamp = " ".join(info[key] for key in ("run date", "run time") if key in info)
    machine = f"CPU {info['cpu']}   SN {info.get('serial', '?')}" if "cpu" in info else ""
    release = f"z/VM   V.{info['release']}" if "release" in info else ""
    period = f" For {end - begin:>6d} Secs {clock_text(end - begin)}"
    return [
        f"1{layout.report}  Run {stamp:<20}  {layout.name}",
        f"{'':41}{layout.title}",
        f"{f' From {clock_text(begin)}':<{MARGIN}}  {info.get('system', '')}",
        f"{f' To   {clock_text(end)}':<{MARGIN}}  {machine}",
        f"{period:<{MARGIN}}  {release}",
        " " + "_" * (MARGIN + 30),
    ]


def _table(layout: Layout, rows: list[Row]) -> list[str]:
    found = locate(layout, layout.heading) or ()
    cells = {cell.column.field: cell for cell in found}
    texts = {cell.column.name: cell for cell in found if cell.column.text}
    wide = max(cell.end for cell in cells.values())
    ends = {cell.end - 1 for cell in cells.values()}
    names = re.compile(layout.pattern)
    lines = [*layout.heading, "".join("." if n in ends else " " for n in range(wide))]
    for (entity, t), own in groupby(rows, key=lambda row: (row[1], row[3])):
        line = [" "] * wide
        printed = {layout.time: clock_text(t)} if layout.log else {}
        if layout.entity:
            owner, _, name = (
                entity.rpartition(":") if layout.owner and ":" in entity else (entity, "", "")
            )
            printed |= (
                {layout.owner: owner, layout.entity: name}
                if layout.owner
                else {layout.entity: entity}
            )
        keys = [(texts[column], text) for column, text in printed.items()]
        fits = names.fullmatch(entity if layout.entity else printed[layout.time])
        if not fits or any(len(text) > key.end - key.start for key, text in keys):
            raise refused("perfkit", f"{layout.report} has no such name", entity, layout.pattern)
        for key, text in keys:
            line[key.start : key.start + len(text)] = text
        for _, _, field, _, value in own:
            if field not in cells:
                raise refused(
                    "perfkit", f"{layout.report} has no such column", field, ", ".join(cells)
                )
            cell = cells[field]
            text = _fitting(value, max(cell.end - cell.start - 1, 1), cell.column)
            if line[cell.end - 1] != " ":
                raise refused(
                    "perfkit", f"{layout.report} has no room for a second {field!r}", entity
                )
            line[cell.end - len(text) : cell.end] = text
        lines.append("".join(line))
    return [*lines, ""]


def _items(layout: Layout, rows: list[Row]) -> list[str]:
    """The sections of a page of labels and values that have a value, left ones beside right
    ones.
    """
    values = {field: value for _, _, field, _, value in rows}
    known = {item.field for section in layout.sections for item in section.items}
    if len(values) < len(rows) or not set(values) <= known:
        other = sorted(set(values) - known) or ["a value that is given twice"]
        raise refused(
            "perfkit",
            f"{layout.report} has no such item",
            ", ".join(other),
            ", ".join(sorted(known)),
        )
    sides: dict[str, list[str]] = {"left": [], "right": []}
    for section in layout.sections:
        own = [item for item in section.items if item.field in values]
        sides[section.side] += [section.title] if own else []
        for item in own:
            glued = {"MiB": "MB", "%": "%", "s": "s"}.get(
                item.unit, "/s" if item.unit.endswith("/s") else ""
            )
            sides[section.side].append(
                f"{item.name:<25}{_fitting(values[item.field], 9, item):>9}{glued}"
            )
    pairs = zip_longest(sides["left"], sides["right"], fillvalue="")
    return [f" {left:<42} {right}" for left, right in pairs] + [""]


def _fitting(value: float, width: int, column: Column) -> str:
    """The number with as many decimals as fit, without a zero before the point, else in K, M or
    G.
    """
    for decimals in range(column.decimals, -1, -1):
        text = f"{value:.{decimals}f}"
        text = text[1:] if text.startswith("0.") else text
        if len(text) <= width:
            return text
    scaled = value * (
        conversion_factor(column.unit, "B") if column.unit in ("B", "KiB", "MiB", "GiB") else 1.0
    )
    for power, suffix in enumerate("KMG", start=1):
        text = f"{scaled / 1024**power:.0f}{suffix}"
        if len(text) <= width:
            return text
    raise FormatError(
        f"{value:g} is too wide for column {column.name!r}", expected=f"{width} characters"
    )
