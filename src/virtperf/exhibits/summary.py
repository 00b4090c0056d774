"""The headline of a report: how much the text pins down, what the verdicts are, what data there is."""

from __future__ import annotations

import math
from dataclasses import dataclass

from virtperf.exhibits import display
from virtperf.exhibits.claim_words import verdict
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.display import Shown
from virtperf.exhibits.layers import Point
from virtperf.exhibits.wording import VERDICTS, escape, plural
from virtperf.study.definition import Study

TEXT_VERDICTS = ("corroborated", "independent", "contradicted")
MEASURED_VERDICTS = ("reproduced", "refuted", "undecided", "no measurement")
WITHIN = (0.05, 0.10)  # a point counts as pinned down to +-5 % or +-10 % of the middle of its interval


@dataclass(frozen=True)
class Reach:
    """How far the text pins the plotted points down.

    Attributes
    ----------
    points : int
        Plotted points, without those that are 100 by convention.
    within : tuple of int
        Points whose interval is narrower than each of `WITHIN`.
    open_ended : int
        Points without an upper limit.
    """

    points: int
    within: tuple[int, ...]
    open_ended: int


def reach(study: Study, points: list[Point], *, bare: bool = False) -> Reach:
    """Count points by the half-width of their interval relative to its middle; `bare`: without our assumptions."""
    free = [p for p in points if (found := study.reference_for(p.quantity)) is None or found[0] != p.quantity]
    limits = [(p.low_bare, p.high_bare) if bare else (p.low, p.high) for p in free]
    closed = [(high - low) / (high + low) if high > 0 else 0.0 for low, high in limits if math.isfinite(low + high)]
    return Reach(
        len(free), tuple(sum(w <= most for w in closed) for most in WITHIN), sum(math.isinf(high) for _, high in limits)
    )


def summary_exhibit(data: StudyData, points: list[Point]) -> Shown:
    """The headline box."""
    claims = [c for c in data.claims if not c.assumed] if data.claims else []
    assumed = [c for c in data.claims if c.assumed] if data.claims else []
    left_out = len(data.claims.not_encoded) if data.claims else 0
    used = [c for c in assumed if c.default_on]
    results = {c.id: data.result(c.id) for c in claims}
    text = {word: sum(r.get("text_verdict") == word for r in results.values()) for word in TEXT_VERDICTS}
    measured = {
        word: sum(r.get("measured_verdict", "no measurement") == word for r in results.values())
        for word in MEASURED_VERDICTS
    }
    runs = {p: data.runs.loc[data.runs["provenance"] == p, "run_id"].nunique() for p in ("measured", "reconstructed")}
    with_ours, bare = reach(data.study, points), reach(data.study, points, bare=True)
    facts = [
        (
            f"{with_ours.within[0]} of {with_ours.points}",
            "plotted points pinned down to ±5 % or better",
            f"by the text and {plural(len(used), 'assumption')} of ours; by the text alone {bare.within[0]}, "
            f"and {bare.open_ended} then have no upper limit",
        ),
        (
            str(len(claims)),
            "statements of the paper, as relations between numbers",
            f"made from {plural(int(data.study.data.get('claims_in_ledger', 0)), 'note')} on the paper; {left_out} of "
            "the notes say nothing to compute with",
        ),
        (str(text["contradicted"]), "statements that the paper itself excludes", "listed under Contradictions"),
        (
            str(runs["measured"]),
            "measured runs",
            f"beside {plural(runs['reconstructed'], 'reconstructed run')}, which decide nothing",
        ),
    ]
    boxes = "".join(
        f'<div class="vp-fact"><dt>{escape(label)}</dt><dd>{escape(value)}</dd>{_note(note)}</div>'
        for value, label, note in facts
    )
    found = " ".join(str(data.study.data.get("summary", "")).split())
    html = (
        f'<section class="vp-summary" id="summary" aria-label="Summary"><p>{escape(found)}</p>'
        f'<dl class="vp-facts">{boxes}</dl>'
        f"{_counts('From the text alone', text)}{_counts('From measured runs', measured)}{_missing(data)}</section>"
    )
    rows = [[label, value, note] for value, label, note in facts]
    rows += [[f"text: {word}", str(count), ""] for word, count in text.items()]
    rows += [[f"measured: {word}", str(count), ""] for word, count in measured.items()]
    rows += [["assumptions of ours", str(len(assumed)), ""]]
    return Shown(html, display.table_text(["what", "count", "note"], rows))


def _note(text: str) -> str:
    return f'<dd class="vp-where">{escape(text)}</dd>' if text else ""


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
