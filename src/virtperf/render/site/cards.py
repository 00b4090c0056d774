"""The site's first page: the studies as cards, what the three provenances mean, how to rerun everything."""

from __future__ import annotations

import re
from collections.abc import Sequence

from virtperf.exhibits.claim_words import verdict
from virtperf.exhibits.wording import PROVENANCES, VERDICTS, escape, plural, printable
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import Section, page

TEXT = ("corroborated", "independent", "contradicted")
MEASURED = ("reproduced", "refuted", "undecided")
_DRAWN = re.compile(
    r'<svg [^>]*class="vp-drawing vp-(?:wide|narrow)".*?</svg>|<ul class="vp-legend">.*?</ul>', re.DOTALL
)


def index_page(studies: Sequence[StudyFacts]) -> str:
    """The page that a reviewer opens first."""
    lead = (
        "<p>Published performance studies of virtualization, regenerated: every table and figure, every statement "
        "checked against the paper's other statements and, where somebody has run the test again, against "
        "measurements.</p>"
    )
    cards = "".join(_card(facts) for facts in studies)
    return page(
        "index.html", "Studies", lead,
        [
            Section("studies", "The studies", f'<div class="vp-cards">{cards}</div>'),
            Section("provenance", "Where a number comes from", _provenance()),
            Section("verdicts", "What the verdicts mean", _verdicts()),
            Section("rerun", "How to rerun it", _rerun()),
        ],
    )  # fmt: skip


def _card(facts: StudyFacts) -> str:
    exhibits = facts.data.study.exhibits
    figures = sum(e.kind != "table" for e in exhibits)
    regenerated = f"{plural(figures, 'figure')} and {plural(len(exhibits) - figures, 'table')}"
    share = f"{facts.reach.within[0]} of {facts.reach.points}"
    address = f"{facts.id}.html"
    rows = [
        ("Exhibits regenerated", escape(regenerated)),
        ("Plotted points that the text pins down to ±5 %", escape(share)),
        ("Statements, by the paper's other statements", _counts(facts, facts.text, TEXT)),
        ("Statements, by measured runs", _counts(facts, facts.measured, MEASURED) or "nothing measured yet"),
        ("Notes on the paper that say nothing to compute with", str(facts.not_encoded)),
    ]
    listed = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in rows)
    summary = escape(printable(" ".join(str(facts.data.study.data.get("summary", "")).split())))
    return (
        f'<article class="vp-card" aria-labelledby="card-{escape(facts.id)}">'
        f'<h3 id="card-{escape(facts.id)}"><a href="{escape(address)}">{escape(printable(facts.title))}</a></h3>'
        f'<p class="vp-where">{escape(_origin(facts))}</p>{_drawing(facts)}<p>{summary}</p>'
        f'<dl class="vp-card-facts">{listed}</dl></article>'
    )


def _origin(facts: StudyFacts) -> str:
    bibliography = facts.data.study.data["bibliography"]
    return printable(", ".join(str(bibliography[k]) for k in ("publisher", "published") if bibliography.get(k)))


def _counts(facts: StudyFacts, counts: dict[str, int], words: Sequence[str]) -> str:
    present = [w for w in words if counts[w]]
    return " ".join(f'<a class="vp-count" href="{address(facts.id, w)}">{counts[w]} {verdict(w)}</a>' for w in present)


def address(study: str, word: str) -> str:
    """The claims page, filtered by study and verdict."""
    return f"claims.html#study={escape(study)}&amp;verdict={escape(word)}"


def _drawing(facts: StudyFacts) -> str:
    """The study's telling figure, both sizes, as a link to the exhibit."""
    if facts.telling is None:
        return ""
    shown = facts.book.figure(facts.telling)
    drawings = "".join(_DRAWN.findall(shown.html))
    exhibit = facts.data.study.exhibit(facts.telling)
    where = f"{facts.id}.html#{facts.telling}"
    label = f"{facts.telling.replace('-', ' ').capitalize()}: {exhibit.title}"
    return (
        f'<figure class="vp-card-figure">{drawings}<figcaption><a href="{escape(where)}">{escape(printable(label))}</a>'
        "</figcaption></figure>"
    )


def _provenance() -> str:
    published, reconstructed, measured = (escape(PROVENANCES[p]) for p in ("published", "reconstructed", "measured"))
    return (
        "<p>Papers seldom publish their raw data, and many of their values survive only in words. So every number here "
        f"says which of three kinds it is. <b>Published</b>: {published}. <b>Reconstructed</b>: {reconstructed}; raw "
        "files are simulated around such values to test the evaluation, and decide nothing. "
        f"<b>Measured</b>: {measured}; only these can confirm or refute a paper.</p>"
    )


def _verdicts() -> str:
    items = "".join(f"<li>{verdict(word)} {escape(VERDICTS[word])}</li>" for word in (*TEXT, *MEASURED))
    return f'<ul class="vp-plain">{items}</ul>'


def _rerun() -> str:
    return (
        "<p>In a clone of the repository, <code>make repro</code> makes the environment and runs whatever is out of "
        "date; <code>make test</code> runs everything that continuous integration runs; <code>virtperf verify</code> "
        "replays the studies in a clean place and compares every number with what is stored.</p>"
    )
