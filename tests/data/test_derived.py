"""Derived numbers of the published studies: hand-computed values and general invariants."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.cases import each_case
from tests.conftest import ROOT
from virtperf.core.stage_tables import RANGES
from virtperf.reconstruct.feasible import Feasible, solve
from virtperf.reconstruct.ranges import Answers, ranges
from virtperf.reconstruct.region import Regions
from virtperf.study.claims import load_claims
from virtperf.study.definition import load_study
from virtperf.study.derived_kinds.base import Derivation

SOLVED = "zvm-xen-2009"


@pytest.fixture(scope="module")
def found() -> tuple[pd.DataFrame, Feasible, Feasible]:
    """Derived numbers of a study and their sources."""
    study = load_study(ROOT / "data" / "published" / SOLVED)
    claims = load_claims(study)
    feasible, alone = (solve(study, claims, off, explain=False) for off in ((), ("all",)))
    answers = Answers([feasible, alone], 1)
    return ranges(claims, feasible, alone, answers), feasible, alone


@pytest.fixture(scope="module")
def tables(found) -> dict[str, pd.DataFrame]:
    """Derived numbers by study; all but one are read from the pipeline's output, since solving is slow."""
    folders = {path.parent.name: path for path in ROOT.glob("data/reconstructed/*/ranges.parquet")}
    assert folders.keys() >= BY_HAND.keys(), "the pipeline has not run: `virtperf pipeline` first"
    return {name: RANGES.read(path) for name, path in folders.items()} | {SOLVED: found[0]}


BY_HAND = {
    # printed as whole per cent, so half a per cent of rounding
    "zvm-xen-2009": {
        "zvm-hardware-cost": (0.815, 0.825),
        "xen-software-cost": (0.725, 0.735),
        "encrypted-ratio": (1.795, 1.805),
        "unencrypted-ratio": (0.815 / 1.805 / 0.735, 0.825 / 1.795 / 0.725),
    },
    "dcss-2011": {
        "database-to-minidisk": (9.905, 9.915),
        "database-to-cache": (990.5 / 119.5, 991.5 / 118.5),
    },
}


@each_case("study", BY_HAND)
def test_ratios_of_printed_numbers(tables, study):
    rows = tables[study].set_index("derived")
    for name, limits in BY_HAND[study].items():
        low, high = rows["low_text"][name], rows["high_text"][name]
        assert (
            limits[0] * (1 - 1e-5) <= low <= high <= limits[1] * (1 + 1e-5)
        )  # other claims may narrow it further


def test_assumptions_narrow_ranges_unless_they_displace_claims(found):
    table, feasible, alone = found
    ours = {claim.id for claim in feasible.active if claim.assumed}
    without = {claim for system in alone.systems for r in alone.resolutions(system) for claim in r}
    compared = 0
    for asked, row in zip(feasible.study.derivations, table.to_dict("records"), strict=True):
        if dropped(feasible, asked) - ours <= without:
            compared += 1
            room = 1e-4 * max(1.0, abs(row["low"]))
            assert (
                row["low"] >= row["low_text"] - room and row["high"] <= row["high_text"] + room
            ), row["label"]
            assert set(row["levels"]) <= set(row["levels_text"])
    assert compared > len(table) / 2


def dropped(feasible: Feasible, asked: Derivation) -> set[str]:
    """Claims of the number's group that some smallest resolution drops."""
    members = set(Regions().of(feasible, asked.parts).system.owner)
    return {
        claim
        for system in feasible.systems
        for r in feasible.resolutions(system)
        for claim in r & members
    }


@each_case("study", BY_HAND)
def test_pieces_are_sorted_within_the_range(tables, study):
    for row in tables[study].to_dict("records"):
        for suffix in ("", "_text"):
            pieces = row[f"pieces{suffix}"]
            assert pieces == sorted(pieces) and len(pieces) % 2 == 0
            assert (pieces[0], pieces[-1]) == (row[f"low{suffix}"], row[f"high{suffix}"])
