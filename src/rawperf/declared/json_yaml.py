"""Readers of JSON and YAML documents, and of JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from rawperf.core.declaration import TableDeclaration
from rawperf.core.errors import FormatError, StudyError
from rawperf.core.yamlio import parse_yaml
from rawperf.declared.chunks import Chunk, ReadContext
from rawperf.json_lines import STRICT, SURROGATE, first_line, loads_strict, parse_with_lines

ROWS = 5_000
_OPENS = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
_BREAKS = re.compile("[\x85\u2028\u2029]")
"""Line breaks in YAML only."""
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
"""Escapes of label values, as in Prometheus."""
_PARENT = "../"
"""Prefix of a path to a cell of the enclosing object."""

Lines = Any
"""A document with each value replaced by its line."""


def read_json(text: str, context: ReadContext) -> dict[str, str]:
    """Read the objects of a JSON document.

    Text before the first line that begins with a bracket is skipped, and so is text after the
    document, except another document: the last complete one of several is read if the declaration
    allows it.

    Raises `FormatError`: invalid JSON, several documents, NaN or infinity, and the errors of
    `_iter_rows`.
    """
    documents = list(_iter_documents(text, context))
    if len(documents) > 1 and context.declaration.documents == "one":
        raise context.error(
            "a second JSON document",
            documents[1][1],
            remedy="keep one per file, or set documents: last.",
        )
    body, start = documents[-1]
    try:
        document, lines = parse_with_lines("\n" * (start - 1) + body, loads_strict)
    except RecursionError as err:
        raise context.error("nested too deeply", start) from err
    except ValueError as err:
        line = err.lineno if isinstance(err, json.JSONDecodeError) else start
        raise context.error(
            "invalid JSON",
            line,
            found=getattr(err, "msg", str(err)),
            remedy="collect the file again.",
        ) from err
    _emit_tables(document, lines, context)
    if len(documents) == 1:
        return {}
    context.messages.append(
        f"{context.file}: the file has {len(documents)} reports, of which the last one was read"
    )
    return {"documents": str(len(documents))}


def read_json_lines(texts: Iterable[str], context: ReadContext) -> Iterator[None]:
    """Read JSON lines, given in pieces of whole lines; yields after many objects.

    Raises `FormatError`: a line that is not JSON, and the errors of `_iter_rows`.
    """
    parts = context.declaration.parts
    tables = [_CellBuffer(table_index, context) for table_index in range(len(parts))]
    lines_before = 0
    for text in texts:
        lines = text.split("\n")
        for number, line in enumerate(lines, start=lines_before + 1):
            if not line.strip():
                continue
            try:
                document = loads_strict(line)
            except (ValueError, RecursionError) as err:
                if number == lines_before + len(lines):  # truncated: no line end
                    context.messages.append(
                        f"{context.file} line {number}: the file is truncated; this line was left out"
                    )
                    break
                raise context.error("not a JSON object", number, found=line[:80]) from err
            for part, table in zip(parts, tables, strict=True):
                for row, row_lines in _iter_rows(document, number, part, context):
                    table.add(row, row_lines)
            if max(table.count for table in tables) >= ROWS:
                for table in tables:
                    table.flush()
                yield
        lines_before += len(lines) - 1
    for table in tables:
        table.flush()
    yield


def read_yaml(text: str, context: ReadContext) -> dict[str, str]:
    """Read the mappings of a YAML document; raises `FormatError` if it is invalid or unsafe."""
    try:
        document = parse_yaml(_BREAKS.sub(" ", text), context.file)
    except StudyError as err:
        end = text.count("\n") + 1  # YAML reports a truncated file one line beyond its end
        raise err.copy_as(
            FormatError, line=None if err.line is None else min(err.line, end)
        ) from err
    _emit_tables(document.data, _build_lines(document.data, document.lines, ()), context)
    return {}


def _iter_documents(text: str, context: ReadContext) -> Iterator[tuple[str, int]]:
    """Text and first line of each document of a file."""
    opening = _OPENS.search(text)
    if opening is None:
        raise context.error(
            "no JSON document in the file", 1, expected="a line that begins with { or ["
        )
    n_documents = 0
    while opening is not None:
        line = text.count("\n", 0, opening.end()) + 1
        try:
            _, end = STRICT.raw_decode(text, opening.end() - 1)
        except (ValueError, RecursionError) as err:
            if n_documents:
                ends = err.lineno if isinstance(err, json.JSONDecodeError) else line
                context.messages.append(
                    f"{context.file} line {ends}: the JSON document that begins in line {line} is "
                    "incomplete or damaged and was left out"
                )
                return
            yield text[opening.end() - 1 :], line
            return
        yield text[opening.end() - 1 : end], line
        n_documents += 1
        opening = _OPENS.search(text, end)


def _emit_tables(document: Any, lines: Lines, context: ReadContext) -> None:
    for table_index, part in enumerate(context.declaration.parts):
        buffer = _CellBuffer(table_index, context)
        for row, row_lines in _iter_rows(document, lines, part, context):
            buffer.add(row, row_lines)
        if part.rows and not buffer.count and context.declaration.parts == (part,):
            raise context.error(
                "the path of the rows matches nothing", expected=" or ".join(part.rows)
            )
        buffer.flush()


def _iter_rows(
    document: Any, lines: Lines, part: TableDeclaration, context: ReadContext
) -> Iterator[tuple[Any, Lines]]:
    """Objects that are rows of a table."""
    for path in part.rows or ("",):
        if part.entries is not None:
            yield from _iter_entries(document, lines, path.split("/"), part.entries, context)
            continue
        uses_parent = any(
            word.startswith(_PARENT) for word in context.declaration.input_fields_of(part)
        )
        at_path = _iter_nodes_with_parent if uses_parent else _iter_nodes
        for node, row_lines in at_path(document, lines, [step for step in path.split("/") if step]):
            if not isinstance(node, dict):
                raise context.error(
                    "a row is not an object",
                    row_lines if isinstance(row_lines, int) else first_line(row_lines),
                    expected=f"an object at {path or 'the top'}",
                    found=str(node)[:60],
                )
            yield node, row_lines


def _iter_entries(
    document: Any, lines: Lines, steps: list[str], names: tuple[str, ...], context: ReadContext
) -> Iterator[tuple[Any, Lines]]:
    """Keys and values of objects, and pairs of lists, as rows.

    They are merged with the other keys of the object at the path's last ``*``.

    Raises `FormatError`: a list element that is not a pair.
    """
    last = len(steps) - steps[::-1].index("*") if "*" in steps else 0
    for owner, owner_lines in _iter_nodes(document, lines, steps[:last]):
        parent = owner if isinstance(owner, dict) else {}
        for node, node_lines in _iter_nodes(owner, owner_lines, steps[last:]):
            for pair, value_lines, line in _iter_pairs(node, node_lines, context):
                row = {**parent, **dict(zip(names, pair, strict=True))}
                yield row, {**dict.fromkeys(row, line), names[1]: value_lines}


def _iter_pairs(
    node: Any, lines: Lines, context: ReadContext
) -> Iterator[tuple[tuple[Any, Any], Lines, int]]:
    """Pairs of an object's items or of a list; lines of the value, and first line of the pair."""
    if isinstance(node, dict):
        for key, value in node.items():
            value_lines = lines if isinstance(lines, int) else lines[key]
            yield (key, value), value_lines, _line_of(value_lines)
    elif isinstance(node, list):
        for position, pair in enumerate(node):
            pair_lines = lines if isinstance(lines, int) else lines[position]
            if not isinstance(pair, list) or len(pair) != 2:
                raise context.error(
                    "an entry is not a pair",
                    _line_of(pair_lines),
                    expected="[key, value] in a list of entries",
                    found=json.dumps(pair, default=str)[:60],
                )
            yield (
                (pair[0], pair[1]),
                pair_lines if isinstance(pair_lines, int) else pair_lines[1],
                _line_of(pair_lines),
            )


def _line_of(lines: Lines) -> int:
    return lines if isinstance(lines, int) else first_line(lines) or 1


def _iter_nodes(node: Any, lines: Lines, steps: list[str]) -> Iterator[tuple[Any, Lines]]:
    """Yield the nodes at a path; ``*`` matches all keys and list positions, a number only one."""
    if not steps:
        yield node, lines
        return
    for key in _matching_keys(node, steps[0]):
        yield from _iter_nodes(
            node[key], lines if isinstance(lines, int) else lines[key], steps[1:]
        )


def _iter_nodes_with_parent(
    node: Any, lines: Lines, steps: list[str], parent: tuple[Any, Lines] | None = None
) -> Iterator[tuple[Any, Lines]]:
    """Yield as `_iter_nodes` does, with the key ``..`` for the object that encloses each object.

    Lists between the two are skipped.
    """
    keys = _matching_keys(node, steps[0]) if steps else []
    if isinstance(node, dict):
        if parent is not None:
            node = {**node, "..": parent[0]}
            lines = lines if isinstance(lines, int) else {**lines, "..": parent[1]}
        parent = node, lines
    if not steps:
        yield node, lines
    for key in keys:
        child_lines = lines if isinstance(lines, int) else lines[key]
        yield from _iter_nodes_with_parent(node[key], child_lines, steps[1:], parent)


def _matching_keys(node: Any, step: str) -> list[Any]:
    """Keys of an object, or positions of a list, that match a step of a path."""
    step = step.replace("~1", "/")
    if isinstance(node, dict):
        return list(node) if step == "*" else [step] if step in node else []
    positions = range(len(node)) if isinstance(node, list) else range(0)
    position = int(step) if step.isascii() and step.isdigit() else -1
    return list(positions) if step == "*" else [position] if position in positions else []


class _CellBuffer:
    """Buffer of a table's cells at the declared paths, until they are sent to `sink`."""

    def __init__(self, table_index: int, context: ReadContext) -> None:
        self._table_index, self._sink, self._context = table_index, context.sink, context
        self._paths = {
            name: [step for step in name.split("/") if step]
            for name in context.declaration.input_fields
        }
        part = context.declaration.parts[table_index]
        self._names = {*part.entity.name}
        self._input_fields = {*context.declaration.input_fields_of(part)}
        self._reset()

    def _reset(self) -> None:
        self._lines: list[int] = []
        self._chunk = Chunk(
            {name: [] for name in self._paths}, self._lines, {name: [] for name in self._paths}
        )
        self._keys: dict[str, None] = {}

    @property
    def count(self) -> int:
        """Number of buffered rows."""
        return len(self._chunk.lines)

    def add(self, row: Any, lines: Lines) -> None:
        """Buffer the cells of a row."""
        start = lines if isinstance(lines, int) else first_line(lines) or 1
        if self.count < 100:
            self._keys |= dict.fromkeys(_iter_paths(row, "", 4))
        self._lines.append(start)
        for name, steps in self._paths.items():
            cell, line = next(_iter_nodes(row, lines, steps), (None, start))
            if isinstance(cell, dict) and name in self._names:
                cell = self._format_labels(cell, name, start)
            self._chunk.cells[name].append(
                None if isinstance(cell, dict | list) else _replace_surrogates(cell)
            )
            self._chunk.cell_lines[name].append(line if isinstance(line, int) else start)

    def _format_labels(self, members: dict[Any, Any], name: str, line: int) -> str:
        """Format an object that names an entity as Prometheus labels, except those the table reads.

        Raises `FormatError`: a label that is an object or a list.
        """
        labels = []
        for key, value in sorted(members.items(), key=lambda item: str(item[0])):
            if value is None or f"{name}/{str(key).replace('/', '~1')}" in self._input_fields:
                continue
            if isinstance(value, dict | list):
                raise self._context.error(
                    f"{key} of {name}, which names an entity, is neither text nor a number",
                    line,
                    expected='labels such as {"cpu": "0", "mode": "user"}',
                    found=json.dumps(value, default=str)[:60],
                )
            text = value if isinstance(value, str) else json.dumps(value, default=str)
            labels.append(f'{key}="{text.translate(_ESCAPES)}"')
        return ",".join(labels)

    def flush(self) -> None:
        """Send the buffered rows."""
        if self.count:
            self._chunk.keys = tuple(self._keys)
            self._sink(self._table_index, self._chunk)
            self._reset()


def _iter_paths(node: Any, prefix: str, depth: int) -> Iterator[str]:
    """Paths to the values of an object, for messages."""
    if isinstance(node, dict) and depth:
        for key, value in node.items():
            if key == "..":
                continue
            yield from _iter_paths(
                value, f"{prefix}/{str(key).replace('/', '~1')}".lstrip("/"), depth - 1
            )
    elif not isinstance(node, list):
        yield prefix


def _replace_surrogates(cell: Any) -> Any:
    """Replace lone surrogates: JSON can escape them, UTF-8 cannot encode them."""
    return SURROGATE.sub("\ufffd", cell) if isinstance(cell, str) else cell


def _build_lines(
    node: Any, lines: dict[tuple[str | int, ...], int], path: tuple[Any, ...]
) -> Lines:
    if isinstance(node, dict):
        return {key: _build_lines(value, lines, (*path, key)) for key, value in node.items()}
    if isinstance(node, list):
        return [_build_lines(value, lines, (*path, index)) for index, value in enumerate(node)]
    for end in range(len(path), -1, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return 1
