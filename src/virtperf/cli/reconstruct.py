"""`virtperf reconstruct`: the first stage of a paper's study."""

from __future__ import annotations

import click

from rawperf.core.errors import RawperfError
from virtperf.cli._shared import stage, status
from virtperf.core.paths import Layout


@stage
@click.command()
def reconstruct(layout: Layout, study_id: str) -> None:
    """Reconstruct the ranges implied by a paper's text.

    Also finds contradictions and verdicts of claims. Reads data/published/STUDY, writes
    data/reconstructed/STUDY: points.parquet, ranges.parquet, claims.parquet, readings.parquet and
    contradictions.json. None of the results is a measurement.
    """
    from virtperf.core.params import load_parameters
    from virtperf.reconstruct.stage import reconstruct as run
    from virtperf.study.claims import load_claims
    from virtperf.study.definition import load_study

    study = load_study(layout.known(study_id))
    if study.kind == "measured":
        raise RawperfError(
            f"{study_id} is a measured study and has no text to reconstruct from",
            expected="a study of a paper",
            remedy=f"its stages are `virtperf runs {study_id}` and `virtperf report {study_id}`",
        )
    parameters = load_parameters(layout.parameters)
    with status(f"reconstructing {study_id}") as progress:
        claims = load_claims(study, reading=parameters.reconstruct.readings)
        run(study, claims, parameters, layout.reconstructed(study_id).absolute(), progress)
