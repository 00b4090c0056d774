"""Reading of a user's own file to a frame: raw files of any known format, and tables."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from rawperf.core.errors import RawperfError, decode_error_parts
from rawperf.registry import (
    METRICS,
    MIN_CERTAINTY,
    build_dictionary,
    detect_csv_columns,
    rank_formats,
)
from rawperf.results.read import read_results, recognise_results
from rawperf.results.result_table import ResultTable
from rawperf.text import (
    HEAD_BYTES,
    decompress_stream,
    extract_head,
    peek_stream,
    read_whole_file,
)
from rawperf.tidy import RawTables, open_input, read_bytes, read_raw
from rawperf.unsupported import (
    LFS_POINTER,
    NAMED_TOOL,
    UTF16_PROBLEM,
    identify_unsupported,
    is_utf16,
)
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.runs.ingest.columns import (
    DELIMITED,
    WRITTEN_NUMBER,
    blank_comments,
    convert_units_of_cells,
    plain_heading,
)
from virtperf.runs.ingest.documents import LEFT_OUT, TableError, document_rows, line_rows

if TYPE_CHECKING:
    from rawperf.declared.read import DeclaredFormat

STRONG_DELIMITERS = ("\t", ";", ",", "|")
"""Column delimiters, in order of preference: a comma may be a decimal comma."""
_WORD = re.compile(r'"[^"]*"|\S+')
_NO_DELIMITER = "\x1f"


def _parse_delimited(data: bytes, texts: Sequence[str]) -> pd.DataFrame:
    """Parse a delimited table with a header. The columns `texts` are not converted to numbers."""
    text, titles = plain_heading(data.decode("utf-8-sig").replace("\u2212", "-"))
    delimiter = find_delimiter(text)
    sep = r"\s+" if delimiter == " " else delimiter or _NO_DELIMITER
    heading, line = _first_row(text, delimiter)
    _require_names(heading, line)
    _require_unique_names(heading, line)
    options: dict[str, Any] = {"sep": sep, "skipinitialspace": True, "index_col": False}
    if any(mark in text for mark in ("\r", "\x0b", "\x0c")):
        options["engine"] = "python"
    frame = pd.read_csv(io.StringIO(text, newline=None), dtype=dict.fromkeys(texts, str), **options)
    if titles:
        frame.attrs[LEFT_OUT] = (f"left out: {titles} line{'s'[: titles - 1]} above the heading",)
    return frame


def find_delimiter(text: str) -> str | None:
    """Find the delimiter of a table's columns, `` `` for runs of blanks, None for a single column.

    A delimiter counts only if every row has as many cells as the header.

    Raises
    ------
    RawperfError
        The header has a delimiter that the rows do not follow, with the first such line.
    """
    header, _ = _first_row(text, None)
    candidates = [mark for mark in STRONG_DELIMITERS if len(_split(header[0], mark)) > 1]
    uneven: dict[str, TableError] = {}
    for mark in candidates:
        problem = _uneven_row(text, mark)
        if problem is None:
            return mark
        uneven[mark] = problem
    if uneven:
        raise uneven[max(candidates, key=lambda mark: len(_split(header[0], mark)))]
    words = _WORD.findall(header[0])
    if len(words) > 1 and all(
        len(_WORD.findall(row)) == len(words) for row in text.splitlines() if row.strip()
    ):
        return " "
    if problem := _uneven_row(text, ","):
        found = [row for row in text.splitlines() if row.strip()][1:]
        if not all(_DECIMAL.fullmatch(row.strip()) for row in found):
            raise problem
    return None


_DECIMAL = re.compile(r"[^,]*|[+-]?\d+,\d+|[+-]?\d{1,3}(,\d{3})+(\.\d+)?|\".*\"")


def _first_row(text: str, delimiter: str | None) -> tuple[list[str], int]:
    """Return the cells of the first line that is not blank, and its number."""
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            if delimiter == " ":
                return [word.strip('"') for word in _WORD.findall(line)], number
            return _split(line.strip("\r\n"), delimiter) if delimiter else [line.strip()], number
    raise TableError("the table is empty")


def _split(line: str, delimiter: str) -> list[str]:
    return [cell.strip() for cell in next(csv.reader([line], **_csv_options(delimiter)))]


def _csv_options(delimiter: str) -> dict[str, Any]:
    return {"delimiter": delimiter, "skipinitialspace": True}


def _uneven_row(text: str, delimiter: str) -> TableError | None:
    """Return the error of the first row whose number of cells is not that of the header."""
    rows = csv.reader(io.StringIO(text, newline=""), **_csv_options(delimiter))
    columns, named, before = 0, 0, 0
    try:
        for cells in rows:
            line, before = before + 1, rows.line_num
            if not cells or (len(cells) == 1 and not cells[0].strip()):
                continue
            if not columns:
                columns = named = len(cells)
                while named > 1 and not cells[named - 1].strip():
                    named -= 1  # a delimiter at the end of the header
            if any(cells[columns:]) or len(cells) < named:
                names = {"\t": "tabs", " ": "blanks"}.get(delimiter, repr(delimiter))
                more = "more" if len(cells) > columns else "fewer"
                return TableError(
                    f"a row has {more} cells than the header",
                    line=line,
                    expected=f"{columns} {'cell' if columns == 1 else 'cells'}, separated by {names}, as in the header",
                    found=str(len(cells)),
                    remedy="quote names and texts that contain the delimiter, or complete the row",
                )
    except csv.Error as err:
        return TableError(f"not a delimited table: {err}", line=rows.line_num)
    return None


def _require_names(names: Sequence[str], line: int) -> None:
    numbers = [name for name in names if WRITTEN_NUMBER.fullmatch(name)]
    if numbers and (len(numbers) == len(names) or any("." in name for name in numbers)):
        raise TableError(
            "the first row has numbers in place of names",
            line=line,
            expected="a row with the names of the columns",
            found=", ".join(names),
            remedy="write a row of names above the numbers, each with its unit, such as time_ms",
        )


def _require_unique_names(names: Sequence[str], line: int) -> None:
    """Raise `TableError` for duplicate column names, which pandas would silently rename."""
    for place, name in enumerate(names):
        if name and name in names[:place]:
            first = names.index(name)
            raise TableError(
                f"columns {first + 1} and {place + 1} have the same name",
                line=line,
                expected="unique column names",
                found=repr(name),
                remedy="rename one of them",
            )


TABLE_READERS: dict[str, Callable[[bytes], pd.DataFrame]] = {
    ".parquet": lambda data: pd.read_parquet(io.BytesIO(data)),
    ".json": document_rows,
    ".jsonl": line_rows,
}
"""Readers of other tables than delimited ones, by suffix."""
JSON_TABLES = (".json", ".jsonl")


def read(
    path: str | Path,
    *,
    format: str | Path | None = None,  # noqa: A002 - users' word
    interval_s: float | None = None,
    study: str | None = None,
    texts: Sequence[str] = (),
) -> pd.DataFrame:
    """Read a raw file of any known format, or a table, as a tidy frame.

    Parameters
    ----------
    format : str or Path, optional
        Name of a raw format, or a YAML file that declares one; detected by content if omitted.
    interval_s : float, optional
        Seconds between samples, for raw files that only number them.
    study : str, optional
        Id of a study of this repository whose declared inputs take precedence.
    texts : sequence of str
        Columns of a delimited table that are texts even if all cells look like numbers: the
        versions 6.1 and 6.10 differ.

    Returns
    -------
    DataFrame
        For a raw file one row per number, with the columns of `rawperf.tidy.COLUMNS`: `t` in
        seconds, `value` in the tool's own unit, `metric_value` in the unit `metric_unit`. For a
        benchmark tool's results one row per repetition of a benchmark: its keys, and a column per
        quantity in base units (`rawperf.results`). For a table its own columns. All have the
        columns `provenance` ("own data") and `file`, so that derived results carry their origin.
        ``frame.attrs["warnings"]`` holds the reader's warnings.

    Raises
    ------
    RawperfError
        The file can't be read, is too large, or has no known format; names the file and the
        remedy.
    """
    from virtperf.runs.addresses import opened_file

    inputs, name = _requested_formats(study, format)
    with opened_file(path) as place:
        content = read_content(place, path, inputs, name, interval_s=interval_s, texts=texts)
    found: tuple[str, ...] = ()
    if isinstance(content, pd.DataFrame):
        frame, found = content, tuple(content.attrs.get(LEFT_OUT, ()))
    else:
        frame = content.frame() if isinstance(content, ResultTable) else content.table
        found = content.warnings
    reserved = [name for name in ("provenance", "file") if name in frame.columns]
    frame = frame.rename(columns={name: f"{name}_in_file" for name in reserved})
    frame = frame.assign(provenance=str(Provenance.OWN_DATA), file=place.name)
    frame.attrs["warnings"] = list(found)
    return frame


def read_content(
    place: Path,
    named: str | Path,
    inputs: Sequence[DeclaredFormat] = (),
    format_name: str | None = None,
    *,
    interval_s: float | None = None,
    texts: Sequence[str] = (),
) -> ResultTable | RawTables | pd.DataFrame:
    """Read the file at a place as what it is: results of a benchmark tool, a raw file, or a table.

    `inputs` are declared formats, which take precedence. Errors name it as `named`; other parameters
    and errors as in `read`.
    """
    layout = _layout()
    with open_input(place) as stream:
        head, stream = peek_stream(stream)
        plain = extract_head(head)
        if is_utf16(plain) and _is_raw(plain.decode("utf-16", "ignore").encode()):
            raise RawperfError(UTF16_PROBLEM[0], file=str(named), remedy=UTF16_PROBLEM[1])
        known = (
            format_name is not None
            or plain.startswith(LFS_POINTER)
            or any(form.matches_file(place.name, plain) for form in inputs)
        )
        if not known and (results := recognise_results(head)) is not None:
            return read_results(read_bytes(place), str(named), results)
        suffix = "" if known or _is_raw(head) else _table_suffix(place.suffix.lower(), plain)
        is_named = identify_unsupported(plain)[0].startswith(NAMED_TOOL)
        if suffix and not (is_named and suffix in JSON_TABLES):
            # of a table that is none, and of one without numbers, the error below names the tool
            try:
                frame = table(_whole_table(place, str(named)), str(named), suffix, texts)
                if not is_named or len(frame.select_dtypes("number").columns):
                    return frame
            except RawperfError:
                if not is_named:
                    raise
        return read_raw(
            stream,
            file=str(named),
            format_name=format_name,
            interval_s=interval_s,
            inputs=inputs,
            dictionary=build_dictionary(METRICS if layout is None else layout.metrics, inputs),
        )


def _is_raw(head: bytes) -> bool:
    return any(certainty >= MIN_CERTAINTY for certainty, _ in rank_formats(head)[:1])


def _table_suffix(suffix: str, head: bytes) -> str:
    """Suffix of the kind of table that a file is: its own, or the one that its content shows; "" if
    it is none.
    """
    if suffix in DELIMITED or (suffix in TABLE_READERS and suffix != ".json"):
        return suffix
    text = head.lstrip()
    if text[:1] in (b"{", b"["):
        return ".jsonl" if _is_object_a_line(text) else ".json"
    if suffix == ".json":
        return suffix
    if identify_unsupported(head)[0]:
        return ""
    return ".csv" if detect_csv_columns(head) is not None or _is_aligned(head) else ""


def _is_aligned(head: bytes) -> bool:
    """Whether a text is a table of columns separated by blanks, or of one column: names in the first
    line, and in all others as many words, the last of which is a number.
    """
    lines = blank_comments(head.decode("utf-8", "replace")).splitlines()
    complete = lines if len(head) < HEAD_BYTES else lines[:-1]
    rows = [_WORD.findall(line) for line in complete if line.strip()]
    if len(rows) < 2 or any(WRITTEN_NUMBER.fullmatch(word) for word in rows[0]):
        return False
    return all(len(row) == len(rows[0]) and WRITTEN_NUMBER.fullmatch(row[-1]) for row in rows[1:])


def _is_object_a_line(text: bytes) -> bool:
    first, _, rest = text.partition(b"\n")
    if not rest.lstrip().startswith(b"{"):
        return False
    try:
        return isinstance(json.loads(first), dict)
    except (ValueError, RecursionError):
        return False


def _whole_table(place: Path, file: str) -> bytes:
    """Content of a table, decompressed; raises `RawperfError` if it is too large."""
    data = read_bytes(place)
    if place.suffix.lower() in (*DELIMITED, *TABLE_READERS):
        return data
    return read_whole_file(decompress_stream(io.BytesIO(data), file=file), "a table", file)


def _requested_formats(
    study: str | None, format_name: str | Path | None
) -> tuple[tuple[DeclaredFormat, ...], str | None]:
    if study is None and format_name is None:
        return (), None
    from virtperf.runs.ingest.inputs import declared_inputs

    return declared_inputs(_layout(), study, format_name)


def table(data: bytes, file: str, suffix: str, texts: Sequence[str] = ()) -> pd.DataFrame:
    """Parse a table by its suffix; errors name `file`. `texts` as in `read`.

    Raises
    ------
    RawperfError
        Not a table, not in UTF-8, or with duplicate column names; with the line if known.
    """
    if suffix != ".parquet" and not (suffix == ".json" and is_utf16(data[:HEAD_BYTES])):
        _require_utf8(data, file)
    expected = "a header row, then rows with as many cells"
    if suffix in JSON_TABLES:
        expected = "a list of objects, or an object of numbers"
    try:
        frame = (
            _parse_delimited(data, texts) if suffix in DELIMITED else TABLE_READERS[suffix](data)
        )
    except TableError as err:
        raise err.copy_as(RawperfError, file=file, expected=err.expected or expected) from None
    except (ValueError, pd.errors.ParserError) as err:
        raise RawperfError(f"not a table: {err}", file=file, expected=expected) from err
    return convert_units_of_cells(frame, texts)


def _require_utf8(data: bytes, file: str) -> None:
    if is_utf16(data[:HEAD_BYTES]):
        problem, remedy = UTF16_PROBLEM
        raise RawperfError(problem, file=file, remedy=remedy)
    try:
        data.decode()
    except UnicodeDecodeError as err:
        raise RawperfError(
            "invalid UTF-8",
            file=file,
            expected="UTF-8 text",
            remedy="for a Latin-1 file: iconv -f WINDOWS-1252 -t UTF-8 FILE",
            **decode_error_parts(err),
        ) from None


def _layout() -> Layout | None:
    """Return the repository that contains the working folder, or None."""
    layouts = (Layout(folder) for folder in (Path.cwd(), *Path.cwd().parents))
    return next((each for each in layouts if (each.root / "data" / "published").is_dir()), None)
