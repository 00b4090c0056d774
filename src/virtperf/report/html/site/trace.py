"""Trace page beside the report: the lineage of every value, readable without scripts, with links to
the raw files.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from virtperf.report.glossary import EMPTY_GLOSSARY, Glossary
from virtperf.report.html.record import trace_anchor
from virtperf.report.html.site.gather import StudyFacts
from virtperf.report.html.templating import page
from virtperf.report.trace import TableTrace, Trace, table_traces
from virtperf.report.wording import exhibit_name

MAX_LINKS, MIN_LINKS = 1500, 3  # runs named for all values together, and at least for each value


def trace_page(
    facts: StudyFacts, traces: Sequence[Trace], glossary: Glossary = EMPTY_GLOSSARY
) -> str:
    """Render one section a figure with an entry for each plotted value, anchored by its key; one
    section a printed table.
    """
    most = max(MIN_LINKS, MAX_LINKS // max(1, len(traces)))
    sections: list[tuple[str, str, list[Trace], TableTrace | None]] = []
    for exhibit, entries in groupby(traces, key=lambda t: t.exhibit):
        title = f"{exhibit_name(exhibit, 'figure')}. {facts.data.study.exhibit(exhibit).title}"
        sections.append((exhibit, title, list(entries), None))
    for table in table_traces(facts.data):
        title = f"{exhibit_name(table.exhibit, 'table')}. {table.title}"
        sections.append((table.exhibit, title, [], table))
    claims = {
        c.id: (facts.place.address(f"claim:{c.id}", facts.id), c.says.rstrip("."))
        for c in facts.data.claims or ()
    }
    return page(
        "trace",
        f"Traces: {facts.title}",
        facts=facts,
        words=glossary.used_in(
            " ".join([*(title for _, title, _, _ in sections), *(t.words for t in traces)])
        ),
        measured=len(facts.data.observations),
        sections=sections,
        claims=claims,
        trace_anchor=trace_anchor,
        folder=f"../data/measured/{facts.id}{'/examples' if facts.prefix else ''}",
        most=most,
    )
