"""Numbers that a sentence has in words ("more than twice"), and words beside a number that say where
it comes from.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

SPREAD = 1.2
"""Factor by which a ratio may differ from a number in words, on either side: the limits of the word
twice in data/readings.yaml."""
_COUNTS = {
    name: float(number)
    for number, name in enumerate(
        ["two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"], start=2
    )
}
_FACTORS = (
    (r"twice|doubles?|doubled|twofold", 2.0),
    (r"triples?|tripled|threefold", 3.0),
    (r"half|halves?|halved", 1 / 2),
    (r"(?:a|one) third(?: of| more| less| higher| lower)", 1 / 3),
    (r"two thirds", 2 / 3),
    (r"(?:a|one) quarter(?: of| more| less| higher| lower)", 1 / 4),
    (r"three quarters", 3 / 4),
    *((f"{name} times", number) for name, number in _COUNTS.items()),
)
_BOUNDS = {
    "above": r"more than|over|above|at least|beyond",
    "below": r"less than|fewer than|under|below|at most|up to",
}
_NUMBER = re.compile(
    rf"\b(?:(?P<above>{_BOUNDS['above']}) |(?P<below>{_BOUNDS['below']}) )?"
    rf"(?:{'|'.join(f'(?P<f{k}>{words})' for k, (words, _) in enumerate(_FACTORS))})"
    r"\b(?!-| an? (?:second|minute|hour|day)\b)",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[.;:,(){}]")
_PRINTED = re.compile(r"\b(?:printed|prints|stated|states|claimed|claims)\b", re.IGNORECASE)
_MEASURED = re.compile(r"\b(?:measured|measures)\b", re.IGNORECASE)


@dataclass(frozen=True)
class NumberWord:
    """A ratio in words, as written, and the ratios for which a sentence may use it."""

    text: str
    low: float
    high: float

    def describes(self, low: float, high: float) -> bool:
        """Whether a ratio between these limits, or its inverse, may be called so.

        Half of the time is twice as fast, so that the direction is left to the sentence.
        """
        ends = [(low, high)]
        if low > 0:
            ends.append((1 / high, 1 / low))
        return any(a <= self.high and b >= self.low for a, b in ends)


def number_words(says: str) -> Iterator[NumberWord]:
    """Yield the ratios in words of a text."""
    for match in _NUMBER.finditer(" ".join(says.split())):
        factor = next(number for k, (_, number) in enumerate(_FACTORS) if match[f"f{k}"])
        low, high = factor / SPREAD, factor * SPREAD
        if match["above"]:
            low, high = factor, math.inf
        elif match["below"]:
            low, high = 0.0, factor
        yield NumberWord(match[0].lower(), low, high)


def wrong_origin(says: str, place: re.Match[str], *, measured: bool) -> str:
    """Return the word beside a number that calls it printed although it was measured, or measured
    although it is printed; "" without one.

    Only the clause of the number counts.
    """
    before = _CLAUSE.split(says[: place.start()])[-1]
    after = _CLAUSE.split(says[place.end() :])[0]
    found = (_PRINTED if measured else _MEASURED).search(f"{before} {after}")
    return found[0] if found else ""
