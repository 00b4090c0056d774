"""A study's published folder: definition, tables, diagrams, simulated runs, notes and statements."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from virtperf.check.problems import Problems
from virtperf.core.errors import StudyError
from virtperf.core.metrics import MetricDictionary
from virtperf.core.params import ReconstructParameters
from virtperf.core.yamlio import Document, load_yaml, schema_problems
from virtperf.exhibits.kinds import check_exhibits
from virtperf.simulate.load import load_raw
from virtperf.study.claims import Claims, load_claims
from virtperf.study.definition import Study, load_study
from virtperf.study.printed import corrections

CORRECTIONS = "corrections"
PLOTTED = ("line", "bar")
ENCODED = ("claims", "assumptions", "tables")


def check_study(folder: Path, dictionary: MetricDictionary | None, problems: Problems) -> Study | None:
    """Check `data/published/<study>`.

    Parameters
    ----------
    folder : Path
    dictionary : MetricDictionary or None
        None where it can't be loaded: then metrics are not compared with it.
    problems : Problems
        Gets what is found.

    Returns
    -------
    Study or None
        None where `study.yaml` breaks its schema.
    """
    study = _loaded(folder, "study", problems, lambda: load_study(folder, problems.of(folder)))
    claims = None
    if study is not None:
        claims = _loaded(folder, "claims", problems, lambda: load_claims(study, problems.of(folder)))
        _factors(study, problems)
        _quantities(study, dictionary, problems)
        _exhibits(study, problems)
        _runs(study, problems)
        if claims is not None:
            _claims(study, claims, problems)
        _tables(study, claims, problems)
    return study


def _loaded(folder: Path, name: str, problems: Problems, load: Callable[[], Any]) -> Any:
    """A YAML file's content, if it follows its schema."""
    with problems.caught(folder):
        broken = schema_problems(load_yaml(folder / f"{name}.yaml"), name)
        for problem in broken:
            problems.of(folder)(problem)
        return None if broken else load()
    return None


def _factors(study: Study, problems: Problems) -> None:
    for name, factor in study.factors.items():
        if factor.default is not None and factor.default not in factor.levels:
            _say(study.document, problems, f"the default {factor.default!r} of {name} is none of its levels",
                 "factors", name, "default")  # fmt: skip
        for level in factor.level_labels:
            if level not in factor.levels:
                _say(study.document, problems, f"a label for {level!r}, which is no level of {name}",
                     "factors", name, "labels")  # fmt: skip


def _quantities(study: Study, dictionary: MetricDictionary | None, problems: Problems) -> None:
    for name, kind in study.quantities.items():
        sources = [*kind.observed.get("from", ()), *([kind.observed["per"]] if "per" in kind.observed else ())]
        for source in sources:
            if dictionary is not None and source["metric"] not in dictionary:
                _say(study.document, problems, f"{name} is observed by {source['metric']!r}, which is no metric",
                     "quantities", name, "observed", remedy="add it to data/metrics.yaml, or mend it")  # fmt: skip
        if kind.observed.get("relative") and not kind.references:
            _say(study.document, problems, f"{name} is relative but has no reference point", "quantities", name)


def _exhibits(study: Study, problems: Problems) -> None:
    ids = [exhibit.id for exhibit in study.exhibits]
    for position, exhibit in enumerate(study.exhibits):
        where = ("exhibits", position)
        if ids.index(exhibit.id) != position:
            _say(study.document, problems, f"the id {exhibit.id!r} is given twice", *where)
        if exhibit.kind in PLOTTED and not exhibit.series:
            _say(study.document, problems, f"{exhibit.id} has no series to draw", *where)
    check_exhibits(study, problems.of(study.folder))
    with problems.caught(study.folder):
        corrections(study)


def _runs(study: Study, problems: Problems) -> None:
    with problems.caught(study.folder):
        if "runs" in study.data:
            broken = schema_problems(load_yaml(study.folder / "raw.yaml"), "raw")
            for problem in broken:
                problems.of(study.folder)(problem)
            if not broken:
                load_raw(study, ReconstructParameters())
    for position, block in enumerate(study.data.get("runs", ())):
        if not isinstance(block, dict) or "name" not in block:
            _say(study.document, problems, "a block of runs without a name", "runs", position)


def _claims(study: Study, claims: Claims, problems: Problems) -> None:
    document = claims.document
    if document.data["study"] != study.id:
        _say(document, problems, "the statements are another study's", "study", expected=repr(study.id),
             found=repr(document.data["study"]))  # fmt: skip
    by_id = {claim.id: claim for claim in claims}
    spoken = {q for c in claims for i in c.instances for part in i.parts for _, q in part.terms}
    for claim in claims:
        for other in claim.conflicts:
            if other in by_id and claim.id not in by_id[other].conflicts:
                problems.say(f"{claim.id} conflicts with {other}, which does not say so", document.path, claim.line)
        limited = claim.low > -float("inf") or claim.high < float("inf")
        if limited and claim.value is None and not claim.assumed and not claim.reading:
            problems.say(
                f"{claim.id} has limits but no printed value", document.path, claim.line,
                remedy="say under reading how the words were turned into numbers",
            )  # fmt: skip
    for position, exhibit in enumerate(study.exhibits):
        silent = []
        with suppress(ValueError):  # an unknown level, of which loading has told
            silent = [q.key() for _, _, q in study.points(exhibit) if q not in spoken]
        if silent and exhibit.kind in PLOTTED:
            _say(study.document, problems, f"no statement speaks of {len(silent)} point(s) of {exhibit.id}",
                 "exhibits", position, found=", ".join(silent[:3]),
                 remedy="take them out of the series, or encode what the paper says of them")  # fmt: skip
    _notes(study, claims, problems)


def _notes(study: Study, claims: Claims, problems: Problems) -> None:
    """Every note on the paper is encoded, or left out with a reason."""
    notes = {f"c{n:03d}" for n in range(1, study.data["claims_in_ledger"] + 1)}
    # as written, not as loaded: an entry with another problem still accounts for its notes
    written = [e.get("ledger", ()) for part in ENCODED for e in claims.document.data.get(part, ())]
    encoded = {note for notes in written for note in ([notes] if isinstance(notes, str) else notes)}
    left_out = set(claims.not_encoded)
    for words, found in (
        ("neither encoded nor left out", notes - encoded - left_out),
        ("encoded and left out", encoded & left_out),
        ("named although claims_in_ledger of study.yaml is lower", (encoded | left_out) - notes),
    ):
        if found:
            shown = ", ".join(sorted(found)[:8]) + (", ..." if len(found) > 8 else "")
            problems.say(f"{len(found)} note(s) {words}", claims.document.path, found=shown)


def _tables(study: Study, claims: Claims | None, problems: Problems) -> None:
    named = {str(e.spec.get("table", e.id)) for e in study.exhibits if e.kind == "table"} | {CORRECTIONS}
    named |= {entry["table"] for entry in claims.document.data.get("tables", ())} if claims is not None else set()
    for path in sorted((study.folder / "tables").glob("*.csv")):
        if path.stem not in named:
            problems.say("no exhibit and no statement names this table", path, remedy="name it, or remove the file")


def _say(document: Document, problems: Problems, problem: str, *where: str | int, **parts: str | None) -> None:
    problems.say(problem, document.path, document.line(*where), **parts)
