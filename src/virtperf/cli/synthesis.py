"""`virtperf synthesis`: the synthesis page over all studies."""

from __future__ import annotations

import click

from virtperf.cli._shared import checked
from virtperf.core.paths import Layout


@checked
@click.command()
def synthesis(layout: Layout) -> None:
    """Execute the synthesis notebook and write its page.

    Executes notebooks/synthesis.ipynb and renders it as reports/synthesis.html. Reads
    data/synthesis.yaml and the stage outputs of the studies that it names.
    """
    from virtperf.report.stage import make_synthesis

    make_synthesis(layout)
