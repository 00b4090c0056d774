"""What lines of an iwlengine log other than status lines say: the summary, other messages, a
harness's wrapper.
"""

from __future__ import annotations

import re
from collections import Counter

from rawperf.core.errors import FormatError

CLIENTS_FIELD, CLIENTS_OF_FIELD, RUN_TIME_FIELD = (
    "Clients completed",
    "Clients completed max",
    "Run time",
)
COUNT_ID, RATE_ID = "IWL0059I", "IWL0060I"

# label -> unit that follows the number
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


class Rest:
    """What the lines other than status lines say."""

    def __init__(self, file: str) -> None:
        self.file = file
        self._identified = False  # some line has a message id
        self.info: dict[str, str] = {}
        self.warnings: list[str] = []
        self.summary: dict[str, float] = {}
        self.lines: dict[str, int] = {}
        self._response = ""
        self._counts: Counter[str] = Counter()
        self._other = 0

    def read(self, text: str, first: int = 1) -> None:
        """Take the lines of a text, the first of which is line `first` of the file."""
        for number, raw in enumerate(text.split("\n"), start=first):
            line = raw.strip()
            attributes = data_attributes(line)
            if attributes is not None:
                self.info |= {f"data {key}": value for key, value in attributes.items()}
            if not line or attributes is not None:
                continue
            if _BEGINS_STATUS.match(line):
                expected = "# clients n/n | rd x MB/s | wr x MB/s | ..."
                raise self._damaged("a damaged status line", line, number, expected)
            message = _MESSAGE.fullmatch(line)
            ident, body = message.groups() if message else ("", line)
            self._identified |= bool(ident)
            if limit := _TIME_LIMIT.fullmatch(body):
                self.info["time limit"] = str(int(limit[1]))
            elif not self._setting(ident, body, number):
                self._counts[ident] += bool(ident)
                self._other += not ident

    def finish(self) -> None:
        """Say what can be said when all lines were taken."""
        self.info |= {
            f"message {ident}": str(count) for ident, count in sorted(self._counts.items()) if ident
        }
        if self._other:
            self.info["other lines"] = str(self._other)
        if not self._identified and self._response.isdigit():
            # A harness that runs JMeter prints the mean of its summary under iwlengine's label:
            # whole milliseconds.
            self.summary[RESPONSE_FIELD] = int(self._response) / 1000
            self.info[HARNESS] = JMETER
        self._compare()

    def _setting(self, ident: str, body: str, number: int) -> bool:
        """Take a ``label = value`` line; False when it is none that iwlengine prints."""
        found = _SETTING.fullmatch(body)
        label = found["label"] if found else body.partition("=")[0].strip()
        if label not in SUMMARY_LABELS and not (found and ident in (COUNT_ID, RATE_ID)):
            return False
        own = SUMMARY_LABELS.get(label)
        if found is None or (found["unit"] and own not in (found["unit"], None)):
            raise self._damaged(
                "a damaged summary line", body, number, "label = number, with the label's own unit"
            )
        for field, value in self._values(label, found, number):
            if field not in self.summary:
                self.summary[field], self.lines[field] = value, number
            elif self.summary[field] != value:
                problem = f"{field!r} is given twice, first in line {self.lines[field]}"
                raise self._damaged(
                    problem, body, number, "the summary of one run; split a log of several runs"
                )
            else:
                self.warnings.append(
                    f"{self.file} line {number}: {field!r} is given twice with the same value"
                )
        return True

    def _values(self, label: str, found: re.Match[str], number: int) -> list[tuple[str, float]]:
        value = found["value"]
        if label == RUN_TIME_FIELD and re.fullmatch(r"[0-9]{1,6}:[0-5][0-9]:[0-5][0-9]", value):
            hours, minutes, seconds = map(int, value.split(":"))
            return [(label, hours * 3600.0 + minutes * 60 + seconds)]
        if label == CLIENTS_FIELD and (pair := re.fullmatch(rf"{INT}/{INT}", value)):
            return [(label, float(pair[1])), (CLIENTS_OF_FIELD, float(pair[2]))]
        if label == RESPONSE_FIELD and not found["note"]:
            self._response = value
        if label in (RUN_TIME_FIELD, CLIENTS_FIELD) or not re.fullmatch(FLOAT, value):
            rule = {RUN_TIME_FIELD: "HH:MM:SS", CLIENTS_FIELD: "n/N"}.get(label, "a number")
            raise self._damaged(f"bad value of {label!r}", value, number, rule)
        return [(f"{label} ({found['note'].strip()})" if found["note"] else label, float(value))]

    def _damaged(self, problem: str, found: str, line: int, expected: str) -> FormatError:
        return FormatError(problem, file=self.file, line=line, expected=expected, found=found)

    def _compare(self) -> None:
        """Warn of counts that are not throughput times run time.

        The run time is printed in whole seconds and the rate with three decimals; what these two
        roundings allow is no inconsistency.
        """
        run_time = self.summary.get(RUN_TIME_FIELD)
        for count_label, rate_label in COUNT_AND_RATE:
            count, rate = self.summary.get(count_label), self.summary.get(rate_label)
            if run_time is None or count is None or rate is None:
                continue
            if abs(rate * run_time - count) > rate + 0.0005 * run_time + 1:
                self.warnings.append(
                    f"{self.file} line {self.lines[rate_label]}: {rate_label} {rate:g}/s for {run_time:g} s"
                    f" makes {rate * run_time:.0f}, but {count_label} is {count:.0f}"
                )
