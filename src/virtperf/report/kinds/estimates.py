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
from virtperf.study.definition import Exhibit

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


FIT_NAMES = (
    ("Scaling law", {"{x} at maximum {y}": "peak_load", "maximum {y}": "peak_throughput"}),
    (
        "Segmented line",
        {
            "{x} at the breakpoint": "breakpoint",
            "slope before": "slope1",
            "slope after": "slope2",
        },
    ),
    ("Straight line", {"change of {y} per unit of {x}": "slope", "{y} at 0": "intercept"}),
)
"""By family of fits: the table title; by label the methods or parameters that are tabulated, of which
the first identifies the family."""


def fit_estimates(context: Context, exhibit: Exhibit, fits: Mapping[Any, Any]) -> Estimates | None:
    """Estimates from the fits of a figure's series, with lack-of-fit warnings; None without fits or
    for an unknown family.
    """
    alpha, series = 1 - context.level, exhibit.series[0]
    available = [fit for fit in fits.values() if getattr(fit, "available", True)]
    families = (
        (title, names)
        for title, names in FIT_NAMES
        if available and hasattr(available[0], next(iter(names.values())))
    )
    title, names = next(families, ("", None))
    if names is None:
        return None
    from virtperf.models.fits import quantity  # the models take a second to load

    words = {
        "x": context.study.factors[series.over].label,
        "y": context.study.quantities[series.quantity].label.lower(),
    }
    estimates = {
        str(label): {
            ask.format(**words): add_lack_of_fit(quantity(fit, name, alpha), fit, alpha)
            for ask, name in names.items()
        }
        for label, fit in fits.items()
    }
    return Estimates(estimates, title)


def add_lack_of_fit(estimate: Any, fit: Any, alpha: float) -> Any:
    """Add a warning if the lack-of-fit test rejects the curve: largest relative error of a mean,
    and p-value.
    """
    from virtperf.models.fits import quantity

    test = quantity(fit, "lack_of_fit") if estimate.available else estimate
    if not test.available or test.pvalue >= alpha:
        return estimate
    means = fit.means()
    miss = 100 * (means["fitted"] / means["mean"] - 1).abs().max()
    p = "below 0.0001" if test.pvalue < 1e-4 else f"= {pretty(test.pvalue, 2)}"
    missed = f"misses a mean by {pretty(miss, 2)} %, more than the spread of the runs explains"
    return estimate.noted(f"lack of fit: the curve {missed} (p {p})")


KIND = ExhibitKind("estimates", record)
