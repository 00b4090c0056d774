"""The table that `virtperf read` writes as Parquet."""

from __future__ import annotations

from rawperf.tidy import COLUMNS
from virtperf.core.schema import Kind, Table

_KINDS = dict.fromkeys(("t", "value", "metric_value"), Kind.NUMBER) | {"line": Kind.WHOLE}

TABLE = Table(
    "<file>.parquet",
    "read",
    {name: _KINDS.get(name, Kind.TEXT) for name in COLUMNS},
    digits=None,
)
