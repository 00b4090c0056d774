"""memtier_benchmark: its table and ``--json-out-file``.

Source: run_stats.cpp of memtier_benchmark 1.2 to 2.2.
"""

from __future__ import annotations

import re

from rawperf.results.formats import MEMTIER_HEADING
from rawperf.results.parsing import (
    Node,
    percentile_name,
)
from rawperf.results.result_table import Quantity, ResultBuilder

_HEADING = re.compile(MEMTIER_HEADING)
_SECTION = re.compile(
    r"(ALL STATS|(?:BEST|WORST) RUN RESULTS|RUN #(\d+) RESULTS|AGGREGATED AVERAGE RESULTS.*)"
)
_LATENCY = re.compile(r"(?:Avg\.|Average)? ?Latency")
_PERCENTILE = re.compile(r"p(\d+(?:\.\d+)?)(?: Latency)?")
_RATES = {
    "Ops/sec": Quantity("throughput", "ops/s", "higher"),
    "KB/sec": Quantity("bandwidth", "KiB/s", "higher"),
    "Hits/sec": Quantity("hits", "1/s"),
    "Misses/sec": Quantity("misses", "1/s"),
    "MOVED/sec": Quantity("moved", "1/s"),
    "ASK/sec": Quantity("asked", "1/s"),
}
_LEFT_OUT = {"BEST and WORST RUN RESULTS": "chosen from several runs"}


def _quantity(field: str) -> Quantity | None:
    """Quantity of a column."""
    if match := _PERCENTILE.fullmatch(field):
        return Quantity(percentile_name("latency", match[1]), "ms", "lower")
    is_mean = _LATENCY.fullmatch(field)
    return Quantity("latency", "ms", "lower") if is_mean else _RATES.get(field)


def _chosen(sections: list[str]) -> dict[str, int]:
    """Sections to read, with their runs: each run if printed, else the mean of all, else all."""
    runs = {name: int(m[1]) for name in sections if (m := re.match(r"RUN #(\d+) ", name))}
    mean = next((name for name in sections if name.startswith("AGGREGATED")), "")
    return runs or ({mean: 0} if mean else {name: 0 for name in sections if name == "ALL STATS"})


def parse_memtier(builder: ResultBuilder, data: bytes) -> None:
    """Read the table of each operation; an operation that was not used has no row."""
    sections: dict[str, tuple[list[str], list[tuple[int, list[str]]]]] = {}
    name, in_table = "ALL STATS", False
    for number, line in builder.lines(data):
        if match := _SECTION.fullmatch(line.strip()):
            name, in_table = match[1], False
        elif _HEADING.match(line):
            if name in sections:
                raise builder.error(f"two tables of {name}", number, "one report")
            sections[name], in_table = (re.split(r"\s{2,}", line.strip()), []), True
        elif in_table and (not line.strip() or line.startswith(" ")):
            in_table = False
        elif in_table and not line.startswith("--"):
            sections[name][1].append((number, line.split()))
    chosen = _chosen(list(sections))
    for name, run in chosen.items():
        names, rows = sections[name]
        for number, cells in rows:
            if len(cells) != len(names):
                raise builder.error(
                    "a row does not fit the heading",
                    number,
                    f"{len(names)} columns",
                    f"{len(cells)} columns",
                )
            if cells[1] != "0.00":
                _add_row(builder, dict(zip(names, cells, strict=True)), number, run)
        if not rows or rows[-1][1][0] != "Totals":
            raise builder.error(
                f"the table of {name} has no row Totals",
                rows[-1][0] if rows else None,
                "the complete table",
                remedy="it may be truncated: collect it again.",
            )
    builder.left_out = _LEFT_OUT if len(sections) > len(chosen) else {}


def _add_row(builder: ResultBuilder, cells: dict[str, str], line: int, run: int) -> None:
    for field, cell in cells.items():
        if (known := _quantity(field)) and cell != "---":
            builder.add_text({"operation": cells["Type"]}, known, cell, field, line, run)


_SETTINGS = (
    "protocol",
    "threads",
    "clients",
    "pipeline",
    "data_size",
    "ratio",
    "key_pattern",
    "key_minimum",
    "key_maximum",
    "test_time",
    "rate_limit",
)


def parse_memtier_json(builder: ResultBuilder, data: bytes) -> None:
    """Read the results of each operation; an operation that was not used has no row."""
    document = builder.document(data)
    sections = [name for name in document.members() if _SECTION.fullmatch(name)]
    chosen = _chosen(sections)
    builder.add_settings(document.get("configuration"), {name: name for name in _SETTINGS})
    for name, run in chosen.items():
        for operation, node in document[name].members().items():
            is_result = isinstance(node.value, dict) and "Ops/sec" in node.value
            if is_result and node["Count"].number() > 0:
                _add_operation(builder, operation, node, run)
    builder.left_out = _LEFT_OUT if len(sections) > len(chosen) else {}


def _add_operation(builder: ResultBuilder, operation: str, node: Node, run: int) -> None:
    members = node.members()
    if "Average Latency" in members:
        members.pop("Latency", None)
    if percentiles := members.get("Percentile Latencies"):
        members |= percentiles.members()
    low, high = node["Min Latency"].number(), node["Max Latency"].number()
    for field, value in members.items():
        known = _quantity(field)
        if known is None or not value.is_number():
            continue
        if known.unit == "ms" and not (
            value.number() > 0
            and low <= value.number() <= high
            and (known.name != "latency" or _is_mean(node, value))
        ):
            builder.warn(
                value.line,
                f"{field} of {operation} is left out: {value.value} contradicts the accumulated, "
                "smallest or largest latency (known of the row Totals of memtier)",
            )
            continue
        builder.add_node({"operation": operation}, known, value, field, run=run)
    if errors := node.get("Connection Errors"):
        failures = Quantity("failures", better="lower")
        builder.add_node({"operation": operation}, failures, errors, "Connection Errors", run=run)


def _is_mean(node: Node, mean: Node) -> bool:
    """Whether a mean latency is the accumulated latency, in whole ms, by the number of requests."""
    count, total = node["Count"].number(), node["Accumulated Latency"].number()
    return abs(total / count - mean.number()) <= 1 / count + 0.001
