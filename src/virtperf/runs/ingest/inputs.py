"""Formats that a study or a user declares: they come before all others."""

from __future__ import annotations

from pathlib import Path

from rawperf import all_formats
from rawperf.core.errors import VirtperfError
from rawperf.declared.read import DeclaredFormat, load_declaration
from rawperf.tidy import DECLARATIONS
from virtperf.core.paths import Layout
from virtperf.study.definition import Study, load_study


def inputs_of(study: Study) -> tuple[DeclaredFormat, ...]:
    """The formats that a study declares; raises `StudyError` where one of them is called as another
    format is.
    """
    found: list[DeclaredFormat] = []
    for place, declaration in enumerate(study.inputs):
        form = DeclaredFormat(declaration, study.document, "inputs", place)
        if form.name in {*all_formats(), *(other.name for other in found)}:
            raise form.error("there is a format of this name already", "name")
        found.append(form)
    return tuple(found)


def declared_inputs(
    layout: Layout | None, study: str | None, format_name: str | Path | None
) -> tuple[tuple[DeclaredFormat, ...], str | None]:
    """Declared formats that somebody asks for who reads one file, and the name of the format that
    they ask for.

    `format_name` may also be a YAML file that declares a format; `study` is the id of one whose
        inputs are meant.

    Raises `VirtperfError`: there is no such study; what `load_study` and `load_declaration` raise.
    """
    if format_name is not None and Path(format_name).suffix in DECLARATIONS:
        form = load_declaration(Path(format_name))
        return (form,), form.name
    name = None if format_name is None else str(format_name)
    if study is None:
        return (), name
    if layout is None:
        raise VirtperfError(
            f"there is no study {study!r} here", remedy="work in the repository's folder."
        )
    return inputs_of(load_study(layout.known(study))), name
