"""Findings of measured studies: sentences with numbers from runs, each checked against its
confidence interval.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

from rawperf.core.errors import StudyError
from virtperf.core.contrasts import POOLED, Contrast
from virtperf.core.provenance import Provenance
from virtperf.report.frames import StudyData
from virtperf.report.wording import as_precise, interval, join_words, plural, pretty, short_number
from virtperf.study.parts import Finding, MeasuredNumber

PROSE_DIGITS = 3


@dataclass(frozen=True)
class ComputedNumber:
    """Display form of a number in a finding: `text` within the sentence, its `interval`, and
    `over`: the number of runs or blocks, and whether the error is pooled over conditions.
    """

    text: str
    interval: str
    over: str


def compute_numbers(data: StudyData, finding: Finding, level: float) -> dict[str, ComputedNumber]:
    """Numbers of measured runs for the placeholders in a finding's sentence.

    Raises `StudyError` if a number was not measured, or if its interval exceeds the limits given
    with the sentence, which would then claim more than the runs support.
    """
    return {
        name: _compute_number(data, name, number, level) for name, number in finding.numbers.items()
    }


def _compute_number(
    data: StudyData, name: str, number: MeasuredNumber, level: float
) -> ComputedNumber:
    value, low, high, contrast = _estimate(data, name, number, level)
    if not (number.low <= low and high <= number.high):
        shown = as_precise(value, low, high)
        raise StudyError(
            f"findings: the runs do not support the limits given for {name}",
            file="study.yaml",
            expected=f"a {100 * level:g} % interval within {interval(number.low, number.high)}",
            found=f"{shown[0]} ({shown[1]} to {shown[2]})",
            remedy="adapt the sentence and its limits to the interval, or measure more runs.",
        )
    unit = _unit(data, number)
    sizes = (value, low, high)
    if number.show == "change" and value < 0:
        sizes = (-value, -high, -low)
    precise = as_precise(*sizes)
    digits = sum(c.isdigit() for c in precise[0].lstrip("0."))
    text = short_number(sizes[0]) if digits > PROSE_DIGITS else precise[0]
    runs = plural(contrast.n, "block" if contrast.design.startswith("within") else "run")
    if POOLED in contrast.design:
        runs += " (pooled error)"
    ends = "no spread" if low == high else f"{precise[1]} to {precise[2]}{unit}"
    return ComputedNumber(f"{text}{unit}", ends, runs)


def _estimate(
    data: StudyData, name: str, number: MeasuredNumber, level: float
) -> tuple[float, float, float, Contrast]:
    """Value and interval in the displayed unit, with the sign of a change, and the contrast."""
    samples = data.samples(Provenance.MEASURED)
    sides = [
        {q: c for c, q in data.study.expression(text).terms}
        for text in (number.of, number.to)
        if text
    ]
    missing = [q.key() for side in sides for q in side if q not in samples]
    if missing:
        raise StudyError(
            f"findings: no measured run for the number {name}",
            file="study.yaml",
            found=", ".join(missing),
            remedy="name measured conditions; virtperf runs reads new runs.",
        )
    contrast: Contrast | None = samples.log_ratio(*sides) if number.to else None
    contrast = contrast or samples.linear_ratio(sides[0], sides[1] if number.to else {})
    value = contrast.value
    low, high = contrast.interval(level) if contrast.n > 1 else (math.nan, math.nan)
    scale, shift = {"value": (1.0, 0.0), "percent": (100.0, 0.0), "change": (100.0, -100.0)}[
        number.show
    ]
    return scale * value + shift, scale * low + shift, scale * high + shift, contrast


def _unit(data: StudyData, number: MeasuredNumber) -> str:
    if number.show != "value":
        return " %"
    (_, quantity), *_ = data.study.expression(number.of).terms
    unit = data.study.quantities[quantity.name].unit
    return "" if number.to or unit in ("1", "count") else f" {unit}"


def fill_sentence(sentence: str, numbers: Mapping[str, ComputedNumber]) -> str:
    """Substitute the numbers into the sentence."""
    text = " ".join(sentence.split())
    for name, number in numbers.items():
        text = text.replace(f"{{{name}}}", number.text)
    return text


def interval_words(numbers: Mapping[str, ComputedNumber], level: float) -> str:
    """``95 % CI 5.0 to 5.7 % and 31.0 to 35.8 % over 6 blocks.``"""
    parts = [
        f"{join_words(each.interval for each in group)} over {over}"
        for over, group in groupby(numbers.values(), key=lambda each: each.over)
    ]
    return f"{pretty(100 * level)} % CI {'; '.join(parts)}." if parts else ""
