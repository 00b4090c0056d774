"""Identified range of every derived number: its minimum and maximum over the feasible set.

Linear and linear-fractional numbers are exact (two programs each), by the text alone and with our
assumptions, over all smallest resolutions of contradictions. Ranges of fitted models are found by
random search (`reconstruct.random_search`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import assert_never

import numpy as np
import pandas as pd

from virtperf.core.levels import Level, level_text
from virtperf.core.stage_tables import RANGES
from virtperf.reconstruct.feasible import MERGE_TOLERANCE, Feasible, merge_intervals
from virtperf.reconstruct.random_search import Function, SearchResult, search_ranges
from virtperf.reconstruct.region import Region, Regions
from virtperf.study.claims import Claim, Claims
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

Searched = UslDerived | SegmentedDerived

UNBOUNDED_FACTOR = 10.0
"""Search limit for unbounded values, as a multiple of the largest limit of a sum in any region."""

CUT_OFF = "cut off at the natural bound of the quantity: the least-squares line of some data sets is beyond it"
NO_PEAK = "a peak need not exist"
PEAK_AT_END = (
    "the largest value may be at the end of the tested levels: a peak between them need not exist"
)
SEARCH_LIMIT = "unbounded values were searched up to {:.4g}"
BREAK_NOT_IDENTIFIED = "the breakpoint is not identified between the last two levels"
NOT_POSITIVE = "the divisor may be 0: the range is over the data sets with a divisor above 0"


@dataclass(frozen=True)
class AllowedRange:
    """Range of a number under one set of claims: its intervals, levels of an argmax, and notes."""

    pieces: Sequence[float] = (-np.inf, np.inf)
    levels: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    data_sets: int = 0


class Answers:
    """Ranges of derived numbers under several sets of claims.

    A range belongs to a region: sets of claims that leave a number the same region have one range.
    """

    def __init__(self, feasibles: Sequence[Feasible], seed: int) -> None:
        self.feasibles, self.seed = tuple(feasibles), seed
        self.study = self.feasibles[0].study
        self.regions = Regions()
        self._ranges: dict[tuple[Region, str, str], AllowedRange] = {}
        self._searches: dict[tuple[str, tuple[Expression, ...]], _Searches] = {}

    def answer(self, feasible: Feasible, derivation: Derivation) -> AllowedRange:
        """The range of a number under one of the sets of claims."""
        region = self.regions.of(feasible, derivation.parts)
        key = (region, derivation.derived.id, derivation.label)
        if key not in self._ranges:
            self._ranges[key] = self._range(region, derivation)
        return self._ranges[key]

    def _range(self, region: Region, derivation: Derivation) -> AllowedRange:
        derived, parts = derivation.derived, derivation.parts
        match derived:
            case ValueDerived():
                return AllowedRange(merge_intervals(region.ranges(parts[0])))
            case DifferenceDerived():
                return AllowedRange(merge_intervals(region.ranges(parts[0].minus(parts[1]))))
            case RatioDerived():
                return self._quotient(region, *parts, number=lambda ratio: ratio)
            case PercentChangeDerived():
                return self._quotient(region, *parts, number=percent_of_ratio)
            case MaximumDerived():
                return AllowedRange(merge_intervals(region.maxima(parts)))
            case ArgmaxDerived():
                return _argmax(derived.levels, region.largest(parts))
            case LineDerived():
                found = region.ranges(derived.coefficient(derivation))
                if derivation.gives == "intercept":
                    return self._within_bounds(found, parts)
                return AllowedRange(merge_intervals(found))
            case UslDerived() | SegmentedDerived():
                return self._searched(region, derivation, derived)
        assert_never(derived)

    def _quotient(
        self,
        region: Region,
        of: Expression,
        to: Expression,
        *,
        number: Callable[[float], float],
    ) -> AllowedRange:
        """Range of a function of the quotient that rises with it."""
        least = 0.0 if self._nonnegative(of) and self._nonnegative(to) else -np.inf
        intervals = [
            (max(low, least), high) for low, high in region.ratios(of, to) if low <= high
        ] or [(least, np.inf)]
        positive = min(low for low, _ in region.ranges(to)) > MERGE_TOLERANCE
        return AllowedRange(
            merge_intervals([(number(low), number(high)) for low, high in intervals]),
            notes=() if positive else (NOT_POSITIVE,),
        )

    def _within_bounds(
        self, intercepts: Sequence[tuple[float, float]], parts: Sequence[Expression]
    ) -> AllowedRange:
        """A line's value at 0 is one of its quantities: it has their natural bounds."""
        if any(len(part.terms) != 1 or part.terms[0][0] != 1.0 for part in parts):
            return AllowedRange(merge_intervals(intercepts))
        kinds = [self.study.quantities[part.terms[0][1].name] for part in parts]
        least, most = max(kind.low for kind in kinds), min(kind.high for kind in kinds)
        within = [(max(low, least), min(high, most)) for low, high in intercepts]
        kept = [(low, high) for low, high in within if low <= high]
        if not kept or kept == list(intercepts):
            return AllowedRange(merge_intervals(intercepts))
        return AllowedRange(merge_intervals(kept), notes=(CUT_OFF,))

    def _nonnegative(self, part: Expression) -> bool:
        quantities = self.study.quantities
        return all(c >= 0 and quantities[q.name].low >= 0 for c, q in part.terms)

    def _searched(self, region: Region, derivation: Derivation, derived: Searched) -> AllowedRange:
        searches = self._searches_of(derivation, derived)
        results, gives = searches.results[region], derivation.gives
        found = [result.ranges[gives] for result in results if gives in result.ranges]
        tried = sum(result.data_sets for result in results)
        if not found:
            return AllowedRange(data_sets=tried)
        pieces = merge_intervals(found)
        notes = [NO_PEAK] if gives == "peak_load" and np.isinf(pieces[-1]) else []
        at_the_end = pieces[-1] >= max(derivation.axis) - MERGE_TOLERANCE
        notes += [BREAK_NOT_IDENTIFIED] if gives == "breakpoint" and at_the_end else []
        notes += [SEARCH_LIMIT.format(searches.most)] if region in searches.closed else []
        return AllowedRange(pieces, notes=tuple(notes), data_sets=tried)

    def _searches_of(self, derivation: Derivation, derived: Searched) -> _Searches:
        """The searches of a declaration in its regions, for all its numbers."""
        parts, axis = derivation.parts, np.array(derivation.axis)
        if (derived.id, parts) not in self._searches:
            regions = list(dict.fromkeys(self.regions.of(f, parts) for f in self.feasibles))
            most = UNBOUNDED_FACTOR * max(
                (end for region in regions for end in region.limits(parts)), default=1.0
            )
            bounded = [region.closed(parts, most) for region in regions]
            results = search_ranges(
                bounded, parts, tuple(derived.gives), _model(derived, axis), self.seed
            )
            self._searches[derived.id, parts] = _Searches(
                dict(zip(regions, results, strict=True)),
                most,
                {one for one, other in zip(regions, bounded, strict=True) if one is not other},
            )
        return self._searches[derived.id, parts]


@dataclass(frozen=True)
class _Searches:
    """Results by region; the regions with unbounded values, and the limit `most` of these."""

    results: Mapping[Region, list[SearchResult]]
    most: float
    closed: Set[Region]


def ranges(claims: Claims, feasible: Feasible, alone: Feasible, answers: Answers) -> pd.DataFrame:
    """Build the table `RANGES`, one row per derived number.

    Ranges by the text alone come from `alone`, those with our assumptions from `feasible`.
    """
    rows = []
    stated: dict[tuple[Expression, ...], dict[str, Claim]] = {}
    for claim in claims:
        for instance in () if claim.assumed else claim.instances:
            stated.setdefault(instance.parts, {})[claim.id] = claim
    for derivation in feasible.study.derivations:
        with_them = answers.answer(feasible, derivation)
        without = answers.answer(alone, derivation)
        alone_ = (n if n in with_them.notes else f"by the text alone {n}" for n in without.notes)
        notes = dict.fromkeys((derivation.derived.note, *alone_, *with_them.notes))
        rows.append(
            {
                "derived": derivation.derived.id,
                "gives": derivation.gives,
                "label": derivation.label,
                "exhibits": derivation.derived.exhibits,
                "kind": derivation.derived.kind,
                "unit": derivation.unit,
                "low": with_them.pieces[0],
                "high": with_them.pieces[-1],
                "low_text": without.pieces[0],
                "high_text": without.pieces[-1],
                "pieces": with_them.pieces,
                "pieces_text": without.pieces,
                "levels": with_them.levels,
                "levels_text": without.levels,
                "method": "searched" if derivation.derived.searched else "exact",
                "data_sets": with_them.data_sets
                + (0 if without is with_them else without.data_sets),
                "note": "; ".join(filter(None, notes)),
                "printed": printed_values(derivation, stated.get(derivation.parts, {}).values()),
            }
        )
    return RANGES.frame(rows)


def printed_values(derivation: Derivation, claims: Iterable[Claim]) -> list[float]:
    """Numbers that the paper prints for a derived number, from claims of the same relation.

    Numbers with a vague word are left out.
    """
    values = (derivation.derived.printed_by(derivation.gives, claim) for claim in claims)
    return list(dict.fromkeys(value for value in values if value is not None))


def _argmax(levels: Sequence[Level], places: Sequence[int]) -> AllowedRange:
    """Range of the level of a maximum that is possible at each of these places of `levels`."""
    order = np.argsort(levels) if all(isinstance(level, int | float) for level in levels) else None
    numbers = [float(levels[k]) for k in places] if order is not None else []
    ends = {int(order[0]), int(order[-1])} if order is not None else set()
    return AllowedRange(
        (min(numbers), max(numbers)) if numbers else (-np.inf, np.inf),
        tuple(level_text(levels[k]) for k in places),
        notes=(PEAK_AT_END,) if ends & set(places) else (),
    )


def _model(derived: Searched, axis: np.ndarray) -> Function:
    """Function that evaluates the model for many data sets at once."""
    from virtperf.models import many  # lazy import: only searched numbers need it

    match derived:
        case UslDerived():
            return lambda values: many.usl(axis, values, derived.load)
        case SegmentedDerived():
            return lambda values: many.plateau_decline(axis, values)
    assert_never(derived)
