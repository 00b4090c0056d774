"""Helpers for declarations in tests."""

from __future__ import annotations

import textwrap
from pathlib import Path
from tempfile import TemporaryDirectory

from rawperf.base import ParsedFile
from rawperf.declared.read import DeclaredFormat, load_declaration

FILE = "a/b.txt"


def declared(text: str) -> DeclaredFormat:
    """The format of a declaration's text, whose name is optional."""
    body = textwrap.dedent(text)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "declaration.yaml"
        path.write_text(body if body.startswith(("name: ", "{")) else f"name: own\n{body}")
        return load_declaration(path)


def read(text: str, data: str | bytes, file: str = FILE) -> ParsedFile:
    return declared(text).read(data.encode() if isinstance(data, str) else data, file=file)


def rows(reading: ParsedFile, *columns: str) -> list[tuple]:
    return list(reading.records[list(columns)].itertuples(index=False, name=None))
