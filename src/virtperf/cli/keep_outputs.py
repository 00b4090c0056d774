"""`virtperf keep-outputs`: a notebook as it is committed, with its outputs."""

from __future__ import annotations

import click

from virtperf.core.paths import Layout


@click.command("keep-outputs")
@click.argument("name")
@click.pass_obj
def keep_outputs(layout: Layout, name: str) -> None:
    """Copy the outputs of build/NAME.ipynb into notebooks/NAME.ipynb, ready to commit.

    The pipeline executes the notebook of a study; one that belongs to no study is executed here.
    """
    from virtperf.report.html.notebooks import keep_outputs as run

    if name not in layout.studies():
        from virtperf.report.html.notebooks import execute

        execute(layout.notebook(name), layout.executed(name), {})
    run(layout.executed(name), layout.notebook(name))
