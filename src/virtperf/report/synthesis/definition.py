"""Schema of `data/synthesis.yaml`: questions, and the numbers of studies that answer them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rawperf.core.errors import Report, raise_problem
from rawperf.core.model import Level, Model, NonNegative, Positive, load_model
from virtperf.study.parts import Id

SYNTHESIS_FILE = "synthesis.yaml"
PLACE = re.compile(r"\{([a-z0-9-]+)(?:/([a-z0-9-]+))?\}")
"""A place in a sentence for the numbers of a row, or for those of one study."""
RATIO = "ratio"
"""Unit of a row with comparisons of two conditions: changes in per cent are converted to ratios."""


class Reference(Model):
    """Reference to a number of a study: a derived number, or one printed in a claim.

    `system`: a key of the study's `systems`, optional if there is only one.
    `label`: the comparison, as short as a label of a figure.
    `to`: other levels of the entry's `for_each`, whose number is the divisor; the quotient of two
        ranges contains every possible value and may be wider than necessary.
    `times`: a factor of the number, such as 0.5 for the throughput of each of twice the guests.
    """

    study: str
    system: str = ""
    label: str = Field(min_length=1)
    derived: str = ""  # the id of an entry of `derived` in the study's study.yaml
    claim: str = ""  # the id of a claim, instead of `derived`
    at: dict[str, Level] = {}  # levels of the entry's `for_each`
    to: dict[str, Level] = {}
    times: Positive = 1.0
    gives: str = ""  # one of the entry's numbers
    reading: str = ""  # interpretation of the question's words, if not obvious

    @model_validator(mode="after")
    def _one(self) -> Reference:
        if bool(self.derived) == bool(self.claim):
            raise ValueError("a number needs exactly one of `derived` and `claim`")
        if self.claim and (self.to or self.times != 1):
            raise ValueError("`to` and `times` need a `derived` number")
        return self


class QuantityRow(Model):
    """One quantity with values from several studies."""

    id: Id
    says: str = Field(min_length=1)  # the quantity in words
    unit: str = RATIO  # or the common unit of its numbers; "" for claims in words
    shared: bool = True  # whether all numbers are of one quantity, so that they are comparable
    cells: Annotated[tuple[Reference, ...], Field(min_length=1)]  # a study without a cell is silent

    @property
    def head(self) -> str:
        """The quantity in words, with the unit of its numbers if any."""
        return self.says if self.unit in ("", RATIO, "share") else f"{self.says}, {self.unit}"


class SynthesisQuestion(Model):
    """A question and the quantities that answer it.

    `words`: lower-case substrings of relevant labels of factors, quantities and derived numbers. A
        study with a match needs a cell, or a reason in `unused`.
    `unused`: by study, the reason why its numbers do not answer the question.
    """

    id: Id
    label: str
    asks: str
    words: tuple[str, ...] = ()
    unused: dict[str, Annotated[str, Field(min_length=10)]] = {}
    rows: Annotated[tuple[QuantityRow, ...], Field(min_length=1)]

    @property
    def studies(self) -> set[str]:
        """Studies with a cell."""
        return {cell.study for row in self.rows for cell in row.cells}


class Sentence(Model):
    """A sentence of the summary; ``{row}`` is a placeholder for the numbers of a row,
    ``{row/study}`` for those of one study. `about` is its lead-in.
    """

    about: str = Field(min_length=3)
    says: str
    rests_on: Annotated[tuple[str, ...], Field(min_length=1)]


Measure = Literal["throughput", "CPU cost", "CPU load", "response time"]


class Axis(Model):
    """Mapping from levels of a factor to an overcommitment ratio."""

    one: Positive | None = None  # the ratio is (level + `plus`) / `one`
    plus: NonNegative = 0.0
    over: Positive | None = None  # the ratio is `over` / level
    reference: Positive  # the level of the reference condition, with value 1

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.one is None) == (self.over is None):
            raise ValueError(
                "the ratio is either the level divided by `one`, or `over` divided by the level"
            )
        return self

    def ratio(self, level: float) -> float:
        """The overcommitment ratio at a level of the factor."""
        return (
            (level + self.plus) / self.one if self.one is not None else (self.over or 0.0) / level
        )


class Curve(Axis):
    """A derived number with one factor in `for_each`, as a function of an overcommitment ratio.

    `label`: workload or condition. `against`: the reference condition in words.
    `divided`: the derived number has a unit, and is divided by its value at `reference`.
    `per_guest`: the levels count guests that share the throughput, which gives the throughput per
        guest.
    """

    study: str
    system: str = ""
    label: str = Field(min_length=1)
    derived: Id
    at: dict[str, Level] = {}
    of: Literal["cpu", "memory"]  # the overcommitted resource
    measure: Measure  # the dependent variable, as a ratio
    against: str = Field(min_length=1)
    divided: bool = False
    per_guest: bool = False


class FactorAxis(Axis):
    """The factor of one axis of a grid."""

    factor: str


class JointGrid(Model):
    """A derived number with two factors in `for_each`: real CPUs and real memory."""

    study: str
    system: str = ""
    label: str = Field(min_length=1)
    derived: Id
    at: dict[str, Level] = {}
    measure: Measure
    against: str = Field(min_length=1)
    cpu: FactorAxis
    memory: FactorAxis


class DrawnRow(Model):
    """One line of a question's picture: the comparison in words, and the row with the values."""

    says: str = Field(min_length=10)
    row: str


class SynthesisFile(Model):
    """All of `data/synthesis.yaml`."""

    title: str
    sentences: tuple[Sentence, ...] = Field(min_length=1)
    answers: tuple[DrawnRow, ...] = ()
    questions: tuple[SynthesisQuestion, ...] = Field(min_length=1)
    curves: tuple[Curve, ...] = ()
    grids: tuple[JointGrid, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> SynthesisFile:
        ids = [row.id for question in self.questions for row in question.rows]
        if twice := [i for i in ids if ids.count(i) > 1]:
            raise ValueError(f"two rows are named {twice[0]!r}")
        for name in (name for sentence in self.sentences for name in sentence.rests_on):
            if name not in ids:
                raise ValueError(f"sentences: there is no row {name!r}")
        rows = self.rows
        for answer in self.answers:
            if answer.row not in rows:
                raise ValueError(f"answers: there is no row {answer.row!r}")
            if rows[answer.row].unit != RATIO:
                raise ValueError(f"answers: the numbers of row {answer.row!r} are not ratios")
        return self

    @property
    def rows(self) -> dict[str, QuantityRow]:
        """All rows by id."""
        return {row.id: row for question in self.questions for row in question.rows}


def load_file(path: Path, report: Report = raise_problem) -> SynthesisFile:
    """Read `synthesis.yaml`; raises `StudyError` with file, line and place as `load_model` does."""
    return load_model(path, SynthesisFile, report)[0]
