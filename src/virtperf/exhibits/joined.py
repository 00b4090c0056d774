"""A figure's points with everything that is known of them in one row: what captions, tables and downloads read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from virtperf.core.provenance import Provenance
from virtperf.exhibits import frames
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.wording import interval, pretty
from virtperf.study.definition import Exhibit

KINDS = ("measured", "example")
_PARTS = ("low", "high", "runs")


def joined(
    data: StudyData, exhibit: Exhibit, *, level: float, assumptions: bool = True, examples: bool = False
) -> pd.DataFrame:
    """One row a point: the columns of `frames.points`; ``x``, the level on the figure's axis; of every kind of run
    ``measured``, ``measured_low``, ``measured_high`` (NaN without runs) and ``measured_runs`` (their ids); ``known``:
    whether a stage has computed limits.
    """
    points = frames.points(data, exhibit, assumptions=assumptions)
    means = frames.means(data, exhibit, level=level)
    points["x"] = points[exhibit.series[0].over]
    keys = ["series", "quantity", "x"]
    for kind in KINDS:
        wanted = kind if examples or kind != Provenance.EXAMPLE else ""
        rows = means[means["provenance"] == wanted].rename(columns={exhibit.series[0].over: "x", "value": kind})
        rows = rows.rename(columns={name: f"{kind}_{name}" for name in _PARTS})
        columns = [kind, *(f"{kind}_{name}" for name in _PARTS)]
        points = points.merge(rows[[*keys, *columns]].astype({"x": points["x"].dtype}), on=keys, how="left")
        points[f"{kind}_runs"] = [cell if isinstance(cell, list) else [] for cell in points[f"{kind}_runs"]]
    points["known"] = points["low"].notna()
    return points


def allowed(pieces: Sequence[float]) -> str:
    """Disjoint ranges, flattened, in words: ``60 to 61 or 90 to 95``; "not computed" without any."""
    ends = merged(pieces)
    return " or ".join(interval(low, high) for low, high in zip(ends[::2], ends[1::2], strict=True)) or "not computed"


def merged(pieces: Sequence[float]) -> list[float]:
    """Disjoint ranges, flattened, without the gaps that printed digits do not show."""
    ends = list(pieces[:1])
    for high, low in zip(pieces[1::2], pieces[2::2], strict=False):
        if pretty(high) != pretty(low):
            ends += [high, low]
    return [*ends, *pieces[-1:]]


def rows_of(points: pd.DataFrame) -> list[Any]:
    """The rows as objects with the columns as attributes."""
    return list(points.itertuples(index=False))
