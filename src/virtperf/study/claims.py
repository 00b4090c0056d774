"""A paper's claims as structured relations between quantities, loaded from `claims.yaml`."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from rawperf.core.errors import Report, StudyError, raise_problem
from rawperf.core.model import Flag, Level, Levels, Model, NonNegative, Number, Texts, load_model
from rawperf.core.yamlio import Document
from virtperf.core.params import WordReading
from virtperf.study.definition import Study
from virtperf.study.printed import TableClaims, table_claims
from virtperf.study.quantities import Instance, expand_instances
from virtperf.study.readings import NUMBERED, WITHIN, Readings, load_repository_readings

TABLE_ROW = re.compile(r"\brow\b")
"""Pattern of a sentence key that denotes a table row, whose cells are claims of their own."""

MIN_LEVELS_OF_A_SHAPE = 3
"""Minimum number of levels of a linear or concave claim: two points have one slope."""

ClaimKind = Literal[
    "value",
    "ratio",
    "difference",
    "percent_change",
    "range",
    "ordering",
    "argmax",
    "argmin",
    "monotone",
    "linear",
    "concave",
    "equivalence",
    "sum",
    "relative_mean",
    "rule",
]

_LIMITS = ("value", "half_width", "low", "high")
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "value": ("of",),
    "range": ("of",),
    "ratio": ("of", "to"),
    "difference": ("of", "to"),
    "percent_change": ("of", "to"),
    "equivalence": ("of", "to", "margin"),
    "ordering": ("order",),
    "argmax": ("of", "over", "levels", "at"),
    "argmin": ("of", "over", "levels", "at"),
    "monotone": ("of", "over", "levels", "direction"),
    "linear": ("of", "over", "levels"),
    "concave": ("of", "over", "levels"),
    "sum": ("of", "parts"),
    "relative_mean": ("of", "parts", "relative_to"),
    "rule": (
        "of",
        "over",
        "levels",
        "intercept",
        "slope",
        "intercept_half_width",
        "slope_half_width",
    ),
}
_MAY_HAVE: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(NUMBERED, (*_LIMITS, "word")),
    "equivalence": ("word",),
    "ordering": ("strict", "word"),
    "argmax": ("strict", "word"),
    "argmin": ("strict", "word"),
    "monotone": ("word",),
    "linear": ("margin", "word"),
    "sum": _LIMITS,
    "rule": ("word",),
}
_RELATION = frozenset(
    name for kinds in (_NEEDS, _MAY_HAVE) for names in kinds.values() for name in names
)
"""Fields that state a relation: a claim has only those that its kind needs or may have."""


def relation_fields(kind: str) -> frozenset[str]:
    """Fields that state the relation of a claim of this kind."""
    return frozenset((*_NEEDS.get(kind, ()), *_MAY_HAVE.get(kind, ())))


class Claim(Model):
    """A claim of the paper, or an assumption of ours; docs/add-a-study.md documents `claims.yaml`.

    `low`, `high`: limits of the relation's number (level, ratio, difference or percent), implied by
        the printed precision.
    `strict`: whether an ordering must exceed the quantity's resolution.
    `intercept`, `slope` and their half widths: the coefficients of a rule, "12 s plus 63 s a GB",
        and their printed precision.
    `margin`: relative margin of an equivalence or of linearity: one of the two is at most 1 +
        margin times the other.
    `sentences`: keys of the sentences that state the claim, if they state other claims too; a row
        of a table has one key.
    `taken_from`: the secondary source, if the paper itself was not available: a public quotation or
        report, or memory.
    `reading`: how vague words were turned into numbers, that of `word` first.
    `own_limits`: why the claim has limits of its own although data/readings.yaml has limits for a
        word of its wording.
    `instances`, `assumed`, `line`, `bounds` (of a rule, at each level): filled when the claim is
        loaded for a study.
    """

    id: str = Field(pattern=r"^[a-z0-9][a-z0-9-]*$")
    kind: ClaimKind
    says: str = Field(min_length=5)
    exhibits: Texts = Field((), alias="about")
    sections: Texts = Field((), alias="section")
    ledger: Texts = ()
    of: str = ""
    to: str = ""
    order: tuple[str, ...] = Field((), min_length=2)
    parts: tuple[str, ...] = Field((), min_length=1)
    relative_to: dict[str, Level] = {}
    over: str = ""
    levels: Levels = Field((), min_length=2)
    at: Level | None = None
    for_each: dict[str, Levels] = {}
    value: Number | None = None
    half_width: NonNegative | None = None
    low: Number = -float("inf")
    high: Number = float("inf")
    strict: Flag = True
    direction: Literal["", "increasing", "decreasing", "nonincreasing", "nondecreasing"] = ""
    margin: NonNegative = 0.0
    intercept: Number = 0.0
    slope: Number = 0.0
    intercept_half_width: NonNegative = 0.0
    slope_half_width: NonNegative = 0.0
    sentences: Texts = Field((), alias="sentence")
    default_on: Flag = Field(True, alias="enabled")
    conflicts: tuple[str, ...] = ()
    word: str = ""
    reading: str = ""
    own_limits: str = Field("", min_length=10)
    note: str = ""
    taken_from: Literal["", "quotation", "report", "memory"] = ""
    why: str = ""
    bounds: tuple[tuple[float, float], ...] = Field((), alias="<bounds>")
    assumed: bool = Field(False, alias="<assumed>")
    instances: tuple[Instance, ...] = Field((), alias="<instances>")
    line: int = Field(1, alias="<line>")

    @model_validator(mode="before")
    @classmethod
    def _limits(cls, entry: object) -> object:
        """Derive the limits of a printed value from its half width.

        Limits given in the entry, or a word, take precedence.
        """
        if not isinstance(entry, dict) or "word" in entry:
            return entry
        value, half = entry.get("value"), entry.get("half_width")
        if "value" not in relation_fields(str(entry.get("kind"))):
            return entry
        if not isinstance(value, int | float) or not isinstance(half, int | float):
            return entry
        if not math.isfinite(value) or not math.isfinite(half):  # reported at the field
            return entry
        return {"low": value - half, "high": value + half, **entry}

    @model_validator(mode="after")
    def _complete(self) -> Claim:
        given = {n for n in self.model_fields_set if getattr(self, n) not in ("", None)}
        limited = given | ({"margin"} if self.word else set())
        if missing := [name for name in _NEEDS[self.kind] if name not in limited]:
            raise ValueError(f"{self.kind} needs {', '.join(missing)}")
        if unused := (given & _RELATION) - relation_fields(self.kind):
            raise ValueError(f"{self.kind} does not use {', '.join(sorted(unused))}")
        if self.word and (twice := {"low", "high", "margin"} & self.model_fields_set):
            raise ValueError(f"word sets the limits: omit {', '.join(sorted(twice))}")
        self._check_levels()
        return self

    def _check_levels(self) -> None:
        if self.kind not in ("rule", "linear", "concave"):
            return
        if not all(isinstance(level, int | float) for level in self.levels):
            raise ValueError(f"{self.kind} needs numeric levels")
        if self.kind != "rule" and len(self.levels) < MIN_LEVELS_OF_A_SHAPE:
            raise ValueError(f"{self.kind} needs at least {MIN_LEVELS_OF_A_SHAPE} levels")

    def read(self, readings: Readings) -> Claim:
        """The claim with the limits of its word; raises `ValueError` as `Readings.read` does."""
        if self.kind == "rule":
            return self._read_rule(readings)
        if not self.word:
            return self
        reading_limits = readings.read(self.word, self.kind, self.value, self.half_width or 0.0)
        limits = (
            {"margin": reading_limits.high - 1}
            if self.kind in WITHIN
            else {"low": reading_limits.low, "high": reading_limits.high}
        )
        return self.model_copy(
            update={
                **limits,
                "reading": "; ".join(filter(None, (reading_limits.text, self.reading))),
            }
        )

    def _read_rule(self, readings: Readings) -> Claim:
        """The claim with the bounds of its rule at each level.

        Bounds follow from the printed precision of the coefficients, or from the rule's word.
        """
        bounds, words = [], [self.reading] if self.reading else []
        for x in map(float, self.levels):
            value = self.intercept + self.slope * x
            room = self.intercept_half_width + self.slope_half_width * abs(x)
            read = readings.read(self.word, "value", value, room) if self.word else None
            bounds.append((read.low, read.high) if read else (value - room, value + room))
        if self.word:
            low, high = readings.limits(self.word)
            words.insert(
                0, f"{self.word}: {low:.4g} to {high:.4g} times the number, at every level"
            )
        return self.model_copy(update={"bounds": tuple(bounds), "reading": "; ".join(words)})

    @property
    def limits_by_hand(self) -> bool:
        """Whether its limits follow neither from a word nor from the printed digits."""
        if self.word or not {"low", "high", "margin"} & self.model_fields_set:
            return False
        if self.value is None or self.half_width is None:
            return True
        return (self.low, self.high) != (
            self.value - self.half_width,
            self.value + self.half_width,
        )

    def words_are_read(self, readings: Readings) -> None:
        """Check that a word with a common reading has no other limits here; raises `ValueError`."""
        words = readings.words_in(self.says, self.reading) if self.limits_by_hand else []
        if words and not self.own_limits:
            raise ValueError(
                f"limits by hand, but data/readings.yaml has limits for {words[0]!r}: set word, or "
                "own_limits with the reason for other limits"
            )
        if self.own_limits and not words:
            raise ValueError(
                "own_limits: no limits by hand for a word of data/readings.yaml; omit it"
            )

    def consistent(self) -> None:
        """Check that the claim's numbers are consistent; raises `ValueError`."""
        if self.kind in NUMBERED and self.low == -float("inf") and self.high == float("inf"):
            raise ValueError(
                "no limits: set value and half_width (the printed precision), or low, or high"
            )
        outside = (
            self.value is not None
            and self.half_width is not None
            and not self.low <= self.value <= self.high
        )
        if self.low > self.high:
            raise ValueError(f"low {self.low:g} is above high {self.high:g}")
        if outside:
            raise ValueError(
                f"the limits {self.low:g} to {self.high:g} exclude the printed value {self.value}"
            )
        if self.kind in ("argmax", "argmin") and self.at not in self.levels:
            raise ValueError(f"at: {self.at} is not one of the levels")

    @property
    def n_places(self) -> int:
        """Number of places in the paper that state the claim: sentences if named, else sections.

        The rows of a table count as one place.
        """
        keys = {key.split(" row ")[0] for key in self.sentences} or set(self.sections)
        return max(1, len(keys))


class _PaperClaim(Claim):
    exhibits: Texts = Field(alias="about")
    sections: Texts = Field(alias="section")
    ledger: Texts


class _Assumption(Claim):
    why: str


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
            (w, Claim.model_validate(fields))
            for w, fields in table_claims(study, file.tables, document)
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
            instances = expand_instances(study, claim, _NEEDS[claim.kind])
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
