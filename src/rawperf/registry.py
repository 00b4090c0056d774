"""Registry and recognition of formats; metric dictionary with the fields of declared formats.

Unsupported files are identified where possible (`rawperf.unsupported`).
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from pkgutil import resolve_name
from typing import BinaryIO, TypeGuard

from rawperf.base import Format, ParsedFile, Streaming
from rawperf.core.declaration import FieldRule, TableDeclaration
from rawperf.core.errors import (
    FormatError,
    RawperfError,
    Report,
    StudyError,
    did_you_mean,
    raise_problem,
)
from rawperf.core.files import PACKAGED_METRICS
from rawperf.core.metrics import Metric, MetricDictionary, Source, load_metrics
from rawperf.core.number_text import plural
from rawperf.core.units import conversion_factor, rate_unit
from rawperf.declared.read import DeclaredFormat, load_presets
from rawperf.declared.values import MILLISECONDS
from rawperf.recognition import SNIFFS
from rawperf.text import decompress_stream, extract_head, read_whole_file
from rawperf.unsupported import MAX_SHOWN, identify_unsupported

DELIMITERS = ",;\t|"
MAX_ROWS = 200
MAX_FIELDS = 6
"""Columns in a suggested declaration; others can be added by hand."""
TIME_NAMES = re.compile(
    r"(?i)(?:time_?stamp|date_?time|time|date|ts|epoch|elapsed)(?:[_ ]?(?:s|ms|sec|utc))?"
)
"""Names of columns with the times of rows."""
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_YAML_WORDS = {"on", "off", "yes", "no", "true", "false", "null", "y", "n"}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)


@dataclass(frozen=True)
class CsvColumns:
    """Heading of a CSV, and rows below it."""

    delimiter: str
    names: list[str]
    rows: list[list[str]]
    commented: bool = False

    def numeric_columns(self) -> list[str]:
        """Columns that hold numbers only, without the time column."""
        time = self._time_column()
        return [
            name
            for name, cells in self._cells_by_column().items()
            if name != time and any(cells) and all(map(_is_number, cells))
        ]

    def _cells_by_column(self) -> dict[str, tuple[str, ...]]:
        return dict(zip(self.names, zip(*self.rows, strict=True), strict=True))

    def _time_column(self) -> str | None:
        return next((name for name in self.names if TIME_NAMES.fullmatch(name)), None)

    def suggest_declaration(self) -> str:
        """Suggest a declaration of the columns, on one line of YAML."""
        cells, time = self._cells_by_column(), self._time_column()
        time_declaration = _declare_time(time, cells[time]) if time is not None else None
        text_columns = [n for n in cells if n != time and not all(map(_is_number, cells[n]))]
        parts = ["name: mine", "reads: csv"]
        if self.delimiter != ",":
            parts.append(f"delimiter: {json.dumps(self.delimiter)}")
        if self.commented:
            parts.append('comment: "#"')
        parts.append(f"time: {time_declaration or '{numbered: true}'}")
        if text_columns:
            parts.append(f"entity: {{name: [{', '.join(map(_yaml_scalar, text_columns[:2]))}]}}")
        fields = (
            f"{{field: {_yaml_scalar(name)}}}" for name in self.numeric_columns()[:MAX_FIELDS]
        )
        parts.append(f"fields: [{', '.join(fields)}]")
        return f"{{{', '.join(parts)}}}"


def detect_csv_columns(head: bytes) -> CsvColumns | None:
    """Detect the columns of a CSV from its head; None if it is not one, or has no heading."""
    text = head.decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text[: text.rfind("\n") + 1].split("\n")[:MAX_ROWS]
    commented = any(line.startswith("#") for line in lines)
    lines = [line for line in lines if line.strip() and not line.startswith("#")]
    candidates = [
        columns
        for d in DELIMITERS
        if (columns := _parse_csv_columns(lines, d, commented)) is not None
    ]
    return max(candidates, key=lambda columns: len(columns.names), default=None)


def _parse_csv_columns(lines: list[str], delimiter: str, commented: bool) -> CsvColumns | None:
    try:
        names, *rows = csv.reader(lines, delimiter=delimiter, strict=True)
    except (csv.Error, ValueError):
        return None
    names = [name.strip() for name in names]
    complete_rows = [row for row in rows if len(row) == len(names)]
    if len(names) < 2 or not complete_rows or len(complete_rows) < 0.9 * len(rows):
        return None
    if any(not name or len(name) > 80 or _is_number(name) for name in names):
        return None
    if max(Counter(names).values()) > 1:
        return None
    columns = CsvColumns(delimiter, names, complete_rows, commented)
    return columns if columns.numeric_columns() else None


def _is_number(cell: str) -> bool:
    return not cell.strip() or NUMBER.fullmatch(cell.strip()) is not None


def _declare_time(name: str, cells: tuple[str, ...]) -> str | None:
    """Declare the times of a column; None if they have no common form."""
    field = f"field: {_yaml_scalar(name)}"
    if all(NUMBER.fullmatch(cell.strip()) for cell in cells):
        largest = max(map(float, cells))
        if largest >= MILLISECONDS:
            return f"{{{field}, unit: ms}}"
        return f"{{{field}}}" if largest >= 1e8 else f"{{{field}, since: start}}"
    try:
        for cell in cells:
            datetime.fromisoformat(cell.strip())
    except ValueError:
        return None
    return f"{{{field}, format: iso}}"


def _yaml_scalar(name: str) -> str:
    """Quote a name for flow-style YAML if necessary."""
    is_plain = _PLAIN.fullmatch(name) and name.lower() not in _YAML_WORDS
    return name if is_plain else json.dumps(name, ensure_ascii=False)


MIN_CERTAINTY = 0.5
RESULT_CERTAINTY = 0.9
DECLARE_REMEDY = (
    "a declaration of a few lines can describe its columns or lines, see docs/formats/declared.md"
)


@cache
def registered_formats() -> dict[str, Format | str]:
    """Find all raw formats by name, in alphabetical order.

    Those of other packages and declared ones are loaded; those of this package are names
    ``module:object``, which `get_format` imports.
    """
    formats: dict[str, Format | str] = {}
    values: dict[str, str] = {}
    for point in entry_points(group="rawperf"):
        if values.setdefault(point.name, point.value) != point.value:
            raise StudyError(
                f"two packages provide a format {point.name!r}; one is {point.value}",
                remedy="rename one of them, or uninstall its package",
            )
        formats[point.name] = point.value if point.name in SNIFFS else _load_format(point)
    for preset in load_presets():
        if preset.name in formats:
            raise preset.error("a format with this name already exists", "name")
        formats[preset.name] = preset
    return dict(sorted(formats.items()))


def format_names() -> list[str]:
    """Names of all raw formats, in alphabetical order; raises as `all_formats` does."""
    return list(registered_formats())


def all_formats() -> dict[str, Format]:
    """Load all raw formats by name, in alphabetical order: programmed and declared ones.

    Raises `StudyError` for a declaration that is wrong, a package's format that can't be used, and
    two formats of one name.
    """
    return {name: get_format(name) for name in registered_formats()}


def _other_formats() -> Iterator[Format]:
    """Formats of other packages, and declared ones (`load_presets`)."""
    return (fmt for fmt in registered_formats().values() if not isinstance(fmt, str))


def _load_format(point: EntryPoint) -> Format:
    place = f"the format {point.name!r}, {point.value},"
    try:
        loaded = point.load()
    except (ImportError, AttributeError, SyntaxError) as err:
        raise StudyError(
            f"{place} can't be imported: {err}", remedy="correct or uninstall its package"
        ) from err
    missing = [name for name in ("name", "title", "sniff", "read") if not hasattr(loaded, name)]
    if missing or isinstance(loaded, type):
        raise StudyError(
            f"{place} is not a format",
            expected="an object with name, title, sniff and read",
            found="a class" if isinstance(loaded, type) else f"no {', no '.join(missing)}",
        )
    if loaded.name != point.name:
        raise StudyError(
            f"{place} has another name than its entry point",
            expected=repr(point.name),
            found=repr(loaded.name),
        )
    return loaded


def is_recognised_by_name(fmt: Format) -> TypeGuard[DeclaredFormat]:
    """Whether a format is recognised by file name too, since its content is ambiguous."""
    match = fmt.declaration.match if isinstance(fmt, DeclaredFormat) else None
    return match is not None and bool(match.file)


def get_format(name: str) -> Format:
    """Get a raw format by name; raises `FormatError` listing the known ones."""
    fmt = registered_formats().get(name)
    if fmt is None:
        raise FormatError(
            f"no format is named {name!r}",
            expected=f"one of {', '.join(format_names())}",
            remedy="install the package that provides the format, or correct the name.",
        )
    return resolve_name(fmt) if isinstance(fmt, str) else fmt


def rank_formats(data: bytes) -> list[tuple[float, str]]:
    """Rank the formats by their certainty about a file's head, without those of certainty 0.

    A byte order mark and the colours of a terminal are ignored. A result file of a benchmark tool
    is examined last.
    """
    head = extract_head(data)
    scores = [
        (SNIFFS[name](head) if isinstance(fmt, str) else fmt.sniff(head), name)
        for name, fmt in registered_formats().items()
        if isinstance(fmt, str) or not is_recognised_by_name(fmt)
    ]
    ranked = sorted(((score, name) for score, name in scores if score > 0), reverse=True)
    if ranked and ranked[0][0] >= MIN_CERTAINTY:
        return ranked
    from rawperf.results.read import recognise_results

    form = recognise_results(data)
    return ranked if form is None else [(RESULT_CERTAINTY, form.name), *ranked]


def sniff(data: bytes, *, file: str = "<bytes>") -> Format:
    """Recognise the format of a file's head.

    Raises `FormatError` if no certainty reaches 0.5, or if compressed data are damaged.
    """
    scores = rank_formats(data)
    is_known = bool(scores) and scores[0][0] >= MIN_CERTAINTY
    fmt = find_format(scores[0][1]) if is_known else None
    if fmt is None:
        if not extract_head(data).strip():
            decompress_stream(io.BytesIO(data), file=file).read(1)  # raises if it is damaged
        reason, help_ = identify_unsupported(extract_head(data))
        suggestion = (
            f"if it is {scores[0][1]}, name that format in run.yaml or with --input-format; "
            if scores
            else ""
        )
        problem, summary = "no known format recognises this file", None
        if reason:
            problem += f": {reason}"
        else:
            summary = _text_summary(extract_head(data))
            columns = detect_csv_columns(extract_head(data))
            if columns is not None:
                problem += ": it looks like a CSV file without a declaration"
                summary = ", ".join(columns.names)[:MAX_SHOWN]
                help_ = (
                    f"save {columns.suggest_declaration()} as mine.yaml and use --input-format mine.yaml; "
                    "docs/formats/declared.md explains metrics and units"
                )
        raise FormatError(
            problem, file=file, found=summary, remedy=f"{help_ or suggestion + DECLARE_REMEDY}."
        )
    return fmt


def find_format(name: str) -> Format | None:
    """Find a raw format, or the reader of a benchmark tool's result files, by name."""
    if name in format_names():
        return get_format(name)
    return _result_readers().get(name)


def formats_with_results() -> dict[str, Format]:
    """Load all raw formats, and the readers of benchmark tools' result files, by name."""
    return _result_readers() | all_formats()


def _result_readers() -> dict[str, Format]:
    from rawperf.results.formats import RESULT_FORMATS
    from rawperf.results.read import ResultReader

    return {form.name: ResultReader(form) for form in RESULT_FORMATS}


def _text_summary(head: bytes) -> str:
    """Describe a text without its content, which may be confidential."""
    first_line = head.split(b"\n")[0].decode("utf-8", "replace")
    return f"a first line of {plural(len(first_line), 'character')}, {plural(len(first_line.split()), 'word')}"


def read_blocks(
    fmt: Format, stream: BinaryIO, *, file: str = "<bytes>", categorical: bool = False
) -> Iterator[ParsedFile]:
    """Yield the content of a file part by part; of the whole file if the format does not stream.

    The file may be compressed and need not be seekable. With `categorical`, texts may be categorical.

    Raises `FormatError`: the errors of the format; a compressed file that is damaged or expands to
    too much; a file that is too large for a format that does not stream.
    """
    decompressed = decompress_stream(stream, file=file)
    if categorical and isinstance(fmt, DeclaredFormat):
        yield from fmt.categorical_blocks(decompressed, file=file)
        return
    if isinstance(fmt, Streaming):
        yield from fmt.blocks(decompressed, file=file)
        return
    yield fmt.read(read_whole_file(decompressed, fmt.name, file), file=file)


def extend_with_presets(
    dictionary: MetricDictionary, report: Report = lambda _: None
) -> MetricDictionary:
    """Extend a dictionary with the fields of the installed declarations.

    Conflicts, such as a metric that a user's dictionary lacks, are passed to `report` and left out.
    """
    return extend_dictionary(
        dictionary, (f for f in _other_formats() if isinstance(f, DeclaredFormat)), report
    )


def extend_dictionary(
    dictionary: MetricDictionary,
    formats: Iterable[DeclaredFormat],
    report: Report = raise_problem,
    *,
    preferred: bool = False,
) -> MetricDictionary:
    """Extend a dictionary with the fields of declared formats.

    Parameters
    ----------
    report : callable, optional
        Receives every problem, so that all can be listed.
    preferred : bool
        Whether their fields come before others that a metric is read from.

    Raises `StudyError`, with the place in the declaration: a metric that is not in the dictionary,
    or is there already; a unit that can't be converted.
    """
    formats = tuple(formats)
    metrics: dict[str, Metric] = dict(dictionary.metrics)
    for fmt in formats:
        for name, metric in fmt.declaration.metrics.items():
            if name in metrics:
                report(fmt.error(f"the metric {name!r} already exists", "metrics", name))
            metrics.setdefault(name, metric)
    new_sources: dict[str, list[Source]] = {}
    for fmt in formats:
        for table_path, part in fmt.tables():
            for index, rule in enumerate(part.fields):
                path = (*table_path, "fields", index)
                if rule.metric is not None and rule.metric not in metrics:
                    known = MetricDictionary(metrics.values(), dictionary.renamed)
                    problem = f"there is no metric {rule.metric!r}"
                    remedy = known.suggest(rule.metric)
                    report(fmt.error(problem, *path, "metric", remedy=remedy))
                elif rule.metric is not None:
                    try:
                        source = _build_source(fmt.name, part, rule, metrics[rule.metric])
                    except RawperfError as err:
                        report(fmt.error(str(err), *path, "unit"))
                    else:
                        new_sources.setdefault(rule.metric, []).append(source)
    for name, added in new_sources.items():
        existing = metrics[name].sources
        sources = (*added, *existing) if preferred else (*existing, *added)
        metrics[name] = metrics[name].model_copy(update={"sources": sources})
    return MetricDictionary(metrics.values(), dictionary.renamed)


def _build_source(
    format_name: str, part: TableDeclaration, rule: FieldRule, metric: Metric
) -> Source:
    kind, unit = rule.kind or metric.kind, str(rule.unit)
    factor = conversion_factor(rate_unit(unit) if kind == "counter" else unit, metric.unit)
    return Source.model_validate(
        {
            "format": format_name,
            "<format>": format_name,
            "report": part.report,
            "field": rule.record,
            "entity_kind": part.entity.kind,
            "unit": unit,
            "kind": kind,
            "<declared>": True,
            "<factor>": factor * rule.factor,
        }
    )


METRICS = PACKAGED_METRICS
"""Metric dictionary of the package."""


def choose_format(
    data: bytes,
    path: str,
    format_name: str | None,
    inputs: Sequence[DeclaredFormat] = (),
    *,
    file: str,
) -> Format:
    """Choose a raw file's format: the named one, else the first matching input, else by content.

    `data` is the head from `peek_stream`; `path` is the path within the run folder. Raises `FormatError`
    if there is no such format, or none recognises the file.
    """
    if format_name is not None:
        named = next((form for form in inputs if form.name == format_name), None)
        fmt = named or find_format(format_name)
        if fmt is None:
            raise FormatError(
                f"no format is named {format_name!r}",
                file=file,
                expected="a format that is installed or declared",
                remedy=did_you_mean(
                    format_name, [*formats_with_results(), *(form.name for form in inputs)]
                ),
            )
        return fmt
    head = extract_head(data)
    candidates = (
        *inputs,
        *(fmt for fmt in _other_formats() if is_recognised_by_name(fmt)),
    )
    return next((fmt for fmt in candidates if fmt.matches_file(path, head)), None) or sniff(
        data, file=file
    )


def build_dictionary(
    path: Path = METRICS, inputs: Sequence[DeclaredFormat] = ()
) -> MetricDictionary:
    """Metric dictionary with all declared formats' fields, those of `inputs` first.

    Raises `StudyError`.
    """
    dictionary = extend_with_presets(load_metrics(path))
    return extend_dictionary(dictionary, inputs, preferred=True) if inputs else dictionary


def format_dictionary(fmt: DeclaredFormat, path: Path = METRICS) -> MetricDictionary:
    """Metric dictionary for one declared format; raises as `build_dictionary` does."""
    try:
        return extend_dictionary(load_metrics(path), (fmt,), preferred=True)
    except RawperfError:  # it may name a metric that a preset brings
        return build_dictionary(path, (fmt,))
