"""Traces of values on a study's page of data."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE, HOSTILE_FILE
from virtperf.report.glossary import EMPTY_GLOSSARY
from virtperf.report.html.record import trace_anchor
from virtperf.report.html.site import traces as module
from virtperf.report.html.site.build import data_page
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.trace import Trace, traces


@pytest.fixture(scope="module")
def entries(facts: StudyFacts) -> list[Trace]:
    return list(traces(facts.data))


@pytest.fixture(scope="module")
def page(facts: StudyFacts, entries: list[Trace]) -> Parsed:
    return Parsed(data_page(facts, entries, EMPTY_GLOSSARY))


def test_every_key_and_exhibit_has_an_anchor(page: Parsed, entries: list[Trace]) -> None:
    assert {trace_anchor(entry.key) for entry in entries} <= set(page.ids)
    assert {"figure-2", "figure-3", "figure-4", "table-1"} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_raw_files_of_measured_runs_are_linked(page: Parsed) -> None:
    file = quote(HOSTILE_FILE)
    assert f"../data/measured/toy/measured-a-4-r1/{file}" in page.links
    assert "lines 8 to 27 (20 samples)" in page.text and "window 60 to 260 s" in page.text


def test_raw_lines_are_shown_once_and_escaped(
    facts: StudyFacts, page: Parsed, entries: list[Trace]
) -> None:
    text = data_page(facts, entries, EMPTY_GLOSSARY)
    assert "<script>alert(4)" not in text and text.count(r"\x1b[31m") == text.count("<pre")
    runs = {run.run for entry in entries for run in entry.runs}
    assert text.count("<pre") == len(runs) == len([i for i in page.ids if i.startswith("raw-")]) - 1
    linked = {link[1:] for link in page.links if link.startswith("#raw-")}
    assert linked == {i for i in page.ids if i.startswith("raw-")}
    assert (
        '<pre class="vp-text" tabindex="0"> 1  time&lt;/pre&gt;&lt;script&gt;alert(4)'
        "&lt;/script&gt; count\n 8  70 " in text
    )


def test_raw_lines_beyond_the_limit_are_left_out(
    facts: StudyFacts, entries: list[Trace], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = data_page(facts, entries, EMPTY_GLOSSARY)
    assert "Lines of further runs are left out" not in whole
    monkeypatch.setattr(module, "MAX_RAW_BYTES", 1500)
    text = data_page(facts, entries, EMPTY_GLOSSARY)
    page = Parsed(text)
    assert "Lines of further runs are left out" in text
    shown = [i for i in page.ids if i.startswith("raw-") and i != "raw-lines"]
    assert 0 < len(shown) < whole.count("<pre")
    assert {link for link in page.links if link.startswith("#raw-")} == {
        "#raw-lines",
        *(f"#{i}" for i in shown),
    }
    assert page.text.count("lines 8 to 27 (") == Parsed(whole).text.count("lines 8 to 27 (")


def test_limits_list_their_claims(page: Parsed) -> None:
    assert {"claims-toy.html#claim-flat", "claims-toy.html#claim-bends-down"} <= set(page.links)
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
