"""Refined least squares against the same problems in rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.rational import exact
from virtperf.models.refine import powers, solve

X = np.linspace(-8.7, -3.1, 40)


def fractions(array):
    return [[Fraction(v) for v in row] for row in array] if np.ndim(array) == 2 else [Fraction(v) for v in array]


def relative(found, expected):
    return max(
        abs(Fraction(f) / e - 1) for f, e in zip(np.ravel(found).tolist(), np.ravel(expected).tolist(), strict=True)
    )


@pytest.mark.parametrize("degree", [1, 3, 6, 10])
def test_polynomials_of_high_degree_keep_their_digits(degree):
    """Far from zero: the condition of the powers grows to 1e10 while the rounded powers alone would lose 8 digits."""
    y = 0.8 + 0.01 * np.sin(7 * X)
    found = solve(*powers(X, degree), y, np.ones(len(X)))
    design = [[Fraction(v) ** k for k in range(degree + 1)] for v in X.tolist()]
    b, inverse, rss = exact(design, fractions(y), [Fraction(1)] * len(X))
    assert relative(found.params, b) < 1e-14
    assert relative(found.inverse, inverse) < 1e-13
    assert float(found.resid @ found.resid) == pytest.approx(float(rss), rel=1e-12)


def test_residuals_may_be_far_larger_than_the_fit():
    x = np.arange(21.0)
    noise = np.where(np.arange(21) % 2 == 0, 1.0, -1.0) * 1e9
    design, lacking = powers(x, 5)
    y = design.sum(axis=1) + noise
    found = solve(design, lacking, y, np.ones(21))
    b, _, _ = exact(fractions(design.tolist()), fractions(y.tolist()), [Fraction(1)] * 21)
    assert relative(found.params, b) < 1e-14


def test_weights_are_those_of_the_rows():
    w = np.linspace(1, 9, len(X)) ** 2
    design, lacking = powers(X, 4)
    y = np.cos(X)
    found = solve(design, lacking, y, w)
    true = [[Fraction(v) ** k for k in range(5)] for v in X.tolist()]
    b, inverse, rss = exact(true, fractions(y.tolist()), fractions(w.tolist()))
    assert relative(found.params, b) < 1e-13
    assert relative(found.inverse, inverse) < 1e-13
    assert float(np.sum(w * found.resid**2)) == pytest.approx(float(rss), rel=1e-12)


def test_residuals_are_orthogonal_to_the_columns():
    design, lacking = powers(X, 8)
    found = solve(design, lacking, np.sin(X), np.ones(len(X)))
    along = [math.fsum(column * found.resid) for column in design.T]
    size = np.linalg.norm(design, axis=0) * np.linalg.norm(found.resid)
    assert np.max(np.abs(along) / size) < 1e-15


@given(st.integers(-200, 200), st.integers(-200, 200), st.integers(-300, 300))
def test_units_of_two_change_nothing(x_unit, y_unit, w_unit):
    """Powers of two are exact, so other units give the same digits, however large or small they are."""
    x, y = np.array([1.0, 2, 4, 7, 11]), np.array([3.1, 2.9, 5.2, 8.8, 12.1])
    plain = solve(*powers(x, 1), y, np.ones(5))
    design = np.column_stack((np.ones(5), x * 2.0**x_unit))
    other = solve(design, np.zeros((5, 2)), y * 2.0**y_unit, np.full(5, 4.0**w_unit))
    assert other.params * [2.0**-y_unit, 2.0 ** (x_unit - y_unit)] == pytest.approx(plain.params, rel=1e-15)
    assert other.resid * 2.0**-y_unit == pytest.approx(plain.resid, rel=1e-14)


def test_nothing_to_explain():
    found = solve(*powers(X, 2), np.zeros(len(X)), np.ones(len(X)))
    assert not found.params.any()
    assert not found.resid.any()


def test_powers_and_what_they_lack_are_exact_together():
    high, low = powers(X, 10)
    for k in range(11):
        true = [Fraction(v) ** k for v in X.tolist()]
        sums = [Fraction(h) + Fraction(e) for h, e in zip(high[:, k].tolist(), low[:, k].tolist(), strict=True)]
        assert max(abs(s / t - 1) for s, t in zip(sums, true, strict=True)) < Fraction(1, 10**30)
