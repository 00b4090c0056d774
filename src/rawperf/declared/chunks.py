"""Chunks of table rows, common to all kinds of files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from rawperf.core.declaration import Declaration
from rawperf.core.errors import FileReader

TIME, ENTITY, UNIT = KINDS_ABOVE = ("time", "entity", "unit")
"""What lines above rows may give to them."""


@dataclass
class Chunk:
    """Some rows of a table."""

    # by column: list of texts, numbers or None (missing), Arrow array of texts, or float64 array
    cells: dict[str, Any]
    lines: Sequence[int] | np.ndarray  # of each row, from 1
    # by column: lines of cells that differ from those of the rows
    cell_lines: dict[str, list[int]] = field(default_factory=dict)
    # by kind, of `KINDS_ABOVE`: what a line above each row gives; None where there is no such line
    above: Mapping[str, list[str | None]] = field(default_factory=dict)
    # line pattern of each row; samples are numbered within each
    pattern_indices: list[int] | None = None
    keys: tuple[str, ...] = ()  # keys of the rows for messages, if there are more than cells

    def column(self, name: str) -> Any:
        """Cells of a column, all None if the rows lack it."""
        column = self.cells.get(name)
        return [None] * len(self.lines) if column is None else column

    def texts_above(self, kind: str) -> list[str | None]:
        """What the line above each row gives."""
        return self.above.get(kind) or [None] * len(self.lines)

    def column_lines(self, name: str) -> Sequence[int] | np.ndarray:
        """Lines of a column's cells."""
        return self.cell_lines.get(name, self.lines)

    def take(self, positions: np.ndarray) -> Chunk:
        """Select rows by position."""

        def take_cells(cells: Any) -> Any:
            if isinstance(cells, pa.DictionaryArray):  # dictionary in order of first occurrence
                return cells.take(pa.array(positions)).dictionary_decode().dictionary_encode()
            if isinstance(cells, pa.Array):
                return cells.take(pa.array(positions))
            if isinstance(cells, np.ndarray):
                return cells[positions]
            return [cells[position] for position in positions]

        return Chunk(
            {name: take_cells(cells) for name, cells in self.cells.items()},
            take_cells(self.lines),
            {name: take_cells(lines) for name, lines in self.cell_lines.items()},
            {kind: take_cells(texts) for kind, texts in self.above.items()},
            None if self.pattern_indices is None else take_cells(self.pattern_indices),
        )


@dataclass(frozen=True)
class ReadContext(FileReader):
    """Declaration by which a file is read, and destination of its rows.

    `sink` takes the number of a table, and rows of it; `messages` collects messages on omitted parts;
    `file` is the name for messages.
    """

    declaration: Declaration
    sink: Callable[[int, Chunk], None]
    messages: list[str]
    file: str
