"""What the paper says about an exhibit: every claim with its printed number and both of its verdicts, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

from virtperf.exhibits import display
from virtperf.exhibits.claim_words import estimate_words, implied, printed, unit_of, verdict, verdict_words
from virtperf.exhibits.contradictions import places
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.display import Html, Shown, Table
from virtperf.exhibits.wording import NO_BREAK, breakable, escape, joined, plural, pretty, printable
from virtperf.study.claims import Claim

FIRST = 4  # rows that are shown at once; statements that something speaks against are always among them
_AGAINST = ("contradicted", "refuted")
_ORDER = ("contradicted", "independent", "corroborated", "refuted", "undecided", "reproduced")
_SAID = ("once", "twice")

Row = tuple[str, ...]


def claims_exhibit(data: StudyData, claims: Sequence[Claim], *, anchor: str, title: str) -> Shown:
    """A table of claims: what is said and where, the printed number, what the other statements allow, the verdicts.

    The verdicts are counted above it. Long tables show the statements that are contradicted or refuted and the first
    others; the rest opens below.
    """
    if not claims:
        words = "The paper's text says nothing about this that could be checked."
        return Shown(f'<p class="vp-note" id="{escape(anchor)}">{words}</p>', "no claims")
    numbers = places(data)
    rows: list[tuple[Claim, Row, bool]] = []
    text = []
    for claim in claims:
        result = data.result(claim.id)
        unit = unit_of(claim, data.study)
        from_text, measured = verdict_words(claim, result)
        says, rest = printed(claim, unit), implied(claim, result, unit)
        cells = (
            Html(_saying(claim)), says, rest, Html(_text_cell(from_text, result, numbers.get(claim.id, []))),
            Html(_measured_cell(measured, result, unit)),
        )  # fmt: skip
        rows.append((claim, cells, from_text in _AGAINST or measured in _AGAINST))
        text.append([claim.id, _ascii(says), _ascii(rest), from_text, measured])
    html = (
        f'<section class="vp-claims" id="{escape(anchor)}"><h4>{escape(printable(title))}</h4>'
        f'<p class="vp-tally">{_tally(text)}</p>{_tables(rows, title, _columns(text, rows))}</section>'
    )
    return Shown(
        html, display.table_text(["claim", "printed", "others allow", "from the text", "from measurements"], text)
    )


def _tally(text: Sequence[Sequence[str]]) -> str:
    """The verdicts counted, those from the text first."""
    from_text, measured = Counter(row[3] for row in text), Counter(row[4] for row in text)
    nothing = measured.pop("no measurement", 0)

    def counted(counts: Counter[str]) -> str:
        order = [*(word for word in _ORDER if counts[word]), *(word for word in counts if word not in _ORDER)]
        return joined(f"{counts[word]} {verdict(word)}" for word in order)

    parts = [f"{plural(len(text), 'statement')}. By the paper's other statements: {counted(from_text)}."]
    if measured:
        unmeasured = f", {nothing} without a measured run" if nothing else ""
        parts.append(f"By measured runs: {counted(measured)}{unmeasured}.")
    else:
        parts.append(f"No measured run speaks of {'it' if len(text) == 1 else 'them'} yet.")
    return " ".join(parts)


def _columns(text: Sequence[Sequence[str]], rows: Sequence[tuple[Claim, Row, bool]]) -> tuple[str, ...]:
    """Headings; where nothing was measured the last column only compares, and where it is empty it is left out."""
    columns = ("The paper says", "Printed", "Its other statements allow", "Verdict from the text")
    if any(row[4] != "no measurement" for row in text):
        return (*columns, "Verdict from measurements")
    return (*columns, "Reconstructed runs give") if any(cells[4] for _, cells, _ in rows) else columns


def _tables(rows: Sequence[tuple[Claim, Row, bool]], title: str, columns: tuple[str, ...]) -> str:
    against = [k for k, (_, _, speaks) in enumerate(rows) if speaks]
    others = [k for k in range(len(rows)) if k not in against]
    shown = sorted([*against, *others[: max(0, FIRST - len(against))]])
    if len(rows) - len(shown) < 3:  # not worth a click
        shown = list(range(len(rows)))

    def table(chosen: Sequence[int], label: str) -> str:
        ids = tuple(f"claim-{rows[k][0].id}" for k in chosen)
        cells = tuple(rows[k][1][: len(columns)] for k in chosen)
        return display.table_html(Table(columns, cells, frozenset(), ids, stacks=True), label)

    rest = [k for k in range(len(rows)) if k not in shown]
    hidden = (
        display.details(f"Show {plural(len(rest), 'more statement')}", table(rest, f"{title}: more")) if rest else ""
    )
    return table(shown, title) + hidden


def _saying(claim: Claim) -> str:
    reading = f'<small class="vp-where">Read as: {escape(printable(claim.reading))}</small>' if claim.reading else ""
    often = _SAID[claim.times_said - 1] if claim.times_said <= len(_SAID) else f"{claim.times_said} times"
    places = [escape(printable(section)) for section in claim.sections]
    where = f"{'; '.join(places)}{'. ' if places else ''}Its name here: <code>{breakable(claim.id)}</code>"
    said = f'<details class="vp-where"><summary>Said {often}</summary>{where}</details>'
    return f"<span>{breakable(printable(claim.says))}</span>{reading}{said}"


def _text_cell(word: str, result: dict[str, Any], numbers: Sequence[int]) -> str:
    notes = []
    share = result.get("information", math.nan)
    if isinstance(share, float) and share >= 0.01:
        notes.append(f"narrows its range by {pretty(100 * share, 2)}{NO_BREAK}%")
    if numbers:
        links = joined(f'<a href="#contradiction-{k}">{k}</a>' for k in numbers)
        aside = "set aside, see" if str(result.get("dropped", "0")) in ("1", "True", "true") else "takes part in"
        notes.append(f"{aside} contradiction{'' if len(numbers) == 1 else 's'} {links}")
    return verdict(word) + "".join(f'<div class="vp-where">{note}</div>' for note in notes)


def _measured_cell(word: str, result: dict[str, Any], unit: str) -> str:
    """The verdict with its estimate; without a measurement only what reconstructed runs give, which decides nothing."""
    notes = []
    if word != "no measurement":
        notes += [f"measured {found}" for found in [estimate_words(result, "estimate", "estimate", unit)] if found]
        reason = result.get("reason")
        notes += [printable(reason)] if isinstance(reason, str) and reason else []
    given = estimate_words(result, "reconstructed_estimate", "reconstructed", unit)
    if word == "no measurement":
        return escape(given)
    notes += [f"reconstructed runs, for comparison: {given}"] if given else []
    return verdict(word) + "".join(f'<small class="vp-where">{escape(note)}</small>' for note in notes)


def _ascii(text: str) -> str:
    return text.replace("−", "-").replace(NO_BREAK, " ")
