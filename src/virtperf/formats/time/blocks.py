"""The blocks of lines that bash's ``time`` and GNU time print, one by one.

Sources: the default of TIMEFORMAT in bash's manual, and ``time.c`` of GNU time (``default_format``, ``posix_format``,
``longstats``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from virtperf.core.errors import FormatError

SHELL, GNU, VERBOSE = "shell", "gnu", "gnu -v"
"""Values of `report`: real, user, sys (bash, and ``-p`` of either); GNU time's two lines; ``time -v``."""

SHELL_FIELDS = ("real", "user", "sys")
GNU_FIELDS = (
    "user", "system", "elapsed", "%CPU", "avgtext", "avgdata", "maxresident",
    "inputs", "outputs", "major pagefaults", "minor pagefaults", "swaps",
)  # fmt: skip
ELAPSED = "Elapsed (wall clock) time (h:mm:ss or m:ss)"
PERCENT = "Percent of CPU this job got"
USER, LAST = "User time (seconds)", "Exit status"
VERBOSE_FIELDS = (
    USER, "System time (seconds)", PERCENT, ELAPSED,
    "Average shared text size (kbytes)", "Average unshared data size (kbytes)", "Average stack size (kbytes)",
    "Average total size (kbytes)", "Maximum resident set size (kbytes)", "Average resident set size (kbytes)",
    "Major (requiring I/O) page faults", "Minor (reclaiming a frame) page faults", "Voluntary context switches",
    "Involuntary context switches", "Swaps", "File system inputs", "File system outputs", "Socket messages sent",
    "Socket messages received", "Signals delivered", "Page size (bytes)", LAST,
)  # fmt: skip
COMMAND = "Command being timed"
_COMMAND_LINES = 200  # a command with line ends in its arguments, such as sh -c '...', is printed with them

_BASH = re.compile(r"(real|user|sys)[ \t]+(\d{1,9})m([0-5]?\d)[.,](\d{3})s", re.ASCII)
_POSIX = re.compile(r"(real|user|sys)[ \t]+(\d{1,12})[.,](\d{1,9})", re.ASCII)
_BEGINS_SHELL = re.compile(r"(?:real|user|sys)[ \t]+[-\d]\S*(?:[ \t]+\S+)?", re.ASCII)
_INT = r"(\d{1,18})"
_CLOCK = r"((?:\d{1,9}:)?\d{1,9}:\d\d(?:\.\d\d)?)"
_GNU_1 = re.compile(
    rf"(\d{{1,12}}\.\d\d)user (\d{{1,12}}\.\d\d)system {_CLOCK}elapsed (\?{{1,2}}|\d{{1,18}})%CPU"
    rf" \({_INT}avgtext\+{_INT}avgdata {_INT}maxresident\)k",
    re.ASCII,
)
_GNU_2 = re.compile(rf"{_INT}inputs\+{_INT}outputs \({_INT}major\+{_INT}minor\)pagefaults {_INT}swaps", re.ASCII)
_BEGINS_GNU = re.compile(r"\d(?:elapsed|avgtext|avgdata|maxresident|inputs\+)|\)pagefaults")
_COMMAND_LINE = re.compile(rf'\s*{COMMAND}: "(.*)')
_OTHER_BLOCK = re.compile(
    rf"{COMMAND}: |{_BEGINS_SHELL.pattern}$|(?:{'|'.join(re.escape(name) for name in VERBOSE_FIELDS)}): "
    rf"|.*(?:{_BEGINS_GNU.pattern})", re.ASCII,
)  # fmt: skip
_VERBOSE_NUMBER = re.compile(r"\d{1,18}|\d{1,12}\.\d\d", re.ASCII)
_HOURS = re.compile(r"(?:(\d{1,9}):)?(\d{1,9}):(\d\d)(?:\.(\d\d))?", re.ASCII)

# Other shells' own time: refused by name, since their lines say other things or say them with other roundings.
_OTHERS = (
    ("zsh", re.compile(r"(?:.*\s)?\d+[.,]\d\ds user \d+[.,]\d\ds system \d+% cpu [\d:.,]+ total")),
    ("tcsh", re.compile(r"\d+[.,]\d+u \d+[.,]\d+s \d+:[\d.:,]+\s+[\d.,]+%\s+\d+\+\d+k\s+\d+\+\d+io\s+\d+pf\+\d+w")),
    ("mksh", re.compile(r"\s*\d+m[\d.]+s real\s+\d+m[\d.]+s user\s+\d+m[\d.]+s system")),
    ("BSD", re.compile(r"\s*[\d.]+ real\s+[\d.]+ user\s+[\d.]+ sys")),
    ("ksh", re.compile(r"(?:real|user|sys)[ \t]+\d+m\d+[.,]\d\ds")),
    ("busybox", re.compile(r"(?:real|user|sys)[ \t]+\d+m \d+[.,]\d\ds")),
)


@dataclass(frozen=True)
class Block:
    """What was printed for one command.

    Attributes
    ----------
    report : str
        `SHELL`, `GNU` or `VERBOSE`.
    command : str
        The command as ``time -v`` prints it, else empty.
    fields : dict of str to float
        Times in seconds, the rest as printed.
    lines : dict of str to int
        The line of each field, from 1.
    end : int
        Place of the first line after the block.
    """

    report: str
    command: str
    fields: dict[str, float]
    lines: dict[str, int]
    end: int


class BrokenOffError(Exception):
    """The lines end within a block."""


def other_tool(line: str) -> str | None:
    """The shell whose own ``time`` printed the line, where it is one that is not read."""
    if not ("user" in line or "real" in line or "sys" in line or "pf+" in line):  # most lines, at little cost
        return None
    return next((name for name, pattern in _OTHERS if pattern.fullmatch(line)), None)


def block_at(lines: Sequence[str], at: int, whole: bool, file: str) -> Block | None:
    """The block that begins at place `at`; None where none does.

    Parameters
    ----------
    lines : sequence of str
    at : int
    whole : bool
        Whether the last line has its line end.
    file : str
        For messages.

    Raises
    ------
    FormatError
        A damaged block.
    BrokenOffError
        The file ends within the block.
    """
    line = lines[at].strip()
    reader = _Lines(lines, whole, file)
    if _BEGINS_SHELL.fullmatch(line):
        return reader.shell(at)
    if _BEGINS_GNU.search(line):
        return reader.gnu(at)
    return reader.verbose(at) if _COMMAND_LINE.match(line) else None


def seconds_of(text: str) -> float | None:
    """Seconds of ``[h:]m:ss[.cc]``, exact to the hundredth; None for anything else."""
    match = _HOURS.fullmatch(text)
    if match is None or int(match[3]) > 59 or (match[1] and int(match[2]) > 59):
        return None
    return ((int(match[1] or 0) * 60 + int(match[2])) * 6000 + int(match[3]) * 100 + int(match[4] or 0)) / 100


class _Lines:
    def __init__(self, lines: Sequence[str], whole: bool, file: str) -> None:
        self.lines, self.whole, self.file = lines, whole, file

    def damaged(self, problem: str, at: int, expected: str) -> Exception:
        """The error of a line that is not what it must be; the last one, without its line end, may be a part of it."""
        if at >= len(self.lines) or (at == len(self.lines) - 1 and not self.whole):
            return BrokenOffError()
        return FormatError(problem, file=self.file, line=at + 1, expected=expected, found=self.lines[at])

    def line(self, at: int, digits_last: bool = False) -> str:
        """A line; raises `BrokenOffError` behind the end, or in a last line whose final digits may be missing."""
        if at >= len(self.lines) or (digits_last and at == len(self.lines) - 1 and not self.whole):
            raise BrokenOffError
        return self.lines[at].strip()

    def shell(self, at: int) -> Block:
        pattern = _POSIX if _POSIX.fullmatch(self.lines[at].strip()) else _BASH
        fields: dict[str, float] = {}
        for place, name in enumerate(SHELL_FIELDS, start=at):
            match = pattern.fullmatch(self.line(place, digits_last=pattern is _POSIX))
            if match is None or match[1] != name:
                expected = f"{name} 0.00" if pattern is _POSIX else f"{name}, a tab and 0m0.000s"
                raise self.damaged(f"not the {name} line of a block of real, user, sys", place, expected)
            if pattern is _POSIX:
                fields[name] = float(f"{match[2]}.{match[3]}")
            else:
                fields[name] = (int(match[2]) * 60_000 + int(match[3]) * 1000 + int(match[4])) / 1000
        return Block(SHELL, "", fields, {name: line for line, name in enumerate(SHELL_FIELDS, start=at + 1)}, at + 3)

    def gnu(self, at: int) -> Block:
        first = _GNU_1.fullmatch(self.line(at))
        elapsed = seconds_of(first[3]) if first else None
        if first is None or elapsed is None:
            raise self.damaged("not the first line of GNU time", at, "0.00user 0.00system 0:00.00elapsed 0%CPU (...)k")
        second = _GNU_2.fullmatch(self.line(at + 1))
        if second is None:
            expected = "0inputs+0outputs (0major+0minor)pagefaults 0swaps"
            raise self.damaged("not the second line of GNU time", at + 1, expected)
        texts = dict(zip(GNU_FIELDS, (*first.groups(), *second.groups()), strict=True))
        fields = {name: float(text) for name, text in texts.items() if name != "elapsed" and "?" not in text}
        ordered = {name: fields.get(name, elapsed) for name in GNU_FIELDS if name in fields or name == "elapsed"}
        lines = {name: at + 1 + (place >= len(first.groups())) for place, name in enumerate(GNU_FIELDS)}
        return Block(GNU, "", ordered, lines, at + 2)

    def verbose(self, at: int) -> Block:
        command, place = self._command(at)
        fields: dict[str, float] = {}
        lines: dict[str, int] = {}
        unknown = False
        while LAST not in fields:
            name, _, text = self.line(place, digits_last=True).rpartition(": ")
            value = seconds_of(text) if name == ELAPSED else None
            if name != ELAPSED and _VERBOSE_NUMBER.fullmatch(text.removesuffix("%") if name == PERCENT else text):
                value = float(text.removesuffix("%"))
            unknown_now = name == PERCENT and text in ("?%", "??%") and not unknown
            if name not in VERBOSE_FIELDS or name in fields or (value is None and not unknown_now):
                raise self.damaged("not a line of time -v", place, "'name: number', each name once, Exit status last")
            unknown = unknown or unknown_now
            if value is not None:
                fields[name], lines[name] = value, place + 1
            place += 1
        missing = [name for name in (USER, "System time (seconds)", ELAPSED) if name not in fields]
        if missing:
            raise FormatError(f"the block lacks {missing[0]!r}", file=self.file, line=at + 1, expected="all of time -v")
        return Block(VERBOSE, command, fields, lines, place)

    def _command(self, at: int) -> tuple[str, int]:
        """The command, on one line, and the place behind it."""
        match = _COMMAND_LINE.match(self.line(at))
        assert match is not None
        parts, place = [match[1]], at
        while not (parts[-1].endswith('"') and self.line(place + 1).startswith(USER)):
            place += 1
            if place - at > _COMMAND_LINES or _OTHER_BLOCK.match(self.line(place)):
                raise self.damaged("the command has no end", at, f'a closing " and then {USER}')
            parts.append(self.line(place))
        return " ".join(" ".join(parts)[:-1].split()), place + 1
