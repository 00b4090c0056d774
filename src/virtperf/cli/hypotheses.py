"""`virtperf hypotheses`: the stage of a measured study's definition."""

from __future__ import annotations

import click

from virtperf.cli._shared import stage
from virtperf.core.paths import Layout


@stage
@click.command()
def hypotheses(layout: Layout, study_id: str) -> None:
    """Record what a measured study's hypotheses are made of.

    Writes data/hypotheses/STUDY.json: digests of the study's definition, and of all files of the
    papers whose claims its hypotheses repeat. The later stages depend on this file, so that a change
    of another paper does not run them again.
    """
    from rawperf.core.files import json_text, write_atomically
    from virtperf.study.digests import file_digests

    digests = file_digests(layout.known(study_id))
    write_atomically(layout.hypotheses(study_id), json_text(digests))
