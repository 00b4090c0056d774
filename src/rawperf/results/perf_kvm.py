"""``perf kvm stat report`` and ``live``: exits of virtual machines by reason.

Source: `print_result` of tools/perf/builtin-kvm.c, Linux 3.9 to 6.1.
"""

from __future__ import annotations

import math
import re

from rawperf.core.errors import FormatError
from rawperf.results.parsing import DAMAGED
from rawperf.results.result_table import Quantity, ResultBuilder

_EXITS = Quantity("exits")

_HEADING = re.compile(
    r"\s*(?P<event>[A-Za-z][\w /-]*?) +Samples +Samples% +Time% (?P<times> *Min Time +Max Time)? +Avg time\s*"
)
_SCOPE = re.compile(r"Analyze events for (.+?):?\s*")
_ROW = re.compile(
    r"\s*(?P<reason>\S.*?) +(?P<samples>\d+) +(?P<share>[\d.]+)% +(?P<time_share>[\d.]+)%"
    r"(?: +(?P<min>[\d.]+)us +(?P<max>[\d.]+)us)? +(?P<mean>[\d.]+)us \( \+- *(?P<error>[\d.]+|-?nan)% \)\s*"
)
_TOTAL = re.compile(r"Total Samples:(\d+), Total events handled time:([\d.]+)us\.\s*")
_LOST = re.compile(r"Lost events: (\d+)\s*")


def parse_perf_kvm(builder: ResultBuilder, data: bytes) -> None:
    """Read the exits of each reason; tables of ``live`` are repetitions within a run.

    Raises `FormatError` where the samples are not the printed total.
    """
    scope, event, counts, start = "", "", list[float](), 0
    for number, line in builder.lines(data):
        if match := _SCOPE.fullmatch(line):
            scope = match[1]
        elif match := _HEADING.fullmatch(line):
            if counts:
                raise _without_total(builder, start)
            event, start = match["event"], number
        elif match := _TOTAL.fullmatch(line):
            total = float(match[1])
            if not event or sum(counts) != total:
                raise builder.error(
                    "the samples are not the printed total",
                    number,
                    f"{total:.0f}",
                    f"{sum(counts):.0f}",
                    DAMAGED,
                )
            keys = {"scope": scope, "reason": f"all of {event}"}
            builder.add(keys, _EXITS, total, "Total Samples", number)
            time = Quantity("exit_time_total", "us")
            builder.add_text(keys, time, match[2], "Total events handled time", number)
            counts, event = [], ""
        elif match := _LOST.fullmatch(line):
            builder.warn(number, f"{match[1]} events were lost")
        elif event and line.strip():
            counts.append(_add_row(builder, line, scope, number))
    if counts:
        raise _without_total(builder, start)
    builder.repeats = "process"


def _without_total(builder: ResultBuilder, line: int) -> FormatError:
    remedy = "it may be truncated: collect it again."
    problem = "a table without its line Total Samples"
    return builder.error(problem, line, "the complete output", remedy=remedy)


def _add_row(builder: ResultBuilder, line: str, scope: str, number: int) -> float:
    """Add the numbers of a reason; returns its number of samples."""
    match = _ROW.fullmatch(line)
    if match is None:
        raise builder.error(
            "not a row of perf kvm stat",
            number,
            "a reason, samples, shares, and times in us",
            line.strip()[:100],
        )
    keys = {"scope": scope, "reason": match["reason"]}
    samples, mean = float(match["samples"]), builder.number(match["mean"], "Avg time", number)
    low, high = float(match["min"] or 0), float(match["max"] or math.inf)
    if not low <= mean <= high:
        raise builder.error(
            "the mean time does not lie between the smallest and the largest",
            number,
            f"{low:g} to {high:g}",
            match["mean"],
        )
    builder.add(keys, _EXITS, samples, "Samples", number)
    builder.add(keys, Quantity("exit_time", "us", "lower"), mean, "Avg time", number)
    for name, quantity in (("min", "exit_time_min"), ("max", "exit_time_max")):
        if match[name]:
            builder.add_text(keys, Quantity(quantity, "us"), match[name], f"{name} time", number)
    return samples
