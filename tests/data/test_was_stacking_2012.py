"""Encoding of was-stacking-2012: table, listing and claims agree, known contradictions are found."""

from __future__ import annotations

import pytest

from tests.cases import each_case
from tests.conftest import ROOT
from tests.data.irreducible import assert_irreducible
from tests.data.pages import pages
from tests.data.test_published import read_table
from virtperf.reconstruct.feasible import Feasible, solve
from virtperf.reconstruct.system import LinearSystem
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.quantities import Expression

FOLDER = ROOT / "data" / "published" / "was-stacking-2012"
STATED = ("load-13-7-at-200-jvms", "load-8-8-at-10-jvms", "load-difference-nearly-4")


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study(FOLDER)


@pytest.fixture(scope="module")
def claims(study: Study) -> Claims:
    return load_claims(study)


@pytest.fixture(scope="module")
def alone(study: Study, claims: Claims) -> Feasible:
    return solve(study, claims, ("all",))


def limits(study: Study, found: Feasible, text: str) -> tuple[float, float]:
    low, high = found.interval(study.quantity(text))
    return low.value, high.value


# ---- tables and claims


def test_columns_of_table_4_are_consistent():
    for row in read_table(FOLDER / "tables" / "table-4.csv")[1:]:
        jvms, guests, per_guest, total, ratio, per_cpu, memory, all_memory = row[:8]
        assert int(jvms) * int(guests) == 200 == int(memory) * int(guests) == int(all_memory)
        assert int(per_guest) * int(guests) == int(total)
        assert float(ratio.removesuffix(":1")) == pytest.approx(int(total) / 24, abs=0.05 + 1e-9)
        assert float(per_cpu) == pytest.approx(200 / int(total), abs=0.05)


def test_listing_1_and_the_segments_have_the_same_pages(study, claims):
    printed = [row[2].upper() for row in read_table(FOLDER / "tables" / "listing-1.csv")[1:]]
    assert [tuple(printed)] == [segment.pages for segment in study.segments]
    assert pages(printed).on_mib_boundaries
    binaries, nif = (pages([text]) for text in printed)
    expected = {
        "binaries-segment-1792-mb": binaries.mib,
        "nif-segment-768-mb": nif.mib,
        "binaries-start": binaries.first / 256,
        "nif-start": nif.first / 256,
    }
    assert {name: claims[name].value for name in expected} == expected


def test_printed_loads_contradict_their_printed_difference(study, claims, alone):
    assert_irreducible(study, claims, STATED)
    assert set(STATED) in [set(conflict) for conflict in alone.contradictions.conflicts]
    assert len(set(STATED).intersection(alone.contradictions.dropped)) == 1


# ---- ranges computed by hand from printed numbers


NEARLY_4 = 0.85 * 4, 0.999 * 4
LOADS = {
    # of 20 guests, 8.8 IFLs, and 3.6 more with three virtual CPUs each
    "lpar_cpu[jvms=10, vcpus=3]": (
        (8.75 + 3.55, 8.85 + 3.65),
        ("load-8-8-at-10-jvms", "same-load-20-guests", "vcpus-3-to-2-load"),
    ),
    # if 13.7 IFLs are right and nearly 4 more
    "lpar_cpu[jvms=10]": (
        (13.65 - NEARLY_4[1], 13.75 - NEARLY_4[0]),
        ("load-13-7-at-200-jvms", "load-difference-nearly-4"),
    ),
    # if 8.8 IFLs are right and nearly 4 less
    "lpar_cpu[jvms=200]": (
        (8.75 + NEARLY_4[0], 8.85 + NEARLY_4[1]),
        ("load-8-8-at-10-jvms", "load-difference-nearly-4"),
    ),
}


@each_case("text", LOADS)
def test_loads_computed_from_printed_numbers(study, claims, text):
    limits, names = LOADS[text]
    system = LinearSystem([row for name in names for row in claims[name].rows(study)])
    low, high = system.interval(Expression(((1.0, study.quantity(text)),)))
    assert (low.value, high.value) == pytest.approx(limits, abs=1e-4)


def test_printed_loads_have_one_piece_per_resolution(study, alone):
    for text, pieces in (
        ("lpar_cpu[jvms=200]", [8.75 + NEARLY_4[0], 8.85 + NEARLY_4[1], 13.65, 13.75]),
        ("lpar_cpu[jvms=10]", [8.75, 8.85, 13.65 - NEARLY_4[1], 13.75 - NEARLY_4[0]]),
    ):
        assert alone.union(study.quantity(text)) == pytest.approx(pieces, abs=1e-2)


def test_printed_loads_are_within_their_ranges(study, alone):
    for text, printed in (("lpar_cpu[jvms=200]", 13.7), ("lpar_cpu[jvms=10]", 8.8)):
        low, high = limits(study, alone, text)
        assert low <= printed <= high


def test_throughput_of_figure_2_lies_between_the_printed_extremes(study, alone):
    low, high = limits(study, alone, "throughput[jvms=20]")
    assert (low, high) == pytest.approx((96.5, 100 / 1.025), abs=1e-2)
    assert limits(study, alone, "throughput[jvms=50]")[0] > low
