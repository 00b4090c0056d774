"""Numbers printed in a text of claims, and which of them the data of an artifact contain.

A printed number occurs if a value of the data rounds to it: 125 ms stands for 124.5 to 125.5 ms. The
more values there are and the fewer digits a number has, the more often that happens by chance; the
number of compared values is stated, and nothing is concluded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from rawperf.core.errors import RawperfError
from rawperf.core.units import conversion_factor
from rawperf.results.names import parse_unit
from virtperf.core.grouping import grouped

RATIO = "times"
PERCENT = "%"
MAX_NUMBERS = 500
MAX_NAMED = 3
_RATIO_WORDS = frozenset({"x", "×", "times", "fold"})
_COUNTED = {"iops": "1/s", "req/s": "1/s"}
_BINARY = re.compile(r"[kMG](?=B)")
_NUMBER = re.compile(
    r"(?<![\w.,/])(?<![A-Za-z)]-)(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)"
    r"(?:(?P<range>\s*(?:to|–|-)\s*)(?=\d)|[\s-]?(?P<unit>[A-Za-zµμ×%]*(?:/\w+)?)|(?![\w]))"
)
_VERSION = re.compile(r"(?<!\w)v?\d+(?:\.\d+){2,}\S*")


@dataclass(frozen=True)
class PrintedNumber:
    """A number as printed, in line `line` of the text; `half_width` is half of its last digit.

    `units` are the meanings of its unit, empty without one; ``times`` is a ratio.
    """

    line: int
    text: str
    value: float
    half_width: float
    units: tuple[str, ...] = ()


@dataclass(frozen=True)
class DataValue:
    """A value of the data: a quantity of a condition, or a ratio of two, in words."""

    value: float
    unit: str
    words: str
    quantity: str = ""
    is_unit_known: bool = True


@dataclass(frozen=True)
class Occurrence:
    """A printed number, the number of values it was compared with, and those that round to it."""

    number: PrintedNumber
    compared: int
    found: tuple[DataValue, ...]


def printed_numbers(text: str) -> list[PrintedNumber]:
    """Find the numbers of a text, at most `MAX_NUMBERS`; a range has the unit of its end."""
    found: list[PrintedNumber] = []
    for line_number, line in enumerate(text.splitlines(), start=1):
        waiting = 0
        for match in _NUMBER.finditer(_VERSION.sub(" ", line)):
            units = _meanings(match["unit"] or "")
            word = match["unit"] if units else ""
            digits = match["number"].replace(",", "")
            decimals = len(digits.partition(".")[2])
            number = PrintedNumber(
                line_number,
                f"{match['number']} {word}".strip(),
                float(digits),
                0.5 * 10.0**-decimals,
                units,
            )
            found.append(number)
            if match["range"]:
                waiting += 1
            elif waiting:
                found[-1 - waiting : -1] = [_with_unit(n, number) for n in found[-1 - waiting : -1]]
                waiting = 0
    return found[:MAX_NUMBERS]


def _meanings(word: str) -> tuple[str, ...]:
    """Units that a word after a number may mean; MB has two meanings. Empty for other words."""
    if word.lower() in _RATIO_WORDS:
        return (RATIO,)
    unit = _COUNTED.get(word.lower()) or parse_unit(word)
    return (
        (unit, _BINARY.sub(lambda of: f"{of[0].upper()}i", unit))
        if _BINARY.match(unit)
        else (unit,) * bool(unit)
    )


def _with_unit(number: PrintedNumber, end: PrintedNumber) -> PrintedNumber:
    word = end.text.partition(" ")[2]
    text = f"{number.text} {word}".strip()
    return PrintedNumber(number.line, text, number.value, number.half_width, end.units)


def find_occurrences(
    numbers: Iterable[PrintedNumber], values: Sequence[DataValue]
) -> list[Occurrence]:
    """Compare each printed number with all values that can have its unit."""
    by_unit = grouped(((value.unit, value.is_unit_known), value) for value in values)
    arrays = {key: np.array([value.value for value in of]) for key, of in by_unit.items()}
    return [_occurrence(number, by_unit, arrays) for number in numbers]


def _occurrence(
    number: PrintedNumber,
    by_unit: Mapping[tuple[str, bool], Sequence[DataValue]],
    arrays: Mapping[tuple[str, bool], np.ndarray],
) -> Occurrence:
    compared = 0
    found: dict[str, DataValue] = {}
    for key, values in by_unit.items():
        converted = _in_units_of(number, *key, arrays[key])
        compared += len(values) if converted else 0
        for array in converted:
            near = np.abs(array - number.value) <= number.half_width * (1 + 1e-9)
            for place in np.flatnonzero(near).tolist():
                found.setdefault(values[place].words, values[place])
    known_first = sorted(found.values(), key=lambda value: not value.is_unit_known)
    return Occurrence(number, compared, tuple(known_first))


def _in_units_of(
    number: PrintedNumber, unit: str, is_unit_known: bool, values: np.ndarray
) -> list[np.ndarray]:
    """Values in the units that the number may have; empty if they have none of them."""
    if unit == RATIO:
        if RATIO in number.units:
            return [values]
        return [100 * np.abs(values - 1)] if PERCENT in number.units else []
    if RATIO in number.units:
        return []
    if not is_unit_known:
        return [values]
    if not number.units:
        return [values] if unit in ("1", "count") else []
    converted = []
    for printed in number.units:
        try:
            converted.append(values * conversion_factor(unit, printed))
        except RawperfError:
            continue
    return converted
