"""`virtperf synthesis`: the page on what all studies say together."""

from __future__ import annotations

import click

from virtperf.core.paths import Layout

NAME = "synthesis"


@click.command()
@click.pass_obj
def synthesis(layout: Layout) -> None:
    """Execute notebooks/synthesis.ipynb and render it as reports/synthesis.html.

    Reads data/synthesis.yaml and what the stages wrote for every study that it names.
    """
    from virtperf.core.params import load_parameters
    from virtperf.report.html.execute import execute
    from virtperf.report.html.report import render

    level = load_parameters(layout.parameters).level
    execute(layout.notebook(NAME), layout.executed(NAME), {"level": level})
    render(layout.executed(NAME), layout.report(NAME))
