"""What `raw.yaml` may say: how simulated runs look. docs/run-folders.md explains it."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from virtperf.core.model import Level, Model, Number

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
Written = Annotated[str, Field(min_length=1)]
Expression = Level
"""A number, or an expression as text."""
At = dict[str, Level | Annotated[tuple[Level, ...], Field(min_length=1)]]


class Convention(Model):
    """A number that the paper does not give."""

    value: Number
    unit: str
    why: str = Field(min_length=10)


class Records(Model):
    """Records of a file: which entities and fields, when.

    Of a format that has no writer, `text` says how those of one entity and time are printed, with the fields' names in
    braces, and `between` what stands between two of them.
    """

    at: At = {}
    report: str = ""
    kind: Written | None = None
    text: Written | None = None
    between: str = ""
    entities: Name | None = None
    entity: str | None = None
    times: Name | None = None
    when: Expression = 1
    fields: dict[str, Expression] = {}

    @model_validator(mode="after")
    def _printed_or_not(self) -> Records:
        if (self.kind is None) == (self.text is None):
            raise ValueError("records have a kind, or the text that is printed")
        if self.text is None and not self.fields:
            raise ValueError("fields is missing")
        return self


class Entry(Model):
    """What run.yaml says about a file."""

    entity: str | None = None
    entity_kind: Written | None = None
    start_s: Expression | None = None
    interval_s: Expression | None = None
    at_s: Expression | None = None
    clock_offset_s: Expression | None = None


class File(Model):
    """A raw file; `order` of its records is by time, as tools print that sample, or report by report."""

    path: Written
    each: Name | None = None
    format: str
    clock: Literal["absolute", "time-of-day", "elapsed", "sample", "none"]
    order: Literal["time", "report"] = "time"
    entry: Entry = Entry()
    info: dict[str, Level] = {}
    records: tuple[Records, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _all_alike(self) -> File:
        if len({part.text is None for part in self.records}) > 1:
            raise ValueError("either all records of a file have a text or none has")
        return self


class RunPart(Model):
    """What run.yaml says about the run."""

    start: datetime | str | None = None
    duration_s: Expression | None = None
    warmup_s: Expression | None = None
    window_s: tuple[Expression, Expression] | None = None
    clients: Expression | None = None
    think_time_s: Expression | None = None
    processors: Expression | None = None


class Times(Model):
    """Times of samples, in seconds from the run's start."""

    begin: Expression = Field(alias="from")
    end: Expression = Field(alias="to")
    step: Expression


class Signal(Model):
    """An expression at some times, of some entities."""

    times: Name | None = None
    of: Name | None = None
    value: Expression = Field(alias="is")


class Entities(Model, extra="allow"):
    """Entities of one name, `count` of them; every other name is an attribute that expressions may use."""

    name: Written
    count: Expression = 1
    begin: Expression = Field(1, alias="from")
    __pydantic_extra__: dict[Name, Level]


class Block(Model):
    """What runs at some levels have; of two blocks the later wins."""

    at: At = {}
    run: RunPart = RunPart()
    labels: dict[Name, Level] = {}
    times: dict[Name, Times] = {}
    entities: dict[Name, Annotated[tuple[Entities, ...], Field(min_length=1)]] = {}
    signals: dict[Name, Signal | Expression] = {}
    files: tuple[File, ...] = Field((), min_length=1)


class RawFile(Model):
    """All of `raw.yaml`."""

    borrow: dict[str, dict[str, Any]] = {}
    conventions: dict[Name, Convention] = {}
    blocks: tuple[Block, ...] = Field(min_length=1)
