"""Contradictions of a paper: each claim that the rest excludes, and what excludes it, by their
words.
"""

from __future__ import annotations

import math

from virtperf.report.claim_words import implied, printed, quantities, relations, unit_of
from virtperf.report.data import StudyData
from virtperf.report.kinds import Context, Kind, note, register
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
from virtperf.report.wording import exhibit_name, interval, joined, plural
from virtperf.study.claims import Claim

SEVERAL = (
    "Some conflicts have several resolutions that set aside equally few sentences. "
    "Ranges in the figures hold the values under each of them."
)
WIDER = "There are more resolutions than are tried one by one: ranges may be wider than need be."


def contradictions(data: StudyData) -> dict[str, list[tuple[str, ...]]]:
    """By claim that was set aside: minimal sets of other claims that exclude it, the shortest
    first.

    A set of which several claims were set aside belongs to all of them, but is named only for those
    that have no set of their own. Under "" stand those of which none was set aside.
    """
    conflicts = [
        ([str(c) for c in conflict["claims"]], {str(c) for c in conflict.get("dropped", ())})
        for conflict in data.contradictions.get("conflicts", [])
    ]
    found = {}
    for aside in map(str, data.contradictions.get("dropped", ())):
        own = [members for members, dropped in conflicts if dropped == {aside}]
        shared = [members for members, dropped in conflicts if aside in dropped]
        found[aside] = sorted(
            (tuple(m for m in members if m != aside) for members in own or shared), key=len
        )
    loose = [tuple(members) for members, dropped in conflicts if not dropped]
    return found | ({"": loose} if loose else {})


def places(data: StudyData) -> dict[str, list[int]]:
    """For every claim, the numbers of the contradictions that it takes part in; the page links to
    them.
    """
    numbers: dict[str, list[int]] = {}
    for k, (aside, groups) in enumerate(contradictions(data).items(), 1):
        for claim in dict.fromkeys([aside, *(c for group in groups for c in group)]):
            numbers.setdefault(claim, []).append(k)
    return numbers


def linked(claim: Claim | None, claim_id: str) -> tuple[str | Span, ...]:
    """A claim's words as a link to its row."""
    if claim is None:
        return (Span(text=claim_id, style="code"), ", a claim that is no longer there")
    kind = (" (an assumption of ours)",) if claim.assumed else ()
    return (Span(text=claim.says, link=f"claim:{claim_id}"), *kind)


def record(context: Context) -> Record:
    """Every claim that was set aside: what it says, what the rest allows, and a minimal set that
    excludes it.
    """
    data = context.data
    conflicts = data.contradictions.get("conflicts", [])
    if not conflicts:
        none = "No two claims of the paper exclude each other."
        words = none if data.contradictions else "Contradictions are not computed yet."
        return register(context, "contradictions", note(words))
    said = {c.id: c for c in data.claims or ()}
    found = contradictions(data)
    dropped = [claim for claim in found if claim]
    ours = sum(1 for c in dropped if c in said and said[c].assumed)
    parts = [(len(dropped) - ours, "claim", "of the paper"), (ours, "assumption", "of ours")]
    removed = joined(f"{plural(n, word)} {whose}" for n, word, whose in parts if n) or "nothing"
    lead = f"{plural(len(conflicts), 'minimal conflicting set')} of claims. Setting aside {removed} resolves "
    rows = tuple(_row(data, k, said.get(aside), aside) for k, aside in enumerate(found, 1))
    grid = Grid(
        label="Contradictions",
        columns=("No.", "Set aside", "Printed", "The paper's other claims allow"),
        rows=rows,
        ids=tuple(f"contradiction-{k}" for k in range(1, len(found) + 1)),
        stacks=True,
    )
    details: list[Block] = []
    for k, (aside, groups) in enumerate(found.items(), 1):
        details += [Heading(text=f"Contradiction {k}"), *_groups(data, aside, groups, said)]
    blocks: list[Block] = [
        Paragraph(words=f"{lead}{'it' if len(conflicts) == 1 else 'them all'}."),
        grid,
        *((Paragraph(words=WIDER),) if data.contradictions.get("may_be_wider") else ()),
        *_ways(data, said),
        Folded(summary="What excludes each of them", blocks=tuple(details)),
    ]
    members = dict.fromkeys(str(c) for conflict in conflicts for c in conflict["claims"])
    return register(context, "contradictions", *blocks, claims=members)


def _row(data: StudyData, number: int, claim: Claim | None, claim_id: str) -> tuple[Words, ...]:
    if not claim_id:
        return (str(number), "Sets of which no claim is set aside", "", "")
    says = rest = ""
    if claim is not None and not claim.assumed:
        unit = unit_of(claim, data.study)
        says, rest = printed(claim, unit), implied(claim, data.result(claim.id), unit)
    return (
        str(number),
        linked(claim, claim_id),
        says,
        "" if rest in ("not computed", "anything") else rest,
    )


def _ways(data: StudyData, said: dict[str, Claim]) -> list[Block]:
    """Where several smallest sets resolve the same conflicts: what each sets aside, and what points
    then are.
    """
    names = {e.id: exhibit_name(e.id, e.kind) for e in data.study.exhibits}
    rows: list[tuple[Words, ...]] = []
    for group in data.contradictions.get("alternatives", ()):
        for resolution in group["resolutions"]:
            aside: list[str | Span] = []
            for claim in resolution["aside"]:
                aside += ["; " if aside else "", *linked(said.get(claim), claim)]
            points = [
                f"{names.get(p['exhibit'], p['exhibit'])}, {p['series']} at {p['x']}: {_limits(p['low'], p['high'])}"
                for p in resolution["points"]
            ]
            if points:
                rows.append((tuple(filter(None, aside)), "; ".join(points)))
    if not rows:
        return []
    grid = Grid(
        label="Ways to resolve",
        columns=("If this is set aside", "the text allows"),
        rows=tuple(rows),
        stacks=True,
    )
    return [Folded(summary="What depends on the choice", blocks=(Paragraph(words=SEVERAL), grid))]


def _limits(low: float | None, high: float | None) -> str:
    """A range of contradictions.json in words; an end that is missing is open."""
    return interval(-math.inf if low is None else low, math.inf if high is None else high)


def _groups(
    data: StudyData, aside: str, groups: list[tuple[str, ...]], said: dict[str, Claim]
) -> list[Block]:
    lists = [Listing(items=tuple(linked(said.get(c), c) for c in group)) for group in groups]
    if not lists:
        return []
    members = [said[c] for c in (aside, *groups[0]) if c in said]
    of = [{q for i in c.instances for q in quantities(i)} for c in members]
    about = [
        set().union(*of[1:]),
        *([of[0]] * (len(of) - 1)),
    ]  # what the claim set aside has in common with others
    written: list[Words] = [
        r
        for claim, shared in zip(members, about, strict=True)
        for r in relations(claim, data.study, shared)
    ]
    sums = (Paragraph(words="No values satisfy all of these:"), Listing(items=tuple(written)))
    blocks: list[Block] = [lists[0], Folded(summary="The arithmetic", blocks=sums)]
    if aside:
        blocks.insert(
            0, Paragraph(words=(*linked(said.get(aside), aside), " cannot hold with all of:"))
        )
    if (
        len(lists) > 1
    ):  # most sets say the same through other words of the paper: one is enough for most readers
        summary = plural(len(lists) - 1, "other set excludes", "other sets exclude") + " it as well"
        blocks.append(Folded(summary=summary, blocks=tuple(lists[1:])))
    return blocks


KIND = Kind("contradictions", record)
