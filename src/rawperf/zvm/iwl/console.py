"""Reader of the console log of the WebSphere Studio Workload Simulator engine (iwlengine).

Two kinds of lines have numbers: status lines, one per reporting interval and without any time, and
a summary at the end. Message ids do not name metrics (IWL0059I and IWL0060I are reused), so a
summary line is identified by its whole label.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.base import ParsedFile, Warnings, build_records, concat_parts
from rawperf.core.errors import FileReader, FormatError
from rawperf.listing import Listing, ListingFormat, ListingPart, RecordsWithLines
from rawperf.text import recode_utf8, take_strings

CLIENTS_FIELD, CLIENTS_OF_FIELD, RUN_TIME_FIELD = (
    "Clients completed",
    "Clients completed max",
    "Run time",
)
COUNT_ID, RATE_ID = "IWL0059I", "IWL0060I"

# label -> unit suffix of the number
SUMMARY_LABELS: dict[str, str] = {
    RUN_TIME_FIELD: "",
    CLIENTS_FIELD: "",
    "Page elements": "",
    "Page element throughput": "/s",
    "Transactions": "",
    "Transaction throughput": "/s",
    "Network I/O errors": "",
    "Web server errors": "",
    "Num of pages retrieved": "",
    "Page throughput": "/s",
    "HTTP data read": "MB",
    "HTTP data written": "MB",
    "HTTP avg. page element response time": "",
    "Initial number of clients": "",  # printed by measurement harnesses, without an id
}
COUNT_AND_RATE = (
    ("Page elements", "Page element throughput"),
    ("Transactions", "Transaction throughput"),
    ("Num of pages retrieved", "Page throughput"),
)

RESPONSE_FIELD = "HTTP avg. page element response time"
HARNESS, JMETER = "harness", "jmeter"

INT = r"([0-9]{1,18})"
FLOAT = r"([0-9]{1,15}(?:\.[0-9]{0,9})?)"
_BEGINS_STATUS = re.compile(r"# ?clients\b|\|[ \t]*resp avg\b")
_LIKE_NUMBERS = re.compile(
    r"=\s*-?\d|\|.*\d|\d.*\||clients \d|IWL(?:0007|0059|0060)I|"
    + "|".join(re.escape(label) for label in SUMMARY_LABELS)
)
"""What a damaged line of numbers still has: a mark before a number, or a label."""
_MESSAGE = re.compile(r"(IWL[0-9]{4}[A-Z])[ \t]+(.*)")
_SETTING = re.compile(
    r"(?P<label>[^=\s](?:[^=]{0,118}[^=\s])?)[ \t]*=[ \t]*(?P<value>[0-9.:/]+)"
    r"(?:[ \t]*(?P<unit>/s|MB))?(?:[ \t]*\((?P<note>[^()]*)\))?[ \t]*"
)
_TIME_LIMIT = re.compile(r"Time limit of ([0-9]{1,9}) seconds has been reached\. Shutting down\.")
_DATA_TAG = re.compile(r"</?data\b([^<>]*)>")
_DATA_ATTRIBUTE = re.compile(r"\b(\w{1,60})[ \t]{0,9}=[ \t]{0,9}\"?([^\"\s]+)\"?")


def data_attributes(line: str) -> dict[str, str] | None:
    """Attributes of a ``<data ...>`` tag; None for another line."""
    tag = _DATA_TAG.fullmatch(line.strip())
    return None if tag is None else dict(_DATA_ATTRIBUTE.findall(tag[1]))


class OtherLineParser(FileReader):
    """Parser of the lines other than status lines; `lines` has the line of each summary field."""

    def __init__(self, warnings: Warnings) -> None:
        self._warnings, self.file = warnings, warnings.file
        self._has_message_ids = False  # whether any line has a message id
        self.info: dict[str, str] = {}
        self.summary: dict[str, float] = {}
        self.lines: dict[str, int] = {}
        self._response = ""
        self._counts: Counter[str] = Counter()
        self._n_other_lines = 0

    def parse(self, text: str, first: int = 1) -> None:
        """Parse the lines of a text; its first one is line `first` of the file."""
        for number, raw in enumerate(text.split("\n"), start=first):
            line = raw.strip()
            attributes = data_attributes(line)
            if attributes is not None:
                self.info |= {f"data {key}": value for key, value in attributes.items()}
            if not line or attributes is not None:
                continue
            if _BEGINS_STATUS.match(line):
                expected = "# clients n/n | rd x MB/s | wr x MB/s | ..."
                raise self.error("a damaged status line", number, expected, line)
            message = _MESSAGE.fullmatch(line)
            message_id, body = message.groups() if message else ("", line)
            self._has_message_ids |= bool(message_id)
            if limit := _TIME_LIMIT.fullmatch(body):
                self.info["time limit"] = str(int(limit[1]))
            elif not self._parse_setting(message_id, body, number):
                if _LIKE_NUMBERS.search(line):
                    sentence = f"not understood and left out: {line[:80]!r}"
                    self._warnings.add_always(number, sentence)
                self._counts[message_id] += bool(message_id)
                self._n_other_lines += not message_id

    def finish(self) -> None:
        """Complete info and summary after all lines."""
        self.info |= {
            f"message {message_id}": str(count)
            for message_id, count in sorted(self._counts.items())
            if message_id
        }
        if self._n_other_lines:
            self.info["other lines"] = str(self._n_other_lines)
        if not self._has_message_ids and self._response.isdigit():
            # a harness that runs JMeter prints the mean of its summary under iwlengine's label, in
            # whole milliseconds
            self.summary[RESPONSE_FIELD] = int(self._response) / 1000
            self.info[HARNESS] = JMETER
        self._check_throughputs()

    def _parse_setting(self, message_id: str, body: str, number: int) -> bool:
        """Parse a ``label = value`` line; False if it is not one of iwlengine's."""
        match = _SETTING.fullmatch(body)
        label = match["label"] if match else body.partition("=")[0].strip()
        if label not in SUMMARY_LABELS and not (match and message_id in (COUNT_ID, RATE_ID)):
            return False
        summary_field = SUMMARY_LABELS.get(label)
        if match is None or (match["unit"] and summary_field not in (match["unit"], None)):
            raise self.error(
                "a damaged summary line", number, "label = number, with the label's own unit", body
            )
        for field, value in self._parse_values(label, match, number):
            if field not in self.summary:
                self.summary[field], self.lines[field] = value, number
            elif self.summary[field] != value:
                problem = f"{field!r} is given twice, first in line {self.lines[field]}"
                raise self.error(
                    problem, number, "the summary of one run; split a log of several runs", body
                )
            else:
                self._warnings.add_always(number, f"{field!r} is given twice with the same value")
        return True

    def _parse_values(
        self, label: str, match: re.Match[str], number: int
    ) -> list[tuple[str, float]]:
        value = match["value"]
        if label == RUN_TIME_FIELD and re.fullmatch(r"[0-9]{1,6}:[0-5][0-9]:[0-5][0-9]", value):
            hours, minutes, seconds = map(int, value.split(":"))
            return [(label, hours * 3600.0 + minutes * 60 + seconds)]
        if label == CLIENTS_FIELD and (pair := re.fullmatch(rf"{INT}/{INT}", value)):
            return [(label, float(pair[1])), (CLIENTS_OF_FIELD, float(pair[2]))]
        if label == RESPONSE_FIELD and not match["note"]:
            self._response = value
        if label in (RUN_TIME_FIELD, CLIENTS_FIELD) or not re.fullmatch(FLOAT, value):
            rule = {RUN_TIME_FIELD: "HH:MM:SS", CLIENTS_FIELD: "n/N"}.get(label, "a number")
            raise self.error(f"bad value of {label!r}", number, rule, value)
        return [(f"{label} ({match['note'].strip()})" if match["note"] else label, float(value))]

    def _check_throughputs(self) -> None:
        """Warn of counts that are not throughput times run time.

        The run time is printed in whole seconds and the rate with three decimals; differences
        within these roundings are accepted.
        """
        run_time = self.summary.get(RUN_TIME_FIELD)
        for count_label, rate_label in COUNT_AND_RATE:
            count, rate = self.summary.get(count_label), self.summary.get(rate_label)
            if run_time is None or count is None or rate is None:
                continue
            if abs(rate * run_time - count) > rate + 0.0005 * run_time + 1:
                sentence = (
                    f"{rate_label} {rate:g}/s for {run_time:g} s makes {rate * run_time:.0f}, "
                    f"but {count_label} is {count:.0f}"
                )
                self._warnings.add_always(self.lines[rate_label], sentence)


STATUS_FIELDS = ("clients", "clients max", "rd", "wr", "pg", "web err", "resp avg", "pg elem/s")
STATUS_REPORT, SUMMARY_REPORT = "status", "summary"
_STATUS = re.compile(
    rf"^[ \t]*# clients[ \t]+{INT}[ \t]*/[ \t]*{INT}[ \t]*\|[ \t]*rd[ \t]+{FLOAT}[ \t]+MB/s[ \t]*\|"
    rf"[ \t]*wr[ \t]+{FLOAT}[ \t]+MB/s[ \t]*\|[ \t]*pg[ \t]+{INT}[ \t]*\|[ \t]*web err[ \t]+{INT}[ \t]*"
    rf"(?:\n[ \t]*)?\|[ \t]*resp avg[ \t]*=[ \t]*{FLOAT}[ \t]*\|[ \t]*pg elem/s[ \t]*=[ \t]*{FLOAT}[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_FIRST_HALF = re.compile(r"# clients .*\| web err \d+")
# complete line without its newline; in any other, digits may be missing
_COMPLETE_LINE = re.compile(r".*(?:\.\d{3}|/s|MB|[)>])")
_WRAPPER = re.compile(r"^[ \t]*<data\b[^<>\n]*>[ \t]*$", re.MULTILINE)
MAX_EMPTY_WARNINGS = 20


class IwlConsoleListing(Listing):
    """Status lines on the sample clock, then the summary with ``t`` NaN.

    See docs/formats/iwl-console.md. Several machines follow one by one. A log with wrappers, which
    several machines may share, is read as a whole.

    Refused are a log with neither a status nor a summary line, a damaged one, two summaries of one
    run, and two runs of one machine.
    """

    name = "iwl-console"
    title = "WebSphere Studio Workload Simulator console log"
    clock = "sample"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._run, self._has_wrapper = _RunParser(file), False

    def cut(self, lines: bytes, lines_before: int) -> int:
        """Cut after the last line, but not within a wrapped status line."""
        end = lines.rfind(b"\n") + 1
        begin = max(lines.rfind(b"\n", 0, end - 1), lines.rfind(b"\r", 0, end - 1)) + 1
        if _FIRST_HALF.search(lines[begin:end].decode("utf-8", "replace")):
            end = begin
        text = recode_utf8(lines[:end])[0].decode() if not self._run.samples else ""
        return 0 if _WRAPPER.search(text.replace("\r", "\n")) else end

    def parse(self, part: ListingPart) -> RecordsWithLines:
        text = part.text.replace("\r", "\n")
        is_wrapped = not self._run.samples and _WRAPPER.search(text) is not None
        for match in _WRAPPER.finditer(text) if not is_wrapped else ():
            if self._has_wrapper:
                raise self._outside_wrapper_error(text[match.start() :], 1)
            self._has_wrapper = True
        if part.is_last:
            text = self._drop_truncated_line(text, part.lines_before)
        parsed = (
            self._read_wrapped(text)
            if is_wrapped
            else self._run.parse_part(text, part.lines_before + 1, part.is_last)
        )
        if part.is_last and not self._run.samples and not len(parsed.records):
            raise self.error(
                "no status line and no summary line of iwlengine",
                expected="'# clients n/n | rd ...' or 'IWL0059I label = number'",
                found=text.strip()[:60] or "nothing",
            )
        self.info = parsed.info
        self.warnings.extend(parsed.warnings)
        assert parsed.lines is not None
        return parsed.records, parsed.lines

    def _outside_wrapper_error(self, text: str, line: int) -> FormatError:
        return self.error(
            "a run outside of the wrappers in a log of several runs",
            line,
            "<data machine=...> around each",
            text[:60],
            "split the log, one run per file.",
        )

    def _drop_truncated_line(self, text: str, lines_before: int) -> str:
        """Drop a last line that may be truncated, or the first half of a wrapped status line."""
        body, newline, last = text.rstrip("\n").rpartition("\n")
        is_first_half = _FIRST_HALF.fullmatch(last.strip()) is not None
        if not last.strip() or (
            not is_first_half and (text.endswith("\n") or _COMPLETE_LINE.fullmatch(last.rstrip()))
        ):
            return text
        number = lines_before + body.count("\n") + 1 + len(newline)
        self.warnings.add_always(number, "the log ends within this line, which was dropped")
        return body + newline

    def _read_wrapped(self, text: str) -> ParsedFile:
        """Parse a log with wrappers: one part per machine, or one if only one holds a run.

        Raises `FormatError`: a run outside of the wrappers, two of one machine, one without its
        machine.
        """
        begins = [match.start() for match in _WRAPPER.finditer(text)]
        parts, empty = list[ParsedFile](), list[tuple[int, int, int]]()
        if len(begins) > 1:
            parts.append(_RunParser(self.file).parse_part(text[: begins[0]], 1, True))
            if parts[0].lines is not None and len(parts[0].lines):
                raise self._outside_wrapper_error(text, int(parts[0].lines[0]))
            seen: set[str] = set()
            line = text.count("\n", 0, begins[0]) + 1
            for begin, end in zip(begins, [*begins[1:], len(text)], strict=True):
                attributes = data_attributes(text[begin:end].split("\n", 1)[0]) or {}
                machine = attributes.get("machine", "")
                part = _RunParser(self.file, machine).parse_part(text[begin:end], line, True)
                if not len(part.records):
                    empty.append((begin, end, line))
                elif not machine or machine in seen:
                    raise self.error(
                        "several runs of one machine"
                        if machine
                        else "several runs, one of them without a machine",
                        line,
                        "wrappers of different machines",
                        text[begin:end].strip()[:60],
                        "split the log, one run per file.",
                    )
                else:
                    seen.add(machine)
                    parts.append(part)
                line += text.count("\n", begin, end)
        if len(parts) <= 2:
            for begin, end, _ in empty:
                text = text[:begin] + re.sub("[^\n]", " ", text[begin:end]) + text[end:]
            parts = [_RunParser(self.file).parse_part(text, 1, True)]
        warnings = Warnings(self.file)
        for _, _, line in empty[:MAX_EMPTY_WARNINGS]:
            warnings.add_always(line, "this wrapper contains no run")
        messages = (*parts[0].warnings, *warnings.drain())
        info = {key: text for part in parts for key, text in part.info.items()}
        return replace(concat_parts([replace(parts[0], warnings=messages), *parts[1:]]), info=info)


class _RunParser:
    """Parser of one machine's log, part by part."""

    def __init__(self, file: str, machine: str = "") -> None:
        self._warnings, self._machine = Warnings(file), machine
        self._other_lines = OtherLineParser(self._warnings)
        self.samples, self._last_pages = 0, -np.inf

    def parse_part(self, text: str, first: int, last: bool) -> ParsedFile:
        """Parse a part of the log that begins on line `first` of the file."""
        status, lines, other = _status_values(text, first)
        samples, width = status.shape
        page_counts = status[:, STATUS_FIELDS.index("pg")]
        decreases = np.flatnonzero(np.diff(page_counts, prepend=self._last_pages) < 0)
        self._last_pages = page_counts[-1] if samples else self._last_pages
        if len(decreases):
            sentence = "the page counter decreases; does the log have more than one run?"
            self._warnings.add_once("decrease", int(lines[decreases[0], 0]), sentence)
        other_lines = self._other_lines
        other_lines.parse(other, first)
        summary: dict[str, float] = {}
        if last:
            other_lines.finish()
            summary = other_lines.summary
        fields = (*STATUS_FIELDS, *summary)
        codes = np.concatenate([np.tile(np.arange(width), samples), np.arange(width, len(fields))])
        times = self.samples + np.arange(samples, dtype=float)
        t = np.concatenate([np.repeat(times, width), np.full(len(summary), np.nan)])
        report = take_strings((STATUS_REPORT, SUMMARY_REPORT), np.isnan(t).astype(int))
        value = np.concatenate([status.ravel(), np.fromiter(summary.values(), dtype=float)])
        records = build_records(
            report, "driver", self._machine, take_strings(fields, codes), t, value
        )
        summary_lines = np.array([other_lines.lines[field] for field in summary], dtype=np.int64)
        self.samples += samples
        info = other_lines.info
        if self._machine:
            info = {
                f"{self._machine} {key}": text
                for key, text in info.items()
                if key != "data machine"
            }
        line_numbers = np.concatenate([lines.ravel(), summary_lines])
        return ParsedFile(records, "sample", dict(info), self._warnings.drain(), line_numbers)


def _status_values(text: str, first: int) -> tuple[np.ndarray, np.ndarray, str]:
    """Numbers of all status lines, shape (n, 8), the line of each, and the text without them.

    The text's first line is line `first` of the file.
    """
    matches = list(_STATUS.finditer(text))
    flat = [value for match in matches for value in match.groups()]
    width = len(STATUS_FIELDS)
    values = pc.cast(pa.array(flat, pa.string()), pa.float64()).to_numpy().reshape(-1, width)
    begins, ends = [match.start() for match in matches], [match.end() for match in matches]
    newlines = np.flatnonzero(np.frombuffer(text.encode("utf-32-le"), np.uint32) == ord("\n"))
    above, below = np.searchsorted(newlines, begins), np.searchsorted(newlines, ends)
    # a status line may be wrapped before its last two numbers; the last one may lack its line end
    last = [text.rfind("\n", begin, end - 1) > 0 for begin, end in zip(begins, ends, strict=True)]
    lines = np.repeat(above[:, None] + first, width, axis=1)
    lines[:, -2:] += np.array(last, dtype=int).reshape(-1, 1)
    parts = [text[end:begin] for end, begin in zip([0, *ends], [*begins, len(text)], strict=True)]
    gaps = ["\n" * count for count in (below - above).tolist()]
    return values, lines, "".join(part + gap for part, gap in zip(parts, [*gaps, ""], strict=True))


FORMAT = ListingFormat(IwlConsoleListing)
