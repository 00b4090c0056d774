"""All claims on one page."""

from __future__ import annotations

import csv
import io
from urllib.parse import unquote

import pytest

from tests.exhibits.toy import HOSTILE
from tests.render.site.conftest import Parsed
from virtperf.render.site.claims import claims_page
from virtperf.render.site.gather import StudyFacts


@pytest.fixture(scope="module")
def page(facts: StudyFacts) -> Parsed:
    return Parsed(claims_page([facts]))


def rows(page: Parsed) -> dict[str, dict[str, str]]:
    return {attrs["id"]: attrs for tag, attrs in page.tags if tag == "tr" and "id" in attrs}


def test_rows_carry_what_filters_look_at(page: Parsed) -> None:
    found = rows(page)
    assert list(found) == ["toy.more-at-8", "toy.best-at-8", "toy.flat", "toy.busy"]
    more = found["toy.more-at-8"]
    assert (more["data-study"], more["data-exhibit"], more["data-kind"]) == ("toy", "toy/figure-2", "percent_change")
    assert (more["data-verdict"], more["data-provenance"]) == ("corroborated|refuted", "measured")
    assert more["data-printed"] == "66.0" and found["toy.flat"]["data-printed"] == ""
    assert found["toy.busy"]["data-provenance"] == "published"


def test_filters_count_what_they_choose(page: Parsed) -> None:
    for choice in ("toy (4)", "toy: Figure 2", "independent (2)", "percent change (1)", "measured (2)"):
        assert choice in page.text
    options = [attrs["value"] for tag, attrs in page.tags if tag == "option"]
    assert options.index("toy/figure-2") < options.index("toy/figure-3")


def test_a_claim_says_what_speaks_for_and_against_it(page: Parsed) -> None:
    assert f"{HOSTILE} gains 66 %" in page.text
    assert " 52 (48 to 56) " in page.text and "66.0 (64.0 to 68.0)" not in page.text
    assert "the interval lies below the printed limits" in page.text
    assert "against more-at-8" in page.text
    assert {"toy.html#figure-2", "toy.html#figure-3", "#toy.busy"} <= set(page.links)


def test_all_claims_download(page: Parsed) -> None:
    address = next(link for link in page.links if link.startswith("data:text/csv"))
    table = list(csv.DictReader(io.StringIO(unquote(address.partition(",")[2]))))
    assert [row["claim"] for row in table] == ["more-at-8", "best-at-8", "flat", "busy"]
    assert (table[0]["printed"], table[0]["estimate"], table[0]["measured_verdict"]) == ("66", "52", "refuted")
    assert table[1]["printed"] == table[1]["printed_low"] == table[3]["implied_high"] == ""
