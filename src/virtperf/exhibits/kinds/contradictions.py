"""Contradictions of a paper: each claim that the rest excludes, and what excludes it, by their words."""

from __future__ import annotations

from dataclasses import dataclass

from virtperf.exhibits.arithmetic import quantities, relations
from virtperf.exhibits.claim_words import implied, printed, unit_of
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.kinds import Context, Kind, note, register
from virtperf.exhibits.records import Block, Folded, Heading, Listing, Paragraph, Record, Span, Words
from virtperf.exhibits.wording import joined, plural
from virtperf.study.claims import Claim


@dataclass(frozen=True)
class Contradiction:
    """What one claim that was set aside conflicts with.

    Attributes
    ----------
    aside : str
        The claim's id; empty for conflicts of which none was set aside.
    groups : tuple of tuple of str
        Minimal sets of other claims that exclude it, the shortest first.
    """

    aside: str
    groups: tuple[tuple[str, ...], ...]


def contradictions(data: StudyData) -> list[Contradiction]:
    """The computed minimal conflicting sets, ordered by the claim that was set aside.

    A set of which several claims were set aside belongs to all of them, but is named only for those that have no set
    of their own.
    """
    conflicts = [
        ([str(c) for c in conflict["claims"]], {str(c) for c in conflict.get("dropped", ())})
        for conflict in data.contradictions.get("conflicts", [])
    ]
    found = []
    for aside in dict.fromkeys(map(str, data.contradictions.get("dropped", ()))):
        own = [members for members, dropped in conflicts if dropped == {aside}]
        shared = [members for members, dropped in conflicts if aside in dropped]
        groups = sorted((tuple(m for m in members if m != aside) for members in own or shared), key=len)
        found.append(Contradiction(aside, tuple(groups)))
    loose = tuple(tuple(members) for members, dropped in conflicts if not dropped)
    return found + ([Contradiction("", loose)] if loose else [])


def places(data: StudyData) -> dict[str, list[int]]:
    """For every claim, the numbers of the contradictions that it takes part in; the page links to them."""
    numbers: dict[str, list[int]] = {}
    for k, entry in enumerate(contradictions(data), 1):
        for claim in dict.fromkeys([entry.aside, *(c for group in entry.groups for c in group)]):
            numbers.setdefault(claim, []).append(k)
    return numbers


def linked(claim: Claim | None, claim_id: str) -> tuple[str | Span, ...]:
    """A claim's words as a link to its row."""
    if claim is None:
        return (Span(text=claim_id, style="code"), ", a claim that is no longer there")
    kind = (" (an assumption of ours)",) if claim.assumed else ()
    return (Span(text=claim.says, link=f"claim:{claim_id}"), *kind)


def record(context: Context) -> Record:
    """Every claim that was set aside: what it says, what the rest allows, and a minimal set that excludes it."""
    data = context.data
    conflicts = data.contradictions.get("conflicts", [])
    if not conflicts:
        none = "No two claims of the paper exclude each other."
        words = none if data.contradictions else "Contradictions are not computed yet."
        return register(context, "contradictions", note(words))
    said = {c.id: c for c in data.claims or ()}
    found = contradictions(data)
    aside = [entry.aside for entry in found if entry.aside]
    ours = sum(1 for c in aside if c in said and said[c].assumed)
    parts = [(len(aside) - ours, "claim", "of the paper"), (ours, "assumption", "of ours")]
    removed = joined(f"{plural(n, word)} {whose}" for n, word, whose in parts if n) or "nothing"
    lead = f"{plural(len(conflicts), 'minimal conflicting set')} of claims. Setting aside {removed} resolves "
    blocks: list[Block] = [Paragraph(words=f"{lead}{'it' if len(conflicts) == 1 else 'them all'}.")]
    for k, entry in enumerate(found, 1):
        blocks += [Heading(text=f"Contradiction {k}", id=f"contradiction-{k}"),
                   *_aside(data, said.get(entry.aside), entry.aside), *_groups(data, entry, said)]  # fmt: skip
    members = dict.fromkeys(str(c) for conflict in conflicts for c in conflict["claims"])
    return register(context, "contradictions", *blocks, claims=members)


def _aside(data: StudyData, claim: Claim | None, claim_id: str) -> list[Block]:
    if not claim_id:
        return [Paragraph(words="Sets of which no claim is set aside:")]
    facts = ["Set aside in the reconstruction."]
    if claim is not None and not claim.assumed:
        unit = unit_of(claim, data.study)
        says, rest = printed(claim, unit), implied(claim, data.result(claim.id), unit)
        if rest not in ("not computed", "anything", "not this"):
            facts.append(f"Printed: {says}; the paper's other claims allow: {rest}.")
    words = [w.model_copy(update={"style": "strong"}) if isinstance(w, Span) else w for w in linked(claim, claim_id)]
    return [Paragraph(words=(*words, " ", Span(text=" ".join(facts), style="small")))]


def _groups(data: StudyData, entry: Contradiction, said: dict[str, Claim]) -> list[Block]:
    lists = [Listing(items=tuple(linked(said.get(c), c) for c in group)) for group in entry.groups]
    if not lists:
        return []
    members = [said[c] for c in (entry.aside, *entry.groups[0]) if c in said]
    of = [{q for i in c.instances for q in quantities(i)} for c in members]
    about = [set().union(*of[1:]), *([of[0]] * (len(of) - 1))]  # what the claim set aside has in common with others
    written: list[Words] = [
        r for claim, shared in zip(members, about, strict=True) for r in relations(claim, data.study, shared)
    ]
    blocks: list[Block] = [Paragraph(words="It cannot hold together with all of these:")] if entry.aside else []
    sums = (Paragraph(words="No values satisfy all of these:"), Listing(items=tuple(written)))
    blocks += [lists[0], Folded(summary="The arithmetic", blocks=sums)]
    if len(lists) > 1:  # most sets say the same through other words of the paper: one is enough for most readers
        summary = plural(len(lists) - 1, "other set excludes", "other sets exclude") + " it as well"
        blocks.append(Folded(summary=summary, blocks=tuple(lists[1:])))
    return blocks


KIND = Kind("contradictions", record)
