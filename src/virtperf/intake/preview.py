"""What the pipeline would make of a run: the real stages, run on a copy in a folder of its own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from virtperf.core.errors import RunError
from virtperf.core.stage_tables import AUDITS, OBSERVATIONS, SAMPLES
from virtperf.ingest.stage import INDEX, ingest, refusal_error
from virtperf.study.definition import Study
from virtperf.summarize.audits import OK
from virtperf.summarize.stage import summarize


@dataclass(frozen=True)
class Preview:
    """A run as the pipeline sees it.

    Attributes
    ----------
    run : dict
        Its entry in the index of samples: times, factors, files with formats, records, samples and warnings.
    metrics : DataFrame
        One row a metric: metric, unit, entities, samples.
    quantities : DataFrame
        Rows of `observations.parquet` of this run; `value` is NaN, and `note` says why, where it can't tell.
    audits : DataFrame
        Rows of `audits.parquet` that did not pass.
    spans : mapping of str to tuple of float
        First and last time of each file's samples, in seconds from the run's start.
    """

    run: Mapping[str, Any]
    metrics: pd.DataFrame
    quantities: pd.DataFrame
    audits: pd.DataFrame
    spans: Mapping[str, tuple[float, float]]

    @property
    def warnings(self) -> list[str]:
        """Of the run and of its files."""
        return [*self.run["warnings"], *(f"{f['path']}: {w}" for f in self.run["files"] for w in f["warnings"])]


def preview(study: Study, copy: Path, metrics: Path, workplace: Path, *, level: float) -> Preview:
    """Ingest and summarize one run folder.

    Parameters
    ----------
    study : Study
    copy : Path
        The run folder, with its `run.yaml`, alone in its parent folder.
    metrics : Path
        The metric dictionary.
    workplace : Path
        A folder to write to.
    level : float
        Confidence level of intervals.

    Raises
    ------
    RunError
        Whatever would quarantine the run, or that none of the study's quantities can be had from it.
    """
    samples, runs = workplace / "samples", workplace / "runs"
    done = ingest(study, {"measured": copy.parent}, metrics, samples, workplace / "cache", jobs=1)
    for refused in done.quarantined:
        raise refusal_error(refused)
    summarize(study, samples, runs, level=level)
    index = json.loads((samples / INDEX).read_text(encoding="utf-8"))
    observations = OBSERVATIONS.read(runs / OBSERVATIONS.file, tuple(study.factors))
    audits = AUDITS.read(runs / AUDITS.file)
    table = SAMPLES.read(samples / f"{copy.name}.parquet")
    grouped = table.groupby("metric", sort=True)
    counted = pd.DataFrame(
        {
            "metric": [name for name, _ in grouped],
            "unit": [index["metrics"][str(name)]["unit"] for name, _ in grouped],
            "entities": [group[["entity_kind", "entity"]].drop_duplicates().shape[0] for _, group in grouped],
            "samples": [len(group) for _, group in grouped],
        }
    )
    timed = table.dropna(subset=["t_s"]).groupby("file", sort=False)["t_s"]
    spans = {str(file): (float(t.min()), float(t.max())) for file, t in timed}
    if len(observations) and observations["value"].isna().all():
        missing = [str(note).removeprefix("not measured in this run: no ") for note in observations["note"]]
        raise RunError(
            f"the run shows none of the quantities of {study.id}", file=copy.name, expected="; ".join(missing),
            remedy="add the files of the tool that measures one of them (data/metrics.yaml says which)",
        )  # fmt: skip
    return Preview(index["runs"][0], counted, observations, audits[audits["status"] != OK], spans)
