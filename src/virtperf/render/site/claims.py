"""All claims of all studies on one page: to be filtered, searched, sorted and linked, and readable without scripts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from virtperf.exhibits.claim_words import estimate_words, implied, printed, unit_of, verdict, verdict_words
from virtperf.exhibits.wording import breakable, escape, exhibit_name, printable
from virtperf.render.site.claims_csv import download_link
from virtperf.render.site.drawing import interval_drawing
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import Section, page
from virtperf.study.claims import Claim

COLUMNS = (
    ("study", "Study"),
    ("says", "The paper says"),
    ("printed", "Printed"),
    ("allowed", "Its other statements allow"),
    ("runs", "Runs give"),
    ("drawing", ""),
    ("verdict", "Verdict and its reason"),
    ("about", "About"),
)
SORTABLE = ("study", "says", "printed", "verdict", "about")


def claims_page(studies: Sequence[StudyFacts]) -> str:
    """The page; its rows carry what filters look at in data attributes."""
    rows = [(facts, claim, facts.data.result(claim.id)) for facts in studies for claim in facts.claims]
    lead = (
        "<p>Every statement that can be computed with, in our words. The small drawings show the printed number (bar), "
        "what the paper's other statements allow (line; an arrow where they set no limit), and what reconstructed "
        "(hollow) and measured (solid) runs give.</p>"
    )
    body = f"{_filters(rows)}{_table(rows)}{download_link(rows)}"
    return page(
        "claims.html", "Claims", lead, [Section("all", "All statements", body)], scripts=("claims.js",), wide=True
    )


def row_id(study: str, claim: str) -> str:
    """The permanent place of a claim on the page."""
    return f"{study}.{claim}"


def address(study: str, claim: Claim) -> str:
    """Where a statement stands: the paper's on the page of claims, assumptions of ours in the study's report."""
    return f"{study}.html#claim-{claim.id}" if claim.assumed else f"claims.html#{row_id(study, claim.id)}"


def _provenance(measured: str, result: dict[str, Any]) -> str:
    if measured != "no measurement":
        return "measured"
    value = result.get("reconstructed_estimate")
    return "reconstructed" if isinstance(value, float) and value == value else "published"


def _filters(rows: Sequence[tuple[StudyFacts, Claim, dict[str, Any]]]) -> str:
    words = [verdict_words(claim, result) for _, claim, result in rows]
    choices: list[tuple[str, str, Iterable[tuple[str, str]]]] = [
        ("study", "Study", _counted(facts.id for facts, _, _ in rows)),
        ("exhibit", "Exhibit", _exhibits(rows)),
        ("kind", "Kind of statement", _counted(claim.kind for _, claim, _ in rows)),
        ("verdict", "Verdict", _counted(word for pair in words for word in pair)),
        (
            "provenance",
            "Data behind it",
            _counted(_provenance(m, r) for (_, m), (_, _, r) in zip(words, rows, strict=True)),
        ),
    ]
    selects = "".join(
        f'<label>{label} <select name="{name}"><option value="">all</option>'
        + "".join(f'<option value="{escape(value)}">{escape(text)}</option>' for value, text in options)
        + "</select></label>"
        for name, label, options in choices
    )
    return (
        '<form class="vp-filters" id="filters" role="search" aria-label="Filter the statements" hidden>'
        f'<label>Search <input type="search" name="q" autocomplete="off"></label>{selects}'
        '<button type="reset">Show all</button></form>'
        f'<p id="count" role="status" class="vp-where">{len(rows)} statements</p>'
    )


def _counted(values: Iterable[str]) -> list[tuple[str, str]]:
    counts = Counter(values)
    return [(value, f"{value.replace('_', ' ')} ({counts[value]})") for value in sorted(counts)]


def _exhibits(rows: Sequence[tuple[StudyFacts, Claim, dict[str, Any]]]) -> list[tuple[str, str]]:
    named = dict.fromkeys((facts.id, e) for facts, claim, _ in rows for e in claim.exhibits)
    order = {(f.id, e.id): k for f, _, _ in rows for k, e in enumerate(f.data.study.exhibits)}
    ranked = sorted(named, key=lambda pair: (pair[0], order.get(pair, len(order))))
    return [(f"{study}/{e}", f"{study}: {_exhibit(e)}") for study, e in ranked]


def _exhibit(exhibit_id: str) -> str:
    return "in the text" if exhibit_id == "text" else exhibit_name(exhibit_id, "")


def _table(rows: Sequence[tuple[StudyFacts, Claim, dict[str, Any]]]) -> str:
    heads = "".join(
        f'<th scope="col" data-column="{name}"{" data-sortable" if name in SORTABLE else ""}>'
        f"{title or '<span class=vp-hidden>Drawing</span>'}</th>"
        for name, title in COLUMNS
    )
    body = "".join(_row(facts, claim, result) for facts, claim, result in rows)
    return (
        '<div class="vp-scroll" role="region" tabindex="0" aria-label="All statements">'
        f'<table class="vp-table vp-all-claims vp-stacks" id="claims"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(facts: StudyFacts, claim: Claim, result: dict[str, Any]) -> str:
    unit = unit_of(claim, facts.data.study)
    from_text, measured = verdict_words(claim, result)
    says, rest = printed(claim, unit), implied(claim, result, unit)
    place = row_id(facts.id, claim.id)
    about = " ".join(f"{facts.id}/{e}" for e in claim.exhibits)
    estimates = [
        f'<span class="vp-where">{word} {escape(text)}</span>'
        for word, text in (
            ("measured", estimate_words(result, "estimate", "estimate", unit)),
            ("reconstructed", estimate_words(result, "reconstructed_estimate", "reconstructed", unit)),
        )
        if text
    ]
    link = f'<a class="vp-anchor" href="#{escape(place)}" aria-label="Link to this statement">#</a>'
    said = f'{breakable(printable(claim.says))} {link}<span class="vp-where">{_where(claim)}</span>'
    cells = (
        ("Study", f'<a href="{escape(facts.id)}.html">{escape(facts.id)}</a>'),
        ("", said),
        ("Printed", escape(says)),
        ("Its other statements allow", escape(rest)),
        ("Runs give", "".join(estimates)),
        ("", interval_drawing(claim, result)),
        ("Verdict", _verdicts(from_text, measured, result)),
        ("About", _links(facts, claim)),
    )
    content = "".join(
        f"<td{f' data-label={chr(34)}{label}{chr(34)}' if label else ''}>{cell}</td>" for label, cell in cells
    )
    seen = {
        "study": facts.id, "exhibit": about, "kind": claim.kind, "verdict": f"{from_text}|{measured}",
        "provenance": _provenance(measured, result), "printed": "" if claim.value is None else str(claim.value),
    }  # fmt: skip
    attributes = " ".join(f'data-{name}="{escape(value)}"' for name, value in seen.items())
    return f'<tr id="{escape(place)}" {attributes}>{content}</tr>'


def _where(claim: Claim) -> str:
    sections = "; ".join(printable(s) for s in claim.sections)
    reading = f" Read as: {printable(claim.reading)}." if claim.reading else ""
    return breakable(f"{sections}.{reading} ({claim.kind.replace('_', ' ')}; {claim.id})")


def _verdicts(from_text: str, measured: str, result: dict[str, Any]) -> str:
    parts = [verdict(from_text)]
    against = str(result.get("conflicts", "") or "")
    if from_text == "contradicted" and against:
        parts.append(f'<span class="vp-where">against {breakable(printable(against.replace(";", ", ")))}</span>')
    if measured != "no measurement":
        reason = result.get("reason")
        parts.append(verdict(measured))
        parts.append(f'<span class="vp-where">{escape(printable(str(reason)))}</span>' if reason else "")
    return " ".join(parts)


def _links(facts: StudyFacts, claim: Claim) -> str:
    known = {e.id for e in facts.data.study.exhibits}
    return ", ".join(
        f'<a href="{escape(facts.id)}.html#{escape(e)}">{escape(_exhibit(e))}</a>'
        if e in known
        else escape(_exhibit(e))
        for e in claim.exhibits
    )
