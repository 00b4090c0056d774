"""A table of estimates, each with its interval and how the interval was made."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import pandas as pd

from virtperf.exhibits import display
from virtperf.exhibits.attempt import Unavailable
from virtperf.exhibits.display import Shown, Table
from virtperf.exhibits.wording import as_precise, escape, number, pretty, printable, slug


class EstimateLike(Protocol):
    """What `virtperf.models.result.Estimate` has."""

    @property
    def value(self) -> float: ...
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def level(self) -> float: ...
    @property
    def method(self) -> str: ...
    @property
    def warnings(self) -> tuple[str, ...]: ...


def estimates_exhibit(
    estimates: Mapping[str, Any] | Unavailable,
    *,
    title: str,
    provenance: str,
    unit: str = "",
    anchor: str = "",
    study: str = "",
    of: Sequence[str] = (),
) -> Shown:
    """A table of estimates.

    Parameters
    ----------
    estimates : mapping
        Label to `Estimate` or `Unavailable`, or label to a mapping of labels to them (one group of rows each).
    title : str
    provenance : str
        Of the data that the estimates come from: published, reconstructed, measured or example.
    unit : str
        Of all values; where units differ, write them into the labels.
    anchor : str
        Default: the title as a slug.
    of : sequence of str
        Ids of the exhibits, or runs, whose values the estimates rest on; they become links to the trail.
    """
    anchor = anchor or slug(title)
    if isinstance(estimates, Unavailable):
        estimates = {title: estimates}
    rows, text, csv = [], [], []
    for label, e in _flat(estimates):
        if isinstance(e, Unavailable):
            reason = printable(e.reason)
            rows.append((label, "not available", "", "", reason))
            text.append([label, "n/a", "n/a", "n/a", "", reason])
            csv.append({"estimate": label, "value": math.nan, "low": math.nan, "high": math.nan, "unit": unit,
                        "level": math.nan, "method": "", "warnings": reason})  # fmt: skip
            continue
        value, low, high = as_precise(e.value, e.low, e.high)
        limits = (
            f"{low if math.isfinite(e.low) else 'no limit'} to {high if math.isfinite(e.high) else 'no limit'}"
            if math.isfinite(e.low) or math.isfinite(e.high)
            else "no finite limits"
        )
        notes = "; ".join(printable(w) for w in e.warnings)
        method = f"{pretty(100 * e.level)} %, {e.method}"
        rows.append((label, _with(value, unit), _with(limits, unit), method, notes or "none"))
        text.append(
            [label, number(e.value), number(e.low), number(e.high), f"{number(100 * e.level)} % {e.method}", notes]
        )
        csv.append({"estimate": label, "value": e.value, "low": e.low, "high": e.high, "unit": unit, "level": e.level,
                    "method": e.method, "warnings": notes})  # fmt: skip
    noted = any(row[4] != "none" for row in rows)
    columns = ("Estimate", "Value", "Interval", "Kind of interval", "Remarks")
    table = Table(
        columns if noted else columns[:4], tuple(row if noted else row[:4] for row in rows), frozenset({1, 2})
    )
    frame = pd.DataFrame(csv).replace([math.inf, -math.inf], math.nan)
    body = (
        f"<h4>{escape(printable(title))}</h4>{display.table_html(table, title)}{display.badges([provenance])}"
        f"{display.origin(study, of)}"
        f'<p class="vp-links">{display.download(frame, "-".join(filter(None, [study, anchor])))}</p>'
    )
    html = f'<section class="vp-estimates" id="{escape(anchor)}">{body}</section>'
    return Shown(
        html, f"{title}\n{display.table_text(['estimate', 'value', 'low', 'high', 'interval', 'remarks'], text)}"
    )


def _flat(estimates: Mapping[str, Any]) -> list[tuple[str, EstimateLike]]:
    rows: list[tuple[str, EstimateLike]] = []
    for label, item in estimates.items():
        rows += (
            [(f"{label}: {inner}", e) for inner, e in _flat(item)]
            if isinstance(item, Mapping)
            else [(str(label), item)]
        )
    return rows


def _with(text: str, unit: str) -> str:
    return f"{text} {unit}".strip()
