"""``redis-benchmark --csv``, of Redis 6.2 and later with a heading, and of older versions without.

Source: redis-benchmark.c of Redis 2.8 to 7.2.
"""

from __future__ import annotations

import re

from rawperf.results.formats import REDIS_BENCHMARK_HEADING
from rawperf.results.parsing import Row, delimited_rows, percentile_name, table_rows
from rawperf.results.result_table import Quantity, ResultBuilder

_HEADING = re.compile(REDIS_BENCHMARK_HEADING)
_LATENCY = re.compile(r"(?:(avg|min|max)|p(\d+(?:\.\d+)?))_latency_ms")


def parse_redis_benchmark(builder: ResultBuilder, data: bytes) -> None:
    """Read the requests per second and the latencies of each test."""
    text = builder.text(data)
    if not _HEADING.match(text):
        for row in table_rows(["test", "rps"], delimited_rows(text, builder.file), builder.file, 0):
            _add_rate(builder, row)
        builder.repeats = ""
        return
    names, rows = builder.table(text, ("test", "rps"))
    for row in rows:
        keys = {"test": row.cells["test"]}
        _add_rate(builder, row)
        for column in names:
            if match := _LATENCY.fullmatch(column):
                builder.add_cell(keys, _latency(match), row, column)
    others = [n for n in names if n not in ("test", "rps") and not _LATENCY.fullmatch(n)]
    builder.leave_out(others, "no column of redis-benchmark")


def _add_rate(builder: ResultBuilder, row: Row) -> None:
    keys = {"test": row.cells["test"]}
    builder.add_cell(keys, Quantity("throughput", "requests/s", "higher"), row, "rps")


def _latency(match: re.Match[str]) -> Quantity:
    if match[2]:
        return Quantity(percentile_name("latency", match[2]), "ms", "lower")
    if match[1] == "avg":
        return Quantity("latency", "ms", "lower")
    return Quantity(f"latency_{match[1]}", "ms")
