"""`virtperf pack`: run folders to archives."""

from __future__ import annotations

from collections.abc import Sequence

import click

from virtperf.core.paths import Layout


@click.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("runs", metavar="[RUN]...", nargs=-1)
@click.pass_obj
def pack(layout: Layout, study_id: str, runs: Sequence[str]) -> None:
    """Pack run folders of a study: one zip file per experiment.

    data/measured/STUDY/RUN/... becomes a member of data/measured/STUDY/runs/EXPERIMENT.zip, in parts of
    at most 1 MB. Every command reads a packed run like a folder, by the same address, patterns too.
    RUN is a name or a quoted pattern; without it, all run folders are packed. A folder is removed only
    after its packed copy was read back. `virtperf measure` packs an experiment when its last run is
    there; `virtperf unpack` makes folders again.
    """
    from virtperf.core.numbers import plural
    from virtperf.runs.packing import pack as pack_runs
    from virtperf.study.definition import load_study

    study = load_study(layout.known(study_id))
    written = pack_runs(layout.measured(study_id), study, runs)
    for path, count in written.items():
        size = path.stat().st_size / 1e6
        click.echo(f"{path.relative_to(layout.root)}: {plural(count, 'run')}, {size:.2f} MB")
    if not written:
        click.echo("Nothing to pack.")
