"""`data/synthesis.yaml`: questions, and which number of which study answers them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rawperf.core.errors import Report, stop
from rawperf.core.model import Level, Model, NotNegative, Positive, load_model
from virtperf.study.parts import Id

SYNTHESIS_FILE = "synthesis.yaml"
RATIO = "ratio"
"""The unit of a row whose numbers compare two conditions: changes in per cent are turned into
ratios.
"""


class Reference(Model):
    """A number of a study: one that it derives, or one that a claim of it prints.

    `system`: a key of the study's `systems`, which may be left out where there is one.
    `label`: what is compared with what, as short as a label of a figure.
    `to`: other levels of the entry's `for_each`. The number is divided by that at these levels; of
        two ranges the quotient holds every possible value and may be wider than necessary.
    `times`: a factor of the number, such as 0.5 for the throughput of each of twice the guests.
    """

    study: str
    system: str = ""
    label: str = Field(min_length=1)
    derived: str = ""  # the id of an entry of `derived` in the study's study.yaml
    claim: str = ""  # the id of a claim, in its place
    at: dict[str, Level] = {}  # levels of the entry's `for_each`
    to: dict[str, Level] = {}
    times: Positive = 1.0
    gives: str = ""  # one of the entry's numbers
    reading: str = ""  # what corresponds to the question's words, where that is not plain

    @model_validator(mode="after")
    def _one(self) -> Reference:
        if bool(self.derived) == bool(self.claim):
            raise ValueError("a number is either `derived` or that of a `claim`")
        if self.claim and (self.to or self.times != 1):
            raise ValueError("`to` and `times` are for a `derived` number")
        return self


class QuantityRow(Model):
    """One quantity that several studies speak of."""

    id: Id
    says: str = Field(min_length=1)  # the quantity in words
    unit: str = RATIO  # or the unit that all its numbers have; "" for claims in words
    shared: bool = (
        True  # whether the numbers are of the same quantity, so that they can agree or disagree
    )
    cells: Annotated[tuple[Reference, ...], Field(min_length=1)]  # a study that has none is silent

    @property
    def head(self) -> str:
        """The quantity in words, with the unit of its numbers where they have one."""
        return self.says if self.unit in ("", RATIO, "share") else f"{self.says}, {self.unit}"


class SynthesisQuestion(Model):
    """A question and the quantities that answer it.

    `words`: parts of labels of factors, quantities and derived numbers that have to do with the
        question, in lower case. A study that uses one of them needs a cell, or a reason in
        `unused`.
    `unused`: by study, why its numbers do not answer the question.
    """

    id: Id
    label: str
    asks: str
    words: tuple[str, ...] = ()
    unused: dict[str, Annotated[str, Field(min_length=10)]] = {}
    rows: Annotated[tuple[QuantityRow, ...], Field(min_length=1)]

    @property
    def studies(self) -> set[str]:
        """The studies that have a cell."""
        return {cell.study for row in self.rows for cell in row.cells}


class Sentence(Model):
    """A sentence of the summary; ``{row}`` stands for the numbers of a row, ``{row/study}`` for
    those of one study. `about` are the words in front of it.
    """

    about: str = Field(min_length=3)
    says: str
    rests_on: Annotated[tuple[str, ...], Field(min_length=1)]


Measure = Literal["throughput", "CPU cost", "CPU load", "response time"]


class Axis(Model):
    """How levels of a factor become an overcommitment ratio."""

    one: Positive | None = None  # the ratio is the level, and `plus` more, divided by this number
    plus: NotNegative = 0.0
    over: Positive | None = None  # the ratio is this number divided by the level
    reference: Positive  # the level of the condition that is 1

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
    """A derived number with one factor in `for_each`, taken along an overcommitment ratio.

    `label`: workload or condition. `against`: the condition that is 1, in words.
    `divided`: the derived number has a unit, and is divided by that at `reference`.
    `per_guest`: the levels count the guests that share the throughput, so that the throughput of
        each guest follows.
    """

    study: str
    system: str = ""
    label: str = Field(min_length=1)
    derived: Id
    at: dict[str, Level] = {}
    of: Literal["cpu", "memory"]  # the resource of which more is promised than real
    measure: Measure  # what changes, as a ratio
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


class FrontPageAnswer(Model):
    """One line of the site's first page: what is compared with what, and the row whose values
    answer.
    """

    says: str = Field(min_length=10)
    row: str


class SynthesisFile(Model):
    """All of `data/synthesis.yaml`."""

    title: str
    sentences: tuple[Sentence, ...] = Field(min_length=1)
    answers: tuple[FrontPageAnswer, ...] = ()
    questions: tuple[SynthesisQuestion, ...] = Field(min_length=1)
    curves: tuple[Curve, ...] = ()
    grids: tuple[JointGrid, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> SynthesisFile:
        ids = [row.id for question in self.questions for row in question.rows]
        if twice := [i for i in ids if ids.count(i) > 1]:
            raise ValueError(f"two rows are called {twice[0]!r}")
        for name in (name for sentence in self.sentences for name in sentence.rests_on):
            if name not in ids:
                raise ValueError(f"sentences: there is no row {name!r}")
        rows = self.rows
        for answer in self.answers:
            if answer.row not in rows:
                raise ValueError(f"answers: there is no row {answer.row!r}")
            if rows[answer.row].unit != RATIO:
                raise ValueError(f"answers: the numbers of row {answer.row!r} are no ratios")
        return self

    @property
    def rows(self) -> dict[str, QuantityRow]:
        """All rows by id."""
        return {row.id: row for question in self.questions for row in question.rows}


def load_file(path: Path, report: Report = stop) -> SynthesisFile:
    """Read `synthesis.yaml`; raises `StudyError` with file, line and place as `load_model` does."""
    return load_model(path, SynthesisFile, report)[0]
