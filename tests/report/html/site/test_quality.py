"""The data quality pages: overview, and the runs of one study."""

from __future__ import annotations

import pytest

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE, HOSTILE_FILE
from virtperf.report.html.site import quality
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.quality import HEIGHT, WIDTH, overview_page, study_page


@pytest.fixture(scope="module")
def page(facts: StudyFacts) -> Parsed:
    return Parsed(study_page(facts))


def test_overview_counts_runs_and_audits(facts: StudyFacts) -> None:
    page = Parsed(overview_page([facts]))
    assert "9 measured" in page.text and "1 of 2" in page.text
    assert {"quality-toy.html"} <= set(page.links)


def test_every_run_has_a_linkable_row(page: Parsed, facts: StudyFacts) -> None:
    anchors = {f"run-{run['run_id']}" for run in facts.data.index["runs"]}
    assert len(anchors) == 9 and anchors <= set(page.ids) and len(page.ids) == len(set(page.ids))
    assert "60 s declared, none detected" in page.text and "little's law" in page.text
    assert f"{HOSTILE} was cut" in page.text and HOSTILE_FILE in page.text


def test_thumbnails_show_the_stored_steps_at_full_size(page: Parsed, facts: StudyFacts) -> None:
    lines = [attrs["points"] for tag, attrs in page.tags if tag == "polyline"]
    assert len(lines) == facts.data.thumbnails["run_id"].nunique() == 9
    places = [tuple(map(float, pair.split(","))) for pair in lines[0].split()]
    assert [x for x, _ in places] == sorted(x for x, _ in places) and places[-1][0] == WIDTH
    # The steps are 100, 101, 102, repeated: the maximum is 2 below the top.
    assert min(y for _, y in places) == 2 and all(0 <= y <= HEIGHT for _, y in places)


def test_many_runs_are_folded_by_experiment(
    facts: StudyFacts, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(quality, "MAX_OPEN_RUNS", 3)
    first = facts.data.index["runs"][0]["run_id"]
    monkeypatch.setattr(
        quality, "experiment_of", lambda run, _: "b" if run["run_id"] == first else "a"
    )
    html = study_page(facts)
    assert ">Experiment a: 8 runs" in html and ">Experiment b: 1 run" in html
    anchors = {f"run-{run['run_id']}" for run in facts.data.index["runs"]}
    assert anchors <= set(Parsed(html).ids)
