"""The summarize stage: from samples to steady-state means of runs, observations of quantities, and audits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd

from virtperf.core.errors import VirtperfError
from virtperf.core.files import replaced_folder
from virtperf.core.tables import rounded, write_parquet
from virtperf.study.definition import Study
from virtperf.summarize.audits import COLUMNS as AUDIT_COLUMNS
from virtperf.summarize.audits import audit
from virtperf.summarize.observations import add_relative, observation_frame, observe
from virtperf.summarize.series import RunSeries, load_series

DIGITS = 10
"""Significant digits of stored results: all that mean something, fewer than where processors may differ."""


def summarize(
    study: Study, samples: Path, out: Path, *, level: float, progress: Callable[[str], None] = lambda _: None
) -> None:
    """Write `runs.parquet`, `observations.parquet` and `audits.parquet` into the folder `out`, replacing it as a whole.

    Parameters
    ----------
    study : Study
    samples : Path
        The output of ingest.
    level : float
        Confidence level of intervals.

    Raises
    ------
    VirtperfError
        The samples have no index.
    """
    index = _index(samples)
    runs: list[dict[str, Any]] = []
    observed: list[dict[str, Any]] = []
    audits: list[dict[str, Any]] = []
    for number, info in enumerate(index["runs"], start=1):
        progress(f"run {number} of {len(index['runs'])}: {info['run_id']}")
        run = load_series(samples / f"{info['run_id']}.parquet", info, index["metrics"], level)
        head = {"run_id": info["run_id"], "provenance": info["provenance"], "replicate": info["replicate"]}
        head |= {name: str(info["factors"][name]) for name in study.factors}
        runs += [head | row for row in series_rows(run)]
        observed += [head | row for row in observe(study, run)]
        audits += audit(run)
    add_relative(study, observed, {info["run_id"]: info["factors"] for info in index["runs"]})
    progress("writing")
    with replaced_folder(out) as folder:
        write_parquet(_rounded(_run_frame(study, runs)), folder / "runs.parquet")
        write_parquet(_rounded(observation_frame(study, observed)), folder / "observations.parquet")
        write_parquet(_rounded(pd.DataFrame(audits, columns=list(AUDIT_COLUMNS))), folder / "audits.parquet")


def series_rows(run: RunSeries) -> list[dict[str, Any]]:
    """One row a series: its steady-state mean and what there is to say about it."""
    rows = []
    for key in run.series:
        source, entity_kind, entity, metric = key
        found = run.steady(key)
        m = found.mean
        rows.append({
            "source": source, "entity_kind": entity_kind, "entity": entity, "metric": metric,
            "unit": run.metrics[metric]["unit"], "n": m.n, "mean": m.mean, "se": m.se, "n_eff": m.n_eff, "df": m.df,
            "low": m.low, "high": m.high, "method": m.method, "declared_warmup_s": float(run.info["warmup_s"]),
            "warmup_s": found.warmup_s, "begin_s": found.begin_s, "stationarity": found.stationarity,
            "flags": "; ".join(found.flags),
        })  # fmt: skip
    return rows


def _run_frame(study: Study, rows: list[dict[str, Any]]) -> pd.DataFrame:
    columns = [
        "run_id", "provenance", "replicate", *study.factors, "source", "entity_kind", "entity", "metric", "unit", "n",
        "mean", "se", "n_eff", "df", "low", "high", "method", "declared_warmup_s", "warmup_s", "begin_s",
        "stationarity", "flags",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=columns)


def _rounded(frame: pd.DataFrame) -> pd.DataFrame:
    """Numbers rounded, and columns of one type each even where a study has no run yet."""
    out = frame.copy()
    for name in out.columns:
        if name in _WHOLE:
            out[name] = out[name].astype("int64")
        elif name in _NUMBERS:
            out[name] = rounded(out[name].astype("float64"), DIGITS)
        else:
            out[name] = out[name].astype("str")
    return out


_WHOLE = frozenset({"replicate", "n", "entities"})
_NUMBERS = frozenset({
    "mean", "se", "n_eff", "df", "low", "high", "declared_warmup_s", "warmup_s", "begin_s", "value", "relative",
    "relative_se", "expected",
})  # fmt: skip


def _index(samples: Path) -> dict[str, Any]:
    path = samples / "index.json"
    if not path.is_file():
        raise VirtperfError("the samples have no index", file="index.json", remedy="run `virtperf ingest` first.")
    return json.loads(path.read_text(encoding="utf-8"))
