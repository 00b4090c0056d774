"""Reading what kernels print, and writing tables."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Sequence
from pathlib import Path


def meminfo_kib(text: str, name: str) -> int:
    """One line of ``/proc/meminfo``.

    Raises
    ------
    OSError
        The line is missing.
    """
    if found := re.search(rf"(?m)^{name}: +(\d+) kB$", text):
        return int(found[1])
    raise OSError(f"/proc/meminfo of a guest has no line {name}; it begins with {text[:60]!r}")


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table with its heading."""
    with path.open("w", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(columns)
        table.writerows(rows)
