"""`virtperf keep-outputs`: store a notebook's outputs for the commit."""

from __future__ import annotations

import click

from virtperf.core.paths import Layout

SYNTHESIS = "synthesis"
"""The notebook over all studies, executed by a stage of its own."""


@click.command("keep-outputs")
@click.argument("name")
@click.pass_obj
def keep_outputs(layout: Layout, name: str) -> None:
    """Copy the outputs of build/NAME.ipynb into notebooks/NAME.ipynb, ready to commit.

    The pipeline executes the notebooks of studies and the one over all studies; one that belongs to
    no stage is executed here.
    """
    from virtperf.report.html.notebooks import keep_outputs as run

    if name not in (*layout.studies(), SYNTHESIS):
        from virtperf.report.html.notebooks import execute

        execute(layout.notebook(name), layout.executed(name), {})
    run(layout.executed(name), layout.notebook(name))
