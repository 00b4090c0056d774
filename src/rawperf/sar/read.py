"""Reader of the text output of sar and mpstat, sysstat 7 to 12.

Source: ``pr_stats.c``, ``sar.c``, ``mpstat.c`` and ``common.c`` of sysstat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.base import Reading, Streaming
from rawperf.core.errors import FormatError
from rawperf.pieces import PieceReader, recode_piece
from rawperf.rows import Warnings
from rawperf.sar.table import (
    RowTimes,
    SarRows,
    TableHeading,
    detect_tool,
    match_system_line,
    parse_heading,
    parse_system_line,
    table_records,
)
from rawperf.text import DAY, HALF_DAY, WordOffsets

_AVERAGE = re.compile(
    r"[^\d\s:][^\d:]{0,20}:(?:\s.*)?"
)  # Average:, Summary:, Moyenne :, Durchschn.:
_RESTART, _COMMENT = b"LINUX RESTART", b"COM "
_CLOCK, _EPOCH = 8, (9, 10)
_HALF = "^[AaPp][.]?[Mm][.]?$"
_NO_TOPOLOGY = 10
"""Blanks after the word ``all`` under CPU CORE SOCK NODE if the last three columns are empty."""


class ListingState:
    """Parser state carried over from earlier parts of a listing."""

    def __init__(self, tool: str, file: str) -> None:
        self.tool, self.file = tool, file
        self.messages: list[str] = []
        self.info: dict[str, str] = {}
        self.times = RowTimes(file, self.messages)
        # of the table that may continue; its line in the file is numbered from 0
        self.heading: TableHeading | None = None
        self.heading_line, self.heading_text, self.heading_time = 0, "", 0
        # whether a heading may follow: after a blank line, or before the first table
        self.fresh = True
        self.marks: set[tuple[float, str]] = set()  # time and comment, "" for restarts
        self.rows, self.last = 0, np.nan  # number of rows, and time of the last one


def cut_before_table(lines: bytes) -> int:
    """Cut a listing before a table, or before the last two samples of a long one.

    The number of rows in the second-last sample shows whether the last one is whole.
    """
    end = lines.rfind(b"\n\n") + 2
    if end > max(2, len(lines) // 2):
        return end
    end = len(lines)
    for _ in range(2):
        time = lines[lines.rfind(b"\n", 0, end - 1) + 1 : end][:_CLOCK]
        while end > 0 and lines.startswith(time, begin := lines.rfind(b"\n", 0, end - 1) + 1):
            end = begin
    return end


def parse_part(
    words: WordOffsets, start: int, line: int, state: ListingState, last: bool
) -> SarRows:
    """Parse the tables of a part of a listing from its line `start` on.

    `line` is the number of preceding lines of the file, `last` whether no part follows; `state`
    carries the state to the next part. Raises `FormatError` at text that the tool does not print.
    """
    table = SarRows(words=words, lines_before=line, last=last)
    wrong: list[FormatError] = []
    first = words.first_word
    lines = np.arange(start, len(words))
    blank = first[lines] == first[lines + 1]
    timed, seconds, body = _times(words, lines, line, state, wrong)
    end = len(words) - 1 if last and not words.data.endswith(b"\n") else -1
    for i in lines[~timed & ~blank].tolist():
        text = words.line(i)
        if i == end:
            table.truncated_line, table.truncated_time = i, -1
        elif match_system_line(text):
            problem, number = "a second system line", line + i + 1
            wrong.append(
                FormatError(problem, file=state.file, line=number, remedy="split the file there.")
            )
        elif not _AVERAGE.fullmatch(text.strip()):
            wrong.append(_unknown_line_error(text, line + i + 1, state))
    rows, seconds, body = lines[timed], seconds[timed], body[timed]
    above = np.cumsum(blank)[timed]  # blank lines before each row
    opening = words.begin[body]
    letter = words.bytes[opening] if len(opening) else np.zeros(0, dtype=np.uint8)
    marks = np.flatnonzero((letter == ord("L")) | (letter == ord("C")))
    is_mark = np.zeros(len(rows), dtype=bool)
    for beginning in (_RESTART, _COMMENT):
        is_mark[marks[words.starts_with(opening[marks], beginning)]] = True
    for k in np.flatnonzero(is_mark).tolist():
        mark_text = words.data[opening[k] : words.line_end[rows[k]]].decode()
        table.marks.append(
            (int(rows[k]), int(seconds[k]), mark_text[4:].strip() if letter[k] == ord("C") else "")
        )
    rows, seconds, body, above = (part[~is_mark] for part in (rows, seconds, body, above))
    cut = len(rows) > 0 and rows[-1] == end  # without a line end, digits may be missing
    before = np.diff(above, prepend=0 if not state.fresh else -1) > 0
    if cut or table.truncated_line >= 0:
        blanks = int(blank[: end - start].sum()) - (
            int(above[len(rows) - 1 - cut]) if len(rows) > cut else 0
        )
        fresh = blanks > 0 or (len(rows) == cut and state.fresh)
        table.truncated_line, table.truncated_time = (
            end,
            -2 if fresh else int(seconds[-1]) if cut else -1,
        )
    if cut:
        rows, seconds, body, before = rows[:-1], seconds[:-1], body[:-1], before[:-1]
    _add_rows(table, rows, seconds, body, before, state, wrong)
    if wrong:
        raise min(wrong, key=lambda error: error.line or 0)
    behind = int(rows[-1]) if len(rows) else start - 1
    state.fresh = bool(blank[behind + 1 - start :].any()) or (state.fresh and not len(rows))
    return table


def _times(
    words: WordOffsets,
    lines: NDArray[np.int64],
    line: int,
    state: ListingState,
    wrong: list[FormatError],
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """For each line: whether it has a time and more text, the seconds, the word after the time."""
    first = words.first_word
    one = np.minimum(first[lines], max(len(words.begin) - 1, 0))
    seconds = np.zeros(len(lines), dtype=np.int64)
    body = first[lines] + 1
    if not len(words.begin):
        return np.zeros(len(lines), dtype=bool), seconds, body
    at = words.begin[one]
    length = words.end[one] - at
    enough = (first[lines + 1] > first[lines] + 1) & (at == words.line_begin[lines])
    clock = np.flatnonzero(enough & (length == _CLOCK))
    place = at[clock]
    fits = (words.bytes_at(place + 2) == ord(":")) & (words.bytes_at(place + 5) == ord(":"))
    digit = [words.bytes_at(place + k).astype(np.int64) - ord("0") for k in (0, 1, 3, 4, 6, 7)]
    for figure in digit:
        fits &= (figure >= 0) & (figure <= 9)
    h, m, s = (10 * digit[k] + digit[k + 1] for k in (0, 2, 4))
    clock, h, m, s = (part[fits] for part in (clock, h, m, s))
    timed = np.zeros(len(lines), dtype=bool)
    timed[clock] = True
    half = _am_pm(words, clock, lines, body)
    off = (h > 23) | (m > 59) | (s > 60)
    for k in np.flatnonzero(off | ((half >= 0) & ((h < 1) | (h > 12))))[:1].tolist():
        number, text = line + int(lines[clock[k]]) + 1, words.line(int(lines[clock[k]]))
        problem, expected = (
            ("not a time of day", "HH:MM:SS") if off[k] else ("not a 12-hour time", "01 to 12")
        )
        text = text[:_CLOCK] if off[k] else " ".join(text.split()[:2])
        wrong.append(
            FormatError(problem, file=state.file, line=number, expected=expected, found=text)
        )
    hour = np.where(half >= 0, h % 12 + 12 * half, h)
    seconds[clock] = hour * 3600 + m * 60 + s
    epoch = np.flatnonzero(enough & np.isin(length, _EPOCH) & words.is_digit(at))
    if len(epoch):
        texts = words.array.take(pa.array(one[epoch]))
        fine = pc.match_substring_regex(texts, r"^[0-9]+$").to_numpy(zero_copy_only=False)
        epoch, texts = epoch[fine], texts.filter(pa.array(fine))
        timed[epoch] = True
        seconds[epoch] = pc.cast(texts, pa.int64()).to_numpy()
        _am_pm(words, epoch, lines, body)
    return timed, seconds, body


def _am_pm(
    words: WordOffsets, which: NDArray[np.int64], lines: NDArray[np.int64], body: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Halves of the day after times: 0 for AM, 1 for PM, -1 for none; moves `body` past them."""
    half = np.full(len(which), -1)
    next_ = body[which]
    maybe = np.isin(words.bytes[words.begin[next_]], np.frombuffer(b"AaPp", np.uint8))
    maybe &= (words.end[next_] - words.begin[next_] <= 4) & (
        words.first_word[lines[which] + 1] > next_ + 1
    )
    maybe &= words.begin[next_] == words.end[next_ - 1] + 1
    places = np.flatnonzero(maybe)
    if len(places):
        texts = words.array.take(pa.array(next_[places]))
        places = places[pc.match_substring_regex(texts, _HALF).to_numpy(zero_copy_only=False)]
        half[places] = np.isin(
            words.bytes[words.begin[next_[places]]], np.frombuffer(b"Pp", np.uint8)
        )
        body[which[places]] += 1
    return half


def _add_rows(
    table: SarRows,
    rows: NDArray[np.int64],
    seconds: NDArray[np.int64],
    body: NDArray[np.int64],
    fresh: NDArray[np.bool_],
    state: ListingState,
    wrong: list[FormatError],
) -> None:
    """Add headings and rows to the table."""
    words = table.words
    assert words is not None
    if state.heading is not None:
        table.headings.append(state.heading)
        table.heading_lines.append(state.heading_line - table.lines_before)
        table.heading_times.append(state.heading_time)
        table.carried_heading = state.heading_text
    is_heading = np.zeros(len(rows), dtype=bool)
    known: dict[bytes, TableHeading | None] = {}
    places = np.flatnonzero(fresh)
    begins, ends = words.begin[body[places]].tolist(), words.line_end[rows[places]].tolist()
    for k, begin, end in zip(places.tolist(), begins, ends, strict=True):
        text = words.data[begin:end]
        if text not in known:
            known[text] = parse_heading(text.decode())
        heading = known[text]
        if heading is not None:
            is_heading[k] = True
            table.headings.append(heading)
    headings = rows[is_heading]
    table.heading_lines += headings.tolist()
    table.heading_times += seconds[is_heading].tolist()
    if len(headings):
        number = int(headings[-1])
        state.heading, state.heading_time = table.headings[-1], table.heading_times[-1]
        state.heading_line, state.heading_text = table.lines_before + number, words.line(number)
    under = np.cumsum(is_heading)[~is_heading] - (table.carried_heading is None)
    table.lines, table.times, table.heading_indices = rows[~is_heading], seconds[~is_heading], under
    table.starts = body[~is_heading]
    table.counts = words.first_word[table.lines + 1] - table.starts
    if len(under) and under[0] < 0:
        number = int(table.lines[0])
        wrong.append(
            FormatError(
                "a row before the first heading",
                file=state.file,
                line=table.lines_before + number + 1,
                found=table.body(0),
                remedy="restore the heading.",
            )
        )
    distinct, codes = table.factorize_headings()
    if any(heading.topology for heading in distinct) and not wrong:
        topology = np.array([heading.topology for heading in distinct])
        mine = np.flatnonzero(topology[codes[under]])
        start = table.starts[mine]
        bare = words.starts_with(words.begin[start], b"all" + b" " * _NO_TOPOLOGY)
        table.shifts = np.zeros(len(under), dtype=np.int64)
        table.shifts[mine[bare]] = 3
        table.counts = table.counts + table.shifts


def _unknown_line_error(text: str, number: int, state: ListingState) -> FormatError:
    problem, remedy = (
        f"not a line of {state.tool}",
        "the file is damaged: remove the sample, or collect it again.",
    )
    if not text.isascii():
        problem, remedy = (
            "a line in another locale",
            f"print it again in the C locale: LC_ALL=C {state.tool} ...",
        )
    expected = "HH:MM:SS or Average:"
    return FormatError(
        problem, file=state.file, line=number, expected=expected, found=text, remedy=remedy
    )


_STAMP = re.compile(rb"(?m)^time: \d+(?:\.\d+)?$")
"""Line that the monitors of MMTests insert between tables; the rows have times of their own."""


class SarFormat(Streaming):
    """Reader of the text of sar, and of mpstat, which has the same form."""

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

    def sniff(self, head: bytes) -> float:
        """0.95 for sysstat's system line above a heading of this tool; 0.2 for the line alone."""
        tool = detect_tool(_STAMP.sub(b"", head).lstrip(b"\n"))
        return (
            0.95 if tool == self.name else 0.2 if tool == "sysstat" and self.name == "sar" else 0.0
        )

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a listing; each part ends with a table, or with a sample of a long one.

        Each row of a table gives one record per column; ``report`` is the activity (`ACTIVITIES`),
        ``entity_kind`` the entity's heading in lower case, ``field`` the column's heading. Rows
        with the time of their own heading are averages since boot: their report ends in
        `SINCE_BOOT`. Average rows are left out.

        Raises `FormatError` at a line that the tool does not print, a row that does not fit its
        heading, a negative percentage and a second system line.
        """
        state, encoding_warnings = ListingState(self.name, file), Warnings(file)
        pieces = PieceReader(stream, cut_before_table, file)
        begun = False
        for piece in pieces:
            words = WordOffsets(
                recode_piece(_STAMP.sub(b"", piece), pieces.lines_before, encoding_warnings, file)
            )
            start = 0
            if not begun:
                start = next(
                    (i for i in range(len(words)) if words.first_word[i] < words.first_word[i + 1]),
                    0,
                )
                if start == len(words) - 1 and not pieces.is_last and not piece.strip():
                    continue
                top = [""] * (pieces.lines_before + start) + [
                    words.line(start) if len(words) else ""
                ]
                _, state.times.day, state.info = parse_system_line(
                    top, self.name, state.messages, file
                )
                start, begun = start + 1, True
            table = parse_part(words, start, pieces.lines_before, state, pieces.is_last)
            if (
                pieces.is_last
                and not state.rows
                and not len(table.lines)
                and not (table.marks or state.marks)
            ):
                end = pieces.lines_before + piece.count(b"\n") + 1
                raise FormatError(
                    "no data row in the file",
                    file=file,
                    line=end,
                    remedy="collect the run again.",
                )
            t = state.times.compute(table)
            if len(t) or table.marks or pieces.is_last:
                records, at = table_records(table, t, state.messages, file)
                info = state.info | _mark_info(table, t, state)
                state.rows, state.last = state.rows + len(t), t[-1] if len(t) else state.last
                warnings = (*encoding_warnings.drain(pieces.is_last), *state.messages)
                state.messages.clear()
                yield Reading(records, state.times.clock, info, warnings, at)


def _mark_info(table: SarRows, t: NDArray[np.float64], state: ListingState) -> dict[str, str]:
    """Restarts and comments so far, for `Reading.info`; sar repeats them for each activity."""
    for line, seconds, comment in table.marks:
        place = int(np.searchsorted(table.lines, line)) - 1
        last = float(t[place]) if place >= 0 else state.last
        now = seconds + (state.times.offset or 0.0 if np.isnan(last) else DAY * (last // DAY))
        state.marks.add((now + DAY * (now < last - HALF_DAY), comment))
    restarts = [f"{now:.0f}" for now, comment in sorted(state.marks) if not comment]
    comments = [f"{now:.0f} {comment}" for now, comment in sorted(state.marks) if comment]
    info = {"restarts": " ".join(restarts)} if restarts else {}
    return info | ({"comments": "\n".join(comments)} if comments else {})


FORMAT = SarFormat("sar", "sar text output (sysstat)")
MPSTAT = SarFormat("mpstat", "mpstat text output (sysstat)")
