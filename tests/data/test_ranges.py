"""Invariants of the stored ranges of all papers, read from the pipeline's tables."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from virtperf.core.stage_tables import POINTS, RANGES, READINGS
from virtperf.reconstruct.feasible import connected_claims
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.derived_kinds.base import Derivation
from virtperf.study.quantities import Quantity

PAPERS = sorted(path.parent for path in (ROOT / "data" / "published").glob("*/claims.yaml"))
ROOM = 2e-5
"""Relative tolerance: the digits of the tables."""


@dataclass(frozen=True)
class Stored:
    """A paper with its tables; `asked`: each derived number with its row."""

    study: Study
    claims: Claims
    points: list[dict[str, Any]]
    asked: list[tuple[Derivation, dict[str, Any]]]
    readings: list[dict[str, Any]]


def read(folder: Path, tables: Path) -> Stored:
    assert (tables / RANGES.file).exists(), "the pipeline has not run: `virtperf pipeline` first"
    study = load_study(folder)
    ranges = RANGES.read(tables / RANGES.file).to_dict("records")
    return Stored(
        study,
        load_claims(study),
        POINTS.read(tables / POINTS.file).to_dict("records"),
        list(zip(study.derivations, ranges, strict=True)),
        READINGS.read(tables / READINGS.file).to_dict("records"),
    )


@pytest.fixture(scope="module", params=PAPERS, ids=lambda folder: folder.name)
def stored(request: pytest.FixtureRequest) -> Stored:
    return read(request.param, ROOT / "data" / "reconstructed" / request.param.name)


def same(one: float, other: float) -> bool:
    return one == other or math.isclose(one, other, rel_tol=ROOM, abs_tol=ROOM)


def contains(outer: tuple[float, float], inner: tuple[float, float]) -> bool:
    return (outer[0] <= inner[0] or same(outer[0], inner[0])) and (
        outer[1] >= inner[1] or same(outer[1], inner[1])
    )


def ratios_to_a_reference(stored: Stored) -> Iterator[tuple[dict[str, Any], Quantity, float]]:
    """Rows of ratios of one quantity to a reference point, with its value."""
    for derivation, row in stored.asked:
        if derivation.derived.kind not in ("ratio", "percent_change") or derivation.of_itself:
            continue
        of, to = derivation.parts
        if len(of.terms) > 1 or len(to.terms) > 1 or of.terms[0][0] != 1.0 or to.terms[0][0] != 1.0:
            continue
        (_, quantity), (_, reference) = of.terms[0], to.terms[0]
        kind = stored.study.quantities[reference.name]
        for at, value in kind.references:
            if stored.study.quantity_at(reference.name, at) == reference:
                yield row, quantity, value


def test_ratio_to_a_reference_is_the_range_of_the_point(stored):
    points = {row["quantity"]: row for row in stored.points}
    for row, quantity, reference in ratios_to_a_reference(stored):
        point = points.get(quantity.key())
        if point is None:
            continue
        for end in ("low", "high", "low_text", "high_text"):
            expected = point[end] / reference
            if row["kind"] == "percent_change":
                expected = 100 * (expected - 1)
            assert same(row[end], expected), (row["label"], end, row[end], expected)


def test_text_allows_at_least_what_it_allows_with_our_assumptions(stored):
    for row in (*stored.points, *(row for _, row in stored.asked)):
        with_ours, text = (row["low"], row["high"]), (row["low_text"], row["high_text"])
        assert contains(text, with_ours), row


def test_stricter_readings_allow_less(stored):
    moved = {(row["reading"], row["name"]) for row in stored.readings if row["kind"] == "set aside"}
    clusters = connected_claims(stored.study, stored.claims.active(("all",)))
    resolved_anew = {
        reading: {
            q
            for claims in clusters
            if claims & {n for r, n in moved if r == reading}
            for q in quantities(stored, claims)
        }
        for reading in ("strict", "lenient")
    }
    asked = {
        (d.derived.id, d.label): [q for p in d.parts for _, q in p.terms] for d, _ in stored.asked
    }
    for row in stored.readings:
        if row["kind"] not in ("range", "derived") or row["verdict"] or row["verdict_read"]:
            continue
        named = (
            [stored.study.quantity(row["name"])]
            if row["kind"] == "range"
            else asked[row["name"], row["label"]]
        )
        if not resolved_anew[row["reading"]].isdisjoint(named):
            continue
        here, other = (row["low"], row["high"]), (row["low_read"], row["high_read"])
        outer, inner = (here, other) if row["reading"] == "strict" else (other, here)
        assert contains(outer, inner), row


def quantities(stored: Stored, claims: set[str]) -> set[Quantity]:
    """Quantities of the claims."""
    return {
        q
        for claim in stored.claims
        if claim.id in claims
        for instance in claim.instances
        for part in instance.parts
        for _, q in part.terms
    }


def test_some_papers_have_what_is_compared():
    papers = [read(folder, ROOT / "data" / "reconstructed" / folder.name) for folder in PAPERS]
    assert sum(len(list(ratios_to_a_reference(paper))) for paper in papers) > 100
    searched = [row for paper in papers for _, row in paper.asked if row["method"] == "searched"]
    assert len(searched) > 20
    read_anew = [row for paper in papers for row in paper.readings if row["kind"] == "derived"]
    assert {row["reading"] for row in read_anew} == {"strict", "lenient"}
