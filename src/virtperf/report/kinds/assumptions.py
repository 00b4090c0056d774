"""Table of our assumptions: statement, reason, state, and number of limits of plotted points set."""

from __future__ import annotations

import re
from collections import Counter

from virtperf.report.kinds import Context, ExhibitKind, note, register
from virtperf.report.records import Grid, Record, Span, Words


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
    binds = Counter(
        c for column in ("low_by", "high_by") for cell in data.points[column] for c in cell
    )
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
            ((claim.says, name), _link_claims(claim.why, statements), shown, str(binds[claim.id]))
        )
    table = Grid(
        label="Assumptions",
        columns=("Assumption", "Reason", "State", "Limits of plotted points set by it"),
        rows=tuple(rows),
        numeric=(3,),
        ids=tuple(f"claim-{c.id}" for c in assumed),
        stacks=True,
    )
    return register(context, "assumptions", table, claims=(c.id for c in assumed))


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
