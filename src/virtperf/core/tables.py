"""Numbers as they are exported: with as many digits as are the same everywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

SIGNIFICANT_DIGITS = 7
"""Digits of exported numbers: fewer than where solvers and processors may differ, more than any reader needs."""


def rounded(values: Any, digits: int = SIGNIFICANT_DIGITS) -> np.ndarray:
    """Numbers rounded to significant digits, below 1e-9 to zero; infinities and NaN stay."""
    x = np.asarray(values, dtype=float)
    finite = np.isfinite(x) & (x != 0)
    magnitude = np.floor(np.log10(np.abs(x, where=finite, out=np.ones_like(x))))
    factor = 10.0 ** (digits - 1 - magnitude)
    result = np.where(finite, np.round(x * factor) / factor, x)
    return np.where(np.abs(result) < 1e-9, 0.0, result)
