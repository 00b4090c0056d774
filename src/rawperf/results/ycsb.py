"""Summary that YCSB prints at the end of a run.

Source: site.ycsb.measurements (exporters and measurements) of YCSB 0.17.0.
"""

from __future__ import annotations

import re

from rawperf.results.parsing import DAMAGED, percentile_name
from rawperf.results.result_table import Quantity, ResultBuilder

_LINE = re.compile(r"\[([^\]]+)\], ?([^,]+), ?(\S+)\s*")
_MEASURE = re.compile(r"(Average|Min|Max|\d+(?:\.\d+)?(?:th)?Percentile)Latency\((us|ms)\)")
_SUCCESSES = ("OK", "BATCHED_OK", "0")
_LEFT_OUT = {
    "CLEANUP": "closing of connections",
    "-FAILED": "times of operations that failed",
    "TOTAL_GC": "garbage collection of the client",
}
_HISTOGRAM = "its buckets or intervals are no results of the run"


class _Run:
    """Numbers of one run: throughput, measures and returned states, with their lines."""

    def __init__(self) -> None:
        self.overall: dict[str, tuple[float, int]] = {}
        self.measures: list[tuple[str, str, float, int]] = []
        self.returned: dict[str, dict[str, tuple[float, int]]] = {}
        self.operations: dict[str, tuple[float, int]] = {}


def parse_ycsb(builder: ResultBuilder, data: bytes) -> None:
    """Read the throughput of the run and the latencies of each operation.

    Only operations that succeeded count as throughput.
    """
    runs: list[_Run] = []
    for number, line in builder.lines(data):
        if not line.startswith("["):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            if re.match(r"\[[A-Z][A-Z_-]*\]", line):
                raise builder.error(
                    "not a line of YCSB's summary",
                    number,
                    "[OPERATION], quantity, number",
                    line[:80],
                )
            continue
        operation, label = match[1], match[2].strip()
        if operation == "OVERALL" and label.startswith("RunTime"):
            runs.append(_Run())
        if known := next((key for key in _LEFT_OUT if key in operation), ""):
            builder.left_out[f"[...{known}...]"] = _LEFT_OUT[known]
        elif runs:
            _add_line(builder, runs[-1], operation, label, match[3], number)
    for place, run in enumerate(runs):
        _add_run(builder, run, place)


def _add_line(
    builder: ResultBuilder, run: _Run, operation: str, label: str, cell: str, line: int
) -> None:
    name = f"{label} of {operation}"
    if label.startswith(">") or label.isdigit():
        builder.left_out[f"[{operation}] by bucket"] = _HISTOGRAM
    elif cell == "NaN" and label.startswith("Average"):
        builder.warn(line, f"{operation} has no operations, so no mean latency")
    elif operation == "OVERALL":
        run.overall[label] = builder.number(cell, name, line), line
    elif label.startswith("Return="):
        counts = run.returned.setdefault(operation, {})
        counts[label.removeprefix("Return=")] = builder.number(cell, name, line), line
    elif label == "Operations":
        run.operations[operation] = builder.number(cell, name, line), line
    elif _MEASURE.fullmatch(label):
        run.measures.append((operation, label, builder.number(cell, name, line), line))
    else:
        builder.left_out[label] = "no quantity of YCSB"


def _add_run(builder: ResultBuilder, run: _Run, place: int) -> None:
    succeeded = failed = 0.0
    for operation, counts in run.returned.items():
        good = sum(count for state, (count, _) in counts.items() if state in _SUCCESSES)
        total = sum(count for count, _ in counts.values())
        line = next(iter(counts.values()))[1]
        printed = run.operations.get(operation, (good, line))
        if printed[0] not in (good, total) or not total:
            raise builder.error(
                f"the operations of {operation} are not the sum of what they returned",
                printed[1],
                f"{good:g}",
                f"{printed[0]:g}",
                DAMAGED,
            )
        succeeded, failed = succeeded + good, failed + total - good
        rate, failures = Quantity("failure_rate", "1", "lower"), (total - good) / total
        builder.add({"operation": operation}, rate, failures, "Return", line, place)
    for label, (value, line) in run.overall.items():
        is_rate = label.startswith("Throughput")
        if failed and is_rate:
            builder.warn(
                line,
                f"{failed:g} of {failed + succeeded:g} operations failed; YCSB's throughput of "
                f"{value:g} per second includes them, that read here does not",
            )
            value *= succeeded / (failed + succeeded)
        rate, time = Quantity("throughput", "ops/s", "higher"), Quantity("run_time", "ms")
        builder.add({"operation": "OVERALL"}, rate if is_rate else time, value, label, line, place)
    for operation, label, value, line in run.measures:
        builder.add({"operation": operation}, _measure(label), value, label, line, place)


def _measure(label: str) -> Quantity:
    """Quantity of a label such as ``95thPercentileLatency(us)``."""
    match = _MEASURE.fullmatch(label)
    assert match is not None
    if match[1] == "Average":
        return Quantity("latency", match[2], "lower")
    if match[1] in ("Min", "Max"):
        return Quantity(f"latency_{match[1].lower()}", match[2])
    percent = match[1].removesuffix("Percentile").removesuffix("th")
    return Quantity(percentile_name("latency", percent), match[2], "lower")
