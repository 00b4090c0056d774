"""A reader's own file as a frame: raw files of any known format, and tables."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd

from virtperf.core.errors import FormatError, VirtperfError
from virtperf.core.metrics import MetricDictionary, load_metrics
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.ingest.tidy import file_bytes, read_raw

TABLES = (".csv", ".tsv", ".parquet", ".json", ".jsonl")
"""Suffixes of tables: read as they are where no raw format recognises the content."""


def read(
    path: str | Path, *, format: str | None = None, interval_s: float | None = None,  # noqa: A002 - the word users know
) -> pd.DataFrame:  # fmt: skip
    """Read a raw file of any known format, or a table, as a tidy frame.

    Parameters
    ----------
    path : str or Path
    format : str, optional
        Name of a raw format; without it the content decides.
    interval_s : float, optional
        Seconds between samples, for raw files that only number them.

    Returns
    -------
    DataFrame
        Of a raw file one row a number, with the columns of `virtperf.ingest.tidy.COLUMNS`: `t` in seconds, `value` in
        the tool's own unit, `metric_value` in the unit that `metric_unit` names. Of a table its own columns. Both have
        the columns `provenance` ("own data") and `file`, so that whatever is computed from them says so.
        ``frame.attrs["warnings"]`` holds the reader's warnings.

    Raises
    ------
    VirtperfError
        The file can't be read, is too large, or nothing recognises it; names the file and what to do.
    """
    place = Path(path)
    data = file_bytes(place)
    warnings: tuple[str, ...] = ()
    try:
        raw = read_raw(data, file=place.name, format_name=format, interval_s=interval_s, dictionary=_dictionary())
        frame, warnings = raw.table, raw.warnings
    except FormatError:
        if format is not None or place.suffix.lower() not in TABLES:
            raise
        frame = _table(data, place)
    taken = [name for name in ("provenance", "file") if name in frame.columns]
    frame = frame.rename(columns={name: f"{name}_in_file" for name in taken})
    frame = frame.assign(provenance=str(Provenance.OWN), file=place.name)
    frame.attrs["warnings"] = list(warnings)
    return frame


def _table(data: bytes, place: Path) -> pd.DataFrame:
    try:
        match place.suffix.lower():
            case ".parquet":
                return pd.read_parquet(io.BytesIO(data))
            case ".json":
                return pd.read_json(io.BytesIO(data))
            case ".jsonl":
                return pd.read_json(io.BytesIO(data), lines=True)
            case _:
                return pd.read_csv(io.BytesIO(data), sep=None, engine="python")
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError) as err:
        raise VirtperfError(
            f"not a table: {err}", file=place.name, expected="a first row of names, then rows of as many cells"
        ) from err


def _dictionary() -> MetricDictionary | None:
    """The metric dictionary of the repository that the working folder lies in, if it lies in one."""
    for folder in (Path.cwd(), *Path.cwd().parents):
        layout = Layout(folder)
        if layout.metrics.is_file():
            return load_metrics(layout.metrics)
    return None
