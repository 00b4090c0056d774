"""The site's front page: the studies, measured ones and papers, newest first, each with its main finding."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from virtperf.report.findings import state
from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary
from virtperf.report.html.site.gather import (
    HYPOTHESIS_VERDICTS,
    RepetitionCounts,
    StudyFacts,
    repetition_counts,
)
from virtperf.report.html.templating import page
from virtperf.report.kinds.summary import evidence
from virtperf.report.synthesis.definition import SynthesisQuestion
from virtperf.report.written_for import changes

CHANGED = "The basis of this finding changed after it was written: see the report."
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True)
class StudyRow:
    """One study in the list.

    `finding` is its first finding, with what it rests on and the intervals of its numbers (`detail`);
    without one, its first decided hypothesis with the `verdict` and the measured value (`detail`).
    """

    facts: StudyFacts
    year: str
    systems: str
    finding: str
    verdict: str
    detail: str
    repetitions: tuple[RepetitionCounts, ...]


def front_page(
    studies: Sequence[StudyFacts],
    level: float = 0.95,
    glossary: Glossary = EMPTY_GLOSSARY,
    questions: Sequence[SynthesisQuestion] = (),
) -> str:
    """Render the front page, with links to the answers to the `questions` to all studies.

    Raises `StudyError` if a finding names something that its study does not have.
    """
    lines = sorted(
        (_study_row(facts, studies, level) for facts in studies),
        key=lambda line: (_sort_key(line), line.facts.id),
    )
    groups = {
        heading: [line for line in lines if line.facts.data.study.kind == kind]
        for heading, kind in (("Measured for this site", "measured"), ("Published", "paper"))
    }
    counts = sum((Counter(one.verdicts) for line in lines for one in line.repetitions), Counter())
    linked: set[str] = set()
    return page(
        "index",
        "Performance of virtualization: published, and measured again",
        name="index.html",
        groups={heading: of_kind for heading, of_kind in groups.items() if of_kind},
        counts=RepetitionCounts("", "", counts),
        questions=questions,
        answered=HYPOTHESIS_VERDICTS,
        pieces=lambda text: glossary.pieces(text, linked),
    )


def _sort_key(line: StudyRow) -> int:
    """Sort key, the newest first."""
    return -max(map(int, _YEAR.findall(line.year)), default=0)


def _study_row(facts: StudyFacts, studies: Sequence[StudyFacts], level: float) -> StudyRow:
    data, study = facts.data, facts.data.study
    finding, verdict, reason = study.question or study.summary, "", ""
    if study.findings and (study.kind == "paper" or not data.observations.empty):
        stated = state(data, study.findings[0], level)
        finding = stated.sentence
        reason = f"{evidence(data, stated).capitalize()}. {stated.detail}".strip()
    elif study.kind == "measured":
        for claim in data.paper_claims:
            result = data.result(claim.id)
            if result.get("measured_verdict") in HYPOTHESIS_VERDICTS[:2]:
                finding, verdict = claim.says, str(result["measured_verdict"])
                reason = str(result.get("reason") or "").partition(";")[0]
                break
    if study.findings and finding and changes(data, study.findings[0], level):
        reason = f"{reason} {CHANGED}".strip()
    return StudyRow(
        facts=facts,
        year=year_of(facts),
        systems="; ".join(_YEAR.sub("", name).rstrip(" ,") for name in study.systems.values()),
        finding=" ".join(finding.split()),
        verdict=verdict,
        detail=reason,
        repetitions=tuple(repetition_counts(facts.id, studies)),
    )


def year_of(facts: StudyFacts) -> str:
    """Year of publication or measurement: ``2009``, ``2013 to 2019``; "" if unknown."""
    study = facts.data.study
    for text in (str(study.bibliography.get("published", "")), " ".join(study.systems.values())):
        years = sorted(set(_YEAR.findall(text)))
        if years:
            return years[0] if len(years) == 1 else f"{years[0]} to {years[-1]}"
    return ""
