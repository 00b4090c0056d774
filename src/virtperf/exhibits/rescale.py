"""Own runs on a relative axis whose reference point nobody has run: scaled at the best known point instead."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd

from virtperf.core.provenance import Provenance

SCALED = (Provenance.MEASURED, Provenance.EXAMPLE)


def rescaled(means: pd.DataFrame, points: pd.DataFrame, relative: Collection[str], over: str) -> pd.DataFrame:
    """Means of a figure in the figure's unit.

    Where a point of a relative quantity has its relative mean, or nobody ran the quantity, nothing changes. Where runs
    of one provenance have no relative mean at any point, they are scaled so that their mean is the middle of the
    interval that is relatively narrowest. That point then says nothing about the paper; the others
    do, relative to it.

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
    for (quantity, provenance), rows in means.groupby(["quantity", "provenance"], sort=False):
        if quantity not in relative:
            parts.append(rows)
        elif (rows["scale"] == "relative").any() or provenance not in SCALED:
            parts.append(rows[rows["scale"] == "relative"])
        else:
            parts.append(_scaled(rows, points, over))
    return pd.concat(parts).sort_index() if parts else means


def _scaled(rows: pd.DataFrame, points: pd.DataFrame, over: str) -> pd.DataFrame:
    known = rows.merge(
        points[["series", "quantity", over, "low", "high"]], on=["series", "quantity", over], how="left",
        suffixes=("_run", ""),
    )  # fmt: skip
    known.index = rows.index
    middle = ((known["low"] + known["high"]) / 2).where(lambda m: np.isfinite(m) & (m > 0))
    relative_width = ((known["high"] - known["low"]) / middle).dropna()
    if relative_width.empty:
        return rows.iloc[:0]
    here = rows.index == relative_width.idxmin()
    factor = float(middle[here].iloc[0]) / float(rows["value"][here].iloc[0])
    scaled = {name: rows[name] * factor for name in ("value", "low", "high", "se")}
    return rows.assign(**scaled, scaled_at=rows["place"][here].iloc[0], sets_scale=here)
