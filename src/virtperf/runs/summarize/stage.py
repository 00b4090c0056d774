"""The summarize stage: steady-state means, observations of quantities, their lineage, and audits."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

from rawperf.core.errors import RawperfError
from rawperf.core.files import replace_folder
from virtperf.core.parallel import workers
from virtperf.core.stage_tables import (
    AUDITS,
    DISTRIBUTIONS,
    LINEAGE,
    MEANS,
    OBSERVATIONS,
    SAMPLES,
    SERIES,
    THUMBNAILS,
    TIMELINES,
)
from virtperf.runs.summarize.audits import audit, same_entities
from virtperf.runs.summarize.distributions import KIND, distribution_rows
from virtperf.runs.summarize.observations import (
    add_relative,
    chosen_runs,
    observe,
    thumbnail,
    timeline_rows,
)
from virtperf.runs.summarize.series import RunSeries, load_series
from virtperf.study.conditions import condition_means, pooled_rows
from virtperf.study.definition import Study

TableRows = list[dict[str, Any]]
RunRows = tuple[
    TableRows, TableRows, TableRows, TableRows, TableRows, TableRows, dict[str, TableRows]
]
SERIAL_LIMIT = 200
"""Number of runs up to which they are summarized serially: starting processes would take longer."""


def summarize(
    study: Study,
    samples: Path,
    out: Path,
    *,
    level: float,
    jobs: int | None = None,
    scheduler: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Write the tables of summarize (`core.stage_tables`) into the folder `out`, replacing it
    atomically.

    `samples` is the output of ingest; `jobs` and `scheduler` are as in `core.parallel.workers`.
    Raises `RawperfError`: the samples have no index or can't be read; a unit can't be converted.
    """
    index = read_index(samples)
    shown = {
        e.id: chosen_runs(study, e, index["runs"]) for e in study.exhibits if e.kind == "timeseries"
    }
    series, observed, lineage, thumbnails, audits, spread = (TableRows() for _ in range(6))
    over_time: dict[tuple[str, str], TableRows] = {}
    runs = index["runs"]
    n_jobs = 1 if len(runs) <= SERIAL_LIMIT else jobs
    with workers(
        study,
        samples,
        index["metrics"],
        level,
        shown,
        jobs=n_jobs,
        scheduler=scheduler,
        preload=__name__,
    ) as each:
        for number, (info, summary) in enumerate(
            zip(runs, each(_summarize_run, runs), strict=True), start=1
        ):
            progress(f"run {number} of {len(runs)}: {info['run_id']}")
            for rows, more in zip(
                (series, observed, lineage, thumbnails, audits, spread), summary[:-1], strict=True
            ):
                rows += more
            over_time |= {(exhibit, info["run_id"]): rows for exhibit, rows in summary[-1].items()}
    audits += same_entities(observed, tuple(study.factors))
    observed += pooled_rows(study, observed)
    add_relative(study, observed)
    progress("writing")
    timelines = [
        row
        for exhibit, ids in shown.items()
        for run_id in ids
        for row in over_time[exhibit, run_id]
    ]
    factors = tuple(study.factors)
    observations = OBSERVATIONS.frame(observed, factors)
    tables = (
        (SERIES, SERIES.frame(series, factors)),
        (OBSERVATIONS, observations),
        (MEANS, condition_means(study, observations, level)),
        (LINEAGE, LINEAGE.frame(lineage)),
        (TIMELINES, TIMELINES.frame(timelines)),
        (DISTRIBUTIONS, DISTRIBUTIONS.frame(spread)),
        (THUMBNAILS, THUMBNAILS.frame(thumbnails)),
        (AUDITS, AUDITS.frame(audits)),
    )
    with replace_folder(out) as folder:
        for table, frame in tables:
            table.write(frame, folder / table.file, factors)


def _summarize_run(
    info: dict[str, Any],
    study: Study,
    samples: Path,
    metrics: Mapping[str, Any],
    level: float,
    shown: Mapping[str, Collection[str]],
) -> RunRows:
    table = SAMPLES.read_arrow(samples / f"{info['run_id']}.parquet")
    return summarize_run(study, load_series(table, info, metrics, level), shown)


def summarize_run(study: Study, run: RunSeries, shown: Mapping[str, Collection[str]]) -> RunRows:
    """Summarize one run: rows of series, observations, lineage, thumbnails, audits and
    distributions, and timelines by exhibit. `shown` are the runs of each exhibit over time.
    """
    info = run.info
    head = {name: info[name] for name in ("run_id", "provenance", "replicate")}
    head |= {name: info["factors"][name] for name in study.factors}
    columns = {
        "block": info["block"] or study.block(info["factors"], info["replicate"]),
        "day": str(info["start"] or "")[:10],
    }
    observations, run_lineage = observe(study, run)
    return (
        [head | row for row in series_rows(run)],
        [head | columns | row for row in observations],
        [{"run_id": info["run_id"], **row} for row in run_lineage],
        list(thumbnail(study, run)),
        list(audit(run)),
        [
            row
            for exhibit in study.exhibits
            if exhibit.kind == KIND
            for row in distribution_rows(study, exhibit, run)
        ],
        {
            name: list(timeline_rows(study.exhibit(name), run))
            for name, ids in shown.items()
            if info["run_id"] in ids
        },
    )


def series_rows(run: RunSeries) -> TableRows:
    """Return one row per series: its steady-state mean with flags."""
    rows = []
    for key in run.series:
        source, entity_kind, entity, metric = key
        steady = run.steady(key)
        m = steady.mean
        rows.append(
            {
                "source": source,
                "entity_kind": entity_kind,
                "entity": entity,
                "metric": metric,
                "unit": run.metrics[metric]["unit"],
                "n": m.n,
                "value": m.value,
                "se": m.se,
                "df": m.df,
                "low": m.low,
                "high": m.high,
                "method": m.method,
                "declared_warmup_s": math.nan if run.independent else float(run.info["warmup_s"]),
                "warmup_s": steady.warmup_s,
                "begin_s": steady.begin_s,
                "stationarity": steady.stationarity,
                "flags": "; ".join(steady.flags),
            }
        )
    return rows


def read_index(samples: Path) -> Mapping[str, Any]:
    """Read the index of the samples; raises `RawperfError` if it is missing or can't be read."""
    path = samples / "index.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as err:
        raise RawperfError(
            "the index of the samples is missing or can't be read",
            file="index.json",
            found=str(err),
            remedy="run `virtperf runs STUDY`.",
        ) from err
