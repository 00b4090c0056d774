"""The site's first page: the studies as cards, what the provenances mean, how to rerun everything."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from virtperf.core.provenance import Provenance
from virtperf.exhibits.key_numbers import MEASURED_VERDICTS, TEXT_VERDICTS
from virtperf.exhibits.records import Record
from virtperf.exhibits.wording import plural
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import page

MEASURED = tuple(word for word in MEASURED_VERDICTS if word != "no measurement")
EXPLAINED = (Provenance.PUBLISHED, Provenance.RECONSTRUCTED, Provenance.MEASURED, Provenance.SIMULATED)


@dataclass(frozen=True)
class Card:
    """One study.

    Attributes
    ----------
    origin : str
        Who published it, and when.
    record : Record or None
        The exhibit whose drawing stands for the study; `picture` says how the page shows it.
    text, measured : tuple of (int, str)
        Counts of claims by verdict.
    """

    id: str
    title: str
    origin: str
    summary: str
    record: Record | None
    picture: str
    exhibits: str
    pinned: str
    text: tuple[tuple[int, str], ...]
    measured: tuple[tuple[int, str], ...]
    not_encoded: int


def index_page(studies: Sequence[StudyFacts]) -> str:
    """The page that a reviewer opens first."""
    taken: set[str] = set()
    cards = []
    for facts in studies:
        telling = facts.telling
        # Ids within a picture begin with the record's, and a page has an id once.
        repeated = telling is not None and telling.id in taken
        taken |= {telling.id} if telling is not None else set()
        cards.append(_card(facts, telling, "image" if repeated else "inline"))
    return page(
        "index", "index.html", "Studies", cards=cards, provenances=EXPLAINED, verdicts=(*TEXT_VERDICTS, *MEASURED)
    )


def _card(facts: StudyFacts, telling: Record | None, picture: str) -> Card:
    exhibits = facts.data.study.exhibits
    figures = sum(e.kind != "table" for e in exhibits)
    bibliography = facts.data.study.data["bibliography"]
    return Card(
        id=facts.id, title=facts.title,
        origin=", ".join(str(bibliography[k]) for k in ("publisher", "published") if bibliography.get(k)),
        summary=" ".join(str(facts.data.study.data.get("summary", "")).split()),
        record=telling, picture=picture,
        exhibits=f"{plural(figures, 'figure')} and {plural(len(exhibits) - figures, 'table')}",
        pinned=f"{facts.reach.within[0]} of {facts.reach.points}",
        text=tuple((facts.text[w], w) for w in TEXT_VERDICTS if facts.text[w]),
        measured=tuple((facts.measured[w], w) for w in MEASURED if facts.measured[w]), not_encoded=facts.not_encoded,
    )  # fmt: skip
