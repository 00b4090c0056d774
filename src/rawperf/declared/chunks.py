"""Rows of cells, as every kind of file gives them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from rawperf.core.declaration import Declaration
from rawperf.core.errors import FormatError


@dataclass
class Chunk:
    """Some rows of a table."""

    cells: dict[
        str, Any
    ]  # by column a list of texts, numbers, or None where a row has none; an Arrow array of texts; or float64
    lines: Sequence[int] | np.ndarray  # of each row, from 1
    own: dict[str, list[int]] = field(
        default_factory=dict
    )  # by column, where its cells stand on other lines
    above: list[str | None] | None = None  # for each row, the time that a line above it gives
    whose: list[str | None] | None = None  # for each row, the entity that a line above it names
    units: list[str | None] | None = None  # for each row, the unit that a line above it gives
    kinds: list[int] | None = (
        None  # in which way each row is written: samples are numbered within each
    )
    keys: tuple[
        str, ...
    ] = ()  # what stands in the rows, for messages, where that is more than the cells

    def column(self, name: str) -> Any:
        """The cells of a column, None where the rows have none."""
        found = self.cells.get(name)
        return [None] * len(self.lines) if found is None else found

    def lines_of(self, name: str) -> Sequence[int] | np.ndarray:
        """The lines of the cells of a column."""
        return self.own.get(name, self.lines)

    def taken(self, places: np.ndarray) -> Chunk:
        """Some of the rows."""

        def of(cells: Any) -> Any:
            if isinstance(
                cells, pa.DictionaryArray
            ):  # with the texts that are left, by their first
                return cells.take(pa.array(places)).dictionary_decode().dictionary_encode()
            if isinstance(cells, pa.Array):
                return cells.take(pa.array(places))
            if isinstance(cells, np.ndarray):
                return cells[places]
            return [cells[place] for place in places]

        return Chunk(
            {name: of(cells) for name, cells in self.cells.items()},
            of(self.lines),
            {name: of(lines) for name, lines in self.own.items()},
            None if self.above is None else of(self.above),
            None if self.whose is None else of(self.whose),
            None if self.units is None else of(self.units),
            None if self.kinds is None else of(self.kinds),
        )


@dataclass(frozen=True)
class Into:
    """How a file is to be read, and where what it holds goes.

    `sink` takes the number of a table, and rows of it; `said` gets what is left out; `file` is for
        messages.
    """

    declaration: Declaration
    sink: Callable[[int, Chunk], None]
    said: list[str]
    file: str

    def error(self, problem: str, line: int | None = None, **parts: str | None) -> FormatError:
        """The error of something in the file."""
        return FormatError(problem, file=self.file, line=line, **parts)
