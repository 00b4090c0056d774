"""A table of estimates, each with its interval and the interval's method."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from rawperf.core.errors import RawperfError
from virtperf.core.estimate import Estimates
from virtperf.core.numbers import as_precise, pretty
from virtperf.report.kinds import Context, ExhibitKind, analysis
from virtperf.report.origins import shared_origin
from virtperf.report.records import Grid, Record

_COLUMNS = ["estimate", "value", "low", "high", "unit", "level", "method", "warnings"]
_PARTS = ("value", "low", "high", "level", "method")


def record(context: Context, estimates: Any, *, title: str, unit: str = "") -> Record:
    """Build a table of estimates of one provenance and one `unit`; differing units are part of the
    labels.

    `estimates` is one estimate, or label to `virtperf.models.Estimate` or `Missing`, or label to a
    mapping of them (a group of rows). Raises `ProvenanceError` if an estimate has no origin, its
    origin does not match this study, or provenances are mixed; `RawperfError` for other objects.
    """
    flat = dict(_flat(estimates if isinstance(estimates, Mapping) else {title: estimates}))
    origin = shared_origin(context.data, flat)
    rows: list[tuple[str, ...]] = []
    for label, e in flat.items():
        if not e.available:
            rows.append((label, "not available", "", "", e.reason))
            continue
        value, low, high = as_precise(e.value, e.low, e.high)
        notes = "; ".join(e.warnings)
        ends = [
            shown if math.isfinite(end) else "no limit"
            for shown, end in ((low, e.low), (high, e.high))
        ]
        limits = "no finite limits" if set(ends) == {"no limit"} else " to ".join(ends)
        kind = f"{pretty(100 * e.level)} %, {e.method}"
        rows.append(
            (label, f"{value} {unit}".strip(), f"{limits} {unit}".strip(), kind, notes or "none")
        )
    kinds = {row[3] for row in rows} - {""}
    same = len(rows) > 1 and len(kinds) == 1
    columns = ("Estimate", "Value", "Interval", "Type of interval", "Remarks")
    shown = [0, 1, 2]
    if not same:
        shown.append(3)
    if any(row[4] != "none" for row in rows):
        shown.append(4)
    table = Grid(
        label=title,
        columns=tuple(columns[k] for k in shown),
        rows=tuple(tuple(row[k] for k in shown) for row in rows),
        numeric=(1, 2),
    )
    caption = f"Intervals: {kinds.pop()}." if same else ""
    frame = Estimates(flat).frame().rename_axis("estimate").reset_index()
    numbers = frame.assign(unit=unit).reindex(columns=_COLUMNS)
    return analysis(context, "estimates", title, origin, numbers, table, caption=caption)


def _flat(estimates: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for label, item in estimates.items():
        if isinstance(item, Mapping):
            yield from ((f"{label}: {inner}", e) for inner, e in _flat(item))
            continue
        if getattr(item, "available", True) and not all(hasattr(item, part) for part in _PARTS):
            raise RawperfError(
                f"{label} is not an estimate",
                expected="a virtperf.models.Estimate, or a mapping of them",
                found=type(item).__name__,
                remedy="get the estimates of a fit by .estimates(...).",
            )
        yield str(label), item


KIND = ExhibitKind("estimates", record)
