"""Raw files as tidy tables: the tool's own fields and the metrics of the dictionary."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from rawperf.base import ParsedFile, rechunk_by_sample
from rawperf.core.errors import FormatError, RawperfError
from rawperf.core.files import json_text
from rawperf.core.metrics import MetricDictionary, SeriesName
from rawperf.core.sample_rows import CounterRates, SampleRows, SeriesKey, select_rows
from rawperf.core.table_columns import concat_tables, decode_categories
from rawperf.core.table_columns import encode_categories as category
from rawperf.declared.read import DeclaredFormat, load_declaration
from rawperf.registry import (
    METRICS,
    build_dictionary,
    choose_format,
    format_dictionary,
    is_recognised_by_name,
    rank_formats,
    read_blocks,
)
from rawperf.text import peek_stream

DECLARATIONS = (".yaml", ".yml")
"""File suffixes of declarations."""
COLUMNS = (
    "report",
    "entity_kind",
    "entity",
    "field",
    "t",
    "value",
    "line",
    "metric",
    "metric_value",
    "metric_unit",
    "kind",
)
"""Columns of a tidy table; `t`, `value` and `metric_value` are float, `line` is int, others text."""

RIVAL_MARGIN = 0.3
"""Largest difference in certainty at which the second-best format is reported."""
_FORMULA = r"^(?=[=+\-@\t\r])"
_TEXTS = pa.dictionary(pa.int32(), pa.large_string())
MAX_TABLE_BYTES = 256 * 1024**2
"""Largest size of a file that is read as a whole."""


class RawTables:
    """Raw file of any known format as a stream of tidy tables.

    `stream` is at its beginning and need not be seekable.

    Parameters
    ----------
    format_name : str, optional
        Without it the file is recognised by its content.
    dictionary : MetricDictionary, optional
        Without it the tables have the tool's own fields only.
    interval_s : float, optional
        Seconds between samples, for files that only number them: `t` then is in seconds.
    inputs : sequence of DeclaredFormat
        Declared formats, which come before others.

    Raises `FormatError`: no such format, or none recognises the file.
    """

    def __init__(
        self,
        stream: BinaryIO,
        *,
        file: str,
        format_name: str | None = None,
        dictionary: MetricDictionary | None = None,
        interval_s: float | None = None,
        inputs: Sequence[DeclaredFormat] = (),
    ) -> None:
        head, self._stream = peek_stream(stream)
        self._chosen = choose_format(head, file, format_name, inputs, file=file)
        is_specified = (
            format_name is not None or self._chosen in inputs or is_recognised_by_name(self._chosen)
        )
        scores = [] if is_specified else rank_formats(head)
        self._file, self._interval_s = file, interval_s
        self.format, self.title = self._chosen.name, self._chosen.title
        # certainty of the recognition, 0 to 1; NaN if none was needed
        self.certainty = math.nan if is_specified else scores[0][0]
        # second-best format if its certainty is similar, else ""
        self.runner_up = next(
            (name for score, name in scores[1:2] if self.certainty - score <= RIVAL_MARGIN), ""
        )
        # one of `rawperf.base.CLOCKS`, or "interval": numbered samples, seconds since the first
        self.clock = ""
        self.info: dict[str, str] = {}  # header facts, as far as the file was read
        self.table = pd.DataFrame(columns=list(COLUMNS))  # the whole table, set by `read_raw`
        self._messages: list[str] = []
        self._metrics = MetricTranslator(dictionary or MetricDictionary(()), self.format)

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings of the reader, then of the conversion, as far as the file was read."""
        return (*self._messages, *self._metrics.messages())

    def tables(self, categorical: bool = False) -> Iterator[pd.DataFrame]:
        """Yield tables with columns `COLUMNS`, one row per record in file order; at least one.

        With `categorical`, texts may be categorical, which are faster to write. `line` is the file's line
        that holds the number, 0 if unknown; `metric` is "" and `metric_value` NaN if the dictionary
        has no metric for a field. `kind` is ``gauge``, ``counter``, ``total`` or ``event`` (one row
        a request), "" without a metric.

        Raises `FormatError`: the file can't be read, or `interval_s` is given for a file that does
        not number its samples.
        """
        for parsed in rechunk_by_sample(self._blocks()):
            records, self.clock, self.info = parsed.records, parsed.clock, parsed.info
            self._messages += parsed.warnings
            if self._interval_s is not None:
                if parsed.clock != "sample":
                    is_snapshot = parsed.clock == "none"
                    raise FormatError(
                        "the file has totals without times"
                        if is_snapshot
                        else "the file has its own clock",
                        file=self._file,
                        expected="a file with numbered samples",
                        found=None if is_snapshot else f"clock {parsed.clock!r}",
                        remedy="leave out the interval",
                    )
                records, self.clock = records.assign(t=records["t"] * self._interval_s), "interval"
            table = self._metrics.translate(records.reset_index(drop=True), self.clock)
            table["line"] = (
                np.zeros(len(table), dtype=np.int64) if parsed.lines is None else parsed.lines
            )
            table = table[list(COLUMNS)]
            yield table if categorical else decode_categories(table)

    def _blocks(self) -> Iterator[ParsedFile]:
        try:
            yield from read_blocks(self._chosen, self._stream, file=self._file, categorical=True)
        except FormatError as err:
            if not self.runner_up or err.remedy:
                raise
            remedy = f"it could also be {self.runner_up}: try --input-format {self.runner_up}"
            raise err.copy_as(FormatError, remedy=remedy) from err


class MetricTranslator:
    """Translate the records of one file to metrics, part by part.

    A counter becomes its rate per second since the previous sample. Its first sample has no value,
    nor has any if the file's clock does not count seconds. The sum of a combined metric is at its
    first part.
    """

    def __init__(self, dictionary: MetricDictionary, format_name: str) -> None:
        self._dictionary, self._format = dictionary, format_name
        self._clock_without_rates = ""
        self._series: dict[SeriesKey, int] = {}
        self._rates = CounterRates(lambda number: list(self._series)[number])

    def translate(self, records: pd.DataFrame, clock: str) -> pd.DataFrame:
        """Add columns for the metric of each record, its value in the metric's unit, that unit, and
        the kind of the value.

        `records` are indexed from 0; no part of a file ends within a sample. `clock` is that of
        `RawTables`.
        """
        found = self._dictionary.translate(records, self._format)
        code = np.zeros(len(records), dtype=np.int64)  # 0: no metric
        values = np.full(len(records), np.nan)
        # the first of several metrics of a record
        is_first = np.diff(found.order, prepend=-1) > 0
        code[found.order[is_first]] = found.code[is_first] + 1
        values[found.order[is_first]] = found.value[is_first]
        is_counter = is_first & found.has_kind("counter")
        if is_counter.any():
            values[found.order[is_counter]] = np.nan
            if clock in ("sample", "none"):
                self._clock_without_rates = clock
            else:
                rows = found.rows(t=records["t"].to_numpy(dtype=float))
                rates = self._counter_rates(select_rows(rows, is_counter), found.series)
                values[rates["order"]] = rates["value"]
        metrics = [metric for _, _, metric, _ in found.series]
        kinds = [kind for *_, kind in found.series]
        units = [self._dictionary[name].unit for name in metrics]
        return records.assign(
            metric=category(code, ["", *metrics]),
            metric_value=values,
            metric_unit=category(code, ["", *units]),
            kind=category(code, ["", *kinds]),
        )

    def messages(self) -> list[str]:
        """Warnings of the conversion for all parts so far."""
        reasons = {
            "sample": ["counters have no rate, since the file does not give the sampling interval"],
            "none": ["counters have no rate, since the file has no times"],
        }
        return [*reasons.get(self._clock_without_rates, []), *self._rates.messages()]

    def _counter_rates(self, counters: SampleRows, names: list[SeriesName]) -> SampleRows:
        """Rates of counters, whose `series` is an index into `names`; renumbers it."""
        numbers = np.zeros(len(names), dtype=np.int32)
        for code in np.unique(counters["series"]).tolist():
            key = (self._format, *names[code][:3])
            numbers[code] = self._series.setdefault(key, len(self._series))
        counters["series"] = numbers[counters["series"]]
        return self._rates.compute(counters)


def read_raw(stream: BinaryIO, **options: object) -> RawTables:
    """Read a whole raw file, including `table`; takes and raises as `RawTables` and `tables` do."""
    raw = RawTables(stream, **options)  # type: ignore[arg-type]
    raw.table = concat_tables(list(raw.tables()))
    return raw


def read(
    path: str | Path,
    *,
    format: str | Path | None = None,  # noqa: A002 - users' word
    interval_s: float | None = None,
    metrics: str | Path = METRICS,
) -> pd.DataFrame:
    """Read a raw file of any known format as a tidy frame.

    Parameters
    ----------
    path : str or Path
        The file, plain or compressed, or "-" for standard input.
    format : str or Path, optional
        Name of a format, or a YAML file that declares one; default: recognised by content.
    interval_s : float, optional
        Seconds between samples, for files that only number them.
    metrics : str or Path, optional
        Metric dictionary; default: that of the package.

    Returns
    -------
    DataFrame
        One row per number, columns `COLUMNS`: `t` in seconds (a sample number if the file only
        numbers its samples and `interval_s` is not given), `value` in the tool's own unit,
        `metric_value` in `metric_unit`. ``frame.attrs["warnings"]`` holds the warnings.

    Raises
    ------
    RawperfError
        The file can't be read, or no format recognises it.
    """
    with open_raw(path, format, interval_s, metrics) as raw:
        table = concat_tables(list(raw.tables()))
    table.attrs["warnings"] = list(raw.warnings)
    return table


@contextmanager
def open_raw(
    path: str | Path,
    format: str | Path | None = None,  # noqa: A002 - users' word
    interval_s: float | None = None,
    metrics: str | Path = METRICS,
    inputs: Sequence[DeclaredFormat] = (),
) -> Iterator[RawTables]:
    """Open a raw file whose tables are read part by part; takes and raises as `read` does.

    `inputs` are declared formats that come before all others.
    """
    name = None if format is None else str(format)
    if format is not None and Path(format).suffix in DECLARATIONS:
        inputs = (load_declaration(Path(format)),)
        name = inputs[0].name
        dictionary = format_dictionary(inputs[0], Path(metrics))
    else:
        dictionary = build_dictionary(Path(metrics), inputs)
    with open_input(path) as stream:
        yield RawTables(
            stream,
            file=str(path),
            format_name=name,
            interval_s=interval_s,
            inputs=inputs,
            dictionary=dictionary,
        )


def escape_formulas(table: pd.DataFrame) -> pd.DataFrame:
    """Prevent formula injection: put an apostrophe before texts that a spreadsheet would run."""
    texts = table.select_dtypes(include=["str"]).columns
    return table.assign(
        **{name: table[name].str.replace(_FORMULA, "'", regex=True) for name in texts}
    )


def write_parquet(tables: Iterable[pd.DataFrame], out: BinaryIO) -> None:
    """Write tables to one Parquet file, in memory that does not grow with their number."""
    writer: pq.ParquetWriter | None = None
    for table in tables:
        if writer is None:
            part = pa.Table.from_pandas(table, preserve_index=False)
            text_columns = [field.name for field in part.schema if not _is_number(field.type)]
            encodings = {
                field.name: "DELTA_BINARY_PACKED"
                if pa.types.is_integer(field.type)
                else "BYTE_STREAM_SPLIT"
                for field in part.schema
                if _is_number(field.type)
            }
            fields = [
                field if _is_number(field.type) else field.with_type(_TEXTS)
                for field in part.schema
            ]
            schema = pa.schema(fields, part.schema.metadata)
            # dictionary encoding only for texts: few numbers repeat, so that it costs more than it
            # saves; bytes of numbers side by side are compressed three times as fast
            writer = pq.ParquetWriter(
                out,
                schema,
                store_schema=False,
                use_dictionary=text_columns,
                column_encoding=encodings,
                write_statistics=[name for name in ("t", "line") if name in part.column_names],
            )
            part = part.cast(schema)
        else:
            part = _to_arrow_table(table, schema)
        writer.write_table(part)
    if writer is not None:
        writer.close()


def _to_arrow_table(table: pd.DataFrame, schema: pa.Schema) -> pa.Table:
    """Convert a table to a known schema.

    pandas' own conversion infers the schema again for every table, which takes as long as
    converting the columns.
    """
    columns = [table[field.name].array for field in schema]
    if any(isinstance(c, pd.Categorical) and (c.codes < 0).any() for c in columns) or not all(
        isinstance(c, pd.Categorical) or _is_number(f.type)
        for c, f in zip(columns, schema, strict=True)
    ):
        return pa.Table.from_pandas(table, preserve_index=False).cast(schema)
    arrays = [
        pa.DictionaryArray.from_arrays(
            pa.array(column.codes, pa.int32()), pa.array(column.categories, pa.large_string())
        )
        if isinstance(column, pd.Categorical)
        else pa.array(column.to_numpy(), field.type, from_pandas=True)
        for column, field in zip(columns, schema, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=schema)


def _is_number(kind: pa.DataType) -> bool:
    return pa.types.is_floating(kind) or pa.types.is_integer(kind)


@contextmanager
def open_input(path: str | Path) -> Iterator[BinaryIO]:
    """Open a file, or standard input for "-".

    Raises `RawperfError` if it can't be read, or is not a file.
    """
    file = str(path)
    if file == "-":
        yield sys.stdin.buffer
        return
    file_path = Path(path)
    if file_path.exists() and not file_path.is_file():  # opening a pipe would block
        kind = "a folder" if file_path.is_dir() else "a pipe or a device"
        raise RawperfError(
            f"the path is {kind}, not a file", file=file, remedy="use - to read from a pipe"
        )
    try:
        stream = file_path.open("rb")
    except OSError as err:
        raise RawperfError(f"the file can't be read: {err.strerror}", file=file) from err
    with stream:
        yield stream


def read_bytes(path: str | Path) -> bytes:
    """Read a file, or standard input for "-"; raises as `open_input` does, and if it is too large."""
    with open_input(path) as stream:
        data = stream.read(MAX_TABLE_BYTES + 1)
    if len(data) > MAX_TABLE_BYTES:
        raise RawperfError(
            "the file is too large",
            file=str(path),
            expected=f"at most {MAX_TABLE_BYTES} bytes",
            remedy="split it, or read a part",
        )
    return data


def write_json(raw: RawTables, tables: Iterable[pd.DataFrame], file: str, out: TextIO) -> None:
    """Write the tables of a raw file as one JSON document; missing numbers are null.

    Facts that are known only at the file's end follow the records.
    """
    header = {"file": file, "format": raw.format, "columns": list(COLUMNS)}
    out.write(json_text(header).removesuffix("\n}\n") + ',\n  "records": [')
    has_records = False
    for table in tables:
        records = table.astype("object").where(table.notna(), None).to_dict("records")
        if records:
            text = json_text(records).removeprefix("[").removesuffix("\n]\n")
            out.write("," * has_records + text.replace("\n", "\n  "))
            has_records = True
    footer = {"clock": raw.clock, "info": dict(raw.info), "warnings": list(raw.warnings)}
    out.write("\n  ],\n" + json_text(footer).removeprefix("{\n"))
