"""The runs stage: ingest, summarize and judge in one process."""

from __future__ import annotations

from collections.abc import Callable

from virtperf.core.params import load_parameters
from virtperf.core.paths import Layout
from virtperf.runs.ingest.stage import IngestSummary, ingest
from virtperf.runs.raw_lines import store_raw_lines
from virtperf.runs.summarize.stage import summarize
from virtperf.study.definition import load_study
from virtperf.verdicts.stage import judge_claims


def process_runs(
    layout: Layout,
    study_id: str,
    *,
    jobs: int | None = None,
    scheduler: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> IngestSummary:
    """Read, summarize and judge all runs of a study: data/samples, data/runs, data/verdicts.

    Parameters
    ----------
    jobs, scheduler
        As in `core.parallel.workers`.
    progress : callable, optional
        Callback for progress messages.

    Returns
    -------
    IngestSummary
        Includes the runs that can't be read: they are quarantined, the others are processed.

    Raises
    ------
    RawperfError
        The study, the parameters or the metric dictionary is invalid; runs changed while they were
        read; output of `reconstruct` is missing.
    """
    study = load_study(layout.known(study_id))
    parameters = load_parameters(layout.parameters)
    at = Layout(layout.root.absolute())  # workers may have another working directory
    roots = {"measured": at.measured(study_id), "example": at.examples(study_id)}
    summary = ingest(
        study,
        roots,
        at.metrics,
        at.samples(study_id),
        at.cache,
        jobs=jobs,
        scheduler=scheduler,
        progress=lambda words: progress(f"reading: {words}"),
    )
    summarize(
        study,
        at.samples(study_id),
        at.runs(study_id),
        level=parameters.level,
        jobs=jobs,
        scheduler=scheduler,
        progress=lambda words: progress(f"summarizing: {words}"),
    )
    progress("storing raw lines")
    store_raw_lines(roots, at.samples(study_id), at.runs(study_id))
    progress("judging claims")
    judge_claims(at, study, parameters)
    return summary
