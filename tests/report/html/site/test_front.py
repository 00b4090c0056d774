"""The site's front page: the list of studies."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import replace
from pathlib import Path

from tests.report.html.site.conftest import Parsed
from tests.report.toy import HOSTILE
from virtperf.report.glossary import Glossary, Term, TermGroup
from virtperf.report.html.site.front import front_page, year_of
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.synthesis.definition import SynthesisQuestion
from virtperf.study.parts import Finding


def test_study_links_to_its_report(facts: StudyFacts) -> None:
    page = Parsed(front_page([facts]))
    assert "study-toy" in page.ids and "toy.html" in page.links
    assert HOSTILE not in front_page([facts])


def test_main_finding_is_the_first(facts: StudyFacts) -> None:
    changed = copy.copy(facts)
    finding = Finding.model_validate({"says": "It gains {more-at-8}.", "rests_on": ["more-at-8"]})
    study = facts.data.study.model_copy(update={"findings": (finding, finding)})
    changed.data = replace(facts.data, study=study)
    assert Parsed(front_page([changed])).text.count("It gains 66") == 1


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


def test_claims_tested_again_are_counted(facts: StudyFacts, monkeypatch) -> None:
    from virtperf.report.html.site import front
    from virtperf.report.html.site.gather import RepetitionCounts

    counts = RepetitionCounts("toy-today", "toy", Counter({"holds here": 2, "undecided": 1}))
    monkeypatch.setattr(front, "repetition_counts", lambda study, studies: [counts])
    page = Parsed(front_page([facts]))
    assert (
        "Of 3 claims of the papers measured again on other systems, 2 hold here, 1 undecided (“here”:"
        in page.text
    )
    assert "Measured again in toy-today: 2 hold here, 1 undecided" in page.text
    assert {"claims-toy-today.html#q=toy", "synthesis.html#measured-again"} <= {*page.links}


def test_questions_link_to_their_answers(facts: StudyFacts) -> None:
    rows = [{"id": "r", "says": "x", "cells": [{"study": "toy", "label": "x", "claim": "c"}]}]
    question = SynthesisQuestion.model_validate(
        {"id": "cpu", "label": "More CPUs", "asks": "How?", "rows": rows}
    )
    assert "synthesis.html#more-cpus" in Parsed(front_page([facts], questions=[question])).links
    assert "synthesis.html#more-cpus" not in Parsed(front_page([facts])).links


def test_finding_says_what_it_rests_on(facts: StudyFacts) -> None:
    finding = Finding.model_validate({"says": "It gains {more-at-8}.", "rests_on": ["more-at-8"]})
    changed = copy.copy(facts)
    study = facts.data.study.model_copy(update={"findings": (finding,)})
    changed.data = replace(facts.data, study=study)
    assert "Printed." in Parsed(front_page([changed])).text


def test_first_occurrence_of_a_term_is_linked(facts: StudyFacts) -> None:
    term = Term(term="toy", says="A small study to look at.")
    glossary = Glossary(groups=(TermGroup(title="Words", terms=(term,)),))
    changed = copy.copy(facts)
    finding = Finding.model_validate(
        {"says": "A toy remains a toy, whatever it is.", "rests_on": ["more-at-8"]}
    )
    study = facts.data.study.model_copy(update={"findings": (finding,)})
    changed.data = replace(facts.data, study=study)
    links = Parsed(front_page([changed], glossary=glossary)).links
    assert links.count("methods.html#term-toy") == 1


def test_page_has_only_the_common_script(facts: StudyFacts, root: Path) -> None:
    scripts = [tag for tag, _ in Parsed(front_page([facts])).tags if tag == "script"]
    assert len(scripts) == 1  # the theme script of every page
