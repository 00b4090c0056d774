"""Raw formats: one module each, found by name or by content.

A format knows a tool's files and nothing of studies. `read` gives the tool's own field names and units;
ingest translates them with the metric dictionary (`data/metrics.yaml`). `write` is the exact inverse of `read`.

A third party adds a format through the entry-point group ``virtperf.formats``; see ``docs/formats/``.
"""

from __future__ import annotations

from virtperf.formats.base import CLOCKS, RECORD_COLUMNS, Format, Reading
from virtperf.formats.registry import all_formats, get_format, ranking, sniff

__all__ = ["CLOCKS", "RECORD_COLUMNS", "Format", "Reading", "all_formats", "get_format", "ranking", "sniff"]
