"""Writing results: atomically, and with numbers that are the same bytes everywhere."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

SIGNIFICANT_DIGITS = 7
"""Digits of exported numbers: fewer than where solvers and processors may differ, more than any reader needs."""


@contextmanager
def replaced_folder(folder: Path) -> Iterator[Path]:
    """A new, empty folder that takes the place of `folder` when the block ends without an error.

    An interrupted run leaves the previous folder or none, never half of a new one.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
    try:
        yield fresh
        fresh.chmod(0o755)
        if folder.exists():
            shutil.rmtree(folder)
        fresh.rename(folder)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def write_atomically(path: Path, data: bytes | str) -> None:
    """Write a file so that readers see the old content or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data.encode() if isinstance(data, str) else data)
        Path(name).chmod(0o644)
        Path(name).replace(path)
    finally:
        Path(name).unlink(missing_ok=True)


def rounded(values: Any, digits: int = SIGNIFICANT_DIGITS) -> np.ndarray:
    """Numbers rounded to significant digits; infinities and NaN stay."""
    x = np.asarray(values, dtype=float)
    finite = np.isfinite(x) & (x != 0)
    magnitude = np.floor(np.log10(np.abs(x, where=finite, out=np.ones_like(x))))
    factor = 10.0 ** (digits - 1 - magnitude)
    result = np.where(finite, np.round(x * factor) / factor, x)
    return np.where(np.abs(result) < 1e-12, 0.0, result)


def csv_text(frame: pd.DataFrame) -> str:
    """A table as CSV with rounded numbers, unbounded and missing ones as empty cells, `\\n` line ends."""
    out = frame.copy()
    for column in out.select_dtypes("number").columns:
        if out[column].dtype.kind == "f":
            out[column] = [("" if not np.isfinite(v) else f"{v:.{SIGNIFICANT_DIGITS}g}") for v in rounded(out[column])]
    return out.to_csv(index=False, lineterminator="\n")


def json_text(value: Any) -> str:
    """JSON in a stable form: two blanks of indentation, keys in the given order."""
    return json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table: strings as strings, floats as float64, no index, no versions or times in the metadata."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    schema = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
    pq.write_table(table.cast(schema), path, compression="zstd", row_group_size=1 << 20)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind) or pa.types.is_dictionary(kind) or pa.types.is_null(kind):
        return pa.string()
    return kind
