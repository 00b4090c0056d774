"""Tables of XML elements: attributes and texts of child elements are the cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from rawperf.declared.chunks import Chunk, ReadContext
from rawperf.xml_stream import XmlParser, XmlTarget

MAX_DEPTH = 64
ROWS = 20_000


def read_elements(pieces: Iterable[bytes], context: ReadContext) -> Iterator[None]:
    """Read the elements at a declaration's paths from `XmlPieceReader`; yields after many of them.

    A cell is an attribute of the element, or the text of a child of that name. The complete
    elements of a truncated document are kept.

    Raises `FormatError`: not XML, a document type or entities, another root element, too deep
    nesting.
    """
    target = _RowTarget(context)
    feed = XmlParser(target)
    for piece in pieces:
        feed.feed(piece)
        if target.is_block_ready():
            target.flush()
            yield
    if cut := feed.close():
        context.messages.append(
            f"{context.file} line {cut}: the document is truncated; the elements before this line were kept"
        )
    target.flush()
    yield


class _RowTarget(XmlTarget):
    def __init__(self, context: ReadContext) -> None:
        declaration = context.declaration
        super().__init__(context.file, declaration.parts[0].rows[0].split("/")[0], MAX_DEPTH)
        self._sink = context.sink
        self._tables_by_path: dict[tuple[str, ...], list[int]] = {}
        for table_index, part in enumerate(declaration.parts):
            for path in part.rows:
                self._tables_by_path.setdefault(tuple(path.split("/")), []).append(table_index)
        self._input_fields = frozenset(declaration.input_fields)
        self._open: list[tuple[int, dict[str, Any], int]] = []  # depth, cells, line
        self._rows: dict[int, list[tuple[dict[str, Any], int]]] = {
            table_index: [] for table_index in range(len(declaration.parts))
        }
        self._counts = dict.fromkeys(self._rows, 0)
        self._n_rows = self._n_emitted = self._last_line = 0
        self._keys: dict[str, None] = {}

    def has_content(self) -> bool:
        return self._n_rows > 0

    def is_block_ready(self) -> bool:
        """Whether a block is due: many rows, later ones on later lines (records go by line)."""
        begin = self._open[0][2] if self._open else self.line()
        return self._n_rows - self._n_emitted >= ROWS and begin > self._last_line

    def data(self, text: str) -> None:
        # a response may be as large as the rest of the file
        if self._open and self.path[-1] in self._input_fields:
            super().data(text)

    def on_start(self, tag: str, attributes: dict[str, str]) -> None:
        if tuple(self.path) in self._tables_by_path:
            self._open.append((len(self.path), dict(attributes), self.line()))

    def on_end(self) -> None:
        if not self._open:
            return
        depth, cells, line = self._open[-1]
        if len(self.path) == depth:
            self._open.pop()
            self._row(cells, line)
        elif len(self.path) == depth + 1 and self.path[-1] in self._input_fields:
            cells.setdefault(self.path[-1], "".join(self.text).strip() or None)

    def _row(self, cells: dict[str, Any], line: int) -> None:
        if len(self._keys) < 200:
            self._keys |= dict.fromkeys(cells)
        for table_index in self._tables_by_path[tuple(self.path)]:
            self._rows[table_index].append(
                ({name: cells[name] for name in self._input_fields & cells.keys()}, line)
            )
            self._counts[table_index] += 1
            if self._counts[table_index] % ROWS == 0:  # independent of piece boundaries
                self._emit(table_index)
        self._n_rows += 1
        self._last_line = max(self._last_line, line)

    def flush(self) -> None:
        """Send the buffered rows."""
        for table_index in self._rows:
            self._emit(table_index)
        self._n_emitted = self._n_rows

    def _emit(self, table_index: int) -> None:
        rows = self._rows[table_index]
        if rows:
            cells = {
                name: [row.get(name) for row, _ in rows] for name in sorted(self._input_fields)
            }
            self._sink(
                table_index, Chunk(cells, [line for _, line in rows], keys=tuple(self._keys))
            )
            self._rows[table_index] = []
