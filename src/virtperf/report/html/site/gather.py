"""Data of each study for the site: tables, verdict counts, and claims that are tested again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from virtperf.core.params import Parameters
from virtperf.core.paths import Layout
from virtperf.core.verdicts import Verdict
from virtperf.report.claim_words import measured_verdict, verdict_counts
from virtperf.report.frames import load
from virtperf.report.html.record import LinkResolver
from virtperf.report.kinds import Context, kinds
from virtperf.report.records import Record

MEASURED_VERDICTS = (
    Verdict.REPRODUCED,
    Verdict.VALUE_AGREES,
    Verdict.REFUTED,
    Verdict.VALUE_DIFFERS,
    Verdict.UNDECIDED,
)
"""Verdicts of runs on claims of a paper."""
HYPOTHESIS_VERDICTS = (
    Verdict.HOLDS_HERE,
    Verdict.FAILS_HERE,
    Verdict.UNDECIDED,
    Verdict.NOT_JUDGED,
)
"""Verdicts on a hypothesis tested by runs."""


class StudyFacts:
    """One study as shown by the site, loaded eagerly.

    `measured` counts claims of the paper by the verdict of runs, without our assumptions. A `prefix`
    of file names denotes a variant of the study, such as the one with example runs. Raises
    `RawperfError` if a file can't be read.
    """

    def __init__(
        self, layout: Layout, parameters: Parameters, study: str, prefix: str = ""
    ) -> None:
        self.prefix = prefix
        self.data = load(study, layout.root / "data", examples=parameters.report.show_examples)
        self.context = Context(self.data, parameters.level, parameters.report.assumptions)
        self.id, self.title = self.data.study.id, str(self.data.study.data["title"])
        _, self.measured = verdict_counts(self.data)

    @property
    def place(self) -> LinkResolver:
        """Base of links from a page of the site within this study's records."""
        return LinkResolver(is_other_page=True, prefix=self.prefix)

    def record(self, kind: str) -> Record:
        """Record of an exhibit on the whole study, such as ``quality``."""
        return kinds()[kind].record(self.context)


@dataclass(frozen=True)
class RepetitionCounts:
    """A measured study that asks claims of a paper again, with verdict counts."""

    study: str
    paper: str
    verdicts: Mapping[str, int]


def repetition_counts(study: str, studies: Sequence[StudyFacts]) -> Iterator[RepetitionCounts]:
    """Yield the measured studies that ask claims of `study` again."""
    for other in studies:
        verdicts = Counter(
            measured_verdict(other.data.result(claim.id))
            for claim in other.data.paper_claims
            if claim.origin is not None and claim.origin.study == study
        )
        if verdicts:
            yield RepetitionCounts(other.id, study, verdicts)
