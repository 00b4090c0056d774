"""`virtperf figure`: export one figure."""

from __future__ import annotations

from pathlib import Path

import click

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
    from virtperf.report.figure_file import write_figure

    layout.known(study_id)
    write_figure(study_id, exhibit, layout.root / "data", output)
