"""How long commands took, as bash's ``time`` and GNU time print it."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np

from rawperf.base import Reading
from rawperf.core.errors import FormatError
from rawperf.rows import WHOLE, RecordRows, Warnings, split_lines
from rawperf.text import decode, surest
from rawperf.time.blocks import BrokenOffError, TimeBlock, TimeBlocks, other_tool

# Printed by GNU time before a block when the command did not end well.
_STATUS = re.compile(
    r"Command (exited with )?(non-zero status|terminated by signal|stopped by signal) (\d{1,9})",
    re.A,
)
_LONGEST_LABEL = 300
# What announces the command that is timed: a shell's trace, a prompt or a comment, a heading.
_TRACE = re.compile(r"\++ (\S.*)")
_PROMPT = re.compile(r"(?:\[[^\]]{1,80}\]|(?=[^\s#$]*[@:~/])[^\s#$]{1,80}|) ?[#$] +(\S.*)")
_HEADING = re.compile(r"(={2,9})>? +(\S(?:.*\S)?) +<?\1")
_TIME_WORD = re.compile(r"\A(?:\\|command +)?(?:/\S*/)?time(?: +-[apvq]+)*(?: +|$)")

_SNIFFS = (
    (re.compile(rb"^[ \t]*real[ \t]+\d+m\d+[.,]\d+s[ \t\r]*\n[ \t]*user[ \t]+\d+m", re.M), 0.95),
    (
        re.compile(
            rb"^[ \t]*real[ \t]+\d+[.,]\d+[ \t\r]*\n[ \t]*user[ \t]+\d+[.,]\d+[ \t\r]*$", re.M
        ),
        0.9,
    ),
    (re.compile(rb"^[ \t]*\d+\.\d\duser \d+\.\d\dsystem [\d:.]+elapsed ", re.M), 0.95),
    (re.compile(rb'^[ \t]*Command being timed: "', re.M), 0.95),
)


class TimeFormat:
    """Reader of what ``time`` prints; see docs/formats/time.md."""

    name = "time"
    title = "time of bash, and GNU time"

    def sniff(self, head: bytes) -> float:
        """Sure of the first lines of a block; 0.6 for another shell's, so that it is refused by
        name.
        """
        if found := surest(_SNIFFS, head):
            return found
        lines = head.decode("latin-1").split("\n")
        return 0.6 if any(other_tool(line.rstrip()) for line in lines) else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read all blocks; other lines are counted, and those that announce a command name the
        entity.

        Raises `FormatError` at a damaged block, another shell's ``time``, and in a file without any
        block.
        """
        text, said = decode(data, file)
        lines, whole = split_lines(text)
        warnings = Warnings(file, said)
        found = TimeBlocks(lines, whole, file)
        blocks: list[tuple[TimeBlock, str]] = []
        before = _Before()
        others = at = 0
        while at < len(lines):
            line = lines[at].rstrip()
            if not line:
                at += 1
                continue
            if tool := other_tool(line):
                raise FormatError(
                    f"this is {tool}'s time",
                    file=file,
                    line=at + 1,
                    expected="bash's time or GNU time",
                    found=line,
                    remedy="time the command with bash, or with /usr/bin/time of GNU.",
                )
            try:
                block = found.at(at)
            except BrokenOffError:
                warnings.add(
                    at + 1,
                    "the file breaks off within the block that begins here, which was left out",
                )
                break
            if block is None:
                others += not before.takes(line, at + 1)
                at += 1
                continue
            label = (block.command or before.label())[:_LONGEST_LABEL].strip()
            # how the command ended was said before, and comes first
            blocks.append((replace(block, fields=before.status | block.fields), label))
            before, at = _Before(), block.end
        if not blocks:
            raise FormatError(
                "no whole block of time in the file",
                file=file,
                line=at + 1 if at < len(lines) else 1,
                expected="the lines of bash's time or of GNU time",
            )
        # blocks of one entity are its samples 0, 1, ...; where no entity has several, there is
        # nothing to count
        times = Counter((block.report, entity) for block, entity in blocks)
        repeated = max(times.values()) > 1
        seen: Counter[tuple[str, str]] = Counter()
        rows = RecordRows()
        for block, entity in blocks:
            key = (block.report, entity)
            t = float(seen[key]) if repeated else np.nan
            for field, (value, number) in block.fields.items():
                rows.line = number
                rows.add(block.report, "command" if entity else WHOLE, entity, field, value, t)
            seen[key] += 1
        info = {"other lines": str(others)} if others else {}
        clock = "sample" if repeated else "none"
        return Reading(rows.frame(), clock, info, warnings.sentences(), rows.lines())


class _Before:
    """What the lines before a block say about it."""

    def __init__(self) -> None:
        self.status: dict[str, tuple[float, int]] = {}
        self._label = self._timed = ""

    def takes(self, line: str, number: int) -> bool:
        """Use a line that is none of a block's; False for one that says nothing."""
        if match := _STATUS.fullmatch(line):
            self.status = {match[2]: (float(match[3]), number)}
            return True
        for pattern, group in ((_TRACE, 1), (_PROMPT, 1), (_HEADING, 2)):
            if match := pattern.fullmatch(line):
                self._label, timed = _TIME_WORD.subn("", match[group])
                self._timed = self._label if timed else self._timed
                return True
        return False

    def label(self) -> str:
        """The last command that was called with ``time``, else the last label."""
        return " ".join((self._timed or self._label).split())


FORMAT = TimeFormat()
