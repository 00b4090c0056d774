"""Reader of the output of ``vmstat INTERVAL`` on Linux (procps), with or without ``-t``.

Source: ``vmstat.c`` of procps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from typing import BinaryIO

import numpy as np

from rawperf.base import Reading, Streaming
from rawperf.core.errors import FormatError
from rawperf.pieces import PieceReader, cut_after_line, recode_piece
from rawperf.recognition import Recognised
from rawperf.rows import Warnings
from rawperf.sar.table import SarRows, TableHeading, table_records

_NAME = re.compile(r"[a-z]\w*", re.ASCII)
# After the numbers; in old versions after a tab, and with the zone's name.
_STAMP = re.compile(
    r"^(\d[\d \t]*)[ \t](\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)(?: +([A-Za-z+-][\w:+-]*))?$", re.ASCII
)
_ROW = re.compile(r"\d[\d \t]*", re.ASCII)


class VmstatFormat(Recognised, Streaming):
    """Reader of vmstat listings."""

    name = "vmstat"
    title = "vmstat text output (procps)"

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a listing.

        ``field`` is a name of the second heading, the entity is the host. The first row holds
        averages since boot, and is left out. The clock is ``absolute`` with ``-t``, else rows are
        numbered from the second one on.

        Raises `FormatError`: a row before a heading, a heading that differs from the first, a row that does
        not fit its heading, only some rows have times, and no row but the first.
        """
        listing, encoding_warnings = _ListingParser(file), Warnings(file)
        pieces = PieceReader(stream, cut_after_line, file)
        for piece in pieces:
            text = recode_piece(piece, pieces.lines_before, encoding_warnings, file).decode()
            table, t, messages = listing.parse_part(text, pieces.lines_before, pieces.is_last)
            if pieces.is_last and listing.n_rows < 2:
                raise FormatError(
                    "the file has only the first row, which contains averages since boot",
                    file=file,
                    expected="the two heading lines of vmstat, and rows",
                    remedy="collect with vmstat -t SECONDS COUNT.",
                )
            records, lines = table_records(table, t, messages, file)
            is_kept = lines > listing.first_row_line + 1
            if is_kept.any() or pieces.is_last:
                clock = "absolute" if listing.has_times else "sample"
                warnings = (*encoding_warnings.drain(pieces.is_last), *messages)
                yield Reading(
                    records[is_kept].reset_index(drop=True),
                    clock,
                    dict(listing.info),
                    warnings,
                    lines[is_kept],
                )


class _ListingParser:
    """Parser state carried over from earlier parts of a listing."""

    def __init__(self, file: str) -> None:
        self.n_rows = 0  # number of rows
        self.first_row_line = -1  # line of the first row, from 0
        self.has_times = False  # whether rows have times
        self.info: dict[str, str] = {}
        self._file = file
        self._heading: TableHeading | None = None
        self._heading_text = ""

    def parse_part(
        self, text: str, lines_before: int, is_last: bool
    ) -> tuple[SarRows, np.ndarray, list[str]]:
        """Rows of a part below line `lines_before` of the file, their times, and warnings."""
        lines, messages, rows, time_texts = text.split("\n"), list[str](), list[int](), list[str]()
        table = SarRows(text=text, lines=rows, times=rows, lines_before=lines_before, last=is_last)
        for number, line in enumerate(lines[:-1]):
            words = line.split()
            if not words or words[0].strip("-") == "procs":
                continue
            error = partial(FormatError, file=self._file, line=lines_before + number + 1)
            timestamp = _STAMP.fullmatch(line.strip())
            if not timestamp and not _ROW.fullmatch(line.strip()):
                self._parse_heading(words, line, error)
                continue
            if self._heading is None:
                raise error(
                    "a row before the first heading", found=line, remedy="keep the heading lines."
                )
            if self.n_rows and self.has_times != bool(timestamp):
                raise error("only some rows have times", remedy="keep one listing per file.")
            if not self.n_rows:
                self.first_row_line, self.has_times = lines_before + number, bool(timestamp)
            self.n_rows += 1
            self.info |= {"zone": timestamp[3]} if timestamp and timestamp[3] else {}
            rows.append(number)
            time_texts.append(timestamp[2] if timestamp else "")
            table.bodies.append(timestamp[1] if timestamp else line)
        table.heading_indices = [0] * len(rows)
        if lines[-1].strip():  # without a line end, digits may be missing
            messages.append(
                f"{self._file} line {lines_before + len(lines)}: the file is truncated; this line was left out"
            )
        if self._heading is not None:  # placed before all rows, at the time of none
            table.headings, table.heading_lines, table.heading_times = [self._heading], [-1], [-1]
            table.carried_heading = self._heading_text
        if not self.has_times:
            return table, np.arange(self.n_rows - len(rows), self.n_rows) - 1.0, messages
        timed = zip(time_texts, rows, strict=True)
        return (
            table,
            np.array(
                [
                    _parse_time(timestamp, self._file, lines_before + row + 1)
                    for timestamp, row in timed
                ]
            ),
            messages,
        )

    def _parse_heading(self, words: list[str], line: str, error: partial[FormatError]) -> None:
        """Parse the second heading; with -t the name of the zone follows the names."""
        names = tuple(word for word in words if _NAME.fullmatch(word))
        zone, previous = words[len(names) :], self._heading
        heading = TableHeading("", "host", -2, len(names), False, tuple(range(len(names))), names)
        is_plain = list(names) == words[: len(names)] and len(zone) <= 1
        if names[:2] != ("r", "b") or len(set(names)) < len(names) or not is_plain:
            raise error(
                "not a line of vmstat",
                found=" ".join(words),
                expected="r b swpd free ..., or numbers",
            )
        if previous is not None and previous != heading:
            expected, remedy = " ".join(previous.fields), "keep one listing per file."
            raise error(
                "a heading that differs from the first",
                found=" ".join(names),
                expected=expected,
                remedy=remedy,
            )
        self.info |= {"zone": zone[0]} if zone else {}
        if previous is None:
            self._heading, self._heading_text = heading, line


def _parse_time(text: str, file: str, line: int) -> float:
    try:
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
    except ValueError as err:
        raise FormatError("not a date and time", file=file, line=line, found=text) from err


FORMAT = VmstatFormat()
