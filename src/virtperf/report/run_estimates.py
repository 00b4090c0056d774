"""Estimates of derived numbers from measured runs: ratios and differences of plotted means, fits by
the models available to notebooks.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, assert_never

import pandas as pd

from virtperf.core.contrasts import Contrast
from virtperf.core.estimate import Estimate, Estimates, Missing
from virtperf.core.numbers import plural, same_within
from virtperf.core.provenance import RUN_KINDS, Origin, Provenance
from virtperf.report import frames
from virtperf.report.axis_words import level_words
from virtperf.report.frames import StudyData
from virtperf.study.definition import Exhibit
from virtperf.study.derived_kinds.base import Derivation
from virtperf.study.derived_kinds.extreme import ArgmaxDerived, MaximumDerived
from virtperf.study.derived_kinds.fitted import LineDerived, SegmentedDerived, UslDerived
from virtperf.study.derived_kinds.pair import (
    DifferenceDerived,
    PercentChangeDerived,
    RatioDerived,
    ValueDerived,
)
from virtperf.study.quantities import Expression, percent_of_ratio
from virtperf.study.study_samples import StudySamples, Terms

_QUANTITIES = {"contention": "alpha", "coherency": "beta"}
"""Names of quantities of a fit, by the name of the derived number where it differs."""


def estimate(data: StudyData, derivation: Derivation, level: float) -> Any:
    """Estimate a number with its interval from the measured runs of all its quantities, as an
    Estimate or Missing.

    None if a quantity has no measured run, or no model estimates the number.
    """
    if any(
        data.mean(q, Provenance.MEASURED) is None
        for part in derivation.parts
        for _, q in part.terms
    ):
        return None  # most studies have none, and the models take a second to load
    derived, parts = derivation.derived, derivation.parts
    match derived:
        case ValueDerived():
            (coefficient, quantity), *others = parts[0].terms
            mean = data.mean(quantity, Provenance.MEASURED)
            return None if others or mean is None else mean.at(level).scaled(coefficient)
        case DifferenceDerived():
            return difference(data, *_sides(parts), level)
        case RatioDerived():
            return ratio_of_runs(data, *_sides(parts), level)
        case PercentChangeDerived():
            return ratio_of_runs(data, *_sides(parts), level).map(percent_of_ratio)
        case MaximumDerived() | ArgmaxDerived():
            return None
        case LineDerived() | UslDerived() | SegmentedDerived():
            runs = _runs(data, derivation)
            return None if runs is None else _fitted(derived, derivation.gives, runs, 1 - level)
    assert_never(derived)


def _fitted(
    derived: LineDerived | UslDerived | SegmentedDerived,
    gives: str,
    runs: pd.DataFrame,
    alpha: float,
) -> Any:
    """Result of the declared model fitted to runs; `alpha` is one minus the level."""
    from virtperf import models
    from virtperf.models.fits import quantity

    fit: Any
    match derived:
        case LineDerived():
            fit = models.line("value ~ x", runs).only
        case UslDerived():
            fit = models.usl("value ~ x", runs).only
        case SegmentedDerived():
            fit = models.segmented("value ~ x", runs, form="plateau-decline").only
        case _:
            assert_never(derived)
    if isinstance(derived, UslDerived) and gives == "capacity":
        return quantity(fit, "throughput_at", derived.load, alpha)
    return quantity(fit, _QUANTITIES.get(gives, gives), alpha)


def _sides(parts: Sequence[Expression]) -> tuple[Terms, Terms]:
    of, to = ({q: c for c, q in part.terms} for part in parts)
    return of, to


def ratio_of_runs(
    data: StudyData,
    of: Terms,
    to: Terms,
    level: float,
    provenance: Provenance = Provenance.MEASURED,
    exhibits: tuple[str, ...] = (),
) -> Estimate | Missing:
    """Ratio of the means of two sides; see `contrast_of_means`."""
    contrast = contrast_of_means(data.samples(provenance), of, to, level)
    return _estimate(data, contrast, (of, to), level, provenance, exhibits)


def contrast_of_means(samples: StudySamples, of: Terms, to: Terms, level: float) -> Contrast:
    """Ratio of the means that figures plot, or `of` alone for an empty `to`.

    The log ratio of verdicts is a geometric mean over blocks: it is used as long as it differs from
    the ratio of the means by at most `numbers.MAX_SHIFT` of half its interval. Otherwise, with scattered runs, the
    ratio of the means with Fieller's interval.
    """
    linear = samples.linear_ratio(of, to)
    ratio = samples.log_ratio(of, to) if to else None
    if ratio is None or ratio.n < 2:
        return ratio or linear
    found = ratio.estimate(level)
    same = same_within(found.value, linear.value, (found.low, found.high))
    return ratio if same else linear


def difference(data: StudyData, of: Terms, to: Terms, level: float) -> Estimate | Missing | None:
    """Difference of two sides in the figure's unit; see `ratio_of_runs`. None if the scale has no
    measured reference point.
    """
    samples = data.samples(Provenance.MEASURED)
    terms = {q: of.get(q, 0.0) - to.get(q, 0.0) for q in (*of, *to)}
    under: Terms = {}
    if (references := {data.study.reference_for(q) for q in terms}) != {None}:
        reference = references.pop()
        if references or reference is None or reference[0] not in samples:
            return None
        under = {reference[0]: 1 / reference[1]}
    contrast = samples.linear_ratio(terms, under)
    return _estimate(data, contrast, (of, to), level, Provenance.MEASURED, ())


def _estimate(
    data: StudyData,
    contrast: Contrast,
    sides: Iterable[Terms],
    level: float,
    provenance: Provenance,
    exhibits: tuple[str, ...],
) -> Estimate | Missing:
    from virtperf.models.two_means import NO_SPREAD  # the models take a second to load

    samples = data.samples(provenance)
    runs = sorted({run for side in sides for q in side for run in samples[q].run_ids})
    origin = Origin(provenance, data.study.id, tuple(runs), exhibits)
    if not math.isfinite(contrast.value):
        return Missing("division by zero", origin)
    found = contrast.estimate(level)
    if math.isnan(found.low):
        return Missing(
            "a condition has only one run or one block, so its variance is unknown", origin
        )
    notes = (NO_SPREAD,) if found.low == found.high else ()
    return replace(found, warnings=notes, origin=origin)


def _runs(data: StudyData, derivation: Derivation) -> pd.DataFrame | None:
    """Runs of all parts in one frame, with the part's axis position in column x; None if a part is
    a sum.
    """
    if any(len(part.terms) > 1 for part in derivation.parts):
        return None
    parts = []
    for place, part in zip(
        derivation.axis or map(float, range(len(derivation.parts))), derivation.parts, strict=False
    ):
        ((coefficient, quantity),) = part.terms
        runs = frames.condition(data, quantity)
        runs = runs[runs["provenance"] == Provenance.MEASURED]
        parts.append(runs.assign(x=place, value=coefficient * runs["value"]))
    return pd.concat(parts, ignore_index=True)


def ratios_to_baseline(
    data: StudyData, exhibit: Exhibit, column: str, level: Any, confidence: float
) -> Estimates:
    """Ratios to a baseline `level` of a column, at each level of the other column.

    `column` is the factor of the figure's axis, or ``series``. Empty if no ratio can be estimated,
    e.g. with one run a condition.
    """
    factor = data.study.axis(exhibit)
    points = [(series.label, at, q) for series, at, q in data.study.points(exhibit)]
    kinds = (kind for kind in RUN_KINDS if any(q in data.samples(kind) for *_, q in points))
    provenance = next(kinds, Provenance.MEASURED)
    samples = data.samples(provenance)
    if column == "series":
        points.sort(key=lambda point: factor.levels.index(point[1]))
    conditions = {(label, at): q for label, at, q in points if q in samples}
    ratios: dict[str, Any] = {}
    for (label, at), quantity in conditions.items():
        baseline = conditions.get((label, level) if column == factor.name else (level, at))
        if baseline is None or baseline == quantity:
            continue
        count = plural(samples[quantity].n, "run")
        ratios[f"{label}, {level_words(factor, at)} ({count})"] = ratio_of_runs(
            data, {quantity: 1.0}, {baseline: 1.0}, confidence, provenance, (exhibit.id,)
        )
    if not any(estimate.available for estimate in ratios.values()):
        ratios = {}
    against = level_words(factor, level) if column == factor.name else str(level)
    return Estimates(ratios, f"Ratio to {against}")
