"""What `synthesis.yaml` names in the studies: their systems, derived numbers and claims; and checks
that all of it exists, and that no study relevant to a question is left out without a reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import TypeVar

from rawperf.core.errors import RawperfError, Report, StudyError, require_known
from virtperf.report.synthesis.definition import (
    RATIO,
    Cell,
    Curve,
    Source,
    SynthesisFile,
    SynthesisQuestion,
)
from virtperf.study.claims import Claim
from virtperf.study.definition import Study
from virtperf.study.derived_kinds.base import Derivation
from virtperf.study.quantities import Level, Quantity, ratio_of_percent

T = TypeVar("T")
Known = Mapping[str, tuple[Study, Iterable[Claim]]]
"""Definition and claims by study."""
_problem = partial(StudyError, file="data/synthesis.yaml")
NO_STUDY = "there is no study"


def find_claim(study: str, claims: Iterable[Claim], name: str) -> Claim:
    """Look up a claim by id; raises `StudyError` with close matches."""
    return look_up({claim.id: claim for claim in claims}, name, f"{study} has no claim")


def system_name(study: Study, key: str) -> str:
    """Name of a study's system, with machine and year; its id if it names none.

    Raises `StudyError` if the study has several systems and `key` is empty, or `key` is unknown.
    """
    if key:
        return look_up(study.systems, key, f"{study.id} has no system")
    if len(study.systems) > 1:
        raise _problem(
            f"{study.id} has several systems",
            expected=f"`system`, one of {', '.join(study.systems)}",
        )
    return next(iter(study.systems.values()), study.id)


def instance(study: Study, source: Source, at: Mapping[str, Level]) -> Derivation:
    """The single derived number at levels of `for_each`; raises `StudyError` if there is none, or
    several.
    """
    matching = instances(study, source, at)
    if len(matching) != 1:
        raise _problem(
            f"{study.id}: {source.derived} has {len(matching)} numbers",
            expected="one: fix levels under `at`",
        )
    return matching[0][1]


def instances(
    study: Study, source: Source, at: Mapping[str, Level]
) -> list[tuple[dict[str, Level], Derivation]]:
    """Derived numbers at fixed levels of `for_each`, each with its remaining levels."""
    entries = {entry.id: entry for entry in study.derived}
    entry = look_up(entries, source.derived, f"{study.id} has no derived number")
    if unknown := [name for name in at if at[name] not in entry.for_each.get(name, ())]:
        raise _problem(f"{study.id}: {entry.id} has no number for {unknown[0]} {at[unknown[0]]}")
    combinations = product(*entry.for_each.values(), entry.gives if entry.results else [""])
    found = []
    for (*levels, _), number in zip(combinations, entry.expand(study), strict=True):
        by_factor = dict(zip(entry.for_each, levels, strict=True))
        if at.items() <= by_factor.items() and source.gives in ("", number.gives):
            found.append(({n: v for n, v in by_factor.items() if n not in at}, number))
    return found


def named_quantity(study: Study, text: str) -> Quantity:
    """A quantity at its levels; raises `StudyError` if the study has none of that name or level."""
    try:
        return study.quantity(text)
    except ValueError as err:
        raise _problem(f"{study.id}: {err}") from err


def tested_ratios(study: Study, curve: Curve) -> list[tuple[tuple[float, ...], Derivation]]:
    """Derived numbers of a curve with their ratios; raises `StudyError` if the factors that `at`
    leaves free are not those of its axes, or have levels that are no numbers.
    """
    results = []
    for levels, number in instances(study, curve, curve.at):
        axes = {axis.factor or next(iter(levels), ""): axis for axis in curve.axes.values()}
        if levels.keys() != axes.keys() or any(isinstance(v, str) for v in levels.values()):
            raise _problem(
                f"{study.id}: the factors of {curve.derived} are not the axes of the curve",
                expected=f"{' and '.join(curve.axes)}: numeric factors that `at` does not fix",
                found=", ".join(f"{name} {level}" for name, level in levels.items()) or "none",
            )
        ratios = (axis.ratio(float(levels[name])) for name, axis in axes.items())
        results.append((tuple(ratios), number))
    return results


def unit_conversion(number: Derivation, unit: str) -> Callable[[float], float]:
    """Conversion of a derived number to a row's unit; raises `StudyError` if there is none."""
    if unit == RATIO and number.derived.in_percent:
        return ratio_of_percent
    if unit == RATIO and (not number.derived.of_reference or number.unit):
        expected = "a ratio of two numbers of one unit, or a change in per cent"
        raise _problem(f"{number.derived.id} is not a ratio", expected=expected)
    return float


def look_up(among: Mapping[str, T], name: str, what: str) -> T:
    """Look up by name; raises `StudyError` with close matches."""
    require_known(name, among, f"{what} {name!r}", _problem)
    return among[name]


def check_synthesis(file: SynthesisFile, known: Known, report: Report) -> None:
    """Pass an error to `report` for every unresolved reference, and for studies left out."""
    sources: list[tuple[Cell | Curve, str]] = [(curve, "") for curve in file.curves]
    sources += [(cell, row.unit) for row in file.rows.values() for cell in row.cells]
    for source, unit in sources:
        try:
            _resolve(source, unit, known)
        except RawperfError as err:
            report(err)
    for question in file.questions:
        for problem in _left_out(question, known):
            report(problem)


def _resolve(source: Cell | Curve, unit: str, known: Known) -> None:
    """Find everything that a cell or a curve names; raises `StudyError`."""
    study, claims = look_up(known, source.study, NO_STUDY)
    system_name(study, source.system)
    if source.to:
        instance(study, source, {**source.at, **source.to})
    if isinstance(source, Curve):
        tested_ratios(study, source)
    elif source.claim:
        find_claim(source.study, claims, source.claim)
    elif source.quantity:
        named_quantity(study, source.quantity)
    else:
        unit_conversion(instance(study, source, source.at), "" if source.to else unit)


def _left_out(question: SynthesisQuestion, known: Known) -> Iterator[StudyError]:
    """Yield errors for studies with factors, quantities or derived numbers relevant to a question,
    but neither a cell nor a reason.
    """
    for name in question.unused:
        if name not in known or name in question.studies:
            expected = "a known study without a cell in this question"
            yield _problem(f"{question.id}: `unused` names {name}", expected=expected)
    for name in sorted(known.keys() - question.studies - question.unused.keys()):
        study = known[name][0]
        labels = {f"factor {key}": factor.label for key, factor in study.factors.items()}
        labels |= {f"quantity {key}": kind.label for key, kind in study.quantities.items()}
        labels |= {f"derived {entry.id}": entry.label for entry in study.derived}
        for what, label in labels.items():
            if any(word in label.lower() for word in question.words):
                yield _problem(
                    f"{name} is relevant to the question {question.id!r}, but has no cell there",
                    found=f"{what} ({label})",
                    remedy=f"add a cell, or the reason under `unused` why {name} does not answer it",
                )
                break
