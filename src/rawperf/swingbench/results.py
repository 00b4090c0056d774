"""Results of SwingBench from any of its files: numbers, texts, and consistency checks.

The names are the tool's own, misspellings included.
"""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.base import ParsedFile, Warnings, build_records
from rawperf.core.errors import FileReader
from rawperf.text import parse_numbers

OVERVIEW, CONFIGURATION, DML = "Overview", "Configuration", "DMLResults"
TRANSACTIONS, READINGS = "TransactionResults", "TPSReadings"
SECTIONS = (OVERVIEW, CONFIGURATION, DML, TRANSACTIONS, READINGS)
DRIVER, TRANSACTION = "driver", "transaction"

TEXTS = {
    OVERVIEW: ("BenchmarkName", "Comment", "TimeOfRun"),
    CONFIGURATION: ("ConnectString", "TimingsIn", "WaitTillAllLogon", "Driver"),
}
PERCENTILES = (
    "TenthPrecentile",
    "TwentiethPercentile",
    "ThirtiethPercentile",
    "FortiethPrecentile",
    "FiftythPercentile",
    "SixtiethPercentile",
    "SeventiethPercentile",
    "EightiethPercentile",
    "NinetiethPercentile",
)
DURATIONS = ("TotalRunTime", "TotalLogonTime")
FIELDS = {
    OVERVIEW: (
        *DURATIONS,
        "TotalCompletedTransactions",
        "TotalFailedTransactions",
        "AverageTransactionsPerSecond",
        "MaximumTransactionRate",
    ),
    CONFIGURATION: (
        "NumberOfUsers",
        "MinimumInterThinkTime",
        "MaximumInterThinkTime",
        "MinimumIntraThinkTime",
        "MaximumIntraThinkTime",
    ),
    DML: (
        "SelectStatements",
        "InsertStatements",
        "UpdateStatements",
        "DeleteStatements",
        "CommitStatements",
        "RollbackStatements",
    ),
    TRANSACTIONS: (
        "AverageResponse",
        "MinimumResponse",
        "MaximumResponse",
        "TransactionCount",
        "FailedTransactionCount",
        "RollbackCount",
        "GeometricMean",
        *PERCENTILES,
    ),
}
RESPONSE, COUNT = "AverageResponse", "TransactionCount"
UNIT = "milliseconds"
_PERCENTILE = re.compile(r"\w+centile")

_DURATION = re.compile(r"(\d{1,6}):([0-5]\d):([0-5]\d)(?:\.(\d{3}))?", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,18}(?:\.\d{0,30})?(?:[eE][+-]?\d{1,2})?", re.ASCII)
_MISSING_NUMBERS = ("NaN", "")  # Java's mean of no values
LATEST = 1e14  # milliseconds; the year 5138
NAMESPACE, NOT_READ = "xmlns", "not read"
MAX_UNKNOWN_NAMES = 50


class ResultCollector(FileReader):
    """Collector of one run's results; `parsed_file` returns them in the tool's own order."""

    def __init__(self, file: str) -> None:
        self.file, self._warnings = file, Warnings(file)
        self.info: dict[str, str] = {}
        self.unknown_elements: dict[str, None] = {}
        # section, transaction, field -> value, line
        self.values: dict[tuple[str, str, str], tuple[float, int]] = {}
        self.times = self.tps = np.array([], dtype=float)
        self.readings_line = 0
        self.is_complete = True

    def add(self, section: str, transaction: str, name: str, text: str, line: int) -> None:
        """Add one element; raises `FormatError` for a duplicate, or text instead of a number."""
        text = text.strip()
        key = (section, transaction, name)
        label = name if name in TEXTS.get(section, ()) else f"{section}/{name}"
        if key in self.values or label in self.info:
            raise self.error(
                f"{name} is given twice", line, f"once in {transaction or section}", text or None
            )
        duration = _DURATION.fullmatch(text)
        if name in TEXTS.get(section, ()):
            self.info[name] = text
        elif name in DURATIONS and duration:
            hours, minutes, seconds, thousandths = (int(part or 0) for part in duration.groups())
            self.values[key] = (
                (((hours * 60 + minutes) * 60 + seconds) * 1000 + thousandths) / 1000,
                line,
            )
        elif name not in DURATIONS and _NUMBER.fullmatch(text):
            self.values[key] = float(text), line
        elif section not in TEXTS or name in FIELDS[section]:
            if text not in _MISSING_NUMBERS:
                expected = "H:MM:SS" if name in DURATIONS else "a number with a decimal point"
                raise self.error(f"invalid value of {name}", line, expected, text or None)
        else:
            self.info[label] = text

    def note_unread(self, path: str) -> None:
        """Record an unknown element."""
        if len(self.unknown_elements) < MAX_UNKNOWN_NAMES:
            self.unknown_elements[path] = None

    def add_readings(self, text: str, line: int, is_complete: bool = True) -> None:
        """Add the series ``epoch milliseconds, rate, ...``; `is_complete` is False if it is truncated."""
        if self.readings_line or len(self.times):
            raise self.error("TPSReadings is given twice", line, "one series", text[:40] or None)
        tokens = pc.ascii_trim_whitespace(
            pc.split_pattern(pa.array([text], pa.string()), ",").flatten()
        )
        # a comma ends each token; the rest is empty, or a truncated number
        count = len(tokens) - 1
        if is_complete and tokens[count].as_py():
            count += 1
        if count % 2 and is_complete:
            raise self.error(
                "TPSReadings has an odd number of values", line, "time, rate, time, rate, ..."
            )
        values, invalid = parse_numbers(tokens.slice(0, count - count % 2))
        if invalid < 0 and len(values):
            is_invalid = (
                (values[::2] < 0)
                | (values[::2] > LATEST)
                | (values[::2] % 1 != 0)
                | (values[1::2] < 0)
            )
            invalid = 2 * int(is_invalid.argmax()) if is_invalid.any() else -1
        if invalid >= 0:
            expected = "milliseconds since 1970 and transactions per second"
            raise self.error(
                "TPSReadings contains an invalid time or rate", line, expected, str(tokens[invalid])
            )
        self.times, self.tps, self.readings_line = values[::2] / 1000, values[1::2], line
        if (np.diff(self.times) <= 0).any():
            self._warnings.add_always(
                line, "the times of TPSReadings do not increase; was the clock set back?"
            )

    def parsed_file(self) -> ParsedFile:
        """Records in the tool's own order, and the mean response over all transactions.

        The mean is weighted by counts and follows the transactions. Raises `FormatError`: no number
        at all, or unsupported unit of response times than milliseconds.
        """
        if not self.values and not len(self.times):
            raise self.error(
                "no results of SwingBench",
                expected=f"numbers in {', '.join(SECTIONS)}",
                remedy="use the results file of charbench -r.",
            )
        self._check()
        transaction_order = {"": 0}
        for _, transaction, _ in self.values:
            transaction_order.setdefault(transaction, len(transaction_order))
        rows = dict(
            sorted(self.values.items(), key=lambda item: _sort_key(item[0], transaction_order))
        )
        if (overall := self._weighted_mean_response()) is not None:
            rows[TRANSACTIONS, "", RESPONSE] = overall
        sections, transactions, names = ([key[part] for key in rows] for part in range(3))
        kinds = [TRANSACTION if transaction else DRIVER for transaction in transactions]
        values = np.array([value for value, _ in rows.values()], dtype=float)
        frame = build_records(
            sections, kinds, transactions, names, np.full(len(rows), np.nan), values
        )
        series = build_records(READINGS, DRIVER, "", READINGS, self.times, self.tps)
        lines = [*(line for _, line in rows.values()), *[self.readings_line] * len(series)]
        records = pd.concat([part for part in (frame, series) if len(part)], ignore_index=True)
        info = self.info | (
            {NOT_READ: " ".join(sorted(self.unknown_elements))} if self.unknown_elements else {}
        )
        line_numbers = np.array(lines, dtype=np.int64)
        return ParsedFile(records, "absolute", info, self._warnings.drain(), line_numbers)

    def _by_transaction(self, field: str) -> dict[str, tuple[float, int]]:
        """Value and line of a field by transaction."""
        return {
            t: v
            for (section, t, name), v in self.values.items()
            if (section, name) == (TRANSACTIONS, field)
        }

    def _weighted_mean_response(self) -> tuple[float, int] | None:
        """Mean response over all transactions, weighted by count, and the line of the first."""
        means, counts = self._by_transaction(RESPONSE), self._by_transaction(COUNT)
        count_by_transaction = {t: count for t, (count, _) in counts.items() if count > 0}
        lacking = [*(means.keys() - counts.keys()), *(count_by_transaction.keys() - means.keys())]
        if lacking and count_by_transaction:
            lines = [line for _, line in (*means.values(), *counts.values())]
            self._warnings.add_always(
                min(lines),
                f"no mean response time over all transactions: {min(lacking)!r} has only one of "
                f"{RESPONSE} and {COUNT}",
            )
        if lacking or not count_by_transaction:
            return None
        mean = math.fsum(
            count * means[t][0] for t, count in count_by_transaction.items()
        ) / math.fsum(count_by_transaction.values())
        return mean, means[next(iter(count_by_transaction))][1]

    def _check(self) -> None:
        """Warn of inconsistent numbers; raises `FormatError` for another unit."""
        unit = self.info.get("TimingsIn")
        results = [(t, name) for section, t, name in self.values if section == TRANSACTIONS]
        line = next(
            (line for (section, _, _), (_, line) in self.values.items() if section == TRANSACTIONS),
            0,
        )
        if unit is not None and unit.lower() != UNIT:
            raise self.error("unsupported unit of response times", expected=UNIT, found=unit)
        if results and unit is None:
            self._warnings.add_always(
                line, f"TimingsIn, the unit of response times, is missing; {UNIT} were assumed"
            )
        names = ("TotalRunTime", "TotalCompletedTransactions", "AverageTransactionsPerSecond")
        total, completed, rate = (self.values.get((OVERVIEW, "", name)) for name in names)
        counts = [count for count, _ in self._by_transaction(COUNT).values()]
        if self.is_complete and counts and completed and math.fsum(counts) != completed[0]:
            sentence = f"the transaction counts sum to {math.fsum(counts):.0f}, but {completed[0]:.0f} were completed"
            self._warnings.add_always(completed[1], sentence)
        # tolerance: one second of run time, a hundredth of the rate
        if total and completed and rate and total[0] > 1:
            low, high = completed[0] / (total[0] + 1) - 0.01, completed[0] / (total[0] - 1) + 0.01
            if not low <= rate[0] <= high:
                sentence = (
                    f"{completed[0]:.0f} transactions in {total[0]:g} s "
                    f"do not match the rate of {rate[0]:g} per second"
                )
                self._warnings.add_always(rate[1], sentence)
        occurrences = dict.fromkeys((t for t, _ in results), 0)
        for t, name in results:
            occurrences[t] += _PERCENTILE.fullmatch(name) is not None
        lacking = [t for t, percentiles in occurrences.items() if percentiles < len(PERCENTILES)]
        if lacking and self.is_complete:
            self._warnings.add_always(
                line,
                f"{len(lacking)} of {len(occurrences)} transactions lack percentiles, first {lacking[0]!r}",
            )


def _sort_key(key: tuple[str, str, str], transaction_order: dict[str, int]) -> tuple[int, int, int]:
    section, transaction, name = key
    fields = FIELDS[section]
    return (
        SECTIONS.index(section),
        transaction_order[transaction],
        fields.index(name) if name in fields else len(fields),
    )
