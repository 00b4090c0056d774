"""Contradictions of a paper: each statement that the rest excludes, and what excludes it, by their words."""

from __future__ import annotations

from dataclasses import dataclass

from virtperf.exhibits import display
from virtperf.exhibits.arithmetic import quantities, relations
from virtperf.exhibits.claim_words import implied, printed, unit_of
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.display import Shown
from virtperf.exhibits.wording import breakable, escape, joined, plural, printable
from virtperf.study.claims import Claim


@dataclass(frozen=True)
class Contradiction:
    """What one statement that was set aside collides with.

    Attributes
    ----------
    aside : str
        The statement's id; empty for groups of which none was set aside.
    groups : tuple of tuple of str
        Smallest groups of other statements that exclude it, the shortest first.
    """

    aside: str
    groups: tuple[tuple[str, ...], ...]


def contradictions(data: StudyData) -> list[Contradiction]:
    """The computed groups, ordered by the statement that was set aside.

    A group of which several statements were set aside belongs to all of them, but is named only for those that have
    no group of their own.
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
    """For every statement, the numbers of the contradictions that it takes part in; the page links to them."""
    numbers: dict[str, list[int]] = {}
    for k, entry in enumerate(contradictions(data), 1):
        for claim in dict.fromkeys([entry.aside, *(c for group in entry.groups for c in group)]):
            numbers.setdefault(claim, []).append(k)
    return numbers


def linked(claim: Claim | None, claim_id: str) -> str:
    """A statement's words as a link to its row."""
    if claim is None:
        return f"<code>{breakable(claim_id)}</code>, a statement that is no longer there"
    kind = " <em>(an assumption of ours)</em>" if claim.assumed else ""
    return f'<a href="#claim-{escape(claim_id)}">{breakable(printable(claim.says))}</a>{kind}'


def contradictions_exhibit(data: StudyData) -> Shown:
    """Every statement that was set aside: what it says, what the rest allows, and a smallest group that excludes it."""
    conflicts = data.contradictions.get("conflicts", [])
    if not conflicts:
        none = "No two statements of the paper exclude each other."
        sentence = none if data.contradictions else "Contradictions are not computed yet."
        return Shown(f'<p class="vp-note" id="contradictions">{escape(sentence)}</p>', sentence)
    said = {c.id: c for c in data.claims} if data.claims else {}
    found = contradictions(data)
    items = [
        f'<li id="contradiction-{k}">{_aside(data, said.get(entry.aside), entry.aside)}'
        f"{_groups(data, entry, said)}</li>"
        for k, entry in enumerate(found, 1)
    ]
    aside = [entry.aside for entry in found if entry.aside]
    ours = sum(1 for c in aside if c in said and said[c].assumed)
    counts = [plural(len(aside) - ours, "statement") + " of the paper"] + [plural(ours, "assumption") + " of ours"] * (
        ours > 0
    )
    html = (
        f'<section class="vp-register" id="contradictions"><p>{plural(len(conflicts), "smallest group")} of statements '
        f"cannot all hold. All of them dissolve once {escape(joined(counts))} are set aside.</p>"
        f'<ol class="vp-contradictions">{"".join(items)}</ol></section>'
    )
    text = [
        [str(k), "; ".join(map(str, c["claims"])), "; ".join(sorted(map(str, c.get("dropped", ())))) or "none"]
        for k, c in enumerate(conflicts, 1)
    ]
    return Shown(html, display.table_text(["group", "claims", "set aside"], text))


def _aside(data: StudyData, claim: Claim | None, claim_id: str) -> str:
    if not claim_id:
        return "<p>Groups of which none is set aside:</p>"
    facts = ["Set aside in the reconstruction."]
    if claim is not None and not claim.assumed:
        unit = unit_of(claim, data.study)
        says, rest = printed(claim, unit), implied(claim, data.result(claim.id), unit)
        if rest not in ("not computed", "anything", "not this"):
            facts.append(f"Printed: {says}; the paper's other statements allow: {rest}.")
    where = f' <span class="vp-where">{escape(" ".join(facts))}</span>'
    return f"<p><strong>{linked(claim, claim_id)}</strong>{where}</p>"


def _groups(data: StudyData, entry: Contradiction, said: dict[str, Claim]) -> str:
    lists = ["<ul>" + "".join(f"<li>{linked(said.get(c), c)}</li>" for c in group) + "</ul>" for group in entry.groups]
    if not lists:
        return ""
    members = [said[c] for c in (entry.aside, *entry.groups[0]) if c in said]
    of = [{q for i in c.instances for q in quantities(i)} for c in members]
    about = [set().union(*of[1:]), *([of[0]] * (len(of) - 1))]  # what the statement set aside has in common with others
    written = [r for claim, shared in zip(members, about, strict=True) for r in relations(claim, data.study, shared)]
    sums = "".join(f"<li>{breakable(printable(r))}</li>" for r in written)
    arithmetic = display.details("The arithmetic", f"<p>No values satisfy all of these:</p><ul>{sums}</ul>")
    # Most groups say the same through other words of the paper: one is enough for most readers.
    more = display.details(
        plural(len(lists) - 1, "other group excludes", "other groups exclude") + " it as well", "".join(lists[1:])
    )
    intro = "<p>It cannot hold together with all of these:</p>" if entry.aside else ""
    return f"{intro}{lists[0]}{arithmetic}{more if len(lists) > 1 else ''}"
