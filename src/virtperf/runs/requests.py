"""Numbers of the requests (or transactions) that a raw file lists one by one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from rawperf.core.metrics import Metric, MetricDictionary

MIN_REQUESTS = 20
"""Requests from which a log is examined for signs of several runs."""
MIN_PAUSE, PAUSES_APART = 0.2, 5.0
"""A pause that divides a log: its smallest share of the time, and its ratio to the next longest one."""


@dataclass(frozen=True, eq=False)
class RequestLog:
    """Requests of one entity in a raw file.

    `share` is the metric of the share that failed, `rate` that of successes per second, `time` that
    of the successes' response times. `times` and `failed_times` are these of successful and failed
    requests, in the unit of `time`; `span_s` is the time from the begin of the first request to the
    end of the last one. `doubts` say why the file may hold more than one run.
    """

    entity_kind: str
    entity: str
    share: Metric
    rate: Metric | None
    time: Metric
    times: np.ndarray
    failed_times: np.ndarray
    span_s: float
    doubts: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        """Number of all requests."""
        return len(self.times) + len(self.failed_times)

    @property
    def failure_rate(self) -> float:
        """Share of the requests that failed."""
        return len(self.failed_times) / self.count

    @property
    def throughput(self) -> float:
        """Successful requests per second of the span; NaN if that is 0."""
        return len(self.times) / self.span_s if self.span_s > 0 else float("nan")


def request_logs(frame: pd.DataFrame, dictionary: MetricDictionary) -> Iterator[RequestLog]:
    """Yield the request logs in a raw file's frame (`rawperf.tidy.COLUMNS`), by entity.

    These are the rows of kind ``event`` of a metric of response times and of the one of failures: a
    share with `among` in the dictionary names both. Other rows are no requests.
    """
    events = frame[frame["kind"] == "event"]
    for share in dictionary.metrics.values():
        if not share.among or not share.counts:
            continue
        (name,) = (other for other in share.among if other != share.counts)
        time = dictionary[name]
        rates = (m for m in dictionary.metrics.values() if m.counts == name and not m.among)
        rate = next(rates, None)
        requests = events[events["metric"].isin(share.among)]
        for (kind, entity), rows in requests.groupby(["entity_kind", "entity"], sort=False):
            values, is_failed = rows["metric_value"].to_numpy(), rows["metric"] == share.counts
            begins = rows["t"].to_numpy() - values
            yield RequestLog(
                str(kind),
                str(entity),
                share,
                rate,
                time,
                values[~is_failed],
                values[is_failed],
                float(rows["t"].max() - begins.min()),
                tuple(_doubts(begins, rows["t"].to_numpy())),
            )


def _doubts(begins: np.ndarray, ends: np.ndarray) -> Iterator[str]:
    """Yield why the requests of a file may be of several runs: each is listed twice, or they are divided
    by one long pause.
    """
    count = len(begins)
    if count < MIN_REQUESTS:
        return
    distinct = len(np.unique(np.column_stack([begins, ends]), axis=0))
    if distinct <= count / 2:
        yield (
            f"{count - distinct} of {count} requests have the same begin and end as another one: the file "
            "may contain a run twice, which doubles its throughput"
        )
    order = np.argsort(begins)
    pauses = np.sort(begins[order][1:] - np.maximum.accumulate(ends[order])[:-1])
    span = ends.max() - begins.min()
    if pauses[-1] > MIN_PAUSE * span and pauses[-1] > PAUSES_APART * max(pauses[-2], 0.0):
        yield (
            f"there is no request during {pauses[-1]:.3g} s of {span:.3g} s: the file may contain two "
            "runs, whose throughput includes the pause between them"
        )
