"""Two toy studies with equal quantities and different ranges, and their synthesis."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.report import toy
from virtperf.core import stage_tables
from virtperf.core.schema import TableSchema
from virtperf.core.stage_tables import RANGES
from virtperf.report.synthesis.loaded import Synthesis, load_synthesis

SYNTHESIS = """
sentences:
  - {about: Throughput, says: "Twice the guests: {gain/toy}.", rests_on: [gain]}
  - {about: Throughput of all, says: "Nothing of {gain}.", rests_on: [gain]}
questions:
  - id: growth
    label: Growth
    asks: What do more guests give?
    rows:
      - id: gain
        says: Throughput with eight guests against four
        cells:
          - {study: toy, label: B, derived: gain, at: {system: b, guests: 4}}
          - {study: other, label: Other, derived: gain, at: {system: a, guests: 4}, reading: another system}
          - {study: other, label: Said, claim: more-at-8}
      - id: same
        says: Throughput with eight guests against four, as stated
        cells: [{study: toy, label: Said there, claim: more-at-8}, {study: other, label: Said, claim: more-at-8}]
      - id: best
        says: Where the peak is
        unit: guests
        shared: false
        cells: [{study: toy, label: A, derived: peak}, {study: other, label: B, claim: best-at-8}]
curves:
  - {study: toy, label: A, derived: gain, at: {system: a}, measure: throughput, against: "{guests} guests", cpu: {one: 2, reference: 1}, per_guest: true}
  - {study: other, label: A, derived: gain, at: {system: a}, measure: CPU cost, against: x, memory: {over: 8, reference: 8}}
"""


def build(root: Path) -> Path:
    """The data folder of a repository with both studies."""
    data = toy.build(root)
    for part in ("published", "reconstructed", "runs", "samples", "verdicts"):
        shutil.copytree(data / part / "toy", data / part / "other")
    for name in ("study.yaml", "claims.yaml"):
        path = data / "published" / "other" / name
        path.write_text(path.read_text().replace("study: toy", "study: other"))
    path = data / "published" / "other" / "study.yaml"
    path.write_text(path.read_text() + '\nsystems: {only: "Other 2, 2026"}\n')
    for table in vars(stage_tables).values():  # it is not measured
        if isinstance(table, TableSchema) and (data / "runs" / "other" / table.file).is_file():
            toy.write(table, [], data / "runs" / "other")
    path = data / "reconstructed" / "other" / RANGES.file
    ranges = RANGES.read(path)
    wide = ranges["label"].str.contains("8 / 4") & (ranges["derived"] == "gain")
    ranges["pieces_text"] = [
        [4.0, 90.0] if w else p for w, p in zip(wide, ranges["pieces_text"], strict=True)
    ]
    RANGES.write(ranges, path)
    (data / "synthesis.yaml").write_text(SYNTHESIS)
    return data


@pytest.fixture(scope="session")
def synthesis(tmp_path_factory: pytest.TempPathFactory) -> Synthesis:
    """The synthesis of both studies."""
    return load_synthesis(build(tmp_path_factory.mktemp("synthesis")))
