"""The ends of an interval, as a pair to compare."""

from __future__ import annotations

from typing import Any


def ends(contrast: Any, level: float) -> tuple[float, float]:
    """Return the limits of a contrast's estimate at a level of confidence."""
    found = contrast.estimate(level)
    return found.low, found.high
