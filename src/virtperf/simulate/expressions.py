"""Small arithmetic expressions, read into a syntax tree that is checked node by node and evaluated over arrays.

Every value is an array with two axes, time and entities; either has length 1 where a value does not vary along it. A
value knows by name over which times and which entities it varies, so that two of them are only combined where they
belong together.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

LONGEST = 300
"""Characters of one expression: what is longer is better split and named."""

_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.USub: operator.neg,
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge, ast.Eq: operator.eq,
}  # fmt: skip
_NODES = (ast.Constant, ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, *_OPERATORS)


class ExpressionError(ValueError):
    """An expression that can't be read or evaluated, in one clause."""


class UnknownTruth(ExpressionError):
    """A quantity that the paper's text gives no value of under a run's condition."""


@dataclass(frozen=True, slots=True)
class Value:
    """Numbers of shape (m or 1, e or 1) over times and entities; "" where they do not vary along one."""

    data: np.ndarray
    times: str = ""
    entities: str = ""

    @property
    def number(self) -> float:
        """The number of a value that does not vary."""
        if self.times or self.entities:
            raise ExpressionError(f"one number is needed here, not one for each of {self.times or self.entities}")
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
    """An elementwise function of values that vary over the same times and entities, or not at all."""
    axes = []
    for axis, way in (("times", "at(...)"), ("entities", "together(...)")):
        names = dict.fromkeys(name for v in values if (name := getattr(v, axis)))
        if len(names) > 1:
            raise ExpressionError(f"mixes the {axis} {' and '.join(names)}; {way} brings one to the other")
        axes.append(next(iter(names), ""))
    return Value(np.asarray(function(*(v.data for v in values)), dtype=float), *axes)


@cache
def parse(text: str) -> ast.expr:
    """The syntax tree of an expression; raises `ExpressionError` for whatever is not plain arithmetic."""
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
    return {n.id for n in nodes if isinstance(n, ast.Name) and id(n) not in calls}, set(calls.values())


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
        case ast.BinOp(left=left, op=op, right=right) | ast.Compare(left=left, ops=[op], comparators=[right]):
            return combine(_OPERATORS[type(op)], evaluate(left, names), evaluate(right, names))
    raise ExpressionError("no arithmetic expression")
