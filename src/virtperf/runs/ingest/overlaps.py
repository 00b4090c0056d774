"""Files of a run that give the same series over the same time."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from rawperf.core.errors import FormatError
from rawperf.core.metrics import WHOLE
from rawperf.rates import Key
from rawperf.sample_rows import ROW, SampleRows, concat_rows, select_rows


class Overlaps:
    """Refuses files whose samples of one series lie among each other: whose each value is would not
    be known, and a sum over entities would lack some.

    Files that go on where another one ends are one series, and so are copies: a value that another
    file gives too at that time is no sample of its own.
    """

    def __init__(self, run_id: str, paths: Sequence[str], named: Callable[[int], Key]) -> None:
        self._run_id, self._paths, self._named = run_id, paths, named
        self._files: dict[int, list[int]] = {}
        self._last = np.zeros(0, ROW)

    def check(self, rows: SampleRows) -> None:
        """Take the next samples, sorted by series, time and order, counters as they were counted.

        Raises `FormatError`: files that overlap.
        """
        rows = concat_rows([self._last, rows])
        self._last = rows[-1:]
        if not _other_file(rows).any():
            return
        at_once = _other_file(rows) & _equal(rows["t"])
        differs = at_once & (rows["value"][1:] != rows["value"][:-1])
        if differs.any():
            self._refuse(rows, int(np.argmax(differs)))
        rows = select_rows(rows, np.append(True, ~at_once))
        for place in np.flatnonzero(_other_file(rows)).tolist():
            series, before, file = (
                int(rows["series"][place]),
                int(rows["file"][place]),
                int(rows["file"][place + 1]),
            )
            files = self._files.setdefault(series, [before])
            if file in files:
                self._refuse(rows, place)
            files.append(file)

    def _refuse(self, rows: SampleRows, place: int) -> None:
        source, kind, entity, metric = self._named(int(rows["series"][place]))
        one, other = sorted(self._paths[int(rows["file"][place + k])] for k in (0, 1))
        whom = entity or ("the host" if kind == WHOLE else f"a {kind} without a name")
        raise FormatError(
            f"it gives {metric} of {whom} over the same time as {one} does, both read as {source}",
            file=f"{self._run_id}/{other}",
            expected="one file of a series at a time",
            remedy="say whose each file is: by folders (drivers/NAME.log, guests/NAME/sar.txt), by entity "
            "in run.yaml or in the declaration; leave out what is there twice by not_read",
        )


def _other_file(rows: SampleRows) -> np.ndarray:
    """Where the next sample is of the same series and of another file."""
    series, file = rows["series"], rows["file"]
    return (series[1:] == series[:-1]) & (file[1:] != file[:-1])


def _equal(t: np.ndarray) -> np.ndarray:
    return (t[1:] == t[:-1]) | (np.isnan(t[1:]) & np.isnan(t[:-1]))
