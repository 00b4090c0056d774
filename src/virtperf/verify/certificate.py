"""An outcome as JSON: what was replayed, on what, and every item that is not identical."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import asdict
from typing import Any

from virtperf.verify.compare import IDENTICAL, MISSING, NEW, STATUSES, Change
from virtperf.verify.items import Item
from virtperf.verify.outcome import ExhibitOutcome, Outcome, StudyOutcome
from virtperf.verify.tolerances import described


def document(outcome: Outcome, command: str) -> dict[str, Any]:
    """The certificate; the same outcome gives the same document.

    Parameters
    ----------
    command : str
        ``verify`` or ``diff``: the schema's name is made of it.
    """
    return {
        "schema": f"virtperf-{command}/1",
        "agrees": outcome.agrees,
        "old": asdict(outcome.old), "new": asdict(outcome.new),
        "stages": list(outcome.stages),
        "packages": {p.name: {"version": p.version, "pinned": p.pinned} for p in outcome.packages},
        "tolerances": described(outcome.tolerances),
        "counts": _counts(outcome.counts),
        "studies": [_study(study) for study in outcome.studies],
        "documents": [asdict(finding) for finding in outcome.findings],
        "recorded_bytes": [asdict(entry) for entry in outcome.recorded],
    }  # fmt: skip


def whole(study: StudyOutcome) -> str:
    """`NEW` or `MISSING` for a study that only one side has, else nothing."""
    statuses = set(study.counts)
    return next((status for status in (NEW, MISSING) if statuses == {status}), "")


def _study(study: StudyOutcome) -> dict[str, Any]:
    only = whole(study)
    changes = [c for e in study.exhibits for c in e.changes if c.status != IDENTICAL]
    return {
        "study": study.study, "title": study.title, "only": only, "counts": _counts(study.counts),
        "affected": [e.name for e in study.affected], "redrawn": [e.name for e in study.redrawn],
        "edited_claims": study.edited,
        "claims": [{"claim": name, "exhibits": list(study.claim_exhibits.get(name, ()))} for name in study.claims],
        "exhibits": [_exhibit(exhibit) for exhibit in study.exhibits],
        "items": [] if only else [_change(change) for change in changes],
    }  # fmt: skip


def _exhibit(exhibit: ExhibitOutcome) -> dict[str, Any]:
    return {
        "name": exhibit.name, "title": exhibit.title, "kind": exhibit.kind, "under": exhibit.under,
        "agrees": exhibit.agrees, "drawing": exhibit.drawing, "counts": _counts(exhibit.counts),
    }  # fmt: skip


def _counts(counts: Counter[str]) -> dict[str, int]:
    return {status: counts[status] for status in STATUSES}


def _change(change: Change) -> dict[str, Any]:
    item = change.item
    return {
        "exhibit": item.exhibit, "label": item.label, "field": item.field, "kind": item.kind, "status": change.status,
        "widths": _number(change.widths), "old": _side(change.old), "new": _side(change.new),
    }  # fmt: skip


def _side(item: Item | None) -> dict[str, Any] | None:
    if item is None:
        return None
    parts: dict[str, Any] = {name: _number(getattr(item, name)) for name in ("value", "low", "high")}
    if item.curve:
        least, most = map(_number, item.ends)
        parts["curve"] = {"values": len(item.curve), "least": least, "most": most}
    if item.words:
        parts["words"] = item.words
    return {name: value for name, value in parts.items() if value is not None}


def _number(value: float) -> float | str | None:
    """JSON has neither NaN, which becomes null, nor infinity, which becomes a word."""
    if math.isnan(value):
        return None
    return value if math.isfinite(value) else "infinite" if value > 0 else "-infinite"
