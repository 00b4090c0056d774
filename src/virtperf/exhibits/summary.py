"""The headline of a report: how much the text pins down, what the verdicts are, what data there is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from virtperf.exhibits import display
from virtperf.exhibits.claims import verdict
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.display import Shown
from virtperf.exhibits.layers import Point
from virtperf.exhibits.words import VERDICTS, escape, number, plural, pretty

TEXT_VERDICTS = ("corroborated", "independent", "contradicted")
MEASURED_VERDICTS = ("reproduced", "refuted", "undecided", "no measurement")
PINNED = 0.01  # a point is pinned down if its interval is narrower than this share of its larger limit


@dataclass(frozen=True)
class Spread:
    """How far the text pins the plotted points down: counts of points by the width of their interval."""

    points: int
    pinned: int
    bounded: int
    open_ended: int
    unknown: int
    median_width: float


def spread(points: list[Point]) -> Spread:
    """Count points: pinned down (within `PINNED`), bounded on both sides, without an upper limit, not computed."""
    widths = []
    open_ended = unknown = 0
    for p in points:
        if not p.known:
            unknown += 1
        elif math.isinf(p.high) or math.isinf(p.low):
            open_ended += 1
        else:
            scale = max(abs(p.low), abs(p.high))
            widths.append((p.high - p.low) / scale if scale else 0.0)
    widths.sort()
    middle = (widths[(len(widths) - 1) // 2] + widths[len(widths) // 2]) / 2 if widths else math.nan
    pinned = sum(w <= PINNED for w in widths)
    return Spread(len(points), pinned, len(widths) - pinned, open_ended, unknown, middle)


def summary_exhibit(data: StudyData, points: list[Point]) -> Shown:
    """The headline box."""
    reach = spread(points)
    claims = [c for c in data.claims if not c.assumed] if data.claims else []
    assumed = [c for c in data.claims if c.assumed] if data.claims else []
    ledger = int(data.study.data.get("claims_in_ledger", 0))
    results = {c.id: data.result(c.id) for c in claims}
    text = {word: sum(r.get("text_verdict") == word for r in results.values()) for word in TEXT_VERDICTS}
    measured = {
        word: sum(r.get("measured_verdict", "no measurement") == word for r in results.values())
        for word in MEASURED_VERDICTS
    }
    runs = {p: data.runs.loc[data.runs["provenance"] == p, "run_id"].nunique() for p in ("measured", "reconstructed")}
    conflicts = len(data.contradictions.get("conflicts", ()))
    facts = [
        (number(float(len(claims))), f"statements encoded, from {plural(ledger, 'note')} on the paper", ""),
        (f"{reach.pinned} of {reach.points}", "plotted points that the text pins down to 1 %", _reach_words(reach)),
        (number(float(conflicts)), "contradictions within the paper", _aside(data)),
        (
            number(float(runs["measured"])),
            "measured runs",
            f"{runs['reconstructed']} reconstructed runs stand beside them",
        ),
    ]
    boxes = "".join(
        f'<div class="vp-fact"><dt>{escape(label)}</dt><dd>{escape(value)}</dd>{_note(note)}</div>'
        for value, label, note in facts
    )
    html = (
        f'<section class="vp-summary" id="summary" aria-label="Summary"><dl class="vp-facts">{boxes}</dl>'
        f"{_counts('From the text alone', text)}{_counts('From measured runs', measured)}{_missing(data)}</section>"
    )
    rows = [[label, value, note] for value, label, note in facts]
    rows += [[f"text: {word}", str(count), ""] for word, count in text.items()]
    rows += [[f"measured: {word}", str(count), ""] for word, count in measured.items()]
    rows += [["assumptions of ours", str(len(assumed)), ""]]
    return Shown(html, display.table_text(["what", "count", "note"], rows))


def _note(text: str) -> str:
    return f'<dd class="vp-where">{escape(text)}</dd>' if text else ""


def _aside(data: StudyData) -> str:
    dropped = len(data.contradictions.get("dropped", ()))
    return f"{plural(dropped, 'statement is', 'statements are')} set aside to resolve them" if dropped else ""


def _reach_words(reach: Spread) -> str:
    parts = [f"{reach.bounded} lie between two limits", f"{reach.open_ended} have no upper limit"]
    if reach.unknown:
        parts.append(f"{reach.unknown} are not computed yet")
    if not math.isnan(reach.median_width):
        parts.append(f"half of the closed intervals are narrower than {pretty(100 * reach.median_width, 2)} %")
    return "; ".join(parts)


def _counts(title: str, counts: dict[str, int]) -> str:
    items = "".join(
        f"<li>{verdict(word)} <b>{count}</b> <span class='vp-where'>{escape(VERDICTS[word])}</span></li>"
        for word, count in counts.items()
    )
    return f'<div class="vp-counts"><h4>{escape(title)}</h4><ul>{items}</ul></div>'


def _missing(data: StudyData) -> str:
    if not data.missing:
        return ""
    files = ", ".join(f"<code>{escape(m)}</code>" for m in data.missing)
    return f'<p class="vp-note">Not there yet, so nothing is shown from it: {files}.</p>'
