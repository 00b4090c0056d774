"""Reader of columns that are separated by a delimiter or by blanks."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa

from rawperf.core.declaration import OTHER_COLUMNS, Declaration, TableDeclaration
from rawperf.core.errors import did_you_mean
from rawperf.core.patterns import capture_groups, full_match_mask, group_names, matches_whole
from rawperf.declared.chunks import Chunk, ReadContext
from rawperf.declared.values import ArrowRowParser, Cells
from rawperf.text import ONE_NUMBER

ROWS = 20_000
"""Rows per chunk when cells are read one by one."""
BLANKS = " "
MAX_SHOWN = 10
"""Columns that a message names."""


def read_columns(texts: Iterable[str], context: ReadContext) -> Iterator[dict[str, str]]:
    """Read the rows of a file with columns, from pieces of whole lines; yields after every chunk.

    Arrow parses pieces without comments, which is many times as fast. Other pieces, and those that
    Arrow rejects, are read row by row, which locates a faulty line.

    Raises `FormatError`: no heading, a declared column that is missing, a row with more or fewer
    cells than the heading.
    """
    source = _RowLines(texts, context)
    start, names = source.heading()
    columns = _Columns(names, start, context)
    info = {"lines before the heading": str(source.skipped)} if source.skipped else {}
    for text in source.pieces():
        cells = (
            columns.arrow_parser.parse(text)
            if columns.arrow_parser and source.is_plain(text)
            else None
        )
        if cells is not None:
            count = len(next(iter(cells.values())))
            columns.emit_columns(cells, np.arange(source.number + 1, source.number + 1 + count))
            source.number += count
            yield info
            continue
        lines: list[int] = []
        rows: list[list[str]] = []
        for line, row in source.rows(text):
            lines.append(line)
            rows.append(columns.check_row(row, line))
            if len(lines) == ROWS:
                columns.emit_rows(rows, lines)
                lines, rows = [], []
                yield info
        if rows:
            columns.emit_rows(rows, lines)
        yield info
    if source.truncated_line:
        context.messages.append(
            f"{context.file} line {source.truncated_line}: the last line has no newline, "
            "may be truncated, and was left out"
        )
    yield info


class _Columns:
    """Columns of a file, and distribution of its rows to the tables."""

    def __init__(self, names: list[str], start: int, context: ReadContext) -> None:
        self._context, self._parts = context, context.declaration.parts
        self._is_open = OTHER_COLUMNS in context.declaration.columns
        self._checked = 0  # number of rows
        repeat = next((part.repeat for part in self._parts if part.repeat is not None), None)
        if repeat is not None and repeat not in names:
            raise context.error(
                f"there is no column {repeat!r}, the first one of the repeated group",
                start,
                found=", ".join(filter(None, names)),
                remedy=did_you_mean(repeat, names),
            )
        self._fixed_width = len(names) if repeat is None else names.index(repeat)
        self.names, self._group = (
            names[: self._fixed_width],
            _repeated_group(names[self._fixed_width :], repeat),
        )
        for part in self._parts:
            column_names = self.names if part.repeat is None else [*self.names, *self._group]
            _check_names(column_names, self._fixed_width, start, part, context)
        self._melted_rows = {
            index: _parse_melt_names(names, part, start, context)
            for index, part in enumerate(self._parts)
            if part.melt is not None
        }
        self._all_names = (*self.names, *self._group)
        self._warn_of_unread_columns(start)
        reads_all_columns = any(part.others and part.names is None for part in self._parts)
        text_columns = set(context.declaration.input_fields)
        self._required = {
            index: name
            for index, name in enumerate(self.names)
            if name in text_columns
            or (name and (reads_all_columns or self._melted_rows) and not self._is_left_out(name))
        }
        melted = [
            name
            for melted_rows in self._melted_rows.values()
            for name in _melted_columns(melted_rows)
        ]
        self.arrow_parser = (
            None
            if self._group or self._is_open
            else ArrowRowParser(len(self.names), self._required, context.declaration, melted)
        )

    def _warn_of_unread_columns(self, line: int) -> None:
        """Name columns without a name, and those that match no `melt` of any table."""
        messages = self._context.messages
        if unnamed := [str(n) for n, name in enumerate(self._all_names, start=1) if not name]:
            messages.append(
                f"{self._context.file} line {line}: column {', '.join(unnamed)} has no name and was "
                "not read"
            )
        if not self._melted_rows:
            return
        known = set(self._context.declaration.input_fields).union(
            *(_melted_columns(rows) for rows in self._melted_rows.values())
        )
        unread = [
            name
            for name in self.names
            if name and name not in known and not self._is_left_out(name)
        ]
        if unread:
            more = f" and {len(unread) - MAX_SHOWN} more" * (len(unread) > MAX_SHOWN)
            messages.append(
                f"{self._context.file} line {line}: columns that no table reads: "
                f"{', '.join(unread[:MAX_SHOWN])}{more}"
            )

    def _is_left_out(self, name: str) -> bool:
        ignored = self._context.declaration.ignore
        return any(matches_whole(pattern, name) for pattern in ignored)

    def check_row(self, row: list[str], line: int) -> list[str]:
        """Return a row that fits the heading; raises `FormatError` for any other."""
        delimiter, width = self._context.declaration.delimiter, len(self.names)
        group = len(self._group)
        self._checked += 1
        is_row = len(row) > 1 or width == 1
        if is_row and self._checked <= self._context.declaration.leave_out_rows:
            return [*row, *[""] * (width - len(row))][:width]  # not read; its width is no matter
        if self._is_open and len(row) > width:
            row = row[:width]
        if delimiter == BLANKS and len(row) > width and not group:
            row = [*row[: width - 1], " ".join(row[width - 1 :])]
        n_extra = len(row) - width
        if n_extra == 0 or (group and n_extra > 0 and n_extra % group == 0):
            return row
        more = f", then groups of {group}: {' '.join(self._group)}" if group else ""
        raise self._context.error(
            "a row does not fit the heading",
            line,
            expected=f"{width} cells: {' '.join(self.names)}{more}",
            found=f"{len(row)}: {delimiter.join(row)}",
            remedy="the line may be damaged, or the tool began another table here; correct or remove it.",
        )

    def emit_rows(self, rows: list[list[str]], lines: list[int]) -> None:
        """Send rows to the tables, each in the form that the table declares."""
        columns = {name: [row[index] for row in rows] for index, name in self._required.items()}
        self.emit_columns(columns, lines)
        if self._group:
            self._emit_groups(rows, lines)

    def emit_columns(self, columns: Cells, lines: Sequence[int] | np.ndarray) -> None:
        """Send columns to the tables that have no repeated groups."""
        for number, part in enumerate(self._parts):
            if number in self._melted_rows:
                if not self._melted_rows[number]:
                    continue
                input_fields = self._context.declaration.input_fields_of(part)
                required = {*input_fields, *_melted_columns(self._melted_rows[number])}
                row_columns = {name: column for name, column in columns.items() if name in required}
                self._context.sink(number, melt_rows(row_columns, lines, self._melted_rows[number]))
            elif part.repeat is None:
                self._context.sink(number, Chunk(dict(columns), lines, keys=self._all_names))

    def _emit_groups(self, rows: list[list[str]], lines: list[int]) -> None:
        """Send each repeated group of a row as a row, with the cells before the first group."""
        width, size = self._fixed_width, len(self._group)
        starts = [
            (row, line, start)
            for row, line in zip(rows, lines, strict=True)
            for start in range(width, len(row), size)
        ]
        cells = {name: [row[p] for row, _, _ in starts] for p, name in enumerate(self.names)}
        for index, name in enumerate(self._group):
            cells[name] = [row[start + index] for row, _, start in starts]
        for number, part in enumerate(self._parts):
            if part.repeat is not None and starts:
                # a number of a group is never in a column before the groups
                other = part.number_columns - {*self._group}
                if part.others:
                    other |= {*self.names} - {*self._context.declaration.input_fields_of(part)}
                own = {name: column for name, column in cells.items() if name not in other}
                row_lines = [line for _, line, _ in starts]
                self._context.sink(number, Chunk(own, row_lines, keys=self._all_names))


MeltedRows = list[tuple[dict[str, str], dict[str, str]]]
"""For each row that a melt gives: texts of the capture groups, and column names by field."""


def _parse_melt_names(
    names: list[str], part: TableDeclaration, line: int, context: ReadContext
) -> MeltedRows:
    """Parse column names by the melt expression.

    Raises `FormatError` if none matches and a field is required, or two give the same field.
    """
    pattern = part.melt
    assert pattern is not None
    array = pa.array(names, pa.string())
    positions = np.flatnonzero(full_match_mask(pattern, array).to_numpy(zero_copy_only=False))
    if not len(positions):
        if all(rule.optional for rule in part.fields):
            return []
        raise context.error(
            "no column name matches melt",
            line,
            expected=pattern,
            found=", ".join(filter(None, names)),
        )
    groups = capture_groups(pattern, array.take(pa.array(positions)))
    field = groups.pop("field", None)
    rows: dict[tuple[str, ...], tuple[dict[str, str], dict[str, str]]] = {}
    for number, position in enumerate(positions.tolist()):
        texts = {name: column[number] for name, column in groups.items()}
        field_name = field[number] if field is not None else "value"
        _, columns = rows.setdefault(tuple(texts.values()), (texts, {}))
        if field_name in columns:
            raise context.error(
                f"two columns give {field_name!r} of the same {' '.join(groups) or 'file'}",
                line,
                found=f"{columns[field_name]} and {names[position]}",
                remedy="add a group to melt that distinguishes them.",
            )
        columns[field_name] = names[position]
    return list(rows.values())


def _melted_columns(melted: MeltedRows) -> set[str]:
    return {name for _, column_by_field in melted for name in column_by_field.values()}


def melt_rows(columns: Cells, lines: Sequence[int] | np.ndarray, melted: MeltedRows) -> Chunk:
    """Melt rows of several entities into rows of one entity each, in file order."""
    melted_names = _melted_columns(melted)
    count, n_melted = len(lines), len(melted)
    row_indices = np.repeat(np.arange(count), n_melted)
    cells: Cells = {
        name: _repeat_cells(column, row_indices)
        for name, column in columns.items()
        if name not in melted_names
    }
    for name in melted[0][0]:
        column = pa.array([texts[name] for texts, _ in melted], pa.string()).dictionary_encode()
        cells[name] = column.take(pa.array(np.tile(np.arange(n_melted), count)))
    for field in dict.fromkeys(field for _, column_by_field in melted for field in column_by_field):
        sources = [columns.get(column_by_field.get(field, "")) for _, column_by_field in melted]
        cells[field] = _interleave(sources, count)
    return Chunk(cells, np.repeat(np.asarray(lines, dtype=np.int64), n_melted))


def _repeat_cells(column: Any, rows: np.ndarray) -> Any:
    if isinstance(column, pa.Array):
        return column.take(pa.array(rows))
    return column[rows] if isinstance(column, np.ndarray) else [column[p] for p in rows.tolist()]


def _interleave(sources: Sequence[Any], count: int) -> Any:
    """Interleave the cells of several columns row by row; missing columns give missing cells."""
    columns = [source for source in sources if source is not None]
    if all(isinstance(source, np.ndarray) for source in columns):
        missing = np.full(count, np.nan)
        return np.stack([missing if s is None else s for s in sources], axis=1).ravel()
    if all(isinstance(source, pa.StringArray) for source in columns):
        missing = pa.nulls(count, pa.string())
        joined = pa.concat_arrays([missing if s is None else s for s in sources])
        order = np.arange(len(joined)).reshape(len(sources), count).T.ravel()
        return joined.take(pa.array(order))
    lists = [s.to_pylist() if isinstance(s, pa.Array) else s for s in sources]
    lists = [s.tolist() if isinstance(s, np.ndarray) else s for s in lists]
    return [None if s is None else s[row] for row in range(count) for s in lists]


class _RowLines:
    """Lines of a file that are rows, each record with its first line."""

    def __init__(self, texts: Iterable[str], context: ReadContext) -> None:
        self._texts, self._context = iter(texts), context
        self.number = 0  # lines read so far
        self.truncated_line = 0  # line without a line end
        self.skipped = 0  # lines before the heading
        self._first = 0
        self._heading = ""  # the line, if it may be repeated

    def pieces(self) -> Iterator[str]:
        """Remaining pieces of the file; more is consumed if a quoted cell spans pieces."""
        yield from iter(lambda: next(self._texts, ""), "")

    def heading(self) -> tuple[int, list[str]]:
        """Line and names of the heading; raises `FormatError` if there is none."""
        declaration = self._context.declaration
        if declaration.columns and declaration.heading is None:
            return 1, _named_columns(declaration)
        if declaration.heading is not None:
            self._skip_to_heading(declaration.heading)
        for text in self._texts:
            rows = self.rows(text, only_first=True)
            heading = next(rows, None)
            if heading is not None:
                self._first = 0
                return self._parse_heading(*heading)
        return self._parse_heading(1, [])

    def _parse_heading(self, line: int, cells: list[str]) -> tuple[int, list[str]]:
        declaration, names = self._context.declaration, [cell.strip() for cell in cells]
        if not any(names):
            raise self._context.error(
                "the heading is missing", 1, expected="column names, then rows"
            )
        if declaration.first is not None:
            lacks_first_name = declaration.delimiter == BLANKS and self._heading[:1] in (" ", "\t")
            names = [declaration.first, *names[0 if lacks_first_name else 1 :]]
        if declaration.heading is None:
            self._heading = ""
        return line, _named_columns(declaration) or names

    def _skip_to_heading(self, pattern: str) -> None:
        """Skip the lines before the one that matches the heading's pattern.

        Raises `FormatError` if one of them is a row of numbers as wide as the heading.
        """
        rows: list[tuple[int, int, str]] = []  # line, number of cells, text
        for text in self._texts:
            lines = text.split("\n")
            matches = np.flatnonzero(
                full_match_mask(
                    pattern, pa.array([line.rstrip() for line in lines[:-1]], pa.string())
                ).to_numpy(zero_copy_only=False)
            )
            end = int(matches[0]) if len(matches) else len(lines) - 1
            for number, line in enumerate(lines[:end], start=self.number + 1):
                cells = self._split(line)
                if 2 * sum(map(_is_number, cells)) > len(cells) > 1:
                    rows.append((number, len(cells), line))
            self.number += end
            if len(matches):
                width = len(self._split(lines[end]))
                above = next((row for row in rows if row[1] == width), None)
                if above is not None:
                    raise self._context.error(
                        "a row above the heading",
                        above[0],
                        expected=f"a line that fully matches {pattern}, then rows",
                        found=above[2],
                        remedy="the heading above this row is missing or has another form; restore it.",
                    )
                self.skipped = self.number
                self._texts = chain(["\n".join(lines[end:])], self._texts)
                return
        raise self._context.error(
            "the heading is missing",
            max(self.number, 1),
            expected=f"a line that fully matches {pattern}",
            remedy="the tool printed no table, or its version has a different heading.",
        )

    def _split(self, line: str) -> list[str]:
        delimiter = self._context.declaration.delimiter
        return line.split() if delimiter == BLANKS else line.split(delimiter)

    def is_plain(self, text: str) -> bool:
        """Whether every line of a piece is a row, or a part of one, or blank."""
        comment = self._context.declaration.comment
        return (
            self._context.declaration.delimiter != BLANKS
            and not self._first
            and text.endswith("\n")
            and "\r" not in text
            and (comment is None or (f"\n{comment}" not in text and not text.startswith(comment)))
            and (not self._heading or self._heading not in text)
        )

    def rows(self, text: str, only_first: bool = False) -> Iterator[tuple[int, list[str]]]:
        """Rows of a piece, including following pieces that a quoted cell spans.

        With `only_first`, only the first row; the rest of the piece stays unread.
        """
        by_blanks = self._context.declaration.delimiter == BLANKS
        lines = self._rows(text, quotes=not by_blanks, only_first=only_first)
        cells = (
            (line.split() for line in lines)
            if by_blanks
            else csv.reader(lines, delimiter=self._context.declaration.delimiter, strict=True)
        )
        try:
            for row in cells:
                yield self._first, row
                self._first = 0
        except csv.Error as err:
            problem, line = f"invalid CSV: {err}", max(self._first, 1)
            raise self._context.error(
                problem, line, remedy="a quote may be missing there."
            ) from err

    def _rows(self, text: str, quotes: bool, only_first: bool) -> Iterator[str]:
        """Lines without comments and blank lines, except within quotes."""
        in_quotes, comment = False, self._context.declaration.comment
        while text:
            end, position = text.rfind("\n") + 1, 0
            while position < end:
                line_end = text.index("\n", position) + 1
                line, position, self.number = text[position:line_end], line_end, self.number + 1
                if not in_quotes and (
                    not line.strip()
                    or (comment is not None and line.startswith(comment))
                    or (self._heading and line.rstrip() == self._heading)
                ):
                    continue
                in_quotes ^= quotes and line.count('"') % 2 == 1
                self._first = self._first or self.number
                if only_first and not in_quotes:  # leave the rest unread
                    self._heading = line.rstrip()
                    self._texts = chain([text[position:]] if text[position:] else [], self._texts)
                    yield line
                    return
                yield line
            self.truncated_line = self.number + 1 if text[end:].strip() else 0
            text = next(self._texts, "") if in_quotes else ""


def _named_columns(declaration: Declaration) -> list[str]:
    """Columns that the declaration names."""
    return [name for name in declaration.columns if name != OTHER_COLUMNS]


def _is_number(cell: str) -> bool:
    return ONE_NUMBER.fullmatch(cell.strip()) is not None


def _repeated_group(names: list[str], repeat: str | None) -> list[str]:
    """Columns of a repeated group, which a heading may name once or several times."""
    if repeat is None or names.count(repeat) < 2:
        return names
    size = names.index(repeat, 1)
    unit = names[:size]
    return unit if names == unit * (len(names) // size) else names


def _check_names(
    names: list[str], fixed_width: int, line: int, part: TableDeclaration, context: ReadContext
) -> None:
    """Raise `FormatError` if a column that a table names is missing or ambiguous."""
    declaration = context.declaration
    optional = {rule.field for rule in part.fields if rule.optional}
    if part.time is not None and part.time.field is not None and part.time.optional:
        optional.add(part.time.field)
    generated = set()
    input_fields = declaration.input_fields_of(part)
    if part.melt is not None:
        generated = {*group_names(part.melt), "value"}
        if "field" in generated:
            generated |= {rule.field for rule in part.fields}
    read_names = set(names) if part.others and part.names is None else set(input_fields)
    for group in (names[:fixed_width], names[fixed_width:]):
        counts = Counter(filter(None, group))
        duplicate = next(
            (name for name, count in counts.items() if count > 1 and name in read_names), None
        )
        if duplicate is not None:
            raise context.error(
                f"two columns are named {duplicate!r}", line, remedy="rename one of them."
            )
    has_other_delimiter = len(names) == 1 and {*names[0]} & {*",;\t|"}
    present, repeated = set(names), names[fixed_width:]
    for name in input_fields:
        in_group = part.repeat is not None and name in part.number_columns
        if (
            name not in (repeated if in_group else present)
            and name not in optional
            and name not in generated
        ):
            raise context.error(
                f"there is no column {name!r}" + " in the repeated group" * in_group,
                line,
                found=", ".join(filter(None, repeated if in_group else names)),
                remedy="the columns may have another `delimiter`."
                if has_other_delimiter
                else did_you_mean(name, names),
            )
