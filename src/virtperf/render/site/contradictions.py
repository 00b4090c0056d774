"""What every paper says against itself, on one page."""

from __future__ import annotations

from collections.abc import Sequence

from virtperf.exhibits.contradictions import contradictions
from virtperf.exhibits.wording import escape, plural, printable
from virtperf.render.site.claims import address
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import Section, page


def contradictions_page(studies: Sequence[StudyFacts]) -> str:
    """One section a study, with the smallest sets of statements that cannot all hold."""
    lead = (
        "<p>Statements of one paper that cannot all be true, found by computation. Every statement is a relation "
        "between numbers with the room that its printed digits or its wording leave. A linear program finds the "
        "cheapest set of statements without which the rest agrees: assumptions of ours go first, vague words next, "
        "printed numbers last. Each entry names one statement that was set aside, with the smallest groups of others "
        "that exclude it and the interval that they leave. A statement that was set aside need not be the wrong "
        "one.</p>"
    )
    sections = []
    for facts in studies:
        entries = contradictions(facts.data)
        body = facts.book.contradictions().html
        for claim in facts.data.claims or ():
            body = body.replace(f'href="#claim-{escape(claim.id)}"', f'href="{escape(address(facts.id, claim))}"')
        report = f'<a href="{escape(facts.id)}.html">the report</a>'
        note = f'<p class="vp-where">{plural(len(entries), "statement")} set aside; from {report}.</p>'
        sections.append(Section(facts.id, printable(facts.title), f'{note}<div class="vp-output">{body}</div>'))
    return page("contradictions.html", "Contradictions", lead, sections)
