"""Summary that YCSB prints at the end of a run.

Source: site.ycsb.measurements (exporters and measurements) of YCSB 0.17.0.
"""

from __future__ import annotations

import re

from rawperf.core.errors import FormatError
from rawperf.results.parsing import decode_lines, parse_number, percentile_name
from rawperf.results.table import Better, ResultBuilder, ResultTable

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


def parse_ycsb(data: bytes, *, file: str) -> ResultTable:
    """Read the throughput of the run and the latencies of each operation.

    Only operations that succeeded count as throughput.
    """
    text, notes = decode_lines(data, file)
    warnings, left_out = list(notes), dict[str, str]()
    runs: list[_Run] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.startswith("["):
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            if re.match(r"\[[A-Z][A-Z_-]*\]", line):
                raise FormatError(
                    "not a line of YCSB's summary",
                    file=file,
                    line=number,
                    expected="[OPERATION], quantity, number",
                    found=line[:80],
                )
            continue
        operation, label = match[1], match[2].strip()
        if operation == "OVERALL" and label.startswith("RunTime"):
            runs.append(_Run())
        if known := next((key for key in _LEFT_OUT if key in operation), ""):
            left_out[f"[...{known}...]"] = _LEFT_OUT[known]
        elif runs:
            _add_line(runs[-1], operation, label, match[3], left_out, warnings, file, number)
    builder = ResultBuilder(file)
    for place, run in enumerate(runs):
        _add_run(builder, run, place, warnings, file)
    return builder.build("ycsb", repeats="runs", left_out=left_out, warnings=warnings)


def _add_line(
    run: _Run,
    operation: str,
    label: str,
    cell: str,
    left_out: dict[str, str],
    warnings: list[str],
    file: str,
    line: int,
) -> None:
    name = f"{label} of {operation}"
    if label.startswith(">") or label.isdigit():
        left_out[f"[{operation}] by bucket"] = _HISTOGRAM
    elif cell == "NaN" and label.startswith("Average"):
        warnings.append(f"{file} line {line}: {operation} has no operations, so no mean latency")
    elif operation == "OVERALL":
        run.overall[label] = parse_number(cell, name, file, line), line
    elif label.startswith("Return="):
        counts = run.returned.setdefault(operation, {})
        counts[label.removeprefix("Return=")] = parse_number(cell, name, file, line), line
    elif label == "Operations":
        run.operations[operation] = parse_number(cell, name, file, line), line
    elif _MEASURE.fullmatch(label):
        run.measures.append((operation, label, parse_number(cell, name, file, line), line))
    else:
        left_out[label] = "no quantity of YCSB"


def _add_run(builder: ResultBuilder, run: _Run, place: int, warnings: list[str], file: str) -> None:
    succeeded = failed = 0.0
    for operation, counts in run.returned.items():
        good = sum(count for state, (count, _) in counts.items() if state in _SUCCESSES)
        total = sum(count for count, _ in counts.values())
        line = next(iter(counts.values()))[1]
        printed = run.operations.get(operation, (good, line))
        if printed[0] not in (good, total) or not total:
            raise FormatError(
                f"the operations of {operation} are not the sum of what they returned",
                file=file,
                line=printed[1],
                expected=f"{good:g}",
                found=f"{printed[0]:g}",
                remedy="the file was changed or damaged: collect it again.",
            )
        succeeded, failed = succeeded + good, failed + total - good
        builder.add(
            {"operation": operation},
            "failure_rate",
            (total - good) / total,
            unit="1",
            better="lower",
            field="Return",
            line=line,
            run=place,
        )
    for label, (value, line) in run.overall.items():
        is_rate = label.startswith("Throughput")
        if failed and is_rate:
            warnings.append(
                f"{file} line {line}: {failed:g} of {failed + succeeded:g} operations failed; "
                f"YCSB's throughput of {value:g} per second includes them, that read here does not"
            )
            value *= succeeded / (failed + succeeded)
        builder.add(
            {"operation": "OVERALL"},
            "throughput" if is_rate else "run_time",
            value,
            unit="ops/s" if is_rate else "ms",
            better="higher" if is_rate else "",
            field=label,
            line=line,
            run=place,
        )
    for operation, label, value, line in run.measures:
        quantity, better, unit = _measure(label)
        builder.add(
            {"operation": operation},
            quantity,
            value,
            unit=unit,
            better=better,
            field=label,
            line=line,
            run=place,
        )


def _measure(label: str) -> tuple[str, Better, str]:
    """Quantity, direction and unit of a label such as ``95thPercentileLatency(us)``."""
    match = _MEASURE.fullmatch(label)
    assert match is not None
    if match[1] == "Average":
        return "latency", "lower", match[2]
    if match[1] in ("Min", "Max"):
        return f"latency_{match[1].lower()}", "", match[2]
    percent = match[1].removesuffix("Percentile").removesuffix("th")
    return percentile_name("latency", percent), "lower", match[2]
