"""The numbers of a record as CSV, within a link that works without a server."""

from __future__ import annotations

import csv
import io
from urllib.parse import quote

from virtperf.exhibits.records import DIGITS, Numbers

_SAFE = "/,;:=[]()*!"  # may stand in an address as they are, which keeps pages small
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def csv_of(numbers: Numbers) -> str:
    """A table as CSV text: `DIGITS` significant digits, ``\\n`` line ends, missing values empty.

    Text that a spreadsheet would run as a formula begins with an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([_cell(column) for column in numbers.columns])
    writer.writerows([_cell(value) for value in row] for row in numbers.rows)
    return out.getvalue()


def _cell(value: str | int | float | bool | None) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return f"'{value}" if value.startswith(_FORMULA) else value
    return f"{value:.{DIGITS}g}" if isinstance(value, float) else str(value)


def address(numbers: Numbers) -> str:
    """The file as a ``data:`` address."""
    return f"data:text/csv;charset=utf-8,{quote(csv_of(numbers), safe=_SAFE)}"
