"""The encoding of was-stacking-2012: its table, listing and claims state the same numbers, and its contradictions show."""

from __future__ import annotations

import pytest

from tests.conftest import ROOT
from tests.data.irreducible import assert_irreducible
from tests.data.test_published import read_table
from virtperf.models.segments import PageRange
from virtperf.reconstruct.feasible import Feasible, solve
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study

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


def test_columns_of_table_4_agree_with_each_other():
    for row in read_table(FOLDER / "tables" / "table-4.csv")[1:]:
        jvms, guests, each, total, ratio, per_cpu, memory, all_memory = row[:8]
        assert int(jvms) * int(guests) == 200 == int(memory) * int(guests) == int(all_memory)
        assert int(each) * int(guests) == int(total)
        assert float(ratio.removesuffix(":1")) == pytest.approx(int(total) / 24, abs=0.05 + 1e-9)
        assert float(per_cpu) == pytest.approx(200 / int(total), abs=0.05)


def test_listing_1_and_the_segments_have_the_same_pages(study, claims):
    printed = [row[2].upper() for row in read_table(FOLDER / "tables" / "listing-1.csv")[1:]]
    assert [tuple(printed)] == [segment.pages for segment in study.segments]
    binaries, nif = map(PageRange.parse, printed)
    expected = {
        "binaries-segment-1792-mb": binaries.mib,
        "nif-segment-768-mb": nif.mib,
        "binaries-start": binaries.first / 256,
        "nif-start": nif.first / 256,
    }
    assert {name: claims[name].value for name in expected} == expected


def test_printed_loads_exclude_their_printed_difference(study, claims, alone):
    assert_irreducible(study, claims, STATED)
    assert set(STATED) in [set(conflict) for conflict in alone.contradictions.conflicts]
    assert "load-difference-nearly-4" in alone.contradictions.dropped


# ---- ranges that follow by hand from printed numbers


def test_loads_of_figures_2_and_6_follow_from_printed_numbers(study, alone):
    assert limits(study, alone, "lpar_cpu[jvms=200]") == pytest.approx((13.65, 13.75), abs=1e-4)
    assert limits(study, alone, "lpar_cpu[jvms=10]") == pytest.approx((8.75, 8.85), abs=1e-4)
    assert limits(study, alone, "lpar_cpu[jvms=10, vcpus=3]") == pytest.approx(
        (12.3, 12.5), abs=1e-4
    )
    # approximately 1 IFL less than that, and at most 19 % of the largest load above 8.85, cut off at 19.95 %
    assert limits(study, alone, "lpar_cpu[jvms=20]") == pytest.approx(
        (10.8, 8.85 / (1 - 0.1995)), abs=1e-3
    )


def test_throughput_of_figure_2_lies_between_the_printed_extremes(study, alone):
    low, high = limits(study, alone, "throughput[jvms=20]")
    assert (low, high) == pytest.approx((96.5, 100 / 1.025), abs=1e-2)
    assert limits(study, alone, "throughput[jvms=50]")[0] > low


def test_emulation_of_20_guests_is_the_load_less_0_4(study, alone):
    assert limits(study, alone, "emulation[jvms=10]") == pytest.approx((8.3, 8.5), abs=1e-4)
