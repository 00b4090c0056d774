"""pgbench: its report, the log of transactions (``-l``) and of intervals (``--aggregate-interval``).

Source: pgbench.c of PostgreSQL 9.6 to 17.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from rawperf.results.formats import PGBENCH_INTERVAL, PGBENCH_TRANSACTION
from rawperf.results.parsing import DAMAGED, ROUNDING
from rawperf.results.result_table import Quantity, ResultBuilder

_KEYS = {
    "transaction type": "script",
    "scaling factor": "scale",
    "query mode": "mode",
    "number of clients": "clients",
    "number of threads": "threads",
}
_NUMBER = r"([\d.]+)"
_THROUGHPUT = Quantity("throughput", "transactions/s", "higher")
_LATENCY, _DEVIATION = Quantity("latency", "ms", "lower"), Quantity("latency_stddev", "ms")
_QUANTITIES = (
    (rf"latency average = {_NUMBER} ms", _LATENCY),
    (rf"latency average: {_NUMBER} ms", _LATENCY),
    (rf"latency stddev[:=]? ?=? ?{_NUMBER} ms", _DEVIATION),
    (rf"initial connection time = {_NUMBER} ms", Quantity("connection_time", "ms")),
    (rf"rate limit schedule lag: avg {_NUMBER} .*", Quantity("schedule_lag", "ms")),
    (
        rf"tps = {_NUMBER} \((?:without initial connection time|excluding connections establishing)\)",
        _THROUGHPUT,
    ),
    (
        rf"tps = {_NUMBER} \((?:including connections establishing|including reconnection times)\)",
        Quantity("throughput_with_connections", "transactions/s"),
    ),
)
_PROCESSED = re.compile(r"number of transactions actually processed: (\d+)(?:/(\d+))?")
_FAILED = re.compile(r"number of (failed transactions|transactions skipped): (\d+) \([\d.]+ ?%\)")
_SCRIPT = re.compile(r"SQL script \d+: (.+)")
_OF_SCRIPT = re.compile(r" - (\d+) transactions \([\d.]+% of total, tps = ([\d.]+)\)")
_SCRIPT_LATENCY = re.compile(r" - latency (average|stddev) = ([\d.]+) ms")
_SCRIPT_FAILED = re.compile(r" - number of failed transactions: (\d+) \(.*\)")


def parse_pgbench(builder: ResultBuilder, data: bytes) -> None:
    """Read the report; a file of several reports has a run each."""
    text = builder.text(data)
    keys: dict[str, str] = {}
    run, processed, missing = -1, 0.0, False
    for number, line in enumerate(text.split("\n"), 1):
        label, colon, rest = line.partition(": ")
        if colon and label in _KEYS:
            if label == "transaction type":
                run, keys, missing = run + 1, {}, True
            keys[_KEYS[label]] = rest.strip()
        elif match := _SCRIPT.fullmatch(line):
            keys = {**keys, "script": match[1]}
        elif match := _PROCESSED.fullmatch(line):
            processed = float(match[1])
        elif match := _FAILED.fullmatch(line):
            is_skipped, count = "skipped" in match[1], float(match[2])
            total = processed + (0.0 if is_skipped else count)
            quantity = Quantity("skip_rate" if is_skipped else "failure_rate", "1", "lower")
            share = count / total if total else 1.0
            builder.add(keys, quantity, share, f"number of {match[1]}", number, run)
        elif match := _OF_SCRIPT.fullmatch(line):
            processed = float(match[1])
            _add(builder, keys, _THROUGHPUT, match[2], number, run)
        elif match := _SCRIPT_FAILED.fullmatch(line):
            count = float(match[1])
            rate = count / (processed + count) if processed + count else 1.0
            builder.add(keys, Quantity("failure_rate", "1", "lower"), rate, "", number, run)
        elif match := _SCRIPT_LATENCY.fullmatch(line):
            latency = _LATENCY if match[1] == "average" else _DEVIATION
            _add(builder, keys, latency, match[2], number, run)
        elif line.startswith(("tps", "latency", "initial connection", "rate limit")):
            _add_line(builder, keys, line, number, run)
            missing &= not line.startswith("tps")
        elif "aborted" in line or line.startswith("pgbench: error"):
            builder.warn(number, line.strip()[:160])
    if missing:
        raise builder.error(
            "the report has no tps",
            text.count("\n") + 1,
            "the complete report of pgbench",
            remedy="it may be truncated, or the run failed: collect it again.",
        )


def _add_line(
    builder: ResultBuilder, keys: dict[str, str], line: str, number: int, run: int
) -> None:
    if line.startswith("latency average") and "(including failures)" in line:
        line = line.replace(" (including failures)", "")
    for pattern, quantity in _QUANTITIES:
        if match := re.fullmatch(pattern, line.rstrip()):
            _add(builder, keys, quantity, match[1], number, run)
            return
    raise builder.error(
        "not a line of pgbench's report",
        number,
        "such as latency average = 1.2 ms, tps = 100 (without initial connection time)",
        line[:80],
    )


def _add(
    builder: ResultBuilder,
    keys: dict[str, str],
    quantity: Quantity,
    cell: str,
    line: int,
    run: int,
) -> None:
    field = "tps" if quantity.unit == "transactions/s" else quantity.name
    builder.add_text(keys, quantity, cell, field, line, max(run, 0))


def parse_pgbench_log(builder: ResultBuilder, data: bytes) -> None:
    """Read the time of each transaction; throughput is transactions over the time they span."""
    rows = _integer_rows(builder, data)
    done = [(number, words) for number, words in rows if words[2].isdigit()]
    has_scripts = len({words[3] for _, words in rows}) > 1
    begins, ends = [], []
    latency = Quantity("latency", "s", "lower")
    for number, words in done:
        seconds = float(words[2]) / 1e6
        ends.append(float(words[4]) + float(words[5]) / 1e6)
        begins.append(ends[-1] - seconds)
        builder.add({"script": words[3]} if has_scripts else {}, latency, seconds, "time", number)
    keys = {"script": "all"} if has_scripts else {}
    if done and max(ends) > min(begins):
        rate = len(done) / (max(ends) - min(begins))
        builder.add(keys, _THROUGHPUT, rate, "transactions over the time they span", done[-1][0])
    skipped = sum(words[2] == "skipped" for _, words in rows)
    if tried := len(rows) - skipped:
        failed = Quantity("failure_rate", "1", "lower")
        builder.add(keys, failed, 1 - len(done) / tried, "failed", rows[-1][0])
    if skipped:
        builder.warnings.append(f"{builder.file}: {skipped} transactions were skipped (-R with -L)")
    builder.repeats = "process"


def parse_pgbench_aggregate(builder: ResultBuilder, data: bytes) -> None:
    """Read the mean latency of all transactions, and the throughput of all complete intervals."""
    rows = [
        (number, [float(word) for word in words]) for number, words in _integer_rows(builder, data)
    ]
    count = sum(row[1] for _, row in rows)
    if not count:
        raise builder.error("no transactions", expected="an interval with transactions")
    for number, row in rows:
        low, high = row[4] * row[1], row[5] * row[1]
        if not low * (1 - ROUNDING) <= row[2] <= high * (1 + ROUNDING):
            raise builder.error(
                "the sum of the latencies does not lie between the smallest and the largest",
                number,
                f"{low:g} to {high:g}",
                f"{row[2]:g}",
                DAMAGED,
            )
    latency, mean = Quantity("latency", "us", "lower"), sum(row[2] for _, row in rows) / count
    builder.add({}, latency, mean, "sum_latency / num_transactions", rows[0][0])
    starts = [row[0] for _, row in rows]
    if starts != sorted(starts):
        place = next(i for i in range(1, len(starts)) if starts[i] < starts[i - 1])
        raise builder.error(
            "the intervals are not in order",
            rows[place][0],
            f"a start after {starts[place - 1]:.0f}",
            f"{starts[place]:.0f}",
        )
    # the first and the last interval are incomplete
    if len(rows) > 2 and starts[-1] > starts[1]:
        served = sum(row[1] for _, row in rows[1:-1])
        rate = served / (starts[-1] - starts[1])
        builder.add({}, _THROUGHPUT, rate, "num_transactions", rows[0][0])
    builder.repeats = "process"


def _integer_rows(builder: ResultBuilder, data: bytes) -> Sequence[tuple[int, list[str]]]:
    """Lines of numbers with as many words as the first."""
    text = builder.text(data)
    rows: list[tuple[int, list[str]]] = []
    pattern = re.compile(
        PGBENCH_TRANSACTION if re.match(PGBENCH_TRANSACTION, text) else PGBENCH_INTERVAL
    )
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        words = line.split()
        if pattern.fullmatch(line.rstrip()) is None or (rows and len(words) != len(rows[0][1])):
            raise builder.error(
                "not a line of pgbench's log",
                number,
                f"{len(rows[0][1]) if rows else 6} numbers",
                line[:80],
                "it may be truncated or damaged: collect it again, or remove the line.",
            )
        rows.append((number, words))
    return rows
