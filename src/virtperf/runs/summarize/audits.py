"""Audits of a run: consistency checks by conservation laws and sums.

Each audit takes a run's series and yields rows: value, expected value, limits, and status (``ok``
or ``violated``). An audit without applicable data in a run yields no row.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Any

import numpy as np

from virtperf.core.estimate import Estimate
from virtperf.runs.summarize.events import per_second
from virtperf.runs.summarize.series import RunSeries, SampleSeries, evaluate, overlap

OK, VIOLATED = "ok", "violated"

RESPONSE_TIME_LAW = "response-time law"
AUDIT_TOLERANCE = 0.02
"""Convention: differences up to 2 % cause no warning, even if significant."""
MAX_ERROR_SHARE = 0.001
"""Convention: tolerated share of failed requests, one in a thousand."""
EVENT_BIN_S = 1.0
"""Bin width for events, such as single requests, which have no sampling interval: each second must
contain some, or each stretch of `EVENTS_A_BIN` median gaps where that is longer."""
EVENTS_A_BIN = 10
MAX_GAP_DEVIATION = 0.1
"""Times count as events if half of the gaps differ by more than this share from the median gap."""
COUNTER_STEP_S = 1.0
"""Hypervisors' counters of processor time are truncated to whole seconds."""

WORKLOADS = (
    ("throughput", "response_time"),
    ("page_element_throughput", "page_element_response_time"),
)
"""Throughput and response time as drivers report them: of requests, or of page elements."""
CLIENTS = "clients"
PROCESSORS, SYSTEM, GUESTS, GUEST_SECONDS = (
    "processor_busy",
    "processor_system",
    "guest_cpu",
    "guest_cpu_seconds",
)
ERROR_TOTALS = ("failures", "http_errors", "driver_network_errors")
REQUEST_TOTALS = ("requests", "page_elements_total")
COUNTED_KINDS = ("domain", "driver", "guest")
"""Kinds of entities with equal counts in all runs of a condition; processes and devices may vary.
"""

AuditRow = dict[str, Any]


def audit(run: RunSeries) -> list[AuditRow]:
    """Apply all audits to a run."""
    head = {name: run.info[name] for name in ("run_id", "provenance")}
    return [head | row for check in AUDIT_CHECKS for row in check(run)]


def response_time_law(run: RunSeries) -> Iterator[AuditRow]:
    """Check the interactive response time law: clients = throughput x (response + think time).

    Computed sample by sample over all drivers; where they log single requests, over all requests,
    failed ones included, in intervals of `count_edges`. The limits are the interval of the mean,
    widened by the rounding of the printed numbers. Without a declared think time only the upper
    limit counts.
    """
    clients = run.info["clients"]
    think = run.info["think_time_s"]
    z = float(think or 0)
    load = _driver_load(run, z)
    if not clients or load is None:
        return
    busy = evaluate(
        replace(load.rate, value=load.busy + load.rate.value * z), run.window, run.level
    )
    if busy.mean.n < 2:
        return
    total = evaluate(load.rate, run.window, run.level).mean.value
    if total <= 0:
        return
    slack = max(load.rounding, AUDIT_TOLERANCE * clients)
    low, high = busy.mean.low - slack, busy.mean.high + slack
    passed = low <= clients if think is None else low <= clients <= high
    implied = clients / total - (busy.mean.value / total - z)
    declared = "none declared" if think is None else f"{z:g} s declared"
    yield _row(
        RESPONSE_TIME_LAW,
        busy.mean.value,
        clients,
        low,
        high,
        passed,
        f"implied think time {implied:.3g} s, {declared}",
    )


@dataclass(frozen=True)
class _DriverLoad:
    """Load of all drivers over time: `rate` are requests per second, `busy` those in flight.

    `rounding`: largest error of `busy`, with the think time, by the printing of the numbers.
    """

    rate: SampleSeries
    busy: np.ndarray
    rounding: float


def _driver_load(run: RunSeries, think_s: float) -> _DriverLoad | None:
    """Return the load of all drivers; None unless they report throughput and response times at
    common times.
    """
    throughput, response = _workload(run)
    source, x = run.of(throughput, "driver")
    if not x:
        return None
    drivers = sorted(x)
    first = x[drivers[0]]
    if any(not np.array_equal(s.t, first.t) for s in x.values()):
        return None
    rate, busy, rounding = np.zeros(len(first.t)), np.zeros(len(first.t)), 0.0
    for driver in drivers:
        served, key = x[driver], (source, "driver", driver)
        if (*key, throughput) in run.behind:
            edges = np.append(first.since[:1], first.t)
            places = [(*key, name) for name in run.metrics[throughput]["counted"]]
            for events in (run.series[k] for k in places if k in run.series):
                each = per_second(events.t, edges)
                rate, busy = rate + each, busy + per_second(events.t, edges, events.value)
                rounding += each.mean() * _printing_precision(events.value) / 2
            continue
        taken = run.series.get((*key, response))
        if taken is None or not np.array_equal(taken.t, first.t):
            return None
        rate, busy = rate + served.value, busy + served.value * taken.value
        rounding += served.value.mean() * _printing_precision(taken.value) / 2
        rounding += (taken.value.mean() + think_s) * _printing_precision(served.value) / 2
    return _DriverLoad(replace(first, value=rate), busy, rounding)


def declared_clients(run: RunSeries) -> Iterator[AuditRow]:
    """Check the number of clients reported by drivers against run.yaml."""
    clients = _total(run, CLIENTS, "driver")
    if clients and run.info["clients"]:
        yield _within_tolerance(
            "clients", clients.value, run.info["clients"], 0.0, "sum of the clients of all drivers"
        )


def processor_accounting(run: RunSeries) -> Iterator[AuditRow]:
    """Check that, on z/VM, charged and uncharged times add up to the processors' own total."""
    busy, guests = _total(run, PROCESSORS, "processor"), _total(run, GUESTS, "guest")
    system = _total(run, SYSTEM, "processor")
    if busy is None or guests is None:
        return
    if system is None:
        yield _at_most(
            "processor time",
            guests.value,
            busy.value,
            "guests only, compared with the processors' total",
        )
    else:
        note = "guests plus uncharged hypervisor time, compared with the processors' total"
        yield _within_tolerance(
            "processor time", guests.value + system.value, busy.value, 0.0, note
        )


def domain_accounting(run: RunSeries) -> Iterator[AuditRow]:
    """Check that, on Xen, all domains together use no more processors than there are."""
    domains, processors = _total(run, GUESTS, "domain"), run.info["processors"]
    if domains and processors:
        note = "sum over all domains, compared with the number of real processors"
        yield _at_most("domains' processor time", domains.value, processors, note)


def counter_against_share(run: RunSeries) -> Iterator[AuditRow]:
    """Check the growth of the counters of processor seconds against the printed shares."""
    shares, counter_total = _total(run, GUESTS, "domain"), _total(run, GUEST_SECONDS, "domain")
    if shares is None or counter_total is None or min(shares.n, counter_total.n) < 2:
        return
    _, counters = run.of(GUEST_SECONDS, "domain")
    covered = next(iter(counters.values())).overlap(run.window).seconds.sum()
    slack = COUNTER_STEP_S * len(counters) / float(covered)
    note = "rate of the counters, compared with the printed shares"
    yield _within_tolerance("processor seconds", counter_total.value, shares.value, slack, note)


def agreement_of_sources(run: RunSeries) -> Iterator[AuditRow]:
    """Check that two tools agree on the same metric of the same entities."""
    for metric, facts in run.metrics.items():
        kinds: dict[str, dict[str, set[str]]] = {}
        for source, kind, entity, name in run.series:
            if name == metric:
                kinds.setdefault(kind, {}).setdefault(source, set()).add(entity)
        for kind, sources in kinds.items():
            names = [s for s in facts["formats"] if s in sources]
            for other in names[1:]:
                if sources[other] != sources[names[0]]:
                    continue
                keys = [(s, kind, e, metric) for s in (names[0], other) for e in sources[other]]
                if any(np.isnan(run.series[key].t).any() for key in keys):
                    continue  # a total is not of the window
                a, b = (_total(run, metric, kind, s) for s in (names[0], other))
                if a and b:
                    errors = np.nan_to_num([a.se, b.se])
                    slack = 3 * float(np.sqrt(errors @ errors))
                    yield _within_tolerance(
                        "agreement of sources",
                        b.value,
                        a.value,
                        slack,
                        f"{metric} of all entities of kind {kind}: {other} compared with {names[0]}",
                    )


def warm_up(run: RunSeries) -> Iterator[AuditRow]:
    """Check that the throughput of all drivers is steady by the end of the declared warm-up."""
    if run.independent:
        return
    throughput = run.combined(_workload(run)[0], "driver", "sum")
    declared = float(run.info["warmup_s"])
    if throughput is None or not throughput.steady.mean.n:
        return
    steady = throughput.steady
    moving = any(flag.startswith("no steady state") for flag in steady.flags)
    if np.isnan(steady.warmup_s) and not moving:
        return
    late = steady.begin_s > run.window[0]
    note = "; ".join(f for f in steady.flags if "steady state" in f or "warm-up" in f)
    if not note and steady.warmup_s > declared:
        note = "detected later than declared, but the samples it would discard have the same mean"
    yield _row("warm-up", steady.warmup_s, declared, 0.0, declared, not (late or moving), note)


def coverage(run: RunSeries) -> Iterator[AuditRow]:
    """Check that every source has samples over the whole window, with a tolerance of one and a half
    intervals.

    For event times, an interval is a bin that should contain some events.
    """
    if run.independent:
        return
    begin, end = run.window
    times: dict[str, dict[str, list[np.ndarray]]] = {}
    of_events: set[str] = set()
    for key, series in run.series.items():
        if key in run.behind:  # intervals without an event count 0
            continue
        source, kind, entity, metric = key
        if run.is_events(source, metric):
            of_events.add(source)
        timed = series.t[np.isfinite(series.t)]
        if len(timed) > 1:
            times.setdefault(source, {}).setdefault(f"{kind} {entity}".strip(), []).append(timed)
    for source, entities in sorted(times.items()):
        worst, low_at_worst, name = 2.0, 0.0, ""
        for entity, parts in entities.items():
            t = np.unique(np.concatenate(parts))
            share, step = _share_covered(t, (begin, end), source in of_events)
            low = max(1 - 1.5 * step / (end - begin), 0.0)
            if share - low < worst - low_at_worst:
                worst, low_at_worst, name = share, low, entity
        yield _row(
            f"coverage by {source}",
            worst,
            1.0,
            low_at_worst,
            1.0,
            worst >= low_at_worst and worst > 0,
            f"share of the window with samples; lowest: {name}",
        )


def _share_covered(t: np.ndarray, window: tuple[float, float], events: bool) -> tuple[float, float]:
    """Return the share of a window covered by samples at times `t`, and their usual step.

    Of events, and of samples at irregular times, it is the share of bins with at least one, and the
    length of a bin.
    """
    begin, end = window
    gaps = np.diff(t)
    step = float(np.median(gaps))
    if events or np.median(np.abs(gaps - step)) > MAX_GAP_DEVIATION * step:
        step = max(EVENT_BIN_S, EVENTS_A_BIN * step)
        events = t[overlap(t, window, t).inside]
        covered = np.unique(np.ceil((events - begin) / step))
        return len(covered) / float(np.ceil((end - begin) / step)), step
    return float(overlap(t, window).seconds.sum()) / (end - begin), step


def failed_requests(run: RunSeries) -> Iterator[AuditRow]:
    """Check the share of failed requests."""
    source, shares = run.of("failure_rate", "driver")
    if shares and run.is_events(source, "failure_rate"):
        requests = float(sum(len(s.value) for s in shares.values()))
        errors = float(sum(s.value.sum() for s in shares.values()))
    else:
        counts = (_total(run, name, "driver") for name in REQUEST_TOTALS)
        counted = next(filter(None, counts), None)
        totals = [total for metric in ERROR_TOTALS if (total := _total(run, metric, "driver"))]
        if counted is None or not totals:
            return
        requests, errors = counted.value, sum(total.value for total in totals)
    limit = MAX_ERROR_SHARE * requests
    note = "errors of all drivers in the whole run"
    yield _row("failed requests", errors, 0.0, 0.0, limit, errors <= limit, note)


AUDIT_CHECKS: tuple[Callable[[RunSeries], Iterator[AuditRow]], ...] = (
    response_time_law,
    declared_clients,
    processor_accounting,
    domain_accounting,
    counter_against_share,
    agreement_of_sources,
    warm_up,
    coverage,
    failed_requests,
)


def same_entities(observed: Sequence[Mapping[str, Any]], factors: Sequence[str]) -> list[AuditRow]:
    """Check that runs of a condition observe a quantity on equally many drivers and guests: with
    fewer, a file may be missing, and a sum over them is too small.

    `observed` are rows of the table `OBSERVATIONS`; a result row is one run with other runs at its
    condition, over all its quantities.
    """
    condition = itemgetter("provenance", *factors)
    counts: dict[tuple[Any, ...], Counter[int]] = defaultdict(Counter)
    runs: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for row in observed:
        if row["entities"] and row["entity_kind"] in COUNTED_KINDS:
            counts[(row["quantity"], condition(row))][row["entities"]] += 1
            runs[row["run_id"], row["provenance"]].append(row)
    rows = []
    for (run_id, provenance), run_rows in runs.items():
        counted = [(row, counts[(row["quantity"], condition(row))]) for row in run_rows]
        counted = [(row, sizes) for row, sizes in counted if sizes.total() > 1]
        if not counted:
            continue
        usual = [max(sizes, key=lambda n, sizes=sizes: (sizes[n], n)) for _, sizes in counted]  # type: ignore[misc]
        notes = [
            f"{row['quantity']} has {row['entities']} {row['entity_kind']}(s), but {n} in other "
            "runs of the condition: is a file missing?"
            for (row, _), n in zip(counted, usual, strict=True)
            if row["entities"] != n
        ]
        total, expected = sum(row["entities"] for row, _ in counted), sum(usual)
        note = "; ".join(notes) or "sum of drivers and guests over all quantities"
        row = _row(
            "number of drivers and guests", total, expected, expected, expected, not notes, note
        )
        rows.append({"run_id": run_id, "provenance": provenance} | row)
    return rows


def _workload(run: RunSeries) -> tuple[str, str]:
    """Names of throughput and response time in a run: the first that its drivers report."""
    return next((names for names in WORKLOADS if run.of(names[0], "driver")[0]), WORKLOADS[0])


def _total(
    run: RunSeries, metric: str, entity_kind: str, source: str | None = None
) -> Estimate | None:
    """Mean of the sum over all entities; None without samples in the window."""
    combined = run.combined(metric, entity_kind, "sum", source)
    return combined.steady.mean if combined and combined.steady.mean.n else None


def _at_most(name: str, value: float, expected: float, note: str) -> AuditRow:
    high = expected * (1 + AUDIT_TOLERANCE)
    return _row(name, value, expected, 0.0, high, value <= high, note)


def _within_tolerance(
    name: str, value: float, expected: float, slack: float, note: str
) -> AuditRow:
    width = max(AUDIT_TOLERANCE * abs(expected), slack)
    return _row(
        name,
        value,
        expected,
        expected - width,
        expected + width,
        abs(value - expected) <= width,
        note,
    )


def _row(
    name: str, value: float, expected: float, low: float, high: float, passed: bool, note: str
) -> AuditRow:
    return {
        "audit": name,
        "value": float(value),
        "expected": float(expected),
        "low": float(low),
        "high": float(high),
        "status": OK if passed else VIOLATED,
        "note": note,
    }


def _printing_precision(values: np.ndarray) -> float:
    """Printing precision of numbers: the largest power of ten, up to 1, that divides all of them."""
    for digits in range(10):
        scaled = values * 10.0**digits
        if np.abs(scaled - np.round(scaled)).max(initial=0) < 1e-6:
            return float(10.0**-digits)
    return 0.0
