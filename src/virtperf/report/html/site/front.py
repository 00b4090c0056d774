"""The site's front page: a table of the studies, newest first, then the joint answers, each a row
of one figure with its number.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from virtperf.report.findings import state
from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary
from virtperf.report.html.site.gather import (
    HYPOTHESIS_VERDICTS,
    MEASURED_VERDICTS,
    RepetitionCounts,
    StudyFacts,
    repetition_counts,
)
from virtperf.report.html.templating import page
from virtperf.report.kinds.contradictions import contradictions_by_origin
from virtperf.report.kinds.summary import certainty
from virtperf.report.synthesis.definition import SynthesisFile
from virtperf.report.synthesis.values import REFERENCE, Value, values
from virtperf.report.written_for import changes

AXIS_END = 2.2
"""Upper limit of the axis of ratios; larger values are arrows."""
RATIO_TICKS = (0.0, 0.5, 1.0, 1.5, 2.0)
CHANGED = "The basis of this finding changed after it was written: see the report."
_YEAR = re.compile(r"\b(?:19|20)\d\d\b")


@dataclass(frozen=True)
class StudyRow:
    """One study in the table.

    `finding` is its first finding, for a measured study with the intervals of its numbers (`detail`);
    without one, its first decided hypothesis with the `verdict` and the measured value (`detail`).
    `certainty` is in words. `runs` counts the runs measured for it.
    """

    facts: StudyFacts
    year: str
    systems: str
    finding: str
    verdict: str
    detail: str
    certainty: str
    precision: tuple[str, ...]
    contradictions: int
    runs: int
    repetitions: tuple[RepetitionCounts, ...]


@dataclass(frozen=True)
class Mark:
    """A value in the figure; positions are percent of the axis.

    `bars` are ranges (start and width), `whisker` the interval of a measured mean, `dot` the mean.
    `is_clipped`: the value extends past the end of the axis.
    """

    value: Value
    bars: tuple[tuple[float, float], ...]
    whisker: tuple[float, float] | None
    dot: float | None
    is_clipped: bool

    @property
    def text(self) -> str:
        """The number alone, for a column of numbers."""
        return self.value.text.removeprefix("measured ").removeprefix("allows ")


@dataclass(frozen=True)
class Answer:
    """One answer: the comparison in words, the question's anchor on the page of all answers, the
    values.
    """

    says: str
    anchor: str
    marks: tuple[Mark, ...]


def front_page(
    studies: Sequence[StudyFacts],
    file: SynthesisFile | None = None,
    level: float = 0.95,
    glossary: Glossary = EMPTY_GLOSSARY,
) -> str:
    """Render the front page; `file` has the joint answers, if any.

    Raises `StudyError` if a finding or an answer names something that its study does not have.
    """
    lines = sorted(
        (_study_row(facts, studies, level) for facts in studies),
        key=lambda line: (_sort_key(line), line.facts.id),
    )
    linked: set[str] = set()
    return page(
        "index",
        "Performance of virtualization: published, and measured again",
        name="index.html",
        wide=True,
        lines=lines,
        answers=list(_answers(studies, file, level)) if file is not None else [],
        answered=HYPOTHESIS_VERDICTS,
        judged=MEASURED_VERDICTS,
        ticks=[(f"{tick:g}", percent(tick)) for tick in RATIO_TICKS],
        one=percent(1),
        level=level,
        pieces=lambda text: glossary.pieces(text, linked),
    )


def _sort_key(line: StudyRow) -> int:
    """Sort key, the newest first."""
    return -max(map(int, _YEAR.findall(line.year)), default=0)


def _study_row(facts: StudyFacts, studies: Sequence[StudyFacts], level: float) -> StudyRow:
    data, study = facts.data, facts.data.study
    finding, verdict, reason, certainty_text = study.question or study.summary, "", "", ""
    if study.findings and (study.kind == "paper" or not data.observations.empty):
        stated = state(data, study.findings[0], level)
        finding, reason = stated.sentence, stated.detail
        if study.kind == "paper":
            certainty_text = certainty(data, stated.claims)[1]
    elif study.kind == "measured":
        for claim in data.paper_claims:
            result = data.result(claim.id)
            if result.get("measured_verdict") in HYPOTHESIS_VERDICTS[:2]:
                finding, verdict = claim.says, str(result["measured_verdict"])
                reason = str(result.get("reason") or "").partition(";")[0]
                break
    if study.findings and finding and changes(data, study.findings[0], level):
        reason = f"{reason} {CHANGED}".strip()
    runs = data.series[data.series["provenance"] == "measured"]["run_id"].nunique()
    return StudyRow(
        facts=facts,
        year=year_of(facts),
        systems="; ".join(_YEAR.sub("", name).rstrip(" ,") for name in study.systems.values()),
        finding=" ".join(finding.split()),
        verdict=verdict,
        detail=reason,
        certainty=certainty_text,
        precision=tuple(_precision(facts)),
        contradictions=contradictions_by_origin(data)["paper"] if study.kind == "paper" else 0,
        runs=int(runs),
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


def _precision(facts: StudyFacts) -> Iterator[str]:
    """Precision of a paper's plotted points, as a count."""
    if facts.data.study.kind == "measured":
        return
    if facts.point_precision.points:
        yield f"{facts.point_precision.within[0]} of {facts.point_precision.points} points within ±5 %"


def _answers(studies: Sequence[StudyFacts], file: SynthesisFile, level: float) -> Iterator[Answer]:
    known = {facts.id: facts.data for facts in studies}
    place = {row.id: question.id for question in file.questions for row in question.rows}
    for answer in file.answers:
        answer_values = values(known, file.rows[answer.row], level)
        if answer_values:
            yield Answer(answer.says, place[answer.row], tuple(map(draw_value, answer_values)))


def percent(ratio: float) -> float:
    """Position of a ratio on the axis, in percent of its length; clipped to the ends."""
    return round(100 * min(max(ratio, 0.0), AXIS_END) / AXIS_END, 2)


def draw_value(value: Value) -> Mark:
    """Drawing of a value; empty for a value without limits."""
    low, high = value.ends
    is_clipped = high > AXIS_END
    places = [(percent(a), percent(b)) for a, b in value.pieces]
    if value.kind == "measured":
        dot = percent(value.value) if value.value <= AXIS_END else None
        return Mark(value, (), places[0], dot, is_clipped)
    limited = low > 0 or math.isfinite(high)
    drawn = limited and value.kind != REFERENCE
    bars = tuple((a, round(max(b - a, 0.6), 2)) for a, b in places) if drawn else ()
    return Mark(value, bars, None, None, is_clipped and bool(bars))
