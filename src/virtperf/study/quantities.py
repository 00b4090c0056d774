"""Quantities at factor levels, linear expressions of them, and instances of claims.

``throughput[system=zvm, guests=12]`` is a quantity; omitted factors take their default.
``response_time[system=xen, guests=9] - response_time[system=xen, guests=6]`` is an expression.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, KeysView, Mapping
from dataclasses import dataclass

from virtperf.core.levels import Level, level_text, parse_level

_QUANTITY = re.compile(r"\s*([a-z][a-z0-9_]*)\s*(?:\[([^\[\]]*)\])?\s*")
_TERM = re.compile(
    r"\s*([+-]?)\s*(?:(\d+(?:\.\d+)?)\s*\*?\s*)?([a-z][a-z0-9_]*\s*(?:\[[^\[\]]*\])?)\s*"
)


@dataclass(frozen=True)
class Quantity:
    """A named quantity at one level of every factor, in the study's order of factors."""

    name: str
    at: tuple[tuple[str, Level], ...]

    def __lt__(self, other: Quantity) -> bool:
        """Order by name and levels, numbers before strings: a factor may have both."""
        return self._place() < other._place()

    def _place(self) -> tuple[str, list[tuple[str, bool, Level]]]:
        return self.name, [(factor, isinstance(level, str), level) for factor, level in self.at]

    def level(self, factor: str) -> Level:
        return dict(self.at)[factor]

    def moved(self, changes: Mapping[str, Level]) -> Quantity:
        """The same quantity with changed levels of some factors."""
        return Quantity(
            self.name, tuple((factor, changes.get(factor, level)) for factor, level in self.at)
        )

    def key(self) -> str:
        """Canonical text for files, with all factors."""
        return f"{self.name}[{', '.join(f'{factor}={level_text(level)}' for factor, level in self.at)}]"


@dataclass(frozen=True)
class Expression:
    """A linear combination of quantities: `terms` holds (coefficient, quantity)."""

    terms: tuple[tuple[float, Quantity], ...]

    def minus(self, *others: Expression) -> Expression:
        """The difference of this expression and others."""
        return Expression(self.terms + tuple((-c, q) for other in others for c, q in other.terms))


def quantities_of(parts: Iterable[Expression]) -> KeysView[Quantity]:
    """Quantities in expressions, in order of first occurrence."""
    return dict.fromkeys(q for part in parts for _, q in part.terms).keys()


def split_quantity(text: str) -> tuple[str, dict[str, Level]]:
    """Parse ``name[factor=level, ...]`` to name and explicit levels; raises `ValueError`."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise ValueError(f"invalid quantity {text!r}: expected name[factor=level, ...]")
    levels: dict[str, Level] = {}
    for part in filter(None, (p.strip() for p in (match[2] or "").split(","))):
        factor, equals, level = part.partition("=")
        if not equals:
            raise ValueError(f"{part!r} in {text!r} is not factor=level")
        if factor.strip() in levels:
            raise ValueError(f"{text!r} gives {factor.strip()} twice")
        levels[factor.strip()] = parse_level(level)
    return match[1], levels


def split_expression(text: str) -> list[tuple[float, str]]:
    """Parse a sum to (coefficient, quantity text) pairs; raises `ValueError` on a syntax error."""
    terms: list[tuple[float, str]] = []
    position = 0
    while position < len(text.rstrip()):
        match = _TERM.match(text, position)
        if match is None or (terms and not match[1]):
            raise ValueError(
                f"{text!r}: expected + or - and a quantity at character {position + 1}"
            )
        terms.append(((-1.0 if match[1] == "-" else 1.0) * float(match[2] or 1), match[3]))
        position = match.end()
    if not terms:
        raise ValueError("an empty expression")
    return terms


@dataclass(frozen=True)
class Quotient:
    """The quotient of two linear combinations."""

    of: Expression
    to: Expression


def ratio_of_percent(change: float) -> float:
    """The ratio of two sides that differ by this change in per cent."""
    return 1 + change / 100


def percent_of_ratio(ratio: float) -> float:
    """The change in per cent between two sides with this ratio."""
    return 100 * (ratio - 1)


@dataclass(frozen=True)
class Instance:
    """A concrete relation of a claim; a claim with `for_each` has one per combination of levels.

    `parts`: value, range: (of,); ratio, difference, percent_change, equivalence: (of, to);
        ordering: ascending; argmax, argmin: the extreme, then the others; monotone, linear,
        concave, rule: along the axis; sum: the total, then its parts; relative_mean: the mean, then
        each part and its reference.
    `axis`: the axis positions of `parts` on numeric levels.
    """

    parts: tuple[Expression, ...]
    axis: tuple[float, ...] = ()
