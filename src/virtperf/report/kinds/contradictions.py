"""Contradictions of a paper, one entry a cause: claims that exclude each other, and the claims to
set aside so that the others can hold. Entries that affect most plotted points come first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, get_args

from virtperf.core.grouping import grouped
from virtperf.core.numbers import NO_BREAK, interval, join_words, plural
from virtperf.report.claim_words import implied, number_unit, relations
from virtperf.report.frames import StudyData
from virtperf.report.kinds import Context, ExhibitKind, first_items, note, register
from virtperf.report.other_readings import READING_NAMES, changed_readings, collapsed_table
from virtperf.report.records import (
    Block,
    Folded,
    Grid,
    Heading,
    Listing,
    Paragraph,
    Record,
    Span,
    Words,
)
from virtperf.report.wording import exhibit_name
from virtperf.study.claims import Claim
from virtperf.study.quantities import split_quantity

RESOLUTION_NOTE = (
    "Each entry is one cause: what is set aside so that the other claims can hold. "
    "As few of the paper's sentences as possible are set aside, without weights. "
    "If several resolutions set aside equally few, ranges contain the values under each of them."
)
WIDER_NOTE = "Not all resolutions were tried separately: ranges may be wider than necessary."
Origin = Literal["paper", "reading", "assumption"]
ORIGINS: tuple[Origin, ...] = get_args(Origin)
"""What a contradiction rests on, the strongest first."""
PlottedPoint = tuple[str, str, str]
"""Exhibit, series and level of a plotted point."""
MAX_POINTS_PER_RESOLUTION = 3
"""Points named for one resolution of a contradiction."""
MAX_SENTENCES = 3
"""Contradictions told in the open; the details have all."""
MAX_EXHIBITS = 4
"""Exhibits named as depending on a contradiction."""


ENDS = ("low_by", "high_by", "low_text_by", "high_text_by")
"""Columns of `POINTS` with the claims that set an end of a plotted point's range."""


def contradiction_entries(data: StudyData) -> list[dict[str, Any]]:
    """Entries of `reconstruct.causes.contradictions_by_cause`, ranked by the number of plotted
    points that depend on them.

    Entries without a dependent point are last; those with a sentence as we read it and those that
    follow from our readings of words come after the others of the paper, and those that need an
    assumption of ours after all of these.
    """
    set_by = points_by_claim(data)

    def rank(entry: dict[str, Any]) -> tuple[bool, int, bool, int]:
        count = len(dependent_points(entry, set_by))
        return not count, ORIGINS.index(origin(data, entry)), _is_read(data, entry), -count

    return sorted(data.contradictions.get("contradictions", ()), key=rank)


def points_by_claim(data: StudyData) -> dict[str, set[PlottedPoint]]:
    """Plotted points with an end set by a claim, with our assumptions or by the text alone, by
    claim.
    """
    points: dict[str, set[PlottedPoint]] = {}
    for row in data.points.to_dict("records"):
        for claim in {claim for column in ENDS for claim in row[column]}:
            points.setdefault(claim, set()).add(
                (str(row["exhibit"]), str(row["series"]), str(row["x"]))
            )
    return points


def dependent_points(
    entry: Mapping[str, Any], set_by: Mapping[str, set[PlottedPoint]]
) -> set[PlottedPoint]:
    """Plotted points affected by a contradiction: those that differ between its resolutions, and
    those with an end set by one of its claims.
    """
    points: set[PlottedPoint] = set()
    for claim in {claim for conflict in entry["conflicts"] for claim in conflict}:
        points |= set_by.get(claim, set())
    for point in (p for options in entry["choices"] for o in options for p in o["points"]):
        points.add((str(point["exhibit"]), str(point["series"]), str(point["x"])))
    return points


def set_aside(data: StudyData) -> set[str]:
    """Claims set aside by every resolution."""
    return {claim for entry in contradiction_entries(data) for claim in entry["always"]}


def origin(data: StudyData, entry: Mapping[str, Any]) -> Origin:
    """What an entry rests on: the paper alone, our readings of its words, or an assumption of ours."""
    assumed = {c.id for c in data.claims or () if c.assumed}
    if not any(assumed.isdisjoint(conflict) for conflict in entry["conflicts"]):
        return "assumption"
    return "reading" if entry.get("readings") else "paper"


def contradictions_by_origin(data: StudyData) -> dict[Origin, int]:
    """Number of entries by origin."""
    entries = data.contradictions.get("contradictions", ())
    found = [origin(data, entry) for entry in entries]
    return {each: found.count(each) for each in ORIGINS}


def _how_read(claim: Claim) -> str:
    """How a claim's sentence is read, in parentheses, or "" if as it stands."""
    if own := own_reading(claim):
        return f" (as we read it: {own.split('; ')[0]})"
    return " (words read as numbers)" if claim.reading else ""


def own_reading(claim: Claim) -> str:
    """How we read a claim's sentence, apart from the number that its word has in all claims; "" if as
    it stands.
    """
    return claim.reading.partition("; ")[2] if claim.word else claim.reading


def read_contradictions(data: StudyData) -> int:
    """Number of the paper's contradictions each of whose conflicts has a claim with a reading of ours
    of its sentence: what it is about, at which levels, relative to what.
    """
    entries = data.contradictions.get("contradictions", ())
    return sum(origin(data, entry) == "paper" and _is_read(data, entry) for entry in entries)


def _is_read(data: StudyData, entry: Mapping[str, Any]) -> bool:
    read = {c.id for c in data.claims or () if own_reading(c)}
    return not any(read.isdisjoint(conflict) for conflict in entry["conflicts"])


def contradiction_numbers(data: StudyData) -> dict[str, list[int]]:
    """Numbers of the contradictions that each claim takes part in, for links on the page."""
    return grouped(
        (claim, k)
        for k, entry in enumerate(contradiction_entries(data), 1)
        for claim in dict.fromkeys(c for conflict in entry["conflicts"] for c in conflict)
    )


def claim_link(claim: Claim | None, claim_id: str) -> tuple[str | Span, ...]:
    """A claim's wording as a link to its row."""
    if claim is None:
        return (Span(text=claim_id, style="code"), ", a claim that no longer exists")
    if claim.assumed:
        note = "stated outside the paper's text, used as an assumption"
        kind = f" ({note if claim.ledger else 'an assumption of ours'})"
    else:
        kind = _how_read(claim)
    return (Span(text=claim.says, link=f"claim:{claim_id}"), *((kind,) if kind else ()))


def record(context: Context) -> Record:
    """Build the list of contradictions: claims that exclude each other, claims set aside, the
    remaining range, and errata. Entries that affect no plotted point are collapsed.
    """
    data = context.data
    entries = contradiction_entries(data)
    if not entries:
        none = "No claims of the paper exclude each other."
        words = none if data.contradictions else "Contradictions are not computed yet."
        return register(context, "contradictions", note(words))
    claims = {c.id: c for c in data.claims or ()}
    lead = _counted(contradictions_by_origin(data), read_contradictions(data))
    set_by = points_by_claim(data)
    points = [dependent_points(entry, set_by) for entry in entries]
    rows: list[tuple[Words, ...]] = []
    details: list[Block] = []
    for k, entry in enumerate(entries, 1):
        excluding = (*_conflict_cell(data, entry, claims), *_affected_points(data, points[k - 1]))
        rows.append((str(k), excluding, tuple(_resolution_cell(data, entry, claims))))
        details += [Heading(text=f"Contradiction {k}"), *_groups(data, entry, claims)]
    shown = sum(map(bool, points))  # entries with dependent points come first
    without = len(entries) - shown
    rest = [origin(data, entry) for entry in entries[shown:]]
    ours = rest.count("assumption")
    kinds = ((without - ours, "contradiction"), (ours, "assumption"))
    counted = join_words(plural(n, word) for n, word in kinds if n)
    named = entries[: min(shown, MAX_SENTENCES) or MAX_SENTENCES]
    minor = f"{counted} on which no plotted point depends"
    blocks: list[Block] = [
        Paragraph(words=f"{lead}."),
        first_items((_in_short(data, entry, claims) for entry in named), len(entries)),
        Heading(text="Resolutions"),
        Paragraph(words=RESOLUTION_NOTE),
        *((Paragraph(words=WIDER_NOTE),) if data.contradictions.get("may_be_wider") else ()),
        *((_grid("Contradictions", rows[:shown], 1),) if shown else ()),
        *(
            (Folded(summary=minor, blocks=(_grid(minor, rows[shown:], shown + 1),)),)
            * bool(without)
        ),
        *_changes_by_reading(data, claims),
        Folded(summary="All conflicting sets of claims and their relations", blocks=tuple(details)),
    ]
    members = dict.fromkeys(c for e in entries for conflict in e["conflicts"] for c in conflict)
    return register(context, "contradictions", *blocks, claims=members)


def _in_short(data: StudyData, entry: Mapping[str, Any], claims: Mapping[str, Claim]) -> Words:
    """A contradiction in one sentence: the claim that is set aside and what the others allow instead,
    or the claims of which one is wrong, the first with what the others allow.
    """
    aside = [claims[name] for name in entry["always"] if name in claims]
    stated = [claim for claim in aside if not claim.assumed and claim.numbered] or aside
    if stated:
        claim = stated[0]
        n_more = len(aside) - 1
        more = f" {plural(n_more, 'more claim is', 'more claims are')} set aside with it." * (
            n_more > 0
        )
        return (
            Span(text=claim.says.rstrip("."), link=f"claim:{claim.id}"),
            f"{_how_read(claim) if own_reading(claim) else ''}: "
            f"{allowed_instead(data, claim) or 'other claims exclude this'}.{more}",
        )
    first, *others = entry["conflicts"][0]
    words: list[str | Span] = [*claim_link(claims.get(first), first)]
    if instead := first in claims and allowed_instead(data, claims[first]):
        says = claims[first].says.rstrip(".")
        words = [Span(text=says, link=f"claim:{first}"), f": {instead}."]
    for k, name in enumerate(others):
        words += [
            " It cannot hold together with: " if k == 0 else " ",
            *claim_link(claims.get(name), name),
        ]
    return tuple(words)


def allowed_instead(data: StudyData, claim: Claim) -> str:
    """What the other claims allow in place of a claim, in words; the quantity is named if the claim
    prints no number. "" if they allow anything, or are known to exclude the claim only.
    """
    rest = implied(claim, data.result(claim.id), number_unit(claim, data.study))
    if rest in ("not computed", "anything", "not this claim"):
        return ""
    names = {quantity.name for quantity in claim.quantities}
    named = claim.value is None and len(names) == 1 and not (claim.is_order or claim.unit_cancels)
    of = f" ({data.study.quantities[names.pop()].label})" if named else ""
    return f"other claims allow {rest}{of}"


def _counted(counts: Mapping[Origin, int], read: int) -> str:
    """Count the entries by origin in words, and those of the paper with a sentence `read` by us."""
    paper, reading, ours = (counts[each] for each in ORIGINS)
    follow = "follows" if reading == 1 else "follow"
    contradictions = f"{plural(reading, 'contradiction')} " if not paper else f"{reading} more "
    parts = (
        (paper, f"{plural(paper, 'contradiction')} of the paper{as_read(paper, read)}"),
        (reading, f"{contradictions}that {follow} from our readings of words"),
        (ours, f"{plural(ours, 'assumption')} of ours that its claims exclude"),
    )
    return join_words(words for count, words in parts if count)


def as_read(count: int, read: int) -> str:
    """What is added to a count of contradictions of which `read` have a sentence read by us."""
    among = "" if count == 1 else "all of them " if read == count else f"{read} of them "
    return f" ({among}with a sentence as we read it)" if read else ""


def _changes_by_reading(data: StudyData, claims: Mapping[str, Claim]) -> list[Block]:
    """Claims whose set-aside status differs under other readings of words."""
    changed = changed_readings(data, "set aside")
    rows: dict[Words, Sequence[Words]] = {
        claim_link(claims.get(name), name): [cells[r] for r in READING_NAMES]
        for (name, _), cells in changed.items()
    }
    counted = f"{plural(len(rows), 'claim')} set aside"
    return collapsed_table(data, counted, "Claim", rows)


def _grid(label: str, rows: Sequence[tuple[Words, ...]], first: int) -> Grid:
    return Grid(
        label=label,
        columns=("No.", "Claims that cannot all hold", "Resolution"),
        rows=tuple(rows),
        ids=tuple(f"contradiction-{k}" for k in range(first, first + len(rows))),
        stacks=True,
    )


def _affected_points(data: StudyData, points: set[PlottedPoint]) -> Iterator[Span]:
    """Count the plotted points that depend on a contradiction, and name their exhibits."""
    touched = {exhibit for exhibit, _, _ in points}
    names = [exhibit_name(e.id, e.kind) for e in data.study.exhibits if e.id in touched]
    if names:
        more = f" and {plural(len(names) - MAX_EXHIBITS, 'exhibit')} more"
        where = (
            join_words(names)
            if len(names) <= MAX_EXHIBITS
            else f"{', '.join(names[:MAX_EXHIBITS])}{more}"
        )
        depend = "depends" if len(points) == 1 else "depend"
        yield Span(
            text=f"{plural(len(points), 'plotted point')} {depend} on these claims: {where}.",
            style="small",
        )


def _conflict_cell(data: StudyData, entry: dict[str, Any], claims: dict[str, Claim]) -> Words:
    """The shortest set of claims that exclude each other, and errata on the claims."""
    words: list[str | Span] = []
    for claim in entry["conflicts"][0]:
        words += [" " if words else "", *claim_link(claims.get(claim), claim)]
    more = len(entry["conflicts"]) - 1
    if more:
        words.append(Span(text=f"{plural(more, 'more set')} with the same cause", style="small"))
    if entry.get("readings"):
        words.append(Span(text=_reading_note(entry, claims), style="small"))
    members = {claim for conflict in entry["conflicts"] for claim in conflict}
    for remark in data.study.errata:
        if not members.isdisjoint(remark.claims):
            words.append(Span(text=f"Errata: {remark.says}", style="small"))
    return tuple(filter(None, words))


def _reading_note(entry: Mapping[str, Any], claims: Mapping[str, Claim]) -> str:
    """Words whose numbers make the claims exclude each other, and whether they do leniently too."""
    read = [claims[c].reading.split("; ")[0] for c in entry["readings"] if c in claims]
    words = "; ".join(dict.fromkeys(filter(None, read)))
    exclude = "still exclude" if entry["lenient"] else "do not exclude"
    return (
        f"Follows from our reading of words: {words}. "
        f"If all words are read leniently, the claims {exclude} each other."
    )


def _resolution_cell(
    data: StudyData, entry: dict[str, Any], claims: dict[str, Claim]
) -> Iterator[str | Span]:
    """Claims set aside by every resolution, then each alternative with the remaining ranges."""
    for claim in entry["always"]:
        yield "Without: "
        yield from claim_link(claims.get(claim), claim)
        yield " "
        if claim in claims and not claims[claim].assumed:
            unit = number_unit(claims[claim], data.study)
            rest = implied(claims[claim], data.result(claim), unit)
            if rest not in ("not computed", "anything"):
                limits = f"Printed: {claims[claim].printed_number(unit)}. The others allow: {rest}."
                yield Span(text=limits, style="small")
    names = {e.id: exhibit_name(e.id, e.kind) for e in data.study.exhibits}
    for options in entry["choices"]:
        for k, option in enumerate(options):
            yield "Or without: " if k else "Without: "
            for n, claim in enumerate(option["aside"]):
                yield " " if n else ""
                yield from claim_link(claims.get(claim), claim)
            points = [
                f"{names.get(p['exhibit'], p['exhibit'])}, {p['series']} at {p['x']}: "
                f"{_limits(p['low'], p['high'], _plotted_unit(data, p))}"
                for p in option["points"][:MAX_POINTS_PER_RESOLUTION]
            ]
            affected = "; ".join(points) or "No plotted point depends on it."
            yield Span(text=affected, style="small")


def _plotted_unit(data: StudyData, point: Mapping[str, Any]) -> str:
    """Unit of a plotted point, with the space before it; "" for a point that no figure plots."""
    at = data.points
    of = at[(at["exhibit"] == point["exhibit"]) & (at["series"] == point["series"])]["quantity"]
    units = {data.study.quantities[split_quantity(name)[0]].unit for name in of}
    return f"{NO_BREAK}{units.pop()}".rstrip() if len(units) == 1 else ""


def _limits(low: float | None, high: float | None, unit: str) -> str:
    """Format a range of contradictions.json; a missing end is open."""
    ends = (-math.inf if low is None else low, math.inf if high is None else high)
    return interval(*ends, unit)


def _groups(data: StudyData, entry: dict[str, Any], claims: dict[str, Claim]) -> list[Block]:
    conflicts: Sequence[Sequence[str]] = entry["conflicts"]
    lists = [Listing(items=tuple(claim_link(claims.get(c), c) for c in one)) for one in conflicts]
    members = [claims[c] for c in conflicts[0] if c in claims]
    of = [c.quantities for c in members]
    # quantities that the first claim shares with the others
    about = [set().union(*of[1:]), *([of[0]] * (len(of) - 1))] if of else []
    written: list[Words] = [
        r
        for claim, shared in zip(members, about, strict=True)
        for r in relations(claim, data.study, shared)
    ]
    sums = (Paragraph(words="No values satisfy all of these:"), Listing(items=tuple(written)))
    blocks: list[Block] = [lists[0], Folded(summary="The relations", blocks=sums)]
    if len(lists) > 1:  # most sets restate the first: one is enough for most readers
        summary = f"{plural(len(lists) - 1, 'more set')} with the same cause"
        blocks.append(Folded(summary=summary, blocks=tuple(lists[1:])))
    return blocks


KIND = ExhibitKind("contradictions", record)
