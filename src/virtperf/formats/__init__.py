"""Raw formats: one module each, found by name or by content.

A format knows a tool's files and nothing of studies. `read` gives the tool's own field names and units;
ingest translates them with the metric dictionary (`data/metrics.yaml`). `write`, of those that are simulated, is its
exact inverse.

A third party adds a format through the entry-point group ``virtperf.formats``; see ``docs/formats/``.
"""

from __future__ import annotations

from virtperf.formats.base import CLOCKS, RECORD_COLUMNS, Format, Reading, Writer
from virtperf.formats.registry import all_formats, get_format, get_writer, ranking, sniff

__all__ = [
    "CLOCKS", "RECORD_COLUMNS", "Format", "Reading", "Writer", "all_formats", "get_format", "get_writer", "ranking",
    "sniff",
]  # fmt: skip
