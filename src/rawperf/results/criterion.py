"""Criterion.rs: ``estimates.json``, ``sample.json`` and ``raw.csv`` of a benchmark, and the messages
of ``cargo criterion --message-format=json``.

Samples are of one process. The two JSON files do not name their benchmark: ``benchmark.json`` beside
them does, or their path.

Source: criterion 0.5, and the documentation of cargo-criterion 1.1.
"""

from __future__ import annotations

import json
from pathlib import Path, PurePath
from typing import Any

from rawperf.results.formats import CRITERION_COLUMNS
from rawperf.results.parsing import Node, Row, check_mean
from rawperf.results.result_table import Quantity, ResultBuilder

_UNITS = ("ps", "ns", "us", "µs", "ms", "s")


_MAX_ABOUT = 64 * 1024
"""Maximum size of ``benchmark.json`` in bytes; it has a few hundred."""


def benchmark_folder(file: Path) -> str:
    """Folder of a file's benchmark below that of all, by ``benchmark.json`` beside it; empty without."""
    return _about(file, "directory_name")


def _about(file: Path, key: str) -> str:
    about: Any = file.with_name("benchmark.json")
    if not about.is_file() or about.is_symlink() or about.stat().st_size > _MAX_ABOUT:
        return ""
    try:
        about = json.loads(about.read_bytes())
    except ValueError:
        return ""
    named = about.get(key) if isinstance(about, dict) else None
    return named if isinstance(named, str) else ""


def _benchmark(builder: ResultBuilder) -> dict[str, str]:
    """Name of a benchmark, by the file beside it, or by its folder:
    ``criterion/GROUP/FUNCTION/new/estimates.json``.

    Raises `FormatError` without either: numbers of different benchmarks would be one.
    """
    path = PurePath(builder.file)
    parts = path.parts
    if name := _about(Path(path), "full_id"):
        return {"benchmark": name}
    if "criterion" in parts[:-3]:
        place = len(parts) - 1 - parts[::-1].index("criterion")
        return {"benchmark": "/".join(parts[place + 1 : -2])}
    raise builder.error(
        "the file does not name its benchmark, nor does its place",
        expected="benchmark.json beside it, or criterion/BENCHMARK/new/estimates.json",
        remedy="keep criterion's folders, or use raw.csv or cargo criterion --message-format=json.",
    )


def _add_time(
    builder: ResultBuilder, keys: dict[str, str], value: float, unit: str, line: int, field: str
) -> None:
    value, unit = (value / 1000, "ns") if unit == "ps" else (value, unit)
    builder.add(keys, Quantity("time", unit, "lower"), value, field, line)


def parse_criterion_estimates(builder: ResultBuilder, data: bytes) -> None:
    """Read the estimates of the time of an iteration, in ns; that of the mean is `time`."""
    document, keys = builder.document(data), _benchmark(builder)
    for name in ("mean", "median", "slope", "std_dev"):
        if estimate := document.get(name):
            point = estimate["point_estimate"]
            low, high = (
                estimate["confidence_interval"][f"{end}_bound"] for end in ("lower", "upper")
            )
            if not low.number() <= point.number() <= high.number():
                raise point.error("lies outside of its interval", f"{low.value} to {high.value}")
            if name == "mean":
                _add_time(builder, keys, point.number(), "ns", point.line, "mean")
            else:
                quantity = f"time_{'stddev' if name == 'std_dev' else name}"
                builder.add_node(keys, Quantity(quantity, "ns"), point, name)
    builder.repeats = "process"


def parse_criterion_sample(builder: ResultBuilder, data: bytes) -> None:
    """Read the time of an iteration in each sample, in ns."""
    document = builder.document(data)
    _add_samples(builder, _benchmark(builder), document["iters"], document["times"], "ns")
    builder.repeats = "process"


def _add_samples(
    builder: ResultBuilder, keys: dict[str, str], counts: Node, times: Node, unit: str
) -> list[float]:
    """Add the time of an iteration in each sample; returns these times."""
    found: list[float] = []
    if len(counts.elements()) != len(times.elements()):
        raise times.error("has another length than the counts", f"{len(counts.value)} times")
    for count, time in zip(counts.elements(), times.elements(), strict=True):
        if count.number() <= 0:
            raise count.error("is no number of iterations", "a number above 0")
        found.append(time.number() / count.number())
        _add_time(builder, keys, found[-1], unit, time.line, "time / iterations")
    return found


def parse_criterion_raw(builder: ResultBuilder, data: bytes) -> None:
    """Read the time of an iteration in each sample of ``raw.csv``."""
    _, rows = builder.table(builder.text(data), CRITERION_COLUMNS)
    for row in rows:
        _add_raw_row(builder, row)
    builder.repeats = "process"


def _add_raw_row(builder: ResultBuilder, row: Row) -> None:
    if row.cells["unit"] not in _UNITS:
        raise row.error("unit", ", ".join(_UNITS))
    count = row.number("iteration_count")
    if count <= 0:
        raise row.error("iteration_count", "a number above 0")
    parts = (row.cells[name] for name in ("group", "function", "value"))
    value = row.number("sample_measured_value") / count
    keys = {"benchmark": "/".join(part for part in parts if part)}
    _add_time(builder, keys, value, row.cells["unit"], row.line, "sample_measured_value")


def parse_criterion_messages(builder: ResultBuilder, data: bytes) -> None:
    """Read the messages ``benchmark-complete``: the time of an iteration in each sample."""
    for message in builder.documents(data):
        if message["reason"].value == "benchmark-complete":
            unit = message["unit"].text()
            if unit not in _UNITS:
                raise message["unit"].error("is no unit of time", ", ".join(_UNITS))
            keys = {"benchmark": message["id"].text()}
            counts, values = message["iteration_count"], message["measured_values"]
            times = _add_samples(builder, keys, counts, values, unit)
            mean = message["mean"]["estimate"]
            check_mean(mean.number(), times, "measured_values", builder.file, mean.line)
    builder.repeats = "process"
