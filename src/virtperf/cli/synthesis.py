"""`virtperf synthesis`: the synthesis page over all studies."""

from __future__ import annotations

import click

from virtperf.cli._stage import checked
from virtperf.core.paths import Layout


@checked
@click.command()
def synthesis(layout: Layout) -> None:
    """Execute notebooks/synthesis.ipynb and render it as reports/synthesis.html.

    Reads data/synthesis.yaml and what the stages wrote for every study that it names.
    """
    from virtperf.report.stage import make_synthesis

    make_synthesis(layout)
