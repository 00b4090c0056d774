"""Which format a raw file is read in, and the metric dictionary with declared formats."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rawperf.base import Format
from rawperf.core.errors import FormatError, RawperfError
from rawperf.core.files import PACKAGED_METRICS
from rawperf.core.metrics import MetricDictionary, load_metrics
from rawperf.core.near import did_you_mean
from rawperf.declared.metrics import extended, with_presets
from rawperf.declared.read import DeclaredFormat
from rawperf.registry import all_formats, by_name, head_of, sniff

METRICS = PACKAGED_METRICS
"""The metric dictionary that the package brings."""


def choose_format(
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
        known: dict[str, Format] = {form.name: form for form in inputs}
        if format_name not in known:  # loading all takes as long as reading some MB
            known = {**all_formats(), **known}
        if format_name not in known:
            raise FormatError(
                f"no format is called {format_name!r}",
                file=file,
                expected="a format that is installed or declared",
                remedy=did_you_mean(format_name, known),
            )
        return known[format_name]
    head = head_of(data)
    told = (*inputs, *(form for form in all_formats().values() if by_name(form)))
    return next((form for form in told if form.takes(path, head)), None) or sniff(data, file=file)


def dictionary_of(path: Path = METRICS, inputs: Sequence[DeclaredFormat] = ()) -> MetricDictionary:
    """The metric dictionary with all declared formats' fields, those of `inputs` first; raises
    `StudyError`.
    """
    known = with_presets(load_metrics(path))
    return extended(known, inputs, preferred=True) if inputs else known


def dictionary_for(form: DeclaredFormat, path: Path = METRICS) -> MetricDictionary:
    """The same for the files of one declared format; raises as `dictionary_of` does."""
    try:
        return extended(load_metrics(path), (form,), preferred=True)
    except RawperfError:  # it may name a metric that a preset brings
        return dictionary_of(path, (form,))
