"""Readers of key-value lines, and of lines matched by expressions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from types import MappingProxyType

import numpy as np
import pyarrow as pa

from rawperf.core.declaration import TableDeclaration
from rawperf.core.errors import FormatError
from rawperf.core.patterns import MAX_LINE_LENGTH, capture_groups, full_match_mask
from rawperf.declared.chunks import ENTITY, TIME, UNIT, Chunk, ReadContext

_BLANK = re.compile(r"[ \t]+")
MAX_SHOWN = 80
"""Characters of a line that a message shows."""

_Pairs = dict[str, tuple[str, int]]
"""Value and line by key of a snapshot."""
_SnapshotKey = tuple[str | None, str | None, int]
"""Time and entity above a snapshot, and the line of the last of them."""


class _IndexedLines:
    """Complete lines of a text, right-stripped.

    It also locates the lines that give a time, an entity or a unit to those below them; `before` has
    the last ones of the preceding lines.
    """

    def __init__(
        self,
        text: str,
        context: ReadContext,
        lines_before: int = 0,
        before: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self.lines_before, self._before = lines_before, before
        declaration, lines = context.declaration, [line.rstrip() for line in text.split("\n")]
        if lines.pop():
            number = lines_before + len(lines) + 1
            context.messages.append(
                f"{context.file} line {number}: the last line has no newline, may be truncated, and was left out"
            )
        long = next(
            (
                number
                for number, line in enumerate(lines, start=lines_before + 1)
                if len(line) > MAX_LINE_LENGTH
            ),
            0,
        )
        if long:
            raise context.error(
                "the line is too long", long, expected=f"at most {MAX_LINE_LENGTH} characters"
            )
        self.lines = lines
        self.array = pa.array(lines, pa.string())
        self.used = np.array(
            [not line or _is_comment(line, declaration.comment) for line in lines], dtype=bool
        )
        parts = declaration.parts
        patterns: dict[str, tuple[str, set[str | None]]] = {
            TIME: ("time", {part.time.line for part in parts if part.time is not None}),
            ENTITY: ("name", {part.entity.line for part in parts}),
            UNIT: ("unit", {part.histogram.above for part in parts if part.histogram is not None}),
        }
        # by kind: what the lines give, by position
        self.given = {
            kind: self._capture_by_line(lines, group) for kind, (group, lines) in patterns.items()
        }

    def _capture_by_line(self, patterns: set[str | None], group: str) -> dict[int, str]:
        """Capture group of the expressions, by position of the line."""
        texts_by_line: dict[int, str] = {}
        for pattern in sorted(patterns - {None}, key=str) if self.lines else ():
            assert pattern is not None
            positions = self.match_lines(pattern)
            if len(positions):
                texts = capture_groups(pattern, self.array.take(pa.array(positions)))[group]
                texts_by_line |= dict(zip(positions.tolist(), texts, strict=True))
        return texts_by_line

    def match_lines(self, pattern: str) -> np.ndarray:
        """Positions of the lines that a pattern matches as a whole; they are marked as used."""
        is_match = full_match_mask(pattern, self.array).to_numpy(zero_copy_only=False)
        self.used |= is_match
        return np.flatnonzero(is_match)

    def above(self, positions: np.ndarray) -> dict[str, list[str | None]]:
        """By kind, what the nearest line above each position gives, if any line gives it."""
        return {
            kind: _nearest_above(text_by_line, self._before.get(kind), positions)
            for kind, text_by_line in self.given.items()
            if text_by_line or kind in self._before
        }

    def last(self) -> dict[str, str]:
        """By kind, what the last line gives, for the next text."""
        last = {kind: by_line[max(by_line)] for kind, by_line in self.given.items() if by_line}
        return {**self._before, **last}


def _nearest_above(
    text_by_line: dict[int, str], default: str | None, positions: np.ndarray
) -> list[str | None]:
    """Text of the nearest line above each position, `default` if the text has none."""
    lines = np.array(sorted(text_by_line), dtype=int)
    nearest = np.searchsorted(lines, positions) - 1
    return [text_by_line[int(lines[index])] if index >= 0 else default for index in nearest]


def read_lines(texts: Iterable[str], context: ReadContext) -> Iterator[dict[str, str]]:
    """Read each line that matches an expression as a row; the cells are the capture groups.

    Yields after every piece of the file; pieces are whole lines. One message tells the first line
    that nothing matches and how many there are.

    Raises `FormatError`: a line that is too long; a row without its table's heading above it; if
    the declaration is strict, an unmatched line.
    """
    declaration = context.declaration
    lines_before, above = 0, dict[str, str]()
    first_unmatched, n_unmatched = "", 0
    has_heading = [part.heading is None for part in declaration.parts]
    forms: dict[int, int] = {}
    for text in texts:
        lines = _IndexedLines(text, context, lines_before, above)
        for number, part in enumerate(declaration.parts):
            headings = np.zeros(0, dtype=int)
            if part.heading and lines.lines:
                headings = lines.match_lines(part.heading)
            chunk = _match_rows(lines, part, forms.get(number))
            if chunk is not None:
                first = chunk.lines[0]
                if not has_heading[number] and (
                    not len(headings) or first <= lines_before + headings[0]
                ):
                    raise context.error(
                        "a row without its heading",
                        int(first),
                        expected=f"a line above that fully matches {part.heading}",
                        found=lines.lines[int(first) - lines_before - 1],
                        remedy="the heading is damaged, or from another version of the tool.",
                    )
                if part.uniform and chunk.pattern_indices is not None:
                    form = forms.setdefault(number, chunk.pattern_indices[0])
                    _check_uniform(chunk, form, context)
                context.sink(number, chunk)
            has_heading[number] |= len(headings) > 0
        for pattern in (*declaration.ignore, *declaration.failed):
            if lines.lines:
                lines.match_lines(pattern)
        unmatched = np.flatnonzero(~lines.used)
        if declaration.strict and len(unmatched):
            raise context.error(
                f"not a line of {declaration.name}",
                lines_before + int(unmatched[0]) + 1,
                found=lines.lines[int(unmatched[0])],
                remedy="the line may be from another version or option of the tool, or damaged.",
            )
        if len(unmatched) and not n_unmatched:
            text = lines.lines[int(unmatched[0])].strip()
            shown = text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 1]}…"
            first_unmatched = (
                f"{context.file} line {lines_before + int(unmatched[0]) + 1}: a line that no "
                f"expression of {declaration.name} matches was left out: {shown!r}"
            )
        lines_before, n_unmatched = lines_before + len(lines.lines), n_unmatched + len(unmatched)
        above = lines.last()
        yield {}
    if n_unmatched:
        others = f" (and {n_unmatched - 1} more)" if n_unmatched > 1 else ""
        context.messages.append(first_unmatched + others)


def _check_uniform(chunk: Chunk, form: int, context: ReadContext) -> None:
    """Raise `FormatError` at a row that matches another expression than the first one."""
    for line, index in zip(chunk.lines, chunk.pattern_indices or [], strict=True):
        if index != form:
            raise context.error(
                "a row has other cells than those before it",
                int(line),
                remedy="the line is damaged; correct or remove it.",
            )


def _match_rows(source: _IndexedLines, part: TableDeclaration, form: int | None) -> Chunk | None:
    """Lines that match a table's expressions, in file order; None if there are none.

    With `form`, only lines that match this one are found.
    """
    by_pattern = [
        source.match_lines(pattern)
        if source.lines and form in (None, index)
        else np.zeros(0, dtype=int)
        for index, pattern in enumerate(part.lines)
    ]
    positions = np.concatenate(by_pattern)
    if not len(positions):
        return None
    pattern_indices = np.repeat(
        np.arange(len(by_pattern)), [len(matched_lines) for matched_lines in by_pattern]
    )
    order = np.argsort(positions, kind="stable")
    cells: dict[str, np.ndarray] = {}
    for pattern_index, (pattern, matched_lines) in enumerate(
        zip(part.lines, by_pattern, strict=True)
    ):
        texts = (
            capture_groups(pattern, source.array.take(pa.array(matched_lines)))
            if len(matched_lines)
            else {}
        )
        for name, column in texts.items():
            merged = cells.setdefault(name, np.full(len(positions), None, dtype=object))
            merged[pattern_indices == pattern_index] = [cell or None for cell in column]
    columns = {name: column[order].tolist() for name, column in cells.items()}
    lines = positions[order]
    return Chunk(
        columns,
        (lines + source.lines_before + 1).tolist(),
        above=source.above(lines),
        pattern_indices=pattern_indices[order].tolist(),
    )


def read_pairs(texts: Iterable[str], context: ReadContext) -> Iterator[dict[str, str]]:
    """Read key-value pairs: one row, or one below each line that gives a time or names an entity.

    Yields the number of snapshots so far after every piece of the file; pieces are whole lines.

    Raises `FormatError`: a line without the separator, a duplicate key.
    """
    pairs: _Pairs = {}
    snapshot_key: _SnapshotKey = (None, None, 1)
    finished: list[tuple[_Pairs, _SnapshotKey]] = []
    lines_before, count = 0, 1
    for text in texts:
        source = _IndexedLines(text, context, lines_before)
        times_given, entities_given = source.given[TIME], source.given[ENTITY]
        for number, line in enumerate(source.lines, start=lines_before + 1):
            index, (time, entity, _) = number - 1 - lines_before, snapshot_key
            if index in times_given or index in entities_given:
                if pairs or (index in times_given and time is not None):
                    finished.append((pairs, snapshot_key))
                    pairs, count = {}, count + 1
                snapshot_key = (
                    times_given.get(index, time),
                    entities_given.get(index, entity),
                    number,
                )
            elif line and not _is_comment(line, context.declaration.comment):
                key, value = _parse_pair(line, number, context)
                if key in pairs:
                    raise context.error(
                        f"{key!r} is given twice",
                        number,
                        found=line,
                        remedy="keep one snapshot per file, put a line with its time above each, as date +%s "
                        "prints it (time: {line: ...}), or name the entity by a line (entity: {line: ...}).",
                    )
                pairs[key] = (value, number)
        lines_before += len(source.lines)
        _emit_snapshots(finished, context)
        finished.clear()
        yield {"snapshots": str(count)} if count > 1 else {}
    _emit_snapshots([(pairs, snapshot_key)], context)


def _emit_snapshots(snapshots: list[tuple[_Pairs, _SnapshotKey]], context: ReadContext) -> None:
    """Send consecutive snapshots with the same keys together: much faster than one by one."""
    for _, same_keys in groupby(
        snapshots,
        key=lambda snapshot: (
            tuple(snapshot[0]),
            snapshot[1][0] is None,
            snapshot[1][1] is None,
        ),
    ):
        group = list(same_keys)
        try:
            _emit(group, context)
        except FormatError:
            # report the first faulty snapshot, not the first faulty field
            for snapshot in group:
                _emit([snapshot], context)
            raise


def _emit(snapshots: list[tuple[_Pairs, _SnapshotKey]], context: ReadContext) -> None:
    keys = snapshots[0][0]
    cells = {key: [pairs[key][0] for pairs, _ in snapshots] for key in keys}
    columns = {key: [pairs[key][1] for pairs, _ in snapshots] for key in keys}
    times = [time for _, (time, _, _) in snapshots]
    above = {TIME: times, ENTITY: [entity for _, (_, entity, _) in snapshots]}
    first_lines = [
        key_line
        if time is not None or entity is not None
        else min((number for _, number in pairs.values()), default=1)
        for pairs, (time, entity, key_line) in snapshots
    ]
    for table_index in range(len(context.declaration.parts) if keys else 0):
        context.sink(table_index, Chunk(dict(cells), first_lines, columns, above))


def _parse_pair(line: str, number: int, context: ReadContext) -> tuple[str, str]:
    separator = context.declaration.separator
    if separator == "blank":
        parts = _BLANK.split(line.strip(), maxsplit=1)
    else:
        parts = [part.strip() for part in line.split(separator, 1)]
    if len(parts) < 2 or not parts[0]:
        expected = (
            "a key, a blank and a value"
            if separator == "blank"
            else f"a key, {separator} and a value"
        )
        raise context.error("not a key-value pair", number, expected=expected, found=line)
    return parts[0], parts[1]


def _is_comment(line: str, comment: str | None) -> bool:
    return comment is not None and line.startswith(comment)
