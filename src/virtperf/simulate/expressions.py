"""Small arithmetic expressions, read into a syntax tree that is checked node by node and evaluated
over arrays.

Every value is an array with two axes, time and entities; either has length 1 where a value does not
vary along it. A value knows by name over which times and which entities it varies, so that two of
them are only combined where they belong together.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Protocol

import numpy as np

LONGEST = 300
"""Characters of one expression: what is longer is better split and named."""

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
}
_NODES = (
    ast.Constant,
    ast.Name,
    ast.Load,
    ast.BinOp,
    ast.UnaryOp,
    ast.Compare,
    ast.Call,
    *_OPERATORS,
)


class ExpressionError(ValueError):
    """An expression that can't be read or evaluated, in one clause."""


class UnknownTruth(ExpressionError):
    """A quantity that the paper's text gives no value of under a run's condition."""


@dataclass(frozen=True, slots=True)
class Value:
    """Numbers of shape (m or 1, e or 1) over times and entities; "" where they do not vary along
    one.
    """

    data: np.ndarray
    times: str = ""
    entities: str = ""

    @property
    def number(self) -> float:
        """The number of a value that does not vary."""
        if self.times or self.entities:
            raise ExpressionError(
                f"one number is needed here, not one for each of {self.times or self.entities}"
            )
        return float(self.data[0, 0])


class Names(Protocol):
    """What an expression may name."""

    def value(self, name: str) -> Value:
        """The value of a name; raises `ExpressionError`."""

    def call(self, name: str, arguments: Sequence[ast.expr]) -> Value:
        """The result of a function; raises `ExpressionError`."""


def constant(number: float) -> Value:
    """A value that does not vary."""
    return Value(np.full((1, 1), float(number)))


def combine(function: Callable[..., Any], *values: Value) -> Value:
    """An elementwise function of values that vary over the same times and entities, or not at
    all.
    """
    axes = []
    for axis, way in (("times", "at(...)"), ("entities", "together(...)")):
        names = dict.fromkeys(name for v in values if (name := getattr(v, axis)))
        if len(names) > 1:
            raise ExpressionError(
                f"mixes the {axis} {' and '.join(names)}; {way} brings one to the other"
            )
        axes.append(next(iter(names), ""))
    return Value(np.asarray(function(*(v.data for v in values)), dtype=float), *axes)


@cache
def parse(text: str) -> ast.expr:
    """The syntax tree of an expression; raises `ExpressionError` for whatever is not plain
    arithmetic.
    """
    try:
        tree = ast.parse(text.strip(), mode="eval").body if len(text) <= LONGEST else None
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        tree = None
    if tree is None:
        raise ExpressionError(f"no arithmetic expression of at most {LONGEST} characters")
    for node in ast.walk(tree):
        fine = isinstance(node, _NODES)
        if isinstance(node, ast.Constant):
            fine = type(node.value) in (int, float)
        elif isinstance(node, ast.Call):
            fine = isinstance(node.func, ast.Name) and not node.keywords
        elif isinstance(node, ast.Compare):
            fine = len(node.ops) == 1
        if not fine:
            raise ExpressionError("more than arithmetic, single comparisons, names and functions")
    return tree


def used(text: str) -> tuple[set[str], set[str]]:
    """Names and functions that an expression uses."""
    nodes = list(ast.walk(parse(text)))
    calls = {id(node.func): node.func.id for node in nodes if isinstance(node, ast.Call)}  # type: ignore[attr-defined]
    return {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in calls}, set(
        calls.values()
    )


def evaluate(node: ast.expr, names: Names) -> Value:
    """The value of a parsed expression; raises `ExpressionError` where it has none."""
    match node:
        case ast.Constant(value=value):
            return constant(value)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return names.value(name)
        case ast.Call(func=ast.Name(id=name), args=arguments):
            return names.call(name, arguments)
        case ast.UnaryOp(op=op, operand=operand):
            return combine(_OPERATORS[type(op)], evaluate(operand, names))
        case (
            ast.BinOp(left=left, op=op, right=right)
            | ast.Compare(left=left, ops=[op], comparators=[right])
        ):
            return combine(_OPERATORS[type(op)], evaluate(left, names), evaluate(right, names))
    raise ExpressionError("no arithmetic expression")


def _over_time(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Value], Value]:
    """A function along the time axis; its result varies over time where it has as many rows as its
    argument.
    """

    def applied(x: Value) -> Value:
        if not x.times:
            raise ExpressionError(
                "what does not vary over time has no sum, mean, last or highest value over time"
            )
        found = np.atleast_2d(function(x.data))
        return Value(found, x.times if len(found) == len(x.data) > 1 else "", x.entities)

    return applied


def _together(x: Value) -> Value:
    return Value(x.data.sum(axis=1, keepdims=True), x.times)


def _share(weights: Value) -> Value:
    return combine(np.divide, weights, _together(weights))


def _parts(total: Value, weights: Value) -> Value:
    """Whole numbers in proportion to weights that add up to the total, rounded."""
    edges = np.cumsum(_share(weights).data, axis=1)
    cut = combine(
        lambda whole, edge: np.round(np.round(whole) * edge),
        total,
        Value(edges, "", weights.entities),
    )
    return Value(np.diff(cut.data, axis=1, prepend=0.0), cut.times, cut.entities)


def share_noise(share: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Relative noise on a utilization that can't leave [0, 1]: it shrinks towards both ends, the
    mean stays.
    """
    room = np.minimum(share, 1 - share)
    return share + np.clip(noise * np.minimum(share, 4 * room), -room, room)


def uneven(share: np.ndarray, noise: np.ndarray) -> np.ndarray:
    """Shares of several entities that scatter around `share`, each within [0, 1], with exactly that
    mean.
    """
    noise = noise - noise.mean(axis=1, keepdims=True)
    return share + noise / max(1.0, float(np.abs(noise).max(initial=0))) * np.minimum(
        share, 1 - share
    )


_ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "abs": np.abs,
    "ceil": np.ceil,
    "exp": np.exp,
    "floor": np.floor,
    "log": np.log,
    "sqrt": np.sqrt,
    "min": lambda a, b: np.minimum(a, b),
    "max": lambda a, b: np.maximum(a, b),
    "clip": lambda x, low, high: np.clip(x, low, high),
    "round": lambda x, digits=0: np.round(x, int(np.max(digits))),
    "where": lambda condition, a, b: np.where(condition != 0, a, b),
    "only": lambda condition, x: np.where(condition != 0, x, np.nan),
    "filled": lambda x, instead: np.where(np.isnan(x), instead, x),
    # from 0 at t = 0 towards 1 (caches fill, code gets compiled); a bell of height 1
    "ramp": lambda t, constant: -np.expm1(-t / constant),
    "peak": lambda t, middle, width: np.exp(-(((t - middle) / width) ** 2)),
    "bounded": share_noise,
    "uneven": uneven,
}

FUNCTIONS: dict[str, Callable[..., Value]] = {
    **{name: partial(combine, function) for name, function in _ELEMENTWISE.items()},
    "cumsum": _over_time(lambda x: x.cumsum(axis=0)),
    "last": _over_time(lambda x: x[-1]),
    "total": _over_time(lambda x: x.sum(axis=0)),
    "average": _over_time(lambda x: x.mean(axis=0)),
    "highest": _over_time(lambda x: x.max(axis=0)),
    "together": _together,
    "share": _share,
    "parts": _parts,
}
"""By name, what needs nothing but its arguments; `virtperf.simulate.signals` adds what looks at the
run.
"""
