"""What the paper says about an exhibit: every claim with its printed number and both of its verdicts, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from virtperf.exhibits.claim_words import Said, said
from virtperf.exhibits.frames import named
from virtperf.exhibits.kinds import Context, Kind, note
from virtperf.exhibits.kinds.contradictions import places
from virtperf.exhibits.records import Block, Folded, Grid, Numbers, Paragraph, Record, Span, Words
from virtperf.exhibits.wording import NO_BREAK, exhibit_name, plural, pretty
from virtperf.study.claims import Claim

FIRST = 4  # rows that are shown at once; claims that something speaks against are always among them
_AGAINST = ("contradicted", "refuted")
_ORDER = ("contradicted", "depends", "independent", "corroborated", "convention", "refuted", "undecided", "reproduced")
_SAID = ("once", "twice")
_NUMBERS = (
    "claim", "text_verdict", "implied_low", "implied_high", "measured_verdict", "estimate", "estimate_low",
    "estimate_high",
)  # fmt: skip

Row = tuple[Words, ...]


def record(context: Context, about: str | None = None) -> Record:
    """A table of claims: what is said and where, the printed number, what the other claims allow, the verdicts.

    The verdicts are counted above it. Long tables show the claims that are contradicted or refuted and the first
    others; the rest opens below.

    Parameters
    ----------
    about : str, optional
        An exhibit's id; "text" for what is said about none; None for everything.

    Raises
    ------
    StudyError
        There is no exhibit of that id.
    """
    data = context.data
    chosen = [c for c in data.paper_claims if about is None or about in c.exhibits]
    if about is None:
        title = "All claims of the paper"
    elif about == "text":
        title = "What the paper says elsewhere"
    else:
        exhibit = named(data, about)
        title = f"What the paper says about {exhibit_name(exhibit.id, exhibit.kind)}"
    conflicts = places(data)
    rows: list[tuple[Claim, Row, bool]] = []
    found = []
    for claim in chosen:
        result, told = data.result(claim.id), said(claim, data)
        verdicts = {"text_verdict": told.text_verdict, "measured_verdict": told.measured_verdict}
        cells = (_saying(claim), told.printed, told.allowed,
                 _text_cell(told.text_verdict, result, conflicts.get(claim.id, [])), _measured_cell(told))  # fmt: skip
        rows.append((claim, cells, any(word in _AGAINST for word in verdicts.values())))
        found.append({**result, "claim": claim.id, **verdicts})
    table = pd.DataFrame(found).reindex(columns=list(_NUMBERS))
    blocks: list[Block] = [note("The paper makes no testable claim here.")]
    if chosen:
        blocks = [Paragraph(words=_tally(table)), *_tables(rows, title, _columns(table, rows))]
    anchor = f"{about or 'all'}-claims"
    return Record(
        kind="claims", id=anchor, study=data.study.id, title=title, claims=tuple(c.id for c in chosen),
        blocks=tuple(blocks), numbers=(Numbers.of(table, f"{data.study.id}-{anchor}", words=""),) if chosen else (),
    )  # fmt: skip


def _tally(table: pd.DataFrame) -> Words:
    """The verdicts counted, those from the text first."""
    from_text, measured = Counter(table["text_verdict"]), Counter(table["measured_verdict"])
    nothing = measured.pop("no measurement", 0)

    def counted(counts: Counter[str]) -> Iterable[str | Span]:
        order = [*(word for word in _ORDER if counts[word]), *(word for word in counts if word not in _ORDER)]
        for k, word in enumerate(order):
            yield f"{'' if not k else ' and ' if k == len(order) - 1 else ', '}{counts[word]} "
            yield Span(text=word, style="verdict")

    parts: list[str | Span] = [
        f"{plural(len(table), 'claim')}. By the paper's other claims: ",
        *counted(from_text),
        ". ",
    ]
    if measured:
        parts += ["By measured runs: ", *counted(measured)]
        parts.append(f", {nothing} without a measured run." if nothing else ".")
    else:
        parts.append("Not yet tested by measurement.")
    return tuple(parts)


def _columns(table: pd.DataFrame, rows: Sequence[tuple[Claim, Row, bool]]) -> tuple[str, ...]:
    """Headings; where nothing was measured the last column only compares, and where it is empty it is left out."""
    columns = ("The paper says", "Printed", "Its other claims allow", "Verdict from the text")
    if (table["measured_verdict"] != "no measurement").any():
        return (*columns, "Verdict from measurements")
    return (*columns, "Simulated runs give") if any(cells[4] for _, cells, _ in rows) else columns


def _tables(rows: Sequence[tuple[Claim, Row, bool]], title: str, columns: tuple[str, ...]) -> list[Block]:
    against = [k for k, (_, _, speaks) in enumerate(rows) if speaks]
    others = [k for k in range(len(rows)) if k not in against]
    shown = sorted([*against, *others[: max(0, FIRST - len(against))]])
    if len(rows) - len(shown) < 3:  # not worth a click
        shown = list(range(len(rows)))

    def table(chosen: Sequence[int], label: str) -> Grid:
        ids = tuple(f"claim-{rows[k][0].id}" for k in chosen)
        cells = tuple(rows[k][1][: len(columns)] for k in chosen)
        return Grid(label=label, columns=columns, rows=cells, ids=ids, stacks=True)

    rest = [k for k in range(len(rows)) if k not in shown]
    if not rest:
        return [table(shown, title)]
    summary = f"Show {plural(len(rest), 'more claim')}"
    return [table(shown, title), Folded(summary=summary, blocks=(table(rest, f"{title}: more"),))]


def _saying(claim: Claim) -> Words:
    reading = [Span(text=f"Read as: {claim.reading}", style="small")] if claim.reading else []
    often = _SAID[claim.times_said - 1] if claim.times_said <= len(_SAID) else f"{claim.times_said} times"
    where = "; ".join(claim.sections) + (". " if claim.sections else "")
    folded = Span(text=f"{where}Its name here: {claim.id}", style="folded", summary=f"Said {often}")
    return (claim.says, *reading, folded)


def _text_cell(word: str, result: dict[str, Any], numbers: Sequence[int]) -> Words:
    cell: list[str | Span] = [Span(text=word, style="verdict")]
    ours = str(result.get("verdict_with_assumptions", "") or word)
    if ours != word:
        cell.append(Span(text=f"with our assumptions: {ours}", style="small"))
    share = result.get("information", math.nan)
    if isinstance(share, float) and share >= 0.01:
        cell.append(Span(text=f"narrows its range by {pretty(100 * share, 2)}{NO_BREAK}%", style="small"))
    for number in numbers:
        aside = "" if number != numbers[0] else "set aside, see " if result.get("dropped") else "takes part in "
        cell.append(Span(text=f"{aside}contradiction {number}", style="small", link=f"#contradiction-{number}"))
    return tuple(cell)


def _measured_cell(told: Said) -> Words:
    """The verdict with its estimate; without a measurement only what simulated runs give, which decides nothing."""
    if told.measured_verdict == "no measurement":
        return told.simulated
    notes = [f"measured {told.measured}" if told.measured else "", told.reason,
             f"simulated runs, for comparison: {told.simulated}" if told.simulated else ""]  # fmt: skip
    verdict = Span(text=told.measured_verdict, style="verdict")
    return (verdict, *(Span(text=note, style="small") for note in notes if note))


KIND = Kind("claims", record)
