"""The page of simulated runs: what was given, what is recovered, and that it says nothing about the paper."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE_FILE
from virtperf.core.paths import Layout
from virtperf.report.data import StudyData, load
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.rehearsal import formats, recovered, rehearsal_page
from virtperf.report.loaded import load_study


@pytest.fixture(scope="module")
def data(layout: Layout) -> StudyData:
    return load("toy", layout.root / "data", rehearsal=True)


@pytest.fixture(scope="module")
def page(facts: StudyFacts, data: StudyData) -> Parsed:
    return Parsed(rehearsal_page(facts, data))


def test_given_values_are_compared_with_recovered_ones(data: StudyData) -> None:
    table = recovered(data, 0.95)
    # 51, 52, 53 have the mean 52 +- 2.48 and were made around 52.5; 164, 166, 168 have 166 +- 4.97, not 190. Four guests
    # are the scale itself.
    assert table[["given", "recovered", "covered"]].to_numpy().tolist() == [
        [52.5, 52, True],
        [190, 166, False],
    ]
    assert table["high"].tolist() == [
        pytest.approx(52 + 4.303 / 3**0.5, abs=1e-3),
        pytest.approx(166 + 8.606 / 3**0.5, abs=1e-3),
    ]
    assert recovered(data, 0.999)["covered"].tolist() == [True, True]  # t(2) is 31.6: 166 +- 36
    assert table["runs"].tolist()[0] == [f"simulated-a-2-r{k}" for k in (1, 2, 3)]


def test_a_rehearsal_has_simulated_runs_and_nothing_else_has(
    data: StudyData, layout: Layout
) -> None:
    report = load_study("toy", layout.root / "data", show_examples=True).data
    for name in ("series", "observations", "means", "audits", "timelines", "lineage", "thumbnails"):
        mine, theirs = getattr(data, name), getattr(report, name)
        column = "provenance" if "provenance" in mine else "run_id"
        assert (
            mine[column].str.startswith("simulated").all()
            and not theirs[column].str.startswith("simulated").any()
        )
    assert {run["provenance"] for run in data.index["runs"]} == {"simulated"}
    assert {run["provenance"] for run in report.index["runs"]} == {"measured", "example"}
    assert report.truth.empty and len(data.truth) == 3 and data.index["quarantined"] == []


def test_the_page_says_what_it_is_and_counts(page: Parsed) -> None:
    assert "not measurements and say nothing about the paper" in page.text
    assert "1 of 2 intervals (95 %) cover the given value." in page.text
    assert "../data/reconstructed/toy/runs/simulated-a-2-r1" in page.links
    assert {"toy.html", "quality-toy.html", "trace-toy.html"} <= set(page.links)
    assert "9 runs read (9 simulated), 0 runs excluded" in page.text and len(set(page.ids)) == len(
        page.ids
    )


def test_formats_are_counted(data: StudyData, page: Parsed) -> None:
    assert formats(data) == [("iwl-console", 9, 9, 270)]
    assert "iwl-console 9 9 270" in page.text and HOSTILE_FILE not in page.text


def test_without_simulated_runs_it_says_so(facts: StudyFacts) -> None:
    page = Parsed(rehearsal_page(facts, replace(facts.data, index={})))
    assert "No run was simulated for this study." in page.text
