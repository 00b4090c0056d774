"""Linear least squares to the last digit: a QR decomposition, refined with residuals in twice the precision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from virtperf.models.checks import Array

SPLITTER = 2.0**27 + 1
STEPS = 10  # most refinements; two or three are enough unless the columns are almost dependent


@dataclass(frozen=True, eq=False)
class Solution:
    """Least squares of ``y`` on a matrix X of shape (n, p), each row with its weight.

    Parameters
    ----------
    params : ndarray, shape (p,)
    resid : ndarray, shape (n,)
        ``y - X @ params``, exact to the last digits although the product may cancel, in the unit of y.
    inverse : ndarray, shape (p, p)
        ``inv(X' W X)``; times the residual variance it is the covariance of `params`.
    """

    params: Array
    resid: Array
    inverse: Array


def powers(x: Array, degree: int) -> tuple[Array, Array]:
    """Return ``x**0, ..., x**degree`` as two matrices of shape (n, degree + 1): the rounded powers, and what they lack.

    High powers of x cancel in a polynomial, so that their rounding alone would cost half of the digits.
    """
    high, low = [np.ones_like(x)], [np.zeros_like(x)]
    for _ in range(degree):
        product, error = _product(high[-1], x)
        error = error + low[-1] * x
        high.append(product + error)
        low.append(error - (high[-1] - product))
    return np.column_stack(high), np.column_stack(low)


def solve(design: Array, lacking: Array, y: Array, weights: Array) -> Solution:
    """Solve by iterative refinement of the residuals and the parameters together (Bjorck 1967).

    With the residuals of ``[I X; X' 0] [r; b] = [f; g]`` in twice the precision, its solution becomes exact to the last
    digits if the condition of X is below 1e13, however large the residuals of the fit are. ``f = y`` and ``g = 0`` give
    the fit, ``f = 0`` and ``g = -identity`` the inverse of X'X.

    Parameters
    ----------
    design : ndarray, shape (n, p)
        Of full rank.
    lacking : ndarray, shape (n, p)
        What the true design has on top of `design`; zeros if it has no more digits.
    y, weights : ndarray, shape (n,)
    """
    rows, p = design.shape
    # Powers of two scale without rounding, and keep all products far from overflow.
    root = np.sqrt(weights)
    scale, unit = _power_of_two(np.linalg.norm(design, axis=0)), _power_of_two(np.linalg.norm(y))
    strength = _power_of_two(np.max(root))
    high, error = _product(design / scale, (root / strength)[:, None])
    low = error + lacking / scale * (root / strength)[:, None]
    f, f_low = (np.zeros((rows, p + 1)) for _ in range(2))
    f[:, 0], f_low[:, 0] = _product(y / unit, root / strength)
    g = np.column_stack((np.zeros(p), -np.eye(p)))
    q, triangle = np.linalg.qr(high)
    r, b = np.zeros((rows, p + 1)), np.zeros((p, p + 1))
    last = 1.0
    for step in range(STEPS):
        gap, slope = _left(high, low, (f, f_low), g, r, b)
        outside = solve_triangular(triangle, slope, trans="T")
        inside = q.T @ gap - outside
        change = solve_triangular(triangle, inside)
        r, b = r + gap - q @ inside, b + change
        size = float(np.max(np.linalg.norm(change, axis=0) / np.maximum(np.linalg.norm(b, axis=0), 1e-300)))
        # Changes shrink at a steady rate, so the next one is known: none that a digit would show.
        if step and (size * size <= 1e-17 * last or size >= last / 2):
            break
        last = size
    inverse = b[:, 1:] / np.outer(scale, scale) / strength**2
    resid = r[:, 0] / (root / strength) * unit
    return Solution(b[:, 0] / scale * unit, resid, (inverse + inverse.T) / 2)


def _left(high: Array, low: Array, f: tuple[Array, Array], g: Array, r: Array, b: Array) -> tuple[Array, Array]:
    """Return ``f - r - X b`` and ``g - X' r``, in twice the precision; X is ``high + low``, f has two parts."""
    gap, rest = _add(f[0], -r)
    rest = rest + f[1]
    slope = np.empty_like(b)
    for k in range(len(b)):
        product, error = _product(high[:, k, None], b[k])
        gap, rounding = _add(gap, -product)
        rest = rest + (rounding - error - low[:, k, None] * b[k])
        product, error = _product(high[:, k, None], r)
        slope[k] = _sum(np.vstack((g[k], -product)), -np.sum(error + low[:, k, None] * r, axis=0))
    return gap + rest, slope


def _power_of_two(size: Array | np.floating) -> Array:
    """The power of two that is nearest to each size, and 1 for nothing."""
    return np.exp2(np.round(np.log2(np.where(size > 0, size, 1.0)))).astype(np.float64)


def _product(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded product and its rounding error (Dekker 1971)."""
    product = a * b
    (a1, a2), (b1, b2) = _split(a), _split(b)
    return product, ((a1 * b1 - product) + a1 * b2 + a2 * b1) + a2 * b2


def _split(a: Array) -> tuple[Array, Array]:
    far = SPLITTER * a
    high = far - (far - a)
    return high, a - high


def _add(a: Array, b: Array) -> tuple[Array, Array]:
    """Return the rounded sum and its rounding error (Knuth 1969)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def _sum(terms: Array, rest: Array) -> Array:
    """Return `rest` plus the sum of the rows, rounded once from twice the precision (Ogita, Rump and Oishi 2005)."""
    while len(terms) > 1:
        half = len(terms) // 2
        total, errors = _add(terms[:half], terms[half : 2 * half])
        rest = rest + np.sum(errors, axis=0)
        terms = np.concatenate((total, terms[2 * half :]))
    return terms[0] + rest
