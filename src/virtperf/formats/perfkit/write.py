"""Performance Toolkit listings, written in the printed form that `perfkit` reads back."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from functools import lru_cache
from itertools import groupby

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.core.units import conversion_factor
from virtperf.formats.base import Reading
from virtperf.formats.perfkit.layout import Cell, Column, Layout, locate
from virtperf.formats.perfkit.page import NO_DATA, PAGE_BEGINS, Page, log_times, page_spans
from virtperf.formats.text import DAY, clock_text

DEFAULT_INTERVAL = 60.0
ITEM_WIDTH, LABEL_WIDTH = 46, 30
MARGIN = 96
_GLUED = {"%": "%", "s": "s", "1/s": "/s", "pages/s": "/s"}


Row = tuple[str, str, float, float]  # entity (in a log: what stands in its place), field, t, value


def write_listing(reading: Reading, layouts: dict[str, tuple[Layout, ...]]) -> bytes:
    """One page for each run of records of one report and one time.

    Where `info` has no ``interval s``, an interval begins where the report's last one ended, and the first one is as
    long as the second, or 60 s. Numbers are printed with as many decimals as their layout and their column allow.

    Raises
    ------
    FormatError
        A report without a layout, a field that no column can be made for, a number too wide for its column.
    """
    records = reading.records
    if records.empty:
        raise FormatError("a reading without records makes no listing")
    unknown = sorted(set(records["report"]) - set(layouts))
    if unknown:
        raise FormatError("no layout for these reports", expected=", ".join(sorted(layouts)), found=", ".join(unknown))
    if records["t"].isna().any() or not ((records["value"] >= 0) & (records["value"] < 1e15)).all():
        raise FormatError("a listing holds numbers from 0 to 1e15 only, each at a time")
    lines: list[str] = []
    ends: list[float] = []
    pages: list[Page] = []
    day = date.fromisoformat(reading.info["from date"]) if "from date" in reading.info else None
    lengths = _lengths(reading)
    columns = (records[name].tolist() for name in ("report", "entity", "field", "t", "value", "entity_kind"))
    own_times = {report for report, known in layouts.items() if known[0].time}
    for (report, _), group in groupby(
        zip(*columns, strict=True), key=lambda row: (row[0], -1.0 if row[0] in own_times else row[3])
    ):
        layout = layouts[report][0]
        found = list(group)
        rows: list[Row] = [row[1:5] for row in found]
        if layout.time and not layout.log:
            lines += [f" {report:<12}   {layout.title:<50} Remote Data", ""]
        else:
            first, end = rows[0][2], round(rows[-1][2])
            if layout.log:
                rows, first = _log_rows(layout, [row[5] for row in found], rows)
            begin = max(0, round(first - lengths[report, first]))
            on = None if day is None else day + timedelta(days=begin // DAY)
            ends.append(rows[-1][2])
            pages.append(Page(report, 0, 0, "printed", True, begin % DAY, end % DAY, end - begin, on))
            lines += _header(layout, reading.info, day, begin, end)
            if layout.log:
                times = np.array([t for label, _, t, _ in rows if label not in layout.averages])
                spans = np.full(len(times), float(begin)), np.full(len(times), float(end))
                if not np.array_equal(log_times(*spans, times % DAY), times):
                    raise _untellable()
        body = _table(layout, rows) if layout.kind == "table" else _items(layout, rows)
        if any(NO_DATA.match(line) or PAGE_BEGINS.match(line) for line in body):
            raise FormatError("a name would begin a new page", found=" ".join(sorted({row[0] for row in rows})))
        lines += body
    if pages and not np.array_equal(page_spans(pages)[1], ends):
        raise _untellable()
    return "".join(f"{line.rstrip()}\n" for line in lines).encode()


def _untellable() -> FormatError:
    return FormatError(
        "times of day alone can't tell these times",
        expected="whole seconds, the first on day 0, steps of less than half a day",
        remedy="give the first day in info['from date'].",
    )


def _log_rows(layout: Layout, kinds: list[str], rows: list[Row]) -> tuple[list[Row], float]:
    """Rows of a log's page under what they begin with, and the time of the first one that is no average.

    Raises
    ------
    FormatError
        Only averages, an average at another time than the page's end, or a time of a part of a second.
    """
    labels = {kind: label for label, kind in layout.averages.items()}
    end = rows[-1][2]
    named = [(labels.get(kind, clock_text(row[2])), *row[1:]) for kind, row in zip(kinds, rows, strict=True)]
    times = [row[2] for row in named if row[0] not in layout.averages]
    if not times or any(row[2] != end for row in named if row[0] in layout.averages) or any(t % 1 for t in times):
        raise FormatError(
            f"{layout.report} can't print these rows",
            expected="rows of whole seconds, an average at the time of the last",
        )
    return named, times[0]


def _lengths(reading: Reading) -> dict[tuple[str, float], float]:
    """Length of the interval that ends at each time of each report."""
    given = reading.info.get("interval s")
    found: dict[tuple[str, float], float] = {}
    for report, ends in reading.records.groupby("report", sort=False)["t"]:
        times = np.unique(ends)
        steps = np.diff(times)
        steps = np.concatenate([steps[:1] if len(steps) else [DEFAULT_INTERVAL], steps])
        for t, step in zip(times.tolist(), steps.tolist(), strict=True):
            found[str(report), t] = float(given) if given is not None else step
    return found


def _header(layout: Layout, info: dict[str, str], day: date | None, begin: int, end: int) -> list[str]:
    stamp = " ".join(info[key] for key in ("run date", "run time") if key in info)

    def moment(t: int) -> str:
        return f"{day + timedelta(days=t // DAY):%Y/%m/%d} {clock_text(t)}" if day else clock_text(t)

    machine = f"CPU {info['cpu']}   SN {info.get('serial', '?')}" if "cpu" in info else ""
    result = f"Result of {info['result of']} Run" if "result of" in info else ""
    release = f"z/VM   V.{info['release']}" if "release" in info else ""
    period = f" For {end - begin:>6d} Secs {clock_text(end - begin)}"
    return [
        f"1{layout.report}  Run {stamp:<20}  {layout.name}",
        f"{'':41}{layout.title}",
        f"{f' From {moment(begin)}':<{MARGIN}}  {info.get('system', '')}",
        f"{f' To   {moment(end)}':<{MARGIN}}  {machine}",
        f"{f'{period:<41}{result}':<{MARGIN}}  {release}",
        " " + "_" * (MARGIN + 30),
    ]


def _table(layout: Layout, rows: list[Row]) -> list[str]:
    fields = tuple(dict.fromkeys(field for _, field, _, _ in rows))
    heading, cells = _columns(layout, fields)
    wide = max(cell.end for cell in cells.values())
    ends = {cell.end - 1 for cell in cells.values()}
    key, owner = (
        next((cell for cell in cells.values() if name and cell.column.name == name), None)
        for name in (layout.entity or layout.time, layout.owner)
    )
    assert key is not None  # a layout is refused without it
    names = re.compile(layout.pattern)
    plain = layout.time and not layout.log
    lines = [*heading] if plain else [*heading, "".join("." if n in ends else " " for n in range(wide))]
    for entity, own in groupby(rows, key=lambda row: row[0]):
        line = [" "] * wide
        said = [(key, entity)]
        if owner is not None:
            first, _, rest = entity.partition(":")
            said = [(owner, first), (key, rest or "-----")]
        if not names.fullmatch(entity) or any(len(text) > cell.end - cell.start for cell, text in said):
            raise FormatError(f"{layout.report} can't print this name", expected=layout.pattern, found=entity)
        for cell, text in said:
            line[cell.start : cell.start + len(text)] = text
        for _, field, t, value in own:
            cell = cells[field]
            text = _fitting(value, max(cell.end - cell.start - 1, 1), cell.column)
            if line[cell.end - 1] != " ":
                raise FormatError(f"{layout.report} has no room for a second {field!r}", found=entity)
            line[cell.end - len(text) : cell.end] = text
            if plain:
                time = next(cell for cell in cells.values() if cell.column.name == layout.time)
                line[time.start : time.start + 5] = clock_text(t)[:5]
        lines.append("".join(line))
    return [*lines, ""]


@lru_cache(maxsize=64)
def _columns(layout: Layout, fields: tuple[str, ...]) -> tuple[list[str], dict[str, Cell]]:
    """The layout's heading, with a column for each field that it lacks, and every field's cells."""
    heading = list(layout.heading)
    known = {column.field for column in layout.columns}
    for field in fields:
        if field not in known:  # kept under its printed name when it was read
            wide = max(cell.end for cell in locate(layout, tuple(heading)) or ())
            heading[-1] = f"{heading[-1]:<{wide}}  {field:>8}"
    cells = {cell.column.field: cell for cell in locate(layout, tuple(heading)) or ()}
    if not set(fields) <= set(cells):
        raise FormatError("no column can be made", found=", ".join(sorted(set(fields) - set(cells))))
    return heading, cells


def _fitting(value: float, width: int, column: Column) -> str:
    """The number with as many decimals as fit, without a zero before the point, else in K, M or G."""
    for decimals in range(column.decimals, -1, -1):
        text = f"{value:.{decimals}f}"
        text = text[1:] if text.startswith("0.") else text
        if len(text) <= width:
            return text
    scaled = value * (conversion_factor(column.unit, "B") if column.unit in ("B", "KiB", "MiB", "GiB") else 1.0)
    for power, suffix in enumerate("KMG", start=1):
        text = f"{scaled / 1024**power:.0f}{suffix}"
        if len(text) <= width:
            return text
    raise FormatError(f"{value:g} is too wide for column {column.name!r}", expected=f"{width} characters")
