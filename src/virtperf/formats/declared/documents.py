"""JSON and YAML documents, and files of one JSON object a line."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from virtperf.core.declaration import Declaration, Part
from virtperf.core.errors import FormatError, StudyError
from virtperf.core.yamlio import parse_yaml
from virtperf.formats.declared.collect import Chunk, Sink
from virtperf.formats.json_lines import first_line, with_lines

ROWS = 5_000
_OPENS = re.compile(r"^[ \t]*[\[{]", re.MULTILINE)
_BREAKS = re.compile("[\x85\u2028\u2029]")
"""What YAML takes for ends of lines and nobody else does."""
_SURROGATE = re.compile("[\ud800-\udfff]")

Lines = Any
"""A document whose values are the lines on which they stand."""


def read_json(text: str, declaration: Declaration, sink: Sink, said: list[str], file: str) -> dict[str, str]:
    """Give the objects of a JSON document to `sink`.

    What stands before the first line that begins with a bracket is left out, and so is what stands behind the document,
    except another one: of several, the last whole one is read where the declaration says so.

    Raises
    ------
    FormatError
        No JSON, several documents, a number that is none (NaN), and what `_rows` raises.
    """
    found = list(_documents(text, said, file))
    if len(found) > 1 and declaration.documents == "one":
        raise FormatError(
            "a second JSON document", file=file, line=found[1][1], remedy="keep one a file, or say documents: last."
        )
    body, start = found[-1]
    try:
        document, lines = with_lines("\n" * (start - 1) + body, _loads)
    except RecursionError as err:
        raise FormatError("nested too deeply", file=file, line=start) from err
    except ValueError as err:
        line = err.lineno if isinstance(err, json.JSONDecodeError) else start
        raise FormatError("not JSON", file=file, line=line, found=str(err), remedy="collect the file again.") from err
    _give(document, lines, declaration, sink, file)
    return {"documents": str(len(found))} if len(found) > 1 else {}


def read_json_lines(text: str, declaration: Declaration, sink: Sink, said: list[str], file: str) -> dict[str, str]:
    """Give the objects of a file with one on each line to `sink`; raises `FormatError` at a line that is none."""
    rows: list[list[tuple[Any, Lines]]] = [[] for _ in declaration.parts]
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip() or (declaration.comment is not None and line.startswith(declaration.comment)):
            continue
        try:
            found = _loads(line)
        except (ValueError, RecursionError) as err:
            if number == len(lines):  # without a line end, the rest may be missing
                said.append(f"{file} line {number}: the file breaks off; this line was left out")
                break
            raise FormatError("not a JSON object", file=file, line=number, found=line[:80]) from err
        for place, part in enumerate(declaration.parts):
            rows[place] += _rows(found, number, part, file)
            if len(rows[place]) >= ROWS:
                _send(rows[place], place, declaration, sink)
                rows[place] = []
    for place, left in enumerate(rows):
        _send(left, place, declaration, sink)
    return {}


def read_yaml(text: str, declaration: Declaration, sink: Sink, said: list[str], file: str) -> dict[str, str]:
    """Give the mappings of a YAML document to `sink`; raises `FormatError` where it is none, or not a safe one."""
    try:
        document = parse_yaml(_BREAKS.sub(" ", text), file)
    except StudyError as err:
        end = text.count("\n") + 1  # what is missing at the end is said to be behind it
        raise err.restated(FormatError, line=None if err.line is None else min(err.line, end)) from err
    _give(document.data, _lines_of(document.data, document.lines, ()), declaration, sink, file)
    return {}


def _loads(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(word: str) -> float:
    raise ValueError(f"{word} is no JSON number")


def _documents(text: str, said: list[str], file: str) -> Iterator[tuple[str, int]]:
    """The text of each document of a file, and the line that it begins on."""
    decoder = json.JSONDecoder(parse_constant=_no_constant)
    opening = _OPENS.search(text)
    if opening is None:
        raise FormatError("no JSON document in the file", file=file, line=1, expected="a line that begins with { or [")
    whole = 0
    while opening is not None:
        line = text.count("\n", 0, opening.end()) + 1
        try:
            _, end = decoder.raw_decode(text, opening.end() - 1)
        except (ValueError, RecursionError):
            if whole:
                said.append(f"{file} line {line}: a JSON document is not whole and was left out")
                return
            yield text[opening.end() - 1 :], line
            return
        yield text[opening.end() - 1 : end], line
        whole += 1
        opening = _OPENS.search(text, end)


def _give(document: Any, lines: Lines, declaration: Declaration, sink: Sink, file: str) -> None:
    for place, part in enumerate(declaration.parts):
        rows = list(_rows(document, lines, part, file))
        if part.rows and not rows and declaration.parts == (part,):
            raise FormatError("nothing stands at the path of the rows", file=file, expected=" or ".join(part.rows))
        _send(rows, place, declaration, sink)


def _rows(document: Any, lines: Lines, part: Part, file: str) -> Iterator[tuple[Any, Lines]]:
    """The objects that are rows of a table."""
    for path in part.rows or ("",):
        for found, at in _at(document, lines, [step for step in path.split("/") if step]):
            if not isinstance(found, dict):
                raise FormatError(
                    "a row is not an object", file=file, line=at if isinstance(at, int) else first_line(at),
                    expected=f"key: value at {path or 'the top'}", found=str(found)[:60],
                )  # fmt: skip
            yield found, at


def _at(found: Any, lines: Lines, steps: list[str]) -> Iterator[tuple[Any, Lines]]:
    """What stands at a path; ``*`` is every place of a list and every key."""
    if not steps:
        yield found, lines
        return
    step, rest = steps[0].replace("~1", "/"), steps[1:]
    if isinstance(found, dict):
        keys = list(found) if step == "*" else [step] if step in found else []
    else:
        keys = list(range(len(found))) if isinstance(found, list) and step == "*" else []
    for key in keys:
        yield from _at(found[key], lines if isinstance(lines, int) else lines[key], rest)


def _send(rows: list[tuple[Any, Lines]], place: int, declaration: Declaration, sink: Sink) -> None:
    """Give rows to `sink`: their cells are what stands at the paths that the declaration names."""
    if not rows:
        return
    starts = [line if isinstance(line, int) else first_line(line) or 1 for _, line in rows]
    cells: dict[str, list[Any]] = {}
    own: dict[str, list[int]] = {}
    for name in declaration.words:
        steps = [step for step in name.split("/") if step]
        found = [next(_at(row, line, steps), (None, start)) for (row, line), start in zip(rows, starts, strict=True)]
        cells[name] = [None if isinstance(cell, dict | list) else _clean(cell) for cell, _ in found]
        own[name] = [
            line if isinstance(line, int) else start for (_, line), start in zip(found, starts, strict=True)
        ]  # fmt: skip
    keys = {str(key): None for row, _ in rows[:100] for key in _paths(row, "", 4)}
    sink(place, Chunk(cells, starts, own, keys=tuple(keys)))


def _paths(found: Any, before: str, depth: int) -> Iterator[str]:
    """Paths to the values of an object, for messages."""
    if isinstance(found, dict) and depth:
        for key, value in found.items():
            yield from _paths(value, f"{before}/{str(key).replace('/', '~1')}".lstrip("/"), depth - 1)
    elif not isinstance(found, list):
        yield before


def _clean(cell: Any) -> Any:
    """Text without halves of characters, which JSON can write and no text can hold."""
    return _SURROGATE.sub("\ufffd", cell) if isinstance(cell, str) else cell


def _lines_of(found: Any, lines: dict[tuple[str | int, ...], int], path: tuple[Any, ...]) -> Lines:
    if isinstance(found, dict):
        return {key: _lines_of(value, lines, (*path, key)) for key, value in found.items()}
    if isinstance(found, list):
        return [_lines_of(value, lines, (*path, place)) for place, value in enumerate(found)]
    for end in range(len(path), -1, -1):
        if path[:end] in lines:
            return lines[path[:end]]
    return 1
