"""What studies say at a given overcommitment ratio of processors or memory: their own numbers at
tested ratios, else the range of those around it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import pandas as pd

from virtperf.report.synthesis.numbers import combined_range

CURVE = ["of", "measure", "system", "study", "compared", "against"]
"""Columns that identify a curve."""
_NAMES = {"cpu": "CPU", "memory": "memory"}
_CLOSE = 1e-3  # relative tolerance for matching a tested ratio in its printed form


def at_ratios(curves: pd.DataFrame, places: Mapping[str, Mapping[str, float]]) -> pd.DataFrame:
    """Results of curves in words, one row a curve: the columns of `CURVE`, and one for each of the
    `places`, which are overcommitment ratios by resource ("cpu", "memory").

    At tested ratios, a result is the curve's own. Between tested ones, it is the range from the
    smallest to the largest value at the neighbours, which is valid if the curve is monotone there.
    There is no extrapolation.
    """
    rows = [
        dict(zip(CURVE, key, strict=True))
        | {heading: _at(points, ratios) for heading, ratios in places.items()}
        for key, points in curves.groupby(CURVE, sort=False)
    ]
    return pd.DataFrame(rows, columns=[*CURVE, *places])


def _at(points: pd.DataFrame, ratios: Mapping[str, float]) -> str:
    tested = {of: sorted(points[of].unique()) for of in ratios}
    around = {of: _neighbours(tested[of], ratio) for of, ratio in ratios.items()}
    if not all(around.values()):
        ends = {of: (of_one[0], of_one[-1]) for of, of_one in tested.items()}
        return f"outside the tested range, {_ratio_words(ends, ' to ', ' ratios')}"
    for of, neighbours in around.items():
        points = points[points[of].isin(neighbours)]
    corners = math.prod(map(len, around.values()))
    if points.groupby([*ratios]).ngroups < corners:
        return "a neighbouring tested ratio has no number"
    if corners == 1:
        return "; ".join(points["text"])
    between = _ratio_words(around, " and " if len(around) == 1 else " to ")
    return f"{combined_range(points)} between the tested ratios {between}"


def _ratio_words(ratios: Mapping[str, Sequence[float]], joined: str, noun: str = "") -> str:
    """``1 to 3`` for one resource, ``CPU 1 to 3 and memory 2 to 4`` for two."""
    texts = {of: joined.join(f"{ratio:g}" for ratio in of_one) for of, of_one in ratios.items()}
    if len(texts) == 1:
        return next(iter(texts.values()))
    return " and ".join(f"{_NAMES[of]}{noun} {text}" for of, text in texts.items())


def _neighbours(tested: Sequence[float], ratio: float) -> tuple[float, ...]:
    """The tested ratio equal to `ratio`, else its neighbours on both sides; empty outside.

    `tested` is in ascending order.
    """
    for where in tested:
        if math.isclose(where, ratio, rel_tol=_CLOSE) or f"{where:.3g}" == f"{ratio:.3g}":
            return (where,)
    below, above = [r for r in tested if r < ratio], [r for r in tested if r > ratio]
    return (below[-1], above[0]) if below and above else ()
