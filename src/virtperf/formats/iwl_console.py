"""Console log of the WebSphere Studio Workload Simulator engine (iwlengine).

Two kinds of lines carry numbers: status lines, one per reporting interval and without any time, and a summary at the
end. Message ids do not name metrics (IWL0059I and IWL0060I are reused), so a summary line is known by its whole label.
"""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pandas as pd

from virtperf.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.text import decode, strings

STATUS_FIELDS = ("clients", "clients max", "rd", "wr", "pg", "web err", "resp avg", "pg elem/s")
STATUS_REPORT, SUMMARY_REPORT, ENTITY_KIND = "status", "summary", "driver"

CLIENTS_FIELD, CLIENTS_OF_FIELD, RUN_TIME_FIELD = "Clients completed", "Clients completed max", "Run time"
COUNT_ID, RATE_ID = "IWL0059I", "IWL0060I"

# label -> (message id, unit that follows the number, decimals); 0 decimals is a count
SUMMARY_LABELS: dict[str, tuple[str, str, int]] = {
    RUN_TIME_FIELD: ("IWL0038I", "", 0),
    CLIENTS_FIELD: ("IWL0007I", "", 0),
    "Page elements": (COUNT_ID, "", 0),
    "Page element throughput": (RATE_ID, " /s", 3),
    "Transactions": (COUNT_ID, "", 0),
    "Transaction throughput": (RATE_ID, " /s", 3),
    "Network I/O errors": (COUNT_ID, "", 0),
    "Web server errors": (COUNT_ID, "", 0),
    "Num of pages retrieved": (COUNT_ID, "", 0),
    "Page throughput": (RATE_ID, " /s", 3),
    "HTTP data read": (RATE_ID, " MB", 3),
    "HTTP data written": (RATE_ID, " MB", 3),
    "HTTP avg. page element response time": (RATE_ID, "", 3),
    "Initial number of clients": ("", "", 0),  # printed by measurement harnesses, without an id
}
COUNT_AND_RATE = (
    ("Page elements", "Page element throughput"),
    ("Transactions", "Transaction throughput"),
    ("Num of pages retrieved", "Page throughput"),
)

_INT = r"(\d{1,18})"
_FLOAT = r"(\d{1,15}(?:\.\d{0,9})?)"
_STATUS = re.compile(
    rf"^[ \t]*# clients[ \t]+{_INT}[ \t]*/[ \t]*{_INT}[ \t]*\|[ \t]*rd[ \t]+{_FLOAT}[ \t]+MB/s[ \t]*\|"
    rf"[ \t]*wr[ \t]+{_FLOAT}[ \t]+MB/s[ \t]*\|[ \t]*pg[ \t]+{_INT}[ \t]*\|[ \t]*web err[ \t]+{_INT}[ \t]*"
    rf"(?:\n[ \t]*)?\|[ \t]*resp avg[ \t]*=[ \t]*{_FLOAT}[ \t]*\|[ \t]*pg elem/s[ \t]*=[ \t]*{_FLOAT}[ \t]*(?:\n|\Z)",
    re.MULTILINE,
)
_BEGINS_STATUS = re.compile(r"# ?clients\b|\|[ \t]*resp avg\b")
_FIRST_HALF = re.compile(r"# clients .*\| web err \d+")
_SURELY_WHOLE = re.compile(r".*(?:\.\d{3}|/s|MB|[)>])")  # of a line without its newline; else digits may be missing
_MESSAGE = re.compile(r"(IWL\d{4}[A-Z])[ \t]+(.*)")
_SETTING = re.compile(
    r"(?P<label>[^=\s](?:[^=]{0,118}[^=\s])?)[ \t]*=[ \t]*(?P<value>[\d.:/]+)"
    r"(?:[ \t]*(?P<unit>/s|MB))?(?:[ \t]*\((?P<note>[^()]*)\))?[ \t]*"
)
_TIME_LIMIT = re.compile(r"Time limit of (\d{1,9}) seconds has been reached\. Shutting down\.")
_DATA_TAG = re.compile(r"</?data\b([^<>]*)>")
_DATA_ATTRIBUTE = re.compile(r"\b(\w{1,60})[ \t]{0,9}=[ \t]{0,9}\"?([^\"\s]+)\"?")


class IwlConsole:
    """Reader and writer of the console log; see docs/formats/iwl-console.md."""

    name = "iwl-console"
    title = "WebSphere Studio Workload Simulator console log"

    def sniff(self, head: bytes) -> float:
        """Sure of a status line or of an IWL message, nearly sure of the harness's labels without ids."""
        if re.search(rb"^[ \t]*# clients +\d+/\d+ \| rd ", head, re.MULTILINE):
            return 0.95
        if re.search(rb"^[ \t]*IWL\d{4}[A-Z] ", head, re.MULTILINE):
            return 0.9
        return 0.8 if re.search(rb"^[ \t]*Page element throughput = ", head, re.MULTILINE) else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Status lines on the sample clock, then the summary with ``t`` NaN; raises `FormatError`."""
        text, warnings = decode(data, file)
        text, cut = _without_cut_line(text.replace("\r", "\n"), file)
        status, places = _status_values(text)
        rest = _Rest(file)
        rest.read(_STATUS.sub(lambda m: "\n" * m.group().count("\n"), text))
        if not len(status) and not rest.summary:
            raise FormatError(
                "no status line and no summary line of iwlengine",
                file=file,
                expected="'# clients n/n | rd ...' or 'IWL0059I label = number'",
                found=text.strip()[:60] or "nothing",
            )
        back = np.flatnonzero(np.diff(status[:, STATUS_FIELDS.index("pg")]) < 0)
        if len(back):
            line = text.count("\n", 0, places[back[0] + 1]) + 1
            rest.warnings.append(f"{file} line {line}: the page counter goes back; is this more than one run?")
        records = _frame(status, rest.summary)
        return Reading(records, "sample", rest.info, (*warnings, *cut, *rest.warnings, *rest.inconsistencies()))

    def write(self, reading: Reading) -> bytes:
        """The log of a reading: status lines, then the summary; raises `FormatError` for what a log can't hold."""
        records = reading.records
        _check_printable(records)
        tag = [
            f'{key.removeprefix("data ")}="{value}"' for key, value in reading.info.items() if key.startswith("data ")
        ]
        lines = [f"<data {' '.join(tag)}>"] if tag else []
        lines += _status_lines(records[records["report"] == STATUS_REPORT])
        if "time limit" in reading.info:
            limit = reading.info["time limit"]
            lines.append(f"IWL0058I Time limit of {limit} seconds has been reached. Shutting down.")
        for key, value in reading.info.items():
            if key.startswith("message "):
                lines += [f"{key.removeprefix('message ')} (text not kept)"] * int(value)
        lines += _summary_lines(records[records["report"] == SUMMARY_REPORT])
        lines += ["(a line that is not iwlengine's)"] * int(reading.info.get("other lines", "0"))
        lines += ["</data>"] if tag else []
        return "".join(f"{line}\n" for line in lines).encode()


class _Rest:
    """What the lines other than status lines say."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.info: dict[str, str] = {}
        self.warnings: list[str] = []
        self.summary: dict[str, float] = {}
        self.lines: dict[str, int] = {}

    def read(self, text: str) -> None:
        counts: Counter[str] = Counter()
        other = 0
        for number, raw in enumerate(text.split("\n"), start=1):
            line = raw.strip()
            if not line or self._tag(line):
                continue
            if _BEGINS_STATUS.match(line):
                raise self._damaged(
                    "a damaged status line", line, number, "# clients n/n | rd x MB/s | wr x MB/s | ..."
                )
            message = _MESSAGE.fullmatch(line)
            ident, body = message.groups() if message else ("", line)
            if limit := _TIME_LIMIT.fullmatch(body):
                self.info["time limit"] = str(int(limit[1]))
            elif not self._setting(ident, body, number):
                counts[ident] += bool(ident)
                other += not ident
        self.info |= {f"message {ident}": str(count) for ident, count in sorted(counts.items()) if ident}
        if other:
            self.info["other lines"] = str(other)

    def _tag(self, line: str) -> bool:
        tag = _DATA_TAG.fullmatch(line)
        if tag:
            self.info |= {f"data {key}": value for key, value in _DATA_ATTRIBUTE.findall(tag[1])}
        return tag is not None

    def _setting(self, ident: str, body: str, number: int) -> bool:
        """Take a ``label = value`` line; False when it is none that iwlengine prints."""
        found = _SETTING.fullmatch(body)
        label = found["label"] if found else body.partition("=")[0].strip()
        if label not in SUMMARY_LABELS and not (found and ident in (COUNT_ID, RATE_ID)):
            return False
        if found is None or (
            found["unit"] and label in SUMMARY_LABELS and SUMMARY_LABELS[label][1][1:] != found["unit"]
        ):
            raise self._damaged("a damaged summary line", body, number, "label = number, with the label's own unit")
        for field, value in self._values(label, found, number):
            if field not in self.summary:
                self.summary[field], self.lines[field] = value, number
            elif self.summary[field] != value:
                problem = f"{field!r} is given twice, first in line {self.lines[field]}"
                raise self._damaged(problem, body, number, "the summary of one run; split a log of several runs")
            else:
                self.warnings.append(f"{self.file} line {number}: {field!r} is given twice with the same value")
        return True

    def _values(self, label: str, found: re.Match[str], number: int) -> list[tuple[str, float]]:
        value = found["value"]
        if label == RUN_TIME_FIELD and re.fullmatch(r"\d{1,6}:[0-5]\d:[0-5]\d", value):
            hours, minutes, seconds = map(int, value.split(":"))
            return [(label, hours * 3600.0 + minutes * 60 + seconds)]
        if label == CLIENTS_FIELD and (pair := re.fullmatch(rf"{_INT}/{_INT}", value)):
            return [(label, float(pair[1])), (CLIENTS_OF_FIELD, float(pair[2]))]
        if label in (RUN_TIME_FIELD, CLIENTS_FIELD) or not re.fullmatch(_FLOAT, value):
            rule = {RUN_TIME_FIELD: "HH:MM:SS", CLIENTS_FIELD: "n/N"}.get(label, "a number")
            raise self._damaged(f"bad value of {label!r}", value, number, rule)
        return [(f"{label} ({found['note'].strip()})" if found["note"] else label, float(value))]

    def _damaged(self, problem: str, found: str, line: int, expected: str) -> FormatError:
        return FormatError(problem, file=self.file, line=line, expected=expected, found=found)

    def inconsistencies(self) -> list[str]:
        """Sentences for counts that are not throughput times run time.

        The run time is printed in whole seconds and the rate with three decimals; what these two
        roundings allow is no inconsistency.
        """
        sentences = []
        run_time = self.summary.get(RUN_TIME_FIELD)
        for count_label, rate_label in COUNT_AND_RATE:
            if run_time is None or count_label not in self.summary or rate_label not in self.summary:
                continue
            count, rate = self.summary[count_label], self.summary[rate_label]
            if abs(rate * run_time - count) > rate + 0.0005 * run_time + 1:
                sentences.append(
                    f"{self.file} line {self.lines[rate_label]}: {rate_label} {rate:g}/s for {run_time:g} s"
                    f" makes {rate * run_time:.0f}, but {count_label} is {count:.0f}"
                )
        return sentences


def _without_cut_line(text: str, file: str) -> tuple[str, list[str]]:
    """The text without a last line that may have lost its end, or without the first half of a wrapped status line."""
    body, newline, last = text.rstrip("\n").rpartition("\n")
    half = _FIRST_HALF.fullmatch(last.strip()) is not None
    if not last.strip() or (not half and (text.endswith("\n") or _SURELY_WHOLE.fullmatch(last.rstrip()))):
        return text, []
    line = body.count("\n") + 1 + len(newline)
    return body + newline, [f"{file} line {line}: the log ends within this line, which was dropped"]


def _status_values(text: str) -> tuple[np.ndarray, list[int]]:
    """Numbers of all status lines, shape (n, 8), and the place where each line begins."""
    matches = list(_STATUS.finditer(text))
    flat = [value for match in matches for value in match.groups()]
    return np.array(flat, dtype=np.float64).reshape(-1, len(STATUS_FIELDS)), [match.start() for match in matches]


def _frame(status: np.ndarray, summary: dict[str, float]) -> pd.DataFrame:
    samples, width = status.shape
    fields = (*STATUS_FIELDS, *summary)
    codes = np.concatenate([np.tile(np.arange(width), samples), np.arange(width, len(fields))])
    rows = len(codes)
    return pd.DataFrame(
        {
            "report": strings((STATUS_REPORT, SUMMARY_REPORT), (np.arange(rows) >= samples * width).astype(int)),
            "entity_kind": strings((ENTITY_KIND,), np.zeros(rows, dtype=int)),
            "entity": strings(("",), np.zeros(rows, dtype=int)),
            "field": strings(fields, codes),
            "t": np.concatenate([np.repeat(np.arange(samples, dtype=float), width), np.full(len(summary), np.nan)]),
            "value": np.concatenate([status.ravel(), np.fromiter(summary.values(), dtype=float)]),
        }
    )


def _check_printable(records: pd.DataFrame) -> None:
    value = records["value"].to_numpy()
    strange = ~records["report"].isin((STATUS_REPORT, SUMMARY_REPORT)) | records["field"].str.contains(r"[=\r\n]")
    wrong = np.flatnonzero(strange | ~((value >= 0) & (value < 1e15)) | records.duplicated(["report", "field", "t"]))
    if len(wrong):
        raise FormatError(
            "a record that a console log can't hold",
            expected="report status or summary, each field once a sample, numbers from 0 to 1e15",
            found=str(records.iloc[wrong[0]].to_dict()),
        )


def _status_lines(records: pd.DataFrame) -> list[str]:
    table = records.pivot(index="t", columns="field", values="value").reindex(columns=list(STATUS_FIELDS))
    samples = np.arange(len(table))
    if table.isna().to_numpy().any() or not np.array_equal(table.index.to_numpy(), samples):
        raise FormatError(
            "status records do not make whole status lines",
            expected=f"t = 0, 1, 2, ... and each of {', '.join(STATUS_FIELDS)}",
        )
    return [
        f"# clients {clients:.0f}/{most:.0f} | rd {rd:.4f} MB/s | wr {wr:.4f} MB/s | pg {pg:.0f} | web err {errors:.0f}"
        f" | resp avg = {response:.3f} | pg elem/s = {elements:.3f}"
        for clients, most, rd, wr, pg, errors, response, elements in table.to_numpy().tolist()
    ]


def _summary_lines(records: pd.DataFrame) -> list[str]:
    values = dict(zip(records["field"], records["value"], strict=True))
    lines = []
    for field, value in values.items():
        label, _, note = field.partition(" (")
        ident, unit, decimals = SUMMARY_LABELS.get(label, (RATE_ID, "", 3))
        if field == CLIENTS_OF_FIELD:
            continue
        if note:  # the noted repetition has the id of a count, and its unit's decimals only where it needs them
            ident, text = COUNT_ID, f"{value:.3f}".rstrip("0").rstrip(".")
        elif field == RUN_TIME_FIELD:
            text = f"{int(value) // 3600:02d}:{int(value) // 60 % 60:02d}:{int(value) % 60:02d}"
        elif field == CLIENTS_FIELD:
            text = f"{value:.0f}/{values.get(CLIENTS_OF_FIELD, value):.0f}"
        else:
            text = f"{value:.{decimals}f}"
        lines.append(f"{ident} {label} = {text}{unit}{f' ({note}' if note else ''}".strip())
    return lines


FORMAT = IwlConsole()
