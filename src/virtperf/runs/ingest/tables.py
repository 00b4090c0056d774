"""The table that `virtperf read` writes as Parquet."""

from __future__ import annotations

from rawperf.tidy import COLUMNS
from virtperf.core.schema import CellKind, TableSchema

_KINDS = dict.fromkeys(("t", "value", "metric_value"), CellKind.NUMBER) | {"line": CellKind.WHOLE}

TABLE = TableSchema(
    "<file>.parquet",
    "read",
    {name: _KINDS.get(name, CellKind.TEXT) for name in COLUMNS},
    digits=None,
)
