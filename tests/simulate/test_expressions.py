"""Expressions are plain arithmetic: they give what arithmetic gives, and nothing else is an expression."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from virtperf.simulate.expressions import (
    FUNCTIONS,
    LONGEST,
    ExpressionError,
    Value,
    combine,
    constant,
    evaluate,
    parse,
    used,
)


class Names:
    """A few values, and the functions that need nothing else."""

    def __init__(self, **values):
        self.values = {k: v if isinstance(v, Value) else constant(v) for k, v in values.items()}

    def value(self, name):
        return self.values[name]

    def call(self, name, arguments):
        return FUNCTIONS[name](*(evaluate(argument, self) for argument in arguments))


def number(text, **values):
    return evaluate(parse(text), Names(**values)).number


def test_precedence_and_functions_are_those_of_arithmetic():
    assert number("2 + 3 * -x ** 2 / 4", x=2) == -1
    assert number("7 // 2 + 7 % 2") == 4
    assert number("max(1, min(x, 3)) + clip(9, 0, 5)", x=2) == 7
    assert number("(x > 1) + (x <= 1) * 10", x=1) == 10
    assert number("round(2 / 3, 2)") == 0.67
    assert number("where(x == 4, 1, 2)", x=4) == 1


ARITHMETIC = st.recursive(
    st.integers(0, 20).map(str),
    lambda parts: st.tuples(parts, st.sampled_from("+-*"), parts).map(
        lambda p: f"({p[0]} {p[1]} {p[2]})"
    ),
    max_leaves=12,
)


@given(ARITHMETIC)
def test_nested_arithmetic_gives_what_python_gives(text):
    assert number(text) == eval(text)


REFUSED = [
    "x.data",
    "x[0]",
    "'text'",
    "lambda: 1",
    "[1, 2]",
    "[i for i in x]",
    "(y := 1)",
    "f(x)(1)",
    "round(x, digits=1)",
    "round(*x)",
    "1 < x < 3",
    "x and 1",
    "not x",
    "x if x else 1",
    "True",
    "None",
    "1j",
    "__import__('os')",
    "",
    "1 +",
    "x; 1",
    "f'{x}'",
    "await x",
    "x @ x",
    "x << 2",
    "b'1'",
    "...",
    "x\n= 1",
]


@pytest.mark.parametrize("text", REFUSED)
def test_all_else_is_refused(text):
    with pytest.raises(ExpressionError):
        parse(text)


def test_long_and_deep_ones_are_refused_in_time():
    with pytest.raises(ExpressionError, match=f"at most {LONGEST}"):
        parse("1+" * LONGEST + "1")
    with pytest.raises(ExpressionError):
        parse("(" * 200 + "1" + ")" * 99)
    assert number("-" * (LONGEST - 1) + "1") == -1


def test_names_and_functions_are_told_apart():
    assert used("round(x * round) + y(2)") == ({"x", "round"}, {"round", "y"})


def test_axes_are_matched_by_name():
    over_time, other = Value(np.ones((3, 1)), "minutes"), Value(np.ones((3, 1)), "seconds")
    by_guest = Value(np.array([[1.0, 2.0]]), "", "guests")
    both = combine(np.multiply, over_time, by_guest)
    assert (both.data.shape, both.times, both.entities) == ((3, 2), "minutes", "guests")
    with pytest.raises(ExpressionError, match="mixes the times minutes and seconds; at"):
        combine(np.add, over_time, other)
    with pytest.raises(ExpressionError, match="mixes the entities guests and drivers; together"):
        combine(np.add, by_guest, Value(np.ones((1, 2)), "", "drivers"))
    with pytest.raises(ExpressionError, match="one number is needed"):
        _ = by_guest.number
