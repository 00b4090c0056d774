"""Reading of a result file of a benchmark tool: as a table, or as a raw format, which has one record a
number, without times.
"""

from __future__ import annotations

import io
from pkgutil import resolve_name

import numpy as np
import pandas as pd

from rawperf.base import ParsedFile
from rawperf.results.formats import RESULT_FORMATS, ResultFormat
from rawperf.results.result_table import LINE, QUANTITY, VALUE, ResultBuilder, ResultTable
from rawperf.text import decompress_stream, extract_head, read_whole_file

ENTITY_KIND = "benchmark"


def recognise_results(data: bytes) -> ResultFormat | None:
    """Recognise the tool of a result file by its first bytes; None if it is of no known tool."""
    head = extract_head(data)
    return next((form for form in RESULT_FORMATS if form.recognise(head)), None)


def read_results(data: bytes, file: str, form: ResultFormat) -> ResultTable:
    """Read a result file of a tool, perhaps compressed; raises `FormatError` with file and line."""
    plain = read_whole_file(decompress_stream(io.BytesIO(data), file=file), form.name, file)
    builder = ResultBuilder(file)
    resolve_name(f"rawperf.results.{form.parser}")(builder, plain)
    builder.warnings += [f"{file}: {form.note}"] if form.note else []
    return builder.build()


class ResultReader:
    """Raw format of the result files of a tool (`rawperf.base.Format`).

    `entity` of a record is its keys, joined by blanks; `field` is the quantity with its unit.
    """

    def __init__(self, form: ResultFormat) -> None:
        self.form = form
        self.name = form.name
        self.title = form.title

    def sniff(self, head: bytes) -> float:
        """1 for a head that the format recognises, else 0."""
        return float(self.form.recognise(head))

    def read(self, data: bytes, *, file: str = "<bytes>") -> ParsedFile:
        """Read the numbers; raises `FormatError` with file and line."""
        table = read_results(data, file, self.form)
        rows = table.rows
        parts = [rows[key] for key in table.keys]
        entity = ["  ".join(filter(None, key)) for key in zip(*parts, strict=True)]
        names = {
            name: f"{name} ({kind.unit})" if kind.unit not in ("", "1") else name
            for name, kind in table.quantities.items()
        }
        records = pd.DataFrame(
            {
                "report": "",
                "entity_kind": ENTITY_KIND,
                "entity": entity or "",
                "field": rows[QUANTITY].map(names),
                "t": np.nan,
                "value": rows[VALUE],
            }
        )
        left_out = tuple(
            f"{file}: {name} is left out: {why}" for name, why in table.left_out.items()
        )
        keys = {"keys": ", ".join(table.keys)} if table.keys else {}
        lines = rows[LINE].to_numpy(dtype=np.int64)
        return ParsedFile(records, "none", keys, (*table.warnings, *left_out), lines)
