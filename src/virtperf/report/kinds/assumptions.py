"""Our assumptions: those that set limits of plotted points; each with its reason, state and limits."""

from __future__ import annotations

import re

from virtperf.core.numbers import plural
from virtperf.report.key_numbers import limits_set
from virtperf.report.kinds import Context, ExhibitKind, first_items, note, register
from virtperf.report.records import Block, Grid, Paragraph, Record, Span, Words
from virtperf.study.claims import Claim

MAX_NAMED = 3
"""Assumptions named in the open; the table has all."""


def record(context: Context) -> Record:
    """The table of assumptions."""
    data = context.data
    assumed = [c for c in data.claims or () if c.assumed]
    if not assumed:
        words = (
            "No claims are encoded yet."
            if data.claims is None
            else "No assumption is used; how words of claims are read is given with each claim."
        )
        return register(context, "assumptions", note(words))
    binds = limits_set(data)
    aside = set(map(str, data.contradictions.get("dropped", ())))
    statements = {c.id: c.says for c in data.claims or ()}
    rows: list[tuple[Words, ...]] = []
    for claim in assumed:
        state = (
            ("on" if claim.default_on else "off by default")
            if context.assumptions
            else "off in this report"
        )
        shown = (
            f"{state}, but set aside: the paper excludes it"
            if claim.id in aside and state == "on"
            else state
        )
        name = Span(text=claim.id, style="small")
        rows.append(
            (
                (claim.says, name),
                _link_claims(claim.why, statements),
                shown,
                str(binds.get(claim.id, 0)),
            )
        )
    table = Grid(
        label="Assumptions",
        columns=("Assumption", "Reason", "State", "Limits of plotted points set by it"),
        rows=tuple(rows),
        numeric=(3,),
        ids=tuple(f"claim-{c.id}" for c in assumed),
        stacks=True,
    )
    acting = [c for c in assumed if context.assumptions and c.id in binds]
    acting.sort(key=lambda claim: -binds[claim.id])
    verb = "sets" if len(acting) == 1 else "set"
    # without a sum: a limit can be that of several assumptions
    words = f"{plural(len(acting), 'assumption')} of ours {verb} limits of plotted points"
    if rest := len(assumed) - len(acting):
        words += f"; {rest} more {'sets' if rest == 1 else 'set'} none"
    blocks: list[Block] = [Paragraph(words=f"{words}.")]
    if acting:
        items = (
            f"{_in_short(claim)} ({plural(binds[claim.id], 'limit')})."
            for claim in acting[:MAX_NAMED]
        )
        blocks.append(first_items(items, len(acting)))
    return register(context, "assumptions", *blocks, table, claims=(c.id for c in assumed))


def _in_short(claim: Claim) -> str:
    """Wording of an assumption without what a colon or parentheses add."""
    return re.split(r": | \(", claim.says.rstrip("."))[0]


def _link_claims(text: str, statements: dict[str, str]) -> Words:
    """Replace ids of claims in prose by links with the claims' wording."""
    words: list[str | Span] = []
    for word in re.split(r"(\s+)", text):
        name = word.rstrip(".,;:)")
        if "-" in name and name in statements:
            words += [
                Span(text=f"“{statements[name].rstrip('.')}”", link=f"claim:{name}"),
                word[len(name) :],
            ]
        elif words and isinstance(words[-1], str):
            words[-1] += word
        else:
            words.append(word)
    return tuple(w for w in words if w)


KIND = ExhibitKind("assumptions", record)
