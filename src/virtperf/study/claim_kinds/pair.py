"""Claims that compare two sides, `of` and `to`: `ratio`, `percent_change`, `difference`, `equivalence`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, ClassVar, Literal, final

from pydantic import model_validator

from virtperf.core.levels import Level
from virtperf.core.numbers import NO_BREAK, interval, pretty
from virtperf.study.claim_kinds.base import NEUTRAL_RATIO, Claim, bracketed, part_words, unit_words
from virtperf.study.claim_kinds.number import NumberClaim
from virtperf.study.compared_numbers import ComparedNumber, combine, level_numbers, terms_of
from virtperf.study.constraints import Inequality, limit_rows
from virtperf.study.quantities import (
    Expression,
    Instance,
    Quotient,
    percent_of_ratio,
    ratio_of_percent,
)
from virtperf.study.readings import Read, Readings, limits_in_words

if TYPE_CHECKING:
    from virtperf.study.definition import Study


SMALL_SHARE = 0.1  # a quotient up to it is a percentage in words


class PairClaim(Claim):
    """A claim about two sides."""

    of: str
    to: str

    def instance(self, study: Study, also: Mapping[str, Level]) -> Instance:
        return Instance((study.expression(self.of, also), study.expression(self.to, also)))

    def compared_words(self) -> str:
        return f"{self.of} with {self.to}"


class QuotientClaim(PairClaim):
    """A claim about the quotient of two sides."""

    unit_cancels = True
    neutral = NEUTRAL_RATIO

    @property
    def quotient_limits(self) -> tuple[float, float]:
        """Lowest and highest quotient."""
        return self.low, self.high

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return limit_rows(self.id, *self.quotient_limits, *instance.parts)

    def stated_number(self, instance: Instance) -> Quotient:
        return Quotient(*instance.parts)

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        of, to = map(terms_of, instance.parts)
        if of != to:
            yield ComparedNumber(of, *self.quotient_limits, under=to)

    def implied_words(self, low: float, high: float, unit: str, *, single_pair: bool) -> str:
        if high <= SMALL_SHARE and not unit:
            return interval(100 * low, 100 * high, f"{NO_BREAK}%")
        words = super().implied_words(low, high, unit, single_pair=single_pair)
        return f"{words} times this" if self.value == NEUTRAL_RATIO else words

    def relation_words(self, study: Study, instance: Instance) -> str:
        of, to = map(bracketed, part_words(study, instance))
        return f"{of} ÷ {to}: {interval(*self.quotient_limits)}"


SYMMETRIC = 1e-3
"""Tolerance of the product of a symmetric word's limits, which are printed decimals."""


class MarginClaim(Claim):
    """A claim with a margin, or a word for it."""

    takes = ("margin", "word")
    needs_margin: ClassVar[bool] = False
    """Whether the margin, or a word for it, must be given; otherwise it is 0."""

    @model_validator(mode="after")
    def _has_margin(self) -> MarginClaim:
        if self.needs_margin and not self.word and "margin" not in self.model_fields_set:
            raise ValueError(f"{self.kind} needs margin")
        return self

    @property
    def margin_factors(self) -> tuple[float, float]:
        """Lower and upper factor of the margin: a is within it of b iff b is within it of a."""
        return 1 / (1 + self.margin), 1 + self.margin

    def _size_limits(self, readings: Readings, low: float, high: float) -> Read:
        if isfinite(high) and abs(low * high - 1) < SYMMETRIC:
            return Read(low, high, f"{self.word}: within {100 * (high - 1):.4g} %")
        raise self._word_not_allowed()

    def _limits_of(self, read: Read) -> dict[str, Any]:
        return {"margin": read.high - 1}

    def limit_words(self) -> str:
        return f"within {100 * self.margin:.4g} %"


@final
class RatioClaim(QuotientClaim, NumberClaim):
    """``low <= of / to <= high``."""

    of_reference = True

    kind: Literal["ratio"]

    def _size_limits(self, readings: Readings, low: float, high: float) -> Read:
        words = limits_in_words(low or -inf, high)
        return Read(low or -inf, high, f"{self.word}: {words} times the other")


@final
class PercentChangeClaim(QuotientClaim, NumberClaim):
    """``low <= 100 (of / to - 1) <= high``."""

    of_reference = True
    in_percent = True
    natural_least = -100.0
    word_is_number = False  # "twice" is a change of 100 %, not of 2 %

    kind: Literal["percent_change"]

    @property
    def quotient_limits(self) -> tuple[float, float]:
        return ratio_of_percent(self.low), ratio_of_percent(self.high)

    def of_quotient(self, quotient: float) -> float:
        return percent_of_ratio(quotient)

    def _size_limits(self, readings: Readings, low: float, high: float) -> Read:
        low, high = (100 * (low - 1) if low else -inf), 100 * (high - 1)
        return Read(low, high, f"{self.word}: {limits_in_words(low, high, ' %')}")

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        of, to = map(terms_of, instance.parts)
        if of != to:
            yield ComparedNumber(
                of, self.low, self.high, under=to, factor=100.0, shift=-100.0, unit=" %"
            )

    def unit_suffix(self, study: Study) -> str:
        return f"{NO_BREAK}%"

    def implied_words(self, low: float, high: float, unit: str, *, single_pair: bool) -> str:
        if high < 0:
            return f"{interval(-high, -low, unit)} less"
        return super().implied_words(low, high, unit, single_pair=single_pair)

    def relation_words(self, study: Study, instance: Instance) -> str:
        of, to = map(bracketed, part_words(study, instance))
        change = interval(self.low, self.high, f"{NO_BREAK}%")
        return f"100 × ({of} ÷ {to} − 1): {change}"


@final
class DifferenceClaim(PairClaim, NumberClaim):
    """``low <= of - to <= high``."""

    natural_least = -inf
    word_is_number = False
    unit_of_percentages = "points"

    kind: Literal["difference"]

    def instance_rows(self, study: Study, instance: Instance) -> list[Inequality]:
        return limit_rows(self.id, self.low, self.high, self.stated_number(instance))

    def stated_number(self, instance: Instance) -> Expression:
        first, second = instance.parts
        return first.minus(second)

    def numbers(self, study: Study, instance: Instance) -> Iterator[ComparedNumber]:
        first, second = map(terms_of, instance.parts)
        terms = combine((1.0, first), (-1.0, second))
        yield from level_numbers(study, [(terms, self.low, self.high)])

    def relation_words(self, study: Study, instance: Instance) -> str:
        first, second = part_words(study, instance)
        limits = interval(self.low, self.high, unit_words(study, instance))
        return f"{first} − {bracketed(second)}: {limits}"


@final
class EquivalenceClaim(QuotientClaim, MarginClaim):
    """``of / to`` within a margin: at most 1 + margin, and so its reciprocal."""

    needs_margin = True

    kind: Literal["equivalence"]

    @property
    def quotient_limits(self) -> tuple[float, float]:
        return self.margin_factors

    @property
    def stated_limits(self) -> tuple[float, float]:
        return self.margin_factors

    @property
    def has_tolerance(self) -> bool:
        return self.margin == 0

    def shows_estimate(self, n_numbers: int) -> bool:
        return True

    def printed_relation(self) -> str:
        return f"equal within {pretty(100 * self.margin)}{NO_BREAK}%" if self.margin else "equal"

    def implied_words(self, low: float, high: float, unit: str, *, single_pair: bool) -> str:
        return f"a ratio of {interval(low, high, unit)}"
