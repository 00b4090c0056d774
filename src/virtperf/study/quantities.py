"""Quantities at factor levels, linear expressions of them, and instances of claims.

``throughput[system=zvm, guests=12]`` is a quantity; omitted factors take their default.
``response_time[system=xen, guests=9] - response_time[system=xen, guests=6]`` is an expression.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise, product
from typing import TYPE_CHECKING

from virtperf.core.levels import Level, level_text, parse_level

if TYPE_CHECKING:
    from virtperf.study.claims import Claim
    from virtperf.study.definition import Study

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
class Instance:
    """A concrete relation of a claim; a claim with `for_each` has one per combination of levels.

    `parts`: value, range: (of,); ratio, difference, percent_change, equivalence: (of, to);
        ordering: ascending; argmax, argmin: the extreme, then the others; monotone, linear,
        concave, rule: along the axis; sum: the total, then its parts; relative_mean: the mean, then
        each part and its reference.
    `axis`: the axis positions of `parts` for linear, concave and rule.
    """

    parts: tuple[Expression, ...]
    axis: tuple[float, ...] = ()


def expand_instances(study: Study, claim: Claim, needs: tuple[str, ...]) -> tuple[Instance, ...]:
    """Expand a claim to its instances; `needs` are the fields that its kind requires.

    Raises `ValueError` for names that the study does not define, and for a claim that compares
    nothing: equal sides, repeated or unsorted levels, `over` or `for_each` without effect.
    """
    each = claim.for_each
    combos = [dict(zip(each, combo, strict=True)) for combo in product(*each.values())]
    instances = tuple(_instance(study, claim, needs, also) for also in combos)
    if len(set(instances)) < len(instances):
        raise ValueError(
            f"for_each repeats the same relation: give each level of {', '.join(each)} once, and "
            "not in every quantity too"
        )
    if all(len(set(instance.parts)) < len(instance.parts) for instance in instances):
        parts = instances[0].parts
        twice = next(part for part in parts if parts.count(part) > 1)
        raise ValueError(f"{twice.terms[0][1].key()} is compared with itself")
    if "levels" in needs and claim.kind not in ("argmax", "argmin"):
        _check_sorted(instances[0].axis, ascending=claim.kind == "concave")
    return instances


def _check_sorted(axis: tuple[float, ...], ascending: bool) -> None:
    steps = [later > earlier for earlier, later in pairwise(axis)]
    if any(steps) and not all(steps):
        raise ValueError("levels are not in order: sort them")
    if ascending and not all(steps):
        raise ValueError("levels must be ascending")


def _instance(
    study: Study, claim: Claim, needs: tuple[str, ...], also: Mapping[str, Level]
) -> Instance:
    kind = claim.kind
    if kind == "relative_mean":
        at = (also, {**also, **claim.relative_to})
        pairs = (study.expression(part, levels) for part in claim.parts for levels in at)
        return Instance((study.expression(claim.of, also), *pairs))
    if "levels" not in needs:
        texts = {"ordering": claim.order, "sum": (claim.of, *claim.parts)}.get(
            kind, tuple(getattr(claim, name) for name in ("of", "to") if name in needs)
        )
        return Instance(tuple(study.expression(text, also) for text in texts))
    levels = claim.levels
    if kind in ("argmax", "argmin"):
        levels = tuple(sorted(levels, key=lambda level: level != claim.at))  # the extreme first
    parts = tuple(study.expression(claim.of, {**also, claim.over: level}) for level in levels)
    numeric = all(isinstance(level, int | float) for level in levels)
    return Instance(parts, tuple(float(level) for level in levels) if numeric else ())
