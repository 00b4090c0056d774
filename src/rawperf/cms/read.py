"""Transcripts of a CMS console: what each command cost, by its ready message, and what CP
answered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from rawperf.base import Reading, Streaming
from rawperf.cms.responses import Responses
from rawperf.core.errors import FormatError
from rawperf.pieces import Pieces, line_end, recoded
from rawperf.rows import RecordRows, Warnings, split_lines
from rawperf.text import DAY, HALF_DAY, clock_seconds, surest

COMMAND, LOGON, SAVED = "command", "LOGON", "HCPNSS440I"
RETURN_CODE, VIRTUAL_CPU, TOTAL_CPU, ELAPSED = "return code", "virtual CPU", "total CPU", "elapsed"
"""Fields of report `COMMAND`, in the order in which they stand; CPU and elapsed times in
seconds.
"""

READY = re.compile(
    r"Ready(?:\((-?\d{1,10})\))?;(?: +T=(\d{1,9}\.\d\d)/(\d{1,9}\.\d\d) +(\d\d:\d\d:\d\d))?",
    re.ASCII | re.IGNORECASE,
)
_BEGINS_READY = re.compile(r"Ready *[;(]", re.IGNORECASE)
_CPU_PREFIX = re.compile(
    r"\A[0-3][0-9A-F]:(?!\d\d:\d\d) ?", re.ASCII
)  # of a guest with several virtual CPUs
_STAMP = re.compile(
    r"\A\d\d:\d\d:\d\d +(?=\S)", re.ASCII
)  # of TERMINAL TIMESTAMP, and of messages from others
_PROMPT = re.compile(r"\A=+> *")
_TO_CP = re.compile(r"\A#?CP +(?=\S)")
_MESSAGE = re.compile(r" *[A-Z]{3,8}\d{3,5}[A-Z] |\d\d:\d\d:\d\d |\* ?(?:MSG|WNG)\b", re.ASCII)
_LOGON = re.compile(r"(?:LOGON|RECONNECTED) AT (\d\d:\d\d:\d\d\b.{0,60})", re.ASCII)
_ENDS_SESSION = ("LOGOFF", "LOGOUT", "LOG", "DISCONN", "DISC")
_LONGEST_COMMAND = 200
# Where the width of a screen breaks a line, and what its rest looks like.
_WRAPS = (
    (" R/W", re.compile(r"\d{1,12} +(?:CYL|BLK) +ON .*", re.ASCII)),
    (" R/O", re.compile(r"\d{1,12} +(?:CYL|BLK) +ON .*", re.ASCII)),
    ("SUBCHANNEL", re.compile(r"= [0-9A-F]{4}", re.ASCII)),
    ("SUBCHANNEL =", re.compile(r"[0-9A-F]{4}", re.ASCII)),
    (" saved in", re.compile(r"file ?id \d{1,5}\.?", re.ASCII | re.IGNORECASE)),
    (" defined in", re.compile(r"file ?id \d{1,5}\.?", re.ASCII | re.IGNORECASE)),
    (" in fileid", re.compile(r"\d{1,5}\.?", re.ASCII)),
)
_VALUE_BEFORE = re.compile(
    r"SUBCHANNEL(?: =)?\Z"
)  # what is broken off behind it is no number that is read

_SNIFFS = (
    (
        re.compile(
            rb"^(?:\d\d: ?)?Ready(?:\(-?\d+\))?; +T=\d+\.\d\d/\d+\.\d\d \d\d:\d\d:\d\d\s*$",
            re.M | re.I,
        ),
        0.95,
    ),
    (
        re.compile(
            rb"^(?:\d\d: ?)?(?:HCPNS[SD]440I |FILE +FILENAME +FILETYPE +(?:MINSIZE +)?BEGPAG)", re.M
        ),
        0.9,
    ),
    (
        re.compile(
            rb"^(?:\d\d: ?)?DASD +[0-9A-F]{4} \d{4} +\S+ +R/[WO] +\d+ +(?:CYL|BLK) +ON DASD ", re.M
        ),
        0.85,
    ),
    (re.compile(rb"^(?:\d\d: ?)?Ready(?:\(-?\d+\))?;\s*$", re.M | re.I), 0.55),
)


class CmsConsole(Streaming):
    """Reader of console transcripts; see docs/formats/cms-console.md."""

    name = "cms-console"
    title = "transcript of a CMS console"

    def sniff(self, head: bytes) -> float:
        """Sure of a ready message with its times, nearly sure of CP's responses, not quite of a
        short ready message.
        """
        return surest(_SNIFFS, head)

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a transcript; ``t`` is the time of the ready message that ends a command.

        One without times is read as a whole.

        Raises `FormatError` at a damaged ready message, and in a text without any ready message or
        known response.
        """
        session, strange = _Session(file), Warnings(file)
        pieces = Pieces(stream, line_end, file)
        number = given = 0
        for number, line, value_at, cut in _joined(_lines(pieces, strange, file)):
            session.rows.line = value_at
            session.line(line, number, cut)
            if pieces.line > given and not pieces.last and session.settled():
                given = pieces.line
                yield session.taken(strange, last=False)
        session.finish(number)
        yield session.taken(strange, last=True)


class _Session:
    """The commands of a transcript, one after the other."""

    def __init__(self, file: str) -> None:
        self.file, self.warnings = file, Warnings(file)
        self.rows, self.info = RecordRows(), dict[str, str]()
        self.said: dict[
            str, str
        ] = {}  # info of the command that goes on; belongs to `info` once it has ended
        self.responses = Responses(self.rows, self.warnings, self.said)
        self.command: str | None = None
        self.since = self.others = self.ready = self.days = 0
        self.clock: int | None = None  # time of day of the last timed ready message
        self.previous: float | None = (
            None  # the same of the last ready message, if it had a time; grows past midnight
        )

    def line(self, line: str, number: int, cut: bool) -> None:
        """Take one line; `cut` for a last line without its line end."""
        if match := READY.fullmatch(line):
            self._ends(match, number)
        elif not line:
            return
        elif cut:
            self.warnings.add(number, "the file breaks off; this line was left out")
        elif _BEGINS_READY.match(line):
            raise FormatError(
                "a damaged ready message",
                file=self.file,
                line=number,
                expected="Ready; T=0.01/0.01 12:00:00",
                found=line,
            )
        elif logon := _LOGON.fullmatch(line):
            self.command = LOGON
            self.responses.failed()  # what stood before is a screen's heading, no command
            self.responses.begin(LOGON)
            self.said.setdefault("logon", logon[1])
        elif self.responses.takes(_STAMP.sub("", line), number):
            return
        elif self.command is None and not _MESSAGE.match(line):
            words = " ".join(_PROMPT.sub("", line).upper().split())
            self.command = _TO_CP.sub("", words)[:_LONGEST_COMMAND].strip()
            self.responses.begin(self.command)
        else:
            self.others += 1

    def _ends(self, match: re.Match[str], number: int) -> None:
        """A ready message ends a command."""
        code = int(match[1] or 0)
        if code:
            self.responses.failed()
        t = (
            None
            if match[4] is None
            else self._time(clock_seconds(match[4], file=self.file, line=number), number)
        )
        if t is not None:
            self.rows.timed(self.since, t)
        numbers: dict[str, float] = {RETURN_CODE: code}
        if t is not None:
            numbers |= {VIRTUAL_CPU: float(match[2]), TOTAL_CPU: float(match[3])}
            if numbers[VIRTUAL_CPU] > numbers[TOTAL_CPU]:
                self.warnings.add(
                    number, "the virtual CPU time is larger than the total, of which it is a part"
                )
            if self.previous is not None and t >= self.previous and self.command != LOGON:
                numbers[ELAPSED] = t - self.previous
        for field, value in numbers.items():
            self.rows.add(
                COMMAND, COMMAND, self.command or "", field, value, float("nan") if t is None else t
            )
        self.previous, self.command, self.since = t, None, len(self.rows)
        self.ready += 1
        self._ended()

    def _ended(self) -> None:
        self.info = self.said | self.info
        self.said.clear()
        self.responses.begin("")

    def _time(self, clock: int, number: int) -> float:
        if self.clock is not None and clock < self.clock:
            if self.clock - clock > HALF_DAY:
                self.days += 1
            else:
                self.warnings.add(number, "the time of day goes back by less than half a day")
        self.clock = clock
        return float(clock + DAY * self.days)

    def settled(self) -> bool:
        """Whether there are commands, all of which have ended, and whose clock is known."""
        return self.clock is not None and self.since == len(self.rows) > 0

    def finish(self, lines: int) -> None:
        """Take the end, behind so many lines; facts behind the last ready message have no time and
        are left out.
        """
        pending = len(self.rows) > self.since or bool(self.command)
        if self.ready and pending and self.command not in _ENDS_SESSION:
            self.rows.drop(self.since, len(self.rows))
            name = f" of {self.command!r}" if self.command else ""
            self.warnings.add(
                lines,
                f"the transcript ends before the ready message{name}, whose response was left out",
            )
        if not self.ready:
            self._ended()
        if not self.ready and not len(self.rows):
            raise FormatError(
                "no ready message and no response of CP that is known",
                file=self.file,
                line=1,
                expected="Ready; T=0.01/0.01 12:00:00",
            )
        if self.others:
            self.info["other lines"] = str(self.others)

    def taken(self, strange: Warnings, last: bool) -> Reading:
        """What was read since the last time."""
        records, lines = self.rows.frame(), self.rows.lines()
        self.rows.drop(0, len(self.rows))
        self.since = 0
        said = (*strange.new(last), *self.warnings.new(last))
        return Reading(
            records, "none" if self.clock is None else "time-of-day", dict(self.info), said, lines
        )


def _lines(pieces: Pieces, strange: Warnings, file: str) -> Iterator[tuple[str, bool, bool]]:
    """The lines of a file: whether it is the last one, and whether its line end is missing."""
    held: str | None = None
    whole = True
    for piece in pieces:
        lines, whole = split_lines(recoded(piece, pieces.line, strange, file).decode())
        for line in lines:
            if held is not None:
                yield held, False, False
            held = line
    if held is not None:
        yield held, True, not whole


def _joined(lines: Iterable[tuple[str, bool, bool]]) -> Iterator[tuple[int, str, int, bool]]:
    """Numbers and lines without the CPU's prefix; a line that the screen's width broke is one
    again.

    The third is the number of the line on which the value of such a line stands, the fourth whether
    the line is cut.
    """
    begun, begun_at, value_at = "", 0, 0
    for number, (raw, last, cut) in enumerate(lines, start=1):
        line = _CPU_PREFIX.sub("", raw.replace("\t", " ")).strip()
        if begun and not line and not last:
            continue
        if begun and any(begun.endswith(end) and rest.fullmatch(line) for end, rest in _WRAPS):
            value_at = value_at if _VALUE_BEFORE.search(begun) else number
            line = f"{begun} {line}"
        else:
            if begun:
                yield begun_at, begun, value_at, False
            value_at = number
        begun = ""
        if not last and any(line.endswith(end) for end, _ in _WRAPS):
            begun, begun_at = line, number
        else:
            yield number, line, value_at, cut


FORMAT = CmsConsole()
