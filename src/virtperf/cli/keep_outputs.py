"""`virtperf keep-outputs`: store a notebook's outputs for the commit."""

from __future__ import annotations

import click

from rawperf.core.errors import RawperfError
from virtperf.core.paths import Layout

SYNTHESIS = "synthesis"
"""The notebook over all studies, executed by a stage of its own."""


@click.command("keep-outputs")
@click.argument("name")
@click.pass_obj
def keep_outputs(layout: Layout, name: str) -> None:
    """Store a notebook's outputs, for a commit.

    Copies the outputs of build/NAME.ipynb into notebooks/NAME.ipynb. The pipeline executes the
    notebooks of the studies and the synthesis notebook; any other notebook is executed first.
    """
    from virtperf.report.html.notebooks import keep_outputs as run

    if name not in (*layout.studies(), SYNTHESIS):
        from virtperf.report.html.notebooks import execute

        execute(layout.notebook(name), layout.executed(name), {})
    if not layout.executed(name).is_file():
        raise RawperfError(
            "the notebook was not executed yet",
            file=layout.executed(name),
            remedy=f"run `virtperf pipeline{'' if name == SYNTHESIS else f' {name}'}`",
        )
    run(layout.executed(name), layout.notebook(name))
