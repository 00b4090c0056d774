"""Identified range of every derived number: its minimum and maximum over the feasible set.

Linear and linear-fractional numbers are exact (two programs each), by the text alone and with our
assumptions, over all smallest resolutions of contradictions. Ranges of fitted models are found by
random search (`reconstruct.search`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from virtperf.core.levels import level_text
from virtperf.core.stage_tables import RANGES
from virtperf.reconstruct.feasible import MERGE_TOLERANCE, Feasible, merge_intervals
from virtperf.reconstruct.region import Region, Regions
from virtperf.reconstruct.search import Function, SearchResult, search_ranges
from virtperf.study.claims import Claims
from virtperf.study.definition import Study
from virtperf.study.derived import Derivation, derivations
from virtperf.study.quantities import Expression

SEARCHED_FORMS = ("usl", "segmented")

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


@dataclass
class Answers:
    """Ranges under one set of claims; a model's data sets are cached for all its numbers."""

    regions: Regions
    seed: int
    within: Answers | None = None  # a subset of these data sets, tried here too
    _results: dict[tuple[Expression, ...], tuple[list[SearchResult], float]] = field(
        default_factory=dict
    )

    def answer(self, derivation: Derivation) -> AllowedRange:
        region = self.regions.of(derivation.parts)
        kind, parts = derivation.derived.kind, derivation.parts
        if kind == "argmax":
            return _argmax(derivation, region)
        if kind in SEARCHED_FORMS:
            return self._searched(derivation)
        if kind in ("ratio", "percent_change"):
            of, to = parts
            least = 0.0 if self._nonnegative(of) and self._nonnegative(to) else -np.inf
            intervals = [
                (max(low, least), high) for low, high in region.ratios(of, to) if low <= high
            ] or [(least, np.inf)]
            if kind == "percent_change":
                intervals = [(100 * (low - 1), 100 * (high - 1)) for low, high in intervals]
            positive = min(low for low, _ in region.ranges(to)) > MERGE_TOLERANCE
            return AllowedRange(
                merge_intervals(intervals), notes=() if positive else (NOT_POSITIVE,)
            )
        if kind == "maximum":
            return AllowedRange(merge_intervals(region.maxima(parts)))
        return AllowedRange(merge_intervals(region.ranges(_linear(derivation))))

    def _nonnegative(self, part: Expression) -> bool:
        quantities = self.regions.feasible.study.quantities
        return all(c >= 0 and quantities[q.name].low >= 0 for c, q in part.terms)

    def _searched(self, derivation: Derivation) -> AllowedRange:
        results, most = self._data_sets(derivation)
        ranges = [f.ranges[derivation.gives] for f in results if derivation.gives in f.ranges]
        tried = sum(f.data_sets for f in results)
        if not ranges:
            return AllowedRange(data_sets=tried)
        pieces = merge_intervals(ranges)
        notes = [NO_PEAK] if derivation.gives == "peak_load" and np.isinf(pieces[-1]) else []
        at_the_end = pieces[-1] >= max(derivation.axis) - MERGE_TOLERANCE
        notes += [BREAK_NOT_IDENTIFIED] if derivation.gives == "breakpoint" and at_the_end else []
        notes += [SEARCH_LIMIT.format(most)] if np.isfinite(most) else []
        return AllowedRange(pieces, notes=tuple(notes), data_sets=tried)

    def _data_sets(self, derivation: Derivation) -> tuple[list[SearchResult], float]:
        """Search results of a declaration, and the search limit of unbounded values."""
        if derivation.parts not in self._results:
            also = (
                [x for f in self.within._data_sets(derivation)[0] for x in f.best]
                if self.within
                else []
            )
            limits = (
                self.within.regions.of(derivation.parts).limits(derivation.parts)
                if self.within
                else ()
            )
            region, most = self.regions.of(derivation.parts).closed(derivation.parts, limits)
            names = tuple(derivation.derived.gives)
            self._results[derivation.parts] = (
                search_ranges(region, derivation.parts, names, _model(derivation), self.seed, also),
                most,
            )
        return self._results[derivation.parts]


def ranges(
    study: Study, claims: Claims, feasible: Feasible, alone: Feasible, seed: int
) -> pd.DataFrame:
    """Build the table `RANGES`, one row per derived number.

    Ranges by the text alone come from `alone`, those with our assumptions from `feasible`.
    """
    assumed = Answers(Regions(feasible), seed)
    text = Answers(Regions(alone), seed, assumed)
    rows = []
    for derivation in derivations(study):
        with_them = assumed.answer(derivation)
        shared = all(alone.shares(q) for part in derivation.parts for _, q in part.terms)
        without = with_them if shared else text.answer(derivation)
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
                "method": "searched" if derivation.derived.kind in SEARCHED_FORMS else "exact",
                "data_sets": with_them.data_sets + (0 if shared else without.data_sets),
                "note": "; ".join(filter(None, notes)),
                "printed": printed_values(derivation, claims),
            }
        )
    return RANGES.frame(rows)


def printed_values(derivation: Derivation, claims: Claims) -> list[float]:
    """Numbers that the paper prints for a derived number, from claims of the same relation.

    Vague words are left out.
    """
    values: dict[float, None] = {}
    kind = derivation.derived.kind
    for claim in claims:
        if (
            claim.assumed
            or claim.reading
            or claim.value is None
            or claim.kind not in _CLAIM_KINDS.get(kind, ())
        ):
            continue
        if any(instance.parts == derivation.parts for instance in claim.instances):
            value = claim.value
            if (kind, claim.kind) == ("ratio", "percent_change"):
                value = 1 + value / 100
            elif (kind, claim.kind) == ("percent_change", "ratio"):
                value = 100 * (value - 1)
            values[value] = None
    return list(values)


_CLAIM_KINDS = {
    "value": ("value",),
    "difference": ("difference",),
    "ratio": ("ratio", "percent_change"),
    "percent_change": ("percent_change", "ratio"),
}
"""Kinds of claims that print the number of each kind of derived number."""


def _argmax(derivation: Derivation, region: Region) -> AllowedRange:
    places = region.largest(derivation.parts)
    levels = derivation.derived.levels
    order = np.argsort(levels) if all(isinstance(level, int | float) for level in levels) else None
    numbers = [float(levels[k]) for k in places] if order is not None else []
    ends = {int(order[0]), int(order[-1])} if order is not None else set()
    return AllowedRange(
        (min(numbers), max(numbers)) if numbers else (-np.inf, np.inf),
        tuple(level_text(levels[k]) for k in places),
        notes=(PEAK_AT_END,) if ends & set(places) else (),
    )


def _linear(derivation: Derivation) -> Expression:
    """The linear combination that a value, a difference or a regression coefficient equals."""
    parts = derivation.parts
    if derivation.derived.kind != "line":
        weights = np.array([1.0, -1.0])[: len(parts)]
    else:
        x = np.array(derivation.axis) - np.mean(derivation.axis)
        weights = x / (x @ x)
        if derivation.gives == "intercept":
            weights = 1 / len(x) - np.mean(derivation.axis) * weights
    terms = [
        (float(w) * c, q) for w, part in zip(weights, parts, strict=True) for c, q in part.terms
    ]
    return Expression(tuple(terms))


def _model(derivation: Derivation) -> Function:
    """Function that evaluates the model for many data sets at once."""
    from virtperf.models import many  # lazy import: only searched numbers need it

    axis = np.array(derivation.axis)
    if derivation.derived.kind == "usl":
        return lambda values: many.usl(axis, values, derivation.derived.load)
    return lambda values: many.plateau_decline(axis, values)
