"""Summaries of k6: ``--summary-export``, and the data that ``handleSummary`` gets.

Only requests that succeeded count as throughput, and only theirs is the response time, where the
summary tells them apart.

Source: js/summary.go, js/summary.js and the documentation of k6 0.30 to 0.57.
"""

from __future__ import annotations

import re

from rawperf.results.parsing import Node, percentile_name, user_quantity
from rawperf.results.result_table import Quantity, ResultBuilder

_TAGGED = re.compile(r"([^{]+)\{(.*)\}")
_PERCENTILE = re.compile(r"p\((\d+(?:\.\d+)?)\)")
_SUCCEEDED = "http_req_duration{expected_response:true}"
_STATISTICS = {"med": "median", "min": "min", "max": "max"}
_TIMES = ("http_req_", "iteration_duration", "group_duration", "grpc_req_", "ws_", "browser_")
"""Beginnings of the names of k6's own trends, which are times in ms."""


_OWN = {
    "http_req_duration": Quantity("response_time", better="lower"),
    "http_reqs": Quantity("throughput", better="higher"),
    "http_req_failed": Quantity("failure_rate", better="lower"),
    "iterations": Quantity("iteration_rate", better="higher"),
    "iteration_duration": Quantity("iteration_duration", better="lower"),
    "dropped_iterations": Quantity("dropped_iterations", better="lower"),
}
"""Quantities of k6's own metrics, without their units."""


def parse_k6(builder: ResultBuilder, data: bytes) -> None:
    """Read every metric, custom ones included; tags of a metric are a key."""
    document = builder.document(data)
    metrics = document["metrics"].members()
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
            builder.warn(
                metric.line,
                f"{failed:.3g} of the requests failed; the response times of {name} include theirs",
            )
        share = failed if base == "http_reqs" and not tags else 0.0
        if share:
            builder.warn(
                metric.line,
                f"{share:.3g} of the requests failed; k6's http_reqs include them, the throughput "
                "read here does not",
            )
        _add_metric(builder, base, {"tags": tags}, metric, 1 - share)
    if thresholds:
        quantity, count = Quantity("failed_thresholds", better="lower"), float(len(crossed))
        builder.add({"tags": ""}, quantity, count, "thresholds", document["metrics"].line)
    builder.warnings += [f"{builder.file}: the threshold {text} was crossed" for text in crossed]
    if _SUCCEEDED in metrics:
        why = "times of failed requests included; those of succeeded are read"
        builder.left_out["http_req_duration"] = why


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
    known = _OWN.get(name, Quantity(user_quantity(name)))
    is_trend = "avg" in values or any(_PERCENTILE.fullmatch(key) for key in values)
    kind = metric.get("contains")
    if is_trend:
        is_time = (kind and kind.value == "time") or (not kind and name.startswith(_TIMES))
        _add_trend(builder, known._replace(unit="ms" if is_time else ""), keys, name, values)
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
    builder.add_node(keys, known._replace(unit=unit), node, name, factor=factor)


def _add_trend(
    builder: ResultBuilder,
    known: Quantity,
    keys: dict[str, str],
    name: str,
    values: dict[str, Node],
) -> None:
    if (count := values.get("count")) and count.number() == 0:
        return
    for statistic, node in values.items():
        if match := _PERCENTILE.fullmatch(statistic):
            quantity = known._replace(name=percentile_name(known.name, match[1]))
        elif statistic in _STATISTICS:
            quantity = Quantity(f"{known.name}_{_STATISTICS[statistic]}", known.unit)
        elif statistic == "avg":
            quantity = known
        else:
            continue
        field = name if statistic == "avg" else f"{name} {statistic}"
        builder.add_node(keys, quantity, node, field)


def _add_share(
    builder: ResultBuilder,
    known: Quantity,
    keys: dict[str, str],
    name: str,
    values: dict[str, Node],
) -> None:
    """Add a share, after checking it against its counts; of checks the share that failed."""
    node = values.get("rate") or values["value"]
    passes, fails = values["passes"].number(), values["fails"].number()
    if passes + fails and abs(passes / (passes + fails) - node.number()) > 1e-6:
        raise node.error("is not the share of passes", f"{passes / (passes + fails)}")
    if name == "checks":
        failed = Quantity("failed_checks", "1", "lower")
        builder.add(keys, failed, 1 - node.number(), name, node.line)
    else:
        builder.add(keys, known._replace(unit="1"), node.number(), name, node.line)
