"""Observations of a study's quantities in runs: `observed` rules, values relative to reference
points, figures over time, and a thumbnail per run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from rawperf.core.buckets import BUCKET
from virtperf.core.estimate import Estimate, quotient
from virtperf.core.grouping import grouped
from virtperf.core.order_statistics import is_percentile
from virtperf.core.provenance import RUN_KINDS
from virtperf.core.statistics import error_of_sum
from virtperf.runs.summarize.distributions import bucket_flags, bucket_mean, run_buckets
from virtperf.runs.summarize.events import count_edges, per_second
from virtperf.runs.summarize.series import (
    Combined,
    Reduction,
    RunSeries,
    SampleSeries,
    align_polling_rounds,
    checked_factor,
    reduction,
)
from virtperf.study.definition import Exhibit, QuantityKind, Study

ObservationRow = dict[str, Any]

_NUMBERS = (
    *("value", "se", "df", "low", "high", "begin_s", "trend"),
    *("relative", "relative_se", "relative_df"),
)
OF_SINGLE_VALUES = ("median", "quantile", "interquartile", "above")
"""Statistics of the pooled single values of all drivers."""
NO_MEAN = (
    "not measured in this run: {metric} has {n} entities, and the mean of percentiles is not a percentile; "
    "observe single values with statistic: quantile"
)
NO_EVENTS = (
    "{source} has means of {metric}, but no single values, from which the {statistic} is computed"
)
ONE_WINDOW = (
    "{whole} is the mean of the whole run, {sampled} is sampled within the window; divide two metrics that "
    "are sampled, or two of the whole run"
)
_TEXTS = ("method", "source", "entity_kind", "metric", "stationarity", "note")


def observe(study: Study, run: RunSeries) -> tuple[list[ObservationRow], list[ObservationRow]]:
    """Apply the `observed` rules of the study's quantities to a run: rows of `OBSERVATIONS` and
    `LINEAGE`.

    Values are in the quantity's unit, or NaN with the reason in `note`. Raises as
    `observed_factor`.
    """
    rows: list[ObservationRow] = []
    lineage: list[ObservationRow] = []
    for name, kind in study.quantities.items():
        if kind.observed:
            row, parts = _observe(study, kind, run)
            rows.append(row)
            lineage += [
                {"quantity": name, **part}
                for role, c in parts
                for part in lineage_rows(run, c, role)
            ]
    return rows, lineage


def _observe(
    study: Study, kind: QuantityKind, run: RunSeries
) -> tuple[ObservationRow, list[tuple[str, Combined]]]:
    row: ObservationRow = {"quantity": kind.name, "entities": 0, "n": 0}
    row |= dict.fromkeys(_NUMBERS, np.nan) | dict.fromkeys(_TEXTS, "")
    rule = kind.observed
    if not kind.observable(run.info["factors"]):
        return row | {"note": "not observed in runs at these levels"}, []
    if rule["from"][0]["entity_kind"] == BUCKET:
        return _observe_buckets(kind, run, row)
    how = rule["combine"]
    merged = how == "mean" and rule.get("statistic") in OF_SINGLE_VALUES
    events = rule.get("statistic", "mean") in (*OF_SINGLE_VALUES, "max")
    combined = next(
        filter(
            None,
            (
                _combined_source(run, source, how, _reduction(kind, run, source), merged, events)
                for source in rule["from"]
            ),
        ),
        None,
    )
    if combined is None:
        return row | {"note": f"not measured in this run: {_missing(run, rule, events)}"}, []
    if len(combined.entities) > 1 and is_percentile(combined.metric):
        return row | {"note": NO_MEAN.format(metric=combined.metric, n=len(combined.entities))}, []
    per = None
    if "per" in rule:
        divided = _over_one_window(kind, run, combined)
        if isinstance(divided, str):
            return row | {"note": f"not measured in this run: {divided}"}, []
        combined, per = divided
    mean, flags = combined.steady.mean, list(combined.steady.flags)
    parts, per_unit, trend = [("of", combined)], "1", combined.steady.trend
    if per is not None:
        mean, per_unit = quotient(mean, per.steady.mean), run.metrics[per.metric]["unit"]
        flags += [f"{per.metric}: {flag}" for flag in per.steady.flags]
        parts.append(("per", per))
        trend -= per.steady.trend
    mean = mean.scaled(observed_factor(kind, run.metrics[combined.metric]["unit"], per_unit))
    if "less" in rule:
        less = study.factors[rule["less"]]
        level = float(run.info["factors"][less.name])
        whole = mean.value
        mean = mean.shifted(-level * checked_factor(kind.name, "quantity", less.unit, kind.unit))
        trend *= whole / mean.value if mean.value else np.nan
    return row | _observation_columns(mean, combined, combined.steady.stationarity, flags) | {
        "trend": trend
    }, parts


def _over_one_window(
    kind: QuantityKind, run: RunSeries, combined: Combined
) -> tuple[Combined, Combined] | str:
    """Return numerator and denominator of a quotient, both over the part of the window that both
    evaluate and cover with samples; or why there is no quotient.
    """
    rule = kind.observed
    per = _combined_source(run, rule["per"], "sum")
    if per is None:
        return f"no {_source_text(rule['per'])} to divide by"
    sides = combined, per
    totals = [np.isnan(run.series[s.key(s.entities[0])].t).any() for s in sides]
    if any(totals) and not all(totals):
        whole, sampled = sides if totals[0] else sides[::-1]
        if run.metrics[whole.metric]["unit"].endswith("/s"):
            return ONE_WINDOW.format(whole=whole.metric, sampled=sampled.metric)
    elif not any(totals) and not run.independent:
        stretches = [run.covered(side) for side in sides]
        window = max(begin for begin, _ in stretches), min(end for _, end in stretches)
        if not window[0] < window[1]:
            return f"{combined.metric} and {per.metric} have no time of the window in common"
        if any(stretch != window for stretch in stretches) or stretches[0] != run.window:
            source = next(s for s in rule["from"] if s["metric"] == combined.metric)
            reduce_by = _reduction(kind, run, source)
            again = (
                _combined_source(run, source, rule["combine"], reduce_by, window=window),
                _combined_source(run, rule["per"], "sum", window=window),
            )
            combined, per = (
                replace(new, steady=new.steady.flagged_as(old.steady))
                for new, old in zip(again, sides, strict=True)
                if new is not None
            )
    if not per.steady.mean.value > 0:
        return f"no {_source_text(rule['per'])} to divide by"
    return combined, per


def _observation_columns(
    mean: Estimate, combined: Combined, stationarity: str, flags: Sequence[str]
) -> ObservationRow:
    """Build the columns of an observation from its mean and source."""
    return {
        "value": mean.value,
        "se": mean.se,
        "df": mean.df,
        "low": mean.low,
        "high": mean.high,
        "n": mean.n,
        "method": mean.method,
        "begin_s": combined.steady.begin_s,
        "entities": len(combined.entities),
        "metric": combined.metric,
        "source": combined.source,
        "entity_kind": combined.entity_kind,
        "stationarity": stationarity,
        "note": "; ".join(flags),
    }


def _observe_buckets(
    kind: QuantityKind, run: RunSeries, row: ObservationRow
) -> tuple[ObservationRow, list[tuple[str, Combined]]]:
    """Observe a quantity from the buckets of the first available source."""
    rule = kind.observed
    share = rule["statistic"] == "above"
    unit = rule["limit"]["unit"] if share else kind.unit
    of_runs = (run_buckets(run, source, kind.name, unit) for source in rule["from"])
    read = next(filter(None, of_runs), None)
    if read is None:
        return row | {
            "note": f"not measured in this run: no {' or '.join(map(_source_text, rule['from']))}"
        }, []
    mean = bucket_mean(read.counts, rule, rule["limit"]["value"] if share else np.nan, run.level)
    flags, combined = bucket_flags(read.counts, mean), read.found
    if share:
        mean = mean.scaled(checked_factor(kind.name, "quantity", "1", kind.unit))
    return row | _observation_columns(mean, combined, "", flags), [("of", combined)]


def _reduction(kind: QuantityKind, run: RunSeries, source: Mapping[str, str]) -> Reduction:
    """Return the reduction of a metric's samples by the quantity's rule."""
    rule, limit = kind.observed, np.nan
    if "limit" in rule and source["metric"] in run.metrics:
        unit = run.metrics[source["metric"]]["unit"]
        limit = rule["limit"]["value"] * checked_factor(
            kind.name, "limit", rule["limit"]["unit"], unit
        )
    return reduction(rule, independent=run.independent, limit=limit)


def observed_factor(kind: QuantityKind, unit: str, per: str = "1") -> float:
    """Conversion factor from a metric in `unit`, divided by one in `per`, to the quantity's unit.

    A relative quantity is kept in the metric's own unit. A rule with `cpus` refers to the share of
    that many processors. Raises `StudyError` naming both units if there is no conversion.
    """
    if kind.observed.get("relative"):
        return 1.0
    if kind.observed.get("statistic") == "above":  # a share of the samples
        unit = "1"
    return checked_factor(kind.name, "quantity", unit, kind.unit, per) / kind.observed.get(
        "cpus", 1
    )


def _missing(run: RunSeries, rule: Mapping[str, Any], events: bool) -> str:
    """Say what a run lacks for an `observed` rule."""
    for source in rule["from"] if events else ():
        name, _ = run.of(source["metric"], source["entity_kind"])
        if name:
            return NO_EVENTS.format(source=name, statistic=rule["statistic"], **source)
    return f"no {' or '.join(map(_source_text, rule['from']))}"


def _combined_source(
    run: RunSeries,
    source: Mapping[str, str],
    how: str,
    reduce_by: Reduction | None = None,
    merged: bool = False,
    events: bool = False,
    window: tuple[float, float] | None = None,
) -> Combined | None:
    """Combine a source; with `events` only one of single events, if a metric has such formats."""
    return run.combined(
        source["metric"],
        source["entity_kind"],
        how,
        entity=source.get("entity", "*"),
        reduce_by=reduce_by,
        merged=merged,
        events=events and bool(run.metrics.get(source["metric"], {}).get("events")),
        window=window,
    )


def _source_text(source: Mapping[str, str]) -> str:
    name = f" named {source['entity']}" if "entity" in source else ""
    return f"{source['metric']} of a {source['entity_kind']}{name}"


def add_relative(study: Study, rows: Sequence[ObservationRow]) -> None:
    """Fill `relative`, `relative_se` and `relative_df` of the rows of `observe` in place.

    Values are divided by the mean of the runs at the reference point, the one with most factor
    levels in common with the run (`Study.reference_for`). A run is compared with runs of its own
    provenance only.

    Errors are those within runs, by the delta method; a run that is part of its reference shares
    its error with it, so a single reference run has none. Degrees of freedom are
    Welch-Satterthwaite's over the same terms, the run's and those of its reference.
    """
    by_point = grouped(
        (
            (
                row["provenance"],
                study.quantity_at(row["quantity"], {f: row[f] for f in study.factors}),
            ),
            row,
        )
        for row in rows
    )
    for (provenance, quantity), group in by_point.items():
        reference_at = study.reference_for(quantity)
        if reference_at is None or not study.quantities[quantity.name].observed.get("relative"):
            continue
        point, reference_value = reference_at
        reference = [r for r in by_point.get((provenance, point), []) if np.isfinite(r["value"])]
        for row in group:
            if np.isfinite(row["value"]):
                _set_relative(row, reference, reference_value, study.show(point))


def _set_relative(
    row: ObservationRow, reference: list[ObservationRow], reference_value: float, where: str
) -> None:
    k = len(reference)
    base = sum(r["value"] for r in reference) / k if k else np.nan
    if not k or base == 0:
        problem = "no run" if not k else "the mean is 0"
        note = f"no relative value: {problem} at the reference point, {where}"
        row["note"] = f"{row['note']}; {note}".lstrip("; ")
        return
    share = row["value"] / base
    # one term per independent run: the row itself, possibly part of its reference, and the other
    # runs of the reference
    weight = 1 - share / k if any(r is row for r in reference) else 1.0
    others = [r for r in reference if r is not row]
    variances = [(weight * row["se"]) ** 2, *((share / k * r["se"]) ** 2 for r in others)]
    se, df = error_of_sum(variances, [row["df"], *(r["df"] for r in others)])
    row["relative"], row["relative_df"] = reference_value * share, df
    row["relative_se"] = reference_value * se / abs(base)


def lineage_rows(run: RunSeries, used: Combined, role: str) -> Iterator[dict[str, Any]]:
    """Yield one row per raw file: columns of `stage_tables.LINEAGE` without run and quantity.

    Samples count that cover a part of the evaluated stretch, at times common to all entities. A
    total of the run has no time and is always counted.
    """
    declared = run.window
    begin, end = (
        found if np.isfinite(found) else limit
        for found, limit in zip((used.steady.begin_s, used.steady.end_s), declared, strict=True)
    )
    files: dict[str, list[np.ndarray]] = {}
    own = [used.key(entity) for entity in used.entities]
    for key in (behind for one in own for behind in run.behind.get(one, (one,))):
        series = run.series[key]
        if series.files is None or series.lines is None:
            continue
        timed = series.overlap((begin, end)).used
        if used.times is not None and key in own:
            timed &= np.isin(series.t, used.times)
        inside = timed | np.isnan(series.t)
        names, lines = series.files[inside], series.lines[inside]
        for name in dict.fromkeys(names.tolist()):
            files.setdefault(name, []).append(lines[names == name])
    for file, parts in sorted(files.items()):
        lines = np.concatenate(parts)
        yield {
            "metric": used.metric,
            "source": used.source,
            "entity_kind": used.entity_kind,
            "entities": list(used.entities),
            "role": role,
            "begin_s": begin,
            "end_s": end,
            "file": file,
            "first_line": int(lines.min()),
            "last_line": int(lines.max()),
            "samples": len(lines),
        }


THUMBNAIL_STEPS = 80
"""Maximum number of steps of a thumbnail; longer series are averaged."""
MIN_SAMPLES = 3


def chosen_runs(study: Study, exhibit: Exhibit, runs: Iterable[Mapping[str, Any]]) -> list[str]:
    """Select, for each provenance, the first run by id at the condition of a figure over time; in
    the order of `RUN_KINDS`.
    """
    levels = study.filled(exhibit.run.at if exhibit.run else {})
    chosen: dict[str, str] = {}
    for run in sorted(runs, key=lambda run: (RUN_KINDS.index(run["provenance"]), run["run_id"])):
        if all(run["factors"].get(name) == level for name, level in levels.items()):
            chosen.setdefault(run["provenance"], run["run_id"])
    return list(chosen.values())


def timeline_rows(exhibit: Exhibit, run: RunSeries) -> Iterator[dict[str, Any]]:
    """Yield the samples of a run for a figure over time, summed over entities: rows of `TIMELINES`."""
    for spec in exhibit.spec["series"]:
        name, series = run.of(
            spec["metric"], spec["entity_kind"], entity=str(spec.get("entity", "*"))
        )
        if not series:
            continue
        factor = series_factor(exhibit, spec, run.metrics[spec["metric"]]["unit"])
        total = _over_time(run, name, spec["metric"], series)
        for t, value in zip(total.t.tolist(), total.value.tolist(), strict=True):
            yield {
                "exhibit": exhibit.id,
                "series": spec["label"],
                "unit": spec["unit"],
                "provenance": run.info["provenance"],
                "run_id": run.info["run_id"],
                "t_s": t,
                "value": value * factor,
            }


def series_factor(exhibit: Exhibit, spec: Mapping[str, Any], unit: str) -> float:
    """Conversion factor from a metric in `unit` to a series' unit; raises `StudyError` naming both
    if there is none.
    """
    return checked_factor(f"{exhibit.id}, {spec['label']}", "series", unit, spec["unit"])


def thumbnail(study: Study, run: RunSeries) -> Iterator[dict[str, Any]]:
    """Downsample a metric to at most `THUMBNAIL_STEPS` steps over the whole length of the run: the
    first that the study's responses observe in it, else its other quantities.
    """
    for kind in sorted(study.quantities.values(), key=lambda kind: not kind.response):
        for source in kind.observed.get("from", ()):
            name, series = run.of(source["metric"], source["entity_kind"])
            total = _over_time(run, name, source["metric"], series) if series else None
            if total is None or len(total.t) < MIN_SAMPLES:
                continue
            step = np.arange(len(total.t)) * min(THUMBNAIL_STEPS, len(total.t)) // len(total.t)
            t, means = (
                np.bincount(step, weights=each) / np.bincount(step)
                for each in (total.t, total.value)
            )
            for position, (t_s, value) in enumerate(zip(t.tolist(), means.tolist(), strict=True)):
                yield {
                    "run_id": run.info["run_id"],
                    "metric": source["metric"],
                    "step": position,
                    "t_s": t_s,
                    "value": value,
                }
            return


def _over_time(
    run: RunSeries, source: str, metric: str, series: Mapping[str, SampleSeries]
) -> SampleSeries:
    """Return the sum over entities at each time; of events the mean in each interval of
    `count_edges`.
    """
    if run.independent or not run.is_events(source, metric):
        return _sum_entities(series)
    t, value = (np.concatenate([getattr(s, n) for s in series.values()]) for n in ("t", "value"))
    order = np.argsort(t, kind="stable")
    edges = count_edges(run.window, float(t.max()))
    counts = per_second(t[order], edges)
    with np.errstate(invalid="ignore"):
        means = per_second(t[order], edges, value[order]) / counts
    return SampleSeries(edges[1:][counts > 0], means[counts > 0])


def _sum_entities(series: Mapping[str, SampleSeries]) -> SampleSeries:
    """Sum over entities at each time, without totals."""
    parts = align_polling_rounds(series).values()
    t, value = (np.concatenate([getattr(s, name) for s in parts]) for name in ("t", "value"))
    timed = np.isfinite(t)
    times, place = np.unique(t[timed], return_inverse=True)
    return SampleSeries(times, np.bincount(place, weights=value[timed], minlength=len(times)))
