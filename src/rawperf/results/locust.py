"""CSV files of locust: ``_stats.csv``, ``_stats_history.csv``, ``_failures.csv``.

Source: locust/stats.py of locust 1.0 to 2.47.
"""

from __future__ import annotations

import re

from rawperf.results.parsing import (
    Row,
    delimited_rows,
    percentile_name,
    read_heading,
    table_rows,
)
from rawperf.results.result_table import Quantity, ResultBuilder

_PERCENTILE = re.compile(r"(\d+(?:\.\d+)?)%")
_UNKNOWN = "N/A"
_TIMES = {
    "Average Response Time": Quantity("response_time", "ms", "lower"),
    "Median Response Time": Quantity("response_time_median", "ms"),
    "Min Response Time": Quantity("response_time_min", "ms"),
    "Max Response Time": Quantity("response_time_max", "ms"),
}
_THROUGHPUT = Quantity("throughput", "requests/s", "higher")
_FAILURES = Quantity("failures", "", "lower")
_COUNTS = ("Request Count", "Failure Count")


def parse_locust_stats(builder: ResultBuilder, data: bytes) -> None:
    """Read the row of each request name, and that of all together.

    Throughput is that of requests that did not fail; response times are those of all requests,
    since locust does not tell them apart.
    """
    empty = 0
    columns = ("Name", *_COUNTS, "Requests/s", "Failures/s")
    names, rows = builder.table(builder.text(data), columns)
    for row in rows:
        keys = _keys(row)
        requests, failures = (row.number(column) for column in _COUNTS)
        if not requests:
            empty += 1
            continue
        _add_rates(builder, row, keys, requests, failures)
        served = row.number("Requests/s") - row.number("Failures/s")
        builder.add(keys, _THROUGHPUT, served, "Requests/s", row.line, row.run)
        for column in names:
            known = _time(column)
            if known and row.cells[column] != _UNKNOWN:
                builder.add_cell(keys, known, row, column)
    if empty:
        builder.warnings.append(f"{builder.file}: {empty} rows without a request are left out")
    builder.left_out = {
        name: "a size of the responses" if "Size" in name else "no column of locust"
        for name in names
        if name not in ("Type", "Method", *columns) and not _time(name)
    }


def _keys(row: Row) -> dict[str, str]:
    return {"type": row.cells.get("Type", row.cells.get("Method", "")), "name": row.cells["Name"]}


def _time(column: str) -> Quantity | None:
    match = _PERCENTILE.fullmatch(column)
    if match is None:
        return _TIMES.get(column.removeprefix("Total "))
    if match[1] == "100":  # the maximum, rounded
        return None
    return Quantity(percentile_name("response_time", match[1]), "ms", "lower")


def _add_rates(
    builder: ResultBuilder, row: Row, keys: dict[str, str], requests: float, failures: float
) -> None:
    if not 0 <= failures <= requests:
        raise builder.error(
            "more failures than requests", row.line, f"0 to {requests:g}", f"{failures:g}"
        )
    rate = Quantity("failure_rate", "1", "lower")
    builder.add(keys, rate, failures / requests, "Failure Count", row.line, row.run)
    if failures:
        builder.warn(
            row.line,
            f"{failures:g} of {requests:g} requests of {keys['name']!r} failed; locust's response "
            "times include theirs",
        )


def parse_locust_history(builder: ResultBuilder, data: bytes) -> None:
    """Read the totals of the last row of each name; throughput is that between first and last.

    The other columns are means of overlapping intervals, of which a mean is no mean of the run.
    """
    totals = ("Total Request Count", "Total Failure Count")
    names, rows = builder.table(builder.text(data), ("Timestamp", "Name", *totals))
    by_name: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        by_name.setdefault((row.cells.get("Type", ""), row.cells["Name"]), []).append(row)
    for series in by_name.values():
        _check_growth(builder, series, totals)
        first, last = series[0], series[-1]
        keys, (requests, failures) = _keys(last), (last.number(column) for column in totals)
        if not requests:
            continue
        _add_rates(builder, last, keys, requests, failures)
        seconds = last.number("Timestamp") - first.number("Timestamp")
        if seconds > 0:
            served = requests - failures - first.number(totals[0]) + first.number(totals[1])
            builder.add(keys, _THROUGHPUT, served / seconds, totals[0], last.line, last.run)
        for column in names:
            if column.startswith("Total ") and (known := _time(column)):
                builder.add_cell(keys, known, last, column)
    recent = [n for n in names if n in ("Requests/s", "Failures/s") or _PERCENTILE.fullmatch(n)]
    builder.leave_out(recent, "of the last seconds before each row")


def _check_growth(builder: ResultBuilder, series: list[Row], columns: tuple[str, ...]) -> None:
    """Raise `FormatError` where a time or a total falls: two runs in one file, or damage."""
    for column in ("Timestamp", *columns):
        values = [row.number(column) for row in series]
        for before, after, row in zip(values, values[1:], series[1:], strict=False):
            if after < before:
                expected, remedy = f"at least {before:g}", "a file has one run: split it."
                raise builder.error(f"{column} falls", row.line, expected, f"{after:g}", remedy)


def parse_locust_failures(builder: ResultBuilder, data: bytes) -> None:
    """Read the number of failures of each error, and of all; a file without rows has none."""
    total = 0.0
    rows = delimited_rows(builder.text(data), builder.file)
    line, names = read_heading(rows, ("Name", "Error", "Occurrences"), builder.file)
    for row in table_rows(names, rows, builder.file, line):
        count = row.number("Occurrences")
        total += count
        keys = _keys(row) | {"error": row.cells["Error"]}
        builder.add(keys, _FAILURES, count, "Occurrences", row.line)
    aggregated = {"type": "", "name": "Aggregated", "error": ""}
    builder.add(aggregated, _FAILURES, total, "Occurrences", line)
