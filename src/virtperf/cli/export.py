"""`virtperf export`: a study as an RO-Crate."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.core.paths import Layout


@click.command()
@click.argument("study_id", metavar="STUDY")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A zip file, or a folder that does not exist; default: build/STUDY-crate.zip.",
)
@click.option(
    "--date",
    default="",
    metavar="YYYY-MM-DD",
    help="Date of publication; default: that of the last commit.",
)
@click.pass_obj
def export(layout: Layout, study_id: str, output: Path | None, date: str) -> None:
    """Export a study as an RO-Crate, to publish it or to archive it.

    It has the raw runs, the tables of all stages, the notebook, the report, licence and citation, and
    ro-crate-metadata.json, which describes each file, with its size and SHA-256. Run `virtperf pipeline
    STUDY` first. The same study gives the same bytes.
    """
    from virtperf.artifact.crate import export_study
    from virtperf.core.numbers import plural

    layout.require()
    out = output or layout.root / "build" / f"{study_id}-crate.zip"
    count = export_study(layout, study_id, out, date)
    click.echo(f"{out}: {plural(count, 'file')}, and their description ro-crate-metadata.json")
