"""Factors: columns of a data frame whose values are levels, and the contrasts between them."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virtperf.core.errors import ModelError
from virtperf.models import checks
from virtperf.models.checks import Array

MAX_LEVELS = 1000


@dataclass(frozen=True, eq=False)
class Factor:
    """A column of levels.

    Parameters
    ----------
    name : str
    levels : tuple
        Distinct values: sorted, or in the order of a categorical column, or (if they can't be sorted) of appearance.
    codes : ndarray of int, shape (n,)
        Position of each row's value in `levels`.
    """

    name: str
    levels: tuple[Hashable, ...]
    codes: NDArray[np.intp]

    def position(self, level: object) -> int:
        """Return the position of a level.

        Raises
        ------
        ModelError
            If no row has it.
        """
        if level not in self.levels:
            raise ModelError(
                f"{self.name} has no level {level!r}", expected=" or ".join(repr(known) for known in self.levels)
            )
        return self.levels.index(level)


def read_column(frame: pd.DataFrame, name: str) -> pd.Series:
    """Return one column, or raise ModelError if it is absent or there are several of that name."""
    found = list(frame.columns).count(name)
    if found != 1:
        known = ", ".join(str(c) for c in frame.columns)
        raise ModelError(f"the frame has {found} columns named {name!r}", expected=f"one of {known}")
    return frame[name]


def read_factor(frame: pd.DataFrame, name: str, *, least: int = 2) -> Factor:
    """Return a column as a factor.

    Raises
    ------
    ModelError
        For a column that is absent, a value that is missing (naming the first such row, counted from 1), or fewer
        than `least` levels or more than 1000.
    """
    values = read_column(frame, name)
    missing = values.isna().to_numpy()
    if missing.any():
        raise ModelError(
            f"{name} in row {int(np.argmax(missing)) + 1} of {len(values)} is missing",
            remedy="drop the row or fill in its level",
        )
    codes, uniques = pd.factorize(values)
    found: list[Any] = list(uniques)
    if isinstance(values.dtype, pd.CategoricalDtype):
        order = [level for level in values.cat.categories if level in found]
    else:
        try:
            order = sorted(found)
        except TypeError:
            order = found
    if not least <= len(order) <= MAX_LEVELS:
        some = ", ".join(str(level) for level in order[:5])
        raise ModelError(
            f"{name} has {len(order)} level{'s' if len(order) != 1 else ''} ({some})",
            expected=f"{least} to {MAX_LEVELS} levels",
            remedy=f"measure at more than one level of {name}, or leave it out",
        )
    place = np.array([order.index(level) for level in found])
    plain = tuple(level.item() if isinstance(level, np.generic) else level for level in order)
    return Factor(name, plain, place[codes])


def level_weights(weights: Mapping[Any, float], over: Factor) -> Array:
    """Return contrast weights in the order of the factor's levels, shape (k,); unnamed levels weigh zero.

    Raises
    ------
    ModelError
        For an unknown level, or weights that do not sum to zero.
    """
    out = np.zeros(len(over.levels))
    for level, weight in weights.items():
        out[over.position(level)] = weight
    return contrast_weights(out)


def contrast_weights(weights: Array) -> Array:
    """Return the weights after checking that they are finite, sum to zero and are not all zero."""
    total = math.fsum(weights) if np.all(np.isfinite(weights)) else math.nan
    size = float(np.abs(weights).sum())
    if not (size > 0 and abs(total) <= 1e-9 * size):
        raise ModelError(
            "the weights are not those of a contrast",
            expected="finite weights that sum to 0 and are not all 0",
            found=", ".join(f"{w:g}" for w in weights[:20]),
        )
    return np.asarray(checks.column(weights, "contrast weight"))
