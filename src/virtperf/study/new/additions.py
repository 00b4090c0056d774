"""Add an exhibit or a claim to a study's files, with EXAMPLE placeholders for missing texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from rawperf.core.errors import StudyError
from rawperf.core.files import write_atomically
from rawperf.core.yamlio import load_yaml
from virtperf.core.levels import Level
from virtperf.study.definition import Study, load_study
from virtperf.study.digests import HYPOTHESES_FILE
from virtperf.study.hypotheses import study_claims
from virtperf.study.yaml_edit import append_entry

REPLACE = "EXAMPLE, replace"
PLOTTED = ("line", "bar")
"""Kinds of exhibits whose series plot the study's quantities over factors."""
TABLE = "EXAMPLE: replace by the printed header row,second column\nEXAMPLE: replace by the printed cells,\n"


def add_exhibit(
    study: Study,
    exhibit: str,
    kind: str,
    fields: Mapping[str, Any],
    check: Callable[[Study], object],
) -> list[Path]:
    """Append an exhibit to study.yaml, with a file for a printed table; returns the files written.

    `fields` has the known fields of the entry; a missing title or section becomes a placeholder. By
    default a figure plots the first quantity over the first numeric factor without a default, with
    a series for each level of the next one. On error nothing is changed: raises `StudyError` if
    study.yaml would be invalid, or `check` rejects the study with the exhibit.
    """
    if any(exhibit == each.id for each in study.exhibits):
        raise StudyError(f"exhibit {exhibit!r} already exists", file="study.yaml")
    entry: dict[str, Any] = {"id": exhibit, "kind": kind, "title": f"{REPLACE}: a title"}
    if study.kind == "paper":
        entry["section"] = REPLACE
    tables = []
    if kind in PLOTTED:
        entry |= _default_series(study, fields)
    elif kind == "table":
        entry["table"] = exhibit
        table = study.folder / "tables" / f"{fields.get('table', exhibit)}.csv"
        tables = [] if table.exists() else [table]
    path = study.document.path
    before = path.read_text(encoding="utf-8")
    try:
        append_entry(path, "exhibits", {**entry, **fields})
        for table in tables:
            write_atomically(table, TABLE)
        check(load_study(study.folder))
    except StudyError as err:
        restated_error = _restated_error(err, path, "exhibits", exhibit, fields)
        write_atomically(path, before)
        for table in tables:
            table.unlink(missing_ok=True)
        raise restated_error from err
    return [path, *tables]


def add_claim(study: Study, claim: str, kind: str, fields: Mapping[str, Any]) -> list[Path]:
    """Append a claim of a paper, or a hypothesis of a measured study; returns the files written.

    Text and section missing in `fields` become placeholders. `about` defaults to the figures that
    plot the claim's quantities, and the ledger of a paper's claim to the first unused note, else a
    new one. On error nothing is changed: raises `StudyError` if the claim is invalid.
    """
    measured = study.kind == "measured"
    name, key = (HYPOTHESES_FILE, "hypotheses") if measured else ("claims.yaml", "claims")
    path, definition = study.folder / name, study.document.path
    before, defined = path.read_text(encoding="utf-8"), definition.read_text(encoding="utf-8")
    entry = {"id": claim, "kind": kind, **fields}
    entry.setdefault("says", f"{REPLACE}: the statement, in your own words.")
    if about := _plotting_exhibits(study, fields):
        entry.setdefault("about", about)
    written = [path]
    if not measured:
        entry.setdefault("section", REPLACE)
        if "ledger" not in fields:
            entry["ledger"], count = _next_note(study)
            if count > study.n_statements:
                line = re.compile(r"^(n_statements: *)\d+", re.MULTILINE)
                write_atomically(definition, line.sub(rf"\g<1>{count}", defined))
                written.append(definition)
    try:
        append_entry(path, key, entry)
        study_claims(load_study(study.folder))
    except StudyError as err:
        restated_error = _restated_error(err, path, key, claim, fields)
        write_atomically(path, before)
        write_atomically(definition, defined)
        raise restated_error from err
    return written


def _restated_error(
    err: StudyError, path: Path, key: str, entry: str, fields: Mapping[str, Any]
) -> StudyError:
    """Restate an error in the appended entry in terms of the given options.

    The entry is removed from the file again, so its line number would be meaningless.
    """
    document = load_yaml(path)
    entries = document.data.get(key) or [{}]
    place = (key, len(entries) - 1)
    lines = [line for where, line in document.lines.items() if where[:2] == place]
    if entries[-1].get("id") != entry or err.file != path.name or err.line not in lines:
        return err
    where, _, problem = err.problem.partition(": ")
    name = where.removeprefix(f"{key}/{entry}/").partition("/")[0]
    if not where.startswith(f"{key}/{entry}/") or name not in fields:
        return err.copy_as(StudyError, file=None, line=None)
    file = f"{name}={fields[name]}"
    return err.copy_as(StudyError, problem=problem, file=file, line=None, found=None)


def _default_series(study: Study, fields: Mapping[str, Any]) -> dict[str, Any]:
    quantity = str(fields.get("quantity") or next(iter(study.quantities), ""))
    free = [name for name, factor in study.factors.items() if factor.default is None]
    texts = {n for n, f in study.factors.items() if any(isinstance(x, str) for x in f.levels)}
    order = sorted(free or study.factors, key=lambda name: name in texts)
    over = str(fields.get("over") or next(iter(order), ""))
    if over not in study.factors or quantity not in study.quantities:
        # loading the study reports the unknown name
        return {"quantity": quantity, "over": over, "series": [{"label": quantity, "levels": [1]}]}
    levels = list(study.factors[over].levels)
    rest = [name for name in free if name != over]
    fixed: dict[str, Level] = {name: study.factors[name].levels[0] for name in rest}
    series = [
        {
            "label": study.level_words(rest[0], level),
            "at": fixed | {rest[0]: level},
            "levels": levels,
        }
        for level in (study.factors[rest[0]].levels if rest else ())
    ]
    alone = [{"label": study.quantities[quantity].label, "levels": levels}]
    return {"quantity": quantity, "over": over, "series": series or alone}


def _plotting_exhibits(study: Study, fields: Mapping[str, Any]) -> list[str]:
    """Figures that plot a quantity of the claim; without one ``["text"]`` for a paper."""
    texts = [str(fields.get(name, "")) for name in ("of", "to")]
    texts += [str(text) for name in ("order", "parts") for text in fields.get(name) or ()]
    named = {name for text in texts for name in re.findall(r"[a-z][a-z0-9_]*(?![^\[]*\])", text)}
    ids = [
        exhibit.id
        for exhibit in study.exhibits
        if named & {series.quantity for series in exhibit.series}
    ]
    return ids or (["text"] if study.kind == "paper" else [])


def _next_note(study: Study) -> tuple[str, int]:
    """The first unused note of the paper, and the number of notes including it."""
    claims = study_claims(study)
    used = {note for claim in claims for note in claim.ledger} | set(claims.not_encoded)
    free = (n for n in range(1, len(used) + 2) if f"c{n:03d}" not in used)
    number = next(free)
    return f"c{number:03d}", max(number, study.n_statements)
