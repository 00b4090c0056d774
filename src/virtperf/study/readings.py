"""Numeric readings of vague words, common to all studies: `data/readings.yaml`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf, isfinite
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from rawperf.core.errors import Report, StudyError, did_you_mean, raise_problem
from rawperf.core.model import Model, NonNegative, Positive, load_model
from virtperf.core.grouping import grouped
from virtperf.core.params import WordReading

_DIRECTION_WORDS = frozenset(
    """a an the more less better higher lower increase increases decrease decreases degradation
    decline exceeds degraded""".split()  # noqa: SIM905 - a list of words, not of literals
)
"""Words of a phrase that give a direction, not a size: "slightly" is the size in "slightly more"."""
_NO_SIZE = frozenset(["no", "not", "does", "without", "only", "than", "two", "times"])
_IN_A_READING = re.compile(
    r"(?:^|[;,.]) *([^;,.]*?) (?:means?|has no number|is (?:said|read|taken))\b"
)
"""Words explained in a claim's `reading`: the part before "means" in "slightly means ..."."""


def _tokens(text: str) -> list[str]:
    return re.findall(r"[a-z0-9]+", text.lower())


def _size_of(phrase: str) -> tuple[str, ...]:
    """The part of a phrase that stands for a size; the whole phrase if no part does alone."""
    tokens = _tokens(phrase)
    first = next((k for k, t in enumerate(tokens) if t not in _DIRECTION_WORDS), 0)
    last = next((k for k in range(len(tokens), 0, -1) if tokens[k - 1] not in _DIRECTION_WORDS), 0)
    core = tokens[first:last]
    return tuple(tokens if _NO_SIZE.issuperset(core) else core)


def _ends(value: Any) -> Any:
    """Normalise limits: a factor f means 1/f to f; null means unbounded."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not 1 <= value < inf:
            raise ValueError("a single factor f means 1/f to f, and must be at least 1")
        return {"low": 1 / value, "high": float(value)}
    if isinstance(value, list) and len(value) == 2:
        return {
            name: end for name, end in zip(("low", "high"), value, strict=True) if end is not None
        }
    return value


class ReadingLimits(Model):
    """Interval of factors or numbers; a missing end is unbounded."""

    low: NonNegative = 0.0
    high: Positive | None = None

    @model_validator(mode="after")
    def _ordered(self) -> ReadingLimits:
        if not self.low <= self.top:
            raise ValueError(f"the lower limit {self.low:g} is above the upper limit {self.top:g}")
        if self.low == 0 and self.high is None:
            raise ValueError("no limits: both ends are open")
        return self

    @property
    def top(self) -> float:
        """The upper limit, infinite if missing."""
        return inf if self.high is None else self.high

    def within(self, other: ReadingLimits) -> bool:
        """Whether this interval is a subset of `other`."""
        return other.low <= self.low and self.top <= other.top

    def inverse(self) -> ReadingLimits:
        """The reciprocal interval, 1/high to 1/low."""
        low = 0.0 if self.high is None else 1 / self.high
        return ReadingLimits.model_construct(low=low, high=1 / self.low if self.low else None)


_Limits = Annotated[ReadingLimits, BeforeValidator(_ends)]


class Word(Model):
    """A vague word with its limits under every reading.

    `of`: limits are factors of the claim's printed number, or of the reference it compares with.
    `number`: the number that the word denotes; limits are then limits of that number.
    `also`: synonyms.
    `uses`: numbers that papers print and describe by this word, in the form of the limits. They
        show what the word can mean, so every reading must include them.
    """

    of: Literal["number", "reference"]
    number: Positive | None = None
    also: tuple[str, ...] = ()
    uses: tuple[Positive, ...] = ()
    strict: _Limits
    default: _Limits
    lenient: _Limits
    why: str = Field(min_length=10)

    @model_validator(mode="after")
    def _nested(self) -> Word:
        if not (self.strict.within(self.default) and self.default.within(self.lenient)):
            raise ValueError("the limits of each reading must include those of the stricter one")
        if problem := _excluded_use(self.uses, self.strict):
            raise ValueError(problem)
        return self


def _excluded_use(uses: Iterable[float], strict: ReadingLimits) -> str:
    """Error text if the strict reading excludes a paper's own use of the word, else ""."""
    excluded = next((use for use in uses if not strict.low <= use <= strict.top), None)
    if excluded is None:
        return ""
    limits = limits_in_words(strict.low or -inf, strict.top)
    return f"the strict reading, {limits}, excludes {excluded:g}, a number under uses"


class _Inverse(Model):
    inverse: str
    also: tuple[str, ...] = ()
    uses: tuple[Positive, ...] = ()
    why: str = Field(min_length=10)


_Entry = Annotated[
    Annotated[_Inverse, Tag("inverse")] | Annotated[Word, Tag("word")],
    Discriminator(
        lambda entry: "inverse" if isinstance(entry, Mapping) and "inverse" in entry else "word"
    ),
]


class ReadingsFile(Model):
    """Schema of `readings.yaml`."""

    words: dict[str, _Entry]


@dataclass(frozen=True)
class Read:
    """Limits that a word implies in one claim, in the claim's unit, and their text."""

    low: float
    high: float
    text: str


@dataclass(frozen=True)
class Readings:
    """All words under one reading, including their synonyms."""

    reading: WordReading
    words: Mapping[str, Word]

    def __getitem__(self, name: str) -> Word:
        """The word; raises `ValueError` with close matches if it is unknown."""
        if name not in self.words:
            raise ValueError(
                f"data/readings.yaml has no word {name!r}; {did_you_mean(name, self.words)}"
            )
        return self.words[name]

    def limits(self, name: str) -> tuple[float, float]:
        """The word's limits under this reading, as factors of the number or reference."""
        word = self[name]
        limits: ReadingLimits = getattr(word, self.reading)
        return limits.low / (word.number or 1.0), limits.top / (word.number or 1.0)

    def words_in(self, says: str, reading: str = "") -> list[str]:
        """Words with a size that a claim's wording uses, or that its `reading` explains, in order.

        Words that leave nothing open (a direction, "at most") do not count. Of overlapping phrases
        the longest counts: "very close to", not "close to".
        """
        return [
            name
            for text in (says, *_IN_A_READING.findall(reading))
            for name in self._words_in(_tokens(text))
        ]

    def _words_in(self, tokens: list[str]) -> Iterator[str]:
        at = 0
        while at < len(tokens):
            found = [
                (len(size), name)
                for name, size in self._sizes_by_token.get(tokens[at], ())
                if tuple(tokens[at : at + len(size)]) == size
            ]
            length, name = max(found, key=lambda one: one[0], default=(1, ""))
            if name and self.limits(name) not in ((1.0, inf), (0.0, 1.0)):
                yield name
            at += length

    @cached_property
    def _sizes(self) -> dict[str, tuple[str, ...]]:
        return {name: _size_of(name) for name in self.words}

    @cached_property
    def _sizes_by_token(self) -> dict[str, list[tuple[str, tuple[str, ...]]]]:
        """Words with their sizes, by the first token of the size."""
        return grouped((size[0], (name, size)) for name, size in self._sizes.items() if size)

    def number_limits(
        self, name: str, value: float | None, room: float = 0.0, unit: str = ""
    ) -> Read:
        """Limits of a word about a number.

        `value` is the number, `room` the half width of its printed precision; `unit` is for the
        text.

        Raises `ValueError`: an unknown word, one that takes no number, a missing number.
        """
        word, (low, high) = self[name], self.limits(name)
        if word.of != "number" and value is not None:
            raise self.takes_no_number(name, value)
        if not value:
            raise ValueError(f"the word {name!r} needs a number: set value, not 0")
        least, most = low * abs(value) or -inf, high * abs(value)
        if value < 0:  # a decrease: at most 10 % is -10 % or more
            least, most = -most, -least
        least, most = (
            min(least, value - room) if room else least,
            max(most, value + room) if room else most,
        )
        shown = name if word.number == value else f"{name} {value:g}{unit}"
        return Read(least, most, f"{shown}: {limits_in_words(least, most, unit)}")

    @staticmethod
    def takes_no_number(name: str, value: float) -> ValueError:
        """Error of a word about a reference in a claim with a number."""
        return ValueError(f"the word {name!r} takes no number, but the claim has value {value:g}")


def limits_in_words(low: float, high: float, unit: str = "") -> str:
    """``at least 2``, ``at most 3 %``, ``2 to 3``."""
    if not isfinite(high):
        return f"at least {low:.5g}{unit}"
    return f"at most {high:.5g}{unit}" if not isfinite(low) else f"{low:.5g} to {high:.5g}{unit}"


def load_readings(
    path: Path, reading: WordReading = "default", report: Report = raise_problem
) -> Readings:
    """Load and validate `readings.yaml`; raises `StudyError` with file and line."""
    file, document = load_model(path, ReadingsFile, report)
    words: dict[str, Word] = {}
    for name, entry in sorted(file.words.items(), key=lambda item: isinstance(item[1], _Inverse)):
        word = entry
        if isinstance(word, _Inverse):
            of = file.words.get(word.inverse)
            if not isinstance(of, Word):
                known = [n for n, e in file.words.items() if isinstance(e, Word)]
                problem = (
                    f"{name!r} is the inverse of {word.inverse!r}, which has no limits of its own"
                )
                report(
                    document.error(
                        problem, "words", name, "inverse", remedy=did_you_mean(word.inverse, known)
                    )
                )
                continue
            inverse = {each: getattr(of, each).inverse() for each in get_args(WordReading)}
            if problem := _excluded_use(word.uses, inverse["strict"]):
                report(document.error(problem, "words", name, "uses"))
            number = None if of.number is None else 1 / of.number
            word = Word.model_construct(
                of=of.of, number=number, also=word.also, why=word.why, **inverse
            )
        for each in (name, *word.also):
            if each in words:
                report(document.error(f"duplicate word {each!r}", "words", name))
            words[each] = word
    return Readings(reading, words)


def load_repository_readings(study: Path, reading: WordReading) -> Readings:
    """Load the `readings.yaml` of a study's repository, two levels above data/published/<study>.

    Raises as `load_readings`.
    """
    path = study.parent.parent / "readings.yaml"
    try:
        return load_readings(path, reading)
    except StudyError as err:  # name the file: it is in another folder than the claims
        raise err.copy_as(StudyError, file=path) from None
