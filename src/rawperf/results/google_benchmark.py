"""Results of Google Benchmark: ``--benchmark_format=json`` and ``csv``, or ``--benchmark_out``.

Repetitions are of one process. Their aggregates (mean, median, ...) are no further repetitions.

Source: src/json_reporter.cc and src/csv_reporter.cc of Google Benchmark 1.4 to 1.9.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rawperf.results.formats import GOOGLE_BENCHMARK_HEADING
from rawperf.results.parsing import (
    Node,
    Row,
    delimited_rows,
    read_heading,
    table_rows,
    user_quantity,
)
from rawperf.results.result_table import Quantity, ResultBuilder

_UNITS = ("ns", "us", "ms", "s")
_TIMES = ("real_time", "cpu_time")
_MEASURED = {
    "items_per_second": Quantity("throughput", "items/s", "higher"),
    "bytes_per_second": Quantity("bandwidth", "B/s", "higher"),
}
_DESCRIPTIVE = frozenset(
    {
        "name",
        "run_name",
        "run_type",
        "family_index",
        "per_family_instance_index",
        "repetitions",
        "repetition_index",
        "threads",
        "iterations",
        "time_unit",
        "aggregate_name",
        "aggregate_unit",
        "label",
        "error_occurred",
        "error_message",
        "skipped",
        "skip_message",
    }
)
_AGGREGATE = re.compile(r"(.*)_(mean|median|stddev|cv|BigO|RMS|min|max)")
_SETTINGS = {
    "host": "host_name",
    "cpus": "num_cpus",
    "CPU scaling": "cpu_scaling_enabled",
    "library version": "library_version",
    "library build": "library_build_type",
}
_LEFT_OUT = {"iterations": "a number that the tool chose"}


def parse_google_benchmark_json(builder: ResultBuilder, data: bytes) -> None:
    """Read each repetition, or the means if the file has aggregates only."""
    builder.left_out = _LEFT_OUT
    document = builder.document(data)
    nodes = document["benchmarks"].elements()
    repeated = {_run_name(node) for node in nodes if not _aggregate(node)}
    builder.add_settings(document.get("context"), _SETTINGS)
    for node in nodes:
        aggregate, name = _aggregate(node), _run_name(node)
        if aggregate not in ("", "mean") or (aggregate and name in repeated):
            continue
        keys = {"benchmark": name}
        failed = bool((error := node.get("error_occurred")) and error.value)
        builder.add_failure(keys, failed=failed, field="error_occurred", line=node.line)
        if failed or ((skipped := node.get("skipped")) and skipped.value):
            message = node.get("error_message") or node.get("skip_message")
            reason = message.text()[:120] if message else "no reason is given"
            builder.warn(node.line, f"{name} has no result: {reason}")
            continue
        unit = node["time_unit"].text()
        if unit not in _UNITS:
            raise node["time_unit"].error("is no unit of time", ", ".join(_UNITS))
        for required in _TIMES:
            node[required]
        for field, value in node.members().items():
            if field not in _DESCRIPTIVE and value.is_number():
                builder.add_node(keys, _quantity(field, unit), value, field)
    builder.repeats = "process"


def _quantity(field: str, unit: str) -> Quantity:
    """Quantity of a field; `unit` is that of the times."""
    if field in _TIMES:
        return Quantity("time" if field == "real_time" else field, unit, "lower")
    return _MEASURED.get(field, Quantity(user_quantity(field)))


def _run_name(node: Node) -> str:
    named = node.get("run_name")
    if named:
        return named.text()
    match = _AGGREGATE.fullmatch(node["name"].text())
    return match[1] if match else node["name"].text()


def _aggregate(node: Node) -> str:
    """Name of an aggregate, "" for a repetition; versions before 1.4.1 name it in `name` only."""
    kind = node.get("run_type")
    if kind:
        return node["aggregate_name"].text() if kind.text() == "aggregate" else ""
    match = _AGGREGATE.fullmatch(node["name"].text())
    return match[2] if match else ""


def parse_google_benchmark_csv(builder: ResultBuilder, data: bytes) -> None:
    """Read each repetition, or the means; lines before the heading describe the machine."""
    builder.left_out = _LEFT_OUT
    text = builder.text(data)
    before, mark, after = text.partition(GOOGLE_BENCHMARK_HEADING)
    rows = delimited_rows("\n" * before.count("\n") + mark + after, builder.file)
    line, names = read_heading(rows, ("name", *_TIMES, "time_unit"), builder.file)
    table = list(table_rows(names, _padded(names, rows), builder.file, line))
    aggregates = _csv_aggregates([row.cells["name"] for row in table])
    repeated = {
        row.cells["name"] for row, (_, kind) in zip(table, aggregates, strict=True) if not kind
    }
    for row, (name, aggregate) in zip(table, aggregates, strict=True):
        if aggregate not in ("", "mean") or (aggregate and name in repeated):
            continue
        failed = row.cells.get("error_occurred", "").lower() in ("true", "1")
        keys = {"benchmark": name}
        builder.add_failure(keys, failed=failed, field="error_occurred", line=row.line, run=row.run)
        if failed:
            message = row.cells.get("error_message", "")[:120]
            builder.warn(row.line, f"{name} has no result: {message}")
            continue
        _add_csv_row(builder, row, keys)
    builder.repeats = "process"


def _padded(
    names: list[str], rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[int, list[str]]]:
    """Pad the row of a benchmark that failed: it has no cells for counters of the user."""
    place = names.index("error_occurred") if "error_occurred" in names else len(names)
    for line, cells in rows:
        has_failed = cells[place : place + 1] == ["true"] and len(cells) >= place + 2
        yield line, cells + [""] * (len(names) - len(cells)) if has_failed else cells


def _csv_aggregates(names: list[str]) -> list[tuple[str, str]]:
    """Name of the benchmark and of the aggregate of each row.

    A name such as ``BM_min`` is that of an aggregate only in a file with aggregates.
    """
    matches = [_AGGREGATE.fullmatch(name) for name in names]
    groups: dict[str, set[str]] = {}
    for match in matches:
        if match:
            groups.setdefault(match[1], set()).add(match[2])
    is_aggregated = any({"mean", "median", "stddev"} <= group for group in groups.values())
    return [
        (match[1], match[2])
        if match
        and (
            match[1] in names
            or match[2] in ("BigO", "RMS")
            or (is_aggregated and match[2] not in ("min", "max"))
        )
        else (name, "")
        for name, match in zip(names, matches, strict=True)
    ]


def _add_csv_row(builder: ResultBuilder, row: Row, keys: dict[str, str]) -> None:
    unit = row.cells["time_unit"]
    if unit not in _UNITS:
        raise row.error("time_unit", ", ".join(_UNITS))
    for field, cell in row.cells.items():
        if field not in _DESCRIPTIVE and cell:
            builder.add_cell(keys, _quantity(field, unit), row, field)
