"""Rounding of exported numbers; grouping, concatenation and categoricals of tables."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

SIGNIFICANT_DIGITS = 7
"""Digits of exported numbers: few enough to be equal across solvers and processors, more than any
reader needs.
"""


MAX_LOOKUP_SIZE = 1 << 16
"""Largest number of possible combinations for a lookup table; above it, codes are factorized."""
MAX_CACHED_CATEGORIES = 64
MAX_POWER = 308
POWERS = np.array([float(f"1e{power}") for power in range(MAX_POWER + 1)])
"""Powers of ten as literals: numpy's own differ in their last bit between processors."""


def round_digits(values: Any, digits: int = SIGNIFICANT_DIGITS) -> np.ndarray:
    """Round to significant digits, and below 1e-9 to zero; infinities and NaN are kept."""
    x = np.asarray(values, dtype=float)
    finite = np.isfinite(x) & (x != 0)
    magnitude = np.floor(np.log10(np.abs(x, where=finite, out=np.ones_like(x))))
    decimals = np.clip(digits - 1 - magnitude, -MAX_POWER, MAX_POWER).astype(int)
    factor = POWERS[np.abs(decimals)]
    with np.errstate(over="ignore"):
        result = np.where(
            decimals < 0, np.round(x / factor) * factor, np.round(x * factor) / factor
        )
    result = np.where(finite, result, x)
    return np.where(np.abs(result) < 1e-9, 0.0, result)


def factorize_rows(frame: pd.DataFrame, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Factorize rows by several columns: group number of each row, and first row of each group."""
    code, size = np.zeros(len(frame), dtype=np.int64), 1
    for name in names:
        column = frame[name].array
        if isinstance(column, pd.Categorical) and (column.codes >= 0).all():
            codes, count = column.codes, len(column.categories)
        else:
            codes, texts = pd.factorize(column, use_na_sentinel=False)
            count = len(texts)
        if count > 1:
            code = code * count + codes
            size *= count
    if size <= MAX_LOOKUP_SIZE:
        rows = np.full(size, -1)
        rows[code[::-1]] = np.arange(len(frame))[::-1]  # the first row of a code wins
        first = np.sort(rows[rows >= 0])
        group_by_code = np.zeros(size, dtype=np.int64)
        group_by_code[code[first]] = np.arange(len(first))
        return group_by_code[code], first
    groups, distinct = pd.factorize(code)
    first = np.zeros(len(distinct), dtype=np.int64)
    first[groups[::-1]] = np.arange(len(frame))[::-1]
    return groups, first


def texts_at(column: pd.Series, rows: np.ndarray) -> list[str]:
    """Texts of some rows of a column, which may be categorical."""
    values = column.array
    if not isinstance(values, pd.Categorical):
        return column.iloc[rows].tolist()
    texts = values.categories.tolist()
    return [texts[code] for code in values.codes[rows].tolist()]


def encode_categories(codes: np.ndarray, texts: Sequence[str]) -> pd.Categorical:
    """Dictionary-encode a text column (categorical): row k is ``texts[codes[k]]``."""
    distinct = {text: position for position, text in enumerate(dict.fromkeys(texts))}
    kind = np.int8 if len(distinct) < 1 << 7 else np.int32
    distinct_codes = np.array([distinct[text] for text in texts], dtype=kind)
    is_small = len(distinct) <= MAX_CACHED_CATEGORIES
    return pd.Categorical.from_codes(
        distinct_codes[codes] if len(distinct_codes) else codes,
        dtype=(_cached_categories if is_small else _categories)(tuple(distinct)),
        validate=len(distinct_codes) == 0,
    )


def _categories(texts: tuple[str, ...]) -> pd.CategoricalDtype:
    return pd.CategoricalDtype(pd.Index(list(texts), dtype="str"))


_cached_categories = lru_cache(maxsize=1024)(_categories)
"""Cached: small files share few names, and building an index takes longer than reading a line."""


def decode_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert categorical columns to strings."""
    categories = frame.columns[[isinstance(kind, pd.CategoricalDtype) for kind in frame.dtypes]]
    return frame.astype(dict.fromkeys(categories, "str"))


def concat_tables(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Concatenate tables by row; columns that are categorical in all of them stay categorical.

    A single table is returned as it is.
    """
    if len(frames) == 1:
        return frames[0]
    coded_in_all = [
        name
        for name in frames[0].columns
        if all(isinstance(frame[name].dtype, pd.CategoricalDtype) for frame in frames)
    ]
    if not coded_in_all:
        return pd.concat([decode_categories(frame) for frame in frames], ignore_index=True)
    columns = {
        name: union_categoricals([frame[name] for frame in frames])
        if name in coded_in_all
        else np.concatenate([frame[name].to_numpy() for frame in frames])
        for name in frames[0].columns
    }
    return pd.DataFrame(columns, copy=False)
