"""Checks of references in `synthesis.yaml`: every study, derived number, level and claim exists,
and no study relevant to a question is left out without a reason.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import partial

from rawperf.core.errors import RawperfError, Report, StudyError
from virtperf.report.synthesis.capacity import corners, interpolate_curve
from virtperf.report.synthesis.definition import (
    Curve,
    JointGrid,
    Reference,
    SynthesisFile,
    SynthesisQuestion,
)
from virtperf.report.synthesis.values import (
    find_claim,
    find_study,
    instance,
    system_name,
    unit_conversion,
)
from virtperf.study.claims import Claim
from virtperf.study.definition import Study

_problem = partial(StudyError, file="data/synthesis.yaml")
Known = Mapping[str, tuple[Study, Iterable[Claim]]]
"""Definition and claims by study."""


def check_synthesis(file: SynthesisFile, known: Known, report: Report) -> None:
    """Pass an error to `report` for every unresolved reference, and for studies left out."""
    named: list[tuple[Reference | Curve | JointGrid, str]] = [
        (c, row.unit) for row in file.rows.values() for c in row.cells
    ]
    named += [(curve, "") for curve in file.curves]
    named += [(grid, "") for grid in file.grids]
    for reference, unit in named:
        try:
            study, claims = find_study(known, reference.study)
            system_name(study, reference.system)
            if isinstance(reference, Curve):
                interpolate_curve(study, reference)
            elif isinstance(reference, JointGrid):
                corners(study, reference)
            elif reference.claim:
                find_claim(reference.study, claims, reference.claim)
            else:
                number = instance(study, reference)
                if reference.to:
                    instance(
                        study, reference.model_copy(update={"at": {**reference.at, **reference.to}})
                    )
                else:
                    unit_conversion(number, unit)
        except RawperfError as err:
            report(err)
    for question in file.questions:
        for problem in left_out_problems(question, known):
            report(problem)


def left_out_problems(question: SynthesisQuestion, known: Known) -> Iterator[StudyError]:
    """Yield errors for studies with factors, quantities or derived numbers relevant to a question,
    but neither a cell nor a reason.
    """
    for name in question.unused:
        if name not in known or name in question.studies:
            expected = "a known study without a cell in this question"
            yield _problem(f"{question.id}: `unused` names {name}", expected=expected)
    for name, (study, _) in known.items():
        if name in question.studies or name in question.unused:
            continue
        if label := matching_label(study, question.words):
            yield _problem(
                f"{name} is relevant to the question {question.id!r}, but has no cell there",
                found=label,
                remedy=f"add a cell, or the reason under `unused` why {name} does not answer it",
            )


def matching_label(study: Study, words: Iterable[str]) -> str:
    """First factor, quantity or derived number of a study with one of the words in its label; "" if
    none.
    """
    labels = [(f"factor {key}", factor.label) for key, factor in study.factors.items()]
    labels += [(f"quantity {key}", kind.label) for key, kind in study.quantities.items()]
    labels += [(f"derived {entry.id}", entry.label) for entry in study.derived]
    return next(
        (
            f"{what} ({label})"
            for what, label in labels
            if any(word in label.lower() for word in words)
        ),
        "",
    )
