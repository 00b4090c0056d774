"""One run folder, read in memory by the code of the stage `runs`: for comparisons, and for previews of
a run that is measured or added.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rawperf.core.errors import RunError
from rawperf.core.metrics import MetricDictionary
from rawperf.registry import build_dictionary
from virtperf.core.stage_tables import AUDITS, OBSERVATIONS, SAMPLES
from virtperf.runs.ingest.folder import RunFolder
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.ingest.runs import Run, load_run
from virtperf.runs.ingest.samples import sample_table
from virtperf.runs.ingest.stage import (
    describe_metrics,
    index_entry,
    refusal,
    refusal_error,
    require_current_names,
)
from virtperf.runs.summarize.audits import OK
from virtperf.runs.summarize.observations import add_relative
from virtperf.runs.summarize.series import RunSeries, load_series
from virtperf.runs.summarize.stage import summarize_run
from virtperf.study.conditions import pooled_rows
from virtperf.study.definition import Study


def read_one_run(
    folder: Path, run: Run, dictionary: MetricDictionary, study: Study | None, level: float
) -> tuple[RunSeries, pd.DataFrame]:
    """Read the series of a run, with its entry in the index as `info`, and its table `SAMPLES`.

    `study` declares formats, and files that are not read. Raises the `RawperfError` of the first file
    that can't be read.
    """
    inputs, not_read = (study_inputs(study), study.not_read) if study else ((), {})
    read, table = sample_table(folder, run, dictionary, inputs, not_read)
    metrics = describe_metrics(dictionary, set(read.metrics))
    entry = index_entry(run, "measured", read)
    return load_series(table, entry, metrics, level), SAMPLES.pandas(table)


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


def preview(study: Study, folder: Path, metrics: Path, *, level: float) -> Preview:
    """Read and summarize one run folder of a study; nothing is written.

    Raises `RunError`: an error that would quarantine the run, or none of the study's quantities is
    observed in it. Raises `StudyError` as `ingest` does.
    """
    dictionary = build_dictionary(metrics, study_inputs(study))
    require_current_names(study, dictionary)
    try:
        place = RunFolder(folder)
        run = load_run(place, study, "measured", place.raw_files())
        series, samples = read_one_run(folder, run, dictionary, study, level)
    except Exception as err:
        raise refusal_error(refusal(folder.name, "measured", err)) from err
    rows = summarize_run(study, series, {})
    observed, audits = rows[1], rows[4]
    observed += pooled_rows(study, observed)
    add_relative(study, observed)
    quantities = OBSERVATIONS.frame(observed, tuple(study.factors))
    if len(quantities) and quantities["value"].isna().all():
        missing = [
            str(note).removeprefix("not measured in this run: no ") for note in quantities["note"]
        ]
        raise RunError(
            f"the run contains none of the quantities of {study.id}",
            file=folder.name,
            expected="; ".join(missing),
            found="; ".join(_metrics_of_other_kinds(study, samples)) or None,
            remedy="add files of a tool that measures one of them (see src/rawperf/metrics.yaml)",
        )
    units = {name: str(facts["unit"]) for name, facts in series.metrics.items()}
    violated = AUDITS.frame(row for row in audits if row["status"] != OK)
    return Preview(series.info, units, samples, quantities, violated)


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
