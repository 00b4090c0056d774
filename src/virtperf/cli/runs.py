"""`virtperf runs`: the stage of run folders."""

from __future__ import annotations

import click

from virtperf.cli._stage import stage
from virtperf.cli._terminal import status
from virtperf.core.paths import Layout

EXIT_QUARANTINED = 3


@stage
@click.command()
@click.option("--keep-going", is_flag=True, help="End with success although runs were quarantined.")
@click.option(
    "--jobs", type=click.IntRange(1), help="Processes; default: one a processor, as memory allows."
)
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    default="",
    help="A running Dask cluster (tcp://host:8786) does the work; its workers see the repository at this path.",
)
def runs(layout: Layout, study_id: str, keep_going: bool, jobs: int | None, scheduler: str) -> None:
    """Read all run folders of a study, summarize them and judge claims by them.

    Reads data/measured/STUDY and examples/STUDY. Writes data/samples/STUDY (tidy samples, one
    Parquet file a run, and index.json with every file, warning and quarantined run), data/runs/STUDY
    (steady-state means with intervals, lineage, audits) and data/verdicts/STUDY (a verdict for every
    claim or hypothesis).

    Only runs that changed are read again; a line says how many. A run that can't be read is
    quarantined with the reason and the others go on; the command then ends with status 3, unless
    --keep-going.
    """
    from virtperf.runs.ingest.stage import refusal_error
    from virtperf.runs.stage import process_runs

    with status(f"runs of {study_id}") as progress:
        summary = process_runs(layout, study_id, jobs=jobs, scheduler=scheduler, progress=progress)
    new = f"{summary.n_read} newly read" if summary.n_read else "none newly read"
    count = len(summary.quarantined)
    quarantined = f"; {count} quarantined" if count else ""
    word = "run" if summary.n_ok == 1 else "runs"
    click.echo(f"{study_id}: {summary.n_ok:,} {word}, {new}{quarantined}")
    for refused in summary.quarantined:
        click.echo(f"quarantined {refused['run']}: {refusal_error(refused)}", err=True)
    if summary.quarantined and not keep_going:
        raise SystemExit(EXIT_QUARANTINED)
