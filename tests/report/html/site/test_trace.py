"""The trace page: where values come from."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE, HOSTILE_FILE
from virtperf.report.html.record import trace_anchor
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.trace import trace_page
from virtperf.report.trace import Trace, traces


@pytest.fixture(scope="module")
def entries(facts: StudyFacts) -> list[Trace]:
    return list(traces(facts.data))


@pytest.fixture(scope="module")
def page(facts: StudyFacts, entries: list[Trace]) -> Parsed:
    return Parsed(trace_page(facts, entries))


def test_every_key_and_exhibit_has_an_anchor(page: Parsed, entries: list[Trace]) -> None:
    assert {trace_anchor(entry.key) for entry in entries} <= set(page.ids)
    assert {"figure-2", "figure-3", "figure-4", "table-1"} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_raw_files_of_measured_runs_are_linked(page: Parsed) -> None:
    file = quote(HOSTILE_FILE)
    assert f"../data/measured/toy/measured-a-4-r1/{file}" in page.links
    assert "lines 8 to 27 (20 samples)" in page.text and "window 60 to 260 s" in page.text


def test_limits_list_their_claims(page: Parsed) -> None:
    assert "claims-toy.html#claim-flat" in page.links and "toy.html#claim-bends-down" in page.links
    assert "by a natural bound, or the scale by convention" in page.text
    assert "By the text alone: 10 to 90. Lower limit, by a natural bound" in page.text
    assert "With our assumptions: 45 to 60. Lower limit, by an assumption of ours: " in page.text
    assert "No upper limit." in page.text
    assert f"{HOSTILE} gains 66 %" in page.text


def test_means_have_intervals(page: Parsed) -> None:
    assert "152, the mean over 3 runs; 95 % interval 147 to 157" in page.text


def test_printed_table_shows_its_file_lines(page: Parsed) -> None:
    assert "../data/published/toy/tables/table-1.csv" in page.links
    assert "line 3: lnwas" in page.text and "printed 81921, corrected 8192" in page.text
