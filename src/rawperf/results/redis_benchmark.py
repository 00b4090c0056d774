"""``redis-benchmark --csv``, of Redis 6.2 and later with a heading, and of older versions without.

Source: redis-benchmark.c of Redis 2.8 to 7.2.
"""

from __future__ import annotations

import re

from rawperf.results.formats import REDIS_BENCHMARK_HEADING
from rawperf.results.parsing import (
    Row,
    decode_lines,
    delimited_rows,
    percentile_name,
    read_heading,
    table_rows,
)
from rawperf.results.table import Better, ResultBuilder, ResultTable

_HEADING = re.compile(REDIS_BENCHMARK_HEADING)
_LATENCY = re.compile(r"(?:(avg|min|max)|p(\d+(?:\.\d+)?))_latency_ms")


def parse_redis_benchmark(data: bytes, *, file: str) -> ResultTable:
    """Read the requests per second and the latencies of each test."""
    text, warnings = decode_lines(data, file)
    rows = delimited_rows(text, file)
    builder = ResultBuilder(file)
    if not _HEADING.match(text):
        for row in table_rows(["test", "rps"], rows, file, 0):
            _add_rate(builder, row)
        return builder.build("redis-benchmark", warnings=warnings)
    line, names = read_heading(rows, ("test", "rps"), file)
    for row in table_rows(names, rows, file, line):
        keys = {"test": row.cells["test"]}
        _add_rate(builder, row)
        for column in names:
            if match := _LATENCY.fullmatch(column):
                quantity, better = _latency(match)
                builder.add_cell(keys, quantity, row, column, unit="ms", better=better)
    return builder.build("redis-benchmark", repeats="runs", warnings=warnings)


def _add_rate(builder: ResultBuilder, row: Row) -> None:
    keys = {"test": row.cells["test"]}
    builder.add_cell(keys, "throughput", row, "rps", unit="requests/s", better="higher")


def _latency(match: re.Match[str]) -> tuple[str, Better]:
    if match[2]:
        return percentile_name("latency", match[2]), "lower"
    return ("latency", "lower") if match[1] == "avg" else (f"latency_{match[1]}", "")
