"""Numbers of studies for one quantity: ranges allowed by a text, printed numbers, measured
estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, TypeVar

from rawperf.core.errors import StudyError, did_you_mean
from virtperf.core.provenance import Provenance
from virtperf.report import from_runs
from virtperf.report.frames import StudyData
from virtperf.report.origins import TEXT
from virtperf.report.range_words import (
    is_order_only,
    order_only_limits,
    range_words,
)
from virtperf.report.synthesis.definition import RATIO, QuantityRow, Reference
from virtperf.report.wording import as_precise, pretty, short_number, with_interval
from virtperf.study.claims import Claim
from virtperf.study.definition import Study
from virtperf.study.derived_kinds.base import ORDER_ONLY_LIMITS, Bounds, Derivation
from virtperf.study.quantities import Level, ratio_of_percent

T = TypeVar("T")
Piece = tuple[float, float]
REFERENCE = "reference"
"""Kind of a ratio of a value to itself."""
_problem = partial(StudyError, file="data/synthesis.yaml")
MAX_END_RATIO = 20.0
"""Ratio of the limits of a range above which only one limit is given."""
ROUNDED_WIDTH = 0.02
"""Width of a range relative to its upper end, up to which its middle is given, too."""
_RATIO = Bounds(0.0, math.inf, 1.0, ORDER_ONLY_LIMITS[0])


@dataclass(frozen=True)
class Value:
    """One study's number for a quantity.

    `kind` is the source of the pieces: the range that a text "allows", the limits that one claim
    "states", the interval of runs that "measured" it, or the 1 of a "reference".
    """

    study: str
    label: str  # the comparison in words
    number: str  # its name in the study's own report
    kind: str
    words: str  # the number in words, without its kind
    pieces: tuple[Piece, ...]  # ascending; infinite if unbounded; empty without a number
    provenance: Provenance
    link: str  # link to the number in the study's report
    value: float = math.nan  # measured mean
    reading: str = field(default="", compare=False)
    system: str = field(default="", compare=False)  # software, machine, and year

    @property
    def name(self) -> str:
        """System and condition: ``Xen 4.17, one emulated CPU, 2026: 2 busy guests against 1``."""
        return f"{self.system}: {self.label}" if self.system else self.label

    @property
    def ends(self) -> Piece:
        """Smallest and largest possible value; NaN without a number."""
        every = [end for piece in self.pieces for end in piece]
        return (min(every), max(every)) if every else (math.nan, math.nan)

    @property
    def text(self) -> str:
        """``allows 1.2 to 2``, ``measured 1.5 (1.4 to 1.6)``, ``order only: below 1``."""
        if self.kind == REFERENCE:
            return "1 (reference)"
        plain = self.words.startswith(("order only", "not bounded"))
        mark = ":" if not self.pieces else ""
        return self.words if plain else f"{self.kind}{mark} {self.words}"


def values(studies: Mapping[str, StudyData], row: QuantityRow, level: float) -> list[Value]:
    """All numbers of a row, in order; a derived number that was also measured has both.

    Raises
    ------
    StudyError
        The row names an unknown study, derived number or claim, or a number of another unit.
    """
    results = []
    for cell in row.cells:
        data = find_study(studies, cell.study)
        if cell.claim:
            results.append(_claim_value(data, cell, row.unit))
        else:
            results += reference_values(data, cell, row.unit, level)
    return results


def reference_values(data: StudyData, reference: Reference, unit: str, level: float) -> list[Value]:
    """Values of the derived number in a reference, with its division and factor applied.

    A quotient uses only the ranges allowed by the text: intervals of runs are not divided, since
    runs of one block are dependent.
    """
    if not reference.to:
        number = instance(data.study, reference)
        return [
            scale_value(v, reference.times)
            for v in derived_values(data, number, reference, unit, level)
        ]
    of, to = (
        derived_values(data, instance(data.study, one), one, "", level)
        for one in (
            reference,
            reference.model_copy(update={"at": {**reference.at, **reference.to}}),
        )
    )
    return [scale_value(value, reference.times) for value in quotients(of, to)]


def quotients(of: Sequence[Value], to: Sequence[Value]) -> list[Value]:
    """Quotients of the ranges allowed by the text; empty unless both are known."""
    results = []
    for a, b in ((a, b) for a in of for b in to if a.kind == b.kind == "allows"):
        low, high = a.ends[0] / b.ends[1], a.ends[1] / b.ends[0] if b.ends[0] else math.inf
        words = _range_text(informative_limits((low, high)), _RATIO)
        results.append(replace(a, words=words, pieces=((low, high),)))
    return results


def scale_value(value: Value, times: float) -> Value:
    """Multiply a value by a factor."""
    if times == 1:
        return value
    pieces = tuple((times * low, times * high) for low, high in value.pieces)
    if value.kind == REFERENCE:
        return value
    if value.kind == "measured":
        middle, (low, high) = times * value.value, pieces[0]
        words = with_interval(middle, low, high)
        return replace(value, value=middle, words=words, pieces=pieces)
    flat = [end for piece in pieces for end in piece]
    return replace(value, words=_range_text(informative_limits(flat), _RATIO), pieces=pieces)


def system_name(study: Study, key: str) -> str:
    """Name of a study's system; "" if it names none.

    Raises
    ------
    StudyError
        The study has several systems and `key` is empty, or `key` is unknown.
    """
    if key:
        return _look_up(study.systems, key, f"{study.id} has no system")
    if len(study.systems) > 1:
        raise _problem(
            f"{study.id} has several systems",
            expected=f"`system`, one of {', '.join(study.systems)}",
        )
    return next(iter(study.systems.values()), "")


def derived_values(
    data: StudyData, number: Derivation, reference: Reference, unit: str, level: float
) -> list[Value]:
    """Range allowed by the text and estimate from runs of a derived number, if any.

    A ratio of a number to itself is 1 whatever is known of it, also for runs.
    """
    convert, bounds = unit_conversion(number, unit), number.bounds(data.study)
    if unit == RATIO:
        bounds = _RATIO
    common: dict[str, Any] = {
        "study": data.study.id,
        "label": reference.label,
        "number": number.label,
        "reading": reference.reading,
        "system": system_name(data.study, reference.system),
        "link": f"exhibit:{data.study.id}/{next((e for e in number.derived.exhibits if e != TEXT), 'summary')}",
    }
    if unit == RATIO and number.of_itself:
        return [
            Value(
                **common,
                kind=REFERENCE,
                words="",
                pieces=((1.0, 1.0),),
                provenance=Provenance.RECONSTRUCTED,
            )
        ]
    results = []
    rows = data.ranges[
        (data.ranges["derived"] == number.derived.id) & (data.ranges["label"] == number.label)
    ]
    for row in rows.to_dict("records"):
        ends = [convert(v) for v in row["pieces_text"]]
        searched, informative = row["method"] == "searched", informative_limits(ends)
        words = _range_text(informative, bounds, searched=searched)
        if not searched and is_order_only(informative, bounds):
            ends = order_only_limits(informative, bounds)
        pieces = tuple(zip(ends[::2], ends[1::2], strict=True))
        results.append(
            Value(
                **common,
                kind="allows",
                words=words,
                pieces=pieces,
                provenance=Provenance.RECONSTRUCTED,
            )
        )
    estimate = from_runs.estimate(data, number, level)
    if estimate is not None and estimate.available:
        value, low, high = (convert(v) for v in (estimate.value, estimate.low, estimate.high))
        results.append(
            Value(
                **common,
                kind="measured",
                words=with_interval(value, low, high),
                value=value,
                pieces=((low, high),),
                provenance=Provenance.MEASURED,
            )
        )
    return results


def _range_text(ends: Sequence[float], bounds: Bounds, *, searched: bool = False) -> str:
    """Format a range as `range_words`, but without a middle unless it is as narrow as a rounded
    number: a middle would read as a stated value.
    """
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    closed = all(low > bounds.low and high < bounds.high for low, high in pairs)
    if (
        closed
        and not searched
        and any(high - low > ROUNDED_WIDTH * abs(high) for low, high in pairs)
    ):
        return " or ".join(" to ".join(map(short_number, pair)) for pair in pairs)
    return range_words(ends, bounds, searched=searched)


def informative_limits(ends: Sequence[float]) -> list[float]:
    """Limits of a range; beyond a ratio of `MAX_END_RATIO`, only the informative limit is kept."""
    if not 0 < MAX_END_RATIO * ends[0] < ends[-1]:
        return list(ends)
    return [0.0, *ends[1:]] if ends[-1] <= 2 else [*ends[:-1], math.inf]


def instance(study: Study, reference: Reference) -> Derivation:
    """The single derived number of a reference; raises `StudyError` if there is none, or several."""
    matching = instances(study, reference.derived, reference.at, reference.gives)
    if len(matching) != 1:
        raise _problem(
            f"{study.id}: {reference.derived} has {len(matching)} numbers",
            expected="one: fix levels under `at`",
        )
    return matching[0][1]


def instances(
    study: Study, derived: str, at: Mapping[str, Level], gives: str = ""
) -> list[tuple[tuple[Level, ...], Derivation]]:
    """Numbers of an entry of `derived` at fixed levels of its `for_each`, each with its remaining
    levels.
    """
    entry = _look_up(
        {entry.id: entry for entry in study.derived}, derived, f"{study.id} has no derived number"
    )
    if unknown := [name for name in at if at[name] not in entry.for_each.get(name, ())]:
        raise _problem(f"{study.id}: {derived} has no number for {unknown[0]} {at[unknown[0]]}")
    free = [name for name in entry.for_each if name not in at]
    derivations = []
    for levels in product(*(entry.for_each[name] for name in free)):
        fixed = {**at, **dict(zip(free, levels, strict=True))}
        one = entry.model_copy(
            update={"for_each": {name: (fixed[name],) for name in entry.for_each}}
        )
        derivations += [
            (levels, number) for number in one.expand(study) if not gives or number.gives == gives
        ]
    return derivations


def find_study(studies: Mapping[str, T], name: str) -> T:
    """Look up a study by id; raises `StudyError` with close matches."""
    return _look_up(studies, name, "there is no study")


def _claim_value(data: StudyData, reference: Reference, unit: str) -> Value:
    """Value stated by one claim, with its own limits."""
    claim, result = (
        find_claim(data.study.id, data.claims or (), reference.claim),
        data.result(reference.claim),
    )
    low, high = (float(result.get(end, math.nan)) for end in ("low", "high"))
    convert = ratio_of_percent if claim.in_percent and unit == RATIO else float
    pieces: tuple[Piece, ...] = ()
    if unit and not (math.isnan(low) or math.isnan(high)):
        pieces = ((convert(low), convert(high)),)
    bounds = _RATIO if unit == RATIO else Bounds()
    words = claim.says
    if pieces and claim.value is not None and (convert is float or not claim.word):
        words = _printed(claim.word, convert(claim.value), pieces[0])
    elif pieces:
        words = _range_text(informative_limits(pieces[0]), bounds)
    return Value(
        data.study.id,
        reference.label,
        claim.says,
        "states",
        words,
        pieces,
        Provenance.PUBLISHED,
        f"claim:{data.study.id}/{claim.id}",
        reading=reference.reading,
        system=system_name(data.study, reference.system),
    )


def _printed(word: str, value: float, ends: Piece) -> str:
    """Format a printed number with its word, and its limits if both are finite."""
    if not all(map(math.isfinite, ends)):
        return f"{word} {pretty(value)}".lstrip()
    shown = as_precise(value, *ends)
    return f"{word} {pretty(value)} ({shown[1]} to {shown[2]})".lstrip()


def find_claim(study: str, claims: Iterable[Claim], name: str) -> Claim:
    """Look up a claim by id; raises `StudyError` with close matches."""
    return _look_up({claim.id: claim for claim in claims}, name, f"{study} has no claim")


def _look_up(among: Mapping[str, T], name: str, problem: str) -> T:
    if name not in among:
        raise _problem(f"{problem} {name!r}", remedy=did_you_mean(name, among))
    return among[name]


def unit_conversion(number: Derivation, unit: str) -> Callable[[float], float]:
    """Conversion of a derived number to a row's unit; raises `StudyError` if there is none."""
    if unit == RATIO and number.derived.in_percent:
        return ratio_of_percent
    if unit == RATIO and (not number.derived.of_reference or number.unit):
        expected = "a ratio of two numbers of one unit, or a change in per cent"
        raise _problem(f"{number.derived.id} is not a ratio", expected=expected)
    return float
