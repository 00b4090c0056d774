"""Claims judged by runs, from and to the folders of a repository."""

from __future__ import annotations

import pandas as pd

from rawperf.core.files import replaced_folder
from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import (
    CLAIMS,
    EXAMPLE_VERDICTS,
    OBSERVATIONS,
    VERDICTS,
    VERDICTS_ELSEWHERE,
)
from virtperf.study.claims import Claims
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
        VERDICTS_ELSEWHERE.write(
            _elsewhere(study, claims, text, observations, parameters.level),
            folder / VERDICTS_ELSEWHERE.file,
        )


def _elsewhere(
    study: Study,
    claims: Claims,
    text: pd.DataFrame | None,
    observations: pd.DataFrame,
    level: float,
) -> pd.DataFrame:
    """The verdicts by runs at the other levels of the factor that the study names in
    `judged_over`.
    """
    factor = study.factors.get(study.judged_over)
    others = [own for own in factor.levels if own != factor.default] if factor else []
    parts = [
        judge(
            study, claims, text, observations, level=level, elsewhere=(study.judged_over, other)
        ).assign(level=other)
        for other in others
    ]
    rows = pd.concat(parts).to_dict("records") if parts else []
    return VERDICTS_ELSEWHERE.frame([{str(k): v for k, v in row.items()} for row in rows])
