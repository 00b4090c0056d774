"""`virtperf runs`: the stage of run folders."""

from __future__ import annotations

import click

from virtperf.cli._shared import stage, status
from virtperf.core.paths import Layout

EXIT_QUARANTINED = 3


@stage
@click.command()
@click.option(
    "--keep-going", is_flag=True, help="Exit with status 0 even if runs were quarantined."
)
@click.option(
    "--jobs",
    type=click.IntRange(1),
    help="Number of processes; default: one per processor, as far as memory allows.",
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    default="",
    help="Use a running Dask cluster (tcp://host:8786); its workers need the repository at the same path.",
)
def runs(layout: Layout, study_id: str, keep_going: bool, jobs: int | None, scheduler: str) -> None:
    """Summarise a study's run folders and judge its claims.

    Reads data/measured/STUDY with its examples/. Writes data/samples/STUDY (tidy samples, one Parquet
    file per run, and index.json with all files, warnings and quarantined runs), data/runs/STUDY
    (steady-state means with intervals, lineage, audits) and data/verdicts/STUDY (verdicts of all
    claims or hypotheses).

    Only new and changed runs are read. A run that can't be read is quarantined with the reason, and
    the others continue; the exit status is then 3, unless --keep-going.
    """
    from virtperf.runs.ingest.stage import refusal_error
    from virtperf.runs.stage import process_runs

    with status(f"runs of {study_id}") as progress:
        summary = process_runs(layout, study_id, jobs=jobs, scheduler=scheduler, progress=progress)
    new = f"{summary.n_read} newly read" if summary.n_read else "none newly read"
    count = len(summary.quarantined)
    excluded = f"; {summary.n_excluded:,} excluded" if summary.n_excluded else ""
    quarantined = f"; {count} quarantined" if count else ""
    word = "run" if summary.n_ok == 1 else "runs"
    click.echo(f"{study_id}: {summary.n_ok:,} {word}, {new}{excluded}{quarantined}")
    for refused in summary.quarantined:
        click.echo(f"quarantined {refused['run']}: {refusal_error(refused)}", err=True)
    if summary.quarantined and not keep_going:
        raise SystemExit(EXIT_QUARANTINED)
