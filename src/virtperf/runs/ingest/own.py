"""A reader's own file as a frame: raw files of any known format, and tables."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from rawperf import head_of, ranking
from rawperf.core.errors import VirtperfError
from rawperf.pieces import peeked
from rawperf.registry import METRICS, MIN_CERTAINTY, dictionary_of
from rawperf.tidy import file_bytes, opened, read_raw
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.runs.ingest.inputs import declared_inputs

DELIMITERS = ("\t", ";", ",", "|", " ")
"""What separates columns, the first of them that the heading has: a comma may be a decimal one."""


def _delimited(stream: io.BytesIO) -> pd.DataFrame:
    """A table with a heading. pandas' own guess takes a letter for the delimiter of one column."""
    first = stream.readline().decode("utf-8-sig").strip()
    stream.seek(0)
    unquoted = re.sub(r'"[^"]*"', "", first)
    found = next((mark for mark in DELIMITERS if mark in unquoted), ",")
    sep = r"\s+" if found == " " else found
    return pd.read_csv(stream, sep=sep, engine="python", skipinitialspace=True)


def _records(stream: io.BytesIO) -> pd.DataFrame:
    """A JSON list of objects, or an object with such a list under ``records``, as `virtperf read`
    writes it.
    """
    content = json.load(stream)
    records = content.get("records") if isinstance(content, dict) else content
    if not (isinstance(records, list) and all(isinstance(row, dict) for row in records)):
        raise ValueError("the JSON document is no list of objects")
    return pd.DataFrame(records)


TABLE_READERS: dict[str, Callable[[io.BytesIO], Any]] = {
    ".csv": _delimited,
    ".tsv": _delimited,
    ".parquet": pd.read_parquet,
    ".json": _records,
    ".jsonl": partial(pd.read_json, lines=True),
}
"""What reads tables, by suffix: as they are, where no raw format recognises the content."""


def read(
    path: str | Path,
    *,
    format: str | Path | None = None,  # noqa: A002 - users' word
    interval_s: float | None = None,
    study: str | None = None,
) -> pd.DataFrame:
    """Read a raw file of any known format, or a table, as a tidy frame.

    Parameters
    ----------
    format : str or Path, optional
        Name of a raw format, or a YAML file that declares one; without it the content decides.
    interval_s : float, optional
        Seconds between samples, for raw files that only number them.
    study : str, optional
        Id of a study of this repository, whose declared inputs come first.

    Returns
    -------
    DataFrame
        Of a raw file one row a number, with the columns of `rawperf.tidy.COLUMNS`: `t`
        in seconds, `value` in the tool's own unit, `metric_value` in the unit that `metric_unit`
        names. Of a table its own columns. Both have the columns `provenance` ("own data") and
        `file`, so that whatever is computed from them says so.
        ``frame.attrs["warnings"]`` holds the reader's warnings.

    Raises
    ------
    VirtperfError
        The file can't be read, is too large, or nothing recognises it; names the file and what to
        do.
    """
    place, layout = Path(path), _layout()
    inputs, name = declared_inputs(layout, study, format)
    warnings: tuple[str, ...] = ()
    with opened(place) as stream:
        head, stream = peeked(stream)
        known = name is not None or any(form.takes(place.name, head_of(head)) for form in inputs)
        sure = known or any(certainty >= MIN_CERTAINTY for certainty, _ in ranking(head)[:1])
        if not sure and place.suffix.lower() in TABLE_READERS:
            frame = table(file_bytes(place), place)
        else:
            raw = read_raw(
                stream,
                file=place.name,
                format_name=name,
                interval_s=interval_s,
                inputs=inputs,
                dictionary=dictionary_of(METRICS if layout is None else layout.metrics, inputs),
            )
            frame, warnings = raw.table, raw.warnings
    taken = [name for name in ("provenance", "file") if name in frame.columns]
    frame = frame.rename(columns={name: f"{name}_in_file" for name in taken})
    frame = frame.assign(provenance=str(Provenance.OWN_DATA), file=place.name)
    frame.attrs["warnings"] = list(warnings)
    return frame


def table(data: bytes, place: Path) -> pd.DataFrame:
    """The rows of a table, which the suffix of its place tells how to read.

    Raises
    ------
    VirtperfError
        Not a table.
    """
    try:
        return TABLE_READERS[place.suffix.lower()](io.BytesIO(data))
    except (ValueError, UnicodeDecodeError, pd.errors.ParserError) as err:
        expected = "a first row of names, then rows of as many cells"
        raise VirtperfError(f"not a table: {err}", file=place.name, expected=expected) from err


def _layout() -> Layout | None:
    """The repository that the working folder lies in, if it lies in one."""
    layouts = (Layout(folder) for folder in (Path.cwd(), *Path.cwd().parents))
    return next(
        (layout for layout in layouts if (layout.root / "data" / "published").is_dir()), None
    )
