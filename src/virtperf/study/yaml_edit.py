"""Text edits of hand-written YAML that preserve comments, order and formatting."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from rawperf.core.errors import StudyError
from rawperf.core.files import write_atomically
from rawperf.core.yamlio import Document, load_yaml, parse_yaml


def append_entry(path: Path, key: str, entry: Mapping[str, Any]) -> int:
    """Append an entry to a top-level list of a YAML file; returns its line number.

    Raises `StudyError` if the file is invalid, or the list is in flow style (one line).
    """
    before, expected, lines, node = _opened(path, key)
    indent = "  "
    if node is None or not node.value:
        if node is not None:
            line = node.start_mark.line
            lines[line] = lines[line].replace(" []", "", 1).rstrip()
            at = line + 1
        else:
            lines += ["", f"{key}:"]
            at = len(lines)
    elif node.flow_style:
        raise before.error(
            f"{key} is in flow style (one line), to which no entry can be added",
            key,
            remedy="write one entry per line, each after a hyphen",
        )
    else:
        indent = " " * node.start_mark.column
        at = _end(node, lines)
    first, *rest = block(entry)
    lines[at:at] = [f"{indent}- {first}", *(f"{indent}  {line}" for line in rest)]
    expected[key] = [*(expected.get(key) or ()), dict(entry)]
    _write(path, lines, expected)
    return at + 1


def insert_study(path: Path, kind: str, study: str) -> None:
    """Insert a study's id in the list `kind` of `studies` in params.yaml, before the first id that
    sorts after it.

    Raises `StudyError` if the file is invalid, or the list is missing or not one id per line.
    """
    before, expected, lines, studies = _opened(path, "studies")
    node = _value(studies, kind) if isinstance(studies, yaml.MappingNode) else None
    if not isinstance(node, yaml.SequenceNode) or (node.flow_style and node.value):
        raise before.error(
            f"studies/{kind} is not a list with one id per line",
            *(("studies",) if studies is not None else ()),
            remedy=f"write `{kind}:` below `studies:`, and each id in a line after a hyphen",
        )
    listed = before.data["studies"][kind]
    place = next((k for k, other in enumerate(listed) if str(other) > study), len(listed))
    if node.value:
        at = node.value[place].start_mark.line if place < len(listed) else _end(node, lines)
        indent = " " * node.start_mark.column
    else:
        at = node.start_mark.line + 1
        lines[at - 1] = lines[at - 1].replace(" []", "", 1)
        indent = "    "
    lines.insert(at, f"{indent}- {study}")
    expected["studies"][kind].insert(place, study)
    _write(path, lines, expected)


def set_in_entry(path: Path, key: str, position: int, name: str, value: Mapping[str, Any]) -> None:
    """Set the mapping `name` in an entry of a top-level list of a YAML file, replacing an old one.

    Raises `StudyError` if the file is invalid, or the entry is in flow style (one line).
    """
    before, expected, lines, node = _opened(path, key)
    entry = node.value[position]
    if entry.flow_style:
        raise before.error(
            "the entry is in flow style (one line), to which no key can be added",
            key,
            position,
            remedy="write one key per line",
        )
    indent = " " * entry.start_mark.column
    new = [f"{indent}{line}" for line in block({name: value})]
    old = next((pair for pair in entry.value if pair[0].value == name), None)
    begin, end = (old[0].start_mark.line, _end(old[1], lines)) if old else (_end(entry, lines),) * 2
    lines[begin:end] = new
    expected[key][position][name] = dict(value)
    _write(path, lines, expected)


def _opened(path: Path, key: str) -> tuple[Document, Any, list[str], Any]:
    """A YAML file, its content to be changed, its lines, and the node of a top-level key, if any."""
    document, text = load_yaml(path), path.read_text(encoding="utf-8")
    node = _value(yaml.compose(text, yaml.SafeLoader), key)
    return document, copy.deepcopy(document.data), text.splitlines(), node


def block(entry: Mapping[str, Any]) -> list[str]:
    """Format a mapping as lines of YAML.

    Nested mappings are in block style, all other values in JSON, a subset of YAML.
    """
    lines = []
    for name, value in entry.items():
        key = name if yaml.safe_load(str(name)) == name else json.dumps(name)  # "off" is no text
        if isinstance(value, Mapping) and value:
            lines += [f"{key}:", *(f"  {line}" for line in block(value))]
        else:
            lines.append(f"{key}: {json.dumps(value, ensure_ascii=False)}")
    return lines


def _value(node: Any, key: str) -> Any:
    return next((value for name, value in node.value if name.value == key), None)


def _end(node: Any, lines: Sequence[str]) -> int:
    """Line number after a node, without trailing blank lines."""
    if isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        last = node.value[-1]
        return _end(last[1] if isinstance(last, tuple) else last, lines)
    if node.end_mark.column:
        return int(node.end_mark.line) + 1
    end = int(node.end_mark.line)  # a folded scalar ends where the next node begins
    while not lines[end - 1].strip():
        end -= 1
    return end


def _write(path: Path, lines: Sequence[str], expected: object) -> None:
    text = "\n".join(lines) + "\n"
    if parse_yaml(text, path.name, path=path, aliases=True).data != expected:
        raise StudyError(
            "an entry can't be added to this file without changing the rest of it",
            file=path,
            remedy="add it by hand",
        )
    write_atomically(path, text)
