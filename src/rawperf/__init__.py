"""Raw formats: one folder each, found by name or by content; most tools' are declared, not
programmed (`declared`).

A format knows a tool's files and nothing of studies. `read` gives the tool's own field names and
units; ingest translates them with the metric dictionary (`data/metrics.yaml`). `write`, of those
that are simulated, is its exact inverse.

A third party adds a format by a declaration, or through the entry-point group ``rawperf``; see
``docs/formats/``.
"""

from __future__ import annotations

from rawperf.base import RECORD_COLUMNS, Format, Outside, Reading, by_sample
from rawperf.registry import all_formats, blocks_of, get_format, head_of, ranking, sniff

__all__ = [
    "RECORD_COLUMNS",
    "Format",
    "Outside",
    "Reading",
    "all_formats",
    "blocks_of",
    "by_sample",
    "get_format",
    "head_of",
    "ranking",
    "sniff",
]
