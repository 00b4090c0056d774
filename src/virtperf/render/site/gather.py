"""What the site says of each study: its data, its points, its exhibits, and the counts of its verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.exhibits.claim_words import verdict_counts
from virtperf.exhibits.data import StudyData, load
from virtperf.exhibits.key_numbers import MEASURED_VERDICTS, Reach, best_known, reach
from virtperf.exhibits.kinds import Context, kinds
from virtperf.exhibits.records import Record
from virtperf.render.notebooks import records_of
from virtperf.render.record import Place

MEASURED = tuple(word for word in MEASURED_VERDICTS if word != "no measurement")


@dataclass(frozen=True, eq=False)
class StudyFacts:
    """One study as the site shows it: claims of the paper without our assumptions, counts of claims by verdict, and
    `shown`, the records of the executed notebook by id, empty where it has not been executed.
    """

    context: Context
    reach: Reach
    text: Counter[str]
    measured: Counter[str]
    shown: Mapping[str, Record]

    @property
    def data(self) -> StudyData:
        """Everything that the stages wrote."""
        return self.context.data

    @property
    def id(self) -> str:
        """The study's id, which is its report's file name."""
        return self.data.study.id

    @property
    def title(self) -> str:
        """The paper's title."""
        return str(self.data.study.data["title"])

    @property
    def telling(self) -> Record | None:
        """The exhibit that stands for the study: `telling` of study.yaml, else the figure whose points are known best.

        Without a drawing of it the first exhibit that has one.
        """
        drawn = {name: record for name, record in self.shown.items() if record.drawing is not None}
        named = self.data.study.telling or best_known(self.data)
        return drawn.get(named, next(iter(drawn.values()), None))

    @property
    def place(self) -> Place:
        """Where links within this study's records lead from a page of the site."""
        listed = self.data.paper_claims if self.data.study.kind == "paper" else ()
        return Place(elsewhere=True, listed=frozenset(c.id for c in listed))

    def record(self, kind: str) -> Record:
        """An exhibit that speaks of the whole study, such as ``quality``."""
        return kinds()[kind].record(self.context)


def gather(layout: Layout, parameters: Parameters, study: str) -> StudyFacts:
    """Read everything that the site shows of a study.

    Raises `VirtperfError` where a file can't be read, or the notebook was executed by another version.
    """
    data = load(study, layout.root / "data")
    context = Context(data, parameters.level, parameters.report.assumptions)
    text, measured = verdict_counts(data)
    shown: dict[str, Record] = {}
    for record in records_of(layout.executed(study)):
        shown.setdefault(record.id, record)
    return StudyFacts(context, reach(data, assumptions=context.assumptions), text, measured, shown)
