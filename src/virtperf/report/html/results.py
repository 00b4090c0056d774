"""Pages of `virtperf compare` and `virtperf history`: sentences, tables and notes as in every other
medium, with drawings of intervals and of histories.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from virtperf.core.shown import Shown
from virtperf.report.html.templating import page, refuse_large

INTERVAL_WIDTH = 260.0
"""Width of an interval drawing, in pixels of the template's view box."""
INSET = 8.0


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


def results_page(shown: Shown, command: str, **values: Any) -> str:
    """Render a result of a command as a self-contained page."""
    nothing = {"panels": [], "drawings": [], "words": ""}
    values = {**nothing, **values, "shown": shown, "command": command}
    html = page("results", shown.title, wide=True, **values)
    refuse_large(html, shown.title)
    return html


def comparison_page(shown: Shown) -> str:
    """Render a comparison, with a drawing of each interval where there are two sides."""
    comparison = shown.data
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
    return results_page(
        shown,
        "compare",
        words=words if comparison["rows"] else "",
        drawings=drawings(comparison["rows"], comparison["margin"]) if two else [],
        width=INTERVAL_WIDTH,
    )


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
