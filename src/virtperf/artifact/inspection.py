"""Each file of an artifact: how it is read, or why not, with a declaration to start from."""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import yaml

from rawperf.core.errors import RawperfError, visible
from rawperf.declared.read import DeclaredFormat
from rawperf.registry import choose_format
from rawperf.text import CHUNK_BYTES, extract_head
from rawperf.unsupported import LFS_POINTER
from virtperf.artifact.artifact_files import OpenedArtifact
from virtperf.artifact.undeclared_tables import (
    MAX_TABLE_BYTES,
    Roles,
    Table,
    called_columns,
    find_roles,
    parse_table,
)
from virtperf.core.grouping import grouped
from virtperf.runs.ingest.documents import is_number

Kind = Literal["format", "table", "unread", "empty", "beside"]

NOT_DATA = re.compile(
    r"(?i)(read.?me|licen[cs]e|copying|notice|authors|changelog|makefile|dockerfile|citation)\b.*"
)
CODE_AND_PICTURES = re.compile(
    r"(?i)\.(md|rst|tex|bib|py|ipynb|sh|bash|pl|rb|r|js|ts|c|h|cc|cpp|go|rs|java|gp|gnuplot|plt|html?|css|"
    r"pdf|png|jpe?g|svg|eps|gif|patch|diff|mk|cmake|cfg|ini|conf|toml|lock|service|ko|o|so|a|exe|img|iso)"
)
"""Suffixes of files beside the measurements: documentation, code, pictures, settings, programs."""
MAX_JSON_BYTES = 4 * 1024**2
MAX_FIELDS = 6
MAX_SETTINGS_DEPTH = 3
_SHAPE_LINES = 200


NO_ROLES = Roles()


@dataclass(frozen=True)
class InspectedFile:
    """A file of the artifact.

    `shape` is equal for files that one declaration reads, or that look alike. `problem` says why it
    is not read, `start` is a declaration to start from. `settings` are the lists of numbers of a JSON
    object, as texts by name.
    """

    path: str
    kind: Kind
    shape: str = ""
    format: str = ""
    table: Table | None = None
    roles: Roles = NO_ROLES
    problem: str = ""
    start: str = ""
    settings: Mapping[str, frozenset[str]] = field(default_factory=dict)

    @property
    def is_read(self) -> bool:
        return self.kind in ("format", "table")


def inspect_artifact(
    artifact: OpenedArtifact, inputs: Sequence[DeclaredFormat] = ()
) -> list[InspectedFile]:
    """Inspect all files, in order of their paths; `inputs` are declarations of some of them."""
    files = [
        inspect_file(artifact.root, path, size, inputs) for path, size in artifact.files.items()
    ]
    by_shape = grouped((file.shape, file.table) for file in files if file.table is not None)
    roles = {shape: find_roles(tables) for shape, tables in by_shape.items()}
    roles = called_columns(by_shape, roles)
    return [replace(file, roles=roles.get(file.shape, NO_ROLES)) for file in files]


def inspect_file(
    root: Path, path: str, size: int, inputs: Sequence[DeclaredFormat] = ()
) -> InspectedFile:
    """Inspect one file by its name and its beginning, without the roles of its columns."""
    name = PurePosixPath(path).name
    if form := _declared(root / path, path, inputs):
        return InspectedFile(path, "format", f"format:{form}", form)
    if NOT_DATA.fullmatch(name) or CODE_AND_PICTURES.fullmatch(PurePosixPath(name).suffix):
        return InspectedFile(path, "beside", problem="documentation, code or settings")
    with (root / path).open("rb") as stream:
        data = stream.read(CHUNK_BYTES)
    if not data.strip():
        return InspectedFile(path, "empty", problem="the file is empty")
    try:
        known = choose_format(data, name, None, file=path)
    except RawperfError as err:
        problem = visible(err.problem)
    else:
        return InspectedFile(path, "format", f"format:{known.name}", known.name)
    if size <= MAX_TABLE_BYTES and b"\0" not in data:
        text = (root / path).read_bytes().decode("utf-8", "replace")
        table = parse_table(text)
        if table is not None:
            return InspectedFile(path, "table", _table_shape(table), table=table)
        problem = "no known format and no table" if "declaration" in problem else problem
    head = extract_head(data)
    start = ""
    if not head.startswith(LFS_POINTER):
        start = suggest_json(root / path, size) or suggest_lines(head)
    return InspectedFile(
        path,
        "unread",
        _text_shape(head),
        problem=problem,
        start=start,
        settings=_settings(data) if size < CHUNK_BYTES else {},
    )


def _declared(place: Path, path: str, inputs: Sequence[DeclaredFormat]) -> str:
    """Name of the first declaration that matches a file; "" if none does."""
    if not inputs:
        return ""
    with place.open("rb") as stream:
        head = extract_head(stream.read(CHUNK_BYTES))
    return next((form.name for form in inputs if form.matches_file(path, head)), "")


def _settings(data: bytes) -> dict[str, frozenset[str]]:
    """Lists of numbers of a JSON object by name, with those of the objects in it; {} of other files."""
    try:
        content = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    found: dict[str, frozenset[str]] = {}
    objects = [(content, 0)]
    for value, depth in objects:
        for name, inner in value.items() if isinstance(value, dict) else ():
            if isinstance(inner, list) and inner and all(map(is_number, inner)):
                found.setdefault(name, frozenset(map(str, inner)))
            elif depth < MAX_SETTINGS_DEPTH:
                objects.append((inner, depth + 1))
    return found


def _table_shape(table: Table) -> str:
    kinds = "".join("n" if name in table.numeric else "t" for name in table.names)
    about = f":below {table.about.count(',') + 1}" if table.about else ""
    return f"table:{table.delimiter!r}:{table.header or kinds}{about}"


def _text_shape(head: bytes) -> str:
    """The first line of words without digits, such as the header row of a tool's table."""
    for line in head.decode("utf-8", "replace").splitlines()[:5]:
        if len(line.split()) > 1 and not any(c.isdigit() for c in line):
            return f"text:{' '.join(line.split())[:80]}"
    return "text:"


# ---- declarations to start from


def suggest_lines(head: bytes) -> str:
    """Declare the most common form of a text's lines with numbers; "" if no form repeats."""
    lines = head.decode("utf-8", "replace").splitlines()[:_SHAPE_LINES]
    forms = Counter(form for line in lines if (form := line_form(line)))
    if not forms:
        return ""
    form, count = forms.most_common(1)[0]
    fields = re.findall(r"\(\?P<(n\d+)>", form)[:MAX_FIELDS]
    entry: dict[str, Any] = {"name": "mine", "reads": "lines", "lines": form}
    if count > 1:
        entry["time"] = {"numbered": True}
    entry["fields"] = [{"field": name} for name in fields]
    return flow(entry)


def line_form(line: str) -> str:
    """Regular expression of lines like this one: numbers are groups, words stand for themselves."""
    tokens = line.split()
    numbers = 0
    parts = []
    for token in tokens:
        if re.fullmatch(r"[-+]?\d+(\.\d+)?", token):
            numbers += 1
            parts.append(rf"(?P<n{numbers}>\S+)")
        elif any(c.isdigit() for c in token):
            parts.append(r"\S+")
        else:
            parts.append(re.escape(token))
    lead = r"\s*" if line[:1].isspace() else ""
    form = lead + r"\s+".join(parts)
    return form if numbers and len(form) <= 1000 else ""


def suggest_json(path: Path, size: int) -> str:
    """Declare the numbers of a JSON file: of its list of most objects, else of the whole."""
    if size > MAX_JSON_BYTES:
        return ""
    try:
        content = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return ""
    rows = max(_lists(content, "", 0), key=lambda found: len(found[1]), default=("", [content]))
    where, objects = rows
    if not isinstance(objects[0], dict):
        return ""
    names = [n for n, v in objects[0].items() if is_number(v)][:MAX_FIELDS]
    if not names:
        return ""
    entry: dict[str, Any] = {"name": "mine", "reads": "json"}
    if where:
        entry |= {"rows": where, "time": {"numbered": True}}
    entry["fields"] = [{"field": name.replace("/", "~1")} for name in names]
    return flow(entry)


def _lists(value: Any, where: str, depth: int) -> list[tuple[str, list[Any]]]:
    """Lists of objects with numbers, with their paths."""
    if depth > 5:
        return []
    if isinstance(value, list):
        has_numbers = [v for v in value if isinstance(v, dict) and any(map(is_number, v.values()))]
        return [(f"{where}/*".lstrip("/"), has_numbers)] if has_numbers else []
    found = []
    for name, inner in value.items() if isinstance(value, dict) else ():
        found += _lists(inner, f"{where}/{name.replace('/', '~1')}", depth + 1)
    return found


def flow(value: Any) -> str:
    """YAML in flow style, on one line."""
    text = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=sys.maxsize, allow_unicode=True
    )
    text = text.removesuffix("\n...\n").removesuffix("\n")
    return text if "\n" not in text else json.dumps(value)  # a line break in a text
