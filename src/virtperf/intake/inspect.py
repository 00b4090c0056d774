"""What each raw file of a folder is, and which times it has by its own clock."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from virtperf.core.errors import FormatError
from virtperf.formats import get_format, sniff


@dataclass(frozen=True)
class Inspected:
    """One raw file.

    Attributes
    ----------
    path : str
        Relative to the folder.
    format : str
        "" where no format recognises it.
    clock : str
        One of `virtperf.formats.CLOCKS`, "" where the file was not read.
    times : ndarray, shape (n,)
        Its different times by its own clock, ascending.
    records : int
    """

    path: str
    format: str
    clock: str
    times: np.ndarray
    records: int

    @property
    def step(self) -> float:
        """The usual distance between its times; 0 where it has fewer than two."""
        return float(np.median(np.diff(self.times))) if len(self.times) > 1 else 0.0


def inspect(folder: Path, paths: Sequence[str], formats: Mapping[str, str]) -> list[Inspected]:
    """Read every raw file once.

    Parameters
    ----------
    folder : Path
    paths : sequence of str
    formats : mapping of str to str
        Formats that were told, by path; the others are recognised by their content.

    Raises
    ------
    FormatError
        A recognised file can't be read, with file and line; an unknown format.
    """
    found = []
    for path in paths:
        data = (folder / path).read_bytes()
        try:
            chosen = get_format(formats[path]) if path in formats else sniff(data, file=path)
        except FormatError:
            if path in formats:
                raise
            found.append(Inspected(path, "", "", np.empty(0), 0))
            continue
        reading = chosen.read(data, file=path)
        t = reading.records["t"].to_numpy(dtype=float)
        times = np.unique(t[np.isfinite(t)])
        found.append(Inspected(path, chosen.name, reading.clock, times, len(reading.records)))
    return found
