"""Page of a comparison: sentences, a table a quantity with its intervals drawn, and differences
between the machines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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


def comparison_page(
    comparison: Mapping[str, Any], columns: Sequence[str], cells: Sequence[Sequence[str]]
) -> str:
    """Render a comparison as a self-contained page.

    Parameters
    ----------
    comparison : mapping
        `ComparisonTable.to_dict()` with `remarks` and `fact_cells`.
    columns : sequence of str
        Headings of the table, the quantity first.
    cells : sequence of sequences of str
        The cells below, for each of its `rows`.
    """
    tables: dict[str, list[tuple[Sequence[str], Drawn | None]]] = {}
    groups: dict[str, list[int]] = {}
    for place, row in enumerate(comparison["rows"]):
        groups.setdefault(row["quantity"], []).append(place)
    for quantity, places in groups.items():
        rows = [comparison["rows"][place] for place in places]
        drawn = drawings(rows, comparison["margin"])
        tables[quantity] = [
            (cells[place][1:], drawing) for place, drawing in zip(places, drawn, strict=True)
        ]
    title = (
        f"{comparison['b']} against {comparison['a']}"
        if comparison["b"]
        else f"A/A test: {comparison['a']}"
    )
    html = page(
        "compared",
        title,
        comparison=comparison,
        columns=columns[1:],
        tables=tables,
        wide=True,
        width=INTERVAL_WIDTH,
    )
    refuse_large(html, title)
    return html


def drawings(rows: Sequence[Mapping[str, Any]], margin: float) -> list[Drawn | None]:
    """Coordinates of the intervals of one table, on a common logarithmic scale that contains 1, the
    margin and all ratios; None for a row without a positive ratio.
    """
    ends = [1 / (1 + margin), 1 + margin, 0.99, 1.01]
    for row in rows:
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
