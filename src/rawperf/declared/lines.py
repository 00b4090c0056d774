"""Lines that are a key and a value, and lines that expressions tell."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

import numpy as np
import pyarrow as pa

from rawperf.core.declaration import Part
from rawperf.core.errors import FormatError
from rawperf.core.patterns import LONGEST_LINE, extracted, whole_lines
from rawperf.declared.chunks import Chunk, Into

_BLANK = re.compile(r"[ \t]+")

_Pairs = dict[str, tuple[str, int]]
"""The values of a snapshot by their keys, each with its line."""
_Stamp = tuple[str | None, int]
"""The time above a snapshot, with its line."""


class _Text:
    """The whole lines of a text, without blanks at their right end; which of them are times of what
    is below them.
    """

    def __init__(self, text: str, into: Into, first: int = 0, before: str | None = None) -> None:
        self.first, self._before = (
            first,
            before,
        )  # lines of the file above, and the time that the last of them gives
        declaration, lines = into.declaration, [line.rstrip() for line in text.split("\n")]
        if lines.pop():
            number = first + len(lines) + 1
            into.said.append(
                f"{into.file} line {number}: the last line has no line end, may be cut, and was left out"
            )
        long = next(
            (
                number
                for number, line in enumerate(lines, start=first + 1)
                if len(line) > LONGEST_LINE
            ),
            0,
        )
        if long:
            raise into.error(
                "the line is too long", long, expected=f"at most {LONGEST_LINE} characters"
            )
        self.lines = lines
        self.array = pa.array(lines, pa.string())
        self.used = np.array(
            [not line or _commented(line, declaration.comment) for line in lines], dtype=bool
        )
        self.stamps: dict[int, str] = {}
        stamps = {
            part.time.line
            for part in declaration.parts
            if part.time is not None and part.time.line is not None
        }
        for pattern in sorted(stamps) if lines else ():
            places = self.matching(pattern)
            texts = (
                extracted(pattern, self.array.take(pa.array(places)))["time"] if len(places) else []
            )
            self.stamps |= dict(zip(places.tolist(), texts, strict=True))

    def matching(self, pattern: str) -> np.ndarray:
        """Places of the lines that are, as a whole, what a pattern says; they are no more
        unknown.
        """
        found = whole_lines(pattern, self.array).to_numpy(zero_copy_only=False)
        self.used |= found
        return np.flatnonzero(found)

    def above(self, places: np.ndarray) -> list[str | None] | None:
        """The time that a line above each of these lines gives."""
        if not self.stamps and self._before is None:
            return None
        at = np.array(sorted(self.stamps), dtype=int)
        before = np.searchsorted(at, places) - 1
        return [self.stamps[int(at[place])] if place >= 0 else self._before for place in before]

    def last(self) -> str | None:
        """The time that the last line with one gives."""
        return self.stamps[max(self.stamps)] if self.stamps else self._before


def read_lines(texts: Iterable[str], into: Into) -> Iterator[dict[str, str]]:
    """Read each line that an expression tells, as a row whose cells are the expression's groups.

    After every piece of the file, which is whole lines, comes how many lines nothing told so far.

    Raises `FormatError`: a line that is too long; where the declaration is strict, a line that
    nothing tells.
    """
    declaration = into.declaration
    first, stamp, others = 0, None, 0
    for text in texts:
        found = _Text(text, into, first, stamp)
        for number, part in enumerate(declaration.parts):
            chunk = _rows(found, part)
            if chunk is not None:
                into.sink(number, chunk)
        for pattern in declaration.ignore:
            if found.lines:
                found.matching(pattern)
        unknown = np.flatnonzero(~found.used)
        if declaration.strict and len(unknown):
            raise into.error(
                f"not a line of {declaration.name}",
                first + int(unknown[0]) + 1,
                found=found.lines[int(unknown[0])],
                remedy="the file is damaged, or of another version of the tool.",
            )
        first, stamp, others = first + len(found.lines), found.last(), others + len(unknown)
        yield {"other lines": str(others)} if others else {}


def _rows(found: _Text, part: Part) -> Chunk | None:
    """The lines of a file that a table's expressions tell, in the file's order; None where there
    are none.
    """
    by_pattern = [
        found.matching(pattern) if found.lines else np.zeros(0, dtype=int) for pattern in part.lines
    ]
    places = np.concatenate(by_pattern)
    if not len(places):
        return None
    kinds = np.repeat(np.arange(len(by_pattern)), [len(own) for own in by_pattern])
    order = np.argsort(places, kind="stable")
    cells: dict[str, np.ndarray] = {}
    for kind, (pattern, own) in enumerate(zip(part.lines, by_pattern, strict=True)):
        texts = extracted(pattern, found.array.take(pa.array(own))) if len(own) else {}
        for name, column in texts.items():
            whole = cells.setdefault(name, np.full(len(places), None, dtype=object))
            whole[kinds == kind] = [cell or None for cell in column]
    columns = {name: column[order].tolist() for name, column in cells.items()}
    lines = places[order]
    return Chunk(
        columns,
        (lines + found.first + 1).tolist(),
        above=found.above(lines),
        kinds=kinds[order].tolist(),
    )


def read_pairs(texts: Iterable[str], into: Into) -> Iterator[dict[str, str]]:
    """Read the keys and values of a file: one row, or one below each line that gives a time.

    After every piece of the file, which is whole lines, comes how many snapshots there were so far.

    Raises `FormatError`: a line without the separator, a key that is given twice.
    """
    pairs: _Pairs = {}
    stamp: _Stamp = (None, 1)
    ended: list[tuple[_Pairs, _Stamp]] = []
    first, count = 0, 1
    for text in texts:
        found = _Text(text, into, first)
        for number, line in enumerate(found.lines, start=first + 1):
            if (place := number - 1 - first) in found.stamps:
                if pairs or stamp[0] is not None:
                    ended.append((pairs, stamp))
                    pairs, count = {}, count + 1
                stamp = (found.stamps[place], number)
            elif line and not _commented(line, into.declaration.comment):
                key, value = _pair(line, number, into)
                if key in pairs:
                    raise into.error(
                        f"{key!r} is given twice",
                        number,
                        found=line,
                        remedy="keep one snapshot a file, or put a line with its time above each (time: {line: ...}).",
                    )
                pairs[key] = (value, number)
        first += len(found.lines)
        _give(ended, into)
        ended.clear()
        yield {"snapshots": str(count)} if count > 1 else {}
    _give([(pairs, stamp)], into)


def _give(snapshots: list[tuple[_Pairs, _Stamp]], into: Into) -> None:
    """Give those that follow each other and have the same keys at once, which is much faster than
    one by one.
    """
    for _, alike in groupby(
        snapshots, key=lambda snapshot: (tuple(snapshot[0]), snapshot[1][0] is None)
    ):
        together = list(alike)
        try:
            _send(together, into)
        except FormatError:
            for snapshot in (
                together
            ):  # the error is that of the first wrong one, not that of the first wrong field
                _send([snapshot], into)
            raise


def _send(snapshots: list[tuple[_Pairs, _Stamp]], into: Into) -> None:
    keys = snapshots[0][0]
    cells = {key: [pairs[key][0] for pairs, _ in snapshots] for key in keys}
    own = {key: [pairs[key][1] for pairs, _ in snapshots] for key in keys}
    stamps = [stamp for _, (stamp, _) in snapshots]
    begin = [
        at if stamp is not None else min((number for _, number in pairs.values()), default=1)
        for pairs, (stamp, at) in snapshots
    ]
    for place in range(len(into.declaration.parts) if keys else 0):
        into.sink(place, Chunk(dict(cells), begin, own, stamps))


def _pair(line: str, number: int, into: Into) -> tuple[str, str]:
    separator = into.declaration.separator
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
        raise into.error("not a key and a value", number, expected=expected, found=line)
    return parts[0], parts[1]


def _commented(line: str, comment: str | None) -> bool:
    return comment is not None and line.startswith(comment)
