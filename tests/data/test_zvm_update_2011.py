"""Encoding of zvm-update-2011: tables and claims agree, known contradictions are found."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.conftest import ROOT
from tests.data.irreducible import assert_irreducible
from tests.data.test_published import read_table
from virtperf.reconstruct.feasible import Feasible, solve
from virtperf.reconstruct.ranges import Answers, ranges
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study

FOLDER = ROOT / "data" / "published" / "zvm-update-2011"


@pytest.fixture(scope="module")
def study() -> Study:
    return load_study(FOLDER)


@pytest.fixture(scope="module")
def claims(study: Study) -> Claims:
    return load_claims(study)


@pytest.fixture(scope="module")
def alone(study: Study, claims: Claims) -> Feasible:
    return solve(study, claims, ("all",))


def printed(claims: Claims, quantity: str) -> dict[str, float]:
    """The printed numbers of a quantity by user."""
    found = [(i.parts[0].terms, c.value) for c in claims for i in c.instances if c.kind == "value"]
    single = [(terms[0][1], value) for terms, value in found if len(terms) == 1]
    return {
        str(q.level("user")): float(value)
        for q, value in single
        if q.name == quantity and value is not None
    }


def test_columns_of_slide_25_agree_with_claims(claims):
    _, *rows = read_table(FOLDER / "tables" / "slide-25.csv")
    for column, quantity in enumerate(("share", "normalized", "should_get", "problem"), start=1):
        assert printed(claims, quantity) == {
            row[0]: float(row[column].removesuffix("%")) for row in rows
        }


def test_slides_3_to_42_have_row_and_exhibit(study):
    _, *rows = read_table(FOLDER / "tables" / "slides.csv")
    assert [int(row[0]) for row in rows] == list(range(3, 43))
    with_exhibit = {int(row[0]) for row in rows if row[3] not in ("words only", "statements")}
    assert with_exhibit == {
        int(e.id.split("-")[1]) for e in study.exhibits if e.id.startswith("slide-")
    }


def test_jumbo_frames_contradict_the_rates_of_slide_13(study, claims, alone):
    names = ("jumbo-gain", "awm-8992", "awm-1492")
    assert_irreducible(study, claims, names)
    assert set(names) in [set(conflict) for conflict in alone.contradictions.conflicts]
    assert "jumbo-gain" in alone.contradictions.dropped


def test_slide_25_is_feasible_with_rounding_to_whole_percent(study, alone):
    """97 % in the proportion 1 : 1 : 2 are 24.25, 24.25 and 48.5, of which the slide prints 24.5, 24.5 and 48."""
    for user, value in {"LINUX01": 24.25, "LINUX02": 24.25, "LINUX03": 48.5, "LINUX04": 3}.items():
        low, high = alone.interval(study.quantity_at("should_get", {"user": user}))
        assert (low.value, high.value) == pytest.approx((value, value))


def test_printed_columns_of_slide_25_follow_from_rounded_shares(claims):
    """17 + 30/4, 33 + 30/2 and 33 + 30 of whole per cents; the shares themselves give other numbers."""
    share, wanted = pd.Series(printed(claims, "share")), printed(claims, "demand")["LINUX04"]
    normalized = 100 * share / share.sum()
    assert normalized.round().tolist() == list(printed(claims, "normalized").values())
    should, problem = printed(claims, "should_get"), printed(claims, "problem")
    assert list(should.values()) == [17 + 30 / 4, 17 + 30 / 4, 33 + 30 / 2, 3]
    assert list(problem.values()) == [17, 17, 33 + 30, 3]
    others, excess = normalized.drop("LINUX04"), normalized["LINUX04"] - wanted
    assert (others + excess * others / others.sum()).tolist() == pytest.approx([24.25, 24.25, 48.5])
    assert others["LINUX03"] + excess == pytest.approx(191 / 3)


BY_HAND = {
    "jumbo-gain-application": (100 * (552.55 / 269.35 - 1), 100 * (552.65 / 269.25 - 1)),
    "jumbo-gain-all": (100 * (557.35 / 327.25 - 1), 100 * (557.45 / 327.15 - 1)),
    "additional-rate": (557.35 - 552.65, 557.45 - 552.55),
    "clock-of-z10": (5.15 / 1.185, 5.25 / 1.175),
    "latency-of-express2": (65.5 / 0.65, 66.5 / 0.55),
    "mp-ratio-gain": (0.615 / 0.595, 0.625 / 0.585),
    "reorder-of-8-gb-least": (8 * 130 / 1.05 * 0.55, 8 * 130 * 1.05 * 0.65),
    "tcpip-cpu": (1.375, 1.385),
    "buffers-left": (100 / 128, 100 / 128),
}


def test_ranges_computed_by_hand_from_printed_numbers(study, claims, alone):
    table = (
        ranges(claims, alone, alone, Answers([alone], 1))
        .drop_duplicates("derived")
        .set_index("derived")
    )
    for name, limits in BY_HAND.items():
        found = (table["low_text"][name], table["high_text"][name])
        assert found == pytest.approx(limits, rel=1e-4), name
