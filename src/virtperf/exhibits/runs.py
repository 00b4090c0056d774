"""The values behind a figure's points, for the models of a notebook: one row a run, or a printed number."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virtperf.exhibits.data import StudyData
from virtperf.exhibits.layers import Point
from virtperf.study.quantities import Quantity

COLUMNS = ("series", "x", "run_id", "provenance", "value", "se")


def runs_behind(data: StudyData, points: Sequence[Point], provenance: str | None) -> pd.DataFrame:
    """The runs behind points: `COLUMNS`, in the figure's unit; those without a value are left out."""
    table = data.observations
    if table.empty or (provenance is not None and provenance not in set(table["provenance"])):
        return pd.DataFrame({c: [] for c in COLUMNS})
    found = [_rows(data, p.quantity) for p in points]
    of = np.repeat(np.arange(len(points)), [len(rows) for rows in found])
    relative = np.array([_relative(data, p.quantity) for p in points])[of]
    chosen = table.iloc[np.concatenate(found)].reset_index(drop=True)
    shown = pd.DataFrame(
        {
            "series": [points[k].series.label for k in of.tolist()], "x": [points[k].x for k in of.tolist()],
            "run_id": chosen["run_id"], "provenance": chosen["provenance"],
            "value": np.where(relative, chosen["relative"], chosen["value"]),
            "se": np.where(relative, chosen["relative_se"], chosen["se"]),
        }
    )  # fmt: skip
    if provenance is not None:
        shown = shown[shown["provenance"] == provenance]
    return shown.dropna(subset=["value"]).reset_index(drop=True)


def printed_behind(points: Sequence[Point]) -> pd.DataFrame:
    """The printed numbers behind points: `COLUMNS` and half_width, half the step of the last digit."""
    rows = [
        {
            "series": p.series.label, "x": p.x, "run_id": "", "provenance": "published", "value": p.published.value,
            "se": p.published.half_width / math.sqrt(3),  # uniform between the two roundings
            "half_width": p.published.half_width,
        }
        for p in points
        if p.published is not None
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[*COLUMNS, "half_width"])


def replicates(data: StudyData, quantity: Quantity, provenance: str) -> NDArray[np.float64]:
    """The runs' values of one quantity, shape (runs,), perhaps none."""
    rows = data.observations.iloc[_rows(data, quantity)]
    rows = rows[rows["provenance"] == provenance]
    return rows["relative" if _relative(data, quantity) else "value"].to_numpy(dtype=float)


def _rows(data: StudyData, quantity: Quantity) -> NDArray[np.intp]:
    return data.observed.get(quantity, np.empty(0, dtype=np.intp))


def _relative(data: StudyData, quantity: Quantity) -> bool:
    return bool(data.study.quantities[quantity.name].references)
