"""What `raw.yaml` may say: how simulated runs look. docs/run-folders.md explains it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from rawperf.core.model import Level, Model, Number
from rawperf.core.yamlio import Document
from virtperf.study.parts import listed

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

    Of a format that has no writer, `text` says how those of one entity and time are printed, with
    the fields' names in braces, and `between` what stands between two of them.
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
    """A raw file; `order` of its records is by time, as tools print that sample, or report by
    report.
    """

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
    """Entities of one name, `count` of them; every other name is an attribute that expressions may
    use.
    """

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


Place = tuple[str | int, ...]
PARTS = ("run", "labels", "times", "entities", "signals")
NUMBERS = ("start_s", "interval_s", "at_s", "clock_offset_s")
"""What an entry of `files` in run.yaml may have that is a number, so an expression here."""


@dataclass(frozen=True)
class Declared:
    """Something that `raw.yaml` declares, and where it stands there."""

    body: Any
    place: Place


@dataclass(frozen=True)
class Raw:
    """A study's `raw.yaml`; expressions may name its constants (conventions and parameters) and all
    quantities.
    """

    document: Document
    constants: Mapping[str, float]
    quantities: frozenset[str]

    @property
    def borrow(self) -> Mapping[str, Mapping[str, Level]]:
        """By quantity, the condition whose value is used where the text gives none."""
        return self.document.data.get("borrow", {})

    def declared(self, levels: Mapping[str, Level]) -> dict[str, dict[str, Declared]]:
        """Everything that the blocks for a run at those levels declare: by part and name; of two,
        the later.
        """
        found: dict[str, dict[str, Declared]] = {part: {} for part in (*PARTS, "files")}
        for position, block in enumerate(self.document.data["blocks"]):
            if applies(block, levels):
                for part in PARTS:
                    for name, body in block.get(part, {}).items():
                        found[part][name] = Declared(body, ("blocks", position, part, name))
                for i, body in enumerate(block.get("files", ())):
                    found["files"][f"{position} {i}"] = Declared(
                        body, ("blocks", position, "files", i)
                    )
        return found


def applies(part: Mapping[str, Any], levels: Mapping[str, Level]) -> bool:
    """Whether a block, or records of a file, are meant for a run: each factor of `at` has the
    level, or one of them.
    """
    return all(levels[factor] in listed(wanted) for factor, wanted in part.get("at", {}).items())
