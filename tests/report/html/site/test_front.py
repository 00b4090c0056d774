"""The site's front page: the table of studies, and the synthesis with its figure."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from rawperf.core.errors import StudyError
from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE
from virtperf.core.provenance import Provenance
from virtperf.report.glossary import Glossary, Term, TermGroup
from virtperf.report.html.site.front import AXIS_END, draw_value, front_page, percent, year_of
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.synthesis.definition import SynthesisFile
from virtperf.report.synthesis.values import Value
from virtperf.study.parts import Finding

QUESTIONS = {
    "title": "Together",
    "sentences": [{"about": "Throughput", "says": "A sentence.", "rests_on": ["gain"]}],
    "answers": [{"says": "Eight guests against two: throughput", "row": "gain"}],
    "questions": [
        {
            "id": "cpu",
            "label": "CPU",
            "asks": "What happens?",
            "words": ["cpu"],
            "rows": [
                {
                    "id": "gain",
                    "says": "Throughput",
                    "cells": [
                        {
                            "study": "toy",
                            "system": "a",
                            "label": "8 against 2",
                            "claim": "more-at-8",
                        }
                    ],
                }
            ],
        }
    ],
}


def value(kind: str, low: float, high: float, middle: float = float("nan")) -> Value:
    return Value("toy", "a", "n", kind, "words", ((low, high),), Provenance.MEASURED, "", middle)


def test_study_row_links_to_its_pages(facts: StudyFacts) -> None:
    page = Parsed(front_page([facts]))
    assert "study-toy" in page.ids and "toy.html" in page.links and "quality-toy.html" in page.links
    assert "claims-toy.html#verdict=refuted" in page.links and "1 refuted" in page.text
    assert "claims-toy.html#verdict=reproduced" not in page.links  # no such page exists
    assert "8 of 16 points within ±5 %" in page.text and "1 contradiction" in page.text
    assert "contradictions.html#toy" in page.links
    assert {"glossary.html#verdicts", "glossary.html#provenance"} <= set(page.links)
    assert HOSTILE not in front_page([facts])


def test_main_finding_is_the_first_with_its_certainty(facts: StudyFacts) -> None:
    changed = copy.copy(facts)
    finding = Finding.model_validate({"says": "It gains {more-at-8}.", "rests_on": ["more-at-8"]})
    study = facts.data.study.model_copy(update={"findings": (finding, finding)})
    changed.data = replace(facts.data, study=study)
    text = Parsed(front_page([changed])).text
    assert text.count("It gains 66") == 1
    assert "Follows from the paper's other claims" in text


def test_studies_are_sorted_newest_first(facts: StudyFacts) -> None:
    def of(name: str, published: str) -> StudyFacts:
        made = copy.copy(facts)
        study = facts.data.study.model_copy(update={"bibliography": {"published": published}})
        made.data, made.id = replace(facts.data, study=study), name
        return made

    old, new = of("old", "January 2009"), of("new", "2010 or 2011: the footer says 2010")
    assert (year_of(old), year_of(new)) == ("2009", "2010 to 2011")
    ids = [i for i in Parsed(front_page([old, new])).ids if i.startswith("study-")]
    assert ids == ["study-new", "study-old"]


def test_measured_study_shows_hypotheses_instead_of_claims(
    facts: StudyFacts,
) -> None:
    measured = copy.copy(facts)
    study = facts.data.study.model_copy(update={"kind": "measured", "question": "What holds?"})
    measured.data = replace(facts.data, study=study)
    measured.measured = Counter({"holds here": 2, "undecided": 1})
    page = Parsed(front_page([measured]))
    assert "Hypotheses: 2 hold here, 1 undecided" in page.text
    assert not [link for link in page.links if link.startswith("claims-")]


def test_answers_have_a_number_and_link_to_their_question(
    facts: StudyFacts,
) -> None:
    file = SynthesisFile.model_validate(QUESTIONS)
    changed = copy.copy(facts)
    systems = {"a": "System A, 2009"}
    study = facts.data.study.model_copy(update={"systems": systems})
    changed.data = replace(facts.data, study=study)
    page = Parsed(front_page([changed], file))
    assert "synthesis.html#cpu" in page.links
    assert "Eight guests against two: throughput System A, 2009: 8 against 2" in page.text
    assert [a for tag, a in page.tags if tag == "rect"]  # the printed 66 % with its rounding
    with pytest.raises(StudyError, match="no study"):
        front_page([], file)


def test_figure_has_one_axis_ending_in_arrows() -> None:
    assert (percent(0), percent(AXIS_END), percent(-1), percent(9)) == (0, 100, 0, 100)
    inside = draw_value(value("measured", 0.9, 1.1, 1.0))
    assert inside.dot == percent(1) and inside.whisker == (percent(0.9), percent(1.1))
    assert not inside.bars and not inside.is_clipped
    outside = draw_value(value("measured", 9, 11, 10))
    assert outside.dot is None and outside.is_clipped
    (bar,) = draw_value(value("allows", 0.5, float("inf"))).bars
    assert bar == (percent(0.5), round(100 - percent(0.5), 2))
    assert not draw_value(value("allows", 0.0, float("inf"))).bars  # no information


def test_answers_refer_to_rows_of_ratios() -> None:
    wrong = copy.deepcopy(QUESTIONS)
    wrong["answers"] = [{"says": "Eight guests against two", "row": "none"}]
    with pytest.raises(ValueError, match="no row 'none'"):
        SynthesisFile.model_validate(wrong)
    counted = copy.deepcopy(QUESTIONS)
    counted["questions"][0]["rows"][0]["unit"] = "IFLs"
    with pytest.raises(ValueError, match="not ratios"):
        SynthesisFile.model_validate(counted)


def test_first_occurrence_of_a_term_is_linked(facts: StudyFacts) -> None:
    term = Term(term="toy", says="A small study to look at.")
    glossary = Glossary(groups=(TermGroup(title="Words", terms=(term,)),))
    changed = copy.copy(facts)
    finding = Finding.model_validate(
        {"says": "A toy remains a toy, whatever it is.", "rests_on": ["more-at-8"]}
    )
    study = facts.data.study.model_copy(update={"findings": (finding,)})
    changed.data = replace(facts.data, study=study)
    assert (
        Parsed(front_page([changed], glossary=glossary)).links.count("glossary.html#term-toy") == 1
    )


def test_page_has_only_the_common_script(facts: StudyFacts, root: Path) -> None:
    scripts = [tag for tag, _ in Parsed(front_page([facts])).tags if tag == "script"]
    assert len(scripts) == 1  # the theme script of every page
