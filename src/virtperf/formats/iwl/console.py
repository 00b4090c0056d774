"""Console log of the WebSphere Studio Workload Simulator engine (iwlengine).

Two kinds of lines carry numbers: status lines, one per reporting interval and without any time, and a summary at the
end. Message ids do not name metrics (IWL0059I and IWL0060I are reused), so a summary line is known by its whole label.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.iwl.summary import FLOAT, INT, SUMMARY_LABELS, Rest, data_attributes
from virtperf.formats.iwl.write import ENTITY_KIND, STATUS_FIELDS, STATUS_REPORT, SUMMARY_REPORT, log_lines
from virtperf.formats.rows import record_table
from virtperf.formats.text import decode, strings, surest

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
        text, warnings = decode(data, file)
        text, cut = _without_cut_line(text.replace("\r", "\n"), file)
        begins = [match.start() for match in _BLOCK.finditer(text)]
        parts = [_Part(text, 1, "", file)] if len(begins) < 2 else _parts(text, begins, file)
        if not any(len(part.records) for part in parts):
            raise FormatError(
                "no status line and no summary line of iwlengine",
                file=file,
                expected="'# clients n/n | rd ...' or 'IWL0059I label = number'",
                found=text.strip()[:60] or "nothing",
            )
        records = pd.concat([part.records for part in parts if len(part.records)], ignore_index=True)
        info = {key: value for part in parts for key, value in part.info.items()}
        said = [sentence for part in parts for sentence in part.warnings]
        lines = np.concatenate([part.lines for part in parts])
        return Reading(records, "sample", info, (*warnings, *cut, *said), lines)

    def write(self, reading: Reading) -> bytes:
        """The log of a reading: status lines, then the summary; raises `FormatError` for what a log can't hold."""
        return "".join(f"{line}\n" for line in log_lines(reading)).encode()


class _Part:
    """The whole log, or one machine's part of it, which begins on line `first` of the file."""

    def __init__(self, text: str, first: int, machine: str, file: str) -> None:
        status, places = _status_values(text)
        newlines = np.array([match.start() for match in re.finditer("\n", text)])
        where = np.searchsorted(newlines, places) + first  # of each number: a status line may be broken in two
        rest = Rest(file)
        rest.read(_STATUS.sub(lambda m: "\n" * m.group().count("\n"), text), first)
        back = np.flatnonzero(np.diff(status[:, STATUS_FIELDS.index("pg")]) < 0)
        if len(back):
            line = where[back[0] + 1, 0]
            rest.warnings.append(f"{file} line {line}: the page counter goes back; is this more than one run?")
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
        raise FormatError(
            "a run outside of the wrappers of a log of several", file=file, line=int(parts[0].lines[0]),
            expected="<data machine=...> around each", found=text[:60], remedy="split the log, one run a file.",
        )  # fmt: skip
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


def _without_cut_line(text: str, file: str) -> tuple[str, list[str]]:
    """The text without a last line that may have lost its end, or without the first half of a wrapped status line."""
    body, newline, last = text.rstrip("\n").rpartition("\n")
    half = _FIRST_HALF.fullmatch(last.strip()) is not None
    if not last.strip() or (not half and (text.endswith("\n") or _SURELY_WHOLE.fullmatch(last.rstrip()))):
        return text, []
    line = body.count("\n") + 1 + len(newline)
    return body + newline, [f"{file} line {line}: the log ends within this line, which was dropped"]


def _status_values(text: str) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all status lines, shape (n, 8), and the place in the text of each of them."""
    matches = list(_STATUS.finditer(text))
    flat = [value for match in matches for value in match.groups()]
    places = [match.start(i) for match in matches for i in range(1, len(STATUS_FIELDS) + 1)]
    shape = (-1, len(STATUS_FIELDS))
    return np.array(flat, dtype=np.float64).reshape(shape), np.array(places, dtype=int).reshape(shape)


def _frame(status: np.ndarray, summary: dict[str, float], machine: str) -> pd.DataFrame:
    samples, width = status.shape
    fields = (*STATUS_FIELDS, *summary)
    codes = np.concatenate([np.tile(np.arange(width), samples), np.arange(width, len(fields))])
    t = np.concatenate([np.repeat(np.arange(samples, dtype=float), width), np.full(len(summary), np.nan)])
    report = strings((STATUS_REPORT, SUMMARY_REPORT), np.isnan(t).astype(int))
    value = np.concatenate([status.ravel(), np.fromiter(summary.values(), dtype=float)])
    return record_table(report, ENTITY_KIND, machine, strings(fields, codes), t, value)


FORMAT = IwlConsole()
