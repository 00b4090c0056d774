"""An equivalence test as a reader sees it: the margin, the interval that decides, the verdict in words."""

from __future__ import annotations

from typing import Any

import pandas as pd

from virtperf.exhibits.kinds import Context, Kind, analysis, note
from virtperf.exhibits.kinds.estimates import record as estimates_record
from virtperf.exhibits.origins import one_origin
from virtperf.exhibits.records import Grid, Record
from virtperf.exhibits.wording import pretty


def record(context: Context, test: Any, *, title: str) -> Record:
    """A table of one row with the verdict of a `virtperf.models.tost.Equivalence` (or `Missing`), and the rule below
    it.

    Raises `ProvenanceError` where the test has no origin, or one that is not true of this study.
    """
    if not test.available:
        return estimates_record(context, {"verdict": test}, title=title)
    origin = one_origin(context.data, {title: test})
    e = test.estimate
    # One decimal more than an estimate has elsewhere: what decides is on which side of the margin a limit lies.
    value, low, high = (f"{v:.4f}" if abs(v) < 10 else pretty(v) for v in (e.value, e.low, e.high))
    rule = test.rule[:1].upper() + test.rule[1:].rstrip(".") + "."
    cells = {
        "Estimate": value,
        "Interval": f"{low} to {high} ({pretty(100 * e.level)} %, {e.method})",
        "Margin": f"{pretty(test.margin[0])} to {pretty(test.margin[1])}",
        "p": "below 0.0001" if test.pvalue < 1e-4 else pretty(test.pvalue, 3),
        "Verdict": test.verdict,
    }
    frame = pd.DataFrame([{
        "estimate": e.value, "low": e.low, "high": e.high, "level": e.level, "method": e.method,
        "margin_low": test.margin[0], "margin_high": test.margin[1], "p": test.pvalue, "verdict": test.verdict,
    }])  # fmt: skip
    table = Grid(label=title, columns=tuple(cells), rows=(tuple(cells.values()),), numeric=(0, 1, 2, 3))
    return analysis(context, "equivalence", title, origin, frame, table, note(rule))


KIND = Kind("equivalence", record)
