"""The site's first page: the table of studies, the joint answers with their figure."""

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


def test_a_study_is_a_row_that_leads_to_its_pages(facts: StudyFacts) -> None:
    page = Parsed(front_page([facts]))
    assert "study-toy" in page.ids and "toy.html" in page.links and "quality-toy.html" in page.links
    assert "claims-toy.html#verdict=refuted" in page.links and "1 refuted" in page.text
    assert "claims-toy.html#verdict=reproduced" not in page.links  # there is none
    assert "8 of 16 points within ±5 %" in page.text and "1 contradiction" in page.text
    assert "contradictions.html#toy" in page.links
    assert {"glossary.html#verdicts", "glossary.html#provenance"} <= set(page.links)
    assert HOSTILE not in front_page([facts])


def test_the_main_finding_is_the_first_one_and_says_how_sure_it_is(facts: StudyFacts) -> None:
    told = copy.copy(facts)
    finding = Finding.model_validate({"says": "It gains {more-at-8}.", "rests_on": ["more-at-8"]})
    study = facts.data.study.model_copy(update={"findings": (finding, finding)})
    told.data = replace(facts.data, study=study)
    text = Parsed(front_page([told])).text
    assert text.count("It gains 66") == 1
    assert "Follows from the paper's other claims" in text


def test_the_newest_study_comes_first_whatever_it_rests_on(facts: StudyFacts) -> None:
    def of(name: str, published: str) -> StudyFacts:
        made = copy.copy(facts)
        study = facts.data.study.model_copy(update={"bibliography": {"published": published}})
        made.data, made.id = replace(facts.data, study=study), name
        return made

    old, new = of("old", "January 2009"), of("new", "2010 or 2011: the footer says 2010")
    assert (year_of(old), year_of(new)) == ("2009", "2010 to 2011")
    ids = [i for i in Parsed(front_page([old, new])).ids if i.startswith("study-")]
    assert ids == ["study-new", "study-old"]


def test_a_measured_study_tells_its_hypotheses_and_has_no_page_of_claims(
    facts: StudyFacts,
) -> None:
    measured = copy.copy(facts)
    study = facts.data.study.model_copy(update={"kind": "measured", "question": "What holds?"})
    measured.data = replace(facts.data, study=study)
    measured.measured = Counter({"holds here": 2, "undecided": 1})
    page = Parsed(front_page([measured]))
    assert "Hypotheses: 2 hold here, 1 undecided" in page.text
    assert not [link for link in page.links if link.startswith("claims-")]


def test_answers_are_lines_with_their_number_and_lead_to_their_question(
    facts: StudyFacts,
) -> None:
    file = SynthesisFile.model_validate(QUESTIONS)
    known = copy.copy(facts)
    systems = {"a": "System A, 2009"}
    study = facts.data.study.model_copy(update={"systems": systems})
    known.data = replace(facts.data, study=study)
    page = Parsed(front_page([known], file))
    assert "synthesis.html#cpu" in page.links
    assert "Eight guests against two: throughput System A, 2009: 8 against 2" in page.text
    assert [a for tag, a in page.tags if tag == "rect"]  # the printed 66 % with its room
    with pytest.raises(StudyError, match="no study"):
        front_page([], file)


def test_the_figure_has_one_axis_that_ends_in_arrows() -> None:
    assert (percent(0), percent(AXIS_END), percent(-1), percent(9)) == (0, 100, 0, 100)
    inside = draw_value(value("measured", 0.9, 1.1, 1.0))
    assert inside.dot == percent(1) and inside.whisker == (percent(0.9), percent(1.1))
    assert not inside.bars and not inside.is_clipped
    outside = draw_value(value("measured", 9, 11, 10))
    assert outside.dot is None and outside.is_clipped
    (bar,) = draw_value(value("allows", 0.5, float("inf"))).bars
    assert bar == (percent(0.5), round(100 - percent(0.5), 2))
    assert not draw_value(value("allows", 0.0, float("inf"))).bars  # it says nothing


def test_answers_name_rows_of_ratios() -> None:
    wrong = copy.deepcopy(QUESTIONS)
    wrong["answers"] = [{"says": "Eight guests against two", "row": "none"}]
    with pytest.raises(ValueError, match="no row 'none'"):
        SynthesisFile.model_validate(wrong)
    counted = copy.deepcopy(QUESTIONS)
    counted["questions"][0]["rows"][0]["unit"] = "IFLs"
    with pytest.raises(ValueError, match="not ratios"):
        SynthesisFile.model_validate(counted)


def test_a_word_is_linked_where_it_is_met_first(facts: StudyFacts) -> None:
    term = Term(term="toy", says="A small study to look at.")
    glossary = Glossary(groups=(TermGroup(title="Words", terms=(term,)),))
    told = copy.copy(facts)
    finding = Finding.model_validate(
        {"says": "A toy remains a toy, whatever it is.", "rests_on": ["more-at-8"]}
    )
    study = facts.data.study.model_copy(update={"findings": (finding,)})
    told.data = replace(facts.data, study=study)
    assert Parsed(front_page([told], glossary=glossary)).links.count("glossary.html#term-toy") == 1


def test_the_page_needs_no_script_of_its_own(facts: StudyFacts, root: Path) -> None:
    scripts = [tag for tag, _ in Parsed(front_page([facts])).tags if tag == "script"]
    assert len(scripts) == 1  # that of every page, for the theme
