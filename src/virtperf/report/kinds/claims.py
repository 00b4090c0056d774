"""Claims of the paper about an exhibit, each with its printed number and both verdicts, in words."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from virtperf.core.verdicts import Verdict
from virtperf.report.claim_words import (
    TAKEN_FROM,
    ClaimWords,
    claim_in_words,
    quantities,
    sections_sentence,
)
from virtperf.report.frames import find_exhibit
from virtperf.report.kinds import Context, ExhibitKind, note
from virtperf.report.kinds.contradictions import contradiction_numbers
from virtperf.report.records import Block, Folded, Grid, Numbers, Paragraph, Record, Span, Words
from virtperf.report.wording import (
    FOLLOWS,
    IN_CONFLICT,
    NO_BREAK,
    OF_MANY,
    OTHERS_IN_CONFLICT,
    STATED_ONCE,
    STATED_REPEATEDLY,
    exhibit_name,
    placed_verdict,
    plural,
    pretty,
    shown_verdict,
)
from virtperf.study.claims import Claim
from virtperf.study.definition import Exhibit, Study

_ORDER = (
    IN_CONFLICT,
    OTHERS_IN_CONFLICT,
    STATED_ONCE,
    STATED_REPEATEDLY,
    FOLLOWS,
    Verdict.CONVENTION,
    Verdict.REFUTED,
    Verdict.VALUE_DIFFERS,
    Verdict.UNDECIDED,
    Verdict.VALUE_AGREES,
    Verdict.REPRODUCED,
)
_NUMBERS = (
    "claim",
    "text_verdict",
    "implied_low",
    "implied_high",
    "measured_verdict",
    "estimate",
    "estimate_low",
    "estimate_high",
)
_COLUMNS = (
    "Claim",
    "Printed",
    "Implied by other claims",
    "Verdict from the text",
    "Verdict from measurements",
)


def record(context: Context, about: str | None = None) -> Record:
    """Build a table of claims: statement and place, printed number, range implied by the other
    claims, verdicts.

    The verdicts are counted, for a figure only over claims on plotted quantities; the table is
    collapsed below. `about` is an id of an exhibit (`StudyError` if unknown), "text" for claims
    about none, None for all claims.
    """
    data = context.data
    study, conflicts = data.study, contradiction_numbers(data)
    selected = [c for c in data.paper_claims if about is None or about in c.exhibits]
    plotted: set[str] = set()
    if about is None:
        title = "All claims of the paper"
    elif about == "text":
        title = "What the paper says elsewhere"
    else:
        exhibit = find_exhibit(data, about)
        title = f"Claims about {exhibit_name(exhibit.id, exhibit.kind)}"
        plotted = _plotted_quantities(study, exhibit)
    rows: list[tuple[Words, ...]] = []
    cells = []
    for claim in selected:
        result, claim_text = data.result(claim.id), claim_in_words(claim, data)
        verdicts = {
            "text_verdict": claim_text.text_verdict,
            "measured_verdict": claim_text.measured_verdict,
        }
        by_text = _text_verdict_cell(claim, claim_text, result, conflicts.get(claim.id, []))
        rows.append(
            (
                _claim_cell(claim),
                claim_text.printed,
                claim_text.allowed,
                by_text,
                _measured_verdict_cell(claim_text),
            )
        )
        cells.append({**result, "claim": claim.id, **verdicts})
    table = pd.DataFrame(cells).reindex(columns=list(_NUMBERS))
    measured = (table["measured_verdict"] != Verdict.NO_MEASUREMENT).any()
    columns = _COLUMNS if measured else _COLUMNS[:4]
    blocks: list[Block] = [note("The paper makes no testable claim here.")]
    if selected:
        quantities_by_claim = [
            {quantity.name for i in claim.instances for quantity in quantities(i)}
            for claim in selected
        ]
        grid = Grid(
            label=title,
            columns=columns,
            rows=tuple(row[: len(columns)] for row in rows),
            ids=tuple(f"claim-{claim.id}" for claim in selected),
            stacks=True,
            layout="claims",
        )
        blocks = [
            Paragraph(
                words=_verdict_counts(
                    table.assign(
                        shown=[
                            shown_verdict(verdict, claim.n_places)
                            for verdict, claim in zip(table["text_verdict"], selected, strict=True)
                        ]
                    ),
                    [not plotted or bool(plotted & names) for names in quantities_by_claim],
                )
            ),
            Folded(summary=f"Show {plural(len(rows), 'claim')}", blocks=(grid,)),
        ]
    anchor = f"{about or 'all'}-claims"
    return Record(
        kind="claims",
        id=anchor,
        study=study.id,
        title=title,
        claims=tuple(c.id for c in selected),
        blocks=tuple(blocks),
        numbers=(Numbers.of(table, f"{study.id}-{anchor}", words=""),) if selected else (),
    )


def _plotted_quantities(study: Study, exhibit: Exhibit) -> set[str]:
    """Plotted quantities of an exhibit; for a distribution, all quantities observed by the same
    samples.
    """
    names = {quantity.name for _, _, quantity in study.points(exhibit)}
    if exhibit.kind != "distribution":
        return names
    samples = [study.quantities[name].observed.get("from") for name in names]
    return {name for name, kind in study.quantities.items() if kind.observed.get("from") in samples}


def _verdict_counts(table: pd.DataFrame, shown: Sequence[bool]) -> Words:
    """Count the verdicts of the claims in the mask `shown`, text verdicts first; the other claims
    are only counted.
    """
    everything, table = len(table), table[list(shown)]
    lead = f"{plural(everything, 'claim')}. "
    if len(table) < everything:
        lead = f"{plural(everything, 'claim')}, {len(table)} of them about plotted quantities. "
    if not len(table):
        return f"{plural(everything, 'claim')} about the set-up and other quantities that are not plotted."
    from_text, measured = Counter(table["shown"]), Counter(table["measured_verdict"])
    nothing = measured.pop(Verdict.NO_MEASUREMENT, 0)

    def counted(counts: Counter[str]) -> Iterable[str | Span]:
        order = [
            *(word for word in _ORDER if counts[word]),
            *(word for word in counts if word not in _ORDER),
        ]
        for k, word in enumerate(order):
            yield f"{'' if not k else ' and ' if k == len(order) - 1 else ', '}{counts[word]} "
            yield Span(text=OF_MANY.get(word, word) if counts[word] > 1 else word, style="verdict")

    parts: list[str | Span] = [f"{lead}By the paper's other claims: ", *counted(from_text), ". "]
    if measured:
        parts += ["By measured runs: ", *counted(measured)]
        parts.append(f", {nothing} without a measured run." if nothing else ".")
    return tuple(parts)


def _claim_cell(claim: Claim) -> Words:
    reading = [Span(text=f"Read as: {claim.reading}", style="small")] if claim.reading else []
    often = f"In {plural(claim.n_places, 'place')} of the paper"
    known = TAKEN_FROM[claim.taken_from] if claim.taken_from else ""
    text = " ".join(filter(None, (sections_sentence(claim), known, f"Claim id: {claim.id}")))
    folded = Span(text=text, style="folded", summary=often)
    return (claim.says, *reading, folded)


def _text_verdict_cell(
    claim: Claim, claim_text: ClaimWords, result: dict[str, Any], numbers: Sequence[int]
) -> Words:
    cell: list[str | Span] = [Span(text=claim_text.shown, style="verdict")]
    ours = str(result.get("verdict_with_assumptions", "") or claim_text.text_verdict)
    if ours != claim_text.text_verdict:
        words = placed_verdict(ours, claim.n_places)
        cell.append(Span(text=f"with our assumptions: {words}", style="small"))
    share = result.get("information", math.nan)
    if isinstance(share, float) and share >= 0.01:
        cell.append(
            Span(
                text=f"narrows the ranges of its figures by {pretty(100 * share, 2)}{NO_BREAK}%",
                style="small",
            )
        )
    for number in numbers:
        aside = (
            ""
            if number != numbers[0]
            else "set aside, see "
            if result.get("dropped")
            else "takes part in "
        )
        cell.append(
            Span(
                text=f"{aside}contradiction {number}",
                style="small",
                link=f"#contradiction-{number}",
            )
        )
    return tuple(cell)


def _measured_verdict_cell(claim_text: ClaimWords) -> Words:
    """Cell with the measured verdict and its estimate; empty without a measurement."""
    if claim_text.measured_verdict == Verdict.NO_MEASUREMENT:
        return ""
    notes = filter(
        None, [f"measured {claim_text.measured}" if claim_text.measured else "", claim_text.reason]
    )
    return (
        Span(text=claim_text.measured_verdict, style="verdict"),
        *(Span(text=note, style="small") for note in notes),
    )


KIND = ExhibitKind("claims", record)
