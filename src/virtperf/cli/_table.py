"""Input tables of model commands: row filters and numeric columns, read as by `virtperf.read`."""

from __future__ import annotations

from collections.abc import Sequence

import click
import numpy as np
import pandas as pd

from rawperf.core.errors import RawperfError, did_you_mean
from rawperf.tidy import read_bytes
from virtperf.runs.ingest import own
from virtperf.runs.ingest.columns import row_lines, to_numbers
from virtperf.study.quantities import parse_level

MAX_LISTED_ROWS = 10
MAX_LISTED_LEVELS = 10


def read_table(file: str, where: Sequence[str]) -> pd.DataFrame:
    """Read a table, and filter its rows by ``COLUMN=VALUE``; ``-`` is CSV from standard input."""
    frame = own.table(read_bytes(file), "-", ".csv") if file == "-" else own.read(file)
    for condition in where:
        name, equals, text = condition.partition("=")
        if not equals:
            raise click.UsageError(f"--where {condition}: expected COLUMN=VALUE.")
        frame = filter_level(frame, name, text, file)
    return frame


def filter_level(frame: pd.DataFrame, name: str, text: str, file: str) -> pd.DataFrame:
    """Filter rows by a level, compared as numbers if both are numeric."""
    require_columns(frame, [name], file)
    level = parse_level(text)
    keep = np.array([parse_level(str(cell)) == level for cell in frame[name]], dtype=bool)
    if not keep.any():
        known = list(dict.fromkeys(map(str, frame[name])))
        more = ", ..." if len(known) > MAX_LISTED_LEVELS else ""
        raise RawperfError(
            f"no row has {name} = {text}",
            file=file,
            expected=f"one of {', '.join(known[:MAX_LISTED_LEVELS])}{more}",
        )
    return frame[keep]


def require_columns(frame: pd.DataFrame, names: Sequence[str], file: str) -> None:
    """Raise `RawperfError` for the first missing column."""
    for name in names:
        if name not in frame.columns:
            raise RawperfError(
                f"there is no column {name!r}",
                file=file,
                expected=f"one of {', '.join(map(str, frame.columns))}",
                remedy=did_you_mean(name, frame.columns),
            )


def row_names(frame: pd.DataFrame, file: str) -> pd.DataFrame:
    """Label the rows by line number in a text file, else by row number from 1."""
    lines = row_lines(file)
    names = [
        f"line {lines[place]}" if place < len(lines) else f"row {place + 1}"
        for place in map(int, frame.index)
    ]
    return frame.set_axis(names, axis="index")


def filter_numeric(
    frame: pd.DataFrame, names: Sequence[str], file: str
) -> tuple[pd.DataFrame, list[str]]:
    """Filter the rows with a number in each of the columns, and warn about the others.

    Raises
    ------
    RawperfError
        A missing column, a cell that is neither empty nor a finite number, or no row with numbers.
    """
    require_columns(frame, names, file)
    numbers = {name: to_numbers(frame[name], name, file) for name in names}
    complete = np.all([values.notna() for values in numbers.values()], axis=0)
    if not complete.any():
        raise RawperfError(f"no row has numbers in {' and '.join(names)}", file=file)
    warnings = []
    if not complete.all():
        rows = list(row_names(frame[~complete], file).index)
        shown = ", ".join(rows[:MAX_LISTED_ROWS]) + (", ..." if len(rows) > MAX_LISTED_ROWS else "")
        warnings = [f"{len(rows)} row(s) with missing values were left out: {shown}"]
    return frame.assign(**numbers)[complete], warnings
