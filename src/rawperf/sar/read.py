"""Reader of the text output of sar and mpstat, sysstat 7 to 12.

Source: ``pr_stats.c``, ``sar.c``, ``mpstat.c`` and ``common.c`` of sysstat.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.listing import ListingFormat, ListingPart, RecordsWithLines
from rawperf.recognition import INSERTED_TIME
from rawperf.sar.sysstat_table import (
    ACTIVITIES,
    RowTimes,
    SarRows,
    SysstatListing,
    TableHeading,
    match_system_line,
    parse_heading,
    table_records,
)
from rawperf.text import DAY, HALF_DAY

_AVERAGE = re.compile(
    r"[^\d\s:][^\d:]{0,20}:(?:\s.*)?"
)  # Average:, Summary:, Moyenne :, Durchschn.:
_RESTART, _COMMENT = b"LINUX RESTART", b"COM "
_CLOCK, _EPOCH = 8, (9, 10)
_HALF = "^[AaPp][.]?[Mm][.]?$"
_NO_TOPOLOGY = 10
"""Blanks after the word ``all`` under CPU CORE SOCK NODE if the last three columns are empty."""
_REPORTS = {*ACTIVITIES.values(), "interrupts"}


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


class SarListing(SysstatListing):
    """Tables of sar.

    Each row of a table gives one record per column; ``report`` is the activity (`ACTIVITIES`),
    ``entity_kind`` the entity's heading in lower case, ``field`` the column's heading. Rows with
    the time of their own heading are averages since boot: their report ends in `SINCE_BOOT`.
    Average rows are left out.

    Refused are a line that the tool does not print, a row that does not fit its heading, a negative
    percentage and a second system line.
    """

    name = "sar"
    title = "sar text output (sysstat)"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.times = RowTimes(self)
        # of the table that may continue; its line in the file is numbered from 0
        self.heading: TableHeading | None = None
        self.heading_line, self.heading_text, self.heading_time = 0, "", 0
        # whether a heading may follow: after a blank line, or before the first table
        self.fresh = True
        self.has_half_days: bool | None = None  # whether times are followed by AM or PM
        self.marks: set[tuple[float, str]] = set()  # time and comment, "" for restarts
        self.rows, self.last = 0, np.nan  # number of rows, and time of the last one
        self.errors: list[FormatError] = []  # of the part; the first in the file is raised

    def cut(self, lines: bytes, lines_before: int) -> int:
        return cut_before_table(lines)

    def parse(self, part: ListingPart) -> RecordsWithLines | None:
        return super().parse(replace(part, data=INSERTED_TIME.sub(b"", part.data)))

    def parse_tables(self, part: ListingPart, start: int) -> RecordsWithLines | None:
        table = SarRows(self, part)
        self._parse_lines(table, part, start)
        if part.is_last and not (self.rows or len(table.lines) or table.marks or self.marks):
            end = part.lines_before + part.data.count(b"\n") + 1
            remedy = (
                "the tool was stopped before its first sample, or printed none for the "
                "chosen option."
            )
            raise self.error("no data row in the file", end, remedy=remedy)
        t = self.times.compute(table)
        if not (len(t) or table.marks or part.is_last):
            return None
        parsed = table_records(table, t)
        self._note_marks(table, t)
        self.rows, self.last = self.rows + len(t), t[-1] if len(t) else self.last
        if part.is_last and not self.rows:
            sentence = "no sample in the file, only restarts of the machine and comments"
            self.warnings.add_always(0, sentence)
        return parsed

    def _parse_lines(self, table: SarRows, part: ListingPart, start: int) -> None:
        """Add the tables of a part from its line `start` on to `table`.

        Raises `FormatError` at text that the tool does not print.
        """
        first = part.first_word
        lines = np.arange(start, len(part.line_end))
        blank = first[lines] == first[lines + 1]
        has_time, seconds, body = self._parse_times(table, part, lines)
        is_cut = table.part.is_last and not part.data.endswith(b"\n")
        end = len(part.line_end) - 1 if is_cut else -1
        for i in lines[~has_time & ~blank].tolist():
            text, number = part.line(i), table.line_number(i)
            if i == end:
                table.truncated_line, table.truncated_time = i, -1
            elif match_system_line(text):
                remedy = "split the file there."
                self._note_error("a second system line", number, remedy=remedy)
            elif not _AVERAGE.fullmatch(text.strip()):
                self._note_unknown_line(text, number)
        rows, seconds, body = lines[has_time], seconds[has_time], body[has_time]
        n_blank_above = np.cumsum(blank)[has_time]  # blank lines before each row
        opening = part.begin[body]
        letter = part.characters[opening] if len(opening) else np.zeros(0, dtype=np.uint8)
        marks = np.flatnonzero((letter == ord("L")) | (letter == ord("C")))
        is_mark = np.zeros(len(rows), dtype=bool)
        for beginning in (_RESTART, _COMMENT):
            is_mark[marks[part.starts_with(opening[marks], beginning)]] = True
        for k in np.flatnonzero(is_mark).tolist():
            text = part.data[opening[k] : part.line_end[rows[k]]].decode()
            comment = text[4:].strip() if letter[k] == ord("C") else ""
            table.marks.append((int(rows[k]), int(seconds[k]), comment))
        rows, seconds, body, n_blank_above = (
            column[~is_mark] for column in (rows, seconds, body, n_blank_above)
        )
        # without a line end, digits may be missing
        is_truncated = len(rows) > 0 and rows[-1] == end
        follows_blank = np.diff(n_blank_above, prepend=0 if not self.fresh else -1) > 0
        if is_truncated or table.truncated_line >= 0:
            blanks = int(blank[: end - start].sum()) - (
                int(n_blank_above[len(rows) - 1 - is_truncated]) if len(rows) > is_truncated else 0
            )
            follows_blank_line = blanks > 0 or (len(rows) == is_truncated and self.fresh)
            table.truncated_line, table.truncated_time = (
                end,
                -2 if follows_blank_line else int(seconds[-1]) if is_truncated else -1,
            )
        if is_truncated:
            rows, seconds, body, follows_blank = (
                rows[:-1],
                seconds[:-1],
                body[:-1],
                follows_blank[:-1],
            )
        self._add_rows(table, part, rows, seconds, body, follows_blank)
        if self.errors:
            raise min(self.errors, key=lambda error: error.line or 0)
        last_row = int(rows[-1]) if len(rows) else start - 1
        self.fresh = bool(blank[last_row + 1 - start :].any()) or (self.fresh and not len(rows))

    def _parse_times(
        self, table: SarRows, part: ListingPart, lines: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64], NDArray[np.int64]]:
        """For each line: whether it has a time and more text, the seconds, the word after the time."""
        first = part.first_word
        first_words = np.minimum(first[lines], max(len(part.begin) - 1, 0))
        seconds = np.zeros(len(lines), dtype=np.int64)
        body = first[lines] + 1
        if not len(part.begin):
            return np.zeros(len(lines), dtype=bool), seconds, body
        begins = part.begin[first_words]
        length = part.end[first_words] - begins
        has_more_text = (first[lines + 1] > first[lines] + 1) & (begins == part.line_begin[lines])
        clock = np.flatnonzero(has_more_text & (length == _CLOCK))
        starts = begins[clock]
        is_clock = (part.bytes_at(starts + 2) == ord(":")) & (part.bytes_at(starts + 5) == ord(":"))
        digit = [part.bytes_at(starts + k).astype(np.int64) - ord("0") for k in (0, 1, 3, 4, 6, 7)]
        for figure in digit:
            is_clock &= (figure >= 0) & (figure <= 9)
        h, m, s = (10 * digit[k] + digit[k + 1] for k in (0, 2, 4))
        clock, h, m, s = (column[is_clock] for column in (clock, h, m, s))
        has_time = np.zeros(len(lines), dtype=bool)
        has_time[clock] = True
        am_pm = _parse_am_pm(part, clock, lines, body)
        is_invalid = (h > 23) | (m > 59) | (s > 60)
        for k in np.flatnonzero(is_invalid | ((am_pm >= 0) & ((h < 1) | (h > 12))))[:1].tolist():
            number, text = table.line_number(lines[clock[k]]), part.line(int(lines[clock[k]]))
            if is_invalid[k]:
                self._note_error("not a time of day", number, "HH:MM:SS", text[:_CLOCK])
            else:
                found = " ".join(text.split()[:2])
                self._note_error("not a 12-hour time", number, "01 to 12", found)
        if len(am_pm):
            if self.has_half_days is None:
                self.has_half_days = bool(am_pm[0] >= 0)
            deviating = np.flatnonzero((am_pm >= 0) != self.has_half_days)
            if len(deviating):
                line = int(lines[clock[deviating[0]]])
                self._note_error(
                    "some times have AM or PM and some have not",
                    table.line_number(line),
                    found=part.line(line),
                    remedy="the line is damaged; remove its sample.",
                )
        hour = np.where(am_pm >= 0, h % 12 + 12 * am_pm, h)
        seconds[clock] = hour * 3600 + m * 60 + s
        epoch = np.flatnonzero(has_more_text & np.isin(length, _EPOCH) & part.is_digit(begins))
        if len(epoch):
            texts = part.words.take(pa.array(first_words[epoch]))
            is_number = pc.match_substring_regex(texts, r"^[0-9]+$").to_numpy(zero_copy_only=False)
            epoch, texts = epoch[is_number], texts.filter(pa.array(is_number))
            has_time[epoch] = True
            seconds[epoch] = pc.cast(texts, pa.int64()).to_numpy()
            _parse_am_pm(part, epoch, lines, body)
        return has_time, seconds, body

    def _add_rows(
        self,
        table: SarRows,
        part: ListingPart,
        rows: NDArray[np.int64],
        seconds: NDArray[np.int64],
        body: NDArray[np.int64],
        follows_blank: NDArray[np.bool_],
    ) -> None:
        """Add headings and rows to the table."""
        lines_before = table.part.lines_before
        if self.heading is not None:
            table.headings.append(self.heading)
            table.heading_lines.append(self.heading_line - lines_before)
            table.heading_times.append(self.heading_time)
            table.carried_heading = self.heading_text
        is_heading = np.zeros(len(rows), dtype=bool)
        heading_by_text: dict[bytes, TableHeading | None] = {}
        candidates = np.flatnonzero(follows_blank)
        begins = part.begin[body[candidates]].tolist()
        ends = part.line_end[rows[candidates]].tolist()
        for k, begin, end in zip(candidates.tolist(), begins, ends, strict=True):
            text = part.data[begin:end]
            if text not in heading_by_text:
                heading_by_text[text] = parse_heading(text.decode())
            heading = heading_by_text[text]
            if heading is not None:
                is_heading[k] = True
                table.headings.append(heading)
                if heading.report not in _REPORTS:
                    self.warnings.add_once(
                        f"table {heading.report}",
                        table.line_number(rows[k]),
                        f"a table that is not among those known of {self.name} was read under its "
                        f"own headings: {' '.join(text.decode().split())}",
                    )
        headings = rows[is_heading]
        table.heading_lines += headings.tolist()
        table.heading_times += seconds[is_heading].tolist()
        if len(headings):
            number = int(headings[-1])
            self.heading, self.heading_time = table.headings[-1], table.heading_times[-1]
            self.heading_line, self.heading_text = lines_before + number, part.line(number)
        heading_indices = np.cumsum(is_heading)[~is_heading] - (table.carried_heading is None)
        table.lines, table.times = rows[~is_heading], seconds[~is_heading]
        table.heading_indices, table.starts = heading_indices, body[~is_heading]
        table.counts = part.first_word[table.lines + 1] - table.starts
        if len(heading_indices) and heading_indices[0] < 0:
            self._note_error(
                "a row before the first heading",
                table.line_number(table.lines[0]),
                found=table.body(0),
                remedy="restore the heading.",
            )
        distinct, codes = table.factorize_headings()
        if any(heading.topology for heading in distinct) and not self.errors:
            topology = np.array([heading.topology for heading in distinct])
            topology_rows = np.flatnonzero(topology[codes[heading_indices]])
            start = table.starts[topology_rows]
            is_bare = part.starts_with(part.begin[start], b"all" + b" " * _NO_TOPOLOGY)
            table.shifts = np.zeros(len(heading_indices), dtype=np.int64)
            table.shifts[topology_rows[is_bare]] = 3
            table.counts = table.counts + table.shifts

    def _note_marks(self, table: SarRows, t: NDArray[np.float64]) -> None:
        """Put restarts and comments so far in `info`; sar repeats them for each activity."""
        for line, seconds, comment in table.marks:
            row = int(np.searchsorted(table.lines, line)) - 1
            last = float(t[row]) if row >= 0 else self.last
            time = seconds + (self.times.offset or 0.0 if np.isnan(last) else DAY * (last // DAY))
            self.marks.add((time + DAY * (time < last - HALF_DAY), comment))
        restarts = [f"{time:.0f}" for time, comment in sorted(self.marks) if not comment]
        comments = [f"{time:.0f} {comment}" for time, comment in sorted(self.marks) if comment]
        for key, text in (("restarts", " ".join(restarts)), ("comments", "\n".join(comments))):
            if text:
                self.info.pop(key, None)  # so that the order does not depend on the parts
                self.info[key] = text

    def _note_unknown_line(self, text: str, number: int) -> None:
        problem, remedy = (
            f"not a line of {self.name}",
            "it may come from another version or option of the tool, or be damaged: remove the sample, "
            "or collect it again.",
        )
        if not text.isascii():
            problem = "a line in another locale"
            remedy = f"print it again in the C locale: LC_ALL=C {self.name} ..."
        self._note_error(problem, number, "HH:MM:SS or Average:", text, remedy)

    def _note_error(self, *parts: Any, **named: Any) -> None:
        """Note an error, built by `error`: the first in the file is raised."""
        self.errors.append(self.error(*parts, **named))


class MpstatListing(SarListing):
    """Tables of mpstat, which have the form of sar's."""

    name = "mpstat"
    title = "mpstat text output (sysstat)"


def _parse_am_pm(
    part: ListingPart, rows: NDArray[np.int64], lines: NDArray[np.int64], body: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Halves of the day after times: 0 for AM, 1 for PM, -1 for none; moves `body` past them."""
    am_pm = np.full(len(rows), -1)
    next_words = body[rows]
    is_candidate = np.isin(
        part.characters[part.begin[next_words]], np.frombuffer(b"AaPp", np.uint8)
    )
    is_candidate &= (part.end[next_words] - part.begin[next_words] <= 4) & (
        part.first_word[lines[rows] + 1] > next_words + 1
    )
    is_candidate &= part.begin[next_words] == part.end[next_words - 1] + 1
    candidates = np.flatnonzero(is_candidate)
    if len(candidates):
        texts = part.words.take(pa.array(next_words[candidates]))
        candidates = candidates[
            pc.match_substring_regex(texts, _HALF).to_numpy(zero_copy_only=False)
        ]
        am_pm[candidates] = np.isin(
            part.characters[part.begin[next_words[candidates]]], np.frombuffer(b"Pp", np.uint8)
        )
        body[rows[candidates]] += 1
    return am_pm


FORMAT = ListingFormat(SarListing)
MPSTAT = ListingFormat(MpstatListing)
