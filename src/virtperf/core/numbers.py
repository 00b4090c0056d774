"""Rounding and formatting of numbers and intervals for display; lists and counts in sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from rawperf.core.number_text import SIGNIFICANT as SIGNIFICANT
from rawperf.core.number_text import format_number as number
from rawperf.core.number_text import plural as plural

NO_BREAK = "\u00a0"
PROSE_SIGNIFICANT = 3  # in captions, which are not inputs of computations
MAX_SHIFT = 0.25
"""Largest difference of two estimates of one number that are the same, as a share of half of its interval."""
MAX_MORE_DECIMALS = 4
"""Decimals, and one more, that may be added to show on which side of a number a limit is."""
SKEWED = 2.0  # minimum ratio of the upper to the lower part of a log-scale interval


def pretty(value: float | None, digits: int = SIGNIFICANT) -> str:
    """Format as `number`, with a true minus sign and thousands separators, for prose and cells."""
    text = number(value, digits)
    if text in ("n/a", "inf", "-inf"):
        return {"n/a": "not known", "inf": "unbounded", "-inf": "unbounded"}[text]
    sign, body = ("−", text[1:]) if text.startswith("-") else ("", text)
    whole, dot, rest = body.partition(".")
    return f"{sign}{int(whole):,}{dot}{rest}" if whole.isdigit() else sign + body


def interval(low: float, high: float, unit: str = "") -> str:
    """Format an interval: ``40 to 52 %``, ``40 % or more``, ``at most 52``, ``exactly 100``,
    ``anything``.
    """
    no_low, no_high = not math.isfinite(low), not math.isfinite(high)
    if no_low and no_high:
        return "anything"
    if no_high:
        return f"{pretty(low)}{unit} or more"
    if no_low:
        return f"at most {pretty(high)}{unit}"
    if pretty(low) == pretty(high):
        same = math.isclose(low, high, rel_tol=1e-9, abs_tol=1e-12)
        return f"{'exactly' if same else 'about'} {pretty(low)}{unit}"
    if (
        max(abs(float(number(v)) - v) for v in (low, high)) > (high - low) / 20
    ):  # 1,470.5 to 1,471.5
        _, first, last = as_precise((low + high) / 2, low, high)
        return f"{first} to {last}{unit}"
    return f"{pretty(low)} to {pretty(high)}{unit}"


def even_interval(low: float, high: float, unit: str = "") -> str:
    """Format as `interval`, with as many decimals for both ends as half of the width warrants:
    ``0.91 to 1.10``.
    """
    if not (math.isfinite(low) and math.isfinite(high)) or pretty(low) == pretty(high):
        return interval(low, high, unit)
    _, first, last = as_precise((low + high) / 2, low, high)
    return f"{first} to {last}{unit}"


def rounded(low: float, high: float) -> tuple[float, float]:
    """Round the ends of a computed range to the decimals that half of its width warrants, and at least
    two significant digits: 0.08455 and 419.8 are 0.085 and 420. A range without an end or a width
    stays as it is.
    """
    if not (math.isfinite(low) and math.isfinite(high)) or pretty(low) == pretty(high):
        return low, high
    decimals = _decimals((high - low) / 2)

    def near(value: float) -> float:
        size = math.floor(math.log10(abs(value))) if value else 0
        return round(value, max(decimals, 1 - size))

    return near(low), near(high)


def _decimals(width: float) -> int:
    """Decimals that the half width of an interval warrants."""
    return min(max(0, 1 - math.floor(math.log10(width / 3) + 1)), 9)


def as_precise(
    value: float,
    low: float,
    high: float,
    *,
    digits: int | None = None,
    beside: Iterable[float] = (),
) -> tuple[str, str, str]:
    """Format a value and its limits with as many decimals as the interval's half width warrants, and
    no more than `digits` significant digits of the value need.

    A half width from 1 to 3 (times a power of ten) keeps two digits, a larger one keeps one:
    12.345 from 11.9 to 12.8 is ``12.3``, from 12.2 to 12.5 ``12.35``. In a skewed interval on the
    log scale, much longer above than below, each number has at least two significant digits: 14
    from 1.45 to 127 is not ``14 (1 to 127)``. A value without finite limits has three. A limit stays
    on its side of the numbers `beside` it: below 1, 0.996 is not ``1.00``.
    """
    ends = [v for v in (low, high) if math.isfinite(v)]
    width = max((abs(v - value) for v in ends), default=0.0)
    if not math.isfinite(value) or width <= 1e-9 * abs(value):
        return tuple(pretty(v, PROSE_SIGNIFICANT) for v in (value, low, high))  # type: ignore[return-value]
    decimals = _decimals(width)
    if digits is not None and value:
        decimals = min(decimals, max(0, digits - 1 - math.floor(math.log10(abs(value)))))
    decimals = _decimals_beside(ends, decimals, [v for v in beside if math.isfinite(v)])
    skewed = len(ends) == 2 and low > 0 and high - value > SKEWED * (value - low)
    cells = []
    for v in (value, low, high):
        places = max(decimals, 1 - math.floor(math.log10(v))) if skewed else decimals
        text = pretty(v) if not math.isfinite(v) else f"{v:,.{places}f}".replace("-", "−")
        cells.append(text if re.search("[1-9]", text) else text.lstrip("−"))
    return cells[0], cells[1], cells[2]


def _decimals_beside(ends: Iterable[float], decimals: int, beside: Sequence[float]) -> int:
    """The decimals, or as many more as show on which side of the numbers `beside` them the ends are."""

    def told(end: float, other: float, places: int) -> bool:
        away = round(end, places) - other
        return math.isclose(end, other, rel_tol=1e-9, abs_tol=1e-12) or away * (end - other) > 0

    pairs = [(end, other) for end in ends for other in beside]
    enough = range(decimals, decimals + MAX_MORE_DECIMALS)
    return next((k for k in enough if all(told(*pair, k) for pair in pairs)), decimals)


def same_within(value: float, other: float, ends: tuple[float, float]) -> bool:
    """Whether two estimates differ by at most `MAX_SHIFT` of half of the interval of one of them."""
    low, high = ends
    return abs(value - other) <= max(MAX_SHIFT * (high - low) / 2, 1e-9 * abs(value))


def with_interval(
    value: float, low: float, high: float, unit: str = "", *, beside: Iterable[float] = ()
) -> str:
    """Format as `as_precise` with `PROSE_SIGNIFICANT` digits: ``12.3 (11.9 to 12.8)``; only the value
    without an interval, or with one that is narrower than these digits.
    """
    text, first, last = as_precise(value, low, high, digits=PROSE_SIGNIFICANT, beside=beside)
    alone = first == last and not math.isinf(low)
    return f"{text}{unit}" if alone else f"{text} ({first} to {last}){unit}"


def signed(value: float, low: float, high: float) -> tuple[str, str, str]:
    """Format a change as `as_precise`, each number with its sign, in ASCII: ``+7``, ``-2.8``.

    A change of nearly -100 has the digits in which it differs: only -100 % is nothing left.
    """
    by, first, last = (
        f"+{text}" if of > 0 else text.replace("−", "-")
        for of, text in zip((value, low, high), as_precise(value, low, high), strict=True)
    )
    if by == "-100" and value > -100:
        by = f"{float(f'{100 + value:.2g}') - 100:.12g}"
    return by, first, last


def unsigned(value: float, low: float, high: float) -> tuple[str, str]:
    """Format the size of a change and its limits, the smaller first: ``7`` and ``6 to 8``; limits
    on both sides of 0 keep their signs.
    """
    by, *ends = signed(value, low, high)
    if ends[0][0] == ends[1][0] and ends[0][0] in "+-":
        ends = [end[1:] for end in (ends if value > 0 else reversed(ends))]
    return by.lstrip("+-"), " to ".join(ends)


_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1.0, "s")),
    "B": ((1.0, "B"), (1024.0, "KiB"), (1024.0**2, "MiB"), (1024.0**3, "GiB")),
    "B/s": ((1.0, "B/s"), (1024.0, "KiB/s"), (1024.0**2, "MiB/s"), (1024.0**3, "GiB/s")),
    "1": ((1.0, ""),),
}
MAX_SPAN = 1000.0
"""Values whose ratio is at most this are shown in one unit."""


def with_unit(values: Sequence[float | None], unit: str) -> list[str]:
    """Format values with their unit as people read it: 0.0000476 s is ``47.6 µs``.

    Values of similar size have the same unit. None is ``""``.
    """
    scales = _SCALES.get(unit, ((1.0, "/s" if unit == "1/s" else unit),))
    sizes = [abs(value) for value in values if value]
    similar = bool(sizes) and max(sizes) <= MAX_SPAN * min(sizes)
    texts = []
    for value in values:
        if value is None:
            texts.append("")
            continue
        known = sizes if similar or not value else [abs(value)]
        least, most = min(known, default=0.0), max(known, default=0.0)
        fitting = (s for s in reversed(scales) if most >= s[0] and least >= s[0] / 10)
        factor, name = next(fitting, scales[0])
        digits = PROSE_SIGNIFICANT if abs(value) < 1000 * factor else SIGNIFICANT
        texts.append(f"{pretty(value / factor, digits)} {name}".strip())
    return texts


def join_words(parts: Iterable[str]) -> str:
    """``a, b and c``."""
    items = list(parts)
    return (
        items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else ""
    )


def join_names(values: Sequence[str], separator: str = ", ", most: int = 3) -> str:
    """Join names, of many the first with the number of the others."""
    shown = separator.join(values[:most]) or "not known"
    return f"{shown} and {len(values) - most} more" if len(values) > most else shown
