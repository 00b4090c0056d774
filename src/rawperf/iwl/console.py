"""Console log of the WebSphere Studio Workload Simulator engine (iwlengine).

Two kinds of lines carry numbers: status lines, one per reporting interval and without any time, and
a summary at the end. Message ids do not name metrics (IWL0059I and IWL0060I are reused), so a
summary line is known by its whole label.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.base import Reading, Streaming, concat_readings
from rawperf.core.errors import FormatError
from rawperf.iwl.summary import (
    FLOAT,
    INT,
    Rest,
    data_attributes,
)
from rawperf.pieces import Pieces, recoded
from rawperf.rows import Warnings, record_table
from rawperf.text import strings, surest

STATUS_FIELDS = ("clients", "clients max", "rd", "wr", "pg", "web err", "resp avg", "pg elem/s")
STATUS_REPORT, SUMMARY_REPORT = "status", "summary"
_STATUS = re.compile(
    rf"^[ \t]*# clients[ \t]+{INT}[ \t]*/[ \t]*{INT}[ \t]*\|[ \t]*rd[ \t]+{FLOAT}[ \t]+MB/s[ \t]*\|"
    rf"[ \t]*wr[ \t]+{FLOAT}[ \t]+MB/s[ \t]*\|[ \t]*pg[ \t]+{INT}[ \t]*\|[ \t]*web err[ \t]+{INT}[ \t]*"
    rf"(?:\n[ \t]*)?\|[ \t]*resp avg[ \t]*=[ \t]*{FLOAT}[ \t]*\|[ \t]*pg elem/s[ \t]*=[ \t]*{FLOAT}[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_FIRST_HALF = re.compile(r"# clients .*\| web err \d+")
_SURELY_WHOLE = re.compile(
    r".*(?:\.\d{3}|/s|MB|[)>])"
)  # of a line without its newline; else digits may be missing
_BLOCK = re.compile(r"^[ \t]*<data\b[^<>\n]*>[ \t]*$", re.MULTILINE)
MAX_EMPTY_TOLD = 20
_SNIFFS = (
    (re.compile(rb"^[ \t]*# clients +\d+/\d+ \| rd ", re.MULTILINE), 0.95),
    (re.compile(rb"^[ \t]*IWL\d{4}[A-Z] ", re.MULTILINE), 0.9),
    (re.compile(rb"^[ \t]*Page (?:element )?throughput = ", re.MULTILINE), 0.8),
    (re.compile(rb"^[ \t]*<data\b[^<>\n]*\brunType=", re.MULTILINE), 0.7),
)


class IwlConsole(Streaming):
    """Reader of the console log; see docs/formats/iwl-console.md."""

    name = "iwl-console"
    title = "WebSphere Studio Workload Simulator console log"

    def sniff(self, head: bytes) -> float:
        """Sure of a status line or of an IWL message, nearly sure of the harness's labels without
        ids.
        """
        return surest(_SNIFFS, head)

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Status lines on the sample clock, then the summary with ``t`` NaN; of several machines
        one by one.

        A log with wrappers, which several machines may share, is read as a whole.

        Raises `FormatError`: neither a status nor a summary line; a damaged one; two summaries of
        one run; two runs of one machine.
        """
        said, run, wrapper = Warnings(file), _Run(file), False
        pieces = Pieces(stream, _line_end, file)
        for piece in pieces:
            text = recoded(piece, pieces.line, said, file).decode().replace("\r", "\n")
            wrapped = not run.samples and _BLOCK.search(text) is not None
            if wrapped and not pieces.last:
                pieces.back = len(piece)
                continue
            for match in _BLOCK.finditer(text) if not wrapped else ():
                if wrapper:
                    raise _outside(text[match.start() :], 1, file)
                wrapper = True
            cut: list[str] = []
            if pieces.last:
                text, cut = _without_cut_line(text, file, pieces.line)
            part = _whole(text, file) if wrapped else run.take(text, pieces.line + 1, pieces.last)
            if pieces.last and not run.samples and not len(part.records):
                raise FormatError(
                    "no status line and no summary line of iwlengine",
                    file=file,
                    found=text.strip()[:60] or "nothing",
                    expected="'# clients n/n | rd ...' or 'IWL0059I label = number'",
                )
            for sentence in (*cut, *part.warnings):
                said.say(sentence)
            if pieces.last or len(part.records):
                yield replace(part, warnings=said.new(pieces.last))


def _outside(text: str, line: int, file: str) -> FormatError:
    return FormatError(
        "a run outside of the wrappers of a log of several",
        file=file,
        line=line,
        expected="<data machine=...> around each",
        found=text[:60],
        remedy="split the log, one run a file.",
    )


def _line_end(lines: bytes) -> int:
    """Where the last line ends whose status is whole."""
    end = lines.rfind(b"\n") + 1
    begin = max(lines.rfind(b"\n", 0, end - 1), lines.rfind(b"\r", 0, end - 1)) + 1
    return begin if _FIRST_HALF.search(lines[begin:end].decode("utf-8", "replace")) else end


class _Run:
    """What one machine's log says, part by part."""

    def __init__(self, file: str, machine: str = "") -> None:
        self._file, self._machine, self._rest = file, machine, Rest(file)
        self.samples, self._pages, self._back = 0, -np.inf, False

    def take(self, text: str, first: int, last: bool) -> Reading:
        """The reading of a part of the log, which begins on line `first` of the file."""
        status, lines, other = _status_values(text, first)
        samples, width = status.shape
        counted = status[:, STATUS_FIELDS.index("pg")]
        back = np.flatnonzero(np.diff(counted, prepend=self._pages) < 0)
        self._pages = counted[-1] if samples else self._pages
        said: list[str] = []
        if len(back) and not self._back:
            self._back = True
            problem = "the page counter goes back; is this more than one run?"
            said.append(f"{self._file} line {lines[back[0], 0]}: {problem}")
        rest = self._rest
        rest.read(other, first)
        summary: dict[str, float] = {}
        if last:
            rest.finish()
            summary = rest.summary
        said += rest.warnings
        rest.warnings.clear()
        fields = (*STATUS_FIELDS, *summary)
        codes = np.concatenate([np.tile(np.arange(width), samples), np.arange(width, len(fields))])
        times = self.samples + np.arange(samples, dtype=float)
        t = np.concatenate([np.repeat(times, width), np.full(len(summary), np.nan)])
        report = strings((STATUS_REPORT, SUMMARY_REPORT), np.isnan(t).astype(int))
        value = np.concatenate([status.ravel(), np.fromiter(summary.values(), dtype=float)])
        records = record_table(report, "driver", self._machine, strings(fields, codes), t, value)
        at = np.concatenate(
            [lines.ravel(), np.array([rest.lines[field] for field in summary], dtype=np.int64)]
        )
        self.samples += samples
        info = rest.info
        if self._machine:
            info = {
                f"{self._machine} {key}": text
                for key, text in info.items()
                if key != "data machine"
            }
        return Reading(records, "sample", dict(info), tuple(said), at)


def _whole(text: str, file: str) -> Reading:
    """The reading of a log with wrappers: each machine's part, or one part where only one wrapper
    holds a run.

    Raises `FormatError`: a run outside of the wrappers, two of one machine, one without its
    machine.
    """
    begins = [match.start() for match in _BLOCK.finditer(text)]
    parts, empty = [], list[tuple[int, int, str]]()
    if len(begins) > 1:
        parts.append(_Run(file).take(text[: begins[0]], 1, True))
        if parts[0].lines is not None and len(parts[0].lines):
            raise _outside(text, int(parts[0].lines[0]), file)
        seen: set[str] = set()
        line = text.count("\n", 0, begins[0]) + 1
        for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
            machine = (data_attributes(text[begin:end].split("\n", 1)[0]) or {}).get("machine", "")
            part = _Run(file, machine).take(text[begin:end], line, True)
            if not len(part.records):
                empty.append(
                    (begin, end, f"{file} line {line}: nothing of a run is in this wrapper")
                )
            elif not machine or machine in seen:
                problem = (
                    "several runs of one machine"
                    if machine
                    else "several runs, and one without its machine"
                )
                raise FormatError(
                    problem,
                    file=file,
                    line=line,
                    expected="wrappers of different machines",
                    found=text[begin:end].strip()[:60],
                    remedy="split the log, one run a file.",
                )
            else:
                seen.add(machine)
                parts.append(part)
            line += text.count("\n", begin, end)
    if len(parts) <= 2:
        for begin, end, _ in empty:
            text = text[:begin] + re.sub("[^\n]", " ", text[begin:end]) + text[end:]
        parts = [_Run(file).take(text, 1, True)]
    said = (*parts[0].warnings, *(sentence for _, _, sentence in empty[:MAX_EMPTY_TOLD]))
    info = {key: text for part in parts for key, text in part.info.items()}
    return replace(concat_readings([replace(parts[0], warnings=said), *parts[1:]]), info=info)


def _without_cut_line(text: str, file: str, above: int) -> tuple[str, list[str]]:
    """The text without a last line that may have lost its end, or without the first half of a
    wrapped status line.
    """
    body, newline, last = text.rstrip("\n").rpartition("\n")
    half = _FIRST_HALF.fullmatch(last.strip()) is not None
    if not last.strip() or (
        not half and (text.endswith("\n") or _SURELY_WHOLE.fullmatch(last.rstrip()))
    ):
        return text, []
    line = above + body.count("\n") + 1 + len(newline)
    return body + newline, [f"{file} line {line}: the log ends within this line, which was dropped"]


def _status_values(text: str, first: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Numbers of all status lines, shape (n, 8), the line of each of them, and the text without
    them.

    The text's first line is line `first` of the file.
    """
    matches = list(_STATUS.finditer(text))
    flat = [value for match in matches for value in match.groups()]
    width = len(STATUS_FIELDS)
    values = pc.cast(pa.array(flat, pa.string()), pa.float64()).to_numpy().reshape(-1, width)
    begins, ends = [match.start() for match in matches], [match.end() for match in matches]
    newlines = np.flatnonzero(np.frombuffer(text.encode("utf-32-le"), np.uint32) == ord("\n"))
    above, below = np.searchsorted(newlines, begins), np.searchsorted(newlines, ends)
    # a line may be broken in two, before the last two numbers; the last one of a text may lack its
    # end
    last = [text.rfind("\n", begin, end - 1) > 0 for begin, end in zip(begins, ends, strict=True)]
    lines = np.repeat(above[:, None] + first, width, axis=1)
    lines[:, -2:] += np.array(last, dtype=int).reshape(-1, 1)
    parts = [text[end:begin] for end, begin in zip([0, *ends], [*begins, len(text)], strict=True)]
    gaps = ["\n" * count for count in (below - above).tolist()]
    return values, lines, "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True))


FORMAT = IwlConsole()
