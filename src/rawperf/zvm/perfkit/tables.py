"""Records of Performance Toolkit pages: tables, and pages of labels and values (FCX102, FCX103).

The rows of a table are cut at the character positions of their heading.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache, partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rawperf.base import Warnings, build_records
from rawperf.core.errors import FileReader, FormatError
from rawperf.text import IndexArray, take_strings
from rawperf.zvm.perfkit.layout import REMEDY, Column, LayoutCell, ReportLayout, match_layout
from rawperf.zvm.perfkit.page import (
    BLANK,
    MAX_LINE_LENGTH,
    NUMBER,
    FilePart,
    LogEnd,
    encode_letters,
    factorize_texts,
    log_times,
    parse_column,
    parse_number,
    parse_plain_numbers,
)

HEADING_LINES = 4  # captions in up to three lines, names in the last
HEADING_WITHIN = 40  # lines below a page's header
RULE_PATTERN = re.compile(r"[ .:_=-]*")
_DOTS = re.compile(r"[ ]*\.(?:[ ]+\.)+[ ]*")
_NAMELESS = re.compile(r"-*|\.{2,}")
CLOCK_PATTERN = re.compile(r"([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9]))?")
_WORD = re.compile(r"[A-Za-z<][A-Za-z.,:/()<>-]*")


@dataclass
class LayoutRows:
    """Rows of one layout and spacing, collected over all pages, for vectorised conversion."""

    layout: ReportLayout
    cells: tuple[LayoutCell, ...]
    heading: str
    rows: list[tuple[int, int, int, int]] = field(default_factory=list)
    """For each row: line of the file, index of the page, indices into `entities` and `kinds`."""
    texts: list[str] = field(default_factory=list)
    """Texts of these rows."""
    regular: list[tuple[IndexArray, IndexArray, IndexArray, IndexArray]] = field(
        default_factory=list
    )
    """The same as `rows` of regular pages, with line and page of the part of the file."""
    log_end: LogEnd | None = None  # end of its log

    def __post_init__(self) -> None:
        cells_by_name = {
            cell.column.name: cell for cell in reversed(self.cells) if cell.column.text
        }
        self._key = cells_by_name[self.layout.entity or self.layout.time]
        self._owner = cells_by_name.get(self.layout.owner)
        self.time = cells_by_name.get(self.layout.time)
        self._repeats = [cell for cell in self.cells if cell.column.repeats]
        self._name = re.compile(self.layout.pattern)
        self.width = max(cell.end for cell in self.cells)
        self._last_number_end = max(cell.end for cell in self.cells if not cell.column.text)
        self._numbers = [cell for cell in self.cells if cell.column.known and not cell.column.text]
        self._first = self._owner or self._key
        naming = [cell for cell in (self._key, self._owner, self.time, *self._repeats) if cell]
        # characters of a row that tell whether it is one, and of what
        self.naming_width = max(cell.end for cell in naming)
        self._is_name = np.zeros(self.naming_width, dtype=bool)
        for cell in (self._key, self._first):
            self._is_name[cell.start : cell.end] = True
        if self._first is self.cells[0]:
            self._is_name[: self._first.start] = True
        self.kinds = [self.layout.entity_kind, *self.layout.averages.values()]
        self._averages = {
            text: n for n, (text, kind) in enumerate(self.layout.averages.items(), start=1) if kind
        }
        self.entities: dict[str, int] = {}

    def _has_time(self, when: str) -> bool:
        return when in self.layout.averages or CLOCK_PATTERN.fullmatch(when) is not None

    def _entity_label(self, text: str) -> str | None:
        """Entity of a row, with its owner if any, or its time; None for a line that is no row."""
        key = self._key
        if text[: self._first.start].strip() and self._first is self.cells[0]:
            return None
        label = text[key.start : key.end].strip()
        if self._owner:
            owner = text[self._owner.start : self._owner.end].strip()
            label = owner if _NAMELESS.fullmatch(label) else f"{owner}:{label}"
        return label if self._name.fullmatch(label) else None

    def _time_cell(self, text: str) -> str:
        """Cell of the row's time; "" if rows have none."""
        return text[self.time.start : self.time.end].strip() if self.time else ""

    def _entity(self, label: str | None) -> int:
        return self.entities.setdefault(
            label or "" if self.layout.entity else "", len(self.entities)
        )

    def parse_names(
        self, letters: NDArray[np.uint8]
    ) -> tuple[IndexArray, IndexArray, NDArray[np.bool_]]:
        """Indices into `entities` and `kinds` of lines that begin with these letters, and a mask of
        the rows.

        Rules, and rows with a blank cell that repeats the one above, are not among the rows.
        """
        code, texts = factorize_texts(np.where(self._is_name, letters, np.uint8(BLANK)))
        labels = [
            None if RULE_PATTERN.fullmatch(text) else self._entity_label(text) for text in texts
        ]
        is_row = np.array([label is not None for label in labels])[code]
        entity = np.array([self._entity(label) for label in labels])[code]
        if self.layout.log and self.time:
            code, texts = factorize_texts(letters[:, self.time.start : self.time.end])
            times = [text.strip() for text in texts]
            is_row &= np.array([self._has_time(time) for time in times])[code]
            labels = [*times]
        kind = np.array([self._averages.get(label or "", 0) for label in labels])[code]
        for cell in self._repeats:
            is_row &= (letters[:, cell.start : cell.end] != BLANK).any(axis=1)
        return entity, kind, is_row

    def collect(
        self,
        body: list[tuple[int, str]],
        page: int,
        continues_interval: bool,
        truncated_line: int,
        followed: bool,
    ) -> tuple[list[tuple[int, str]], list[int], bool]:
        """Collect the rows below a heading.

        A line that is not a row is left out. After it, only lines that are rows in every cell are
        accepted, and none after a line of words, which is another heading.

        With `continues_interval`, the page before has the same interval, and averages, which were
        read there, are left out. The line `truncated_line` may be truncated. If a table is
        `followed` by another one, words after its rows are the title of that. Returns lines among
        the rows that are not rows, such as a row with a damaged name, lines below the table, and
        whether the file ends within the last row.
        """
        unparsed: list[tuple[int, str]] = []
        below: list[tuple[int, str]] = []
        seen: set[str] = set()
        within = 0  # lines of `below` that precede another heading
        is_past_rows = dropped = False
        # row above, for repeated cells; None after a line that is not a row
        previous_row: str | None = None
        for line, printed in body:
            if RULE_PATTERN.fullmatch(printed):
                continue
            if line == truncated_line and len(printed.rstrip()) < self._last_number_end:
                dropped = True
                break
            text = printed
            for cell in self._repeats:
                if previous_row is not None and not text[cell.start : cell.end].strip():
                    text = (
                        text[: cell.start] + previous_row[cell.start : cell.end] + text[cell.end :]
                    )
            time = self._time_cell(text)
            label = (
                None
                if is_past_rows or (self.layout.log and not self._has_time(time))
                else self._entity_label(text)
            )
            if self.layout.log and text == printed:
                seen.clear()
            is_repeated = label in seen
            if (
                label is None
                or (text != printed and is_repeated)
                or ((unparsed or below) and (is_repeated or not self._is_valid_row(text)))
            ):
                below.append((line, printed))
                is_past_rows = is_past_rows or _is_heading(printed)
                within += not is_past_rows
                previous_row = None
                continue
            unparsed, below, within, previous_row = unparsed + below, [], 0, text
            seen.add(label)
            average = self._averages.get(time if self.layout.log else label, 0)
            if not (continues_interval and average):
                self.rows.append((line, page, self._entity(label), average))
                self.texts.append(text)
        damaged = [(line, text) for line, text in below[:within] if self._is_valid_row(text)]
        lines = {line for line, _ in damaged}
        unread = below[:within] if followed else below
        return unparsed + damaged, [line for line, _ in unread if line not in lines], dropped

    def _is_valid_row(self, text: str) -> bool:
        """Whether all known numeric cells are valid and at least one of them holds a number."""
        values = [
            parse_number(text[cell.start : cell.end], cell.column.unit) for cell in self._numbers
        ]
        present = [value is not None and value == value for value in values]
        trailing = text[self.width :].split()
        return (
            None not in values
            and any(present)
            and all(
                text[cell.end - 1 : cell.end].strip() if is_present else not cell.column.required
                for cell, is_present in zip(self._numbers, present, strict=True)
            )
            and not (trailing and parse_number(trailing[0], "1") is not None)
        )

    def clear(self) -> None:
        """Delete the rows."""
        self.rows, self.texts, self.regular, self.entities = [], [], [], {}


def _is_heading(text: str) -> bool:
    """Whether a line consists of words without a number."""
    words = sum(_WORD.fullmatch(token) is not None for token in text.split())
    return words > 1 and not count_numbers(text)


def count_numbers(text: str) -> int:
    """Count the words of a line that are numbers."""
    values = [parse_number(token, "1") for token in text.split()]
    return sum(value is not None and value == value for value in values)


HeadingMatch = tuple[int, ReportLayout, tuple[LayoutCell, ...]]
"""Index of the line that names the columns, the matching layout, and its cells."""


def find_heading(
    body: list[tuple[int, str]],
    layouts: tuple[ReportLayout, ...],
    release: str,
    within: int = HEADING_WITHIN,
) -> HeadingMatch | None:
    """First heading among the first lines of `body` that matches one of the layouts."""
    above: list[str] = []
    for index, (_, line) in enumerate(body[:within]):
        if RULE_PATTERN.fullmatch(line) or len(line) > MAX_LINE_LENGTH:
            continue
        layout = match_layout(layouts, (*above, line), release)
        if layout is not None:
            return index, *layout
        above = [*above, line][1 - HEADING_LINES :]
    return None


def unknown_heading_error(
    report: str,
    body: list[tuple[int, str]],
    layouts: tuple[ReportLayout, ...],
    file: str,
    line: int,
) -> FormatError:
    """Error for a page without a heading that `find_heading` recognises."""
    texts = [(number, text) for number, text in body if not RULE_PATTERN.fullmatch(text)][
        :HEADING_LINES
    ]
    number, heading = max(texts, key=lambda part: len(part[1].split()), default=(line, "nothing"))
    expected = "; or ".join(layout.heading[-1] for layout in layouts if layout.heading)
    problem = f"no registered layout of {report} has this heading"
    return FormatError(
        problem, file=file, line=number, expected=expected, found=heading, remedy=REMEDY
    )


_MAX_PLAIN_LENGTH = 10  # length up to which any plain number is also valid for `parse_number`


@dataclass(frozen=True)
class EncodedRows:
    """Rows of a file, ordered by line, with their records."""

    # report, entity kind and entity, dictionary-encoded: texts, and index of each row's text
    texts: tuple[tuple[list[str], IndexArray], ...]
    t: NDArray[np.float64]
    line: IndexArray  # of the file
    count: IndexArray  # number of records of each row
    fields: list[str]
    field: IndexArray  # index into `fields` of each record
    value: NDArray[np.float64]  # of each record


def concat_rows(parts: list[EncodedRows]) -> tuple[pd.DataFrame, IndexArray]:
    """Concatenate to `ParsedFile.records` and `ParsedFile.lines`, ordered by line."""
    t, line, count, value = (
        np.concatenate([getattr(p, name) for p in parts])
        for name in ("t", "line", "count", "value")
    )
    coded = [_concat_encoded([part.texts[index] for part in parts]) for index in range(3)]
    fields, field = _concat_encoded([(part.fields, part.field) for part in parts])
    if len(parts) > 1:
        order = np.argsort(line, kind="stable")
        begin = (np.cumsum(count) - count)[order]
        t, line, count = t[order], line[order], count[order]
        coded = [(texts, code[order]) for texts, code in coded]
        index = np.arange(len(value)) + np.repeat(begin - np.cumsum(count) + count, count)
        field, value = field[index], value[index]
    columns = [
        texts[code[0]] if (code == code[0]).all() else take_strings(texts, np.repeat(code, count))
        for texts, code in coded
    ]
    return build_records(
        *columns, take_strings(fields, field), np.repeat(t, count), value
    ), np.repeat(line, count)


def _concat_encoded(parts: list[tuple[list[str], IndexArray]]) -> tuple[list[str], IndexArray]:
    """Concatenate dictionary-encoded columns: texts and codes."""
    texts: list[str] = []
    codes = []
    for part_texts, code in parts:
        codes.append(code + len(texts))
        texts += part_texts
    return texts, np.concatenate(codes)


def check_dots(cells: tuple[LayoutCell, ...], heading: str, rule: str) -> str:
    """What is wrong with a heading, by the dots that stand below the last character of each column.

    Empty if nothing is, or if the line below the heading has no dots.
    """
    if not _DOTS.fullmatch(rule):
        return ""
    dots = {match.end() for match in re.finditer(r"\.", rule)}
    names = [match.end() for match in re.finditer(r"\S+", heading)]
    for cell in cells:
        end = cell.end - cell.column.shift
        if not cell.column.text and end not in dots:
            return f"the heading {cell.column.name!r} does not stand above a dot"
    if len(dots) > len(names):
        return f"{len(names)} names stand above {len(dots)} dots"
    return ""


def warn_of_rows(
    table: LayoutRows,
    rows: _CharacterRows,
    values: NDArray[np.float64],
    lines: IndexArray,
    warnings: Warnings,
) -> None:
    """Warn of rows whose parts do not add up, and of blank cells in layouts without any."""
    report, names = table.layout.report, [cell.column.name for cell in rows.cells]
    for total, terms in table.layout.sum_of.items():
        if total in names and set(terms) <= set(names):
            added = values[:, [names.index(term) for term in terms]].sum(axis=1)
            whole = values[:, names.index(total)]
            # printed with one decimal below 100, else with none
            rounding = np.where(np.maximum(whole, added) < 100, 0.11, 1.1) * len(terms)
            with np.errstate(invalid="ignore"):
                differs = np.flatnonzero(np.abs(added - whole) > rounding)
            if len(differs):
                warnings.add(
                    int(lines[differs[0]]),
                    f"{report}: {' + '.join(terms)} is not {total}; are the columns those of the "
                    f"heading? This is so in {len(differs)} of {len(lines)} rows",
                )
    blank_cells = {
        index: rows.blank_cells(index)
        for index, cell in enumerate(rows.cells)
        if table.layout.complete and cell.column.known and np.isnan(values[:, index]).any()
    }
    some = [index for index, is_blank in blank_cells.items() if is_blank.any() > is_blank.all()]
    if some:
        blank = np.flatnonzero(np.any([blank_cells[index] for index in some], axis=0))
        warnings.add(
            int(lines[blank[0]]),
            f"{report}: a blank cell in {', '.join(names[index] for index in some)}, which other rows "
            f"have; this is so in {len(blank)} of {len(lines)} rows",
        )


def page_records(
    table: LayoutRows,
    part: FilePart,
    intervals: tuple[np.ndarray, np.ndarray],
    warnings: Warnings,
    file: str,
) -> EncodedRows:
    """Convert the collected rows of a table to records, one per number, and clear them.

    `intervals` are begin and end of every page's interval; `part` is the part of the file. See
    `warn_of_rows` for what is warned of.

    Raises `FormatError`: a known column holds something else than a number, or a number is not
    below its heading.
    """
    parsed_line, *parsed = np.array(table.rows, dtype=np.int64).reshape(-1, 4).T
    parsed_line = parsed_line - part.lines_before - 1
    row_parts = [(parsed_line, *parsed)]
    for line, page, entity, kind in table.regular:
        is_kept = ~part.continues_interval[page] | (kind == 0)
        row_parts.append(
            (line[is_kept], part.number[page[is_kept]], entity[is_kept], kind[is_kept])
        )
    columns = [np.concatenate(column) for column in zip(*row_parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    line, page, entity, kind = (column[order] for column in columns)
    texts = dict(zip(np.searchsorted(line, parsed_line).tolist(), table.texts, strict=True))
    rows = _CharacterRows(table, part, line, texts, file)
    values = rows.values()
    average = np.array([kind != table.layout.entity_kind for kind in table.kinds])[kind]
    t = rows.times(intervals[0][page], intervals[1][page], average)
    has_value = ~np.isnan(values)
    warn_of_rows(table, rows, values, line + part.lines_before + 1, warnings)
    field = np.broadcast_to(np.arange(len(rows.cells)), has_value.shape)[has_value]
    names = (
        ([table.layout.report], np.zeros_like(line)),
        (table.kinds, kind),
        (list(table.entities), entity),
    )
    table.clear()
    fields = [cell.column.field for cell in rows.cells]
    return EncodedRows(
        names,
        t,
        line + part.lines_before + 1,
        has_value.sum(axis=1),
        fields,
        field,
        values[has_value],
    )


class _CharacterRows(FileReader):
    """Rows of a table as character arrays; `texts` replaces the file's text of some rows."""

    def __init__(
        self, table: LayoutRows, part: FilePart, lines: IndexArray, texts: dict[int, str], file: str
    ) -> None:
        self._table, self._part, self._lines, self._texts = table, part, lines, texts
        self.file = file
        self.cells = [cell for cell in table.cells if not cell.column.text]
        width = max(cell.end for cell in (*self.cells, *([table.time] if table.time else ())))
        self._letters = part.letters(lines, width)
        for row, text in texts.items():
            self._letters[row] = encode_letters(text, width)

    def _text(self, row: int) -> str:
        return self._texts[row] if row in self._texts else self._part.line(int(self._lines[row]))

    def _rows_beyond_last_cell(self) -> list[int]:
        """Rows that may have text beyond the last cell."""
        length = self._part.end[self._lines] - self._part.begin[self._lines]
        length[list(self._texts)] = [len(text) for text in self._texts.values()]
        longer = np.flatnonzero(length > self._table.width)
        if len(longer):
            width = int(min(length.max(), self._table.width + MAX_LINE_LENGTH))
            ends = self._part.letters(self._lines[longer], width)[:, self._table.width :]
            is_text = np.isin(longer, list(self._texts))
            longer = longer[(ends != BLANK).any(axis=1) | (length[longer] > width) | is_text]
        return longer.tolist()

    def blank_cells(self, index: int) -> NDArray[np.bool_]:
        """Mask of the rows without any character in the cell of that index."""
        cell = self.cells[index]
        return (self._letters[:, cell.start : cell.end] == BLANK).all(axis=1)

    def values(self) -> NDArray[np.float64]:
        """Numbers, shape (rows, cells); NaN if missing."""
        for row in self._rows_beyond_last_cell():
            text, width = self._text(row), self._table.width
            trailing = text[width:].split()
            ends_in_number = self.cells[-1].end == width
            is_cut = ends_in_number and " " not in text[width - 1 : width + 1]
            if trailing and (is_cut or parse_number(trailing[0], "1") is not None):
                raise self._alignment_error("a number is to the right of the last heading", row)
        values, is_other = parse_plain_numbers(
            self._letters, [(cell.start, cell.end) for cell in self.cells]
        )
        for k, cell in enumerate(self.cells):
            other = is_other[:, k]
            if other.any() or not cell.column.known:
                other = other | (
                    self._letters[:, cell.start : max(cell.end - _MAX_PLAIN_LENGTH, cell.start)]
                    != BLANK
                ).any(axis=1)
                rows = np.flatnonzero(other)
                values[rows, k] = self._numbers(cell, rows)
        return values

    def _numbers(self, cell: LayoutCell, rows: IndexArray) -> NDArray[np.float64]:
        """Parse the cells of some rows that are not, or perhaps not, plain numbers."""
        code, texts = self._factorize_cell(cell, rows)
        if not cell.column.known:  # may be text; only numbers become records
            return np.array([parse_number(text, "1") for text in texts], dtype=float)[code]
        parsed = parse_column(texts, cell.column.unit)
        values = np.array(parsed, dtype=float)[code]
        is_invalid = np.array([value is None for value in parsed], dtype=bool)[code]
        is_wrong = (
            is_invalid
            if is_invalid.any()
            else ~np.isnan(values) & (self._letters[rows, cell.end - 1] == BLANK)
        )
        if is_wrong.any():
            problem = "not a number" if is_invalid.any() else "not aligned with its heading"
            raise self._alignment_error(
                f"column {cell.column.name!r} is {problem}", int(rows[np.argmax(is_wrong)])
            )
        return values

    def _factorize_cell(self, cell: LayoutCell, rows: IndexArray) -> tuple[IndexArray, list[str]]:
        """Factorize a cell of some rows: codes and texts, without the zero bytes of a crash."""
        code, texts = factorize_texts(self._letters[rows, cell.start : cell.end])
        return code, [text.strip().rstrip("\0") for text in texts]

    def _alignment_error(self, problem: str, row: int) -> FormatError:
        expected = f"numbers that end below the heading {self._table.heading.strip()!r}"
        remedy = "set the column's `shift` in your own layout if the tool prints it elsewhere."
        problem = f"{self._table.layout.report}: {problem}"
        return self.error(problem, self._line_number(row), expected, self._text(row), remedy)

    def _line_number(self, row: int) -> int:
        return int(self._lines[row]) + self._part.lines_before + 1

    def times(
        self, begins: NDArray[np.float64], ends: NDArray[np.float64], average: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """End of each row's interval; `begins` and `ends` are those of its page."""
        cell = self._table.time
        if cell is None:
            return ends
        interval_rows = np.flatnonzero(~average)
        code, texts = self._factorize_cell(cell, interval_rows)
        clocks = np.array([_parse_clock(text) for text in texts], dtype=float)[code]
        if np.isnan(clocks).any():
            row = int(interval_rows[np.argmax(np.isnan(clocks))])
            cell_text = self._text(row)[cell.start : cell.end].strip().rstrip("\0")
            raise self.error("not a time", self._line_number(row), "HH:MM", cell_text)
        t = ends.copy()
        t[interval_rows], self._table.log_end = log_times(
            begins[interval_rows], ends[interval_rows], clocks, self._table.log_end
        )
        return t


def _parse_clock(text: str) -> float:
    clock = CLOCK_PATTERN.fullmatch(text)
    return int(clock[1]) * 3600.0 + int(clock[2]) * 60 + int(clock[3] or 0) if clock else np.nan


DEFAULT_SIZE = "MiB"
_DAMAGED_NUMBER = re.compile(r"(?:^|\s)(?:-|n/a|nan)(?:\W|$|kB|MB|GB|B|s|%)|\d\.\d|\w/s\w|'\d{3}")
"""What an item whose number is damaged still has."""
_UNITS = r"(?:kB|MB|GB|TB|[ ]?B|K|M|G|%|/s|s)?"
VALUE = rf"(?:{NUMBER}(?:\.[0-9]{{0,9}})?{_UNITS}|\.[0-9]{{1,9}}{_UNITS}|-{{2,}}|\.{{2,}})"


@lru_cache(maxsize=32)
def _item_patterns(
    layout: ReportLayout,
) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """Patterns of an item (known labels first), of known labels, and of labels without a number."""
    labels = sorted(
        {item.name for section in layout.sections for item in section.items},
        key=lambda label: (-len(label), label),
    )
    known_labels = "|".join(map(re.escape, labels)) or r"(?!)"
    values = rf"[ ]+({VALUE})" * max(1, len(layout.values))
    empty = (
        "|".join(map(re.escape, (*layout.empty, *(s.title for s in layout.sections if s.title))))
        or r"(?!)"
    )
    item = (
        rf"(?:(?:{empty})[ ]+)?((?:{known_labels})|[A-Za-z]\S*(?:[ ]\S+){{0,12}}?){values}(?=\s|$)"
    )
    return (
        re.compile(item),
        re.compile(rf"(?:{known_labels})(?=\s|$)"),
        re.compile(rf"(?:{empty})(?=\s|$)"),
    )


def read_items(
    layout: ReportLayout, body: list[tuple[int, str]], warnings: Warnings, file: str
) -> list[tuple[int, str, float]]:
    """Line, field and value of every item with a value in the lines below a page's header.

    Raises `FormatError`: a number without a label, a duplicate known label, a number in a foreign
    unit.
    """
    item_pattern, label_pattern, empty_pattern = _item_patterns(layout)
    fields = {
        (section.side, column.name): column
        for section in layout.sections
        for column in section.items
    }
    items: list[tuple[int, str, float]] = []
    known_fields: set[str] = set()
    right = _right_column(layout, body)
    for line_number, line in body:
        error = partial(FormatError, file=file, line=line_number)
        if len(line) > MAX_LINE_LENGTH:
            raise error("the line is too long", expected=f"{MAX_LINE_LENGTH} characters")
        left_over = line
        for index, match in enumerate(item_pattern.finditer(line)):
            start = match.start(1)
            left_over = (
                left_over[: match.start()]
                + " " * (match.end() - match.start())
                + left_over[match.end() :]
            )
            side = "right" if index or start >= right else "left"
            label = match[1]
            begins = label_pattern.match(label)
            if begins is not None and begins.end() < len(label):
                raise error("a damaged item", expected="a label and its value", found=label)
            columns, count = _item_columns(layout, fields, side, label), 1
            while columns[0].field in known_fields:
                count += 1
                if columns[0].known:
                    raise error("an item is given twice on one page", found=label)
                columns = _item_columns(layout, fields, side, f"{label} ({count})")
            for column, text in zip(columns, match.groups()[1:], strict=True):
                glued = "1/s" if text.endswith("/s") else text[-1] if text[-1] in "%s" else "1"
                unit = column.unit or (DEFAULT_SIZE if text.rstrip().endswith("B") else glued)
                value = parse_number(text, unit)
                if value is None:
                    raise error(
                        f"{column.field!r} has an unexpected unit", expected=unit, found=text
                    )
                known_fields.add(column.field)
                if value == value:  # not NaN
                    items.append((line_number, column.field, value))
        # labels without a value and titles are between items; a number there lost its label
        for part in re.split(r"[ ]{2,}", left_over.strip()):
            lost = any(token[0].isdigit() or re.fullmatch(VALUE, token) for token in part.split())
            known = label_pattern.fullmatch(part) or empty_pattern.fullmatch(part)
            if known is None and _DAMAGED_NUMBER.search(part):
                warnings.add(line_number, f"{layout.report}: not an item, left out: {part[:60]!r}")
            if lost and not label_pattern.fullmatch(part) and not empty_pattern.fullmatch(part):
                raise error("a damaged item", expected="a label and its value", found=part)
    return items


def _right_column(layout: ReportLayout, body: list[tuple[int, str]]) -> int:
    """Position of the right column's titles; beyond every line if the page has lost its spacing."""
    titles = [
        section.title for section in layout.sections if section.side == "right" and section.title
    ]
    title_positions = [(line, line.find(title)) for _, line in body for title in titles]
    return min(
        (
            position
            for line, position in title_positions
            if position > 1 and line[position - 2 : position] == "  "
        ),
        default=MAX_LINE_LENGTH,
    )


def _item_columns(
    layout: ReportLayout, fields: dict[tuple[str, str], Column], side: str, label: str
) -> list[Column]:
    """Columns of the numbers after a label; the unit "" is unknown."""
    if layout.values:
        return [Column(label, f"{label} {name}", unit, known=False) for name, unit in layout.values]
    other = "left" if side == "right" else "right"
    return [
        fields.get((side, label))
        or fields.get((other, label))
        or Column(label, label, "", known=False)
    ]
