"""The Universal Scalability Law as a generalized linear model: coefficients, columns, derivatives.

``X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))`` is one over ``b0/N + b1 (N - 1)/N + b2 (N - 1)``, which is
linear in ``b0 = 1/gamma``, ``b1 = alpha/gamma`` and ``b2 = beta/gamma``. Written as ``d/N + s + k (N - 1)`` with
``d = b0 - b1``, ``s = b1`` and ``k = b2``, the bounds ``0 <= alpha <= 1`` and ``beta >= 0`` are ``d, s, k >= 0``.

References
----------
Gunther, N. J. (2007). Guerrilla Capacity Planning. Chapters 4 to 6.
"""

from __future__ import annotations

import numpy as np

from virtperf.models.checks import Array

FORMULAS = {
    "usl": "Universal Scalability Law: X(N) = gamma N / (1 + alpha (N - 1) + beta N (N - 1))",
    "amdahl": "Amdahl's law: X(N) = gamma N / (1 + alpha (N - 1))",
    "linear": "Linear scaling: X(N) = gamma N",
}


def throughput(load: Array, theta: Array) -> Array:
    """Return X(N) for ``theta = (alpha, beta, gamma)``; infinite where the law's denominator is not positive."""
    alpha, beta, gamma = theta
    below = 1 + (load - 1) * (alpha + beta * load)
    if below.min() <= 0:
        return np.full(len(load), np.inf)
    return np.asarray(gamma * load / below)


def gradient(load: Array, theta: Array) -> Array:
    """Return the derivatives of X(N) with respect to (alpha, beta, gamma), shape (n, 3)."""
    alpha, beta, gamma = theta
    more = load - 1
    share = load / (1 + more * (alpha + beta * load))
    by_alpha = -gamma * share * share * more / load
    return np.column_stack((by_alpha, by_alpha * load, share))


def columns(x: Array) -> Array:
    """Return the design in (d, s, k) at the loads x, shape (n, 3): ``1/N, 1, N - 1``."""
    return np.column_stack((1 / x, np.ones(len(x)), x - 1))


def coefficients(b: Array) -> Array:
    """Return (alpha, beta, gamma) of (d, s, k), both of shape (..., 3)."""
    d, s, k = np.moveaxis(b, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.stack((s, k, np.ones_like(s)), axis=-1) / (d + s)[..., None]


def derivatives(b: Array) -> Array:
    """Return the derivatives of (alpha, beta, gamma) in (d, s, k), shape (3, 3)."""
    d, s, k = b
    g = 1 / (d + s)
    return np.array([[-s * g * g, d * g * g, 0.0], [-k * g * g, -k * g * g, g], [-g * g, -g * g, 0.0]])


def fastest(b: Array) -> tuple[Array, Array]:
    """The load N >= 1 (at most 1e9) with the least ``1/X(N)``, and that value, for each row of b."""
    d, s, k = b.T
    with np.errstate(divide="ignore", invalid="ignore"):
        n = np.clip(np.where(k > 0, np.sqrt(np.maximum(d, 0.0) / k), 1e9), 1.0, 1e9)
    value = np.where(k > 0, d / n + s + k * (n - 1), s)
    return n, value
