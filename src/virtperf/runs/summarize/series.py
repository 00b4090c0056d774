"""Time series of one run, and their steady state within the run's measurement window."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import cached_property, reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.core.errors import RawperfError, StudyError
from rawperf.core.units import conversion_factor
from virtperf.core import order_statistics
from virtperf.core.estimate import Estimate, student
from virtperf.core.statistics import error_of_sum
from virtperf.runs.summarize.events import Key, count_edges, counted_places, per_second
from virtperf.runs.summarize.steady import (
    cosine_mean,
    departs,
    independent_mean,
    maximum,
    median,
    series_quantile,
    stationarity,
    total,
    trend,
    warmup,
    without_error,
)

EVENT, COUNTER = "event", "counter"
"""Kinds of metrics whose samples cover other times than those of a gauge."""
MAX_STEPS = 1.5
"""Longest interval of a sample, in usual steps of its series; a longer one contains a lost sample."""


@dataclass(frozen=True)
class Overlap:
    """Overlap of samples with a window, arrays of shape (samples,).

    `seconds`: time of the window that each sample covers; 0 for an event.
    `weights`: weights of a mean over the window: `seconds`, or 1 for each event inside.
    `inside`: samples that count where a sample counts whole or not at all (spread, order
        statistics): those whose interval has its middle in the window, or, in a window shorter than
        an interval, the one with the largest overlap.
    """

    seconds: np.ndarray
    weights: np.ndarray
    inside: np.ndarray

    @property
    def used(self) -> np.ndarray:
        """Mask of the samples with a weight."""
        return self.weights > 0

    def mean(self, values: np.ndarray) -> float:
        """Mean of `values` over the window; NaN if no sample covers any of it."""
        total = float(self.weights.sum())
        return float(self.weights @ values) / total if total else float("nan")


def overlap(t: np.ndarray, window: tuple[float, float], since: np.ndarray | None = None) -> Overlap:
    """Return the overlap of samples at ascending times `t` with a window from begin to end.

    A sample covers the interval from `since` (default: `sample_begins`) to its time, and its value
    is the mean over that interval. So a mean over the window weights each sample by the part of its
    interval that lies in the window, and the integral of a rate, ``seconds @ values``, is the linear
    interpolation of its cumulative counter at both ends of the window. Times of the window that no
    sample covers (a gap) have no weight. An event has no interval (`since` is its time): it counts
    once, in the window that contains its time; the begin is excluded, the end included, so that
    adjacent windows share no event.
    """
    begin, end = window
    since = sample_begins(t) if since is None else since
    seconds = np.maximum(np.minimum(t, end) - np.maximum(since, begin), 0.0)
    middle = (since + t) / 2
    inside = (middle > begin) & (middle <= end)
    if not inside.any() and seconds.any():
        inside = np.arange(len(t)) == np.argmax(seconds)
    weights = seconds if seconds.any() else inside.astype(float)
    return Overlap(seconds, weights, inside)


def sample_begins(t: np.ndarray, kind: str = "gauge") -> np.ndarray:
    """Return the begin of the interval that each sample of a metric of this kind covers.

    It is the time of the previous sample, and one usual step (the median) earlier for the first
    sample. After a gap of more than `MAX_STEPS` usual steps a gauge covers one usual step: the
    samples of the rest were lost; the rate of a counter covers the whole gap. An event, and the only
    sample of a series, begins at its time.
    """
    if kind == EVENT or len(t) < 2:
        return t.copy()
    usual = float(np.median(np.diff(t)))
    since = np.concatenate([[t[0] - usual], t[:-1]])
    if kind != COUNTER:
        since = np.where(t - since > MAX_STEPS * usual, t - usual, since)
    return since


WARMUP_CONFIDENCE = 0.999
"""Confidence level at which a warm-up detected later than declared shortens the window: MSER
selects the most extreme cut, so a test at a lower level has too many false alarms."""

POLLING_TOLERANCE = 0.1
"""Share of a sampling interval within which entities count as sampled together."""


Reduction = Callable[[np.ndarray, float], Estimate]
"""Reduction of samples, at a confidence level, to a number with its interval."""
STATISTICS: Mapping[str, Reduction] = {
    "mean": cosine_mean,
    "median": median,
    "max": maximum,
    "sum": total,
}
"""Reductions of time series. The mean over the window weights samples (`overlap`) and may
begin later; all others take the samples inside the declared window."""


def reduction(rule: Mapping[str, Any], *, independent: bool, limit: float = np.nan) -> Reduction:
    """Return the reduction for a quantity's `observed` rule; `limit` is that of `above`, in the
    metric's unit.

    Raises `StudyError` if a statistic of independent samples is applied to a time series.
    """
    name = rule.get("statistic", "mean")
    of_independent: Mapping[str, Reduction] = {
        "mean": independent_mean,
        "median": lambda x, level: order_statistics.quantile(x, 0.5, level),
        "quantile": lambda x, level: order_statistics.quantile(x, rule["share"], level),
        "interquartile": order_statistics.interquartile_range,
        "above": lambda x, level: order_statistics.share_above(x, limit, level),
    }
    if independent and name in of_independent:
        return of_independent[name]
    if name == "quantile":
        return lambda x, level: series_quantile(x, rule["share"], level)
    if name not in STATISTICS:
        raise StudyError(
            f"statistic {name} needs independent samples, but this run has time series",
            file="study.yaml",
            expected=f"one of {', '.join([*STATISTICS, 'quantile'])}",
            remedy="omit duration_s, warmup_s and window_s in run.yaml if the samples are only numbered.",
        )
    return STATISTICS[name]


def checked_factor(name: str, what: str, unit: str, target: str, per: str = "1") -> float:
    """`conversion_factor` for an entry of study.yaml; raises `StudyError` naming both units if
    there is none.
    """
    try:
        return conversion_factor(unit, target, per=per)
    except RawperfError as err:
        remedy = f"use a unit of the {what} to which its metric can be converted."
        raise err.copy_as(
            StudyError, problem=f"{name}: {err.problem}", file="study.yaml", remedy=remedy
        ) from err


@dataclass(frozen=True)
class SampleSeries:
    """Samples of one metric; `t` in seconds from the run's start, shape (n,), NaN for a total of
    the run.

    `files` and `lines`, of the same shape, locate each sample in the run's raw files; `begins` are
    the begins of the intervals that the samples cover, by default those of a gauge.
    """

    t: np.ndarray
    value: np.ndarray
    files: np.ndarray | None = None
    lines: np.ndarray | None = None
    begins: np.ndarray | None = None

    @cached_property
    def since(self) -> np.ndarray:
        """Begin of the interval that each sample covers; of an event, its time."""
        return sample_begins(self.t) if self.begins is None else self.begins

    def overlap(self, window: tuple[float, float]) -> Overlap:
        """Overlap of the samples with a window, by `overlap`."""
        return overlap(self.t, window, self.since)


@dataclass(frozen=True)
class Steady:
    """Steady-state evaluation of a series within its run's window.

    `warmup_s`: detected end of the warm-up, in seconds from the run's start; NaN if not detectable.
    `begin_s`, `end_s`: the evaluated stretch: the window, or a later begin if the warm-up
        significantly lasts longer, and then the mean has no interval; NaN for a total of the run.
    `stationarity`: class by `steady.stationarity`; "" for totals.
    `trend`: value of `steady.trend`; NaN for totals, and for statistics other than the mean.
    """

    mean: Estimate
    warmup_s: float
    begin_s: float
    stationarity: str
    flags: tuple[str, ...]
    trend: float = np.nan
    end_s: float = np.nan

    def flagged_as(self, first: Steady) -> Steady:
        """Return the evaluation of another stretch with the flags of the first one, and without an
        interval if that has none.
        """
        mean = self.mean.without_interval() if np.isnan(first.mean.se) else self.mean
        return replace(self, mean=mean, flags=first.flags)


@dataclass(frozen=True)
class Combined:
    """Series of several entities combined to one quantity; `steady` evaluates their sum or mean.

    `times` are the evaluated times, common to all entities; None if entities are evaluated
    separately.
    """

    metric: str
    source: str
    entity_kind: str
    entities: tuple[str, ...]
    steady: Steady
    times: np.ndarray | None = None

    def key(self, entity: str) -> tuple[str, str, str, str]:
        """Key of an entity's series in `RunSeries.series`."""
        return self.source, self.entity_kind, entity, self.metric


@dataclass(frozen=True)
class RunSeries:
    """Series of a run by (source, entity kind, entity, metric), with the index entries of run and
    metrics. `behind`: the series of events that a series counts.
    """

    info: Mapping[str, Any]
    metrics: Mapping[str, Mapping[str, Any]]
    series: Mapping[tuple[str, str, str, str], SampleSeries]
    level: float
    behind: Mapping[tuple[str, str, str, str], tuple[tuple[str, str, str, str], ...]] = field(
        default_factory=dict
    )
    _found: dict[tuple[str, str, str, str], Steady] = field(default_factory=dict, repr=False)

    @property
    def window(self) -> tuple[float, float]:
        """Begin and end in seconds; unbounded for a run without a clock."""
        begin, end = self.info["window_s"] or (-np.inf, np.inf)
        return float(begin), float(end)

    @property
    def independent(self) -> bool:
        """Whether samples are only numbered, and mutually independent: the run has no clock."""
        return self.info["window_s"] is None

    def is_events(self, source: str, metric: str) -> bool:
        """Whether a format has one sample an event of a metric, such as a request."""
        return source in self.metrics.get(metric, {}).get("events", ())

    def of(
        self, metric: str, entity_kind: str, source: str | None = None, entity: str = "*"
    ) -> tuple[str, dict[str, SampleSeries]]:
        """Return the series of a metric by entity, from one format: `source`, or the dictionary's
        first with any.

        `entity` is a name or a case-sensitive pattern with ``*`` and ``?``: Linux and Xen
        distinguish `web` and `Web`.
        """
        formats = [source] if source else self.metrics.get(metric, {}).get("formats", [])
        for name in formats:
            same = {
                k[2]: s
                for k, s in self.series.items()
                if (k[0], k[1], k[3]) == (name, entity_kind, metric)
            }
            matching = {k: s for k, s in same.items() if k == entity or fnmatchcase(k, entity)}
            if matching:
                return name, matching
        return "", {}

    def steady(
        self, key: tuple[str, str, str, str], window: tuple[float, float] | None = None
    ) -> Steady:
        """Evaluate the mean of a series over the run's window after its warm-up, or over `window`
        as given.
        """
        if window is not None:
            return evaluate(self.series[key], window, self.level, detect_warmup=False)
        if key not in self._found:
            reduce_by = reduction({}, independent=self.independent)
            self._found[key] = evaluate(self.series[key], self.window, self.level, reduce_by)
        return self._found[key]

    def combined(
        self,
        metric: str,
        entity_kind: str,
        how: str,
        source: str | None = None,
        *,
        entity: str = "*",
        reduce_by: Reduction | None = None,
        merged: bool = False,
        events: bool = False,
        window: tuple[float, float] | None = None,
    ) -> Combined | None:
        """Combine entities by sum or mean and reduce over the window, by default to the mean; None
        if the run has none, or with `events` none with single events.

        `merged`: single values of several entities, such as the response times of several drivers,
        are pooled; not those sampled at common times by a clock. The mean of events is always that
        of all events. `window`: another window than the
        run's, used as given, without a warm-up.

        Entities that were sampled together are combined sample by sample, so that the error
        includes their correlation. If one has samples in the window that another lacks, their means
        over one window are combined, with errors as for independent means.
        """
        name, series = self.of(metric, entity_kind, source, entity)
        if not series or (events and not self.is_events(name, metric)):
            return None
        merged = merged or (how == "mean" and self.is_events(name, metric))
        entities = tuple(sorted(series))
        share = 1 / len(series) if how == "mean" else 1.0
        reduce_by = reduce_by or reduction({}, independent=self.independent)
        detect_warmup, window = window is None, window or self.window

        def evaluated(values: SampleSeries) -> Steady:
            return evaluate(values, window, self.level, reduce_by, detect_warmup=detect_warmup)

        parts = [series[e] for e in entities]
        of_events = self.is_events(name, metric) and len(parts) > 1
        summed, times = None if of_events else _sum_at_common_times(parts), None
        left_out = summed is not None and (
            max(int(s.overlap(window).inside.sum()) for s in parts)
            - int(summed.overlap(window).inside.sum())
        )
        if left_out and reduce_by is cosine_mean:
            summed = None  # missing times may be atypical: a swapping guest reports late
        if merged and len(parts) > 1 and (self.independent or summed is None):
            steady = evaluated(_all_values(parts))
        elif summed is not None:
            times = summed.t
            steady = evaluated(replace(summed, value=summed.value * share))
        elif reduce_by is not cosine_mean:
            note = "sampled at different times: no statistic of their sum except the mean"
            steady = Steady(_no_samples(self.level), np.nan, window[0], "", (note,))
        else:
            keys = [(name, entity_kind, e, metric) for e in entities]
            each = [self.steady(key, None if detect_warmup else window) for key in keys]
            begins = [one.begin_s for one in each if np.isfinite(one.begin_s)]
            if detect_warmup and len({*begins}) > 1:
                each = [
                    self.steady(key, (max(begins), window[1])).flagged_as(one)
                    for key, one in zip(keys, each, strict=True)
                ]
            steady = _independent(each, share, self.level)
        if left_out:
            note = f"{left_out} time(s) of the window without a sample of every {entity_kind}"
            note += ", skipped" if summed is not None else ""
            steady = replace(steady, flags=(*steady.flags, note))
        return Combined(metric, name, entity_kind, entities, steady, times)

    def covered(self, used: Combined) -> tuple[float, float]:
        """Begin and end of the part of the evaluated stretch that samples of any entity cover; for
        events, which cover no time, the whole stretch.
        """
        parts = [self.series[used.key(entity)] for entity in used.entities]
        timed = [s for s in parts if (s.since < s.t).any()]
        begin, end = used.steady.begin_s, used.steady.end_s
        if not timed:
            return begin, end
        first, last = min(float(s.since[0]) for s in timed), max(float(s.t[-1]) for s in timed)
        return max(begin, first), min(end, last)


def load_series(
    table: pa.Table, info: Mapping[str, Any], metrics: Mapping[str, Mapping[str, Any]], level: float
) -> RunSeries:
    """Load the series of one run from its table `SAMPLES`, which is sorted by series and time."""
    keys = ("source", "entity_kind", "entity", "metric")
    t, value, lines = (table[name].to_numpy() for name in ("t_s", "value", "line"))
    coded = table["file"].combine_chunks().dictionary_encode()
    files = np.array([*coded.dictionary.to_pylist(), ""], dtype=object)[coded.indices.to_numpy()]
    changes = np.zeros(max(len(t) - 1, 0), dtype=bool)
    for name in keys:
        column = table[name].combine_chunks()
        changes |= (
            pc.not_equal(column[1:], column[:-1]).to_numpy(zero_copy_only=False)
            if len(t) > 1
            else changes
        )
    begins = (
        np.concatenate([[0], np.flatnonzero(changes) + 1]) if len(t) else np.zeros(0, dtype=int)
    )
    ends = np.append(begins[1:], len(t))[: len(begins)]
    named = zip(*(table[name].take(begins).to_pylist() for name in keys), strict=True)
    series = {
        key: SampleSeries(
            t[a:b],
            value[a:b],
            files[a:b],
            lines[a:b],
            sample_begins(t[a:b], _sample_kind(info, metrics, key)),
        )
        for key, a, b in zip(named, begins, ends, strict=True)
    }
    counts, behind = _count_events(series, info, metrics)
    return RunSeries(info, metrics, {**series, **counts}, level, behind)


def _count_events(
    series: Mapping[Key, SampleSeries],
    info: Mapping[str, Any],
    metrics: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[Key, SampleSeries], dict[Key, tuple[Key, ...]]]:
    """Return the series that count events, per second or as a share, and the events behind each.

    A run without a clock has shares only.
    """
    counts: dict[Key, SampleSeries] = {}
    behind: dict[Key, tuple[Key, ...]] = {}
    of_events = [s.t[-1] for k, s in series.items() if k[0] in metrics[k[3]].get("events", ())]
    last = float(max(of_events, default=0.0))
    window = info["window_s"]
    edges = None if window is None else count_edges((float(window[0]), float(window[1])), last)
    for metric, facts in metrics.items():
        if "counts" not in facts:
            continue
        for place, keys in counted_places(series, facts, metrics).items():
            key = (*place, metric)
            of = series.get((*place, facts["counts"]))
            if facts["share"]:
                events = _all_values([series[k] for k in keys])
                values = [np.full(len(series[k].t), k[3] == facts["counts"], float) for k in keys]
                order = np.argsort(np.concatenate([series[k].t for k in keys]), kind="stable")
                counts[key] = replace(events, value=np.concatenate(values)[order])
            elif edges is not None and key not in series:
                t = np.zeros(0) if of is None else of.t
                counts[key] = SampleSeries(edges[1:], per_second(t, edges), begins=edges[:-1])
            else:
                continue
            behind[key] = keys if of is None or facts["share"] else ((*place, facts["counts"]),)
    return counts, behind


def _sample_kind(
    info: Mapping[str, Any],
    metrics: Mapping[str, Mapping[str, Any]],
    key: tuple[str, str, str, str],
) -> str:
    """Kind of a series' samples; those of a run without a clock are only numbered."""
    source, *_, metric = key
    if info["window_s"] is None:
        return EVENT
    facts = metrics[metric]
    return str(facts.get("kinds", {}).get(source, facts.get("kind", "")))


def evaluate(
    series: SampleSeries,
    window: tuple[float, float],
    level: float,
    reduce_by: Reduction = cosine_mean,
    *,
    detect_warmup: bool = True,
) -> Steady:
    """Evaluate the mean of a series over the window, after its detected warm-up; or another
    reduction.

    A warm-up that MSER-5 detects after the window's begin shortens the window only if the means
    before and after it differ significantly at `WARMUP_CONFIDENCE`: in stationary series, MSER's
    cut varies widely. The mean of a shortened window has no interval: a cut that depends on the
    samples leaves those that agree, and about half of such 95 % intervals would contain the mean.
    """
    begin, end = window
    x = series.value
    if np.isnan(series.t).any():  # a total
        return Steady(cosine_mean(x[:1], level), np.nan, np.nan, "", ())
    part = series.overlap(window)
    if not part.inside.any():
        return Steady(
            _no_samples(level), np.nan, begin, "undetermined", ("no sample in the window",)
        )
    if reduce_by is not cosine_mean:
        return Steady(reduce_by(x[part.inside], level), np.nan, begin, "", (), end_s=end)
    flags: list[str] = []
    warmup_s, begin_s = np.nan, begin
    whole = series.overlap((0.0, end)).inside
    if detect_warmup and (whole & ~part.inside).any():
        detected = warmup(x[whole])
        if detected.status == "not steady":
            flags.append("no steady state: the best warm-up cut is in the second half")
        elif detected.status == "steady":
            warmup_s = float(series.t[whole][detected.cut - 1]) if detected.cut else 0.0
            early = series.overlap((begin, warmup_s))
            late = series.overlap((max(begin, warmup_s), end))
            if departs(x[early.inside], x[late.inside], WARMUP_CONFIDENCE):
                flags.append(
                    "no interval: the warm-up lasted longer than declared; the window begins at its "
                    f"end, {round(warmup_s, 2):g} s"
                )
                part, begin_s = late, warmup_s
    used = x[part.inside]
    mean = _weighted_mean(x, part, level)
    return Steady(
        mean.without_interval() if begin_s > begin else mean,
        warmup_s,
        begin_s,
        stationarity(used),
        tuple(flags),
        trend(used),
        end,
    )


def _weighted_mean(x: np.ndarray, part: Overlap, level: float) -> Estimate:
    """Mean over a window, with the standard error of the samples inside.

    Unequal weights among these enlarge it as for independent samples, by
    ``sqrt(n sum(w**2)) / sum(w)``.
    """
    mean, w = cosine_mean(x[part.inside], level), part.weights[part.inside]
    se = mean.se * float(np.sqrt(len(w) * (w @ w))) / float(w.sum())
    return student(part.mean(x), se, mean.df, level=level, n=mean.n, method=mean.method)


def _no_samples(level: float) -> Estimate:
    return without_error(np.nan, 0, level, "no sample")


def align_polling_rounds(series: Mapping[str, SampleSeries]) -> dict[str, SampleSeries]:
    """Align the times of samples of one polling round.

    A monitor that reads entities in turn stamps each with its own time. Samples within
    `POLLING_TOLERANCE` of a sampling interval of a time of the longest series get that time.
    """
    longest = max(series.values(), key=lambda s: len(s.t)).t
    if len(longest) < 2 or all(np.array_equal(s.t, longest) for s in series.values()):
        return dict(series)
    tolerance = POLLING_TOLERANCE * min(
        float(np.median(np.diff(s.t))) for s in series.values() if len(s.t) > 1
    )
    aligned = {}
    for entity, one in series.items():
        after = np.clip(np.searchsorted(longest, one.t), 1, len(longest) - 1)
        earlier = one.t - longest[after - 1] < longest[after] - one.t
        near = longest[np.where(earlier, after - 1, after)]
        t = np.where(abs(one.t - near) <= tolerance, near, one.t)
        aligned[entity] = replace(one, t=t) if len(np.unique(t)) == len(t) else one
    return aligned


def _sum_at_common_times(series: list[SampleSeries]) -> SampleSeries | None:
    """Sum over series at their common times; None if fewer than half of the times are common.

    A sum covers the time that the samples of all series cover.
    """
    common, together = series[0].t, [(s.value, s.since) for s in series]
    if _times_differ(series):
        common = reduce(np.intersect1d, (s.t for s in series))
        if 2 * len(common) < max(len(s.t) for s in series):
            return None
        places = [np.isin(s.t, common) | np.isnan(s.t) for s in series]
        together = [(s.value[at], s.since[at]) for s, at in zip(series, places, strict=True)]
    values, begins = zip(*together, strict=True)
    return SampleSeries(common, np.sum(values, axis=0), begins=np.max(begins, axis=0))


def _times_differ(series: list[SampleSeries]) -> bool:
    first = series[0].t
    return not all(np.array_equal(s.t, first, equal_nan=True) for s in series)


def _all_values(series: list[SampleSeries]) -> SampleSeries:
    """Concatenate the values of all series, sorted by time."""
    t, value, since = (
        np.concatenate([getattr(s, name) for s in series]) for name in ("t", "value", "since")
    )
    order = np.argsort(t, kind="stable")
    return SampleSeries(t[order], value[order], begins=since[order])


def _independent(parts: list[Steady], share: float, level: float) -> Steady:
    value = share * sum(p.mean.value for p in parts)
    variances = [(share * p.mean.se) ** 2 for p in parts]
    se, df = error_of_sum(variances, [p.mean.df for p in parts])
    n = min(p.mean.n for p in parts)
    mean = student(value, se, df, level=level, n=n, method="independent means")
    kinds = {p.stationarity for p in parts}
    flags = dict.fromkeys(flag for p in parts for flag in p.flags)
    note = "sampled at different times; errors are assumed independent"
    return Steady(
        mean,
        float(np.max([p.warmup_s for p in parts])),
        max(p.begin_s for p in parts),
        kinds.pop() if len(kinds) == 1 else "undetermined",
        (*flags, note),
        share * sum(p.mean.value * p.trend for p in parts) / value if value else np.nan,
        float(np.max([p.end_s for p in parts])),
    )
