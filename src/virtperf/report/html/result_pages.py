"""Pages of commands that show a result: sentences, tables and notes as in every other medium, with
drawings of intervals (`virtperf compare`) and of histories (`virtperf history`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from virtperf.core.numbers import number
from virtperf.core.shown import Shown
from virtperf.report.html.templating import page, refuse_large

INTERVAL_WIDTH = 260.0
"""Width of an interval drawing, in pixels of the template's view box."""
INSET = 8.0
PANEL_SIZE = 300.0, 110.0
PANEL_WORDS = (
    "A large dot is the geometric mean of a revision's runs, a small dot a single run; the oldest "
    "revision is on the left; the scale is logarithmic where all values are positive. Solid lines "
    "are the levels between change points, dashed lines the change points."
)
HISTORY_WORDS = (
    "A verdict is that of the changes which still hold and are not accepted. A change is listed if "
    "its test statistic exceeds the critical value of simulated histories without a change, of the "
    "same length and with an autocorrelation of up to 0.5, at a false alarm probability that is "
    "divided by the number of benchmarks, and if its interval excludes no change. Intervals have a "
    "confidence level of 95 %."
)


def results_page(shown: Shown, command: str) -> str:
    """Render a result of a command as a self-contained page."""
    drawn = _DRAWN[command](shown.data) if command in _DRAWN else {}
    values = {"panels": [], "drawings": [], "words": "", **drawn}
    html = page("results", shown.title, wide=True, shown=shown, command=command, **values)
    refuse_large(html, shown.title)
    return html


@dataclass(frozen=True)
class Drawn:
    """Coordinates of an interval of a ratio, in pixels; `low` and `high` are None without an
    interval.
    """

    at: float
    low: float | None
    high: float | None
    one: float
    margin: tuple[float, float]


def _comparison(comparison: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the template for a comparison: a drawing of each interval where there are two
    sides.
    """
    two = len(comparison["sides"]) == 2
    margin, level = 100 * comparison["margin"], 100 * comparison["level"]
    words = (
        (f"Changes within {margin:g} % count as the same (the grey band). " if margin else "")
        + f"All verdicts are tested jointly (Holm, {level:g} %); an interval is for its row alone. "
        "The statistical unit is a run. "
        + (
            "Drawings: ratios on one logarithmic scale; the dashed line is 1, no change."
            if two
            else ""
        )
    )
    return {
        "words": words if comparison["rows"] else "",
        "drawings": drawings(comparison["rows"], comparison["margin"]) if two else [],
        "width": INTERVAL_WIDTH,
    }


def drawings(rows: Sequence[Mapping[str, Any]], margin: float) -> list[Drawn | None]:
    """Coordinates of the intervals of one table, on a common logarithmic scale that contains 1, the
    margin and all ratios; None for a row without a positive ratio.
    """
    ends = [1 / (1 + margin), 1 + margin, 0.99, 1.01]
    for row in rows:
        if row["ratio"] is not None:
            ends += [v for v in (row["ratio"], row["low"], row["high"]) if v is not None and v > 0]
    low, high = math.log(min(ends)), math.log(max(ends))

    def place(ratio: float) -> float:
        share = (math.log(ratio) - low) / (high - low)
        return round(INSET + share * (INTERVAL_WIDTH - 2 * INSET), 1)

    drawn: list[Drawn | None] = []
    for row in rows:
        if row["ratio"] is None or row["ratio"] <= 0:
            drawn.append(None)
            continue
        limits = [place(v) if v is not None and v > 0 else None for v in (row["low"], row["high"])]
        band = place(1 / (1 + margin)), place(1 + margin)
        drawn.append(Drawn(place(row["ratio"]), limits[0], limits[1], place(1.0), band))
    return drawn


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


def _history(history: Mapping[str, Any]) -> dict[str, Any]:
    """Values of the template for a history: a panel for each benchmark."""
    return {
        "panels": [_panel(row) for row in history["rows"]],
        "panel_size": PANEL_SIZE,
        "panel_words": PANEL_WORDS,
        "words": HISTORY_WORDS,
    }


def _panel(row: Mapping[str, Any]) -> Panel:
    measured = row["measured"]
    positive = min(value for each in measured for value in each["runs"]) > 0
    width, height = (size - 2 * INSET for size in PANEL_SIZE)

    def scaled(value: float) -> float:
        return math.log(value) if positive else value

    values = [scaled(value) for each in measured for value in each["runs"]]
    low, high = min(values), max(values)
    room = 0.05 * (high - low) or 0.01
    low, high = low - room, high + room

    def x(place: float) -> float:
        return round(INSET + width * place / max(len(measured) - 1, 1), 1)

    def y(value: float) -> float:
        return round(INSET + height * (high - scaled(value)) / (high - low), 1)

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
    bounds = [0, *row["starts"], len(measured)]
    return Panel(
        row["benchmark"],
        row["verdict"],
        row["unit"],
        dots,
        tuple((x(place), y(v)) for place, each in enumerate(measured) for v in each["runs"]),
        tuple(
            (x(a), x(b - 1), y(level))
            for a, b, level in zip(bounds, bounds[1:], row["levels"], strict=False)
        ),
        tuple(x(start - 0.5) for start in row["starts"]),
        number(max(means)),
        number(min(means)),
        measured[0]["revision"],
        measured[-1]["revision"],
    )


_DRAWN: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "compare": _comparison,
    "history": _history,
}
