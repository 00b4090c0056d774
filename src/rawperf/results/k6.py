"""Summaries of k6: ``--summary-export``, and the data that ``handleSummary`` gets.

Only requests that succeeded count as throughput, and only theirs is the response time, where the
summary tells them apart.

Source: js/summary.go, js/summary.js and the documentation of k6 0.30 to 0.57.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rawperf.results.parsing import Node, parse_json, percentile_name, user_quantity
from rawperf.results.table import Better, ResultBuilder, ResultTable

_TAGGED = re.compile(r"([^{]+)\{(.*)\}")
_PERCENTILE = re.compile(r"p\((\d+(?:\.\d+)?)\)")
_SUCCEEDED = "http_req_duration{expected_response:true}"
_STATISTICS = {"med": "median", "min": "min", "max": "max"}
_TIMES = ("http_req_", "iteration_duration", "group_duration", "grpc_req_", "ws_", "browser_")
"""Beginnings of the names of k6's own trends, which are times in ms."""


@dataclass(frozen=True)
class _Known:
    quantity: str
    better: Better


_OWN = {
    "http_req_duration": _Known("response_time", "lower"),
    "http_reqs": _Known("throughput", "higher"),
    "http_req_failed": _Known("failure_rate", "lower"),
    "iterations": _Known("iteration_rate", "higher"),
    "iteration_duration": _Known("iteration_duration", "lower"),
    "dropped_iterations": _Known("dropped_iterations", "lower"),
}


def parse_k6(data: bytes, *, file: str) -> ResultTable:
    """Read every metric, custom ones included; tags of a metric are a key."""
    document, notes = parse_json(data, file)
    warnings = list(notes)
    metrics = document["metrics"].members()
    builder = ResultBuilder(file)
    failed = _failed_share(metrics)
    crossed: list[str] = []
    thresholds = 0
    for name, metric in metrics.items():
        tagged = _TAGGED.fullmatch(name)
        base, tags = (tagged[1], tagged[2]) if tagged else (name, "")
        for condition, state in _thresholds(metric).items():
            thresholds += 1
            crossed += [f"{name}: {condition}"] if state else []
        if name == "http_req_duration" and _SUCCEEDED in metrics:
            continue
        if name == _SUCCEEDED:
            tags = ""
        elif base == "http_req_duration" and failed and "expected_response:true" not in tags:
            warnings.append(
                f"{file} line {metric.line}: {failed:.3g} of the requests failed; the response "
                f"times of {name} include theirs"
            )
        share = failed if base == "http_reqs" and not tags else 0.0
        if share:
            warnings.append(
                f"{file} line {metric.line}: {share:.3g} of the requests failed; k6's http_reqs "
                "include them, the throughput read here does not"
            )
        _add_metric(builder, base, {"tags": tags}, metric, 1 - share)
    if thresholds:
        builder.add(
            {"tags": ""},
            "failed_thresholds",
            float(len(crossed)),
            better="lower",
            field="thresholds",
            line=document["metrics"].line,
        )
    warnings += [f"{file}: the threshold {text} was crossed" for text in crossed]
    left_out = {}
    if _SUCCEEDED in metrics:
        left_out["http_req_duration"] = (
            "times of failed requests included; those of succeeded are read"
        )
    return builder.build("k6-summary", repeats="runs", left_out=left_out, warnings=warnings)


def _failed_share(metrics: dict[str, Node]) -> float:
    failed = metrics.get("http_req_failed")
    if failed is None:
        return 0.0
    values = _values(failed)
    share = (values.get("rate") or values.get("value") or failed["value"]).number()
    if not 0 <= share <= 1:
        raise failed.error("is not a share", "0 to 1")
    return share


def _values(metric: Node) -> dict[str, Node]:
    """Statistics of a metric; ``handleSummary`` has them under ``values``."""
    nested = metric.get("values")
    return (nested or metric).members()


def _thresholds(metric: Node) -> dict[str, bool]:
    """Whether each threshold was crossed: true in an export, ``"ok": false`` in `handleSummary`."""
    found = metric.get("thresholds")
    states: dict[str, bool] = {}
    for condition, node in found.members().items() if found else ():
        state = node.value
        states[condition] = not node["ok"].value if isinstance(state, dict) else bool(state)
    return states


def _add_metric(
    builder: ResultBuilder, name: str, keys: dict[str, str], metric: Node, factor: float
) -> None:
    values = _values(metric)
    known = _OWN.get(name, _Known(user_quantity(name), ""))
    is_trend = "avg" in values or any(_PERCENTILE.fullmatch(key) for key in values)
    kind = metric.get("contains")
    if is_trend:
        is_time = (kind and kind.value == "time") or (not kind and name.startswith(_TIMES))
        _add_trend(builder, known, keys, name, values, "ms" if is_time else "")
        return
    if "passes" in values:
        _add_share(builder, known, keys, name, values)
        return
    field = "rate" if "rate" in values else "value"
    is_data = name.startswith("data_") or (kind is not None and kind.value == "data")
    counted = "requests/s" if name == "http_reqs" else "1/s"
    unit = "" if field == "value" else "B/s" if is_data else counted
    node = values.get(field)
    if node is None:
        raise metric.error("has no value", "rate, value, or avg")
    builder.add_node(
        keys, known.quantity, node, factor=factor, unit=unit, better=known.better, field=name
    )


def _add_trend(
    builder: ResultBuilder,
    known: _Known,
    keys: dict[str, str],
    name: str,
    values: dict[str, Node],
    unit: str,
) -> None:
    if (count := values.get("count")) and count.number() == 0:
        return
    for statistic, node in values.items():
        quantity, better = known.quantity, known.better
        if match := _PERCENTILE.fullmatch(statistic):
            quantity = percentile_name(quantity, match[1])
        elif statistic in _STATISTICS:
            quantity, better = f"{quantity}_{_STATISTICS[statistic]}", ""
        elif statistic != "avg":
            continue
        builder.add_node(
            keys,
            quantity,
            node,
            unit=unit,
            better=better,
            field=name if statistic == "avg" else f"{name} {statistic}",
        )


def _add_share(
    builder: ResultBuilder,
    known: _Known,
    keys: dict[str, str],
    name: str,
    values: dict[str, Node],
) -> None:
    """Add a share, after checking it against its counts; of checks the share that failed."""
    node = values.get("rate") or values["value"]
    passes, fails = values["passes"].number(), values["fails"].number()
    if passes + fails and abs(passes / (passes + fails) - node.number()) > 1e-6:
        raise node.error("is not the share of passes", f"{passes / (passes + fails)}")
    is_checks = name == "checks"
    builder.add(
        keys,
        "failed_checks" if is_checks else known.quantity,
        1 - node.number() if is_checks else node.number(),
        unit="1",
        better="lower" if is_checks else known.better,
        field=name,
        line=node.line,
    )
