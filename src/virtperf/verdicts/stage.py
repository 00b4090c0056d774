"""Claims judged by runs, from and to the folders of a repository."""

from __future__ import annotations

from rawperf.core.files import replaced_folder
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import CLAIMS, EXAMPLE_VERDICTS, OBSERVATIONS, VERDICTS
from virtperf.study.definition import Study
from virtperf.study.hypotheses import claims_of
from virtperf.verdicts.from_runs import judge


def judge_claims(layout: Layout, study: Study, parameters: Parameters) -> None:
    """Compare every claim, or hypothesis, with measured runs; replaces data/verdicts/STUDY.

    Reads `OBSERVATIONS` of data/runs/STUDY and, of a paper, `CLAIMS` of data/reconstructed/STUDY. Raises
    `VirtperfError` where one of them can't be read.
    """
    text = None
    if study.kind != "measured":
        text = CLAIMS.read(layout.reconstructed(study.id) / CLAIMS.file)
    observations = OBSERVATIONS.read(
        layout.runs(study.id) / OBSERVATIONS.file, tuple(study.factors)
    )
    claims = claims_of(study, reading=parameters.reconstruct.readings)
    with replaced_folder(layout.verdicts(study.id)) as folder:
        for table, provenance in (
            (VERDICTS, Provenance.MEASURED),
            (EXAMPLE_VERDICTS, Provenance.EXAMPLE),
        ):
            verdicts = judge(
                study, claims, text, observations, level=parameters.level, provenance=provenance
            )
            table.write(verdicts, folder / table.file)
