"""Schema of `data/synthesis.yaml`: questions, and the numbers of studies that answer them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from rawperf.core.errors import Report, raise_problem
from rawperf.core.model import Flag, Level, Model, Positive, load_model
from virtperf.report.palette import SERIES_COLOURS
from virtperf.study.parts import Id

SYNTHESIS_FILE = "synthesis.yaml"
PLACE = re.compile(r"\{([a-z0-9-]+)(?:/([a-z0-9-]+))?\}")
"""A place in a sentence for the numbers of a row, or for those of one study."""
RATIO = "ratio"
"""Unit of a row with comparisons of two conditions: changes in per cent are converted to ratios."""


class Source(Model):
    """Where a number of a study comes from.

    `system`: a key of the study's `systems`, optional if there is only one.
    `label`: the condition or comparison, as short as a label of a figure.
    `derived`: the id of an entry of `derived` in study.yaml; `at`: levels of its `for_each`.
    `to`: other levels, at which its number is the divisor; the quotient of two ranges contains
        every possible value and may be wider than necessary.
    """

    study: str
    system: str = ""
    label: str = Field(min_length=1)
    derived: str = ""
    at: dict[str, Level] = {}
    to: dict[str, Level] = {}
    gives: str = ""  # one of the entry's numbers


class Cell(Source):
    """A number of a study in a row: a derived number, one printed in a `claim`, or the mean of a
    measured `quantity`, at levels as in study.yaml: ``boot_median[system=qemu]``.

    `half_width`: half a unit of the last printed digit, if a claim prints a range: its words are the
        printed limits, without the rounding that `low` and `high` of the claim add.
    `times`: a factor of the number, such as 0.5 for the throughput of each of twice the guests.
    `reading`: interpretation of the question's words, if not obvious.
    """

    claim: str = ""
    quantity: str = ""
    half_width: Positive | None = None
    times: Positive = 1.0
    reading: str = ""

    @model_validator(mode="after")
    def _one(self) -> Self:
        if sum(map(bool, (self.derived, self.claim, self.quantity))) != 1:
            raise ValueError("a number needs exactly one of `derived`, `claim` and `quantity`")
        if not self.derived and (self.to or self.times != 1):
            raise ValueError("`to` and `times` need a `derived` number")
        if self.half_width and not self.claim:
            raise ValueError("`half_width` needs a `claim`")
        return self


class QuantityRow(Model):
    """One quantity with values from several studies; a study without a cell is silent.

    `unit`: the common unit of its numbers; "" for claims in words. `shared`: whether all numbers
        are of one quantity, so that they are comparable. `drawn`: the quantity or comparison in
        words, for a row in the question's picture.
    """

    id: Id
    says: str = Field(min_length=1)
    unit: str = RATIO
    shared: Flag = True
    drawn: str = ""
    cells: Annotated[tuple[Cell, ...], Field(min_length=1)]


class SynthesisQuestion(Model):
    """A question and the quantities that answer it.

    `words`: lower-case substrings of relevant labels of factors, quantities and derived numbers. A
        study with a match needs a cell, or a reason in `unused`.
    `percent`: whether its ratios are written in per cent.
    `axis`: title of the axis of its picture, quantity and unit; "" for the unit alone. `one`: what
        the ratio 1 means.
    `unused`: by study, the reason why its numbers do not answer the question.
    """

    id: Id
    label: str
    asks: str
    words: tuple[str, ...] = ()
    percent: Flag = False
    axis: str = ""
    one: str = "no change"
    unused: dict[str, Annotated[str, Field(min_length=10)]] = {}
    rows: Annotated[tuple[QuantityRow, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _draws_one_unit(self) -> Self:
        units = dict.fromkeys(row.unit for row in self.rows if row.drawn)
        if len(units) > 1 or "" in units:
            named = ", ".join(map(repr, units))
            raise ValueError(f"`drawn`: a picture has numbers of one unit, not of {named}")
        return self

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


class Axis(Model):
    """Mapping from levels of a factor to an overcommitment ratio: level / `one`, or `over` / level.

    `reference`: the level of the reference condition, with value 1. `factor`: its name, if the
        curve has two axes.
    """

    factor: str = ""
    one: Positive | None = None
    over: Positive | None = None
    reference: Positive

    @model_validator(mode="after")
    def _one(self) -> Self:
        if (self.one is None) == (self.over is None):
            raise ValueError(
                "the ratio is either the level divided by `one`, or `over` divided by the level"
            )
        return self

    def ratio(self, level: float) -> float:
        """The overcommitment ratio at a level of the factor."""
        return level / self.one if self.one is not None else (self.over or 0.0) / level


class Curve(Source):
    """A derived number as a function of an overcommitment ratio of CPUs or memory, or of both: one
    factor of its `for_each` for each.

    `against`: the reference condition in words. `measure`: the dependent variable, as a ratio.
    `per_guest`: the levels count guests that share the throughput, which gives the throughput per
        guest.
    """

    cpu: Axis | None = None
    memory: Axis | None = None
    measure: Literal["throughput", "CPU cost", "CPU load", "response time"]
    against: str = Field(min_length=1)
    per_guest: Flag = False

    @model_validator(mode="after")
    def _has_axis(self) -> Self:
        if not self.axes or not self.derived:
            raise ValueError("a curve needs `derived`, and `cpu`, `memory` or both")
        return self

    @property
    def axes(self) -> dict[str, Axis]:
        """Axes by resource, "cpu" or "memory"."""
        axes = {"cpu": self.cpu, "memory": self.memory}
        return {of: axis for of, axis in axes.items() if axis is not None}


class SynthesisFile(Model):
    """All of `data/synthesis.yaml`.

    `colours`: positions in the palette by the beginning of the name of a system or a condition.
    """

    sentences: tuple[Sentence, ...] = Field(min_length=1)
    questions: tuple[SynthesisQuestion, ...] = Field(min_length=1)
    curves: tuple[Curve, ...] = ()
    colours: dict[str, Annotated[int, Field(ge=0, lt=len(SERIES_COLOURS))]] = {}

    @model_validator(mode="after")
    def _known(self) -> Self:
        ids = [row.id for question in self.questions for row in question.rows]
        if twice := [i for i in ids if ids.count(i) > 1]:
            raise ValueError(f"two rows are named {twice[0]!r}")
        for name in (name for sentence in self.sentences for name in sentence.rests_on):
            if name not in ids:
                raise ValueError(f"sentences: there is no row {name!r}")
        return self

    @property
    def rows(self) -> dict[str, QuantityRow]:
        """All rows by id."""
        return {row.id: row for question in self.questions for row in question.rows}


def load_file(path: Path, report: Report = raise_problem) -> SynthesisFile:
    """Read `synthesis.yaml`; raises `StudyError` with file, line and place as `load_model` does."""
    return load_model(path, SynthesisFile, report)[0]
