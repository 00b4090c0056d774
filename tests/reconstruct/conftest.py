"""A small study of one curve and one competitor, solvable by hand."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study

STUDY = """
study: tiny
title: A tiny study
n_statements: 0
bibliography: {published: never}
factors:
  system: {levels: [a, b], default: a}
  guests: {levels: [1, 2, 3, 4], label: guests}
quantities:
  throughput:
    label: Throughput
    unit: "% of reference"
    resolution: 0.1
    references: [{at: {system: a, guests: 3}, value: 100}]
  response_time:
    label: Response time
    unit: "% of reference"
    resolution: 0.1
    references: [{at: {system: a, guests: 3}, value: 100}]
exhibits:
  - id: figure-1
    kind: line
    title: Throughput
    quantity: throughput
    over: guests
    series:
      - {label: A, at: {system: a}, levels: [1, 2, 3, 4]}
      - {label: B, at: {system: b}, levels: [1, 2, 3]}
  - id: figure-2
    kind: line
    title: Response time
    quantity: response_time
    over: guests
    series:
      - {label: A, at: {system: a}, levels: [1, 2, 3, 4]}
"""


@pytest.fixture
def tiny(tmp_path: Path):
    """Builds (study, claims) from the text of the `claims` and `assumptions` sections."""

    def build(text: str) -> tuple[Study, Claims]:
        folder = tmp_path / "published" / "tiny"
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "data" / "readings.yaml", tmp_path)
        (folder / "study.yaml").write_text(STUDY)
        (folder / "claims.yaml").write_text(f"study: tiny\nnot_encoded: []\n{text}")
        study = load_study(folder)
        return study, load_claims(study)

    return build


def claim(claim_id: str, body: str, ledger: str = "x") -> str:
    """One entry of the `claims` list."""
    return f"  - {{id: {claim_id}, says: said so here, about: [figure-1], section: S, ledger: {ledger}, {body}}}\n"
