"""Numbers of studies as frames: the ranges that a text allows, the numbers that a claim states, and
the estimates from runs.

Both frames have the columns study, system, compared (the condition or comparison), name (system and
comparison), provenance, and

kind
    The range that a text "allows", the limits that one claim "states", the interval of runs that
    "measured" it, or the 1 of a "reference".
value, low, high, pieces
    The measured mean or the printed number, the smallest and the largest possible value, and the
    disjoint ranges low1, high1, low2, ... in ascending order. Limits are infinite if unbounded, NaN
    without a number.
words, text
    The number in words: ``1.2 to 2``, ``0.82``, and with its kind and the limits of its rounding:
    ``allows about 0.820 (0.815 to 0.825)``, ``measured 1.5 (1.4 to 1.6)``, ``order only: below 1``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any

import pandas as pd

from virtperf.core.numbers import (
    NO_BREAK,
    PROSE_SIGNIFICANT,
    as_precise,
    interval,
    pretty,
    with_interval,
)
from virtperf.core.provenance import Provenance
from virtperf.report import run_estimates
from virtperf.report.frames import StudyData
from virtperf.report.origins import TEXT
from virtperf.report.range_words import is_order_only, order_only_limits, range_words
from virtperf.report.synthesis.definition import RATIO, Cell, Curve, Source, SynthesisQuestion
from virtperf.report.synthesis.references import (
    NO_STUDY,
    find_claim,
    instance,
    look_up,
    named_quantity,
    system_name,
    tested_ratios,
    unit_conversion,
)
from virtperf.report.wording import short_number
from virtperf.study.claims import Claim
from virtperf.study.derived_kinds.base import ORDER_ONLY_LIMITS, Bounds, Derivation
from virtperf.study.quantities import ratio_of_percent

Row = dict[str, Any]
"""A number as a row of a frame."""
ALLOWS, STATES, MEASURED, REFERENCE = "allows", "states", "measured", "reference"
"""Kinds of numbers; the last one is a ratio of a value to itself."""
PER_GUEST = "throughput per guest"
"""Measure derived from throughput if the ratio counts guests."""
MAX_END_RATIO = 20.0
"""Ratio of the limits of a range above which only one limit is given."""
ROUNDED_WIDTH = 0.02
"""Width of a range relative to its upper end, up to which its middle is given, too."""
_RATIO = Bounds(0.0, math.inf, 1.0, ORDER_ONLY_LIMITS[0])
_PERCENT_BOUNDS = Bounds(0.0)
_CURVES = (
    *("of", "measure", "against", "ratio", "cpu", "memory", "study", "system", "compared", "name"),
    *("kind", "value", "low", "high", "pieces", "words", "text", "provenance"),
)


def answers_frame(
    studies: Mapping[str, StudyData], questions: Iterable[SynthesisQuestion], level: float
) -> pd.DataFrame:
    """Frame with one row a number of each question: the columns of the module, question, row,
    quantity, percent, unit, shared, drawn (as in the file), number (its name in the report of its study),
    link (to it), reading, by_authors (whether runs of the study are those of its authors). A derived
    number that was also measured has both.

    Raises
    ------
    StudyError
        A cell names an unknown study, derived number or claim, or a number of another unit.
    """
    rows: list[Row] = []
    for question, row in ((q, row) for q in questions for row in q.rows):
        percent = question.percent and row.unit == RATIO
        of_row = {"question": question.id, "row": row.id, "quantity": row.says, "percent": percent}
        of_row |= row.model_dump(include={"unit", "shared", "drawn"})
        for cell in row.cells:
            data = look_up(studies, cell.study, NO_STUDY)
            numbers = _cell_numbers(data, cell, row.unit, level, percent=percent)
            rows += [of_row | number for number in numbers]
    return pd.DataFrame(rows).drop(columns="searched")


def curves_frame(
    studies: Mapping[str, StudyData], curves: Iterable[Curve], level: float
) -> pd.DataFrame:
    """Frame with one row a number of each curve and tested overcommitment ratio, ascending: the
    columns of the module, of ("cpu", "memory" or "both"), measure, against (the reference
    condition), cpu and memory (the ratios, NaN if not varied), ratio (that of a curve with one).

    Ratios have three significant digits. Throughput per guest is a curve of its own. Raises
    `StudyError` if a curve names something that its study does not have.
    """
    rows: list[Row] = []
    for curve in curves:
        data = look_up(studies, curve.study, NO_STUDY)
        start = tuple(axis.ratio(axis.reference) for axis in curve.axes.values())
        points = {
            at: _numbers(data, curve, number, "" if curve.to else RATIO, level)
            for at, number in tested_ratios(data.study, curve)
        }
        measured = data.study.kind == "measured"
        source = Provenance.MEASURED if measured else Provenance.RECONSTRUCTED
        points[start] = [_row(REFERENCE, [1.0, 1.0], source)]
        measures: dict[str, Any] = {curve.measure: points}
        if curve.per_guest:
            measures[PER_GUEST] = {at: scaled(p, start[0] / at[0]) for at, p in points.items()}
        for measure, at in product(measures, sorted(points)):
            ratios = {of: float(f"{r:.3g}") for of, r in zip(curve.axes, at, strict=True)}
            of, *others = ratios
            place = {"of": "both", "ratio": math.nan} if others else {"of": of, "ratio": ratios[of]}
            place |= {"measure": measure, "against": curve.against, **ratios}
            place |= _condition(data, curve)
            rows += [place | number for number in in_words(measures[measure][at], _RATIO)]
    return pd.DataFrame(rows, columns=_CURVES)


def pieces_frame(numbers: pd.DataFrame) -> pd.DataFrame:
    """The frame with one row a piece: its limits in the columns low and high."""
    pairs = [
        list(zip(ends[::2], ends[1::2], strict=True)) or [(math.nan, math.nan)]
        for ends in numbers["pieces"]
    ]
    whole = numbers.assign(pieces=pd.Series(pairs, index=numbers.index, dtype=object)).explode(
        "pieces", ignore_index=True
    )
    whole[["low", "high"]] = pd.DataFrame(whole.pop("pieces").tolist(), columns=["low", "high"])
    return whole


# ---- numbers without words: rows with kind, value, pieces, provenance, searched


def _cell_numbers(
    data: StudyData, cell: Cell, unit: str, level: float, *, percent: bool
) -> list[Row]:
    if cell.claim:
        claim = find_claim(data.study.id, data.claims or (), cell.claim)
        rows, bounds = [_stated_number(data, claim, unit, cell.half_width)], Bounds()
        label, link = claim.says, f"claim:{data.study.id}/{claim.id}"
    elif cell.quantity:
        rows, bounds = list(_mean_of_runs(data, cell.quantity, level)), Bounds()
        label, link = cell.quantity, f"exhibit:{data.study.id}/summary"
    else:
        number = instance(data.study, cell, cell.at)
        rows = scaled(_numbers(data, cell, number, unit, level), cell.times)
        bounds = number.bounds(data.study)
        exhibit = next((name for name in number.derived.exhibits if name != TEXT), "summary")
        label, link = number.label, f"exhibit:{data.study.id}/{exhibit}"
    common = {"number": label, "link": link, "reading": cell.reading, **_condition(data, cell)}
    common["by_authors"] = data.study.artifact is not None
    bounds = _RATIO if unit == RATIO else bounds
    return [common | row for row in in_words(rows, bounds, percent=percent)]


def _mean_of_runs(data: StudyData, quantity: str, level: float) -> Iterator[Row]:
    """Yield the mean of a quantity's measured runs with its interval, if there are any."""
    mean = data.mean(named_quantity(data.study, quantity), Provenance.MEASURED)
    if mean is not None:
        found = mean.at(level)
        yield _row(MEASURED, [found.low, found.high], Provenance.MEASURED, value=found.value)


def _condition(data: StudyData, source: Source) -> Row:
    system = system_name(data.study, source.system)
    name = f"{system}: {source.label}"
    return {"study": data.study.id, "system": system, "compared": source.label, "name": name}


def _stated_number(
    data: StudyData, claim: Claim, unit: str, half_width: float | None = None
) -> Row:
    """Number stated by one claim, with its own limits; its words if it prints one, or has none. Of a
    range, the `half_width` of its rounding gives the printed limits.
    """
    result = data.result(claim.id)
    low, high = (float(result.get(end, math.nan)) for end in ("low", "high"))
    convert = ratio_of_percent if claim.in_percent and unit == RATIO else float
    if not unit or math.isnan(low) or math.isnan(high):
        return _row(STATES, [], Provenance.PUBLISHED, words=claim.says)
    row = _row(STATES, [convert(low), convert(high)], Provenance.PUBLISHED)
    if half_width is not None:
        row["printed"] = [convert(low + half_width), convert(high - half_width)]
    if claim.value is None or (claim.word and convert is not float):
        return row
    return row | {"value": convert(claim.value), "word": claim.word}


def _numbers(
    data: StudyData, source: Source, number: Derivation, unit: str, level: float
) -> list[Row]:
    """Numbers of a derived number, divided by that at the levels in `to`. Only ranges allowed by the
    text are divided: intervals of runs of one block are dependent.
    """
    if not source.to:
        return list(derived_numbers(data, number, unit, level))
    base = instance(data.study, source, {**source.at, **source.to})
    return quotients(*(list(derived_numbers(data, n, "", level)) for n in (number, base)))


def derived_numbers(data: StudyData, number: Derivation, unit: str, level: float) -> Iterator[Row]:
    """Yield the range allowed by the text and the estimate from runs of a derived number, if any.

    A ratio of a number to itself is 1 whatever is known of it, also for runs.
    """
    convert: Callable[[float], float] = unit_conversion(number, unit)
    bounds = _RATIO if unit == RATIO else number.bounds(data.study)
    if unit == RATIO and number.of_itself:
        yield _row(REFERENCE, [1.0, 1.0], Provenance.RECONSTRUCTED)
        return
    of_number = data.ranges["derived"] == number.derived.id
    stored = data.ranges[of_number & (data.ranges["label"] == number.label)]
    for pieces, method in zip(stored["pieces_text"], stored["method"], strict=True):
        ends, searched = [convert(end) for end in pieces], method == "searched"
        informative = informative_limits(ends)
        if not searched and is_order_only(informative, bounds):
            ends = order_only_limits(informative, bounds)
        yield _row(ALLOWS, ends, Provenance.RECONSTRUCTED, searched=searched)
    estimate = run_estimates.estimate(data, number, level)
    if estimate is not None and estimate.available:
        value, *ends = (convert(v) for v in (estimate.value, estimate.low, estimate.high))
        yield _row(MEASURED, ends, Provenance.MEASURED, value=value)


def _row(kind: str, pieces: Sequence[float], provenance: Provenance, **more: Any) -> Row:
    known = {"kind": kind, "value": math.nan, "pieces": list(pieces)}
    return known | {"searched": False, "provenance": str(provenance)} | more


def scaled(rows: Iterable[Row], times: float) -> list[Row]:
    """Multiply numbers by a factor; a reference stays 1."""
    return [
        row | {"value": times * row["value"], "pieces": [times * end for end in row["pieces"]]}
        if row["kind"] != REFERENCE
        else row
        for row in rows
    ]


def quotients(of: Iterable[Row], to: Iterable[Row]) -> list[Row]:
    """Quotients of the ranges allowed by the text; empty unless both are known."""
    results = []
    for a, b in product(of, to):
        if a["kind"] == b["kind"] == ALLOWS:
            (low, *_, high), (least, *_, most) = a["pieces"], b["pieces"]
            ends = [low / most, high / least if least else math.inf]
            results.append(a | {"pieces": ends, "searched": False})
    return results


# ---- numbers in words


def in_words(rows: Iterable[Row], bounds: Bounds, *, percent: bool = False) -> list[Row]:
    """Add the columns low, high, words (unless a row has them) and text to numbers within their
    natural bounds; with `percent`, ratios are written in per cent.
    """
    results = []
    scale, unit = (100.0, f"{NO_BREAK}%") if percent else (1.0, "")
    for row in rows:
        kind, pieces, value = row["kind"], row["pieces"], scale * row["value"]
        low, high = (pieces[0], pieces[-1]) if pieces else (math.nan, math.nan)
        ends = [scale * end for end in pieces]
        if "words" in row:
            words = exact = row["words"]
        elif kind == REFERENCE:
            words = exact = f"1 ({REFERENCE})"
        elif kind == MEASURED:
            no_change = scale * bounds.same
            words = exact = with_interval(value, ends[0], ends[-1], unit, beside=[no_change])
        elif "printed" in row:
            least, most = (scale * end for end in row["printed"])
            words = exact = interval(least, most, unit)
        elif kind == STATES and math.isfinite(value):
            words, exact = (
                f"{row['word']} {text}{unit}".lstrip() for text in _stated_words(value, *ends)
            )
        else:
            limits = informative_limits(pieces)
            exact = _range_text(limits, bounds, searched=row["searched"])
            limited = not exact.startswith(("order only", "not bounded")) and not row["searched"]
            if percent and limited:
                exact = _range_text([scale * end for end in limits], _PERCENT_BOUNDS) + unit
            narrow = _rounded(ends[0], ends[-1]) if limited else ""
            words = f"{narrow}{unit}" if narrow else exact
        plain = kind == REFERENCE or exact.startswith(("order only", "not bounded"))
        text = exact if plain else f"{kind}{'' if pieces else ':'} {exact}"
        added = {"low": low, "high": high, "words": words, "text": text}
        known = {name: row[name] for name in row if name not in ("word", "printed")}
        results.append(known | added)
    return results


def _stated_words(value: float, low: float, high: float) -> tuple[str, str]:
    """A printed number, alone and with the limits of its rounding."""
    words = pretty(value)
    if not (math.isfinite(low) and math.isfinite(high)):
        return words, words
    _, first, last = as_precise(value, low, high)
    return words, f"{words} ({first} to {last})"


def _rounded(low: float, high: float) -> str:
    """The middle of a range as narrow as a rounded number, with the digits that it decides: the ends
    are at most one unit of the last one away. "" for a wider range, and where the middle is halfway
    between two such numbers.
    """
    if not 0 < low < high < math.inf or high - low > ROUNDED_WIDTH * high:
        return ""
    middle = (low + high) / 2
    decided = math.floor(-math.log10((high - low) / 2) + 1e-6)
    decimals = max(0, min(decided, PROSE_SIGNIFICANT - 1 - math.floor(math.log10(middle))))
    is_halfway = abs(round(middle, decimals) - middle) > 0.4 * 10.0**-decimals
    return "" if is_halfway else f"{middle:,.{decimals}f}"


def _range_text(ends: Sequence[float], bounds: Bounds, *, searched: bool = False) -> str:
    """Format a range as `range_words`, but without a middle unless it is as narrow as a rounded
    number: a middle would read as a stated value.
    """
    pairs = list(zip(ends[::2], ends[1::2], strict=True))
    closed = all(low > bounds.low and high < bounds.high for low, high in pairs)
    wide = any(high - low > ROUNDED_WIDTH * abs(high) for low, high in pairs)
    if closed and wide and not searched:
        return " or ".join(" to ".join(map(short_number, pair)) for pair in pairs)
    return range_words(ends, bounds, searched=searched)


def combined_range(numbers: pd.DataFrame) -> str:
    """Kinds of the numbers and the range from the smallest to the largest, which has no middle."""
    kinds = " and ".join(kind for kind in numbers["kind"].unique() if kind != REFERENCE)
    low, high = informative_limits((numbers["low"].min(), numbers["high"].max()))
    both = low > 0 and math.isfinite(high)
    plain = f"{short_number(low)} to {short_number(high)}"
    return f"{kinds} {plain if both else range_words((low, high), Bounds(0.0))}".strip()


def informative_limits(ends: Sequence[float]) -> list[float]:
    """Limits of a range; beyond a ratio of `MAX_END_RATIO`, only the informative limit is kept."""
    if not 0 < MAX_END_RATIO * ends[0] < ends[-1]:
        return list(ends)
    return [0.0, *ends[1:]] if ends[-1] <= 2 else [*ends[:-1], math.inf]
