"""A paper's claims as structured relations between quantities, loaded from `claims.yaml`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from rawperf.core.errors import Report, StudyError, raise_problem
from rawperf.core.model import Model, Texts, load_model
from rawperf.core.yamlio import Document
from virtperf.core.params import WordReading
from virtperf.study.claim_kinds import ParsedClaim, parse_claim
from virtperf.study.claim_kinds.base import Claim
from virtperf.study.definition import Study
from virtperf.study.kinds import validation_error
from virtperf.study.printed import TableClaims, table_claims
from virtperf.study.readings import Readings, load_repository_readings

TABLE_ROW = re.compile(r"\brow\b")
"""Pattern of a sentence key that denotes a table row, whose cells are claims of their own."""


def _has(claim: Claim, *fields: str) -> Claim:
    missing: list[Any] = [
        {"type": "missing", "loc": (Claim.model_fields[name].alias or name,), "input": {}}
        for name in fields
        if name not in claim.model_fields_set
    ]
    if missing:
        raise validation_error(*missing)
    if claim.origin is not None:
        raise ValueError("from: only a hypothesis of a measured study repeats a claim")
    return claim


_PaperClaim = Annotated[
    ParsedClaim,
    AfterValidator(lambda claim: _has(claim, "exhibits", "sections", "ledger")),
    Field(json_schema_extra={"required": ["about", "section", "ledger"]}),
]
_Assumption = Annotated[
    ParsedClaim,
    AfterValidator(lambda claim: _has(claim, "why")),
    Field(json_schema_extra={"required": ["why"]}),
]


class _NotEncoded(Model):
    ledger: Texts
    reason: str = Field(min_length=10)


class ClaimsFile(Model):
    """Schema of `claims.yaml`."""

    study: str
    claims: tuple[_PaperClaim, ...] = ()
    assumptions: tuple[_Assumption, ...] = ()
    tables: tuple[TableClaims, ...] = ()
    not_encoded: tuple[_NotEncoded, ...] = ()


def sentences_and_rows(claims: Iterable[Claim]) -> tuple[int, int]:
    """Count the sentences, and the table rows, that state these claims."""
    all_claims = list(claims)
    keys = {key for claim in all_claims for key in claim.sentences}
    rows = sum(1 for key in keys if TABLE_ROW.search(key))
    alone = sum(1 for claim in all_claims if not claim.sentences)
    return len(keys) - rows + alone, rows


@dataclass(frozen=True)
class Claims:
    """All claims of a study under one reading of vague words, and the reasons for omitted ones.

    `papers`: by folder, the papers whose claims the hypotheses of a measured study repeat.
    """

    claims: tuple[Claim, ...]
    reading: WordReading
    not_encoded: Mapping[str, str]
    file: ClaimsFile
    document: Document
    papers: Mapping[Path, tuple[Study, Claims]] = field(default_factory=dict)

    def __iter__(self) -> Iterator[Claim]:
        return iter(self.claims)

    def __getitem__(self, claim_id: str) -> Claim:
        return next(c for c in self.claims if c.id == claim_id)

    def reread(self, study: Study, reading: WordReading) -> Claims:
        """The claims under another reading of vague words, without parsing `claims.yaml` again."""
        return _claims(study, self.file, self.document, raise_problem, reading)

    def about(self, exhibit_id: str) -> tuple[Claim, ...]:
        """The claims about an exhibit."""
        return tuple(c for c in self.claims if exhibit_id in c.exhibits)

    def active(self, off: tuple[str, ...] = ()) -> tuple[Claim, ...]:
        """The paper's claims and the enabled assumptions.

        `off`: ids of assumptions to disable (``"all"``: every one), or, with a leading ``+``, to
            enable.
        """
        on = {name[1:] for name in off if name.startswith("+")}
        ids = {c.id for c in self.claims if c.default_on and c.id not in off and "all" not in off}
        return tuple(c for c in self.claims if not c.assumed or c.id in on | ids)


def load_claims(
    study: Study, report: Report = raise_problem, *, reading: WordReading = "default"
) -> Claims:
    """Load `claims.yaml` of a study, and `readings.yaml` if a claim uses a word.

    Raises `StudyError` with file and line: schema violation, unknown quantity, factor, level,
    exhibit or claim id, duplicate id, limits that exclude the printed value, a word that is unknown
    or not allowed for the kind of claim.
    """
    file, document = load_model(study.folder / "claims.yaml", ClaimsFile, report)
    return _claims(study, file, document, report, reading)


def _claims(
    study: Study, file: ClaimsFile, document: Document, report: Report, reading: WordReading
) -> Claims:
    entries: list[tuple[tuple[str, int], Claim]] = []
    try:
        entries += [
            (w, parse_claim(fields)) for w, fields in table_claims(study, file.tables, document)
        ]
    except StudyError as err:
        report(err)
    entries += [(("claims", i), claim) for i, claim in enumerate(file.claims)]
    entries += [(("assumptions", i), claim) for i, claim in enumerate(file.assumptions)]
    loaded = resolve_claims(study, entries, document, report, reading)
    left_out = {ledger: entry.reason for entry in file.not_encoded for ledger in entry.ledger}
    return Claims(loaded, reading, left_out, file, document)


def readings_of(study: Study, claims: Iterable[Claim], reading: WordReading) -> Readings:
    """The words of data/readings.yaml, if the claims can use any; raises `StudyError`."""
    worded, by_hand = False, False
    for claim in claims:
        worded, by_hand = worded or bool(claim.word), by_hand or claim.limits_by_hand
    file = study.folder.parent.parent / "readings.yaml"
    if worded or (by_hand and file.is_file()):
        return load_repository_readings(study.folder, reading)
    return Readings(reading, {})


def resolve_claims(
    study: Study,
    entries: Sequence[tuple[tuple[str, int], Claim]],
    document: Document,
    report: Report,
    reading: WordReading,
) -> tuple[Claim, ...]:
    """Fill in limits, instances and document positions of claims; report invalid ones."""
    readings = readings_of(study, (claim for _, claim in entries), reading)
    exhibits = {exhibit.id for exhibit in study.exhibits}
    expected = "the id of an exhibit in study.yaml"
    if study.kind == "paper":
        exhibits, expected = exhibits | {"text"}, f"{expected}, or text"
    ids = [claim.id for _, claim in entries]
    loaded: list[Claim] = []
    for where, claim in entries:
        if ids.count(claim.id) > 1:
            report(document.error(f"duplicate id {claim.id!r}", *where, "id"))
        for exhibit in claim.exhibits:
            if exhibit not in exhibits:
                report(
                    document.error(
                        f"unknown exhibit {exhibit!r}", *where, "about", expected=expected
                    )
                )
        for other in claim.conflicts:
            if other not in ids:
                report(document.error(f"conflicts: unknown claim {other!r}", *where, "conflicts"))
        try:
            if study.kind == "paper":
                claim.words_are_read(readings)
            claim = claim.read(readings)
            claim.consistent()
            instances = claim.expand(study)
        except ValueError as err:
            report(document.error(f"claim {claim.id!r}: {err}", *where))
            continue
        filled = {
            "instances": instances,
            "line": document.line(*where),
            "assumed": where[0] == "assumptions",
        }
        loaded.append(claim.model_copy(update=filled))
    keys = Counter(key for claim in loaded for key in claim.sentences)
    for where, claim in entries:
        if (
            where[0] != "tables"
            and claim.sentences
            and all(keys[key] == 1 and not TABLE_ROW.search(key) for key in claim.sentences)
        ):
            problem = f"no other claim has the sentence {' or '.join(map(repr, claim.sentences))}"
            expected = "the key of another claim, or of a table's row: 'table-6 row 1'"
            report(document.error(problem, *where, "sentence", expected=expected))
    return tuple(loaded)
