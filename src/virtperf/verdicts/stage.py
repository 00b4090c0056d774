"""The judging stage: claims judged by runs, from and to the folders of a repository."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, get_args

import pandas as pd

from rawperf.core.files import replace_folder
from virtperf.core.params import Parameters, WordReading
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import (
    CLAIMS,
    EXAMPLE_VERDICTS,
    OBSERVATIONS,
    VERDICTS,
    VERDICTS_BY_LEVEL,
    VERDICTS_READ,
)
from virtperf.study.claims import Claims
from virtperf.study.definition import Study
from virtperf.study.hypotheses import reread_claims, study_claims
from virtperf.study.parts import EVERY
from virtperf.verdicts.judgement import judge

Judge = Callable[..., pd.DataFrame]
"""`judge` of a study by its runs and the verdicts by the text: takes claims, and more of its options."""


def judge_claims(layout: Layout, study: Study, parameters: Parameters) -> None:
    """Judge every claim, or hypothesis, by measured runs; replaces data/verdicts/STUDY.

    Reads `OBSERVATIONS` of data/runs/STUDY and, for a paper, `CLAIMS` of data/reconstructed/STUDY.
    Raises `RawperfError` if one of them can't be read.
    """
    text = None
    if study.kind != "measured":
        text = CLAIMS.read(layout.reconstructed(study.id) / CLAIMS.file)
    observations = OBSERVATIONS.read(
        layout.runs(study.id) / OBSERVATIONS.file, tuple(study.factors)
    )
    claims = study_claims(study, reading=parameters.reconstruct.readings)
    judged = partial(
        judge, study, text_verdicts=text, observations=observations, level=parameters.level
    )
    verdicts = judged(claims)
    with replace_folder(layout.verdicts(study.id)) as folder:
        for table, frame in (
            (VERDICTS, verdicts),
            (VERDICTS_READ, _read_otherwise(study, claims, verdicts, judged)),
            (VERDICTS_BY_LEVEL, _verdicts_by_level(study, claims, verdicts, judged)),
            (EXAMPLE_VERDICTS, judged(claims, provenance=Provenance.EXAMPLE)),
        ):
            table.write(frame, folder / table.file)


def _verdicts_by_level(
    study: Study, claims: Claims, verdicts: pd.DataFrame, judged: Judge
) -> pd.DataFrame:
    """Build the verdicts by the runs at each level of the factor in `judged_over` alone, and those
    over all its levels; `verdicts` are those at its default.
    """
    factor = study.factors.get(study.judged_over)
    if factor is None:
        return VERDICTS_BY_LEVEL.frame([])
    over_all = [EVERY] if len(factor.levels) > 1 and study.pooled_factor is None else []
    rows: list[dict[str, Any]] = []
    for at in (*factor.levels, *over_all):
        found = verdicts
        if at != factor.default:
            found = judged(claims, elsewhere=(study.judged_over, at))
        records = found.assign(level=at).to_dict("records")
        rows += [{str(name): value for name, value in row.items()} for row in records]
    return VERDICTS_BY_LEVEL.frame(rows)


def _read_otherwise(
    study: Study, claims: Claims, verdicts: pd.DataFrame, judged: Judge
) -> pd.DataFrame:
    """Build the table `VERDICTS_READ`; only claims with changed limits are judged again."""
    before = {claim.id: claim for claim in claims}
    in_force = dict(verdicts.set_index("claim")["measured_verdict"])
    rows: list[dict[str, Any]] = []
    for reading in (reading for reading in get_args(WordReading) if reading != claims.reading):
        others = reread_claims(study, claims, reading)
        moved = replace(
            others, claims=tuple(c for c in others if c != before[c.id] and not c.assumed)
        )
        if not moved.claims:
            continue
        rows += [
            {
                "reading": reading,
                "claim": row["claim"],
                "measured_verdict": in_force[row["claim"]],
                "measured_verdict_read": row["measured_verdict"],
                "reason": row["reason"],
            }
            for row in judged(moved).to_dict("records")
            if row["measured_verdict"] != in_force[row["claim"]]
        ]
    return VERDICTS_READ.frame(rows)
