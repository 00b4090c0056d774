"""What a declaration says: how a file is recognised and read, where its time is, which field is which metric."""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, model_validator

from virtperf.core.declaration_parts import Condition, Entity, FieldRule, GroupPatterns, Match, Patterns, Printed, Time
from virtperf.core.metrics import Metric
from virtperf.core.model import Flag, Keyed, Listed, Model, Positive, Texts
from virtperf.core.near import near
from virtperf.core.patterns import groups_of

Reads = Literal["csv", "json", "json-lines", "yaml", "xml", "pairs", "lines"]

# What some ways of reading take and others do not.
_OPTIONS = {
    "delimiter": ("csv",), "columns": ("csv",), "comment": ("csv", "pairs", "lines"), "separator": ("pairs",),
    "rows": ("json", "json-lines", "yaml", "xml"), "lines": ("lines",), "strict": ("lines",), "ignore": ("lines",),
    "documents": ("json",), "others": ("csv", "json", "json-lines", "lines", "pairs"),
    "names": ("csv", "json", "json-lines", "lines"),
}  # fmt: skip


class Part(Model):
    """One table of a file: which rows, of whom, which numbers. docs/formats/declared.md explains the fields."""

    report: str = ""
    time: Time | None = None
    rows: Texts = ()
    lines: GroupPatterns = ()
    where: Condition = {}
    unless: Condition = {}
    entity: Entity = Entity()
    names: str | None = None
    value: str | None = None
    fields: tuple[FieldRule, ...] = ()
    every_s: Positive | None = None
    printed: Printed = None
    others: Flag = False

    @model_validator(mode="after")
    def _fits(self) -> Part:
        if (self.names is None) != (self.value is None):
            raise ValueError("names and value are given together: the columns of a number's name, and of the number")
        same = [rule.record for rule in self.fields]
        twice = next((name for place, name in enumerate(same) if name in same[:place]), None)
        if twice is not None:
            raise ValueError(f"two fields are called {twice!r}: give one a name")
        if self.every_s is None and any(rule.each != "mean" for rule in self.fields):
            raise ValueError("each is for rows that are summed up: every_s is missing")
        if self.every_s is not None and (self.others or self.names):
            raise ValueError("rows that are summed up (every_s) have declared fields only")
        if self.names is not None and any(rule.per for rule in self.fields):
            raise ValueError("per is for a row with both fields; a row of a name and a number (names) has one")
        return self


class Declaration(Part):
    """One declared format; `tables` stand in the place of one table that the declaration itself is."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=60)]
    title: str = ""
    match: Match | None = None
    reads: Reads
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    comment: Annotated[str, Field(min_length=1)] | None = None
    columns: Texts = ()
    separator: Literal[":", "=", "blank"] = ":"
    documents: Literal["one", "last"] = "one"
    strict: Flag = False
    ignore: Patterns = ()
    missing: Annotated[tuple[str, ...], Listed] = ()
    decimal: Literal[".", ","] = "."
    thousands: Literal["", ",", ".", "'", " "] = ""
    metrics: Annotated[dict[str, Metric], Keyed] = {}
    tables: tuple[Part, ...] = ()

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Its tables, each with its time."""
        return tuple(part.model_copy(update={"time": part.time or self.time}) for part in self.tables) or (self,)

    @model_validator(mode="after")
    def _consistent(self) -> Declaration:
        inline = sorted(self.model_fields_set & Part.model_fields.keys() - {"time"})
        if self.tables and inline:
            raise ValueError(f"{inline[0]} stands beside tables: write it in one of them")
        for given in [self, *self.tables]:
            for option in given.model_fields_set & _OPTIONS.keys():
                if self.reads not in _OPTIONS[option]:
                    raise ValueError(f"{option} is for {' and '.join(_OPTIONS[option])}, not for {self.reads}")
        for part in self.parts:
            self._check(part)
        if self.decimal == self.thousands:
            raise ValueError("decimal and thousands are the same character")
        known = self.columns
        if self.reads == "lines":
            known = tuple(name for part in self.parts for pattern in part.lines for name in groups_of(pattern))
        for name in self.words if known else ():
            if name not in known:
                what = "group" if self.reads == "lines" else "column"
                raise ValueError(f"there is no {what} {name!r}; {near(name, known)}")
        return self

    @cached_property
    def words(self) -> tuple[str, ...]:
        """Every field that it names, those in the place of names of numbers excepted."""
        found: list[str | None] = []
        for part in self.parts:
            found += (part.time.field, part.time.plus) if part.time else ()
            found += (*part.entity.name, *part.where, *part.unless, part.names, part.value)
            for rule in part.fields:
                found += (*rule.where, rule.needs, rule.per, rule.field if part.names is None else None)
        return tuple(dict.fromkeys(filter(None, found)))

    def _check(self, part: Part) -> None:
        if not part.fields and not part.others and not part.names:
            raise ValueError("nothing would be read: fields is missing")
        if part.others and self.reads in ("json", "json-lines") and part.names is None:
            raise ValueError("others of JSON are told by their names: names and value are missing")
        if self.reads in ("xml", "lines") and not (part.rows if self.reads == "xml" else part.lines):
            raise ValueError(f"{'rows' if self.reads == 'xml' else 'lines'} is missing")
        if part.every_s is not None and (part.time is None or part.time.field is None):
            raise ValueError("every_s needs a time of each row: time: {field: ...}")
        if part.time is not None and part.time.line is not None and self.reads not in ("pairs", "lines"):
            raise ValueError("time from a line is for pairs and lines")
        if self.reads == "xml" and len({path.split("/")[0] for each in self.parts for path in each.rows}) > 1:
            raise ValueError("the paths of rows begin with different elements: a document has one root")
