"""All statements as a table for other programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from virtperf.exhibits import display
from virtperf.exhibits.claim_words import verdict_words
from virtperf.render.site.gather import StudyFacts
from virtperf.study.claims import Claim

FROM_STAGES = (
    "implied_low", "implied_high", "estimate", "estimate_low", "estimate_high", "reconstructed_estimate",
    "reconstructed_low", "reconstructed_high", "reason",
)  # fmt: skip


def download_link(rows: Sequence[tuple[StudyFacts, Claim, dict[str, Any]]]) -> str:
    """A link that holds one row a statement: what is printed, what follows, both verdicts."""
    records = []
    for facts, claim, result in rows:
        from_text, measured = verdict_words(claim, result)
        records.append({
            "study": facts.id, "claim": claim.id, "kind": claim.kind, "says": claim.says,
            "section": "; ".join(claim.sections), "printed": claim.value, "printed_low": _finite(claim.low),
            "printed_high": _finite(claim.high), "text_verdict": from_text, "measured_verdict": measured,
            **{name: result.get(name) for name in FROM_STAGES},
        })  # fmt: skip
    table = display.download(pd.DataFrame(records), "claims", "Download all statements (CSV)")
    return f'<p class="vp-links">{table}</p>'


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
