"""The cells of a design (combinations of levels), and what a linear model of them needs."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from virtperf.core.errors import ModelError
from virtperf.models.checks import Array
from virtperf.models.factors import Factor

MAX_CELLS = 2000


def grid_of(made: tuple[Factor, ...]) -> pd.DataFrame:
    """Return the positions of the levels in each cell: columns ``f0, f1, ...``, the last one running fastest.

    Raises
    ------
    ModelError
        For more than 2000 cells: columns of measurements, rather than of levels, would give many more.
    """
    sizes = [len(f.levels) for f in made]
    if math.prod(sizes) > MAX_CELLS:
        raise ModelError(
            f"{' and '.join(f.name for f in made)} make {math.prod(sizes)} cells",
            expected=f"at most {MAX_CELLS}",
            remedy="use columns of levels, or group their values",
        )
    return pd.DataFrame(np.indices(sizes).reshape(len(made), -1).T).add_prefix("f")


def cells_of(y: Array, made: tuple[Factor, ...], grid: pd.DataFrame) -> pd.DataFrame:
    """Return one row a cell: the factors' levels, the number ``n`` of its rows and their ``mean`` (NaN if empty)."""
    place = np.ravel_multi_index([f.codes for f in made], [len(f.levels) for f in made])
    n = np.bincount(place, minlength=len(grid))
    total = np.bincount(place, y, minlength=len(grid))
    levels = {f.name: [f.levels[code] for code in grid[f"f{i}"]] for i, f in enumerate(made)}
    return pd.DataFrame({**levels, "n": n, "mean": np.where(n > 0, total / np.maximum(n, 1), np.nan)})


def refuse_empty(cells: pd.DataFrame, names: tuple[str, ...]) -> None:
    """Raise ModelError, naming the first one, if a cell has no row."""
    empty = cells[cells["n"] == 0]
    if len(empty):
        where = " and ".join(f"{name} = {empty.iloc[0][name]}" for name in names)
        raise ModelError(
            f"{len(empty)} of {len(cells)} cells have no row, the first one being {where}",
            expected="rows in every cell, for an interaction",
            remedy="measure there, or fit without interaction (interaction=False)",
        )


def refuse_undetermined(design: Array, names: tuple[str, ...], interaction: bool) -> None:
    """Raise ModelError if the rows do not determine all parameters, or leave no residual degrees of freedom."""
    rows, params = design.shape
    if np.linalg.matrix_rank(design) < params:
        raise ModelError(
            f"the rows do not tell the effects of {' and '.join(names)} apart",
            expected="levels that are linked by cells they share",
            remedy="measure more combinations of levels",
        )
    if rows <= params:
        spare = ", or fit without interaction (interaction=False)" if interaction else ""
        raise ModelError(
            f"no residual degrees of freedom are left: {rows} rows for {params} parameters",
            expected="more rows than parameters",
            remedy=f"repeat the runs{spare}",
        )


def refuse_exact(residuals: Array, y: Array, names: tuple[str, ...]) -> None:
    """Raise ModelError if the residuals are nothing but rounding errors: their F could be of any size."""
    if np.abs(residuals).max() <= 1e-13 * np.abs(y).max():
        raise ModelError(
            f"rows with the same {' and '.join(names)} do not differ", remedy="a test needs replicates that differ"
        )
