"""The runs of a study on its page of data."""

from __future__ import annotations

import pytest

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE, HOSTILE_FILE
from virtperf.report.glossary import EMPTY_GLOSSARY
from virtperf.report.html.site import runs
from virtperf.report.html.site.build import data_page
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.site.runs import HEIGHT, WIDTH


@pytest.fixture(scope="module")
def page(facts: StudyFacts) -> Parsed:
    return Parsed(data_page(facts, [], EMPTY_GLOSSARY))


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


def test_runs_are_folded_by_experiment(facts: StudyFacts, monkeypatch: pytest.MonkeyPatch) -> None:
    first = facts.data.index["runs"][0]["run_id"]
    monkeypatch.setattr(
        runs, "experiment_of", lambda run, _: "b" if run["run_id"] == first else "a"
    )
    html = data_page(facts, [], EMPTY_GLOSSARY)
    assert ">Experiment a: 8 runs" in html and ">Experiment b: 1 run" in html
    anchors = {f"run-{run['run_id']}" for run in facts.data.index["runs"]}
    assert anchors <= set(Parsed(html).ids)
