"""What printed numbers say for certain: limits that follow from their last digit alone, without any statistics."""

from __future__ import annotations

import math

from virtperf.core.errors import ModelError
from virtperf.models.result import Estimate


def ratio_of_printed(top: tuple[float, float], bottom: tuple[float, float]) -> Estimate:
    """Return the ratio of two printed numbers between the extremes that their rounding leaves.

    It says nothing about the spread of what was measured, which a single printed value does not show.

    Parameters
    ----------
    top, bottom : tuple of float
        A number, not negative, and half the step of its last printed digit.

    Raises
    ------
    ModelError
        A number is not finite or negative, a half step is negative, or the denominator may be zero.
    """
    for name, (value, half) in (("numerator", top), ("denominator", bottom)):
        if not (math.isfinite(value) and math.isfinite(half) and value >= 0 and half >= 0):
            raise ModelError(
                f"the {name} is no printed number with its half step",
                expected="finite numbers of at least 0", found=f"{value!r} +- {half!r}",
            )  # fmt: skip
    if bottom[0] <= bottom[1]:
        raise ModelError("the denominator may be zero within its rounding", found=f"{bottom[0]:g} +- {bottom[1]:g}")
    low = max(top[0] - top[1], 0.0) / (bottom[0] + bottom[1])
    high = (top[0] + top[1]) / (bottom[0] - bottom[1])
    return Estimate(top[0] / bottom[0], low, high, 1.0, "rounding")
