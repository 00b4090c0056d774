"""Formats declared by a study or a user; they take precedence over built-in ones."""

from __future__ import annotations

from pathlib import Path

from rawperf.core.errors import RawperfError
from rawperf.declared.read import DeclaredFormat, load_declaration
from rawperf.registry import format_names
from rawperf.tidy import DECLARATIONS
from virtperf.core.paths import Layout
from virtperf.study.definition import Study, load_study


def study_inputs(study: Study) -> tuple[DeclaredFormat, ...]:
    """Return the formats declared by a study; raises `StudyError` for a duplicate format name."""
    formats: list[DeclaredFormat] = []
    for place, declaration in enumerate(study.inputs):
        form = DeclaredFormat(declaration, study.document, "inputs", place)
        if form.name in {*format_names(), *(other.name for other in formats)}:
            raise form.error("a format with this name already exists", "name")
        formats.append(form)
    return tuple(formats)


def declared_inputs(
    layout: Layout | None, study: str | None, format_name: str | Path | None
) -> tuple[tuple[DeclaredFormat, ...], str | None]:
    """Return the declared formats for reading a single file, and the name of the requested format.

    `format_name` may also be a YAML file that declares a format; `study` is the id of a study whose
    inputs are included.

    Raises `RawperfError` for an unknown study, and as `load_study` and `load_declaration`.
    """
    if format_name is not None and Path(format_name).suffix in DECLARATIONS:
        form = load_declaration(Path(format_name))
        return (form,), form.name
    name = None if format_name is None else str(format_name)
    if study is None:
        return (), name
    if layout is None:
        raise RawperfError(
            f"study {study!r} not found: the working folder is not in a repository of studies",
            remedy="change to the repository's folder.",
        )
    return study_inputs(load_study(layout.known(study))), name
