"""Samples of a run, sorted by series and time in memory that does not grow with their number."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from rawperf.sample_rows import ROW, SampleRows, concat_rows, in_order, select_rows

SPILL_ROWS = 1 << 18
"""Samples that are kept in memory, and that are given at a time."""
_EXTENT = np.dtype(
    [("series", "i4"), ("file", "i4"), ("begin", "i8"), ("end", "i8"), ("low", "f8")]
)


class Spill:
    """Samples of many series; more than `SPILL_ROWS` go to a file in `folder` without a name, gone when
    the block ends.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._held: list[SampleRows] = []
        self._count = self._written = 0
        self._file: BinaryIO | None = None
        self._extents: list[NDArray[np.void]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.close()

    def add(self, rows: SampleRows) -> None:
        """Take samples in any order; those of one file and series later ones need not be later in
        time.
        """
        self._held.append(rows)
        self._count += len(rows)
        if self._count >= SPILL_ROWS:
            self._write()

    def parts(self, rank: NDArray[np.int64], shift: NDArray[np.float64]) -> Iterator[SampleRows]:
        """All samples, sorted by series, time and order; those of one series and time are in one
        part.

        `rank` is the place of each series among all, which `series` of what is given is; `shift`
        are the seconds to be added to the times of each file.
        """
        if self._file is None:
            yield in_order(_placed(concat_rows(self._held), rank, shift), "series")
            return
        self._write()
        extents = np.concatenate(self._extents)
        extents["series"] = rank[extents["series"]]
        extents["low"] += shift[extents["file"]]
        extents = extents[np.lexsort((extents["low"], extents["series"]))]
        gathered: list[NDArray[np.void]] = []
        size = 0
        for own in np.split(extents, np.flatnonzero(np.diff(extents["series"])) + 1):
            more = int((own["end"] - own["begin"]).sum())
            if gathered and size + more > SPILL_ROWS:
                yield in_order(_placed(self._read(np.concatenate(gathered)), rank, shift), "series")
                gathered, size = [], 0
            if more > SPILL_ROWS:
                yield from self._long(own, rank, shift)
            else:
                gathered.append(own)
                size += more
        if gathered:
            yield in_order(_placed(self._read(np.concatenate(gathered)), rank, shift), "series")

    def _long(
        self, extents: NDArray[np.void], rank: NDArray[np.int64], shift: NDArray[np.float64]
    ) -> Iterator[SampleRows]:
        """The samples of one series, cut by time: extents come by their first times."""
        left = np.zeros(0, ROW)
        for place in range(len(extents)):
            more = _placed(self._read(extents[place : place + 1]), rank, shift)
            left = in_order(concat_rows([left, more]), "series")
            ready = np.ones(len(left), dtype=bool)
            if place + 1 < len(extents):
                bound = extents["low"][place + 1]
                ready = ~np.isnan(left["t"]) if np.isnan(bound) else left["t"] < bound
            if ready.any():
                yield select_rows(left, ready)
            left = select_rows(left, ~ready)

    def _write(self) -> None:
        rows = in_order(concat_rows(self._held), "series", "file")
        self._held, self._count = [], 0
        if self._file is None:
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 - it lives as long as its owner
        self._file.seek(self._written * ROW.itemsize)
        self._file.write(rows.view(np.uint8).data)
        if len(rows):
            new = (np.diff(rows["series"]) != 0) | (np.diff(rows["file"]) != 0)
            begin = np.concatenate([[0], np.flatnonzero(new) + 1])
            extents = np.zeros(len(begin), _EXTENT)
            extents["series"], extents["file"] = rows["series"][begin], rows["file"][begin]
            extents["begin"], extents["end"] = begin, np.append(begin[1:], len(rows))
            extents["low"] = rows["t"][begin]
            extents["begin"] += self._written
            extents["end"] += self._written
            self._extents.append(extents)
        self._written += len(rows)

    def _read(self, extents: NDArray[np.void]) -> SampleRows:
        assert self._file is not None
        found = []
        for begin, end in zip(extents["begin"].tolist(), extents["end"].tolist(), strict=True):
            self._file.seek(begin * ROW.itemsize)
            found.append(np.frombuffer(self._file.read((end - begin) * ROW.itemsize), ROW))
        return concat_rows(found)


def _placed(rows: SampleRows, rank: NDArray[np.int64], shift: NDArray[np.float64]) -> SampleRows:
    """The samples by the ranks of series, on the run's clock: they are changed."""
    rows["t"] += shift[rows["file"]]
    rows["series"] = rank[rows["series"]]
    return rows
