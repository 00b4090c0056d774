"""Performance Toolkit listings, written in the printed form that `perfkit` reads back."""

from __future__ import annotations

import re
from itertools import groupby

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.core.units import conversion_factor
from virtperf.formats.base import Reading
from virtperf.formats.perfkit.layout import Column, Layout, locate
from virtperf.formats.perfkit.page import NO_DATA, PAGE_BEGINS, Page, log_times, page_spans
from virtperf.formats.rows import refused
from virtperf.formats.text import DAY, clock_text

DEFAULT_INTERVAL = 60.0
MARGIN = 96


Row = tuple[str, str, float, float]  # entity (in a log: what stands in its place), field, t, value


def write_listing(reading: Reading, layouts: dict[str, tuple[Layout, ...]]) -> bytes:
    """One page for each run of records of one table and one time; of a log, one page for all its times.

    Where `info` has no ``interval s``, an interval begins where the report's last one ended, and the first one is as
    long as the second, or 60 s. Numbers are printed with as many decimals as their layout and their column allow.

    Raises
    ------
    FormatError
        A report whose layout is no table or log with entities of one name, a field without a column, a number too wide
        for its column, times that times of day can't tell.
    """
    records = reading.records
    if records.empty:
        raise FormatError("a reading without records makes no listing")
    first = {report: known[0] for report, known in layouts.items()}
    tables = {r: f for r, f in first.items() if f.kind == "table" and not f.owner and (f.log or not f.time)}
    unknown = sorted(set(records["report"]) - set(tables))
    if unknown:
        raise refused("perfkit", "no layout for these reports", ", ".join(unknown), ", ".join(sorted(tables)))
    if records["t"].isna().any() or not ((records["value"] >= 0) & (records["value"] < 1e15)).all():
        raise FormatError("a listing holds numbers from 0 to 1e15 only, each at a time")
    lines: list[str] = []
    ends: list[float] = []
    pages: list[Page] = []
    lengths = _lengths(reading)
    columns = (records[name].tolist() for name in ("report", "entity", "field", "t", "value", "entity_kind"))
    for (report, _), group in groupby(
        zip(*columns, strict=True), key=lambda row: (row[0], -1.0 if tables[row[0]].log else row[3])
    ):
        layout, found = tables[report], list(group)
        rows: list[Row] = [row[1:5] for row in found]
        begin, end = max(0, round(rows[0][2] - lengths[report, rows[0][2]])), round(rows[-1][2])
        if any(kind != layout.averages.get(entity, layout.entity_kind) for _, entity, *_, kind in found):
            raise refused("perfkit", f"{report} has rows of other kinds", expected=layout.entity_kind)
        if layout.log:
            rows = [(clock_text(t), field, t, value) for _, field, t, value in rows]
            times = np.array([t for _, _, t, _ in rows])
            spans = np.full(len(times), float(begin)), np.full(len(times), float(end))
            if (times % 1).any() or not np.array_equal(log_times(*spans, times % DAY), times):
                raise _untellable()
        ends.append(rows[-1][2])
        pages.append(Page(report, 0, 0, "printed", True, begin % DAY, end % DAY, end - begin))
        lines += _header(layout, reading.info, begin, end)
        body = _table(layout, rows)
        if any(NO_DATA.match(line) or PAGE_BEGINS.match(line) for line in body):
            raise FormatError("a name would begin a new page", found=" ".join(sorted({row[0] for row in rows})))
        lines += body
    if not np.array_equal(page_spans(pages)[1], ends):
        raise _untellable()
    return "".join(f"{line.rstrip()}\n" for line in lines).encode()


def _untellable() -> FormatError:
    return FormatError(
        "times of day alone can't tell these times",
        expected="whole seconds, the first on day 0, steps of less than half a day",
    )


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
    cells = {cell.column.field: cell for cell in locate(layout, layout.heading) or ()}
    wide = max(cell.end for cell in cells.values())
    ends = {cell.end - 1 for cell in cells.values()}
    key = next(cell for cell in cells.values() if cell.column.name == (layout.entity or layout.time))
    names = re.compile(layout.pattern)
    lines = [*layout.heading, "".join("." if n in ends else " " for n in range(wide))]
    for entity, own in groupby(rows, key=lambda row: row[0]):
        line = [" "] * wide
        if not names.fullmatch(entity) or len(entity) > key.end - key.start:
            raise refused("perfkit", f"{layout.report} has no such name", entity, layout.pattern)
        line[key.start : key.start + len(entity)] = entity
        for _, field, _, value in own:
            if field not in cells:
                raise refused("perfkit", f"{layout.report} has no such column", field, ", ".join(cells))
            cell = cells[field]
            text = _fitting(value, max(cell.end - cell.start - 1, 1), cell.column)
            if line[cell.end - 1] != " ":
                raise refused("perfkit", f"{layout.report} has no room for a second {field!r}", entity)
            line[cell.end - len(text) : cell.end] = text
        lines.append("".join(line))
    return [*lines, ""]


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
