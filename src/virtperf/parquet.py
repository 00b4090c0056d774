"""Tables as Parquet files whose bytes depend on nothing but the table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq


def write_parquet(frame: pd.DataFrame, path: Path) -> None:
    """Write a table: strings as strings, floats as float64, no index, no versions or times in the metadata."""
    table = pa.Table.from_pandas(frame, preserve_index=False)
    schema = pa.schema([field.with_type(_plain(field.type)) for field in table.schema])
    pq.write_table(table.cast(schema), path, compression="zstd", row_group_size=1 << 20)


def _plain(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_large_string(kind) or pa.types.is_dictionary(kind) or pa.types.is_null(kind):
        return pa.string()
    return kind
