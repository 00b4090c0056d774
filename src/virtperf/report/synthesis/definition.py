"""`data/synthesis.yaml`: questions, and which number of which study answers them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, model_validator

from rawperf.core.errors import Report, stop
from rawperf.core.model import Level, Model, NotNegative, Positive, load_model
from virtperf.study.parts import Id

FILE = "synthesis.yaml"
RATIO = "ratio"
"""The unit of a row whose numbers compare two conditions: changes in per cent are turned into
ratios.
"""


class Reference(Model):
    """A number of a study: one that it derives, or one that a claim of it prints."""

    study: str
    label: str = Field(min_length=1)  # the system or condition, as short as a label of a figure
    derived: str = ""  # the id of an entry of `derived` in the study's study.yaml
    claim: str = ""  # the id of a claim, in its place
    at: dict[str, Level] = {}  # levels of the entry's `for_each`
    gives: str = ""  # one of the entry's numbers
    reading: str = ""  # what corresponds to the question's words, where that is not plain

    @model_validator(mode="after")
    def _one(self) -> Reference:
        if bool(self.derived) == bool(self.claim):
            raise ValueError("a number is either `derived` or that of a `claim`")
        return self


class Row(Model):
    """One quantity that several studies speak of."""

    id: Id
    says: str = Field(min_length=1)  # the quantity in words
    unit: str = RATIO  # or the unit that all its numbers have
    shared: bool = (
        True  # whether the numbers are of the same quantity, so that they can agree or disagree
    )
    cells: Annotated[tuple[Reference, ...], Field(min_length=1)]  # a study that has none is silent


class Question(Model):
    """A question and the quantities that answer it."""

    id: Id
    label: str
    asks: str
    rows: Annotated[tuple[Row, ...], Field(min_length=1)]


class Sentence(Model):
    """A sentence of the summary; ``{row}`` stands for the numbers of a row, ``{row/study}`` for
    those of one study.
    """

    says: str
    rests_on: Annotated[tuple[str, ...], Field(min_length=1)]


class Curve(Model):
    """A derived number with one factor in `for_each`, taken along an overcommitment ratio."""

    study: str
    label: str = Field(min_length=1)
    derived: Id
    at: dict[str, Level] = {}
    of: Literal["cpu", "memory"]  # the resource of which more is promised than real
    measure: Literal["throughput", "CPU cost", "response time"]  # what changes, as a ratio
    against: str = Field(min_length=1)  # the condition that its values are relative to, in words
    one: Positive | None = None  # the ratio is the level, and `plus` more, divided by this number
    plus: NotNegative = 0.0
    over: Positive | None = None  # the ratio is this number divided by the level

    @model_validator(mode="after")
    def _one(self) -> Curve:
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


class SynthesisFile(Model):
    """All of `data/synthesis.yaml`."""

    title: str
    sentences: tuple[Sentence, ...] = Field(min_length=1)
    questions: tuple[Question, ...] = Field(min_length=1)
    curves: tuple[Curve, ...] = ()

    @model_validator(mode="after")
    def _known(self) -> SynthesisFile:
        ids = [row.id for question in self.questions for row in question.rows]
        if twice := [i for i in ids if ids.count(i) > 1]:
            raise ValueError(f"two rows are called {twice[0]!r}")
        for name in (name for sentence in self.sentences for name in sentence.rests_on):
            if name not in ids:
                raise ValueError(f"sentences: there is no row {name!r}")
        return self

    @property
    def rows(self) -> dict[str, Row]:
        """All rows by id."""
        return {row.id: row for question in self.questions for row in question.rows}


def load_file(path: Path, report: Report = stop) -> SynthesisFile:
    """Read `synthesis.yaml`; raises `StudyError` with file, line and place as `load_model` does."""
    return load_model(path, SynthesisFile, report)[0]
