"""Shared input validation of all models: errors name the row and the requirement."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from rawperf.core.errors import ModelError, ParameterError
from rawperf.core.number_text import MAX_NUMBER

Array = NDArray[np.float64]


def column(
    values: ArrayLike,
    name: str,
    *,
    positive: bool = False,
    nonnegative: bool = False,
    remedy: str = "drop rows in which nothing was measured",
) -> Array:
    """Return `values` as a one-dimensional array of finite floats up to `MAX_NUMBER`,
    optionally checked to be positive or not negative.

    Raises
    ------
    ModelError
        Names the values and the first invalid row (counted from 1, or the text label and the column
        of a series); `remedy` is the advice for
        values with a wrong sign.
    """
    # Reject numeric strings too: np.asarray(["1", "2"], float) would silently convert them.
    try:
        if isinstance(values, list | tuple) and any(isinstance(v, bool | np.bool_) for v in values):
            raise TypeError(values)
        raw: Any = np.asarray(values)
        if raw.dtype.kind not in "iuf":
            raw = np.array(
                [float("nan") if v is None else _number(v) for v in raw.ravel()]
            ).reshape(raw.shape)
    except (TypeError, ValueError) as error:
        raise ModelError(
            f"{name} has a value that is not a number", expected="one number per row"
        ) from error
    array = np.array(raw, dtype=np.float64)
    if array.ndim != 1:
        raise ModelError(f"{name} has {array.ndim} dimensions", expected="one value per row")
    if array.size == 0:
        raise ModelError(f"{name} is empty", expected="at least one row")
    for bad, problem, advice in (
        (~np.isfinite(array), "not a finite number", "drop the row or repair its value"),
        (np.abs(array) > MAX_NUMBER, "too large", f"use values of at most {MAX_NUMBER:g}"),
        (positive & (array <= 0), "not positive", remedy),
        (nonnegative & (array < 0), "negative", remedy),
    ):
        if bad.any():
            row = int(np.argmax(bad))
            raise ModelError(
                f"{_row_place(values, name, row)} is {problem}",
                found=repr(float(array[row])),
                remedy=advice,
            )
    return array


def _number(value: object) -> float:
    if isinstance(value, (str, bytes, complex, bool, np.bool_)):
        raise TypeError(value)
    return float(value)  # type: ignore[arg-type]


def _row_place(values: Any, name: str, row: int) -> str:
    """Name a value: ``load in row 1 of 6``; of a series also by its column and its text label:
    ``load (column 'guests') in line 2``.
    """
    place = f"row {row + 1} of {len(values)}"
    if isinstance(values, pd.Series):
        if values.name is not None and values.name != name:
            name = f"{name} (column {str(values.name)!r})"
        label = values.index[row]
        place = label if isinstance(label, str) else place
    return f"{name} in {place}"


def weights_or_ones(weights: ArrayLike | None, rows: int) -> Array:
    """Return checked weights (proportional to 1/variance, one per row), or ones."""
    if weights is None:
        return np.ones(rows)
    checked = column(weights, "weight", positive=True)
    same_length(("weight", checked), ("observation", np.empty(rows)))
    return checked


def same_length(one: tuple[str, Sized], other: tuple[str, Sized]) -> None:
    """Raise ModelError unless two columns have the same number of rows."""
    (first, a), (second, b) = one, other
    if len(a) != len(b):
        raise ModelError(
            f"{first} has {len(a)} rows but {second} has {len(b)}", expected="equal numbers of rows"
        )


def enough(x: Array, params: Sequence[str], *, name: str) -> None:
    """Raise ModelError if `x` has fewer rows, or fewer distinct values, than there are parameters."""
    need = len(params)
    if len(x) < need:
        raise ModelError(
            f"{len(x)} row{'' if len(x) == 1 else 's'} can't determine {need} parameters ({', '.join(params)})",
            expected=f"at least {need} rows, and one more for an interval",
            remedy="measure at more points or fit a smaller model",
        )
    values = np.unique(x)
    if len(values) < need:
        raise ModelError(
            f"{name} has too few distinct values",
            expected=f"at least {need}",
            found=f"{len(values)} ({', '.join(f'{v:g}' for v in values[:5])})",
            remedy=f"measure at other values of {name} or fit a smaller model",
        )


def level(alpha: float) -> float:
    """Return the confidence level 1 - alpha after checking that alpha lies in (0, 1)."""
    if not 0.0 < alpha < 1.0:
        raise ParameterError(
            "alpha is out of range", expected="a number between 0 and 1", found=repr(alpha)
        )
    return 1.0 - alpha


def require_one_of(value: str, allowed: Sequence[str], name: str) -> str:
    """Return `value` if it is one of `allowed`, else raise ModelError."""
    if value not in allowed:
        raise ParameterError(
            f"unknown {name}", expected=" or ".join(repr(a) for a in allowed), found=repr(value)
        )
    return value
