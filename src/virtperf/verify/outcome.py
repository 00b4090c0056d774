"""What a comparison of two places found: study by study, exhibit by exhibit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from virtperf.exhibits.wording import exhibit_name
from virtperf.verify.agreement import Finding
from virtperf.verify.compare import AGREEING, IDENTICAL, MISSING, MOVED, NEW, WITHIN, Change, compare_all, merged
from virtperf.verify.documents import Drawing, Fragment
from virtperf.verify.record import Recorded, Used
from virtperf.verify.stored import CLAIMS, Results
from virtperf.verify.tolerances import Tolerances

PRINTED = "printed"
"""The field of a statement's own number."""
REDRAWN = "redrawn"
"""A drawing of the same numbers that looks different."""


@dataclass(frozen=True)
class ExhibitOutcome:
    """One exhibit of a study, or its statements.

    Attributes
    ----------
    name, title, kind, under : str
        As `Fragment` has them.
    changes : tuple of Change
        All its items.
    drawing : str
        A status of its drawings: one of `compare.STATUSES` or `REDRAWN`; empty where it has none.
    curves_only : bool
        The drawing moved and no number beside it did: fitted curves or marks in it moved.
    before, now : Fragment or None
    """

    name: str
    title: str
    kind: str
    under: str
    changes: tuple[Change, ...]
    drawing: str
    curves_only: bool
    before: Fragment | None
    now: Fragment | None

    @property
    def counts(self) -> Counter[str]:
        """Items by status."""
        return Counter(change.status for change in self.changes)

    @property
    def agrees(self) -> bool:
        """Whether neither a number nor the drawing's numbers have changed beyond tolerance."""
        return all(c.agrees for c in self.changes) and self.drawing in ("", REDRAWN, *AGREEING)


@dataclass(frozen=True)
class StudyOutcome:
    """One study; `claim_exhibits` says which exhibits a statement speaks of."""

    study: str
    title: str
    exhibits: tuple[ExhibitOutcome, ...]
    claim_exhibits: Mapping[str, tuple[str, ...]]

    @property
    def counts(self) -> Counter[str]:
        """Items by status."""
        return sum((e.counts for e in self.exhibits), Counter())

    @property
    def affected(self) -> list[ExhibitOutcome]:
        """Exhibits that changed beyond tolerance, the statements among them."""
        return [e for e in self.exhibits if not e.agrees]

    @property
    def edited(self) -> list[str]:
        """Statements whose printed number was changed; the others of `claims` follow from something else."""
        changes = [c for e in self.exhibits if e.kind == "claims" for c in e.changes if not c.agrees]
        return list(dict.fromkeys(c.item.label for c in changes if c.item.field == PRINTED))

    @property
    def redrawn(self) -> list[ExhibitOutcome]:
        """Exhibits that show the same numbers and look different."""
        return [e for e in self.exhibits if e.drawing == REDRAWN]

    @property
    def claims(self) -> list[str]:
        """Statements of which a number, an interval or a verdict changed beyond tolerance."""
        changes = [c for e in self.exhibits if e.kind == "claims" for c in e.changes if not c.agrees]
        return list(dict.fromkeys(c.item.label for c in changes if c.item.kind != "registers"))


@dataclass(frozen=True)
class Side:
    """One of the two places.

    Attributes
    ----------
    name : str
        In words: ``stored results``, ``revision v1``, ``folder results-2``.
    commit : str
        Where git knows one.
    changed : bool
        Whether hand-written files or code differ from that commit.
    package : str
        Whose code ran: nothing for results that are taken as they stand.
    """

    name: str
    commit: str = ""
    changed: bool = False
    package: str = ""


@dataclass(frozen=True)
class Outcome:
    """Everything that a certificate says."""

    old: Side
    new: Side
    studies: tuple[StudyOutcome, ...]
    findings: tuple[Finding, ...]
    recorded: tuple[Recorded, ...]
    packages: tuple[Used, ...]
    stages: tuple[str, ...]
    tolerances: Tolerances

    @property
    def counts(self) -> Counter[str]:
        """Items by status, over all studies."""
        return sum((s.counts for s in self.studies), Counter())

    @property
    def other_packages(self) -> list[Used]:
        """Packages whose version is not the pinned one."""
        return [p for p in self.packages if not p.as_pinned]

    @property
    def agrees(self) -> bool:
        """Whether everything is identical or within tolerance, and no document is stale."""
        return not self.findings and not any(s.affected for s in self.studies)


def compare_results(old: Results, new: Results, tolerances: Tolerances) -> StudyOutcome:
    """Two places' results of one study compared."""
    full = bool(old.frames) and bool(new.frames)
    changes: dict[str, list[Change]] = {}
    for change in compare_all(old.items(full=full), new.items(full=full), tolerances):
        changes.setdefault(change.item.exhibit, []).append(change)
    drawn = [[n for n, f in place.shown.items() if f.drawings] for place in (old, new)]
    names = merged(list(old.shown), list(new.shown))
    names += [name for name in changes if name not in names]
    exhibits = []
    for name in names:
        if name not in changes and name not in (*drawn[0], *drawn[1]):
            continue  # statements are compared together
        before, now = old.shown.get(name), new.shown.get(name)
        own = tuple(changes.get(name, ()))
        status, curves_only = _drawing(before, now, all(c.agrees for c in own))
        shown = now or before
        if shown:
            title, kind, under = shown.title, shown.kind, shown.under
        else:
            title, kind, under = ("Statements", "claims", "") if name == CLAIMS else (exhibit_name(name), "figure", "")
        exhibits.append(ExhibitOutcome(name, title, kind, under, own, status, curves_only, before, now))
    about = {**old.claim_exhibits, **new.claim_exhibits}
    return StudyOutcome(new.study, new.title if new.title != new.study else old.title, tuple(exhibits), about)


def _drawing(before: Fragment | None, now: Fragment | None, agree: bool) -> tuple[str, bool]:
    """The status of an exhibit's drawings, and whether only what stands in no table moved."""
    old, new = (fragment.drawings if fragment else () for fragment in (before, now))
    if not old or not new:
        return ("" if not old and not new else NEW if not old else MISSING), False
    if [d.strokes for d in old] == [d.strokes for d in new]:
        return IDENTICAL, False
    if all(d.digest for d in (*old, *new)):
        if _digests(old) == _digests(new):
            return REDRAWN, False
        beyond = [d.partition("-")[2] for d in _digests(old)] != [d.partition("-")[2] for d in _digests(new)]
        return (MOVED if beyond or not agree else WITHIN), beyond and agree
    return (REDRAWN if agree else MOVED), False


def _digests(drawings: tuple[Drawing, ...]) -> list[str]:
    return [d.digest for d in drawings]
