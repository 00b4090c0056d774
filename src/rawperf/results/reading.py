"""A result file as a raw format: one record a number, without times."""

from __future__ import annotations

import numpy as np
import pandas as pd

from rawperf.base import ParsedFile
from rawperf.results.formats import ResultFormat
from rawperf.results.read import read_results
from rawperf.results.table import LINE, QUANTITY, VALUE

ENTITY_KIND = "benchmark"


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
