"""An outcome as a page: what was compared, what moved, old beside new."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from virtperf.exhibits import display
from virtperf.exhibits.display import Html, Table
from virtperf.exhibits.wording import breakable, escape, joined, plural, printable
from virtperf.render.site.shell import Section, page
from virtperf.verify.certificate import whole
from virtperf.verify.compare import MISSING, MOVED, NEW, STATUSES, WITHIN, Change
from virtperf.verify.drawing import change_drawing, picture
from virtperf.verify.outcome import PRINTED, ExhibitOutcome, Outcome, Side, StudyOutcome
from virtperf.verify.record import SAME
from virtperf.verify.stored import CLAIMS
from virtperf.verify.wording import place_words, shift_words, sides

LISTED = 600  # changed items on a page; all of them are in the JSON file
PICTURES = 1_200_000  # bytes of figures, old beside new
_NAVIGATION = re.compile(r'<nav aria-label="Site">.*?</nav>', re.S)


def html_page(outcome: Outcome, *, title: str, lead: str, out: Path, site: Path) -> str:
    """The page.

    Parameters
    ----------
    title, lead : str
        Plain text, and HTML.
    out : Path
        The file that the page is for.
    site : Path
        The folder of the site's pages, for the links in the page's head; they are left out where it has none.
    """
    budget = _Budget()
    sections = [
        Section("result", "Result", _result(outcome)),
        *(Section(s.study, printable(s.title), _study(s, budget)) for s in outcome.studies),
    ]
    if outcome.findings:
        sections.append(Section("documents", "Stale, exchanged or edited", _documents(outcome)))
    sections.append(Section("compared", "What was compared", _compared(outcome)))
    made = page("verify.html", title, lead, sections, wide=True)
    if not (site / "index.html").is_file():
        return _NAVIGATION.sub("", made).replace('<a class="vp-home" href="index.html">virtperf</a>', "")
    return _from(made, Path(os.path.relpath(site, out.parent)).as_posix())


def _from(made: str, folder: str) -> str:
    """The page with the links of its head leading into that folder."""
    if folder == ".":
        return made
    head, rest = made.split("<main", 1)
    return re.sub(r'href="([a-z]+\.html)"', rf'href="{folder}/\1"', head) + "<main" + rest


class _Budget:
    """How many rows and pictures still fit on the page."""

    def __init__(self) -> None:
        self.rows, self.bytes = LISTED, PICTURES
        self.rows_left_out = self.pictures_left_out = 0


def _result(outcome: Outcome) -> str:
    counts = outcome.counts
    affected = sum(len(s.affected) for s in outcome.studies)
    said = [f"{plural(affected, 'exhibit')} changed beyond tolerance"] if affected else []
    if outcome.findings:
        said.append(f"{plural(len(outcome.findings), 'stored exhibit')} stale, exchanged or edited")
    sentence = "; ".join(said) or "Everything is identical or within tolerance"
    boxes = "".join(
        f'<div class="vp-fact"><dt>{escape(status)}</dt><dd>{counts[status]:,}</dd></div>' for status in STATUSES
    )
    rows = []
    for s in outcome.studies:
        only = whole(s)
        figures = [e for e in s.affected if e.kind == "figure"]
        tables = [e for e in s.affected if e.kind not in ("figure", "claims")]
        rows.append((
            Html(f'<a href="#{escape(s.study)}-changes">{escape(s.study)}</a>{f" ({only})" if only else ""}'),
            f"{sum(s.counts.values()):,}", *(f"{s.counts[status]:,}" for status in STATUSES),
            str(len(s.claims)), str(len(tables)), str(len(figures)), str(len(s.redrawn)),
        ))  # fmt: skip
    columns = ("Study", "Items", *(status.capitalize() for status in STATUSES), "Claims changed", "Tables changed",
               "Figures changed", "Redrawn from the same numbers")  # fmt: skip
    numeric = frozenset(range(1, len(columns)))
    table = display.table_html(Table(columns, tuple(rows), numeric, stacks=True), "Items by study")
    return f'<p><b>{sentence}.</b></p><dl class="vp-facts">{boxes}</dl>{table}'


def _study(study: StudyOutcome, budget: _Budget) -> str:
    only = whole(study)
    if only:
        there = "now" if only == NEW else "before"
        count = plural(sum(study.counts.values()), "item")
        return f'<p id="{escape(study.study)}-changes">Only {there}: {count} with nothing to compare them with.</p>'
    changed = [e for e in study.exhibits if not e.agrees]
    noise = study.counts[WITHIN]
    redrawn = [printable(e.title) for e in study.redrawn]
    parts = [_statement(study, changed)]
    parts += [_exhibit(study, e, budget) for e in changed]
    if noise:
        parts.append(f'<p class="vp-note">{plural(noise, "item differs", "items differ")} within tolerance.</p>')
    if redrawn:
        parts.append(f'<p class="vp-note">Redrawn from the same numbers: {escape(joined(redrawn))}.</p>')
    if budget.rows_left_out:
        parts.append(f"<p>{plural(budget.rows_left_out, 'more item')} in the JSON file.</p>")
        budget.rows_left_out = 0
    if budget.pictures_left_out:
        left = plural(budget.pictures_left_out, "figure is", "figures are")
        parts.append(f"<p>{left} not drawn, to keep this page small.</p>")
        budget.pictures_left_out = 0
    # The page keeps links to ids within sections only, so the study's is here.
    return f'<div id="{escape(study.study)}-changes">{"".join(parts)}</div>'


def _statement(study: StudyOutcome, changed: Sequence[ExhibitOutcome]) -> str:
    if not changed:
        return "<p>Nothing changed beyond tolerance.</p>"
    rows = []
    for e in changed:
        moved = [c for c in e.changes if not c.agrees]
        most = max((c for c in moved if c.widths >= 0), key=lambda c: c.widths, default=None)
        link = Html(f'<a href="#{_anchor(study, e)}">{escape(printable(e.title))}</a>')
        rows.append((link, f"{len(moved):,}", shift_words(most) if most else ""))
    table = Table(("Exhibit", "Items that changed", "Most"), tuple(rows), frozenset({1}), stacks=True)
    edited = f"<p>Statements with another printed number: {escape(joined(study.edited))}.</p>" if study.edited else ""
    return edited + display.table_html(table, f"What changed in {study.study}")


def _anchor(study: StudyOutcome, exhibit: ExhibitOutcome) -> str:
    return escape(f"{study.study}.{exhibit.name}".replace(" ", "-"))


def _exhibit(study: StudyOutcome, exhibit: ExhibitOutcome, budget: _Budget) -> str:
    under = f' <span class="vp-where">below {escape(exhibit.under)}</span>' if exhibit.under else ""
    parts = [f'<h3 id="{_anchor(study, exhibit)}">{escape(printable(exhibit.title))}{under}</h3>']
    if exhibit.curves_only:
        parts.append("<p>Its table is the same; a fitted curve or a mark in the drawing moved.</p>")
    elif exhibit.drawing in (NEW, MISSING) and exhibit.kind == "figure":
        parts.append(f"<p>The drawing is {exhibit.drawing}.</p>")
    parts.append(_pictures(exhibit, budget))
    rows = []
    for change in _listed(exhibit):
        if not budget.rows:
            budget.rows_left_out += 1
            continue
        budget.rows -= 1
        old, new = sides(change)
        about = study.claim_exhibits.get(change.item.label, ()) if exhibit.name == CLAIMS else ()
        note = f'<span class="vp-where">about {escape(joined(about))}</span>' if about else ""
        rows.append((
            Html(f"{breakable(printable(place_words(change.item)))}{note}"), old or "not there", new or "not there",
            _unbroken(shift_words(change)), Html(change_drawing(change.old, change.new)),
        ))  # fmt: skip
    if rows:
        table = Table(("What", "Before", "Now", "Moved by", "Before above, now below"), tuple(rows), stacks=True)
        parts.append(display.table_html(table, f"Changes of {exhibit.title}"))
    return "".join(parts)


def _unbroken(shift: str) -> str:
    """A number stays with its unit."""
    return shift.replace(" interval ", "\u00a0interval\u00a0")


def _listed(exhibit: ExhibitOutcome) -> list[Change]:
    """What is listed: printed numbers first, words last; of a row that came or went as a whole, its first item."""
    rows: dict[str, list[Change]] = {}
    for change in exhibit.changes:
        rows.setdefault(change.item.label, []).append(change)
    found: list[Change] = []
    for changes in rows.values():
        if len({c.status for c in changes}) == 1 and changes[0].status in (NEW, MISSING):
            found.append(changes[0])
        else:
            found += [c for c in changes if not c.agrees]
    return sorted(found, key=lambda c: (c.item.field != PRINTED, bool(c.item.words)))


def _pictures(exhibit: ExhibitOutcome, budget: _Budget) -> str:
    if exhibit.drawing not in (MOVED, NEW, MISSING):
        return ""
    pair = [
        (word, picture(fragment, escape(f"{exhibit.title}, {word}")))
        for word, fragment in (("before", exhibit.before), ("now", exhibit.now))
    ]
    size = sum(len(image) for _, image in pair)
    if size > budget.bytes:
        budget.pictures_left_out += 1
        return ""
    budget.bytes -= size
    columns = "".join(
        f'<div style="flex:1 1 16rem;max-width:30rem"><p class="vp-where">{word.capitalize()}</p>{image}</div>'
        for word, image in pair
        if image
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:1rem;margin:0 0 1rem">{columns}</div>' if columns else ""


def _documents(outcome: Outcome) -> str:
    rows = tuple(
        (Html(f"<code>{breakable(f.document)}</code>"), f.exhibit, printable(f.title), f.problem)
        for f in outcome.findings
    )
    said = "<p>What stands in a stored document, or among stored runs, and does not belong there.</p>"
    return said + display.table_html(Table(("Document", "Exhibit", "Title", "Problem"), rows, stacks=True), "Documents")


def _compared(outcome: Outcome) -> str:
    return "".join(_facts(outcome))


def _facts(outcome: Outcome) -> Iterator[str]:
    yield f"<p>Before: {_side(outcome.old)}. Now: {_side(outcome.new)}. Stages: {escape(joined(outcome.stages))}.</p>"
    if outcome.recorded:
        same = sum(r.state == SAME for r in outcome.recorded)
        yield f"<p>{same} of {plural(len(outcome.recorded), 'output')} have the very bytes that dvc.lock records.</p>"
        other = [r for r in outcome.recorded if r.state != SAME]
        if other:
            rows = tuple((Html(f"<code>{breakable(r.path)}</code>"), r.state) for r in other)
            yield display.table_html(Table(("Output", "The replay made"), rows), "Outputs by dvc.lock")
    packages = tuple(
        (p.name, p.version or "not installed", p.pinned or "not pinned", "" if p.as_pinned else "differs")
        for p in outcome.packages
    )
    yield "<h3>Packages</h3>" + display.table_html(Table(("Package", "Version", "Pinned", ""), packages), "Packages")
    tolerances = tuple(
        (kind, f"{t.relative:g}", f"{t.absolute:g}", str(t.exported_digits or "in full"), f"{t.widths:g}")
        for kind, t in outcome.tolerances.items()
    )
    columns = ("Kind", "Relative", "Absolute", "Digits as exported", "Interval widths")
    numeric = frozenset(range(1, len(columns)))
    yield "<h3>Tolerances</h3>" + display.table_html(Table(columns, tolerances, numeric), "Tolerances")


def _side(side: Side) -> str:
    commit = f", commit <code>{escape(side.commit[:12])}</code>" if side.commit else ""
    changed = " with changes that are not committed" if side.changed else ""
    package = f", run by {escape(side.package)} package" if side.package else ""
    return f"{escape(side.name)}{commit}{changed}{package}"
