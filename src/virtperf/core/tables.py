"""Numbers as they are exported: with as many digits as are the same everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

SIGNIFICANT_DIGITS = 7
"""Digits of exported numbers: fewer than where solvers and processors may differ, more than any reader needs."""


LARGEST_POWER = 308
POWERS = np.array([float(f"1e{power}") for power in range(LARGEST_POWER + 1)])
"""Powers of ten. Those that numpy computes differ in their last bit between processors."""


def rounded(values: Any, digits: int = SIGNIFICANT_DIGITS) -> np.ndarray:
    """Numbers rounded to significant digits, below 1e-9 to zero; infinities and NaN stay."""
    x = np.asarray(values, dtype=float)
    finite = np.isfinite(x) & (x != 0)
    magnitude = np.floor(np.log10(np.abs(x, where=finite, out=np.ones_like(x))))
    places = np.clip(digits - 1 - magnitude, -LARGEST_POWER, LARGEST_POWER).astype(int)
    factor = POWERS[np.abs(places)]
    with np.errstate(over="ignore"):
        result = np.where(places < 0, np.round(x / factor) * factor, np.round(x * factor) / factor)
    result = np.where(finite, result, x)
    return np.where(np.abs(result) < 1e-9, 0.0, result)
