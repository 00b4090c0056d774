"""Reader of CMS console transcripts: command costs from ready messages, and responses of CP.

Parsed responses are messages of DEFSEG and SAVESEG, ``QUERY NSS MAP`` and ``QUERY VIRTUAL``. A line
that begins like a response and continues differently is left out with a warning: transcripts that
went through a document have columns run together, and half a row must not become a number.
"""

from __future__ import annotations

import math
import re

from rawperf.base import RecordBuilder, Warnings
from rawperf.core.sample_rows import HOST
from rawperf.listing import (
    TRUNCATED_LINE,
    LineListing,
    ListingFormat,
    ListingPart,
    RecordsWithLines,
)
from rawperf.text import DAY, HALF_DAY, clock_seconds

NSS, VIRTUAL, DEFSEG = "QUERY NSS", "QUERY VIRTUAL", "DEFSEG"
"""Values of `report` besides message ids and ``command``."""

SEGMENT, RANGE, DEVICE, CPU = "segment", "segment range", "device", "virtual cpu"
"""Entity kinds. A range is named ``NAME number TYPE``, such as ``SWAPPING 1 EW``."""

NSS_COLUMNS = (
    "FILE",
    "FILENAME",
    "FILETYPE",
    "MINSIZE",
    "BEGPAG",
    "ENDPAG",
    "TYPE",
    "CL",
    "#USERS",
    "PARMREGS",
    "VMGROUP",
)
_MAY_LACK = {"MINSIZE", "PARMREGS", "VMGROUP"}
ACTIVE = ("A", "R")  # classes with one copy of a segment, the active one; others may have several
SIZE_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}

_HEX, _TYPE, _NAME = r"[0-9A-F]{1,16}", r"(?:E[WNR]|S[WNRC])", r"[A-Z0-9$#@_+-]{1,8}"
_SHAPES = {
    "FILE": r"\d{4}",
    "FILENAME": _NAME,
    "FILETYPE": r"[A-Z][A-Z-]{1,7}",
    "MINSIZE": r"\S{1,9}",
    "BEGPAG": _HEX,
    "ENDPAG": _HEX,
    "TYPE": _TYPE,
    "CL": r"[A-Z]",
    "#USERS": r"\d{1,9}",
    "PARMREGS": r"\S{1,9}",
    "VMGROUP": r"\S{1,9}",
}
_SHAPE = {name: re.compile(pattern, re.ASCII) for name, pattern in _SHAPES.items()}
_SAVED = re.compile(
    rf"(HCPNS[SD]440I) +(?:Saved segment|(?:The )?Named Saved System \(NSS\)) +({_NAME}) +was successfully"
    r" +(?:saved|defined) +in +file ?id +(\d{1,5})\.?",
    re.ASCII | re.IGNORECASE,
)
_SIZE = re.compile(
    rf"(STORAGE|XSTORE) *= *(?:(\d{{1,12}})([{''.join(SIZE_UNITS)}])|NONE)",
    re.ASCII | re.IGNORECASE,
)
_CPU = re.compile(r"CPU +([0-9A-F]{2}) +(ID +[0-9A-F]{16}\b.{0,60})", re.ASCII)
_DASD = re.compile(
    r"DASD +([0-9A-F]{3,4}) +(\d{4} +\S{1,8} +R/[WO]) +(\d{1,12}) +(CYL|BLK) +ON"
    r" +(DASD +\S{1,8} +SUBCHANNEL = [0-9A-F]{4})",
    re.ASCII,
)
_DAMAGED = (
    ("message", re.compile("HCPNS[SD]440I|was successfully +(?:saved|defined) +in")),
    (
        "line of QUERY VIRTUAL",
        re.compile(
            r"\A\W*(?:STORAGE|XSTORE)\b|(?:STORAGE|XSTORE).*=|\A= *(?:\d+[KMGTPE]|NONE)\Z|"
            r"\A\S* *CPU +[0-9A-F]{2} +ID|CPUAFF"
        ),
    ),
    (
        "line of QUERY VIRTUAL",
        re.compile(r"\bDASD\b.*\b(?:CYL|BLK)\b|\b(?:CYL|BLK) +ON\b|R/[WO] .*\bON +DASD\b"),
    ),
    (
        "logon line",
        re.compile(
            r"\A(?:LOGON\b.*|RECONNECTED\b.*|AT )?\d\d:\d\d:\d\d [A-Z]{2,5} [A-Z]{3,6}DAY\b"
        ),
    ),
    ("ready message", re.compile(r"\bReady *[;(]|\bT=\d+\.\d\d/\d+\.\d\d +\d\d:\d\d:\d\d")),
)
_PAGE = re.compile(r"(?=\S*\d)[0-9A-F]{5,16}", re.ASCII)
_DEFSEG_RANGE = re.compile(rf"({_HEX})(?:-({_HEX}))?", re.ASCII)


class ResponseParser:
    """Parser of CP responses, line by line; adds their numbers to `rows`."""

    def __init__(self, rows: RecordBuilder, warnings: Warnings, info: dict[str, str]) -> None:
        self.rows, self.warnings, self.info = rows, warnings, info
        self.begin_command("")

    def begin_command(self, command: str, number: int = 0) -> None:
        """Start the command of a line; the operands of DEFSEG are the pages that it defines."""
        self._map_columns: list[str] | None = None  # columns of an open table of QUERY NSS MAP
        self._segment, self._n_ranges = "", 0
        self._seen_segments: set[str] = set()
        self._definition_rows = range(0)
        words = command.split()
        if len(words) > 3 and words[0] == DEFSEG:
            first = len(self.rows)
            for pages, kind in zip(words[2::2], words[3::2], strict=False):
                match = _DEFSEG_RANGE.fullmatch(pages)
                if match is None or not _SHAPE["TYPE"].fullmatch(kind):
                    if re.search(r"\d", pages + kind):  # else an option
                        self.warnings.add(number, "damaged pages of DEFSEG were left out")
                    break
                self._add_range(DEFSEG, words[1], match[1], match[2] or match[1], kind)
            self._definition_rows = range(first, len(self.rows))

    def discard_definitions(self) -> None:
        """Discard the definitions of a command that ended with a return code."""
        if len(self._definition_rows):
            self.rows.drop(self._definition_rows.start, self._definition_rows.stop)

    def drop_rows(self, count: int) -> None:
        """Adjust to the removal of the first `count` rows, which are of earlier commands."""
        rows = self._definition_rows
        self._definition_rows = range(rows.start - count, rows.stop - count)

    def parse_line(self, line: str, number: int) -> bool:
        """Parse a line; False if it is not one of these responses."""
        if not self._parse_single_line(line, number):
            return self._parse_nss_map(line, number)
        self._map_columns = None
        return True

    def _parse_single_line(self, line: str, number: int) -> bool:
        """Parse a line that is independent of the lines around it."""
        if match := _SAVED.fullmatch(line):
            self.rows.add(match[1].upper(), SEGMENT, match[2].upper(), "fileid", int(match[3]))
        elif match := _SIZE.fullmatch(line):
            value = int(match[2]) * SIZE_UNITS[match[3].upper()] if match[2] else 0
            self.rows.add(VIRTUAL, HOST, "", match[1].upper(), value)
        elif match := _CPU.fullmatch(line):
            self.rows.add(VIRTUAL, CPU, match[1], "CPU", 1)
            self.info.setdefault(f"CPU {match[1]}", " ".join(match[2].split()))
        elif match := _DASD.fullmatch(line):
            vdev = match[1].rjust(4, "0")
            self.rows.add(VIRTUAL, DEVICE, vdev, match[4], int(match[3]))
            self.info.setdefault(f"DASD {vdev}", " ".join(f"{match[2]} ON {match[5]}".split()))
        elif damaged := next((name for name, pattern in _DAMAGED if pattern.search(line)), ""):
            self.warnings.add(number, f"a damaged {damaged} was left out")
        else:
            return False
        return True

    def _parse_nss_map(self, line: str, number: int) -> bool:
        words = [word for word in line.split(" ") if word]
        if words[:2] == ["FILE", "FILENAME"] or (words[0].startswith("FILE") and "BEGPAG" in line):
            if "BEGPAG" not in line:  # another variant of QUERY NSS
                self._map_columns = None
                return False
            is_intact = [
                name for name in NSS_COLUMNS if name in words or name not in _MAY_LACK
            ] == words
            self._map_columns, self._segment = words if is_intact else [], ""
            if not is_intact:
                self.warnings.add(
                    number, "a damaged heading of QUERY NSS MAP; the rows below it were left out"
                )
            return True
        is_like_row = (
            words[0][0].isdigit()
            or set(words[0]) <= set("0123456789ABCDEF")
            or any(_PAGE.fullmatch(word) for word in words)
        )
        if self._map_columns is None or not is_like_row:
            return False
        if not self._map_columns:
            return True
        if len(words) == 3 and self._parse_range_row(words, number):
            return True
        if not self._parse_segment_row(words):
            self.warnings.add(number, "a damaged row of QUERY NSS MAP was left out")
            self._segment = ""
        return True

    def _parse_range_row(self, words: list[str], number: int) -> bool:
        begin, end, kind = words
        if not all(
            _SHAPE[name].fullmatch(word) for name, word in zip(NSS_COLUMNS[4:7], words, strict=True)
        ):
            return False
        if not self._segment:
            self.warnings.add(number, "a range was left out together with its row")
            return True
        return _is_range(begin, end) and self._add_range(NSS, self._segment, begin, end, kind)

    def _parse_segment_row(self, words: list[str]) -> bool:
        assert self._map_columns is not None
        needed = self._map_columns.index("#USERS") + 1
        row = dict(zip(self._map_columns, words, strict=False))
        if not needed <= len(words) <= len(self._map_columns) or not all(
            _SHAPE[n].fullmatch(w) for n, w in row.items()
        ):
            return False
        entity = (
            row["FILENAME"]
            if row["CL"] in ACTIVE
            else f"{row['FILENAME']} {row['CL']}{row['FILE']}"
        )
        if not _is_range(row["BEGPAG"], row["ENDPAG"]) or entity in self._seen_segments:
            return False
        self._seen_segments.add(entity)
        self._segment, self._n_ranges = entity, 0
        self.info.setdefault(f"filetype {row['FILENAME']}", row["FILETYPE"])
        self.rows.add(NSS, SEGMENT, entity, "FILE", int(row["FILE"]))
        self.rows.add(NSS, SEGMENT, entity, f"CL {row['CL']}", 1)
        self.rows.add(NSS, SEGMENT, entity, "#USERS", int(row["#USERS"]))
        return self._add_range(NSS, entity, row["BEGPAG"], row["ENDPAG"], row["TYPE"])

    def _add_range(self, report: str, owner: str, begin: str, end: str, kind: str) -> bool:
        self._n_ranges += 1
        for field, page in (("BEGPAG", begin), ("ENDPAG", end)):
            self.rows.add(report, RANGE, f"{owner} {self._n_ranges} {kind}", field, int(page, 16))
        return True


def _is_range(begin: str, end: str) -> bool:
    """Whether two columns are a range: CP prints both pages with the same number of digits."""
    return len(begin) == len(end) and begin <= end


COMMAND, LOGON = "command", "LOGON"
RETURN_CODE, VIRTUAL_CPU, TOTAL_CPU, ELAPSED = "return code", "virtual CPU", "total CPU", "elapsed"
"""Fields of report `COMMAND`, in order; CPU and elapsed times in seconds."""

READY = re.compile(
    r"Ready(?:\((-?\d{1,10})\))?;(?: +T=(\d{1,9}\.\d\d)/(\d{1,9}\.\d\d) +(\d\d:\d\d:\d\d))?",
    re.ASCII | re.IGNORECASE,
)
_READY_EXAMPLE = "Ready; T=0.01/0.01 12:00:00"
_BEGINS_READY = re.compile(r"Ready *[;(]", re.IGNORECASE)
# prefix of guests with several virtual CPUs
_CPU_PREFIX = re.compile(r"\A[0-3][0-9A-F]:(?!\d\d:\d\d) ?", re.ASCII)
# time printed by TERMINAL TIMESTAMP, and in messages from other users
_STAMP = re.compile(r"\A\d\d:\d\d:\d\d +(?=\S)", re.ASCII)
_PROMPT = re.compile(r"\A=+> *")
_TO_CP = re.compile(r"\A(?:#?CP +)+(?=\S)")
_MESSAGE = re.compile(r" *[A-Z]{3,8}\d{3,5}[A-Z] |\d\d:\d\d:\d\d |\* ?(?:MSG|WNG)\b", re.ASCII)
_LOGON = re.compile(r"(?:LOGON|RECONNECTED) AT (\d\d:\d\d:\d\d\b.{0,60})", re.ASCII)
_ENDS_SESSION = ("LOGOFF", "LOGOUT", "LOG", "DISCONN", "DISC")
_MAX_COMMAND_LENGTH = 200
# Line breaks due to the screen's width: end of the first line, pattern of the rest.
_WRAPS = (
    (" R/W", re.compile(r"\d{1,12} +(?:CYL|BLK) +ON .*", re.ASCII)),
    (" R/O", re.compile(r"\d{1,12} +(?:CYL|BLK) +ON .*", re.ASCII)),
    ("SUBCHANNEL", re.compile(r"= [0-9A-F]{4}", re.ASCII)),
    ("SUBCHANNEL =", re.compile(r"[0-9A-F]{4}", re.ASCII)),
    (" saved in", re.compile(r"file ?id \d{1,5}\.?", re.ASCII | re.IGNORECASE)),
    (" defined in", re.compile(r"file ?id \d{1,5}\.?", re.ASCII | re.IGNORECASE)),
    (" in fileid", re.compile(r"\d{1,5}\.?", re.ASCII)),
)
_VALUE_BEFORE = re.compile(r"SUBCHANNEL(?: =)?\Z")  # the rest of the line has no number to read


class CmsListing(LineListing):
    """Commands and responses of a transcript; see docs/formats/cms-console.md.

    ``t`` is the time of the ready message that ends a command. A transcript without times is read as
    a whole.

    Refused are a damaged ready message, and a text without any ready message or known response.
    """

    name = "cms-console"
    title = "transcript of a CMS console"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        # info of the open command; moved to `info` at its end
        self._pending_info: dict[str, str] = {}
        self._responses = ResponseParser(self.rows, self.warnings, self._pending_info)
        self._command: str | None = None
        self._first_record = self._n_other_lines = self._n_ready = self._days = 0
        self._time_of_day: int | None = None  # of the last timed ready message
        # unwrapped time of the last ready message, None if it had none
        self._previous: float | None = None
        # text and number of a line that the screen's width may have broken
        self._wrapped, self._wrapped_at = "", 0
        self._value_at = self._n_lines = 0  # line that holds the value; last line

    def parse(self, part: ListingPart) -> RecordsWithLines | None:
        for number, line, is_truncated in part.numbered_lines():
            self.parse_line(line, number, is_truncated)
        if part.is_last:
            self.finish()
            return self.rows.take()
        if self._time_of_day is None:
            return None
        count, self._first_record = self._first_record, 0  # of the commands that ended
        self._responses.drop_rows(count)
        return self.rows.take(count)

    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        """Rejoin lines that the screen's width broke, without the CPU's prefix, and parse them."""
        line, wrapped = _CPU_PREFIX.sub("", line.replace("\t", " ")).strip(), self._wrapped
        self._n_lines = number
        if wrapped and not line:
            return
        if wrapped and any(wrapped.endswith(end) and rest.fullmatch(line) for end, rest in _WRAPS):
            self._value_at = self._value_at if _VALUE_BEFORE.search(wrapped) else number
            line = f"{wrapped} {line}"
        else:
            self._parse_wrapped()
            self._value_at = number
        self._wrapped = ""
        if not is_truncated and any(line.endswith(end) for end, _ in _WRAPS):
            self._wrapped, self._wrapped_at = line, number
        else:
            self._parse_whole_line(line, number, is_truncated)

    def _parse_wrapped(self) -> None:
        """Parse a line that seemed to be broken and is whole."""
        if self._wrapped:
            self._parse_whole_line(self._wrapped, self._wrapped_at, False)

    def _parse_whole_line(self, line: str, number: int, is_truncated: bool) -> None:
        self.rows.line = self._value_at
        if match := READY.fullmatch(line):
            self._end_command(match, number)
        elif not line:
            return
        elif is_truncated:
            self.warnings.add(number, TRUNCATED_LINE)
        elif _BEGINS_READY.match(line):
            raise self.error("a damaged ready message", number, _READY_EXAMPLE, line)
        elif logon := _LOGON.fullmatch(line):
            self._command = LOGON
            # the text before is a screen's heading, not a command
            self._responses.discard_definitions()
            self._responses.begin_command(LOGON)
            self._pending_info.setdefault("logon", logon[1])
        elif self._responses.parse_line(_STAMP.sub("", line), number):
            return
        elif self._command is None and not _MESSAGE.match(line):
            command = " ".join(_PROMPT.sub("", line).upper().split())
            self._command = _TO_CP.sub("", command)[:_MAX_COMMAND_LENGTH].strip()
            self._responses.begin_command(self._command, number)
        else:
            self._n_other_lines += 1

    def _end_command(self, match: re.Match[str], number: int) -> None:
        """End a command at its ready message."""
        code = int(match[1] or 0)
        if code:
            self._responses.discard_definitions()
        numbers: dict[str, float] = {RETURN_CODE: code}
        t: float | None = None
        if match[4] is not None:
            t = self._unwrap_clock(clock_seconds(match[4], file=self.file, line=number), number)
            self.rows.set_time(self._first_record, t)
            numbers |= {VIRTUAL_CPU: float(match[2]), TOTAL_CPU: float(match[3])}
            if numbers[VIRTUAL_CPU] > numbers[TOTAL_CPU]:
                self.warnings.add(
                    number, "the virtual CPU time exceeds the total CPU time, which includes it"
                )
            if self._previous is not None and t >= self._previous and self._command != LOGON:
                numbers[ELAPSED] = t - self._previous
        for field, value in numbers.items():
            time = math.nan if t is None else t
            self.rows.add(COMMAND, COMMAND, self._command or "", field, value, time)
        self._previous, self._command, self._first_record = t, None, len(self.rows)
        self._n_ready += 1
        self._reset_command()

    def _reset_command(self) -> None:
        self.info = self._pending_info | self.info
        self._pending_info.clear()
        self._responses.begin_command("")

    def _unwrap_clock(self, seconds: int, number: int) -> float:
        if self._time_of_day is not None and seconds < self._time_of_day:
            if self._time_of_day - seconds > HALF_DAY:
                self._days += 1
            else:
                self.warnings.add(number, "the time of day decreases by less than half a day")
        self._time_of_day, self.clock = seconds, "time-of-day"
        return float(seconds + DAY * self._days)

    def finish(self) -> None:
        """End the transcript; records after the last ready message are dropped.

        They have no time.
        """
        self._parse_wrapped()
        is_incomplete = len(self.rows) > self._first_record or bool(self._command)
        if self._n_ready and is_incomplete and self._command not in _ENDS_SESSION:
            self.rows.drop(self._first_record, len(self.rows))
            name = f" of {self._command!r}" if self._command else ""
            self.warnings.add(
                self._n_lines,
                f"the transcript ends before the ready message{name}; the response was left out",
            )
        if not self._n_ready:
            self._reset_command()
        if not self._n_ready and not len(self.rows):
            problem = "no ready message and no known response of CP"
            raise self.error(problem, 1, _READY_EXAMPLE)
        if self._n_other_lines:
            self.info["other lines"] = str(self._n_other_lines)


FORMAT = ListingFormat(CmsListing)
