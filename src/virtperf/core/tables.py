"""Result tables as files: CSV with declared digits, Parquet whose bytes depend on nothing but the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

SIGNIFICANT_DIGITS = 7
"""Digits of exported numbers: fewer than where solvers and processors may differ, more than any reader needs."""


def rounded(values: Any, digits: int = SIGNIFICANT_DIGITS) -> np.ndarray:
    """Numbers rounded to significant digits, below 1e-9 to zero; infinities and NaN stay."""
    x = np.asarray(values, dtype=float)
    finite = np.isfinite(x) & (x != 0)
    magnitude = np.floor(np.log10(np.abs(x, where=finite, out=np.ones_like(x))))
    factor = 10.0 ** (digits - 1 - magnitude)
    result = np.where(finite, np.round(x * factor) / factor, x)
    return np.where(np.abs(result) < 1e-9, 0.0, result)


def csv_text(frame: pd.DataFrame) -> str:
    """A table as CSV with rounded numbers, unbounded and missing ones as empty cells, `\\n` line ends."""
    out = frame.copy()
    for column in out.select_dtypes("number").columns:
        if out[column].dtype.kind == "f":
            out[column] = [("" if not np.isfinite(v) else f"{v:.{SIGNIFICANT_DIGITS}g}") for v in rounded(out[column])]
    return out.to_csv(index=False, lineterminator="\n")


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table: strings as strings, floats as float64, no index, no versions or times in the metadata."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    schema = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
    pq.write_table(table.cast(schema), path, compression="zstd", row_group_size=1 << 20)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind) or pa.types.is_dictionary(kind) or pa.types.is_null(kind):
        return pa.string()
    return kind
