"""The largest number of data; numbers as plain text with a fixed number of significant digits, and
counts.
"""

from __future__ import annotations

import math

MAX_NUMBER = 1e150
"""Largest number accepted as data: the squares of larger ones overflow."""
SIGNIFICANT = 4
"""Digits that are printed; digits before the decimal point are never dropped."""


def format_number(value: float | None, digits: int = SIGNIFICANT) -> str:
    """Format a number in ASCII with `digits` significant digits.

    Examples: ``66``, ``65.9``, ``11264``, ``0.001234``.
    """
    if value is None or math.isnan(value):
        return "n/a"
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    if value == 0:
        return "0"
    size = math.floor(math.log10(abs(value)))
    if size > 14 or size < -9:
        return f"{value:.{digits - 1}e}"
    text = f"{value:.{max(0, digits - 1 - size)}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text == "-0" else text


def plural(count: int, one: str, many: str = "") -> str:
    """``1 run``, ``3 runs``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"
