"""Whether what stands in one place agrees: data, notebook, report, and every drawing with the numbers beside it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from virtperf.exhibits.display import csv_of
from virtperf.exhibits.seal import short
from virtperf.exhibits.wording import printable
from virtperf.verify.documents import Fragment
from virtperf.verify.stored import CLAIMS, Results


@dataclass(frozen=True)
class Finding:
    """Something in a document that does not belong there.

    Attributes
    ----------
    study : str
    document : str
        Relative to the repository.
    exhibit, title : str
    problem : str
        One clause.
    """

    study: str
    document: str
    exhibit: str
    title: str
    problem: str


def findings(found: Results) -> list[Finding]:
    """Every exhibit that is stale, exchanged or changed by hand.

    Checked are, in this order: each drawing against the table of its own exhibit; the notebook's figures against the
    stages' files; the report, and the notebook kept with the code, against the executed notebook.
    """
    study = found.study
    documents = {f"build/{study}.ipynb": found.notebook, f"notebooks/{study}.ipynb": found.kept,
                 f"reports/{study}.html": found.page}  # fmt: skip
    problems: list[Finding] = []

    def note(document: str, name: str, title: str, said: Iterator[str]) -> None:
        problems.extend(Finding(study, document, name, title, problem) for problem in said)

    for document, fragments in documents.items():
        owners = {short(f.csv): name for name, f in fragments.items() if f.csv}
        for name, fragment in fragments.items():
            note(document, name, fragment.title, _drawings(fragment, owners))
    for name, frame in found.frames.items():
        shown = found.notebook.get(name)
        if name != CLAIMS and shown is not None and csv_of(frame) != shown.csv:
            note(
                f"build/{study}.ipynb", name, shown.title, iter(["it shows other numbers than the stages' files hold"])
            )
    for name, shown in found.notebook.items():
        if shown.kind == "claims":
            note(f"build/{study}.ipynb", name, shown.title, _statements(shown, found))
    origin, reference = next(((d, f) for d, f in documents.items() if f), ("", {}))
    for document, fragments in documents.items():
        if document == origin or not fragments:
            continue
        for name in dict.fromkeys([*reference, *fragments]):
            title = (reference.get(name) or fragments[name]).title
            note(document, name, title, _against(reference, fragments, name, origin))
    return list(dict.fromkeys(problems))


def _statements(shown: Fragment, found: Results) -> Iterator[str]:
    """A table of statements against claims.yaml and the verdicts."""
    if CLAIMS not in found.frames:
        return
    held = {row["claim"]: row for row in found.frames[CLAIMS].to_dict("records")}
    other = [name for name, said in shown.statements.items() if not _same(said, held.get(name))]
    if other:
        yield f"it shows other words or verdicts than claims.yaml and the stages' files hold: {', '.join(other)}"


def _same(said: tuple[str, tuple[str, ...]], held: Mapping[Any, Any] | None) -> bool:
    """Whether a row says what is held; a table without a single measurement has no column for that verdict."""
    if held is None:
        return False
    words, verdicts = said
    expected = (str(held["text_verdict"]), str(held["measured_verdict"]))
    silent = expected[1] == "no measurement"
    agree = verdicts == expected or (silent and verdicts == expected[:1])
    return agree and words == " ".join(printable(held["says"]).split())


def _drawings(fragment: Fragment, owners: Mapping[str, str]) -> Iterator[str]:
    """Each drawing against its exhibit's table, and the exhibit against its place."""
    if not re.fullmatch(rf"{re.escape(fragment.name)}(-\d+)?", fragment.anchor):
        yield f"it stands where {fragment.anchor} belongs"
    own = short(fragment.csv)
    for drawing in fragment.drawings:
        numbers = drawing.digest.partition("-")[0]
        if not drawing.digest:
            yield "its drawing does not say which numbers it was drawn from"
        elif numbers != own and numbers in owners:
            yield f"its drawing is that of {owners[numbers]}"
        elif numbers != own:
            yield "its drawing was made from other numbers than those beside it"
        elif not drawing.sealed:
            yield "its drawing was changed after it had been made"
    if len({d.digest for d in fragment.drawings}) > 1:
        yield "its drawings for wide and narrow pages show different numbers"


def _against(
    reference: Mapping[str, Fragment], fragments: Mapping[str, Fragment], name: str, origin: str
) -> Iterator[str]:
    """An exhibit of one document against the same exhibit of the document that it was made from."""
    expected, shown = reference.get(name), fragments.get(name)
    if expected is None or shown is None:
        yield f"it is missing here, and stands in {origin}" if shown is None else f"it does not stand in {origin}"
    elif shown.csv != expected.csv:
        yield f"it shows other numbers than {origin}"
    elif [d.strokes for d in shown.drawings] != [d.strokes for d in expected.drawings]:
        strokes = [d.strokes for d in shown.drawings]
        twin = next(
            (n for n, f in reference.items() if f.drawings and [d.strokes for d in f.drawings] == strokes), None
        )
        yield f"its drawing is that of {twin}" if twin else f"its drawing is another than in {origin}"
    elif shown.seen != expected.seen:
        yield f"it says something else than in {origin}"
