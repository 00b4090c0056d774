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
from rawperf.recognition import INSERTED_TIME, Recognised
from rawperf.rows import Warnings
from rawperf.sar.table import (
    ACTIVITIES,
    RowTimes,
    SarRows,
    TableHeading,
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
        self.has_half_days: bool | None = None  # whether times are followed by AM or PM
        self.unknown: set[str] = set()  # tables that are not among ACTIVITIES
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
    words: WordOffsets, start: int, lines_before: int, state: ListingState, is_last: bool
) -> SarRows:
    """Parse the tables of a part of a listing from its line `start` on.

    `lines_before` is the number of preceding lines of the file, `is_last` whether no part follows; `state`
    carries the state to the next part. Raises `FormatError` at text that the tool does not print.
    """
    table = SarRows(words=words, lines_before=lines_before, last=is_last)
    errors: list[FormatError] = []
    first = words.first_word
    lines = np.arange(start, len(words))
    blank = first[lines] == first[lines + 1]
    has_time, seconds, body = _parse_times(words, lines, lines_before, state, errors)
    end = len(words) - 1 if is_last and not words.data.endswith(b"\n") else -1
    for i in lines[~has_time & ~blank].tolist():
        text = words.line(i)
        if i == end:
            table.truncated_line, table.truncated_time = i, -1
        elif match_system_line(text):
            problem, number = "a second system line", lines_before + i + 1
            errors.append(
                FormatError(problem, file=state.file, line=number, remedy="split the file there.")
            )
        elif not _AVERAGE.fullmatch(text.strip()):
            errors.append(_unknown_line_error(text, lines_before + i + 1, state))
    rows, seconds, body = lines[has_time], seconds[has_time], body[has_time]
    n_blank_above = np.cumsum(blank)[has_time]  # blank lines before each row
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
    rows, seconds, body, n_blank_above = (
        part[~is_mark] for part in (rows, seconds, body, n_blank_above)
    )
    is_truncated = len(rows) > 0 and rows[-1] == end  # without a line end, digits may be missing
    follows_blank = np.diff(n_blank_above, prepend=0 if not state.fresh else -1) > 0
    if is_truncated or table.truncated_line >= 0:
        blanks = int(blank[: end - start].sum()) - (
            int(n_blank_above[len(rows) - 1 - is_truncated]) if len(rows) > is_truncated else 0
        )
        follows_blank_line = blanks > 0 or (len(rows) == is_truncated and state.fresh)
        table.truncated_line, table.truncated_time = (
            end,
            -2 if follows_blank_line else int(seconds[-1]) if is_truncated else -1,
        )
    if is_truncated:
        rows, seconds, body, follows_blank = rows[:-1], seconds[:-1], body[:-1], follows_blank[:-1]
    _add_rows(table, rows, seconds, body, follows_blank, state, errors)
    if errors:
        raise min(errors, key=lambda error: error.line or 0)
    last_row = int(rows[-1]) if len(rows) else start - 1
    state.fresh = bool(blank[last_row + 1 - start :].any()) or (state.fresh and not len(rows))
    return table


def _parse_times(
    words: WordOffsets,
    lines: NDArray[np.int64],
    lines_before: int,
    state: ListingState,
    errors: list[FormatError],
) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
    """For each line: whether it has a time and more text, the seconds, the word after the time."""
    first = words.first_word
    first_words = np.minimum(first[lines], max(len(words.begin) - 1, 0))
    seconds = np.zeros(len(lines), dtype=np.int64)
    body = first[lines] + 1
    if not len(words.begin):
        return np.zeros(len(lines), dtype=bool), seconds, body
    begins = words.begin[first_words]
    length = words.end[first_words] - begins
    has_more_text = (first[lines + 1] > first[lines] + 1) & (begins == words.line_begin[lines])
    clock = np.flatnonzero(has_more_text & (length == _CLOCK))
    starts = begins[clock]
    is_clock = (words.bytes_at(starts + 2) == ord(":")) & (words.bytes_at(starts + 5) == ord(":"))
    digit = [words.bytes_at(starts + k).astype(np.int64) - ord("0") for k in (0, 1, 3, 4, 6, 7)]
    for figure in digit:
        is_clock &= (figure >= 0) & (figure <= 9)
    h, m, s = (10 * digit[k] + digit[k + 1] for k in (0, 2, 4))
    clock, h, m, s = (part[is_clock] for part in (clock, h, m, s))
    has_time = np.zeros(len(lines), dtype=bool)
    has_time[clock] = True
    am_pm = _parse_am_pm(words, clock, lines, body)
    is_invalid = (h > 23) | (m > 59) | (s > 60)
    for k in np.flatnonzero(is_invalid | ((am_pm >= 0) & ((h < 1) | (h > 12))))[:1].tolist():
        number, text = lines_before + int(lines[clock[k]]) + 1, words.line(int(lines[clock[k]]))
        problem, expected = (
            ("not a time of day", "HH:MM:SS")
            if is_invalid[k]
            else ("not a 12-hour time", "01 to 12")
        )
        text = text[:_CLOCK] if is_invalid[k] else " ".join(text.split()[:2])
        errors.append(
            FormatError(problem, file=state.file, line=number, expected=expected, found=text)
        )
    if len(am_pm):
        if state.has_half_days is None:
            state.has_half_days = bool(am_pm[0] >= 0)
        deviating = np.flatnonzero((am_pm >= 0) != state.has_half_days)
        if len(deviating):
            number = int(lines[clock[deviating[0]]])
            errors.append(
                FormatError(
                    "some times have AM or PM and some have not",
                    file=state.file,
                    line=lines_before + number + 1,
                    found=words.line(number),
                    remedy="the line is damaged; remove its sample.",
                )
            )
    hour = np.where(am_pm >= 0, h % 12 + 12 * am_pm, h)
    seconds[clock] = hour * 3600 + m * 60 + s
    epoch = np.flatnonzero(has_more_text & np.isin(length, _EPOCH) & words.is_digit(begins))
    if len(epoch):
        texts = words.array.take(pa.array(first_words[epoch]))
        is_number = pc.match_substring_regex(texts, r"^[0-9]+$").to_numpy(zero_copy_only=False)
        epoch, texts = epoch[is_number], texts.filter(pa.array(is_number))
        has_time[epoch] = True
        seconds[epoch] = pc.cast(texts, pa.int64()).to_numpy()
        _parse_am_pm(words, epoch, lines, body)
    return has_time, seconds, body


def _parse_am_pm(
    words: WordOffsets, rows: NDArray[np.int64], lines: NDArray[np.int64], body: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Halves of the day after times: 0 for AM, 1 for PM, -1 for none; moves `body` past them."""
    am_pm = np.full(len(rows), -1)
    next_words = body[rows]
    is_candidate = np.isin(words.bytes[words.begin[next_words]], np.frombuffer(b"AaPp", np.uint8))
    is_candidate &= (words.end[next_words] - words.begin[next_words] <= 4) & (
        words.first_word[lines[rows] + 1] > next_words + 1
    )
    is_candidate &= words.begin[next_words] == words.end[next_words - 1] + 1
    candidates = np.flatnonzero(is_candidate)
    if len(candidates):
        texts = words.array.take(pa.array(next_words[candidates]))
        candidates = candidates[
            pc.match_substring_regex(texts, _HALF).to_numpy(zero_copy_only=False)
        ]
        am_pm[candidates] = np.isin(
            words.bytes[words.begin[next_words[candidates]]], np.frombuffer(b"Pp", np.uint8)
        )
        body[rows[candidates]] += 1
    return am_pm


def _add_rows(
    table: SarRows,
    rows: NDArray[np.int64],
    seconds: NDArray[np.int64],
    body: NDArray[np.int64],
    follows_blank: NDArray[np.bool_],
    state: ListingState,
    errors: list[FormatError],
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
    heading_by_text: dict[bytes, TableHeading | None] = {}
    candidates = np.flatnonzero(follows_blank)
    begins, ends = words.begin[body[candidates]].tolist(), words.line_end[rows[candidates]].tolist()
    for k, begin, end in zip(candidates.tolist(), begins, ends, strict=True):
        text = words.data[begin:end]
        if text not in heading_by_text:
            heading_by_text[text] = parse_heading(text.decode())
        heading = heading_by_text[text]
        if heading is not None:
            is_heading[k] = True
            table.headings.append(heading)
            if heading.report not in _REPORTS and heading.report not in state.unknown:
                state.unknown.add(heading.report)
                number = table.lines_before + int(rows[k]) + 1
                state.messages.append(
                    f"{state.file} line {number}: a table that is not among those known of "
                    f"{state.tool} was read under its own headings: {' '.join(text.decode().split())}"
                )
    headings = rows[is_heading]
    table.heading_lines += headings.tolist()
    table.heading_times += seconds[is_heading].tolist()
    if len(headings):
        number = int(headings[-1])
        state.heading, state.heading_time = table.headings[-1], table.heading_times[-1]
        state.heading_line, state.heading_text = table.lines_before + number, words.line(number)
    heading_indices = np.cumsum(is_heading)[~is_heading] - (table.carried_heading is None)
    table.lines, table.times, table.heading_indices = (
        rows[~is_heading],
        seconds[~is_heading],
        heading_indices,
    )
    table.starts = body[~is_heading]
    table.counts = words.first_word[table.lines + 1] - table.starts
    if len(heading_indices) and heading_indices[0] < 0:
        number = int(table.lines[0])
        errors.append(
            FormatError(
                "a row before the first heading",
                file=state.file,
                line=table.lines_before + number + 1,
                found=table.body(0),
                remedy="restore the heading.",
            )
        )
    distinct, codes = table.factorize_headings()
    if any(heading.topology for heading in distinct) and not errors:
        topology = np.array([heading.topology for heading in distinct])
        topology_rows = np.flatnonzero(topology[codes[heading_indices]])
        start = table.starts[topology_rows]
        is_bare = words.starts_with(words.begin[start], b"all" + b" " * _NO_TOPOLOGY)
        table.shifts = np.zeros(len(heading_indices), dtype=np.int64)
        table.shifts[topology_rows[is_bare]] = 3
        table.counts = table.counts + table.shifts


def _unknown_line_error(text: str, number: int, state: ListingState) -> FormatError:
    problem, remedy = (
        f"not a line of {state.tool}",
        "it may come from another version or option of the tool, or be damaged: remove the sample, "
        "or collect it again.",
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


_REPORTS = {*ACTIVITIES.values(), "interrupts"}


class SarFormat(Recognised, Streaming):
    """Reader of the text of sar, and of mpstat, which has the same form."""

    def __init__(self, name: str, title: str) -> None:
        self.name, self.title = name, title

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
        has_begun = False
        for piece in pieces:
            words = WordOffsets(
                recode_piece(
                    INSERTED_TIME.sub(b"", piece), pieces.lines_before, encoding_warnings, file
                )
            )
            start = 0
            if not has_begun:
                start = next(
                    (i for i in range(len(words)) if words.first_word[i] < words.first_word[i + 1]),
                    0,
                )
                if start == len(words) - 1 and not pieces.is_last and not piece.strip():
                    continue
                first_lines = [""] * (pieces.lines_before + start) + [
                    words.line(start) if len(words) else ""
                ]
                _, state.times.day, state.info = parse_system_line(
                    first_lines, self.name, state.messages, file
                )
                start, has_begun = start + 1, True
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
                    remedy="the tool was stopped before its first sample, or printed none for the "
                    "chosen option.",
                )
            t = state.times.compute(table)
            if len(t) or table.marks or pieces.is_last:
                records, lines = table_records(table, t, state.messages, file)
                info = state.info | _mark_info(table, t, state)
                state.rows, state.last = state.rows + len(t), t[-1] if len(t) else state.last
                if pieces.is_last and not state.rows:
                    state.messages.append(
                        f"{file}: no sample in the file, only restarts of the machine and comments"
                    )
                warnings = (*encoding_warnings.drain(pieces.is_last), *state.messages)
                state.messages.clear()
                yield Reading(records, state.times.clock, info, warnings, lines)


def _mark_info(table: SarRows, t: NDArray[np.float64], state: ListingState) -> dict[str, str]:
    """Restarts and comments so far, for `Reading.info`; sar repeats them for each activity."""
    for line, seconds, comment in table.marks:
        row = int(np.searchsorted(table.lines, line)) - 1
        last = float(t[row]) if row >= 0 else state.last
        time = seconds + (state.times.offset or 0.0 if np.isnan(last) else DAY * (last // DAY))
        state.marks.add((time + DAY * (time < last - HALF_DAY), comment))
    restarts = [f"{time:.0f}" for time, comment in sorted(state.marks) if not comment]
    comments = [f"{time:.0f} {comment}" for time, comment in sorted(state.marks) if comment]
    info = {"restarts": " ".join(restarts)} if restarts else {}
    return info | ({"comments": "\n".join(comments)} if comments else {})


FORMAT = SarFormat("sar", "sar text output (sysstat)")
MPSTAT = SarFormat("mpstat", "mpstat text output (sysstat)")
