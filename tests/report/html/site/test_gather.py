"""What the site knows of a study."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.report.html.site.conftest import PARAMETERS
from virtperf.core.paths import Layout
from virtperf.report.html.site.gather import StudyFacts


def test_claims_and_verdicts_are_those_of_the_paper(facts: StudyFacts) -> None:
    assert [c.id for c in facts.data.paper_claims] == [
        "more-at-8",
        "best-at-8",
        "flat",
        "busy",
    ]  # bends-down is ours
    assert facts.text == {"corroborated": 1, "independent": 2, "contradicted": 1}
    assert facts.measured == {"refuted": 1, "undecided": 1, "no measurement": 2}
    assert (facts.id, facts.title) == ("toy", "A toy study")


def test_the_telling_exhibit_is_the_named_one_else_the_best_known(
    layout: Layout, tmp_path: Path
) -> None:
    shutil.copytree(layout.root, tmp_path / "r")
    path = tmp_path / "r" / "data" / "published" / "toy" / "study.yaml"
    there = Layout(tmp_path / "r")
    # Without reference points: 2 of 6 points of Figure 2 are known to 10 %, 2 of 5 of Figure 3, all 5 of Figure 4.
    assert StudyFacts(there, PARAMETERS, "toy").headline_figure.id == "figure-4"
    path.write_text(path.read_text() + "headline_figure: figure-3\n")
    assert StudyFacts(there, PARAMETERS, "toy").headline_figure.id == "figure-3"
    (tmp_path / "r" / "build" / "toy.ipynb").unlink()
    assert StudyFacts(there, PARAMETERS, "toy").headline_figure is None


def test_links_of_records_lead_to_the_report_and_to_all_claims(facts: StudyFacts) -> None:
    place = facts.place
    assert place.address("claim:busy", "toy") == "claims-toy.html#claim-busy"
    assert place.address("claim:bends-down", "toy") == "toy.html#claim-bends-down"
    assert place.address("exhibit:figure-2", "toy") == "toy.html#figure-2"
    assert place.address("trace:toy/figure-2/a/4", "toy") == "trace-toy.html#figure-2-a-4"
