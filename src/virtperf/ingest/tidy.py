"""Any one raw file as a tidy table: the tool's own fields beside the metrics that the dictionary makes of them."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from virtperf.core.errors import FormatError, VirtperfError
from virtperf.core.metrics import MetricDictionary
from virtperf.core.schema import Kind, Table
from virtperf.formats import Reading, ranking, read_whole
from virtperf.formats.declared.read import DeclaredFormat
from virtperf.ingest.folder import LARGEST_FILE
from virtperf.ingest.inputs import choose
from virtperf.ingest.samples import rates

TABLE = Table("<file>.parquet", "read", {
    "report": Kind.TEXT, "entity_kind": Kind.TEXT, "entity": Kind.TEXT, "field": Kind.TEXT, "t": Kind.NUMBER,
    "value": Kind.NUMBER, "line": Kind.WHOLE, "metric": Kind.TEXT, "metric_value": Kind.NUMBER,
    "metric_unit": Kind.TEXT,
}, digits=None)  # fmt: skip
"""A tidy table."""
COLUMNS = tuple(TABLE.columns)

CLOSE = 0.3
"""A second format whose certainty is that near to the first one's, or nearer, is worth naming."""


@dataclass(frozen=True)
class RawTable:
    """A raw file's content.

    Attributes
    ----------
    format, title : str
        Name of the format, and what it is in words.
    certainty : float
        Of the recognition, 0 to 1; NaN where the format was given.
    rival : str
        A format that could be meant as well, "" where none comes near.
    reading : Reading
    clock : str
        What `t` counts: one of `virtperf.formats.CLOCKS`, or ``"interval"`` where samples are numbered in the file and
        `t` is seconds since the first one.
    table : DataFrame
        Columns `COLUMNS`, one row a record of the reading, in its order. `line` is the file's line that holds the
        number, 0 where the format does not say; `metric` is "" and `metric_value` NaN where the dictionary has nothing
        for a field.
    warnings : tuple of str
        Of the reader, then of the conversion.
    """

    format: str
    title: str
    certainty: float
    rival: str
    reading: Reading
    clock: str
    table: pd.DataFrame
    warnings: tuple[str, ...]


def read_raw(
    data: bytes, *, file: str, format_name: str | None = None, dictionary: MetricDictionary | None = None,
    interval_s: float | None = None, inputs: Sequence[DeclaredFormat] = (),
) -> RawTable:  # fmt: skip
    """Read a raw file of any known format.

    Parameters
    ----------
    data : bytes
        The whole file.
    file : str
        Its name, for errors.
    format_name : str, optional
        Without it the file is recognised by its content.
    dictionary : MetricDictionary, optional
        Without it the table has the tool's own fields only.
    inputs : sequence of DeclaredFormat
        Declared formats, which come before others.
    interval_s : float, optional
        Seconds between samples, for files that only number them: `t` then is in seconds.

    Raises
    ------
    FormatError
        No such format, none recognises the file, the file can't be read, or `interval_s` is given for a file that has
        a clock of its own.
    """
    chosen = choose(data, file, format_name, inputs, file=file)
    told = format_name is not None or chosen in inputs
    scores = [] if told else ranking(data)
    certainty = math.nan if told else scores[0][0]
    rival = next((name for score, name in scores[1:2] if certainty - score <= CLOSE), "")
    try:
        reading = read_whole(chosen, data, file=file)
    except FormatError as err:
        if not rival or err.remedy:
            raise
        raise err.restated(FormatError, remedy=f"it could also be {rival}: try --format {rival}") from err
    records = reading.records
    clock = reading.clock
    if interval_s is not None:
        if clock != "sample":
            raise FormatError(
                "the file has a clock of its own", file=file, expected="no interval", found=f"clock {clock!r}"
            )
        records, clock = records.assign(t=records["t"] * interval_s), "interval"
    warnings = list(reading.warnings)
    table = with_metrics(records, clock, chosen.name, dictionary or MetricDictionary(()), warnings)
    table["line"] = np.zeros(len(table), dtype=np.int64) if reading.lines is None else reading.lines
    table = table[list(COLUMNS)]
    return RawTable(chosen.name, chosen.title, certainty, rival, reading, clock, table, tuple(warnings))


def with_metrics(
    records: pd.DataFrame, clock: str, format_name: str, dictionary: MetricDictionary, warnings: list[str]
) -> pd.DataFrame:
    """Records with the metric that each belongs to, its value in the metric's unit, and that unit.

    A counter becomes its growth per second since the sample before, so that its first sample has no value, and none has
    where the file's clock does not count seconds. The parts of a metric that is a sum have the sum at the first part.

    Parameters
    ----------
    records : DataFrame
        As in `Reading.records`.
    clock : str
        As in `RawTable`.
    warnings : list of str
        Gets what the conversion has to say.

    Returns
    -------
    DataFrame
        Columns `COLUMNS` without line, as many rows as `records`.
    """
    place = np.arange(len(records))
    # a row of a sum has the number of its first part's record
    found = dictionary.translate(records.assign(line=place), format_name).rename(columns={"line": "place"})
    counter = (found["kind"] == "counter").to_numpy(dtype=bool)
    growing = found[counter].rename(columns={"t": "t_s"}).assign(source=format_name, file=0)
    if len(growing) and clock in ("sample", "none"):
        warnings.append(
            "counters have no rate, since the file does not say how many seconds lie between samples"
            if clock == "sample"
            else "counters have no rate, since one snapshot shows no growth"
        )
        growing = growing[:0]
    known = pd.concat([found[~counter], rates(growing, warnings)]).set_index("place")["value"]
    names = found.drop_duplicates("place").set_index("place")["metric"].reindex(place).fillna("").astype("str")
    table = records.reset_index(drop=True).assign(
        metric=names,
        metric_value=known[~known.index.duplicated()].reindex(place),
        metric_unit=pd.array([dictionary[name].unit if name else "" for name in names], dtype="str"),
    )
    return table.astype({"metric_value": "float64"})


def document(raw: RawTable, file: str) -> dict[str, object]:
    """The table as one JSON document; missing numbers are null."""
    records = raw.table.astype("object").where(raw.table.notna(), None).to_dict("records")
    return {
        "file": file, "format": raw.format, "clock": raw.clock, "info": dict(raw.reading.info),
        "warnings": list(raw.warnings), "columns": list(COLUMNS), "records": records,
    }  # fmt: skip


def file_bytes(path: str | Path) -> bytes:
    """The content of a file, or of standard input for "-".

    Raises
    ------
    VirtperfError
        It can't be read, is no file, or is too large.
    """
    file = str(path)
    try:
        if file == "-":
            data = sys.stdin.buffer.read(LARGEST_FILE + 1)
        else:
            place = Path(path)
            if place.exists() and not place.is_file():  # a pipe would be waited for
                kind = "a folder" if place.is_dir() else "a pipe or a device"
                raise VirtperfError(f"it is {kind}, no file", file=file, remedy="give - to read from a pipe")
            with place.open("rb") as stream:
                data = stream.read(LARGEST_FILE + 1)
    except OSError as err:
        raise VirtperfError(f"the file can't be read: {err.strerror}", file=file) from err
    if len(data) > LARGEST_FILE:
        raise VirtperfError(
            "the file is too large", file=file, expected=f"at most {LARGEST_FILE} bytes",
            remedy="split it, or read a part",
        )  # fmt: skip
    return data
