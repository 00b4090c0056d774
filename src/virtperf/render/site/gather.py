"""What the site says of each study: its data, its points, and the counts of its verdicts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from virtperf.exhibits.book import Book
from virtperf.exhibits.claim_words import verdict_words
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.layers import Point
from virtperf.exhibits.summary import Reach, reach
from virtperf.study.claims import Claim


@dataclass(frozen=True, eq=False)
class StudyFacts:
    """One study as the site shows it.

    Attributes
    ----------
    book : Book
    data : StudyData
    claims : tuple of Claim
        Statements of the paper, without our assumptions.
    reach : Reach
        How far the text pins the plotted points down.
    text, measured : Counter
        Statements by verdict.
    """

    book: Book
    data: StudyData
    claims: tuple[Claim, ...]
    reach: Reach
    text: Counter[str]
    measured: Counter[str]

    @property
    def id(self) -> str:
        """The study's id, which is its report's file name."""
        return self.data.study.id

    @property
    def title(self) -> str:
        """The paper's title."""
        return str(self.data.study.data["title"])

    @property
    def not_encoded(self) -> int:
        """Notes on the paper that say nothing to compute with."""
        return len(self.data.claims.not_encoded) if self.data.claims else 0

    @property
    def telling(self) -> str | None:
        """The figure that stands for the study: `telling` of study.yaml, else its first figure with points."""
        named = self.data.study.data.get("telling")
        figures = [e.id for e in self.data.study.exhibits if e.kind in ("line", "bar") and e.series]
        return str(named) if named else next(iter(figures), None)


def gather(study_id: str, data: Path, *, level: float, assumptions: bool) -> StudyFacts:
    """Read everything that the site shows of a study; raises `VirtperfError` as the exhibits do."""
    book = Book(study_id, data, level=level, assumptions=assumptions)
    stored = book.data
    claims = tuple(c for c in stored.claims or () if not c.assumed)
    words = [verdict_words(c, stored.result(c.id)) for c in claims]
    points: list[Point] = [p for e in book.study.exhibits if e.series for p in book.plotted(e.id)]
    return StudyFacts(
        book, stored, claims, reach(book.study, points), Counter(t for t, _ in words), Counter(m for _, m in words)
    )
