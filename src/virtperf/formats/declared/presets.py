"""Declarations that are files: those that come with virtperf, and those of a folder of one's own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from virtperf.core.declaration import Declaration
from virtperf.core.errors import StudyError
from virtperf.core.model import load_model
from virtperf.formats.declared.read import DeclaredFormat

OWN = Path(__file__).with_name("presets")
FOLDER_VARIABLE = "VIRTPERF_FORMATS"
"""Names a folder whose ``*.yaml`` are declarations too."""


def load_declaration(path: Path) -> DeclaredFormat:
    """The format that a file declares; without ``match`` it recognises nothing, which is allowed.

    Raises `StudyError`, with its line, for a file that is missing, no YAML or no declaration.
    """
    declaration, document = load_model(path, Declaration, aliases=False)
    return DeclaredFormat(declaration, document)


def presets() -> Iterator[DeclaredFormat]:
    """Every declaration of the package, then those of the folder that `FOLDER_VARIABLE` names.

    Raises `StudyError` for a file that is no declaration, or recognises nothing by its content, and for a folder that
    is not there.
    """
    folders = [OWN]
    if named := os.environ.get(FOLDER_VARIABLE):
        folders.append(Path(named))
    for folder in folders:
        if not folder.is_dir():
            raise StudyError(f"{FOLDER_VARIABLE} names no folder", file=folder)
        for path in sorted(folder.glob("*.yaml")):
            preset = load_declaration(path)
            if preset.declaration.match is None or not preset.declaration.match.text:
                raise StudyError(
                    "nothing says how its files are recognised", file=path.name,
                    expected="match: {text: ...}, expressions that occur in the first 8 KiB of each of them",
                )  # fmt: skip
            yield preset
