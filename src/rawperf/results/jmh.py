"""Results of JMH: ``-rf json``, ``-rf csv`` and ``-rf scsv``.

A fork is a run, an iteration a repetition within it. The four modes measure different quantities.

Source: org.openjdk.jmh.results.format of JMH 1.37, and of 1.0 for its headings.
"""

from __future__ import annotations

import math
import re

from rawperf.results.parsing import Node, Row, check_mean, percentile_name, user_quantity
from rawperf.results.result_table import Better, Quantity, ResultBuilder

MODES: dict[str, tuple[str, Better]] = {
    "thrpt": ("throughput", "higher"),
    "avgt": ("time", "lower"),
    "sample": ("sampled_time", "lower"),
    "ss": ("single_shot_time", "lower"),
}
_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "min": 60.0,
    "hr": 3600.0,
    "day": 86400.0,
}
_LEADING_BYTES = {"B": 1.0, "KB": 1024.0, "MB": 1024.0**2}
_PARAMETER = "Param: "
_KNOWN = ("Benchmark", "Mode", "Threads", "Samples", "Score", "Unit")
_PERCENTILE_LABEL = re.compile(r"(?:.*·)?p(\d\.\d+)")


def _is_score(unit: str) -> bool:
    """Whether a unit is one of a benchmark's own score: a time of an operation, or a rate."""
    return _converted(unit)[1] in ("s", "ops/s")


def _converted(unit: str) -> tuple[float, str]:
    """Factor and target of JMH's unit: times per operation, operations per time, bytes."""
    left, slash, right = unit.partition("/")
    if slash and right in _SECONDS and left in ("ops", "#"):
        return 1 / _SECONDS[right], f"{left}/s" if left == "ops" else "1/s"
    if left in _SECONDS and right in ("op", "#", ""):
        return _SECONDS[left], "s"
    if left in _LEADING_BYTES and right in ("sec", "op", ""):
        return _LEADING_BYTES[left], "B/s" if right == "sec" else "B"
    return 1.0, unit


_SETTINGS = {
    "version": "jmhVersion",
    "JDK": "jdkVersion",
    "VM": "vmName",
    "VM version": "vmVersion",
    "VM options": "jvmArgs",
    "warmup iterations": "warmupIterations",
    "warmup time": "warmupTime",
    "measurement time": "measurementTime",
}


def parse_jmh_json(builder: ResultBuilder, data: bytes) -> None:
    """Read each iteration's score; without raw data the score of all."""
    forks = 0
    for result in builder.document(data).elements():
        builder.add_settings(result, _SETTINGS)
        mode = result["mode"].text()
        if mode not in MODES:
            raise result["mode"].error("is no mode of JMH", ", ".join(MODES))
        if not _is_score((unit := result["primaryMetric"]["scoreUnit"]).text()):
            raise unit.error("is no unit of a score", "such as us/op or ops/ms")
        quantity, better = MODES[mode]
        keys = {"benchmark": result["benchmark"].text(), "mode": mode}
        if parameters := result.get("params"):
            keys |= {name: value.text() for name, value in parameters.members().items()}
        if threads := result.get("threads"):
            keys["threads"] = str(int(threads.number()))
        forks = max(forks, _add_metric(builder, keys, quantity, better, result["primaryMetric"]))
        secondary = result.get("secondaryMetrics")
        for label, metric in secondary.members().items() if secondary else ():
            # a score may be the text NaN; percentiles stand in the primary metric too
            if metric["score"].is_number() and not _PERCENTILE_LABEL.fullmatch(label):
                name, is_group = _secondary(label, metric["scoreUnit"].text(), quantity)
                part = {**keys, "benchmark": f"{keys['benchmark']}:{label}"} if is_group else keys
                _add_metric(builder, part, name, better if is_group else "", metric)
    builder.repeats = "runs" if forks > 1 else "process"


def _secondary(label: str, unit: str, primary: str) -> tuple[str, bool]:
    """Quantity of a secondary result; whether it is a method of a group of benchmarks."""
    is_method = label.isidentifier() and "/" in unit and _is_score(unit)
    return (primary, True) if is_method else (user_quantity(label.lstrip("·")), False)


def _add_metric(
    builder: ResultBuilder, keys: dict[str, str], quantity: str, better: Better, metric: Node
) -> int:
    """Add the scores of a metric; returns the number of forks."""
    factor, unit = _converted(metric["scoreUnit"].text())
    score_of = Quantity(quantity, unit, better)
    score = metric["score"]
    raw, histogram = metric.get("rawData"), metric.get("rawDataHistogram")
    forks = (raw or histogram).elements() if raw or histogram else []  # type: ignore[union-attr]
    values: list[float] = []
    weights: list[float] = []
    for run, fork in enumerate(forks):
        for iteration in fork.elements():
            value, weight = (iteration.number(), 1.0) if raw else _histogram_mean(iteration)
            values.append(value)
            weights.append(weight)
            builder.add(keys, score_of, value * factor, "Score", iteration.line, run)
    if not values:
        builder.add_node(keys, score_of, score, "Score", factor=factor)
    elif better and raw:
        check_mean(score.number(), values, "score", metric.file, score.line)
    elif better:
        mean = math.fsum(v * w for v, w in zip(values, weights, strict=True)) / math.fsum(weights)
        check_mean(score.number(), [mean], "score", metric.file, score.line)
    if histogram:
        for percent, value in metric["scorePercentiles"].members().items():
            if 0 < float(percent) < 100:
                of_share = Quantity(percentile_name(quantity, percent), unit, "lower")
                builder.add_node(keys, of_share, value, f"p{percent}", factor=factor)
    return len(forks)


def _histogram_mean(iteration: Node) -> tuple[float, float]:
    """Mean and number of an iteration's samples, listed as pairs of value and count."""
    pairs = [pair.numbers() for pair in iteration.elements()]
    if any(len(pair) != 2 or pair[1] <= 0 for pair in pairs) or not pairs:
        raise iteration.error("is not a histogram", "pairs of a time and a count above 0")
    count = math.fsum(number for _, number in pairs)
    return math.fsum(value * number for value, number in pairs) / count, count


def parse_jmh_csv(builder: ResultBuilder, data: bytes) -> None:
    """Read the score of each benchmark; the mean over all forks and iterations."""
    text = builder.text(data)
    names, rows = builder.table(text, _KNOWN, ";" if ";" in text.partition("\n")[0] else ",")
    parameters = [name for name in names if name.startswith(_PARAMETER)]
    for row in rows:
        mode = row.cells["Mode"]
        if mode not in MODES:
            raise row.error("Mode", ", ".join(MODES))
        keys = {"benchmark": row.cells["Benchmark"], "mode": mode}
        keys |= {name.removeprefix(_PARAMETER): row.cells[name] for name in parameters}
        keys["threads"] = row.cells["Threads"]
        _add_csv_row(builder, row, keys, mode)
    builder.left_out = {
        name: "a margin of error"
        if name.startswith("Score Error")
        else "a number of samples"
        if name == "Samples"
        else "no column of JMH"
        for name in names
        if name not in _KNOWN[:3] + _KNOWN[4:] and name not in parameters
    }


def _add_csv_row(builder: ResultBuilder, row: Row, keys: dict[str, str], mode: str) -> None:
    (quantity, better), unit = MODES[mode], row.cells["Unit"]
    factor, target = _converted(unit)
    field = "Score"
    method, colon, label = keys["benchmark"].rpartition(":")
    if colon and (match := _PERCENTILE_LABEL.fullmatch(label)):
        share = float(match[1]) * 100
        keys, field = {**keys, "benchmark": method}, f"p{match[1]}"
        if not 0 < share < 100:
            quantity, better = f"{quantity}_{'max' if share else 'min'}", ""
        else:
            quantity, better = percentile_name(quantity, f"{share:.10g}"), "lower"
    elif colon:
        name, is_group = _secondary(label, unit, quantity)
        if not is_group:
            keys, quantity, better, field = {**keys, "benchmark": method}, name, "", label
    if row.cells["Score"] == "NaN" and not better:
        return
    if better and not _is_score(unit):
        raise row.error("Unit", "a unit of a score, such as us/op or ops/ms")
    score = row.number("Score") * factor
    builder.add(keys, Quantity(quantity, target, better), score, field, row.line, row.run)
