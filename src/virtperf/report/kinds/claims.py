"""Claims of the paper about an exhibit: their verdicts counted, and a link to the page of claims."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from virtperf.core.numbers import plural
from virtperf.core.verdicts import DISPUTED, Verdict
from virtperf.report.claim_words import (
    claim_in_words,
    verdict_words,
)
from virtperf.report.frames import StudyData, find_exhibit
from virtperf.report.kinds import Context, ExhibitKind, first_items, note
from virtperf.report.kinds.contradictions import (
    allowed_instead,
    contradiction_numbers,
    points_by_claim,
)
from virtperf.report.records import Block, Grid, Listing, Paragraph, Record, Span, Words
from virtperf.report.wording import (
    FOLLOWS,
    IN_CONFLICT,
    OF_MANY,
    OTHERS_IN_CONFLICT,
    STATED_ONCE,
    STATED_REPEATEDLY,
    exhibit_name,
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
MAX_SENTENCES = 4
"""Claims named by the exhibit of those about no other exhibit."""
MAX_FURTHER = 2
"""Claims named beside those in conflict."""
_COLUMNS = ("Claim", "Printed", "Implied by other claims", "Verdict from the text")
_MEASURED = "Verdict from measurements"


def record(context: Context, about: str | None = None, *, listed: bool = False) -> Record:
    """Count the verdicts of claims, for a figure only of those on plotted quantities; below, a link to
    their page, or, if `listed`, a table of them.

    `about` is an id of an exhibit (`StudyError` if unknown), "text" for claims about none, None for
    all claims.
    """
    data = context.data
    selected = [c for c in data.paper_claims if about is None or about in c.exhibits]
    counted, words = selected, f"Show {plural(len(selected), 'claim')}"
    if about is None:
        title = "All claims of the paper"
    elif about == "text":
        title = "What the paper says elsewhere"
    else:
        exhibit = find_exhibit(data, about)
        title = f"Claims about {exhibit_name(exhibit.id, exhibit.kind)}"
        words = f"Claims of the paper ({len(selected)})"
        plotted = _plotted_quantities(data.study, exhibit)
        if plotted:
            counted = [
                claim for claim in selected if any(q.name in plotted for q in claim.quantities)
            ]
    blocks: list[Block] = [note("The paper makes no testable claim here.")]
    if selected:
        blocks = [
            *(_sentences(data, selected) if about == "text" else ()),
            Paragraph(
                words=_verdict_counts(data, counted, len(selected)),
                style="small" if about == "text" else "plain",
            ),
            _table(data, selected, title)
            if listed
            else Paragraph(words=(Span(text=words, link=f"claims:{about or 'all'}"),)),
        ]
        if about == "text" and _is_alone(data, selected):
            blocks = blocks[:-1]  # its sentence is the link
    return Record(
        kind="claims",
        id=f"{about or 'all'}-claims",
        study=data.study.id,
        title=title,
        claims=tuple(c.id for c in selected),
        blocks=tuple(blocks),
    )


def _sentences(data: StudyData, claims: Sequence[Claim]) -> Iterator[Block]:
    """At most `MAX_SENTENCES` claims that other claims exclude, those first on whose contradiction
    most plotted points depend; without any, `MAX_FURTHER` claims that set most plotted ranges.
    """
    numbers = contradiction_numbers(data)
    disputed = [c for c in claims if data.result(c.id).get("text_verdict") in DISPUTED]
    disputed.sort(key=lambda claim: min(numbers.get(claim.id, ()), default=math.inf))
    excluded = sum(data.result(c.id)["text_verdict"] == Verdict.CONTRADICTED for c in disputed)
    one = len(claims) == 1
    if _is_alone(data, claims):
        said = Span(text=claims[0].says.rstrip("."), link=f"claim:{claims[0].id}")
        lead = "One claim of the paper is about no figure or table: "
        yield Paragraph(words=(lead, said, ". Its other claims do not exclude it."))
        return
    told = "exclude it" if one and excluded else f"exclude {excluded or 'none'} of them"
    told += f" and disagree on {n}" if (n := len(disputed) - excluded) else ""
    apart = _one_of_each_conflict(data, disputed)[:MAX_SENTENCES]
    colon = ":" if disputed else "."
    yield Paragraph(
        words=f"{plural(len(claims), 'claim')} of the paper {'is' if one else 'are'} about no figure or table; "
        f"its other claims {told}{colon}"
    )
    items: list[Words] = []
    for claim in apart:
        shown = claim_in_words(claim, data).shown
        said = Span(text=claim.says.rstrip("."), link=f"claim:{claim.id}")
        instead = allowed_instead(data, claim) if claim.numbered else ""
        ends = f": {instead}." if instead else "."
        items.append((Span(text=shown, style="verdict"), " ", said, ends))
    if items:
        yield first_items(items, len(disputed))
        return
    set_by = points_by_claim(data)
    for claim in sorted(claims, key=lambda claim: -len(set_by.get(claim.id, ())))[:MAX_FURTHER]:
        said = Span(text=claim.says.rstrip("."), link=f"claim:{claim.id}")
        place = next(iter(claim.sections), "").rpartition(" / ")[2]
        items.append((said, "." if not place or place.isdigit() else f" ({place})."))
    if items:
        yield Paragraph(words="Among them:")
        yield Listing(items=tuple(items))


def _one_of_each_conflict(data: StudyData, claims: Sequence[Claim]) -> list[Claim]:
    """The claims without those whose contradictions an earlier one of them has as well."""
    numbers = contradiction_numbers(data)
    told: set[int] = set()
    kept = []
    for claim in claims:
        own = set(numbers.get(claim.id, ()))
        if not own or not own <= told:
            kept.append(claim)
        told |= own
    return kept


def _is_alone(data: StudyData, claims: Sequence[Claim]) -> bool:
    """Whether there is one claim, which no other excludes: a sentence tells all of it."""
    return len(claims) == 1 and data.result(claims[0].id).get("text_verdict") not in DISPUTED


def _plotted_quantities(study: Study, exhibit: Exhibit) -> set[str]:
    """Plotted quantities of an exhibit; for a distribution, all quantities observed by the same
    samples.
    """
    names = {quantity.name for _, _, quantity in study.points(exhibit)}
    if exhibit.kind != "distribution":
        return names
    samples = [study.quantities[name].observed.get("from") for name in names]
    return {name for name, kind in study.quantities.items() if kind.observed.get("from") in samples}


def _table(data: StudyData, claims: Iterable[Claim], title: str) -> Grid:
    """Table of claims: printed number, range implied by the other claims, verdicts."""
    rows: dict[str, tuple[Words, ...]] = {}
    for claim in claims:
        words = claim_in_words(claim, data)
        number = f" {words.measured}" if words.measured else ""
        by_text = (Span(text=words.shown, style="verdict"),)
        by_runs = (Span(text=words.measured_verdict, style="verdict"), number)
        measured = words.measured_verdict != Verdict.NO_MEASUREMENT
        rows[f"claim-{claim.id}"] = (
            claim.says,
            words.printed,
            words.allowed,
            by_text,
            by_runs if measured else "",
        )
    columns = (*_COLUMNS, _MEASURED) if any(row[-1] for row in rows.values()) else _COLUMNS
    cells = tuple(row[: len(columns)] for row in rows.values())
    return Grid(label=title, columns=columns, rows=cells, ids=tuple(rows), stacks=True)


def _verdict_counts(data: StudyData, claims: Iterable[Claim], everything: int) -> Words:
    """Count the verdicts of claims, text verdicts first; other claims are only counted, in
    `everything`.
    """
    verdicts = [(claim.n_places, *verdict_words(claim, data.result(claim.id))) for claim in claims]
    lead = f"{plural(everything, 'claim')}. "
    if not verdicts:
        return f"{plural(everything, 'claim')} about the set-up and other quantities that are not plotted."
    if len(verdicts) < everything:
        lead = f"{plural(everything, 'claim')}, {len(verdicts)} of them about its quantities. "
    from_text = Counter(shown_verdict(text, n_places) for n_places, text, _ in verdicts)
    measured = Counter(by_runs for *_, by_runs in verdicts)
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


KIND = ExhibitKind("claims", record)
