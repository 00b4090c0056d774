"""Reads the exhibit records of executed notebooks."""

from __future__ import annotations

from pathlib import Path

from virtperf.report.html.notebooks import output_record, read_notebook
from virtperf.report.records import Record


def read_records(path: Path) -> list[Record]:
    """All records of an executed notebook, in order."""
    outputs = (o for cell in read_notebook(path).cells for o in cell.get("outputs", ()))
    return [record for output in outputs if (record := output_record(output)) is not None]
