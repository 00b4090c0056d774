"""Validation of a study's definition folder: quantities, names, tables, notes and claims."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from rawperf.core.errors import RawperfError, Report, RunError, StudyError, did_you_mean
from rawperf.core.metrics import MetricDictionary
from rawperf.core.sample_rows import HOST
from rawperf.core.yamlio import walk
from rawperf.registry import extend_dictionary
from virtperf.check.problems import Problems
from virtperf.core.numbers import pretty
from virtperf.report.findings import MAX_TITLE_CHARACTERS, length_error, state, title
from virtperf.report.findings import problems as finding_problems
from virtperf.report.frames import StudyData, load
from virtperf.report.kinds import check_exhibits
from virtperf.report.kinds.setup import FACT_UNITS, SPELLED, display_names, setting_label
from virtperf.runs.ingest.folder import RUN_FILE, RunFolder, reported_elsewhere, run_folders
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.summarize.observations import observed_factor, series_factor
from virtperf.study.claims import Claim, Claims
from virtperf.study.conditions import OWN_SCALE
from virtperf.study.definition import Exhibit, Study, load_study
from virtperf.study.hypotheses import study_claims
from virtperf.study.printed import corrections
from virtperf.study.study_samples import DEFAULT_LEVEL

_ENTITY_KIND = re.compile(r"""entity_kind:\s*["']?([^\s"',}][^"',}\n]*)""")


ALL_PERCENT = 100.005
"""Means above it are above 100 % to the digits of tables."""


def check_study(
    folder: Path, dictionary: MetricDictionary | None, problems: Problems
) -> Study | None:
    """Check the folder of a study's definition; returns None if `study.yaml` can't be loaded."""
    report = problems.reporter(folder)
    study = claims = None
    with problems.collected(folder):
        study = load_study(folder, report)
    if study is None:
        return None
    with problems.collected(folder):
        inputs = study_inputs(study)
        dictionary = dictionary and extend_dictionary(dictionary, inputs, report, preferred=True)
    with problems.collected(folder):
        claims = study_claims(study, report)
    _quantities(study, dictionary, report)
    _exhibits(study, dictionary, report)
    check_exhibits(study, report)
    with problems.collected(folder):
        corrections(study)
    if claims is not None and study.kind == "measured":
        _findings(study, {claim.id: claim for claim in claims}, report)
    if claims is not None and study.kind == "paper":
        _claims(study, claims, report)
        _notes(study, claims, problems)
    with problems.collected(folder):
        _results(study, claims, report)
    _tables(study, claims, problems)
    check_names(study, report)
    return study


def _results(study: Study, claims: Claims | None, report: Report) -> None:
    """Check what study.yaml says of results against those of the stages, if there are any."""
    if claims is None:
        return
    try:
        data = load(study.id, study.folder.parent.parent, with_claims=False)
    except RawperfError:  # tables of another version are reported by their stage
        return
    data = replace(data, claims=claims)
    for name, kind in study.quantities.items():
        means = data.means[(data.means["quantity"] == name) & (data.means["scale"] == OWN_SCALE)]
        if kind.unit == "%" and not kind.share_of and (means["value"] > ALL_PERCENT).any():
            report(
                study.document.error(
                    f"{name}: a mean is {pretty(means['value'].max())} %, and nothing says of what",
                    "quantities",
                    name,
                    expected="share_of: what 100 % is, for the axes of its figures",
                )
            )
    level = float(data.means["level"].iloc[0]) if len(data.means) else DEFAULT_LEVEL
    for position, finding in enumerate(study.findings):
        found: list[StudyError] = []
        try:
            found += finding_problems(data, finding, level)
            computed = not data.ranges.empty or not any(
                name in {d.id for d in study.derived} for name, _ in finding.quoted
            )  # the ranges that it quotes, which a fresh clone lacks
            if computed and not (finding.numbers and data.observations.empty):
                found += filter(None, [length_error(state(data, finding, level).sentence)])
        except StudyError as err:
            found.append(err)
        for problem in found:
            parts = {
                "expected": problem.expected,
                "found": problem.found,
                "remedy": problem.remedy,
            }
            details = {name: part for name, part in parts.items() if part}
            report(study.document.error(problem.problem, "findings", position, **details))
    if data.claim_results.empty and data.verdicts.empty:
        return  # a fresh clone, in which nothing is judged yet
    for position, exhibit in enumerate(study.exhibits):
        for words in _title_problems(data, exhibit, level):
            report(study.document.error(words, "exhibits", position))


def _title_problems(data: StudyData, exhibit: Exhibit, level: float) -> Iterator[str]:
    """What is wrong with the title of an exhibit; unknown claims, and errors of findings, are reported
    elsewhere.
    """
    if not {*exhibit.shows} <= {claim.id for claim in data.claims or ()}:
        return
    try:
        length = len(title(data, exhibit, level))
    except StudyError as err:
        if exhibit.shows:
            yield f"{err.problem}: {err.expected}; found {err.found}"
        return
    if length > MAX_TITLE_CHARACTERS:
        yield (
            f"the title of {exhibit.id} has {length} characters, more than three lines on a phone: "
            f"name shorter claims in its `shows`, or shorten the finding, to {MAX_TITLE_CHARACTERS} in all"
        )


def _quantities(study: Study, dictionary: MetricDictionary | None, report: Report) -> None:
    for name, kind in study.quantities.items():
        rule = kind.observed_by
        if rule is None:
            continue
        place = ("quantities", name, "observed")
        for source in rule.sources:
            for read in (source, *([rule.per] if rule.per else ())):
                words = f"{name} is observed by {read.metric}"
                _entity_kind(study, dictionary, report, read.metric, read.entity_kind, words, place)
            used = (source.metric, *([rule.per.metric] if rule.per else ()))
            with _reported_at(study, report, place):
                if units := _metric_units(
                    study, dictionary, report, used, f"{name} is observed by", place
                ):
                    observed_factor(kind, *units)
        if rule.relative and not kind.references:
            report(
                study.document.error(
                    f"{name} is relative but has no reference point", "quantities", name
                )
            )


def _metric_units(
    study: Study,
    dictionary: MetricDictionary | None,
    report: Report,
    metrics: Sequence[str],
    words: str,
    place: KeyPath,
) -> list[str]:
    """Units of metrics; empty if one is unknown, which is reported, or without a dictionary."""
    if dictionary is None:
        return []
    unknown = [metric for metric in metrics if metric not in dictionary]
    for metric in unknown:
        remedy = dictionary.suggest(metric)
        report(
            study.document.error(
                f"{words} {metric!r}, which is not a known metric", *place, remedy=remedy
            )
        )
    return [] if unknown else [dictionary[metric].unit for metric in metrics]


def _entity_kind(
    study: Study,
    dictionary: MetricDictionary | None,
    report: Report,
    metric: str,
    kind: str,
    words: str,
    place: KeyPath,
) -> None:
    """Report an entity kind for which no format provides the metric.

    Unknown metrics are reported elsewhere.
    """
    if dictionary is None or metric not in dictionary:
        return
    described = dictionary[metric]
    read_from = (described, *(dictionary.counted(described) if described.counts else ()))
    known = {HOST if s.entity else s.entity_kind for m in read_from for s in m.sources}
    if HOST in known:  # a tool's own host is a guest, or whatever kind run.yaml gives it
        known |= {"guest"} | ({kind} & _kinds_of_runs(study))
    if kind not in known:
        problem = f"{words} of a {kind!r}, but no format provides it for this entity kind"
        report(study.document.error(problem, *place, remedy=did_you_mean(kind, sorted(known))))


def _kinds_of_runs(study: Study) -> set[str]:
    """Entity kinds that the study's run.yaml files assign to whole files."""
    data = study.folder.parent.parent
    measured = data / "measured" / study.id
    roots = (measured, measured / "examples")
    # invalid archives and run.yaml files are reported by the check of runs
    runs = (folder for root in roots for folder in run_folders(root, reported_elsewhere))
    return {kind for run in runs for kind in _ENTITY_KIND.findall(_run_file_text(run))}


def _run_file_text(run: RunFolder) -> str:
    try:
        return (run.read(RUN_FILE) or b"").decode(errors="replace")
    except (RunError, OSError):
        return ""


@contextmanager
def _reported_at(study: Study, report: Report, place: KeyPath) -> Iterator[None]:
    """Context manager that reports a `StudyError` of its block with the line of a key path.

    Errors in other files keep their own place.
    """
    try:
        yield
    except StudyError as err:
        if err.file in (None, study.document.path.name):
            err = err.copy_as(
                StudyError, file=study.document.path.name, line=study.document.line(*place)
            )
        report(err)


def _exhibits(study: Study, dictionary: MetricDictionary | None, report: Report) -> None:
    ids = [exhibit.id for exhibit in study.exhibits]
    for position, exhibit in enumerate(study.exhibits):
        if ids.index(exhibit.id) != position:
            report(study.document.error(f"duplicate id {exhibit.id!r}", "exhibits", position))
        for row, spec in enumerate(exhibit.spec.get("series") or ()):
            if not (
                isinstance(spec, dict)
                and all(isinstance(spec.get(key), str) for key in ("metric", "unit"))
            ):
                continue  # a quantity series, or invalid, which the kind's model reports
            place = ("exhibits", position, "series", row)
            with _reported_at(study, report, place):
                if units := _metric_units(
                    study, dictionary, report, (spec["metric"],), f"{exhibit.id} shows", place
                ):
                    series_factor(exhibit, spec, *units)
                if isinstance(kind := spec.get("entity_kind"), str):
                    words = f"{exhibit.id} shows {spec['metric']}"
                    _entity_kind(study, dictionary, report, spec["metric"], kind, words, place)


def _claims(study: Study, claims: Claims, report: Report) -> None:
    file = claims.document.path.name
    if claims.file.study != study.id:
        parts = {"expected": repr(study.id), "found": repr(claims.file.study)}
        report(claims.document.error("the claims belong to another study", "study", **parts))
    by_id = {claim.id: claim for claim in claims}
    claimed = {q for claim in claims for q in claim.quantities}
    for claim in claims:
        for other in claim.conflicts:
            if other in by_id and claim.id not in by_id[other].conflicts:
                problem = f"{claim.id} conflicts with {other}, but {other} does not list {claim.id}"
                report(StudyError(problem, file=file, line=claim.line))
        limited = claim.low > -float("inf") or claim.high < float("inf")
        if limited and claim.value is None and not claim.assumed and not claim.reading:
            problem = "has limits but no printed value"
            remedy = "explain under reading how the limits follow from the words"
            report(StudyError(f"{claim.id} {problem}", file=file, line=claim.line, remedy=remedy))
        if claim.is_level:
            _within_bounds(study, claim, file, report)
    for position, exhibit in enumerate(study.exhibits):
        unclaimed = []
        with suppress(ValueError):  # an unknown level, reported by `load_study`
            unclaimed = [q.key() for _, _, q in study.points(exhibit) if q not in claimed]
        if unclaimed and not exhibit.marks and study.artifact is None:
            remedy = "remove them from the series, or encode the paper's claims on them"
            problem = f"no claim constrains {len(unclaimed)} point(s) of {exhibit.id}"
            names = ", ".join(unclaimed[:3])
            report(study.document.error(problem, "exhibits", position, found=names, remedy=remedy))
    for position, remark in enumerate(study.errata):
        for name in remark.claims:
            if name not in by_id:
                problem = f"an erratum names the unknown claim {name!r}"
                place = ("errata", position)
                report(study.document.error(problem, *place, remedy=did_you_mean(name, by_id)))
    _findings(study, by_id, report)


def _findings(study: Study, by_id: Mapping[str, Claim], report: Report) -> None:
    """Check that titles and findings refer to existing claims or hypotheses about the exhibit that
    shows them.
    """
    for position, exhibit in enumerate(study.exhibits):
        for name in exhibit.shows:
            at = ("exhibits", position, "shows")
            if name not in by_id:
                problem = f"{exhibit.id} shows the unknown claim {name!r}"
                report(study.document.error(problem, *at, remedy=did_you_mean(name, by_id)))
            elif exhibit.id not in by_id[name].exhibits:
                problem = f"the claim {name} is not about {exhibit.id}, whose title it is"
                expected = f"a claim about it; {name} is about {', '.join(by_id[name].exhibits)}"
                report(study.document.error(problem, *at, expected=expected))
    for position, finding in enumerate(study.findings):
        derived = {derived.id for derived in study.derived}
        quoted = [name for name, _ in finding.quoted if name not in derived]
        for name in dict.fromkeys((*finding.claims, *quoted)):
            if name not in by_id:
                problem = f"a finding names the unknown claim {name!r}"
                place = ("findings", position)
                report(study.document.error(problem, *place, remedy=did_you_mean(name, by_id)))
        about = {e for name in finding.claims if name in by_id for e in by_id[name].exhibits}
        if finding.figure and about and finding.figure not in about:
            problem = f"no claim that the finding rests on is about {finding.figure}"
            where = ("findings", position, "figure")
            report(study.document.error(problem, *where, expected=", ".join(sorted(about))))


def _within_bounds(study: Study, claim: Claim, file: str, report: Report) -> None:
    """Report a claim whose limits its quantity can't have: an error of transcription."""
    for instance in claim.instances:
        (coefficient, quantity), *others = instance.parts[0].terms
        kind = study.quantities[quantity.name]
        low, high = sorted((coefficient * kind.low, coefficient * kind.high))
        if not others and (claim.high < low or claim.low > high):
            problem = (
                f"{claim.id}: no value from {claim.low:g} to {claim.high:g} is within the bounds"
            )
            remedy = f"correct the number, or bounds of {quantity.name} in study.yaml"
            bounds = f"{low:g} to {high:g}"
            report(StudyError(problem, file=file, line=claim.line, expected=bounds, remedy=remedy))
            return


def _notes(study: Study, claims: Claims, problems: Problems) -> None:
    """Check that every note on the paper is encoded, or left out with a reason."""
    notes = {f"c{n:03d}" for n in range(1, study.n_statements + 1)}
    # use the raw file: a claim with another problem still accounts for its notes
    file, document = claims.file, claims.document
    lines: dict[str, int] = {}
    for key in ("not_encoded", "claims", "assumptions", "tables"):
        for position, entry in enumerate(getattr(file, key)):
            for note in entry.ledger:
                if key != "not_encoded" and note in claims.not_encoded:
                    problems.add(
                        f"the note {note} is both encoded and under not_encoded",
                        document.path,
                        document.line(key, position, "ledger"),
                    )
                lines.setdefault(note, document.line(key, position, "ledger"))
    for note in lines.keys() - notes:
        problems.add(
            f"no note {note!r}",
            document.path,
            lines[note],
            expected=f"c001 to c{study.n_statements:03d}, by n_statements of study.yaml",
        )
    if left := sorted(notes - lines.keys()):
        problems.add(
            "notes neither in a claim nor under not_encoded",
            document.path,
            found=", ".join(left[:8]) + (", ..." if len(left) > 8 else ""),
        )


def _tables(study: Study, claims: Claims | None, problems: Problems) -> None:
    named = {str(e.spec.get("table", e.id)) for e in study.exhibits if e.kind == "table"} | {
        "corrections"
    }
    named |= {entry.table for entry in claims.file.tables} if claims is not None else set()
    for path in sorted((study.folder / "tables").glob("*.csv")):
        if path.stem not in named:
            problems.add(
                "no exhibit or claim uses this table",
                path,
                remedy="use it, or remove the file",
            )


_ENTRIES, _FACTS = ("machines", "guests", "networks"), ("workload", "procedure")
_TOKEN = re.compile(r"[A-Za-z][\w/.+-]{0,40}")

KeyPath = tuple[str | int, ...]


def check_names(study: Study, report: Report) -> None:
    """Report fact names that differ from the study's own spelling: ``zvm`` for z/VM."""
    spelled, called = _spellings(study.data), display_names(study)
    for place, name in _names(study.data):
        if name in called:
            continue
        for word in name.split("_"):
            right = "" if word in SPELLED or word in FACT_UNITS else spelled.get(word, "")
            if right and right not in setting_label(name):
                report(
                    study.document.error(
                        f"the report would show {setting_label(name)!r}, but the study spells it {right!r}",
                        *place,
                        remedy=f"set the display name of {name} under `names`",
                    )
                )


def _names(data: Mapping[str, Any]) -> Iterator[tuple[KeyPath, str]]:
    for part in _ENTRIES:
        for key, entry in (data.get(part) or {}).items():
            yield from _facts(entry, (part, key))
    for part in _FACTS:
        yield from _facts(data.get(part), (part,))


def _facts(value: Any, place: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    for name, inner in value.items() if isinstance(value, Mapping) else ():
        yield (*place, str(name)), str(name)
        yield from _facts(inner, (*place, str(name)))


def _spellings(data: Any) -> dict[str, str]:
    """Unique spellings of words with inner capitals or punctuation, by their letters and digits."""
    spellings: dict[str, Counter[str]] = {}
    for text in (part for _, part in walk(data) if isinstance(part, str)):
        for token in _TOKEN.findall(text):
            word = token.rstrip("/.+-")
            spellings.setdefault(re.sub(r"[^a-z0-9]", "", word.lower()), Counter())[word] += 1
    plain = {
        key
        for key, words in spellings.items()
        if any(word[1:] == word[1:].lower() and word.isalnum() for word in words)
    }
    return {key: words.most_common(1)[0][0] for key, words in spellings.items() if key not in plain}
