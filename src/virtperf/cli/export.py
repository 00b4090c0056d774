"""`virtperf export`: a study as an RO-Crate, or all pages, in one zip file."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.core.paths import Layout


@click.command()
@click.argument("study_id", metavar="[STUDY]", default="")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="A zip file, or for a study a folder that does not exist; default: build/STUDY-crate.zip, "
    "build/virtperf-reports.zip.",
)
@click.option(
    "--date",
    default="",
    metavar="YYYY-MM-DD",
    help="Date of publication of a study; default: that of the last commit.",
)
@click.pass_obj
def export(layout: Layout, study_id: str, output: Path | None, date: str) -> None:
    """Export a study as an RO-Crate, to publish it or to archive it; without STUDY all pages.

    A crate has the raw runs, the tables of all stages, the notebook, the report, licence and citation,
    and ro-crate-metadata.json, which describes each file, with its size and SHA-256. Run `virtperf
    pipeline STUDY` first. The same study gives the same bytes.

    Without STUDY, the zip file has every page of reports/ and the raw files that pages link to, under the
    paths that they have here: reports/index.html opens offline.
    """
    from virtperf.artifact.crate import export_study
    from virtperf.artifact.pages import FRONT, export_pages
    from virtperf.core.numbers import plural

    layout.require()
    out = output or layout.root / "build" / (
        f"{study_id}-crate.zip" if study_id else "virtperf-reports.zip"
    )
    if study_id:
        count = export_study(layout, study_id, out, date)
        click.echo(f"{out}: {plural(count, 'file')}, and their description ro-crate-metadata.json")
    elif date:
        raise click.UsageError("--date is that of a study: give STUDY")
    else:
        click.echo(f"{out}: {plural(export_pages(layout, out), 'file')}; begin with {FRONT}")
