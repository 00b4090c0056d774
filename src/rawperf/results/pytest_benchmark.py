"""Results of pytest-benchmark: ``--benchmark-json``, ``--benchmark-save``.

The rounds of a benchmark are of one process.
"""

from __future__ import annotations

from collections import Counter

from rawperf.results.parsing import Node, check_mean, scalar_text
from rawperf.results.result_table import Quantity, ResultBuilder

_SETTINGS = {
    "version": "version",
    "host": "machine_info/node",
    "kernel": "machine_info/release",
    "python": "machine_info/python_version",
    "CPU": "machine_info/cpu/brand_raw",
}
_SUMMARIES = ("min", "max", "median", "stddev")


def parse_pytest_benchmark(builder: ResultBuilder, data: bytes) -> None:
    """Read the time of each round in seconds, or the mean if the file has no single times."""
    document = builder.document(data)
    builder.add_settings(document, _SETTINGS)
    benchmarks = document["benchmarks"].elements()
    if not benchmarks:
        raise document["benchmarks"].error("is empty", "a result for each benchmark")
    keys = [_parameter_keys(node) for node in benchmarks]
    if max(Counter(tuple(k.items()) for k in keys).values()) > 1:  # 1 and "1" are two parameters
        keys = [{"benchmark": node["fullname"].text()} for node in benchmarks]
    has_extra = False
    for node, key in zip(benchmarks, keys, strict=True):
        _add_benchmark(builder, node["stats"], key)
        has_extra |= bool((extra := node.get("extra_info")) and extra.value)
    if has_extra:
        builder.left_out["extra_info"] = "values of the user, without a unit"
    builder.repeats = "process"


def _parameter_keys(node: Node) -> dict[str, str]:
    """Name of a test without its parameters, and these; the whole name if a value is no scalar."""
    name, parameter, values = node["fullname"].text(), node.get("param"), node.get("params")
    members = values.members() if values else {}
    if any(
        not isinstance(value.value, str | int | float | bool | None)
        or str(value.value).startswith("UNSERIALIZABLE[")
        for value in members.values()
    ):
        return {"benchmark": name}
    if parameter and members:
        name = name.removesuffix(f"[{parameter.text()}]")
    return {"benchmark": name} | {key: scalar_text(value.value) for key, value in members.items()}


def _add_benchmark(builder: ResultBuilder, stats: Node, keys: dict[str, str]) -> None:
    mean, data = stats["mean"], stats.get("data")
    rounds = data.elements() if data else []
    if rounds:
        check_mean(mean.number(), data.numbers(), "data", stats.file, mean.line)  # type: ignore[union-attr]
    for node in rounds or [mean]:
        builder.add_node(keys, Quantity("time", "s", "lower"), node, "data" if rounds else "mean")
    for name in () if rounds else _SUMMARIES:
        if value := stats.get(name):
            builder.add_node(keys, Quantity(f"time_{name}", "s"), value, name)
