"""`virtperf crate`: the whole state as one research object."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.cli._terminal import say, status, warn
from virtperf.core.paths import Layout


@click.command()
@click.option("-o", "--output", type=click.Path(path_type=Path), required=True, help="A new folder, or a file *.zip.")
@click.option("--study", "studies", multiple=True, metavar="STUDY", help="Only this study; may be given several times.")
@click.option("--date", help="Date of publication; default: that of CITATION.cff or of the commit.")
@click.pass_obj
def crate(layout: Layout, output: Path, studies: tuple[str, ...], date: str | None) -> None:
    """Export inputs, notebooks, results, reports and source as an RO-Crate, a folder or zip file with metadata.

    The metadata says what each file is, whose it is, which papers the studies regenerate and which run of the pipeline
    made which report. Nothing is run; results that are missing or out of date are named. The same state gives the same
    bytes.
    """
    from virtperf.crate.export import export

    with status("exporting") as progress:
        done = export(layout, output, studies=studies, date=date, progress=progress)
    warn(done.warnings)
    say(f"{output}: {done.files} files, {done.size / 1e6:.1f} MB")
