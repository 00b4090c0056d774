"""Reader of listings and captured screens of the z/VM Performance Toolkit (FCXnnn reports).

A file is a sequence of pages. Each begins with a report id; the id and the heading select a layout
(`layouts.yaml`), and the heading's character positions determine the columns of a row.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rawperf.base import build_records
from rawperf.listing import Listing, ListingFormat, ListingPart, RecordsWithLines
from rawperf.recognition import PAGE_BEGINS
from rawperf.text import DAY, IndexArray
from rawperf.zvm.perfkit.layout import REMEDY, LayoutCell, ReportLayout, load_layouts
from rawperf.zvm.perfkit.page import (
    BLANK,
    NO_DATA,
    FilePart,
    PageHeader,
    PageIntervals,
    read_header,
)
from rawperf.zvm.perfkit.tables import (
    RULE_PATTERN,
    EncodedRows,
    HeadingMatch,
    LayoutRows,
    check_dots,
    concat_rows,
    count_numbers,
    find_heading,
    page_records,
    read_items,
    unknown_heading_error,
)

MAX_TEMPLATES, MAX_NEW_TEMPLATES = 8, 16
"""Templates that are kept of a report, and that a part of a file may add: in a damaged file, all
headers may differ.
"""


class PerfkitListing(Listing):
    """Pages of registered reports; see docs/formats/perfkit.md.

    ``t`` is the end of the interval. Refused are a file without a registered report, a heading that
    no layout matches, and a damaged header, row or number; an invalid layout file of the user raises
    `StudyError`.
    """

    name = "perfkit"
    title = "z/VM Performance Toolkit listings"
    clock = "time-of-day"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.layouts = load_layouts()
        self.pages: list[PageHeader] = []
        self.last_pages: dict[str, PageHeader] = {}  # the last page of each report
        self.intervals = PageIntervals()
        self.inconsistent = False
        self.assumed_reports: set[str] = set()
        self.skipped: dict[str, int] = {}
        self.unread: list[int] = []
        self.tables: dict[tuple[str, tuple[LayoutCell, ...]], LayoutRows] = {}
        self.templates: dict[str, deque[_PageTemplate]] = {}  # by report
        # of each regular page of the part: its template, and begin and end of its interval
        self.regular: dict[int, tuple[_PageTemplate, int, int]] = {}
        # page, layout, line, field, value
        self.items: list[tuple[int, ReportLayout, int, str, float]] = []

    def cut(self, lines: bytes, lines_before: int) -> int:
        """Cut before the last page."""
        position = len(lines)
        while (position := lines.rfind(b"FCX", 0, position)) >= 0:
            begin = lines.rfind(b"\n", 0, position) + 1
            line = lines[begin : lines.find(b"\n", position) + 1]
            if PAGE_BEGINS.match(line.decode("utf-8", "replace")):
                return begin
        return 0

    def parse(self, part: ListingPart) -> RecordsWithLines:
        pages = FilePart(part.data, part.lines_before)
        self._parse_pages(pages, part.is_last)
        parsed = self._records(pages)
        self.info = self.intervals.info()
        if self.assumed_reports:
            self.info["assumed layouts"] = " ".join(sorted(self.assumed_reports))
        return parsed

    def _parse_pages(self, part: FilePart, is_last: bool) -> None:
        """Parse the pages of a part of the file; `is_last` for the last part."""
        if not part.reports:
            found = part.data.decode().strip()[:60] or "nothing"
            expected = "a page that begins with FCXnnn"
            raise self.error("no report of the Performance Toolkit", None, expected, found)
        is_complete = part.data.endswith(b"\n")
        complete_pages: dict[str, list[int]] = {}
        for index in range(len(part.reports) - (not is_complete)):
            complete_pages.setdefault(part.reports[index], []).append(index)
        self.pages, self.regular, n_new = [], {}, 0
        for report, indices in complete_pages.items():
            self._find_regular(part, reversed(self.templates.get(report, ())), indices)
        for index, report in enumerate(part.reports):
            line = int(part.first[index]) + part.lines_before + 1
            if index in self.regular:
                template, begin, end = self.regular[index]
                page = template.page._replace(line=line, begin=begin, end=end)
                part.continues_interval[index] = self._continues_interval(page)
                part.number[index] = len(self.pages)
                self.pages.append(page)
                self.last_pages[report] = page
                continue
            if report not in self.layouts:
                self.skipped.setdefault(report, line)
                continue
            text = part.data[part.pages[index] : part.pages[index + 1]].decode()
            is_last_page = is_last and index == len(part.reports) - 1
            new = self._parse_page(text.split("\n"), line, is_last_page, is_complete)
            known = self.templates.setdefault(report, deque(maxlen=MAX_TEMPLATES))
            if (
                new is not None
                and n_new < MAX_NEW_TEMPLATES
                and all(new.fixed != other.fixed for other in known)
            ):
                n_new += 1
                known.append(new)
                indices = [page for page in complete_pages[report] if page > index]
                self._find_regular(part, [new], indices)
        for page in self.pages:
            if (
                not self.inconsistent
                and page.length >= 0
                and (page.length - page.clock_duration) % DAY not in (0, 1, DAY - 1)
            ):
                self.inconsistent = True
                self.warnings.add(
                    page.line,
                    f"From and To are {page.clock_duration} s apart, but For is {page.length}",
                )
        if not is_last:
            return
        for report, at in self.skipped.items():
            self.warnings.add(at, f"{report} has no layout and was skipped")
        if self.unread:
            self.warnings.add(
                self.unread[0], f"{len(self.unread)} line(s) below tables were not read"
            )
        if not self.last_pages:
            expected = ", ".join(sorted(self.layouts))
            found = ", ".join(self.skipped) or "a truncated page"
            problem = "no complete page of a registered report"
            raise self.error(problem, None, expected, found, REMEDY)

    def _find_regular(
        self, part: FilePart, templates: Iterable[_PageTemplate], indices: list[int]
    ) -> None:
        """Collect the rows of those of some pages of one report that match a template."""
        for template in templates:
            others = [index for index in indices if index not in self.regular]
            for index, begin, end in template.collect(part, np.array(others)) if others else ():
                self.regular[index] = template, begin, end

    def _continues_interval(self, page: PageHeader) -> bool:
        """Whether a page continues the interval of the page before."""
        last_pages = self.last_pages.get(page.report)
        return last_pages is not None and (last_pages.begin, last_pages.end, last_pages.day) == (
            page.begin,
            page.end,
            page.day,
        )

    def _parse_page(
        self, lines: list[str], first_line: int, is_last: bool, is_complete: bool
    ) -> _PageTemplate | None:
        """Parse a page line by line; return its template if further pages may match it."""
        page = read_header(lines, first_line, self.file)
        if page is None:
            self._report_truncation(first_line, "header", is_last)
            return None
        layouts = self.layouts[page.report]
        body = list(enumerate(lines[page.body :], first_line + page.body))
        body = [(n, text) for n, text in body if not NO_DATA.match(text)]
        # carriage control: "0" and "-" feed lines first, "+" overprints the line before
        if page.asa:
            body = [
                (n, f" {text[1:]}" if text[:1] in ("0", "-") else text)
                for n, text in body
                if text[:1] != "+"
            ]
        truncated_line = first_line + len(lines) - 1 if is_last and not is_complete else 0
        table: LayoutRows | None = None
        if layouts[0].kind == "items":
            layout = layouts[0]
            if truncated_line and any(n == truncated_line and text.strip() for n, text in body):
                self._report_truncation(truncated_line, "line", is_last)
                body = body[:-1]
            items = read_items(layout, body, self.warnings, self.file)
            if not items:
                self.warnings.add(first_line, f"{page.report} has no values on this page")
            self.items += [
                (len(self.pages), layout, line, field, value) for line, field, value in items
            ]
        else:
            heading = find_heading(body, layouts, page.facts.get("release", ""))
            if heading is None:
                if (
                    not is_last
                    or not self.last_pages
                    or sum(bool(text.strip("_ .")) for _, text in body) > 3
                ):
                    raise unknown_heading_error(page.report, body, layouts, self.file, first_line)
                self._report_truncation(first_line, "heading", is_last)
                return None
            table, is_aligned = self._parse_tables(page, body, heading, layouts, truncated_line)
            layout = table.layout
        if page.begin < 0 and not layout.time:
            raise self.error(f"{page.report} has no interval", first_line, found=lines[0])
        if page.form == "printed" or layout.evidence != "screen":
            self.assumed_reports.add(page.report)
        page = page._replace(log=layout.log)
        self.pages.append(page)
        self.last_pages[page.report] = page
        if (
            table is None
            or heading is None
            or truncated_line
            or not is_aligned
            or not page.offsets
            or any(other.below for other in layouts)
        ):
            return None
        n_above = body[heading[0]][0] - first_line + 1
        while n_above < len(lines) - 1 and RULE_PATTERN.fullmatch(lines[n_above]):
            n_above += 1
        above = "\n".join(lines[:n_above]) + "\n"
        return _PageTemplate(page, table, above) if above.isascii() else None

    def _parse_tables(
        self,
        page: PageHeader,
        body: list[tuple[int, str]],
        heading: HeadingMatch,
        layouts: tuple[ReportLayout, ...],
        truncated_line: int,
    ) -> tuple[LayoutRows, bool]:
        """Parse the table with that heading, and the tables below it on the same page.

        Returns the last table, and whether all headings stand above their dots.
        """
        above = [n for n, text in body[: heading[0]] if count_numbers(text) > 2]
        if above:
            self.warnings.add(
                above[0], f"{page.report}: {len(above)} line(s) above the table were not read"
            )
        layouts_below, is_aligned = tuple(other for other in layouts if other.below), True
        below: HeadingMatch | None = heading
        while below:
            index, layout, cells = below
            key = (page.report, cells)
            table = self.tables.get(key) or LayoutRows(layout, cells, body[index][1])
            self.tables[key] = table
            rule = body[index + 1][1] if index + 1 < len(body) else ""
            if problem := check_dots(cells, body[index][1], rule):
                is_aligned = False
                self.warnings.add(
                    body[index][0], f"{page.report}: {problem}, so numbers may be of other columns"
                )
            body = body[index + 1 :]
            below = (
                find_heading(body, layouts_below, page.facts.get("release", ""), len(body))
                if layouts_below
                else None
            )
            rows = body[: below[0]] if below else body
            number, followed = len(self.pages), below is not None
            inconsistent, unread, dropped = table.collect(
                rows,
                number,
                self._continues_interval(page),
                0 if below else truncated_line,
                followed,
            )
            self.unread += unread
            for line, text in inconsistent:
                self.warnings.add(
                    line, f"not a row of {page.report}, left out: {text.strip()[:40]!r}"
                )
            if dropped:
                self._report_truncation(truncated_line, "row", True)
            elif not table.rows or table.rows[-1][1] != number:
                self.warnings.add(page.line, f"{page.report} has no rows on this page")
        return table, is_aligned

    def _report_truncation(self, line: int, part_name: str, is_last: bool) -> None:
        if not is_last:
            raise self.error(f"a page ends within its {part_name}", line)
        self.warnings.add(line, f"the file ends within a {part_name}, which was dropped")

    def _records(self, part: FilePart) -> RecordsWithLines:
        """Records of the last part that was read."""
        intervals = self.intervals.compute(self.pages)
        frames = [
            page_records(table, part, intervals, self.warnings, self.file)
            for table in self.tables.values()
            if table.rows or table.regular
        ]
        if self.items:
            pages, layouts, lines, fields, values = zip(*self.items, strict=True)
            reports, kinds = (
                [getattr(layout, name) for layout in layouts] for name in ("report", "entity_kind")
            )
            indices = np.arange(len(self.items))
            texts, t = (
                ((reports, indices), (kinds, indices), ([""], 0 * indices)),
                intervals[1][list(pages)],
            )
            count, value = np.ones_like(indices), np.array(values, dtype=float)
            frames.append(
                EncodedRows(texts, t, np.array(lines), count, list(fields), indices, value)
            )
            self.items = []
        if not frames:
            empty = np.array([], dtype=float)
            return build_records("", "", "", "", empty, empty), empty.astype(np.int64)
        return concat_rows(frames)


class _PageTemplate:
    """Lines of a page above its rows, for pages that differ only in times, page number and rows.

    `fixed` is what all such pages have in common.
    """

    def __init__(self, page: PageHeader, table: LayoutRows, above: str) -> None:
        self.page, self._table = page, table
        self._above = np.frombuffer(above.encode(), np.uint8)
        self._n_lines = above.count("\n")
        *clocks, facts_end = page.offsets
        self._digits = [offset + k for offset in clocks for k in (0, 1, 3, 4, 6, 7)]
        self._page_number = slice(facts_end + 1, above.index("\n"))
        self._is_free = np.zeros(len(above), dtype=bool)
        self._is_free[self._digits] = self._is_free[self._page_number] = True
        self.fixed = np.where(self._is_free, np.uint8(0), self._above).tobytes()

    def collect(self, part: FilePart, pages: IndexArray) -> list[list[int]]:
        """Collect the rows of those of some pages of a part that match and have plain rows only.

        Returns these pages with begin and end of their intervals.
        """
        size = len(self._above)
        pages = pages[part.pages[pages + 1] - part.pages[pages] > size]
        pages = pages[part.last_unusual[pages] < part.pages[pages] + size]
        if not len(pages):
            return []
        above = sliding_window_view(part.bytes, size)[part.pages[pages]]
        digits = above[:, self._digits] - np.uint8(ord("0"))
        clocks = digits.reshape(-1, 2, 3, 2) @ np.array([10, 1])
        matches = ((above == self._above) | self._is_free).all(axis=1)
        matches &= (above[:, self._page_number] >= BLANK).all(axis=1)
        matches &= (digits <= 9).all(axis=1) & (clocks < [24, 60, 61]).all(axis=(1, 2))
        if not matches.any():
            return []
        pages, clocks = pages[matches], clocks[matches] @ np.array([3600, 60, 1])
        return np.column_stack([pages, clocks])[self._collect_rows(part, pages)].tolist()

    def _collect_rows(self, part: FilePart, pages: IndexArray) -> NDArray[np.bool_]:
        """Mask of the pages with lines that are all rows or rules, and not only averages."""
        first = part.first[pages] + self._n_lines
        counts = part.first[pages + 1] - first
        page = np.repeat(np.arange(len(pages)), counts)
        lines = np.arange(len(page)) + np.repeat(first - np.cumsum(counts) + counts, counts)
        letters = part.letters(lines, self._table.naming_width)
        entity, kind, is_row = self._table.parse_names(letters)
        if self.page.asa:
            is_row &= letters[:, 0] == BLANK
        is_regular = np.bincount(page[is_row & (kind == 0)], minlength=len(pages)) > 0
        is_empty = part.end[lines] == part.begin[lines]
        for index in np.flatnonzero(~is_row & ~is_empty).tolist():
            if is_regular[page[index]] and not RULE_PATTERN.fullmatch(part.line(lines[index])):
                is_regular[page[index]] = False
        is_row &= is_regular[page]
        if is_row.any():
            self._table.regular.append(
                (lines[is_row], pages[page[is_row]], entity[is_row], kind[is_row])
            )
        return is_regular


FORMAT = ListingFormat(PerfkitListing)
