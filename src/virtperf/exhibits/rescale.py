"""Own runs on a relative axis whose reference point nobody has run: scaled at the best known point instead."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

NARROW = 0.1  # half-width of a range, relative to its middle, up to which the middle may stand for it


def rescaled(means: pd.DataFrame, points: pd.DataFrame, relative: Collection[str], over: str) -> pd.DataFrame:
    """Means of a figure in the figure's unit.

    Where a point of a relative quantity has its relative mean, or nobody ran the quantity, nothing changes. Where runs
    of one provenance have no relative mean at any point, they are scaled so that their mean is the middle of what the
    text allows at the point whose range is relatively narrowest. That point then says nothing about the paper; the
    others do, relative to it. Where no range is `NARROW`, there is no scale, and they are left out.

    Parameters
    ----------
    means : DataFrame
        series, quantity, provenance, scale ("own" or "relative"), place (the point in words), value, low, high, se and
        the column `over`: a figure's, in the runs' own unit and, where they have one, on the relative scale.
    points : DataFrame
        The figure's: series, quantity, low, high and the column `over`.
    relative : collection of str
        Quantities on a relative scale.
    over : str
        The column of the figure's levels.

    Returns
    -------
    DataFrame
        One scale a quantity and provenance, with the columns scaled_at: the place where the scale was set, or "", and
        sets_scale: whether that is the row's own.
    """
    means = means.assign(scaled_at="", sets_scale=False)
    parts = []
    for (quantity, _), rows in means.groupby(["quantity", "provenance"], sort=False):
        if quantity not in relative:
            parts.append(rows)
        elif (rows["scale"] == "relative").any():
            parts.append(rows[rows["scale"] == "relative"])
        else:
            parts.append(_scaled(rows, points, over))
    return pd.concat(parts).sort_index() if parts else means


def _scaled(rows: pd.DataFrame, points: pd.DataFrame, over: str) -> pd.DataFrame:
    known = rows.merge(
        points[["series", "quantity", over, "low", "high"]], on=["series", "quantity", over], how="left",
        suffixes=("_run", ""),
    )  # fmt: skip
    middle = ((known["low"] + known["high"]) / 2).set_axis(rows.index)
    width = ((known["high"] - known["low"]) / 2).set_axis(rows.index) / middle.where(np.isfinite(middle) & (middle > 0))
    if not (width <= NARROW).any():
        return rows.iloc[:0]
    here = rows.index == width.idxmin()
    factor = float(middle[here].iloc[0]) / float(rows["value"][here].iloc[0])
    scaled = {name: rows[name] * factor for name in ("value", "low", "high", "se")}
    return rows.assign(**scaled, scaled_at=rows["place"][here].iloc[0], sets_scale=here)
