"""`virtperf read`: `rawperf read` with a study's formats and the repository's metric dictionary."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from rawperf.cli import read as rawperf_read
from rawperf.cli import read_file
from virtperf.core.paths import Layout

if TYPE_CHECKING:
    from rawperf.declared.read import DeclaredFormat


@click.pass_obj
def _read(layout: Layout, study_id: str | None, metrics: Path | None, **options: Any) -> None:
    from virtperf.runs.addresses import opened_file

    inputs: tuple[DeclaredFormat, ...] = ()
    if study_id is not None:
        from virtperf.runs.ingest.inputs import study_inputs
        from virtperf.study.definition import load_study

        inputs = study_inputs(load_study(layout.known(study_id)))
    with opened_file(options["file"]) as place:
        copy = None if place == Path(options["file"]) else str(place)
        read_file(metrics=metrics or layout.metrics, inputs=inputs, place=copy, **options)


read = click.Command(
    "read",
    callback=_read,
    help=rawperf_read.help,
    short_help="Read one raw file as a tidy table.",
    params=[
        *rawperf_read.params,
        click.Option(
            ["--study", "study_id"],
            metavar="STUDY",
            help="Try the input formats declared by this study first.",
        ),
    ],
)
