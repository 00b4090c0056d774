"""What every paper says against itself, on one page."""

from __future__ import annotations

from collections.abc import Sequence

from virtperf.exhibits.kinds.contradictions import contradictions
from virtperf.render.record import distinct, record_html
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import page


def contradictions_page(studies: Sequence[StudyFacts]) -> str:
    """One section a study, with the smallest sets of claims that cannot all hold."""
    records = distinct((facts.record("contradictions") for facts in studies), taken=[facts.id for facts in studies])
    sections = [
        (facts, len(contradictions(facts.data)), record_html(record, place=facts.place))
        for facts, record in zip(studies, records, strict=True)
    ]
    return page("contradictions", "contradictions.html", "Contradictions", sections=sections)
