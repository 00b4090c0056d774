"""Safe loading of hand-written YAML with the line of every part, for errors with file and line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from rawperf.core.errors import StudyError, decode_error_parts

try:
    from yaml import CSafeLoader as SafeLoader
except ImportError:  # PyYAML without libyaml
    from yaml import SafeLoader  # type: ignore[assignment]

MAX_NODES = 200_000
"""Largest number of nodes (keys, values) of a file with its aliases expanded."""
MAX_DEPTH = 20
"""Largest nesting depth."""
_MAX_INTEGER = 2**63


@dataclass(frozen=True)
class Document:
    """Content of a YAML file, and the line of each part by path: ``("claims", 3, "value")``."""

    data: dict[str, Any]
    path: Path
    lines: dict[tuple[str | int, ...], int]

    def line(self, *where: str | int) -> int:
        """Line of the part at a path, or of its nearest ancestor."""
        for end in range(len(where), -1, -1):
            if where[:end] in self.lines:
                return self.lines[where[:end]]
        return 1

    def error(self, problem: str, *where: str | int, **parts: str) -> StudyError:
        """Build a `StudyError` at a path of this file."""
        error = StudyError(problem, file=self.path.name, line=self.line(*where), **parts)
        error.folder = self.path.parent
        return error


class _Loader(SafeLoader):
    """PyYAML's safe loader with the line of invalid dates, and without integers of implausible size."""

    def bounded_integer(self, node: yaml.ScalarNode) -> int:
        if len(node.value) < 100 and abs(number := self.construct_yaml_int(node)) < _MAX_INTEGER:
            return number
        raise yaml.constructor.ConstructorError(
            None, None, "a whole number of more than 18 digits", node.start_mark
        )

    def valid_date(self, node: yaml.ScalarNode) -> Any:
        try:
            return self.construct_yaml_timestamp(node)
        except ValueError as err:
            raise yaml.constructor.ConstructorError(
                None, None, f"{node.value} is not a date: {err}", node.start_mark
            ) from err


_Loader.add_constructor("tag:yaml.org,2002:int", _Loader.bounded_integer)
_Loader.add_constructor("tag:yaml.org,2002:timestamp", _Loader.valid_date)
_REMEDIES = {
    "found character that cannot start any token": "indent with spaces, not with a tab; put a text "
    "that begins with %, @ or ` in quotes",
    "found a tab character that violates indentation": "indent with spaces, not with a tab",
    "mapping values are not allowed in this context": "put a text that contains ': ' in quotes, or "
    "correct the indentation",
}
"""Remedies by the parser's message."""


def load_yaml(path: Path, *, aliases: bool = True, content: bytes | None = None) -> Document:
    """Read a YAML file with a mapping at its top; `aliases` False refuses ``*name``, and `content` is
    that of the file if it is not read from `path`.

    Raises `StudyError` with the line: missing file, invalid YAML, duplicate key, excessive
    expansion of aliases, too deep nesting or too large a number.
    """
    try:
        content = path.read_bytes() if content is None else content
        return parse_yaml(_decode(content, path.name), path.name, path=path, aliases=aliases)
    except FileNotFoundError as err:
        raise StudyError(
            "the file is missing", file=path, remedy="create it, or correct the name"
        ) from err
    except StudyError as err:
        err.folder = path.parent
        raise


def read_text(path: Path, file: str) -> str:
    """Read a hand-written file, which is named `file` in errors.

    Raises `StudyError` with the line if it is not UTF-8, and `OSError`.
    """
    return _decode(path.read_bytes(), file)


def _decode(content: bytes, file: str) -> str:
    try:
        return content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as err:
        raise StudyError(
            "the file is not UTF-8",
            file=file,
            remedy="save it as UTF-8",
            **decode_error_parts(err),
        ) from err


def parse_yaml(
    text: str, file: str, *, path: Path | None = None, aliases: bool = False
) -> Document:
    """Parse a text as `load_yaml` does; `file` is its name in errors."""
    try:
        _limit_expansion(text, file, aliases)
        loader = _Loader(text)
        node = loader.get_single_node()
        lines = (
            {}
            if node is None
            else {(): node.start_mark.line + 1} | dict(_iter_lines(node, (), file))
        )
        data = None if node is None else loader.construct_document(node)
    except yaml.MarkedYAMLError as err:
        line = err.problem_mark.line + 1 if err.problem_mark else None
        remedy = _REMEDIES.get(str(err.problem))
        raise StudyError(
            f"not valid YAML: {err.problem}", file=file, line=line, remedy=remedy
        ) from err
    except yaml.YAMLError as err:
        raise StudyError("a character that YAML does not allow", file=file) from err
    if not isinstance(data, dict):
        raise StudyError(
            "the top of the file is not a mapping", file=file, line=1, expected="key: value lines"
        )
    return Document(data, path or Path(file), lines)


def walk(
    node: Any, path: tuple[str | int, ...] = ()
) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    """Iterate over the path and content of every part of a document in pre-order."""
    yield path, node
    items = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, value in items:
        yield from walk(value, (*path, key))


def _limit_expansion(text: str, file: str, aliases: bool) -> None:
    """Count nodes in the event stream, before construction; an alias counts as its expansion."""
    sizes: dict[str, int] = {}
    open_collections: list[tuple[str | None, int]] = []
    n_nodes = 0
    for event in yaml.parse(text, Loader=_Loader):
        line = event.start_mark.line + 1 if event.start_mark else None
        if tag := getattr(event, "tag", None):
            raise StudyError(
                f"not valid YAML: the tag {tag.rpartition(':')[2]}",
                file=file,
                line=line,
                remedy="remove it: values have the type of their text",
            )
        if isinstance(event, yaml.AliasEvent):
            if not aliases:
                raise StudyError(
                    "YAML aliases (*name) are not allowed",
                    file=file,
                    line=line,
                    remedy="write the value out",
                )
            # an alias within its own anchor would expand without end
            n_nodes += sizes.get(event.anchor or "", MAX_NODES)
        elif isinstance(event, yaml.ScalarEvent):
            n_nodes += 1
            if event.anchor:
                sizes[event.anchor] = 1
        elif isinstance(event, yaml.CollectionStartEvent):
            open_collections.append((event.anchor, n_nodes))
            n_nodes += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            anchor, n_nodes_before = open_collections.pop()
            if anchor:
                sizes[anchor] = n_nodes - n_nodes_before
        if n_nodes >= MAX_NODES:
            raise StudyError(
                "the file is too large with its aliases (*name) expanded",
                file=file,
                line=line,
                expected=f"at most {MAX_NODES} keys and values",
                remedy="replace aliases by their values",
            )
        if len(open_collections) > MAX_DEPTH:
            raise StudyError(
                "nested too deeply", file=file, line=line, expected=f"at most {MAX_DEPTH} levels"
            )


def _iter_lines(
    node: yaml.Node, where: tuple[str | int, ...], file: str
) -> Iterator[tuple[tuple[str | int, ...], int]]:
    """Yield path and line of every part; a value in a mapping has the line of its key."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            line = key.start_mark.line + 1
            if not isinstance(key, yaml.ScalarNode):
                raise StudyError(
                    "a list or a mapping in place of a key",
                    file=file,
                    line=line,
                    expected="text before the colon",
                )
            if key.value in seen:
                raise StudyError(
                    f"the key {key.value!r} is given twice",
                    file=file,
                    line=line,
                    remedy="remove one of the two; YAML would silently keep the last.",
                )
            seen.add(key.value)
            yield (*where, key.value), line
            yield from _iter_lines(value, (*where, key.value), file)
    elif isinstance(node, yaml.SequenceNode):
        for position, item in enumerate(node.value):
            yield (*where, position), item.start_mark.line + 1
            yield from _iter_lines(item, (*where, position), file)
