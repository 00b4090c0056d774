"""Least squares without any rounding, as a judge of floating-point results."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def exact(
    design: Sequence[Sequence[Fraction]], y: Sequence[Fraction], weights: Sequence[Fraction]
) -> tuple[list[Fraction], list[list[Fraction]], Fraction]:
    """Return the parameters, the inverse of X'WX, and the weighted residual sum of squares, by elimination."""
    p = len(design[0])
    rows = [
        [sum(w * r[i] * r[j] for r, w in zip(design, weights, strict=True)) for j in range(p)]
        + [sum(w * r[i] * v for r, v, w in zip(design, y, weights, strict=True))]
        + [Fraction(int(i == j)) for j in range(p)]
        for i in range(p)
    ]
    for c in range(p):
        rows[c] = [
            v / rows[c][c] for v in rows[c]
        ]  # the matrix is positive definite: no pivot is zero
        for k in range(p):
            if k != c:
                rows[k] = [a - rows[k][c] * b for a, b in zip(rows[k], rows[c], strict=True)]
    b = [row[p] for row in rows]
    rest = [
        v - sum(f * g for f, g in zip(r, b, strict=True)) for r, v in zip(design, y, strict=True)
    ]
    rss = sum(w * e * e for e, w in zip(rest, weights, strict=True))
    return b, [row[p + 1 :] for row in rows], rss
