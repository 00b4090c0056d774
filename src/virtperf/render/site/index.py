"""The site's first page: the studies as cards, what the provenances mean, how to rerun everything."""

from __future__ import annotations

from collections.abc import Sequence

from virtperf.core.provenance import Provenance
from virtperf.exhibits.key_numbers import MEASURED_VERDICTS, TEXT_VERDICTS
from virtperf.exhibits.records import Record
from virtperf.render.places import Place
from virtperf.render.record import record_html
from virtperf.render.site.gather import StudyFacts
from virtperf.render.site.shell import page

MEASURED = tuple(word for word in MEASURED_VERDICTS if word != "no measurement")
EXPLAINED = (Provenance.PUBLISHED, Provenance.RECONSTRUCTED, Provenance.MEASURED)


def index_page(studies: Sequence[StudyFacts], together: Record | None = None) -> str:
    """The page that a reviewer opens first; `together` is what all studies say, in one picture and some sentences."""
    taken: set[str] = {together.id} if together is not None else set()
    cards = []
    for facts in studies:
        telling = facts.telling
        # Ids within a picture begin with the record's, and a page has an id once.
        picture = "image" if telling is not None and telling.id in taken else "inline"
        taken |= {telling.id} if telling is not None else set()
        cards.append((facts, telling, picture, _origin(facts)))
    return page(
        "index", "index.html", "Studies", cards=cards, provenances=EXPLAINED, verdicts=(*TEXT_VERDICTS, *MEASURED),
        by_text=TEXT_VERDICTS, by_runs=MEASURED, together=together,
        together_html=record_html(together, place=Place(elsewhere=True)) if together is not None else "",
    )  # fmt: skip


def _origin(facts: StudyFacts) -> str:
    """Who published a study, and when."""
    bibliography = facts.data.study.bibliography
    said = ", ".join(str(bibliography[name]) for name in ("publisher", "published") if bibliography.get(name))
    return said or "Measured for this repository"
