"""`virtperf unpack`: archives to run folders."""

from __future__ import annotations

from collections.abc import Sequence

import click

from virtperf.core.paths import Layout


@click.command()
@click.argument("study_id", metavar="STUDY")
@click.argument("runs", metavar="[RUN]...", nargs=-1)
@click.pass_obj
def unpack(layout: Layout, study_id: str, runs: Sequence[str]) -> None:
    """Turn packed runs of a study into folders.

    The opposite of `virtperf pack`, to correct a run.yaml or to look at raw files. RUN is a name or a
    quoted pattern; without it, all runs are unpacked.
    """
    from virtperf.core.numbers import plural
    from virtperf.runs.packing import unpack as unpack_runs

    layout.known(study_id)
    names = unpack_runs(layout.measured(study_id), runs)
    where = layout.measured(study_id).relative_to(layout.root)
    click.echo(f"{plural(len(names), 'run')} in {where}" if names else "Nothing to unpack.")
