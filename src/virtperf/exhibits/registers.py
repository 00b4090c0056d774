"""Registers of a study: assumptions of ours, misprints and unclear places of the paper."""

from __future__ import annotations

import re
from collections import Counter

from virtperf.exhibits import display
from virtperf.exhibits.data import StudyData, names
from virtperf.exhibits.display import Html, Shown, Table
from virtperf.exhibits.table import corrections
from virtperf.exhibits.wording import breakable, escape, exhibit_name, plural, printable


def assumptions_exhibit(data: StudyData, *, on: bool) -> Shown:
    """Assumptions of ours: what each says, why, whether it holds, and how many limits of plotted points it sets."""
    assumed = [c for c in data.claims if c.assumed] if data.claims else []
    if not assumed:
        return _nothing("assumptions", "No assumption of ours is used.", data)
    binds: Counter[str] = Counter()
    for column in ("low_by", "high_by"):
        for cell in data.points[column]:
            binds.update(names(cell))
    aside = set(map(str, data.contradictions.get("dropped", ())))
    said = {c.id: c.says for c in data.claims} if data.claims else {}
    rows, text = [], []
    for claim in assumed:
        state = ("on" if claim.default_on else "off by default") if on else "off in this report"
        shown = f"{state}, but set aside: the paper excludes it" if claim.id in aside and state == "on" else state
        says = Html(
            f"{breakable(printable(claim.says))}<small class='vp-where'><code>{breakable(claim.id)}</code></small>"
        )
        rows.append((says, Html(_with_links(claim.why, said)), shown, str(binds[claim.id])))
        text.append([claim.id, state, str(binds[claim.id])])
    table = Table(
        ("We assume", "Because", "Switched", "Limits of plotted points that it sets"),
        tuple(rows),
        frozenset({3}),
        ids=tuple(f"claim-{c.id}" for c in assumed),
        stacks=True,
    )
    html = f'<section class="vp-register" id="assumptions">{display.table_html(table, "Assumptions")}</section>'
    return Shown(html, display.table_text(["assumption", "switched", "limits that it sets"], text))


def _with_links(text: str, said: dict[str, str]) -> str:
    """Prose in which ids of statements stand as links that tell their words."""
    words = []
    for word in re.split(r"(\s+)", printable(text)):
        bare = word.rstrip(".,;:)")
        if "-" in bare and bare in said:
            quoted = escape(said[bare].rstrip("."))
            words.append(f'<a href="#claim-{escape(bare)}">“{quoted}”</a>{escape(word[len(bare) :])}')
        else:
            words.append(breakable(word))
    return "".join(words)


def errata_exhibit(data: StudyData) -> Shown:
    """Misprints of the paper: cells with what must be meant and why, then everything else a reader should know."""
    wrong = corrections(data.study)
    remarks = [printable(remark) for remark in data.study.data.get("errata", ())]
    if not wrong and not remarks:
        return _nothing("errata", "No misprint is noted.", data)
    exhibits = {str(e.spec["table"]): e for e in data.study.exhibits if e.spec.get("table")}
    rows, text = [], []
    for c in wrong:
        exhibit = exhibits.get(c.table)
        place = f"{exhibit_name(exhibit.id, exhibit.kind) if exhibit else c.table}, row {c.position + 1}, {c.column}"
        where = Html(f'<a href="#{escape(exhibit.id)}">{breakable(place)}</a>') if exhibit else place
        rows.append((where, c.printed, c.corrected, c.reason))
        text.append([place, c.printed, c.corrected])
    table = Table(("Where", "Printed", "Meant", "Why"), tuple(rows), stacks=True)
    parts = [f"<h4>Misprinted cells</h4>{display.table_html(table, 'Misprints')}"] if wrong else []
    if remarks:
        items = "".join(f"<li>{breakable(remark)}</li>" for remark in remarks)
        parts.append(f"<h4>Unclear or inconsistent places</h4><ul>{items}</ul>")
    listed = f"{display.table_text(['where', 'printed', 'meant'], text)}\n{plural(len(remarks), 'remark')}"
    return Shown(f'<section class="vp-register" id="errata">{"".join(parts)}</section>', listed)


def _nothing(anchor: str, sentence: str, data: StudyData) -> Shown:
    if anchor == "assumptions" and data.claims is None:
        sentence = "No claims are encoded yet."
    return Shown(f'<p class="vp-note" id="{anchor}">{escape(sentence)}</p>', sentence)
