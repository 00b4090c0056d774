"""Console log of the WebSphere Studio Workload Simulator engine (iwlengine).

Two kinds of lines carry numbers: status lines, one per reporting interval and without any time, and a summary at the
end. Message ids do not name metrics (IWL0059I and IWL0060I are reused), so a summary line is known by its whole label.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading, joined
from virtperf.formats.iwl.summary import FLOAT, INT, SUMMARY_LABELS, Rest, data_attributes
from virtperf.formats.iwl.write import ENTITY_KIND, STATUS_FIELDS, STATUS_REPORT, SUMMARY_REPORT, log_lines
from virtperf.formats.pieces import Pieces, recoded
from virtperf.formats.rows import Warnings, record_table
from virtperf.formats.text import strings, surest

__all__ = ["FORMAT", "STATUS_FIELDS", "SUMMARY_LABELS", "IwlConsole"]

_STATUS = re.compile(
    rf"^[ \t]*# clients[ \t]+{INT}[ \t]*/[ \t]*{INT}[ \t]*\|[ \t]*rd[ \t]+{FLOAT}[ \t]+MB/s[ \t]*\|"
    rf"[ \t]*wr[ \t]+{FLOAT}[ \t]+MB/s[ \t]*\|[ \t]*pg[ \t]+{INT}[ \t]*\|[ \t]*web err[ \t]+{INT}[ \t]*"
    rf"(?:\n[ \t]*)?\|[ \t]*resp avg[ \t]*=[ \t]*{FLOAT}[ \t]*\|[ \t]*pg elem/s[ \t]*=[ \t]*{FLOAT}[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_FIRST_HALF = re.compile(r"# clients .*\| web err \d+")
_SURELY_WHOLE = re.compile(r".*(?:\.\d{3}|/s|MB|[)>])")  # of a line without its newline; else digits may be missing
_BLOCK = re.compile(r"^[ \t]*<data\b[^<>\n]*>[ \t]*$", re.MULTILINE)
MOST_EMPTY = 20
_SNIFFS = (
    (re.compile(rb"^[ \t]*# clients +\d+/\d+ \| rd ", re.MULTILINE), 0.95),
    (re.compile(rb"^[ \t]*IWL\d{4}[A-Z] ", re.MULTILINE), 0.9),
    (re.compile(rb"^[ \t]*Page (?:element )?throughput = ", re.MULTILINE), 0.8),
    (re.compile(rb"^[ \t]*<data\b[^<>\n]*\brunType=", re.MULTILINE), 0.7),
)


class IwlConsole:
    """Reader and writer of the console log; see docs/formats/iwl-console.md."""

    name = "iwl-console"
    title = "WebSphere Studio Workload Simulator console log"

    def sniff(self, head: bytes) -> float:
        """Sure of a status line or of an IWL message, nearly sure of the harness's labels without ids."""
        return surest(_SNIFFS, head)

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Status lines on the sample clock, then the summary with ``t`` NaN; of several machines one by one.

        Raises
        ------
        FormatError
            Neither a status nor a summary line; a damaged one; two summaries of one run; two runs of one machine.
        """
        return joined(self.blocks(io.BytesIO(data), file=file))

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[Reading]:
        """Read a log part by part; one with wrappers, which several machines may share, as a whole."""
        said, rest, samples, pages = Warnings(file), Rest(file), 0, -np.inf
        pieces = Pieces(stream, _line_end, file)
        wrapper = False
        for piece in pieces:
            text = recoded(piece, pieces.line, said, file).decode().replace("\r", "\n")
            if not samples and _BLOCK.search(text):
                if pieces.last:
                    yield _whole(text, pieces.line, said, file)
                    return
                pieces.back = len(piece)
                continue
            for match in _BLOCK.finditer(text):
                if wrapper:
                    raise _outside(text[match.start() :], 1, file)
                wrapper = True
            first = pieces.line + 1
            cut: list[str] = []
            if pieces.last:
                text, cut = _without_cut_line(text, file, pieces.line)
            status, lines, other = _status_values(text, first)
            counted = status[:, STATUS_FIELDS.index("pg")]
            back = np.flatnonzero(np.diff(counted, prepend=pages) < 0)
            pages = counted[-1] if len(counted) else pages
            for place in back[:1]:
                said.once("pages", _goes_back(lines[place, 0], file))
            rest.read(other, first)
            summary: dict[str, float] = {}
            if pieces.last:
                rest.finish()
                summary = rest.summary
                if not samples and not len(status) and not summary:
                    raise _nothing(text, file)
            records = _frame(status, summary, "", samples)
            samples += len(status)
            for sentence in (*cut, *rest.warnings, *(rest.inconsistencies() if pieces.last else ())):
                said.say(sentence)
            rest.warnings.clear()
            if pieces.last or len(records):
                found = np.array([rest.lines[field] for field in summary], dtype=np.int64)
                at = np.concatenate([lines.ravel(), found])
                yield Reading(records, "sample", dict(rest.info), said.new(pieces.last), at)

    def write(self, reading: Reading) -> bytes:
        """The log of a reading: status lines, then the summary; raises `FormatError` for what a log can't hold."""
        return "".join(f"{line}\n" for line in log_lines(reading)).encode()


def _whole(text: str, line: int, said: Warnings, file: str) -> Reading:
    """The reading of a log with wrappers."""
    text, cut = _without_cut_line(text, file, line)
    begins = [match.start() for match in _BLOCK.finditer(text)]
    parts = [_Part(text, 1, "", file)] if len(begins) < 2 else _parts(text, begins, file)
    if not any(len(part.records) for part in parts):
        raise _nothing(text, file)
    records = pd.concat([part.records for part in parts if len(part.records)], ignore_index=True)
    info = {key: value for part in parts for key, value in part.info.items()}
    for sentence in (*cut, *(sentence for part in parts for sentence in part.warnings)):
        said.say(sentence)
    lines = np.concatenate([part.lines for part in parts])
    return Reading(records, "sample", info, said.new(True), lines)


def _nothing(text: str, file: str) -> FormatError:
    return FormatError(
        "no status line and no summary line of iwlengine",
        file=file,
        expected="'# clients n/n | rd ...' or 'IWL0059I label = number'",
        found=text.strip()[:60] or "nothing",
    )


def _outside(text: str, line: int, file: str) -> FormatError:
    return FormatError(
        "a run outside of the wrappers of a log of several", file=file, line=line,
        expected="<data machine=...> around each", found=text[:60], remedy="split the log, one run a file.",
    )  # fmt: skip


def _goes_back(line: int, file: str) -> str:
    return f"{file} line {line}: the page counter goes back; is this more than one run?"


def _line_end(lines: bytes) -> int:
    """Where the last line ends whose status is whole."""
    end = lines.rfind(b"\n") + 1
    begin = max(lines.rfind(b"\n", 0, end - 1), lines.rfind(b"\r", 0, end - 1)) + 1
    return begin if _FIRST_HALF.search(lines[begin:end].decode("utf-8", "replace")) else end


class _Part:
    """The whole log, or one machine's part of it, which begins on line `first` of the file."""

    def __init__(self, text: str, first: int, machine: str, file: str) -> None:
        status, where, other = _status_values(text, first)
        rest = Rest(file)
        rest.read(other, first)
        rest.finish()
        back = np.flatnonzero(np.diff(status[:, STATUS_FIELDS.index("pg")]) < 0)
        if len(back):
            rest.warnings.append(_goes_back(where[back[0] + 1, 0], file))
        self.records = _frame(status, rest.summary, machine)
        found = np.array([rest.lines[field] for field in rest.summary], dtype=np.int64)
        self.lines = np.concatenate([where.ravel(), found])
        prefix = f"{machine} " if machine else ""
        self.info = {prefix + key: value for key, value in rest.info.items() if not machine or key != "data machine"}
        self.warnings = [*rest.warnings, *rest.inconsistencies()]


def _parts(text: str, begins: list[int], file: str) -> list[_Part]:
    """What stands before the first wrapper, then each machine's part; one part where only one wrapper holds a run.

    Raises
    ------
    FormatError
        A run outside of the wrappers, two of one machine, one without its machine.
    """
    parts = [_Part(text[: begins[0]], 1, "", file)]
    if len(parts[0].records):
        raise _outside(text, int(parts[0].lines[0]), file)
    seen: set[str] = set()
    empty: list[tuple[int, int, str]] = []
    line = text.count("\n", 0, begins[0]) + 1
    for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
        machine = (data_attributes(text[begin:end].split("\n", 1)[0]) or {}).get("machine", "")
        part = _Part(text[begin:end], line, machine, file)
        if not len(part.records):
            empty.append((begin, end, f"{file} line {line}: nothing of a run is in this wrapper"))
        elif not machine or machine in seen:
            raise FormatError(
                "several runs of one machine" if machine else "several runs, and one without its machine", file=file,
                line=line, expected="wrappers of different machines", found=text[begin:end].strip()[:60],
                remedy="split the log, one run a file.",
            )  # fmt: skip
        else:
            seen.add(machine)
            parts.append(part)
        line += text.count("\n", begin, end)
    if len(parts) <= 2:
        for begin, end, _ in empty:
            text = text[:begin] + re.sub("[^\n]", " ", text[begin:end]) + text[end:]
        parts = [_Part(text, 1, "", file)]
    parts[0].warnings += [sentence for _, _, sentence in empty[:MOST_EMPTY]]
    return parts


def _without_cut_line(text: str, file: str, above: int) -> tuple[str, list[str]]:
    """The text without a last line that may have lost its end, or without the first half of a wrapped status line."""
    body, newline, last = text.rstrip("\n").rpartition("\n")
    half = _FIRST_HALF.fullmatch(last.strip()) is not None
    if not last.strip() or (not half and (text.endswith("\n") or _SURELY_WHOLE.fullmatch(last.rstrip()))):
        return text, []
    line = above + body.count("\n") + 1 + len(newline)
    return body + newline, [f"{file} line {line}: the log ends within this line, which was dropped"]


def _status_values(text: str, first: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Numbers of all status lines, shape (n, 8), the line of each of them, and the text without them.

    The text's first line is line `first` of the file.
    """
    matches = list(_STATUS.finditer(text))
    flat = [value for match in matches for value in match.groups()]
    width = len(STATUS_FIELDS)
    values = pc.cast(pa.array(flat, pa.string()), pa.float64()).to_numpy().reshape(-1, width)
    begins, ends = [match.start() for match in matches], [match.end() for match in matches]
    newlines = np.flatnonzero(np.frombuffer(text.encode("utf-32-le"), np.uint32) == ord("\n"))
    above, below = np.searchsorted(newlines, begins), np.searchsorted(newlines, ends)
    # a line may be broken in two, before the last two numbers; the last one of a text may lack its end
    last = [text.rfind("\n", begin, end - 1) > 0 for begin, end in zip(begins, ends, strict=True)]
    lines = np.repeat(above[:, None] + first, width, axis=1)
    lines[:, -2:] += np.array(last, dtype=int).reshape(-1, 1)
    parts = [text[end:begin] for end, begin in zip([0, *ends], [*begins, len(text)], strict=True)]
    gaps = ["\n" * count for count in (below - above).tolist()]
    return values, lines, "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True))


def _frame(status: np.ndarray, summary: dict[str, float], machine: str, before: int = 0) -> pd.DataFrame:
    """Records of status lines, `before` of which stand further up, and of a summary."""
    samples, width = status.shape
    fields = (*STATUS_FIELDS, *summary)
    codes = np.concatenate([np.tile(np.arange(width), samples), np.arange(width, len(fields))])
    t = np.concatenate([np.repeat(before + np.arange(samples, dtype=float), width), np.full(len(summary), np.nan)])
    report = strings((STATUS_REPORT, SUMMARY_REPORT), np.isnan(t).astype(int))
    value = np.concatenate([status.ravel(), np.fromiter(summary.values(), dtype=float)])
    return record_table(report, ENTITY_KIND, machine, strings(fields, codes), t, value)


FORMAT = IwlConsole()
