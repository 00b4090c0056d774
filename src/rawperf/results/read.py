"""Reading of a file of results: that of a known benchmark tool, or a plain table."""

from __future__ import annotations

import io
from dataclasses import replace

from rawperf.pieces import decompress_stream, extract_head, read_whole_file
from rawperf.results.formats import RESULT_FORMATS, ResultFormat
from rawperf.results.table import ResultTable


def recognise_results(data: bytes) -> ResultFormat | None:
    """Recognise the tool of a result file by its first bytes; None if it is of no known tool."""
    head = extract_head(data)
    return next((form for form in RESULT_FORMATS if form.recognise(head)), None)


def read_results(data: bytes, file: str, form: ResultFormat) -> ResultTable:
    """Read a result file of a tool, perhaps compressed; raises `FormatError` with file and line."""
    plain = read_whole_file(decompress_stream(io.BytesIO(data), file=file), form.name, file)
    table = form.parse(plain, file=file)
    note = (f"{file}: {form.note}",) if form.note else ()
    return replace(table, warnings=(*table.warnings, *note))
