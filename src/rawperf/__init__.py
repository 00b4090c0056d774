"""Readers of raw formats, recognised by name or by content; one folder each.

Most tools' formats are declared, not programmed (`declared`). A format knows a tool's files, but no
studies. `read` returns the tool's own field names and units; ingest translates them with the metric
dictionary (`src/rawperf/metrics.yaml`).

A third party adds a format by a declaration, or through the entry-point group ``rawperf``; see
``docs/formats/``. The names of this module are imported lazily: code that needs only `rawperf.core`
starts without the readers.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rawperf.base import RECORD_COLUMNS, ExternalFormat, Format, ParsedFile, rechunk_by_sample
    from rawperf.core.errors import FormatError, RawperfError
    from rawperf.registry import (
        all_formats,
        get_format,
        rank_formats,
        read_blocks,
        sniff,
    )
    from rawperf.text import extract_head
    from rawperf.tidy import read

__version__ = "0.2.0"
__all__ = [
    "RECORD_COLUMNS",
    "ExternalFormat",
    "Format",
    "FormatError",
    "ParsedFile",
    "RawperfError",
    "all_formats",
    "extract_head",
    "get_format",
    "rank_formats",
    "read",
    "read_blocks",
    "rechunk_by_sample",
    "sniff",
]

_MODULES = {
    **dict.fromkeys(
        ("RECORD_COLUMNS", "Format", "ExternalFormat", "ParsedFile", "rechunk_by_sample"),
        "rawperf.base",
    ),
    **dict.fromkeys(("FormatError", "RawperfError"), "rawperf.core.errors"),
    "extract_head": "rawperf.text",
    "read": "rawperf.tidy",
}
"""Modules of the names that are not in the registry."""


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rawperf' has no attribute {name!r}")
    return getattr(importlib.import_module(_MODULES.get(name, "rawperf.registry")), name)
