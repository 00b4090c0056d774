"""An equivalence test as a reader sees it: the margin, the interval that decides, the verdict in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import pandas as pd

from virtperf.exhibits import display
from virtperf.exhibits.display import Shown, Table
from virtperf.exhibits.estimates import EstimateLike
from virtperf.exhibits.wording import escape, number, pretty, printable, slug


class EquivalenceLike(Protocol):
    """What a test of equivalence gives (`virtperf.models.tost.Equivalence`)."""

    @property
    def estimate(self) -> EstimateLike: ...
    @property
    def margin(self) -> tuple[float, float]: ...
    @property
    def pvalue(self) -> float: ...
    @property
    def alpha(self) -> float: ...
    @property
    def verdict(self) -> str: ...
    @property
    def rule(self) -> str: ...


def equivalence_exhibit(
    test: EquivalenceLike, *, title: str, provenance: str, study: str, of: Sequence[str] = ()
) -> Shown:
    """A table of one row with the verdict, and the rule below it."""
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
    anchor = slug(title)
    frame = pd.DataFrame([{
        "estimate": e.value, "low": e.low, "high": e.high, "level": e.level, "method": e.method,
        "margin_low": test.margin[0], "margin_high": test.margin[1], "p": test.pvalue, "verdict": test.verdict,
    }])  # fmt: skip
    table = Table(tuple(cells), (tuple(cells.values()),), frozenset({0, 1, 2, 3}))
    html = (
        f'<section class="vp-estimates" id="{escape(anchor)}"><h4>{escape(printable(title))}</h4>'
        f"{display.table_html(table, title)}<p class='vp-note'>{escape(rule)}</p>"
        f"{display.badges([provenance])}{display.origin(study, of)}"
        f'<p class="vp-links">{display.download(frame, f"{study}-{anchor}")}</p></section>'
    )
    row = [number(v) for v in (e.value, e.low, e.high, *test.margin)] + [test.verdict]
    header = ["estimate", "low", "high", "margin low", "margin high", "verdict"]
    return Shown(html, f"{title}\n{display.table_text(header, [row])}")
