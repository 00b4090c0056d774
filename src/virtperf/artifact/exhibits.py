"""Figures proposed for a quantity: over the factor with the most levels, a series for each level of
another.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from virtperf.artifact.path_layout import TEST
from virtperf.core.levels import Level

MAX_SERIES = 8
MAX_POINTS = 40
MIN_LINE = 3
"""Fewest numeric levels of a line."""
MAX_DISTRIBUTIONS = 8
"""Most levels of a figure with the distributions of samples."""


def propose_exhibit(
    quantity: str,
    label: str,
    conditions: Sequence[Mapping[str, Any]],
    factors: Mapping[str, Mapping[str, Any]],
    *,
    sampled: bool,
) -> dict[str, Any]:
    """A figure of a quantity in these conditions, which are of one test."""
    varied = {
        name: _levels(conditions, name, entry)
        for name, entry in factors.items()
        if name != TEST and len({c[name] for c in conditions}) > 1
    }
    over = _axis(varied) or next((n for n in factors if n != TEST), TEST)
    others = sorted((n for n in varied if n != over), key=lambda n: -len(varied[n]))
    split = next((n for n in others if len(varied[n]) <= MAX_SERIES), "")
    fixed_names = [n for n in factors if n not in (over, split)]
    most = Counter(tuple(c[n] for n in fixed_names) for c in conditions).most_common(1)[0][0]
    fixed = dict(zip(fixed_names, most, strict=True))
    at = {n: x for n, x in fixed.items() if x != factors[n].get("default")}
    chosen = [c for c in conditions if all(c[n] == x for n, x in fixed.items())]
    series = []
    for level in varied[split] if split else [None]:
        own = [c for c in chosen if not split or c[split] == level]
        levels = [x for x in _levels(own, over, factors[over]) if x is not None][:MAX_POINTS]
        if levels:
            words = f"{factors[split]['label']} {level}" if split else label
            levels_at = {**at, **({split: level} if split else {})}
            series.append({"label": words, "at": levels_at, "levels": levels})
    numeric = [x for x in _levels(chosen, over, factors[over]) if not isinstance(x, str)]
    kind = (
        "line"
        if len(numeric) >= MIN_LINE and len(numeric) == len(_levels(chosen, over, factors[over]))
        else "bar"
    )
    test = f", {fixed[TEST]}" if TEST in fixed else ""
    entry = {
        "kind": kind,
        "title": f"EXAMPLE, replace: {label} by {factors[over]['label']}{test}",
        "section": "EXAMPLE",
        "quantity": quantity,
        "over": over,
    }
    held = [f"{factors[n]['label']} {x}" for n, x in fixed.items() if n in varied]
    if held:
        entry["note"] = f"At {', '.join(held)}."
    points = [(s, x) for s in series for x in s["levels"]]
    if sampled and kind == "bar" and len(points) <= MAX_DISTRIBUTIONS:
        entry["kind"] = "distribution"
        series = [
            {"label": f"{s['label']}, {x}" if split else str(x), "at": s["at"], "levels": [x]}
            for s, x in points
        ]
    return {**entry, "series": series}


def _axis(varied: Mapping[str, Sequence[Level]]) -> str:
    """The numeric factor with the most levels, if they make a line; else the one with the most."""
    numeric = [
        name
        for name, levels in varied.items()
        if len(levels) >= MIN_LINE and not any(isinstance(level, str) for level in levels)
    ]
    return max(numeric or varied, key=lambda name: len(varied[name]), default="")


def _levels(
    conditions: Sequence[Mapping[str, Any]], name: str, entry: Mapping[str, Any]
) -> list[Level]:
    """Levels that occur, in the order of the factor."""
    found = {condition[name] for condition in conditions}
    return [level for level in entry["levels"] if level in found]
