"""`virtperf crate`: the whole state as one research object."""

from __future__ import annotations

from pathlib import Path

import click

from virtperf.cli._terminal import say, status, warn
from virtperf.core.paths import Layout


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    required=True,
    help="A new or an empty folder.",
)
@click.pass_obj
def crate(layout: Layout, output: Path) -> None:
    """Copy inputs, notebooks, results, reports and source into a folder that describes itself
    (RO-Crate 1.1).

    Its ro-crate-metadata.json lists every file with size and hash, the papers that the studies
    regenerate, and which command made what. Nothing is run; results that are missing or out of date
    are named. `virtperf verify --against` takes such a folder.
    """
    from virtperf.crate.export import export

    with status("exporting") as progress:
        done = export(layout, output, progress)
    warn(done.warnings)
    say(f"{output}: {done.files} files, {done.size / 1e6:.1f} MB")
