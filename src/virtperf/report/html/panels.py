"""Panels of benchmark histories: one small drawing a benchmark."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from virtperf.core.numbers import number
from virtperf.core.shown import Shown
from virtperf.report.html.results import results_page

WIDTH, HEIGHT = 300.0, 110.0
LEFT, RIGHT, TOP, BOTTOM = 8.0, 8.0, 8.0, 8.0


@dataclass(frozen=True)
class Dot:
    """A revision's value in a panel, with its tooltip."""

    x: float
    y: float
    words: str


@dataclass(frozen=True)
class Panel:
    """One benchmark, in pixels: revisions, single runs, levels and change points."""

    name: str
    verdict: str
    unit: str
    dots: tuple[Dot, ...]
    runs: tuple[tuple[float, float], ...]
    levels: tuple[tuple[float, float, float], ...]
    changes: tuple[float, ...]
    highest: str
    lowest: str
    first: str
    last: str


PANEL_WORDS = (
    "A large dot is the geometric mean of a revision's runs, a small dot a single run; the oldest "
    "revision is on the left; the scale is logarithmic where all values are positive. Solid lines "
    "are the levels between change points, dashed lines the change points."
)
WORDS = (
    "A verdict is that of the changes which still hold and are not accepted. A change is listed if "
    "its test statistic exceeds the critical value of simulated histories without a change, of the "
    "same length and with an autocorrelation of up to 0.5, at a false alarm probability that is "
    "divided by the number of benchmarks, and if its interval excludes no change. Intervals have a "
    "confidence level of 95 %."
)


def history_page(shown: Shown) -> str:
    """Render `HistoryTable.shown()` as a self-contained page, with a panel for each benchmark."""
    return results_page(
        shown,
        "history",
        panels=[_panel(row) for row in shown.data["rows"]],
        panel_size=(WIDTH, HEIGHT),
        panel_words=PANEL_WORDS,
        words=WORDS,
    )


def _panel(row: Mapping[str, Any]) -> Panel:
    measured = row["measured"]
    positive = min(value for each in measured for value in each["runs"]) > 0

    def scaled(value: float) -> float:
        return math.log(value) if positive else value

    values = [scaled(value) for each in measured for value in each["runs"]]
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or 0.01
    low, high = low - room, high + room

    def x(place: float) -> float:
        return round(LEFT + (WIDTH - LEFT - RIGHT) * place / max(len(measured) - 1, 1), 1)

    def y(value: float) -> float:
        return round(TOP + (HEIGHT - TOP - BOTTOM) * (high - scaled(value)) / (high - low), 1)

    means = [math.fsum(map(scaled, each["runs"])) / len(each["runs"]) for each in measured]
    means = [math.exp(mean) if positive else mean for mean in means]
    unit = "" if row["unit"] in ("", "1") else f" {row['unit']}"
    dots = tuple(
        Dot(
            x(place),
            y(mean),
            " ".join(filter(None, (each["revision"], each["date"])))
            + f": {number(mean)}{unit} (n={len(each['runs'])})",
        )
        for place, (each, mean) in enumerate(zip(measured, means, strict=True))
    )
    runs = tuple(
        (x(place), y(value)) for place, each in enumerate(measured) for value in each["runs"]
    )
    bounds = [0, *row["starts"], len(measured)]
    levels = tuple(
        (x(a), x(b - 1), y(level))
        for a, b, level in zip(bounds, bounds[1:], row["levels"], strict=False)
    )
    changes = tuple(x(start - 0.5) for start in row["starts"])
    return Panel(
        row["benchmark"],
        row["verdict"],
        row["unit"],
        dots,
        runs,
        levels,
        changes,
        number(max(means)),
        number(min(means)),
        measured[0]["revision"],
        measured[-1]["revision"],
    )
