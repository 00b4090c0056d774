"""Schemas of the tables between stages: typed columns, used for both writing and reading."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rawperf.core.errors import ParameterError, RawperfError, did_you_mean
from rawperf.core.files import replace_file
from rawperf.core.table_columns import round_digits
from virtperf.core.levels import level_text, parse_level


class CellKind(StrEnum):
    """Type of a column's cells; comments give the representations in a frame and in a file."""

    TEXT = "text"  # str, "" if missing
    NUMBER = "number"  # float64, NaN (null) if missing; infinities are kept
    WHOLE = "whole"  # int64
    TRUTH = "truth"  # bool
    LEVEL = (
        "level"  # int, float or str as in the study; text in files, encoded by `levels.level_text`
    )
    NAMES = "names"  # list of str, possibly empty; list of string
    NUMBERS = "numbers"  # list of float, possibly empty, infinities are kept; list of float64


_CODED = pa.dictionary(pa.int32(), pa.string())  # in memory only; files store plain strings
_ARROW = {
    CellKind.TEXT: _CODED,
    CellKind.NUMBER: pa.float64(),
    CellKind.WHOLE: pa.int64(),
    CellKind.TRUTH: pa.bool_(),
    CellKind.LEVEL: _CODED,
    CellKind.NAMES: pa.list_(pa.string()),
    CellKind.NUMBERS: pa.list_(pa.float64()),
}
_DTYPES: dict[CellKind, Any] = {
    CellKind.WHOLE: "int64",
    CellKind.TRUTH: "bool",
    CellKind.TEXT: "str",
}
ROW_GROUP = 1 << 20
"""Maximum number of rows in a Parquet row group."""


@dataclass(frozen=True)
class TableSchema:
    """Schema of one Parquet file: its name, the stage that writes it, its ordered columns.

    `factors_before`: the study's factors are inserted before this column, as columns of levels; ""
        for a table without them.
    `digits`: significant digits of numbers; None disables rounding.
    """

    file: str
    stage: str
    columns: Mapping[str, CellKind]
    factors_before: str = ""
    digits: int | None = 10

    def kinds(self, factors: Sequence[str] = ()) -> dict[str, CellKind]:
        """Return all columns with their types, including the study's factors; `load_study` rejects
        factors that are named like a column.
        """
        if not self.factors_before:
            return dict(self.columns)
        kinds: dict[str, CellKind] = {}
        for name, kind in self.columns.items():
            if name == self.factors_before:
                kinds |= dict.fromkeys(factors, CellKind.LEVEL)
            kinds[name] = kind
        return kinds

    def frame(
        self, rows: Iterable[Mapping[str, Any]] = (), factors: Sequence[str] = ()
    ) -> pd.DataFrame:
        """Build a frame with these columns, typed and rounded as in the file; empty without rows."""
        kinds = self.kinds(factors)
        table = pd.DataFrame(list(rows), columns=list(kinds))
        return pd.DataFrame(
            {name: self._typed(table[name], kind) for name, kind in kinds.items()},
            columns=list(kinds),
        )

    def write_parts(
        self, frames: Iterable[pd.DataFrame], out: BinaryIO, factors: Sequence[str] = ()
    ) -> None:
        """Write the concatenation of frames; a row group ends with a frame, or at `ROW_GROUP` rows."""
        kinds = self.kinds(factors)
        whole = [name for name, kind in kinds.items() if kind is CellKind.WHOLE]
        with pq.ParquetWriter(
            out,
            _schema(kinds),
            compression="zstd",
            write_page_checksum=True,
            store_schema=False,
            use_dictionary=[
                name
                for name, kind in kinds.items()
                if kind in (CellKind.TEXT, CellKind.LEVEL, CellKind.NUMBER)
            ],
            column_encoding=dict.fromkeys(whole, "DELTA_BINARY_PACKED"),
        ) as writer:
            for frame in frames:
                writer.write_table(self._arrow(frame, kinds), row_group_size=ROW_GROUP)

    def arrow(self, frames: Iterable[pd.DataFrame], factors: Sequence[str] = ()) -> pa.Table:
        """The Arrow table that `read_arrow` gives for what `write_parts` writes."""
        kinds = self.kinds(factors)
        stored = pa.schema([(name, _stored(kind)) for name, kind in kinds.items()])
        return pa.concat_tables([self._arrow(frame, kinds).cast(stored) for frame in frames])

    def _arrow(self, frame: pd.DataFrame, kinds: Mapping[str, CellKind]) -> pa.Table:
        arrays = [_array(self._typed(frame[name], kind), kind) for name, kind in kinds.items()]
        return pa.table(arrays, schema=_schema(kinds))

    def write(self, frame: pd.DataFrame, path: Path, factors: Sequence[str] = ()) -> None:
        """Write a frame that has these columns; the bytes are deterministic in its cells."""
        with replace_file(path) as out:
            self.write_parts([frame], out, factors)

    def read(self, path: Path, factors: Sequence[str] = ()) -> pd.DataFrame:
        """Read a file written by `write`; raises as `read_arrow` does."""
        return self.pandas(self.read_arrow(path, factors), factors)

    def pandas(self, table: pa.Table, factors: Sequence[str] = ()) -> pd.DataFrame:
        """Convert an Arrow table with these columns to a frame."""
        kinds = self.kinds(factors)
        return pd.DataFrame(
            {name: _series(table[name], kind) for name, kind in kinds.items()}, columns=list(kinds)
        )

    def read_arrow(self, path: Path, factors: Sequence[str] = ()) -> pa.Table:
        """Read the file as an Arrow table; raises `RawperfError` for an unreadable file or other
        columns.
        """
        kinds = self.kinds(factors)
        try:
            # not `read_table`, which loads the machinery of data sets and takes twice as long
            with pq.ParquetFile(path, page_checksum_verification=True) as file:
                table = file.read(use_threads=False)
            table.validate(full=True)
            names = table.column_names
        except FileNotFoundError as err:
            raise RawperfError(
                "the file is missing", file=path, remedy=f"run the stage {self.stage} first"
            ) from err
        except (pa.ArrowException, OSError, UnicodeDecodeError) as err:
            raise self._unreadable("not a valid Parquet file", path, str(err)) from err
        wrong = [
            n for n in kinds if n not in names or not _fits(table.schema.field(n).type, kinds[n])
        ]
        extra = [name for name in names if name not in kinds]
        if wrong or extra:
            missing = [name for name in wrong if name not in names]
            mistyped = [
                f"{name} ({table.schema.field(name).type})" for name in wrong if name not in missing
            ]
            parts = (("missing", missing), ("of another type", mistyped), ("unknown", extra))
            differences = "; ".join(
                f"{word}: {', '.join(columns)}" for word, columns in parts if columns
            )
            raise self._unreadable(
                "columns differ from those of this version and study", path, differences
            )
        return table

    def _unreadable(self, problem: str, path: Path, found: str) -> RawperfError:
        place = "/".join(path.parts[-2:])
        return RawperfError(
            problem, file=place, found=found, remedy=f"run the stage {self.stage} again."
        )

    def _typed(self, column: pd.Series, kind: CellKind) -> pd.Series:
        if kind is CellKind.NUMBER:
            values = column.astype("float64")
            return (
                values
                if self.digits is None
                else pd.Series(round_digits(values, self.digits), index=column.index)
            )
        if kind is CellKind.LEVEL:
            return _levels(column.tolist(), column.index)
        if kind is CellKind.NAMES:
            return pd.Series([list(cell) for cell in column], index=column.index, dtype="object")
        if kind is CellKind.NUMBERS:
            cells = [
                list(map(float, cell if self.digits is None else round_digits(cell, self.digits)))
                for cell in column
            ]
            return pd.Series(cells, index=column.index, dtype="object")
        coded = kind is CellKind.TEXT and isinstance(column.dtype, pd.CategoricalDtype)
        return column if coded else column.astype(_DTYPES[kind])


def _levels(values: list[Any], index: Any = None) -> pd.Series:
    """Build a column of levels: int64, float64 or str if all have one type, else objects that keep
    their types.
    """
    plain = [v.item() if hasattr(v, "item") else v for v in values]
    types = {type(v) for v in plain}
    dtype = (
        {int: "int64", float: "float64", str: "str"}.get(types.pop(), "object")
        if len(types) == 1
        else "object"
    )
    return pd.Series(plain, index=index, dtype=dtype)


def _array(column: pd.Series, kind: CellKind) -> pa.Array:
    if isinstance(column.dtype, pd.CategoricalDtype):
        texts = pa.array(column.cat.categories.tolist(), pa.string())
        return pa.DictionaryArray.from_arrays(column.cat.codes.to_numpy().astype("int32"), texts)
    values = [level_text(v) for v in column.tolist()] if kind is CellKind.LEVEL else column
    coded = _ARROW[kind] == _CODED
    if coded and kind is not CellKind.LEVEL:  # long, low cardinality: encode before converting
        texts = pa.array(values, from_pandas=True)
        texts = texts.combine_chunks() if isinstance(texts, pa.ChunkedArray) else texts
        if pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type):
            return texts.dictionary_encode().cast(_CODED)
    array = pa.array(values, type=pa.string() if coded else _ARROW[kind], from_pandas=True)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array.dictionary_encode() if coded else array


def _series(column: pa.ChunkedArray, kind: CellKind) -> pd.Series:
    if kind in (CellKind.NAMES, CellKind.NUMBERS):
        return pd.Series(column.to_pylist(), dtype="object")
    if kind is CellKind.LEVEL:
        coded = column.combine_chunks().dictionary_encode()
        known = np.empty(len(coded.dictionary), dtype=object)
        known[:] = [parse_level(text) for text in coded.dictionary.to_pylist()]
        return _levels(known[coded.indices.to_numpy()].tolist())
    series = column.to_pandas()
    return series.astype("str") if kind is CellKind.TEXT else series


def _fits(arrow_type: pa.DataType, kind: CellKind) -> bool:
    if kind is CellKind.NAMES:
        return pa.types.is_list(arrow_type) and pa.types.is_string(arrow_type.value_type)
    if kind is CellKind.NUMBERS:
        return pa.types.is_list(arrow_type) and pa.types.is_float64(arrow_type.value_type)
    return arrow_type == _stored(kind)


def _stored(kind: CellKind) -> pa.DataType:
    return pa.string() if _ARROW[kind] == _CODED else _ARROW[kind]


def _schema(kinds: Mapping[str, CellKind]) -> pa.Schema:
    return pa.schema([(name, _ARROW[kind]) for name, kind in kinds.items()])


def require_columns(
    frame: pd.DataFrame, names: Iterable[str], *, name: str = "the frame", file: str | None = None
) -> None:
    """Raise `ParameterError` for a missing column of a frame, called `name` and perhaps read from
    `file`, listing the existing ones; also for an argument that is not a frame.
    """
    if not isinstance(frame, pd.DataFrame):
        raise ParameterError(
            "the table is not a DataFrame",
            expected="a pandas DataFrame with one row per run",
            found=f"{type(frame).__name__} {frame!r}",
            remedy="read a file by virtperf.read(path) or pandas.read_csv(path)",
        )
    for column in names:
        if column not in frame.columns:
            raise ParameterError(
                f"{name} has no column {column!r}",
                file=file,
                expected=f"one of {', '.join(map(str, frame.columns))}",
                remedy=did_you_mean(column, frame.columns),
            )
