"""Own runs on a relative axis whose reference point nobody has run: scaled at the best known point instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from virtperf.exhibits.layers import Mean, Point
from virtperf.study.quantities import Quantity

Means = Mapping[tuple[Quantity, str], Mean]


def anchored(points: list[Point], absolute: Means, provenance: str) -> list[Point]:
    """Points of a figure with runs of one provenance put on its relative scale.

    Nothing changes where the reference point was run, or no point was. Otherwise the runs are scaled so that, at the
    point whose interval is relatively narrowest, their mean is the middle of what the text allows. That point then says
    nothing about the paper; the others do, relative to it. `Point.anchor` names it.

    Parameters
    ----------
    points : list of Point
        A figure's.
    absolute : mapping of (Quantity, provenance) to Mean
        In the runs' own unit.
    provenance : str
        measured or example, as the attribute of `Point` is called.
    """
    missing = [p for p in points if (p.quantity, provenance) in absolute and getattr(p, provenance) is None]
    scaled = {p.quantity.name for p in points if getattr(p, provenance) is not None}
    run = [p for p in missing if math.isfinite(p.low + p.high) and p.centre > 0 and p.quantity.name not in scaled]
    if not run:
        return points
    best = min(run, key=lambda p: (p.high - p.low) / p.centre)
    factor = best.centre / absolute[best.quantity, provenance].value
    found = []
    for p in points:
        if p in missing and p.quantity.name == best.quantity.name:
            mean = absolute[p.quantity, provenance]
            mean = Mean(mean.value * factor, mean.low * factor, mean.high * factor, mean.runs)
            moved = replace(p, measured=mean) if provenance == "measured" else replace(p, example=mean)
            p = replace(moved, anchor=best.quantity)
        found.append(p)
    return found
