"""Page of benchmark histories: sentences, a table, and one small panel a benchmark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from virtperf.core.numbers import number
from virtperf.report.html.templating import page, refuse_large

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


def history_page(
    histories: Mapping[str, Any], columns: Sequence[str], cells: Sequence[Sequence[str]]
) -> str:
    """Render `HistoryTable.to_dict()` as a self-contained page; `cells` are those of its table,
    under `columns`.
    """
    title = f"History of {histories['place']}"
    html = page(
        "history",
        title,
        histories=histories,
        columns=columns,
        cells=cells,
        panels=[_panel(row) for row in histories["rows"]],
        wide=True,
        width=WIDTH,
        height=HEIGHT,
    )
    refuse_large(html, title)
    return html


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
