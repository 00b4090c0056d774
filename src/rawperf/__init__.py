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
    from rawperf.pieces import extract_head
    from rawperf.registry import (
        all_formats,
        get_format,
        rank_formats,
        read_blocks,
        sniff,
    )
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

_BASE = {"RECORD_COLUMNS", "Format", "ExternalFormat", "ParsedFile", "rechunk_by_sample"}
_ERRORS = {"FormatError", "RawperfError"}
_MODULES = {"read": "rawperf.tidy", "extract_head": "rawperf.pieces"}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'rawperf' has no attribute {name!r}")
    module = "rawperf.registry"
    if name in _BASE:
        module = "rawperf.base"
    elif name in _ERRORS:
        module = "rawperf.core.errors"
    elif name in _MODULES:
        module = _MODULES[name]
    return getattr(importlib.import_module(module), name)
