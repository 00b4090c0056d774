"""A claim: what all kinds have in common, and what a module of a kind defines.

A kind declares its fields, and says in one class: the relation at concrete levels (`instance`), its
linear rows for the reconstruction (`instance_rows`), the numbers that measured runs are compared by
(`numbers`), and its words (`relation_words` and others).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, KeysView, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, model_validator

from rawperf.core.model import Flag, Levels, Model, NonNegative, Number, Texts
from virtperf.core.levels import Level
from virtperf.core.numbers import NO_BREAK, interval, pretty
from virtperf.study.compared_numbers import ComparedNumber
from virtperf.study.constraints import Inequality
from virtperf.study.quantities import Expression, Instance, Quantity, Quotient, quantities_of
from virtperf.study.readings import Read, Readings

if TYPE_CHECKING:
    from virtperf.study.definition import Study

NEUTRAL_DIFFERENCE, NEUTRAL_RATIO = 0.0, 1.0
"""Value of equal sides, for a difference and for a ratio."""
_SHARED = frozenset(("value", "half_width", "low", "high", "margin", "word"))
"""Fields of all claims that only some kinds use."""


class Origin(Model):
    """The paper's claim that a hypothesis repeats."""

    study: str
    claim: str


class Claim(Model):
    """A claim of the paper, or an assumption of ours; docs/add-a-study.md documents `claims.yaml`.

    `low`, `high`: limits of the relation's number (level, ratio, difference or percent), implied by
        the printed precision.
    `margin`: relative margin of an equivalence or of linearity: one of the two is at most 1 +
        margin times the other.
    `sentences`: keys of the sentences that state the claim, if they state other claims too; a row
        of a table has one key.
    `taken_from`: the secondary source, if the paper itself was not available: a public quotation or
        report, or memory.
    `reading`: how vague words were turned into numbers, that of `word` first.
    `own_limits`: why the claim has limits of its own although data/readings.yaml has limits for a
        word of its wording.
    `origin`: of a hypothesis, the paper's claim that it repeats, if any; `repeats`: its text.
    `instances`, `assumed`, `line`: filled when the claim is loaded for a study.
    """

    takes: ClassVar[tuple[str, ...]] = ()
    """Which of `value`, `half_width`, `low`, `high`, `margin` and `word` the kind uses."""
    numbered: ClassVar[bool] = False
    """Whether the claim is about one number with limits."""
    is_level: ClassVar[bool] = False
    """Whether the number is a level of quantities, not a comparison."""
    prints_level: ClassVar[bool] = False
    """Whether the paper prints the number itself, a level."""
    of_reference: ClassVar[bool] = False
    """Whether the number is relative to another quantity."""
    in_percent: ClassVar[bool] = False
    """Whether the number is a change in per cent, not a ratio."""
    is_order: ClassVar[bool] = False
    """Whether the claim states which side is larger."""
    unit_cancels: ClassVar[bool] = False
    """Whether the claim compares conditions of one quantity, so that units of runs cancel."""
    neutral: ClassVar[float] = NEUTRAL_DIFFERENCE
    """Value of equal sides in the scale of the compared numbers."""
    tolerance_of_size: ClassVar[bool] = False
    """Whether the tolerance of measured runs is a share of the sides' size, not of a limit."""
    natural_least: ClassVar[float] = 0.0
    """Lower bound of the number for quantities that are not negative."""
    unit_of_percentages: ClassVar[str] = ""
    """Unit of the claim's number where all its quantities are percentages."""
    prints: ClassVar[str] = ""
    """What a claim without a number states; the name of the kind if empty."""

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    kind: str
    says: str = Field(min_length=5)
    exhibits: Texts = Field((), alias="about")
    sections: Texts = Field((), alias="section")
    ledger: Texts = ()
    for_each: dict[str, Levels] = {}
    value: Number | None = None
    half_width: NonNegative | None = None
    low: Number = -math.inf
    high: Number = math.inf
    margin: NonNegative = 0.0
    sentences: Texts = Field((), alias="sentence")
    default_on: Flag = Field(True, alias="enabled")
    conflicts: tuple[str, ...] = ()
    word: str = ""
    reading: str = ""
    own_limits: str = Field("", min_length=10)
    note: str = ""
    taken_from: Literal["", "quotation", "report", "memory"] = ""
    why: str = ""
    origin: Origin | None = Field(None, alias="from")
    repeats: str = Field("", alias="<repeats>")
    assumed: bool = Field(False, alias="<assumed>")
    instances: tuple[Instance, ...] = Field((), alias="<instances>")
    line: int = Field(1, alias="<line>")

    @classmethod
    def relation_fields(cls) -> frozenset[str]:
        """Fields that state the relation of a claim of this kind."""
        return frozenset((*cls.takes, *(cls.model_fields.keys() - Claim.model_fields.keys())))

    @model_validator(mode="before")
    @classmethod
    def _limits(cls, entry: object) -> object:
        """Derive the limits of a printed value from its half width.

        Limits given in the entry, or a word, take precedence.
        """
        if not isinstance(entry, dict) or "word" in entry or "value" not in cls.takes:
            return entry
        value, half = entry.get("value"), entry.get("half_width")
        if not isinstance(value, int | float) or not isinstance(half, int | float):
            return entry
        if not math.isfinite(value) or not math.isfinite(half):  # reported at the field
            return entry
        return {"low": value - half, "high": value + half, **entry}

    @model_validator(mode="after")
    def _uses_its_fields(self) -> Claim:
        given = {name for name in self.model_fields_set if getattr(self, name) not in ("", None)}
        if unused := (given & _SHARED).difference(self.takes):
            raise ValueError(f"{self.kind} does not use {', '.join(sorted(unused))}")
        if self.word and (twice := {"low", "high", "margin"} & self.model_fields_set):
            raise ValueError(f"word sets the limits: omit {', '.join(sorted(twice))}")
        return self

    # ---- relations at concrete levels

    @abstractmethod
    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        """The relation at these levels of `for_each`; raises `ValueError` for unknown names."""

    @abstractmethod
    def compared_words(self) -> str:
        """What the claim compares, in the words of its fields."""

    def expand(self, study: Study) -> tuple[Instance, ...]:
        """Relations of the claim, one per combination of the levels of `for_each`.

        Raises `ValueError` for names that the study does not define, and for a claim that compares
        nothing: equal sides, repeated or unsorted levels, `over` or `for_each` without effect.
        """
        each = self.for_each
        combos = [dict(zip(each, combo, strict=True)) for combo in product(*each.values())]
        instances = tuple(self.instance(study, also) for also in combos)
        if len(set(instances)) < len(instances):
            raise ValueError(
                f"for_each repeats the same relation: give each level of {', '.join(each)} once, "
                "and not in every quantity too"
            )
        if all(len(set(instance.parts)) < len(instance.parts) for instance in instances):
            parts = instances[0].parts
            twice = next(part for part in parts if parts.count(part) > 1)
            raise ValueError(f"{twice.terms[0][1].key()} is compared with itself")
        return instances

    # ---- limits, and the readings of words

    def read(self, readings: Readings) -> Claim:
        """The claim with the limits of its word.

        Raises `ValueError`: an unknown word, a kind that does not accept it, a number that is
        missing or not accepted.
        """
        if not self.word:
            return self
        read = self.word_limits(readings)
        text = "; ".join(filter(None, (read.text, self.reading)))
        return self.model_copy(update={**self._limits_of(read), "reading": text})

    def word_limits(self, readings: Readings) -> Read:
        """Limits of the claim's word; raises as `read`."""
        if readings[self.word].of == "number":
            return self._number_limits(readings)
        if self.value is not None:
            raise readings.takes_no_number(self.word, self.value)
        return self._size_limits(readings, *readings.limits(self.word))

    def _number_limits(self, readings: Readings) -> Read:
        """Limits of a word about a printed number."""
        raise self._word_not_allowed()

    def _size_limits(self, readings: Readings, low: float, high: float) -> Read:
        """Limits of a word that gives a size relative to a reference, or a direction."""
        raise self._word_not_allowed()

    def _word_not_allowed(self) -> ValueError:
        return ValueError(f"the word {self.word!r} is not allowed in a claim of kind {self.kind}")

    def _limits_of(self, read: Read) -> dict[str, Any]:
        return {"low": read.low, "high": read.high}

    @property
    def limits_by_hand(self) -> bool:
        """Whether its limits follow neither from a word nor from the printed digits."""
        if self.word or not {"low", "high", "margin"} & self.model_fields_set:
            return False
        if self.value is None or self.half_width is None:
            return True
        return (self.low, self.high) != (
            self.value - self.half_width,
            self.value + self.half_width,
        )

    def words_are_read(self, readings: Readings) -> None:
        """Check that a word with a common reading has no other limits here; raises `ValueError`."""
        words = readings.words_in(self.says, self.reading) if self.limits_by_hand else []
        if words and not self.own_limits:
            raise ValueError(
                f"limits by hand, but data/readings.yaml has limits for {words[0]!r}: set word, or "
                "own_limits with the reason for other limits"
            )
        if self.own_limits and not words:
            raise ValueError(
                "own_limits: no limits by hand for a word of data/readings.yaml; omit it"
            )

    def consistent(self) -> None:
        """Check that the claim's numbers are consistent; raises `ValueError`."""
        outside = (
            self.value is not None
            and self.half_width is not None
            and not self.low <= self.value <= self.high
        )
        if self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")
        if outside:
            raise ValueError(
                f"the limits {self.low:g} to {self.high:g} exclude the printed value {self.value}"
            )

    @property
    def n_places(self) -> int:
        """Number of places in the paper that state the claim: sentences if named, else sections.

        The rows of a table count as one place.
        """
        keys = {key.split(" row ")[0] for key in self.sentences} or set(self.sections)
        return max(1, len(keys))

    @property
    def coefficients(self) -> Mapping[str, float]:
        """Printed numbers beside `value`, by their field: those of a rule."""
        return {}

    @property
    def named_levels(self) -> Sequence[Level]:
        """Levels of a factor that the claim names beside those of its quantities."""
        return ()

    # ---- constraints

    def rows(self, study: Study) -> list[Inequality]:
        """Linear rows; `study` gives the resolution that a strict order must exceed."""
        return [row for instance in self.instances for row in self.instance_rows(study, instance)]

    @abstractmethod
    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        """Linear rows of one relation."""

    def mean_of(self, instance: Instance) -> tuple[Quotient, ...]:
        """Quotients of which the first part is the mean, in per cent; empty for other relations.

        No linear relation ties a mean of quotients to its parts: the ranges of the parts limit it.
        """
        return ()

    def stated_number(self, instance: Instance) -> Expression | Quotient | None:
        """The number of a relation that other claims can limit; None if there is no single one."""
        return None

    def of_quotient(self, quotient: float) -> float:
        """The claim's number for a value of its quotient."""
        return quotient

    @property
    def stated_limits(self) -> tuple[float, float] | None:
        """Lowest and highest value of `stated_number` by the claim; None if it has no limits."""
        return None

    # ---- measured runs

    @abstractmethod
    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        """Yield the numbers of one relation that depend on measurements."""

    @property
    def has_tolerance(self) -> bool:
        """Whether the limits are the tolerance of a printed number ("1.18", "about 15"), or of a
        plain equality, and not those of a direction.
        """
        if self.value is None:
            return False
        if self.word:
            return -math.inf < self.low < self.value < self.high < math.inf
        if self.half_width is None:
            return False
        printed = self.value - self.half_width, self.value + self.half_width
        return bool(np.allclose((self.low, self.high), printed, rtol=1e-9, atol=1e-12))

    def shows_estimate(self, n_numbers: int) -> bool:
        """Whether one compared number, of `n_numbers`, is the claim's own."""
        return self.numbered

    @property
    def quantities(self) -> KeysView[Quantity]:
        """Quantities in its relations, in order of first occurrence."""
        return quantities_of(part for instance in self.instances for part in instance.parts)

    # ---- words

    def unit_suffix(self, study: Study) -> str:
        """Unit suffix of percentages (`` %``) and their differences (`` points``), else ""; other
        units are part of the claim's wording.
        """
        names = {q.name for q in self.quantities}
        percent = bool(names) and all(study.quantities[name].unit.startswith("%") for name in names)
        return (
            f"{NO_BREAK}{self.unit_of_percentages}" if percent and self.unit_of_percentages else ""
        )

    def printed_number(self, unit: str = "") -> str:
        """The printed number with its rounding interval, or what is stated without a number."""
        limits = interval(self.low, self.high, unit)
        if self.value is None:
            return self.printed_relation() if limits == "anything" else limits
        shown = f"{pretty(self.value)}{unit}"
        exact = self.low == self.high == self.value
        if exact or limits == "anything":
            return shown
        if self.word and not self.low <= self.value <= self.high:  # "almost 17" is less than 17
            return f"{self.word} {shown} (read as {limits})"
        # limits that round to the same number are shown as a half-width: 22,990 (±0.5)
        near = pretty(self.low) == pretty(self.high)
        return (
            f"{shown} (±{pretty((self.high - self.low) / 2)}{unit})"
            if near
            else f"{shown} ({limits})"
        )

    def printed_relation(self) -> str:
        """What a claim without a number states."""
        return self.prints or self.kind

    def limit_words(self) -> str:
        """The limits of the claim's number."""
        return interval(self.low, self.high, " %" if self.in_percent else "")

    def implied_words(self, low: float, high: float, unit: str, *, single_pair: bool) -> str:
        """Range of the claim's number that other claims imply; not both ends are infinite.

        `single_pair` False: the others imply the opposite for one of several pairs.
        """
        return interval(low, high, unit)

    @abstractmethod
    def relation_words(self, study: Study, instance: Instance) -> str:
        """One relation, with the levels of its quantities."""


def unit_words(study: Study, instance: Instance) -> str:
    """Unit of the first quantity of a relation, as a suffix."""
    terms = instance.parts[0].terms
    unit = study.quantities[terms[0][1].name].unit if terms else ""
    return NO_BREAK + unit if unit not in ("", "1", "count") else ""


def expression_words(expression: Expression, study: Study) -> str:
    """``2 × a + b − c``."""
    text = ""
    for coefficient, quantity in expression.terms:
        size = "" if abs(coefficient) == 1 else f"{pretty(abs(coefficient))} × "
        sign = (" − " if coefficient < 0 else " + ") if text else ("−" if coefficient < 0 else "")
        text += f"{sign}{size}{study.show(quantity)}"
    return text


def part_words(study: Study, instance: Instance) -> list[str]:
    """Each part of a relation in words."""
    return [expression_words(part, study) for part in instance.parts]


def bracketed(part: str) -> str:
    """A sum in brackets."""
    return f"({part})" if " + " in part or " − " in part else part
