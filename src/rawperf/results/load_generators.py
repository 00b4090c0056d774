"""Totals of HTTP load generators in JSON: oha, bombardier, autocannon, Gatling.

Only answers that are no errors count as throughput. Response times are of all answers, also those with
an error status: the files have no others, but those of Gatling.

Source: src/printer.rs and result_data.rs of oha 1.16, template of bombardier 1.2.6, lib/run.js of
autocannon 9.0; the reports of Gatling 3.9.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from rawperf.results.parsing import Node, percentile_name
from rawperf.results.result_table import Better, Quantity, ResultBuilder

_ERROR_STATUS = re.compile(r"[45]\d\d")
_DEADLINE = "aborted due to deadline"
"""oha's requests under way at the end of the run, which are neither answers nor failures."""
_THROUGHPUT = Quantity("throughput", "requests/s", "higher")
_FAILURE_RATE = Quantity("failure_rate", "1", "lower")
_MAX_COMPARED = 99.9
"""Percentiles beyond are close to the largest time in most runs."""


def parse_oha(builder: ResultBuilder, data: bytes) -> None:
    """Read ``oha --output-format json``."""
    totals = _Totals(builder, "oha")
    document = builder.document(data)
    summary = document["summary"]
    codes = document["statusCodeDistribution"].members()
    failed = [node for code, node in codes.items() if _ERROR_STATUS.fullmatch(code)]
    errors = document["errorDistribution"].members()
    unanswered = [node for reason, node in errors.items() if reason != _DEADLINE]
    totals.add_counts(codes.values(), failed, unanswered, summary["total"])
    percentiles = document["latencyPercentiles"].members()
    totals.add_times(summary.get("average"), summary.get("slowest"), percentiles, "s")


def parse_bombardier(builder: ResultBuilder, data: bytes) -> None:
    """Read ``bombardier --print r --format json``."""
    totals = _Totals(builder, "bombardier")
    document = builder.document(data)
    result, spec = document["result"], document["spec"]
    answers = [result[f"req{digit}xx"] for digit in range(1, 6)]
    totals.add_counts(answers, answers[3:], [result["others"]], result["timeTakenSeconds"])
    latency = result["latency"]
    percentiles = latency.get("percentiles")
    totals.add_times(
        latency["mean"], latency["max"], percentiles.members() if percentiles else {}, "us"
    )
    builder.add_settings(spec, {"url": "url", "connections": "numberOfConnections"})


def parse_autocannon(builder: ResultBuilder, data: bytes) -> None:
    """Read ``autocannon --json``: its percentiles are whole milliseconds, so those of 0 are left out."""
    totals = _Totals(builder, "autocannon")
    document = builder.document(data)
    answers = [document[f"{digit}xx"] for digit in range(1, 6)]
    unanswered = [document["errors"]]
    totals.add_counts(
        answers, [*answers[3:], document["mismatches"]], unanswered, document["duration"]
    )
    latency = document["latency"]
    percentiles = {
        name[1:].replace("_", "."): node
        for name, node in latency.members().items()
        if re.fullmatch(r"p\d+(?:_\d+)?", name)
    }
    totals.add_times(latency["average"], latency["max"], percentiles, "ms")
    builder.add_settings(
        document, {"url": "url", "connections": "connections", "pipelining": "pipelining"}
    )


def parse_gatling(builder: ResultBuilder, data: bytes) -> None:
    """Read stats.json or global_stats.json of a report: the whole run, and each kind of request.

    Which percentiles ``percentiles1`` to ``percentiles4`` are is in the configuration of Gatling alone.
    """
    document = builder.document(data)
    parts = [document] if document.get("stats") else []
    while parts:
        part = parts.pop(0)
        keys = {"request": (part.get("path") or part["name"]).value or part["name"].text()}
        _add_gatling(builder, keys, part["stats"])
        contents = part.get("contents")
        parts += contents.members().values() if contents else ()
    if not document.get("stats"):
        _add_gatling(builder, {"request": document["name"].text()}, document)


def _add_gatling(builder: ResultBuilder, keys: dict[str, str], stats: Node) -> None:
    counts = stats["numberOfRequests"]
    requests, failed = _total([counts["total"]]), _total([counts["ko"]])
    if not requests or requests != failed + _total([counts["ok"]]):
        raise counts.error("is not the sum of ok and ko", "a total above 0")
    rate = stats["meanNumberOfRequestsPerSecond"]["ok"]
    builder.add_node(keys, _THROUGHPUT, rate, "")
    builder.add(keys, _FAILURE_RATE, failed / requests, line=counts.line)
    if failed == requests:
        builder.left_out["response_time"] = "no request succeeded"
        return
    times = {"meanResponseTime": "response_time", "maxResponseTime": "response_time_max"}
    times |= {f"percentiles{n}": f"response_time_percentile{n}" for n in range(1, 5)}
    for field, quantity in times.items():
        better: Better = "lower" if quantity == "response_time" else ""
        node = stats[field]["ok"]
        if node.number():
            builder.add_node(keys, Quantity(quantity, "ms", better), node, field)
        else:
            builder.left_out[quantity] = "it is 0, below the resolution of the tool"


class _Totals:
    """Collects the totals of a run, which are one row without keys."""

    def __init__(self, builder: ResultBuilder, tool: str) -> None:
        self.builder, self.tool = builder, tool
        self.served = 0.0

    def add_counts(
        self,
        answers: Iterable[Node],
        failed: Iterable[Node],
        unanswered: Iterable[Node],
        seconds: Node,
    ) -> None:
        """Add throughput and the share of failures, from answers, failed ones among them, and requests
        without an answer.
        """
        answered, bad = _total(answers), _total(failed)
        requests = answered + _total(unanswered)
        share = (requests - answered + bad) / requests if requests else 0.0
        if not requests or share > 1 or not seconds.number() > 0:
            raise seconds.error(
                f"is the time of {requests:.0f} requests", "a time above 0, and requests"
            )
        self.served = answered - bad
        self.builder.add({}, _THROUGHPUT, self.served / seconds.number(), line=seconds.line)
        self.builder.add({}, _FAILURE_RATE, share, line=seconds.line)
        if share:
            self.builder.warnings.append(
                f"{self.builder.file}: {100 * share:.3g} % of the requests failed; the throughput read here does not "
                f"include them, the response times of {self.tool} include those with an answer"
            )

    def add_times(
        self, mean: Node | None, largest: Node | None, percentiles: dict[str, Node], unit: str
    ) -> None:
        """Add response times, unless every request failed; empty and zero ones are left out."""
        if not self.served:
            self.builder.left_out["response_time"] = "no request succeeded"
            return
        times = {name.removeprefix("p"): node for name, node in percentiles.items()}
        for name, percentile in times.items():
            if not re.fullmatch(r"\d{1,2}(?:\.\d{1,9})?", name, re.ASCII):
                raise percentile.error("has no percentile as its name", "a name such as 50 or 99.9")
        for name, node in ({"": mean} | times).items():
            quantity = percentile_name("response_time", name) if name else "response_time"
            if node is None or node.value is None:
                continue
            if not node.number():
                self.builder.left_out[quantity] = "it is 0, below the resolution of the tool"
                continue
            better: Better = "" if name and float(name) > _MAX_COMPARED else "lower"
            self.builder.add_node({}, Quantity(quantity, unit, better), node, "")
        if largest is not None:
            self.builder.add_node({}, Quantity("response_time_max", unit), largest, "")


def _total(nodes: Iterable[Node]) -> float:
    """Sum of counts; raises `FormatError` for a negative or fractional one."""
    total = 0.0
    for node in nodes:
        value = node.number()
        if value < 0 or value % 1:
            raise node.error("is no count", "a whole number from 0")
        total += value
    return total
