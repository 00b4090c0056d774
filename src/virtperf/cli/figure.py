"""`virtperf figure`: export one figure."""

from __future__ import annotations

from pathlib import Path

import click

from rawperf.core.errors import RawperfError
from rawperf.core.files import write_atomically
from virtperf.core.paths import Layout

SUFFIX = ".svg"


def _check_suffix(context: click.Context, parameter: click.Parameter, path: Path) -> Path:
    if path.suffix.lower() != SUFFIX:
        raise click.UsageError(f"--output {path}: the name must end in {SUFFIX}.")
    return path


@click.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("exhibit")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    required=True,
    callback=_check_suffix,
    help="Output file: .svg.",
)
@click.pass_obj
def figure(layout: Layout, study_id: str, exhibit: str, output: Path) -> None:
    """Export one figure, such as figure-5, as an SVG file."""
    from virtperf.report import plot
    from virtperf.report.loaded import load_study

    layout.known(study_id)
    study = load_study(study_id, layout.root / "data")
    study.data.require_stages()
    shown = study.show(exhibit)
    if shown.figure is None or shown.record is None:
        raise RawperfError(f"{exhibit} has no drawing", expected="a line, bar or time figure")
    record = shown.record
    svg = plot.svg(
        shown.figure,
        exhibit,
        title=f"{record.name}: {record.title}",
        description=record.caption,
        background="#ffffff",
    )
    write_atomically(output, f"{svg}\n")
