"""Which format a raw file is read in: a study's own declared inputs come first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rawperf import Format, all_formats, head_of, sniff
from rawperf.core.errors import FormatError, VirtperfError
from rawperf.core.metrics import MetricDictionary, load_metrics
from rawperf.core.near import near
from rawperf.declared.metrics import extended, with_presets
from rawperf.declared.read import DeclaredFormat, load_declaration
from virtperf.core.paths import Layout
from virtperf.study.definition import Study, load_study

DECLARATIONS = (".yaml", ".yml")
"""Suffixes of files that declare a format."""


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


def choose(
    data: bytes,
    path: str,
    format_name: str | None,
    inputs: Sequence[DeclaredFormat] = (),
    *,
    file: str,
) -> Format:
    """The format of a raw file: the one that is named, else the first input that takes it, else the
    surest.

    `data` is its beginning, as long as `peeked` gives it; `path` is its place within the run
        folder. Raises
    `FormatError` where there is no such format, or none recognises the file.
    """
    if format_name is not None:
        known: dict[str, Format] = {**all_formats(), **{form.name: form for form in inputs}}
        if format_name not in known:
            raise FormatError(
                f"no format is called {format_name!r}",
                file=file,
                expected="a format that is installed or declared",
                remedy=near(format_name, known),
            )
        return known[format_name]
    head = head_of(data)
    return next((form for form in inputs if form.takes(path, head)), None) or sniff(data, file=file)


def dictionary_of(path: Path, inputs: Sequence[DeclaredFormat] = ()) -> MetricDictionary:
    """The metric dictionary with all declared formats' fields, those of `inputs` first; raises
    `StudyError`.
    """
    return extended(with_presets(load_metrics(path)), inputs, preferred=True)
