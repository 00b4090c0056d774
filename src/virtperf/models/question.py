"""Quantities of a curve as linear equations in its coefficients."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from virtperf.models.checks import Array

NO_NOISE = "the curve goes through the points exactly: there is no noise to estimate, and the interval has no width"
NO_DF = "no degrees of freedom are left"

KINDS = ("linear", "amdahl", "usl")
PLACES = {"usl": (0, 1, 2), "amdahl": (0, 2), "linear": (2,)}
"""The places of each kind's parameters among the three."""
FREE = {"usl": (True, True, True), "amdahl": (True, True, False), "linear": (True, False, False)}
"""Which coefficients of the linear form a kind has."""


@dataclass(frozen=True)
class Question:
    """A quantity of one or several curves, as the equation ``row(c) @ b = target(c)``.

    Parameters
    ----------
    row : callable
        c of shape (m,) to ndarray of shape (m, p).
    target : callable
        c of shape (m,) to ndarray of shape (m,).
    value : float
        c of the fitted curve.
    domain : tuple of float
        Smallest and largest c that the model allows.
    back : callable
        c to the quantity that a reader asks for; monotone.
    """

    row: Callable[[Array], Array]
    target: Callable[[Array], Array]
    value: float
    domain: tuple[float, float]
    back: Callable[[float], float] = float


def inverse_of(value: float) -> float:
    """One over a value of zero or more."""
    return 1 / value if value > 0 else math.inf
