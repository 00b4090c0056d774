"""Preview of a run: the real stages, run on a copy in a scratch folder."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rawperf.core.errors import RunError
from virtperf.core.stage_tables import AUDITS, OBSERVATIONS, SAMPLES
from virtperf.runs.ingest.stage import INDEX, ingest, refusal_error
from virtperf.runs.summarize.audits import OK
from virtperf.runs.summarize.stage import summarize
from virtperf.study.definition import Study


@dataclass(frozen=True)
class Preview:
    """A run as processed by the pipeline."""

    run: Mapping[str, Any]  # its entry in the index of samples
    units: Mapping[str, str]  # of its metrics
    samples: pd.DataFrame  # the table `SAMPLES`
    quantities: (
        pd.DataFrame
    )  # rows of `OBSERVATIONS`; a missing `value` is NaN, with the reason in `note`
    audits: pd.DataFrame  # violated rows of `AUDITS`

    @property
    def warnings(self) -> list[str]:
        """Warnings of the run and of its files."""
        return [
            *self.run["warnings"],
            *(f"{f['path']}: {w}" for f in self.run["files"] for w in f["warnings"]),
        ]


def preview(study: Study, copy: Path, metrics: Path, workplace: Path, *, level: float) -> Preview:
    """Ingest and summarize one run folder, `copy`, the only one in its parent folder; output goes
    to `workplace`.

    Raises `RunError`: an error that quarantines the run, or none of the study's quantities is
    observed in it.
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
    if len(observations) and observations["value"].isna().all():
        missing = [
            str(note).removeprefix("not measured in this run: no ") for note in observations["note"]
        ]
        raise RunError(
            f"the run contains none of the quantities of {study.id}",
            file=copy.name,
            expected="; ".join(missing),
            found="; ".join(_metrics_of_other_kinds(study, table)) or None,
            remedy="add files of a tool that measures one of them (see src/rawperf/metrics.yaml)",
        )
    units = {name: facts["unit"] for name, facts in index["metrics"].items()}
    return Preview(index["runs"][0], units, table, observations, audits[audits["status"] != OK])


def _metrics_of_other_kinds(study: Study, samples: pd.DataFrame) -> Iterator[str]:
    """Yield the study's metrics that the run has only for other kinds of entities."""
    kinds_by_metric: dict[str, set[str]] = {}
    for kind in study.quantities.values():
        for source in kind.observed_by.sources if kind.observed_by else ():
            kinds_by_metric.setdefault(source.metric, set()).add(source.entity_kind)
    there = samples[["metric", "entity_kind"]].drop_duplicates().itertuples(index=False)
    for metric, entity_kind in sorted((str(m), str(k)) for m, k in there):
        if metric in kinds_by_metric and entity_kind not in kinds_by_metric[metric]:
            yield f"{metric} of a {entity_kind}"
