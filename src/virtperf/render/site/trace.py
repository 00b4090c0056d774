"""Where every value comes from, as a page beside the report: readable without scripts, with links to the raw files."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from virtperf.exhibits import display
from virtperf.exhibits.display import Html, Table
from virtperf.exhibits.trace import RunTrail, Trail
from virtperf.exhibits.trace_tables import TableTrail, table_trails
from virtperf.exhibits.wording import breakable, escape, exhibit_name, interval, plural, pretty, printable, slug
from virtperf.render.site import claims
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import Section, page
from virtperf.study.claims import Claim

ROOTS = {
    "reconstructed": "data/reconstructed/{study}/runs",
    "measured": "data/measured/{study}",
    "example": "data/measured/{study}",
}


def trail_page(facts: StudyFacts, trails: Iterable[Trail]) -> str:
    """One section a figure with an entry for each plotted value, which carries its key; one section a printed table."""
    lead = (
        f'<p>Behind every plotted value of <a href="{escape(facts.id)}.html">the report</a>: how it is computed, from '
        "which lines of which raw files, and which statements of the paper set its limits. Links to raw files work "
        "where this page lies in the repository. <code>virtperf trace KEY</code> prints the same.</p>"
    )
    said = {c.id: c for c in facts.data.claims or ()}
    sections = []
    for exhibit, entries in groupby(trails, key=lambda t: t.exhibit):
        title = f"{exhibit_name(exhibit, 'figure')}. {facts.data.study.exhibit(exhibit).title}"
        body = "".join(_entry(facts.id, trail, said) for trail in entries)
        sections.append(Section(exhibit, printable(title), body))
    for table in table_trails(facts.data):
        title = f"{exhibit_name(table.exhibit, 'table')}. {table.title}"
        sections.append(Section(table.exhibit, printable(title), _printed(facts.id, table, said)))
    return page("", f"Trail: {facts.title}", lead, sections)


def place(key: str) -> str:
    """The anchor of a key on its study's page: without the study's name."""
    return slug(key.partition("/")[2])


def address(study: str) -> str:
    """The file name of a study's trail page."""
    return f"trail-{study}.html"


def _entry(study: str, trail: Trail, said: dict[str, Claim]) -> str:
    parts = [
        f'<p class="vp-where"><code>{breakable(trail.key)}</code></p>',
        f"<p>{escape(printable(trail.formula))}</p>",
    ]
    if trail.printed is not None:
        parts.append(f"<p>Printed: {escape(pretty(trail.printed))} ({_claims(study, trail.printed_by, said)}).</p>")
    low = float("-inf") if trail.low is None else trail.low
    high = float("inf") if trail.high is None else trail.high
    parts.append(
        f"<p>The text allows {escape(interval(low, high))}. Lower limit: {_claims(study, trail.low_by, said)}. "
        f"Upper limit: {_claims(study, trail.high_by, said)}.</p>"
    )
    if trail.runs:
        table = Table(
            ("Run", "Value", "Raw files and lines"),
            tuple((Html(_run(run)), pretty(run.value), Html(_files(study, run))) for run in trail.runs), frozenset({1}),
            stacks=True,
        )  # fmt: skip
        parts.append(display.table_html(table, f"Runs behind {trail.words}"))
    if trail.excluded:
        items = "".join(
            f"<li><code>{breakable(run)}</code>: {escape(printable(why))}</li>" for run, why in trail.excluded
        )
        parts.append(f"<p>Not used:</p><ul>{items}</ul>")
    title = f"{trail.series}, {trail.x}: {trail.words}"
    return (
        f'<details class="vp-details vp-trail" id="{escape(place(trail.key))}"><summary>{escape(printable(title))}'
        f"</summary>{''.join(parts)}</details>"
    )


def _printed(study: str, trail: TableTrail, said: dict[str, Claim]) -> str:
    """A printed table's file with the line of every row; the statements about it."""
    place = f" in section “{escape(printable(trail.section))}”" if trail.section else ""
    link = f'<a href="../{escape(trail.file)}">{breakable(trail.file)}</a>'
    rows = "".join(f"<li>line {line}: {breakable(printable(cell))}</li>" for line, cell in trail.lines)
    wrong = "".join(f"<li>{escape(printable(f'{cell}. {why}'))}</li>" for cell, why in trail.corrected)
    about = f"<p>Statements about it: {_claims(study, trail.claims, said)}.</p>" if trail.claims else ""
    return (
        f"<p>Printed{place}, {'reworded' if trail.reworded else 'typed off'} into {link}.</p>"
        + display.details("Rows and their lines", f'<ul class="vp-plain">{rows}</ul>')
        + (f"<p>Corrected cells:</p><ul>{wrong}</ul>" if wrong else "")
        + about
    )


def _claims(study: str, ids: tuple[str, ...], said: dict[str, Claim]) -> str:
    if not ids:
        return "natural bounds, or a scale set by convention"
    return "; ".join(
        f'<a href="{escape(claims.address(study, said[c]))}">{_sentence(said[c])}</a>' if c in said else escape(c)
        for c in ids
    )


def _sentence(claim: Claim) -> str:
    """A statement's words within a list, where their own full stop would be one too many."""
    return breakable(printable(claim.says.rstrip(".")))


def _run(run: RunTrail) -> str:
    begin, end = (pretty(v) for v in run.window_s)
    note = f"<br>{escape(printable(run.note))}" if run.note else ""
    where = f"{run.provenance}; window {begin} to {end} s; {escape(run.metric)}{note}"
    return f'<code>{breakable(run.run)}</code><span class="vp-where">{where}</span>'


def _files(study: str, run: RunTrail) -> str:
    root = ROOTS[run.provenance].format(study=study)
    items = []
    for file in run.files:
        link = f"../{root}/{run.run}/{file.path}"
        shown = breakable(printable(file.path))
        items.append(f'<li><a href="{escape(link)}">{shown}</a>: {file.lines} ({plural(file.samples, "sample")})</li>')
    return f'<ul class="vp-plain">{"".join(items)}</ul>'
