"""XML elements that are rows: their attributes, and the texts of their children."""

from __future__ import annotations

from typing import Any

from virtperf.core.declaration import Declaration
from virtperf.formats.declared.collect import Chunk, Sink
from virtperf.formats.xml_stream import Target, parse_xml

MAX_BYTES = 256 * 1024**2
MAX_DEPTH = 64
ROWS = 20_000


def read_elements(data: bytes, declaration: Declaration, sink: Sink, said: list[str], file: str) -> dict[str, str]:
    """Give the elements of a document that the paths of a declaration lead to to `sink`.

    A cell is an attribute of the element, or the text of a child of that name. A document that ends early keeps its
    whole elements.

    Raises
    ------
    FormatError
        No XML, a document type or entities, another root element, too large, nested too deeply.
    """
    root = declaration.parts[0].rows[0].split("/")[0]
    target = _Elements(file, root, declaration, sink)
    warnings, cut = parse_xml(data, target, MAX_BYTES)
    said += warnings
    if cut:
        said.append(f"{file} line {cut}: the document ends early; the elements before that were kept")
    target.flush()
    return {}


class _Elements(Target):
    def __init__(self, file: str, root: str, declaration: Declaration, sink: Sink) -> None:
        super().__init__(file, root, MAX_DEPTH)
        self._sink = sink
        self._tables: dict[tuple[str, ...], list[int]] = {}
        for place, part in enumerate(declaration.parts):
            for path in part.rows:
                self._tables.setdefault(tuple(path.split("/")), []).append(place)
        self._wanted = frozenset(declaration.words)
        self._open: list[tuple[int, dict[str, Any], int]] = []  # depth, cells, line
        self._rows: dict[int, list[tuple[dict[str, Any], int]]] = {place: [] for place in range(len(declaration.parts))}
        self._kept = 0
        self._keys: dict[str, None] = {}

    def any(self) -> bool:
        return self._kept > 0

    def begins(self, tag: str, attributes: dict[str, str]) -> None:
        if tuple(self.path) in self._tables:
            self._open.append((len(self.path), dict(attributes), self.line()))

    def ends(self) -> None:
        if not self._open:
            return
        depth, cells, line = self._open[-1]
        if len(self.path) == depth:
            self._open.pop()
            self._row(cells, line)
        elif len(self.path) == depth + 1 and self.path[-1] in self._wanted:
            cells.setdefault(self.path[-1], "".join(self.text).strip() or None)

    def _row(self, cells: dict[str, Any], line: int) -> None:
        if len(self._keys) < 200:
            self._keys |= dict.fromkeys(cells)
        for place in self._tables[tuple(self.path)]:
            rows = self._rows[place]
            rows.append(({name: cells[name] for name in self._wanted & cells.keys()}, line))
            if len(rows) == ROWS:
                self._send(place)
        self._kept += 1

    def flush(self) -> None:
        """Give what is left."""
        for place in self._rows:
            self._send(place)

    def _send(self, place: int) -> None:
        rows = self._rows[place]
        if rows:
            cells = {name: [row.get(name) for row, _ in rows] for name in sorted(self._wanted)}
            self._sink(place, Chunk(cells, [line for _, line in rows], keys=tuple(self._keys)))
            self._rows[place] = []
