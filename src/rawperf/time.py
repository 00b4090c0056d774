"""Run times of commands, printed by bash's ``time`` and GNU time, one block of lines each.

Sources: the default of TIMEFORMAT in bash's manual, and ``time.c`` of GNU time (``default_format``,
``posix_format``, ``longstats``).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rawperf.base import RecordBuilder
from rawperf.core.errors import FileReader
from rawperf.core.sample_rows import HOST
from rawperf.listing import Listing, ListingFormat, ListingPart, RecordsWithLines
from rawperf.recognition import detect_other_shell

SHELL, GNU, VERBOSE = "shell", "gnu", "gnu -v"
"""Values of `report`: real, user, sys (bash, and ``-p`` of either); GNU time's two lines; ``time
-v``.
"""

SHELL_FIELDS = ("real", "user", "sys")
GNU_FIELDS = (
    "user",
    "system",
    "elapsed",
    "%CPU",
    "avgtext",
    "avgdata",
    "maxresident",
    "inputs",
    "outputs",
    "major pagefaults",
    "minor pagefaults",
    "swaps",
)
ELAPSED = "Elapsed (wall clock) time (h:mm:ss or m:ss)"
PERCENT = "Percent of CPU this job got"
USER, LAST = "User time (seconds)", "Exit status"
VERBOSE_FIELDS = (
    USER,
    "System time (seconds)",
    PERCENT,
    ELAPSED,
    "Average shared text size (kbytes)",
    "Average unshared data size (kbytes)",
    "Average stack size (kbytes)",
    "Average total size (kbytes)",
    "Maximum resident set size (kbytes)",
    "Average resident set size (kbytes)",
    "Major (requiring I/O) page faults",
    "Minor (reclaiming a frame) page faults",
    "Voluntary context switches",
    "Involuntary context switches",
    "Swaps",
    "File system inputs",
    "File system outputs",
    "Socket messages sent",
    "Socket messages received",
    "Signals delivered",
    "Page size (bytes)",
    LAST,
)
COMMAND = "Command being timed"
# a command with line breaks in its arguments, such as sh -c '...', spans several lines
_COMMAND_LINES = 200

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
_GNU_2 = re.compile(
    rf"{_INT}inputs\+{_INT}outputs \({_INT}major\+{_INT}minor\)pagefaults {_INT}swaps", re.ASCII
)
_BEGINS_GNU = re.compile(r"\d(?:elapsed|avgtext|avgdata|maxresident|inputs\+)|\)pagefaults")
_COMMAND_LINE = re.compile(rf'\s*{COMMAND}: "(.*)')
_OTHER_BLOCK = re.compile(
    rf"{COMMAND}: |{_BEGINS_SHELL.pattern}$|(?:{'|'.join(re.escape(name) for name in VERBOSE_FIELDS)}): "
    rf"|.*(?:{_BEGINS_GNU.pattern})",
    re.ASCII,
)
_VERBOSE_NUMBER = re.compile(r"\d{1,18}|\d{1,12}\.\d\d", re.ASCII)
_HOURS = re.compile(r"(?:(\d{1,9}):)?(\d{1,9}):(\d\d)(?:\.(\d\d))?", re.ASCII)


@dataclass(frozen=True)
class TimeBlock:
    """Output for one command."""

    report: str
    command: str  # from ``time -v``, else empty
    # value and line, from 1, by field; times in seconds, the rest as printed
    fields: dict[str, tuple[float, int]]
    end: int  # index of the first line after the block


class TruncatedBlockError(Exception):
    """The file is truncated within a block."""


def _parse_seconds(text: str) -> float | None:
    """Parse ``[h:]m:ss[.cc]`` as seconds, exact to the hundredth; None for anything else."""
    match = _HOURS.fullmatch(text)
    if match is None or int(match[3]) > 59 or (match[1] and int(match[2]) > 59):
        return None
    return (
        (int(match[1] or 0) * 60 + int(match[2])) * 6000 + int(match[3]) * 100 + int(match[4] or 0)
    ) / 100


class TimeBlockParser(FileReader):
    """Parser of blocks in a file's lines; `is_complete` is False if the last line has no line end."""

    def __init__(self, lines: Sequence[str], is_complete: bool, file: str) -> None:
        self.lines, self.is_complete, self.file = lines, is_complete, file

    def parse_at(self, index: int) -> TimeBlock | None:
        """Parse the block that begins at an index; None if there is none.

        Raises `FormatError`: a damaged block; `TruncatedBlockError`: the file ends within it.
        """
        line = self.lines[index].strip()
        if _BEGINS_SHELL.fullmatch(line):
            return self._parse_shell(index)
        if _BEGINS_GNU.search(line):
            return self._parse_gnu(index)
        return self._parse_verbose(index) if _COMMAND_LINE.match(line) else None

    def _damage_error(self, problem: str, index: int, expected: str) -> Exception:
        """Error of an invalid line, or of truncation if it is the last line without a line end."""
        if index >= len(self.lines) or (index == len(self.lines) - 1 and not self.is_complete):
            return TruncatedBlockError()
        return self.error(problem, index + 1, expected, self.lines[index])

    def _line(self, index: int, digits_last: bool = False) -> str:
        """Get a line; raises `TruncatedBlockError` beyond the end, or if digits may be missing."""
        if index >= len(self.lines) or (
            digits_last and index == len(self.lines) - 1 and not self.is_complete
        ):
            raise TruncatedBlockError
        return self.lines[index].strip()

    def _parse_shell(self, start: int) -> TimeBlock:
        is_posix = _POSIX.fullmatch(self.lines[start].strip()) is not None
        fields: dict[str, tuple[float, int]] = {}
        for index, name in enumerate(SHELL_FIELDS, start=start):
            match = (_POSIX if is_posix else _BASH).fullmatch(
                self._line(index, digits_last=is_posix)
            )
            if match is None or match[1] != name:
                expected = f"{name} 0.00" if is_posix else f"{name}, a tab and 0m0.000s"
                raise self._damage_error(
                    f"not the {name} line of a block of real, user, sys", index, expected
                )
            if is_posix:
                seconds = float(f"{match[2]}.{match[3]}")
            else:
                seconds = (int(match[2]) * 60_000 + int(match[3]) * 1000 + int(match[4])) / 1000
            fields[name] = seconds, index + 1
        return TimeBlock(SHELL, "", fields, start + len(fields))

    def _parse_gnu(self, start: int) -> TimeBlock:
        first = _GNU_1.fullmatch(self._line(start))
        elapsed = _parse_seconds(first[3]) if first else None
        if first is None or elapsed is None:
            expected = "0.00user 0.00system 0:00.00elapsed 0%CPU (...)k"
            raise self._damage_error("not the first line of GNU time", start, expected)
        second = _GNU_2.fullmatch(self._line(start + 1))
        if second is None:
            expected = "0inputs+0outputs (0major+0minor)pagefaults 0swaps"
            raise self._damage_error("not the second line of GNU time", start + 1, expected)
        fields: dict[str, tuple[float, int]] = {}
        for position, (name, text) in enumerate(
            zip(GNU_FIELDS, (*first.groups(), *second.groups()), strict=True)
        ):
            if "?" not in text:
                value = elapsed if name == "elapsed" else float(text)
                fields[name] = value, start + 1 + (position >= len(first.groups()))
        return TimeBlock(GNU, "", fields, start + 2)

    def _parse_verbose(self, start: int) -> TimeBlock:
        command, index = self._parse_command(start)
        fields: dict[str, tuple[float, int]] = {}
        has_unknown_percent = False
        while LAST not in fields:
            name, _, text = self._line(index, digits_last=True).rpartition(": ")
            value = _parse_seconds(text) if name == ELAPSED else None
            if name != ELAPSED and _VERBOSE_NUMBER.fullmatch(
                text.removesuffix("%") if name == PERCENT else text
            ):
                value = float(text.removesuffix("%"))
            is_unknown_percent = (
                name == PERCENT and text in ("?%", "??%") and not has_unknown_percent
            )
            if (
                name not in VERBOSE_FIELDS
                or name in fields
                or (value is None and not is_unknown_percent)
            ):
                raise self._damage_error(
                    "not a line of time -v",
                    index,
                    "'name: number', each name once, Exit status last",
                )
            has_unknown_percent = has_unknown_percent or is_unknown_percent
            index += 1
            if value is not None:
                fields[name] = value, index
        missing = [name for name in (USER, "System time (seconds)", ELAPSED) if name not in fields]
        if missing:
            problem = f"the block lacks {missing[0]!r}"
            raise self.error(problem, start + 1, "the complete output of time -v")
        return TimeBlock(VERBOSE, command, fields, index)

    def _parse_command(self, start: int) -> tuple[str, int]:
        """Command, joined to one line, and the index after it."""
        match = _COMMAND_LINE.match(self._line(start))
        assert match is not None
        parts, index = [match[1]], start
        while not (parts[-1].endswith('"') and self._line(index + 1).startswith(USER)):
            index += 1
            if index - start > _COMMAND_LINES or _OTHER_BLOCK.match(self._line(index)):
                raise self._damage_error(
                    "the command has no end", start, f'a closing " and then {USER}'
                )
            parts.append(self._line(index))
        return " ".join(" ".join(parts)[:-1].split()), index + 1


# Printed by GNU time before a block if the command failed.
_STATUS = re.compile(
    r"Command (exited with )?(non-zero status|terminated by signal|stopped by signal) (\d{1,9})",
    re.A,
)
_MAX_LABEL_LENGTH = 300
# Lines that name the timed command: a shell's trace, a prompt or a comment, a heading.
_TRACE = re.compile(r"\++ (\S.*)")
_PROMPT = re.compile(r"(?:\[[^\]]{1,80}\]|(?=[^\s#$]*[@:~/])[^\s#$]{1,80}|) ?[#$] +(\S.*)")
_HEADING = re.compile(r"(={2,9})>? +(\S(?:.*\S)?) +<?\1")
_TIME_WORD = re.compile(r"\A(?:\\|command +)?(?:/\S*/)?time(?: +-[apvq]+)*(?: +|$)")


class TimeListing(Listing):
    """Blocks of ``time``; other lines are counted, or name the entity if they announce a command.

    See docs/formats/time.md. Refused are a damaged block, another shell's ``time``, and a file
    without any block.
    """

    name = "time"
    title = "time of bash, and GNU time"
    reads_whole = True

    def parse(self, part: ListingPart) -> RecordsWithLines:
        *lines, rest = part.text.split("\n")
        lines += [rest] if rest else []
        time_blocks = TimeBlockParser(lines, not rest, self.file)
        blocks: list[tuple[TimeBlock, str]] = []
        preceding = _PrecedingLines()
        n_other_lines = index = 0
        while index < len(lines):
            line = lines[index].rstrip()
            if not line:
                index += 1
                continue
            if tool := detect_other_shell(line):
                problem = f"this is the output of time in {tool}"
                remedy = "time the command with bash, or with GNU's /usr/bin/time."
                raise self.error(problem, index + 1, "bash's time or GNU time", line, remedy)
            try:
                block = time_blocks.parse_at(index)
            except TruncatedBlockError:
                sentence = (
                    "the file is truncated within the block that begins here, which was left out"
                )
                self.warnings.add(index + 1, sentence)
                break
            if block is None:
                n_other_lines += not preceding.parse_line(line, index + 1)
                index += 1
                continue
            label = (block.command or preceding.label())[:_MAX_LABEL_LENGTH].strip()
            # the exit status is printed before the block
            blocks.append((replace(block, fields=preceding.status | block.fields), label))
            preceding, index = _PrecedingLines(), block.end
        if not blocks:
            raise self.error(
                "no complete block of time output in the file",
                index + 1 if index < len(lines) else 1,
                "the lines of bash's time or of GNU time",
            )
        if n_other_lines:
            self.info["other lines"] = str(n_other_lines)
        return self._records(blocks)

    def _records(self, blocks: list[tuple[TimeBlock, str]]) -> RecordsWithLines:
        """Records of the blocks with their entities, which are numbered if any has several."""
        counts = Counter((block.report, entity) for block, entity in blocks)
        is_repeated = max(counts.values()) > 1
        self.clock = "sample" if is_repeated else "none"
        seen: Counter[tuple[str, str]] = Counter()
        rows = RecordBuilder()
        for block, entity in blocks:
            key = (block.report, entity)
            t = float(seen[key]) if is_repeated else math.nan
            for field, (value, number) in block.fields.items():
                rows.line = number
                rows.add(block.report, "command" if entity else HOST, entity, field, value, t)
            seen[key] += 1
        return rows.take()


class _PrecedingLines:
    """Information on a block from the lines before it."""

    def __init__(self) -> None:
        self.status: dict[str, tuple[float, int]] = {}
        self._label = self._timed = ""

    def parse_line(self, line: str, number: int) -> bool:
        """Parse a line outside of blocks; False if it holds no information."""
        if match := _STATUS.fullmatch(line):
            self.status = {match[2]: (float(match[3]), number)}
            return True
        for pattern, group in ((_TRACE, 1), (_PROMPT, 1), (_HEADING, 2)):
            if match := pattern.fullmatch(line):
                self._label, is_timed = _TIME_WORD.subn("", match[group])
                self._timed = self._label if is_timed else self._timed
                return True
        return False

    def label(self) -> str:
        """Last command that was run by ``time``, else the last label."""
        return " ".join((self._timed or self._label).split())


FORMAT = ListingFormat(TimeListing)
