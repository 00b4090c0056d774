"""The forms of a two-piece line: names, formulas, columns, derivatives."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from virtperf.models.breakpoint_search import Kinks
from virtperf.models.checks import Array

NAMES = {
    "free": ("intercept", "slope1", "slope2", "breakpoint"),
    "plateau-decline": ("plateau", "slope2", "breakpoint"),
    "rise-plateau": ("plateau", "slope1", "breakpoint"),
}
LABEL = "likelihood, simulated"
N_SIM, SEED, ROUNDS = 1999, 20, 4
"""Of the simulated threshold of an interval; it is searched for in so many rounds at most."""
FORMULAS = {
    "free": "y = intercept + slope1 x + (slope2 - slope1) max(x - breakpoint, 0)",
    "plateau-decline": "y = plateau + slope2 max(x - breakpoint, 0)",
    "rise-plateau": "y = plateau - slope1 max(breakpoint - x, 0)",
}


@lru_cache(maxsize=8)
def normal_numbers(n_sim: int, rows: int, seed: int) -> Array:
    """Standard normal numbers, shape (n_sim, rows)."""
    return np.random.default_rng(seed).standard_normal((n_sim, rows))


def search(x: Array, y: Array, w: Array, form: str) -> tuple[Kinks, int]:
    """Return the search object and the sign of its axis: a rise to a plateau is a decline from it, seen in -x."""
    sign = -1 if form == "rise-plateau" else 1
    return Kinks.of(sign * x, y, w, sloped=form == "free"), sign


def design(form: str, x: Array, psi: float) -> Array:
    """Return the linear part of the model given the breakpoint."""
    if form == "free":
        return np.column_stack((np.ones(len(x)), x, np.maximum(x - psi, 0)))
    return np.column_stack((np.ones(len(x)), np.maximum(x - psi if form == "plateau-decline" else psi - x, 0)))


def curve(form: str, x: Array, params: Array) -> tuple[Array, Array]:
    psi = params[-1]
    one = np.ones(len(x))
    if form == "free":
        a, b, c, _ = params
        over = np.maximum(x - psi, 0)
        return a + b * x + (c - b) * over, np.column_stack((one, x - over, over, (b - c) * (x > psi)))
    a, b, _ = params
    if form == "plateau-decline":
        over = np.maximum(x - psi, 0)
        return a + b * over, np.column_stack((one, over, -b * (x > psi)))
    under = np.maximum(psi - x, 0)
    return a - b * under, np.column_stack((one, -under, -b * (x < psi)))


def names_of_columns(form: str, psi: float) -> list[str]:
    """What statsmodels' table calls the columns of `design`."""
    hinge = f"max({psi:.6g} - x, 0)" if form == "rise-plateau" else f"max(x - {psi:.6g}, 0)"
    return ["1", "x", hinge] if form == "free" else ["1", hinge]
