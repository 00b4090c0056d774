"""The rules that a declaration is made of: how a file is recognised, where its time is, whose numbers are which."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, model_validator

from virtperf.core.errors import VirtperfError
from virtperf.core.metrics import Kind
from virtperf.core.model import Flag, Listed, Model, Number, Positive, Texts
from virtperf.core.patterns import check_pattern, groups_of
from virtperf.core.units import conversion_factor

DURATION = "duration"
"""In the place of printed units: ``[[days-]hours:]minutes:seconds``."""


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as err:
        raise ValueError(f"{name!r} is no time zone; write UTC or Europe/Berlin") from err
    return name


def _time_format(text: str) -> str:
    if text == "iso":
        return text
    try:
        when = datetime(2001, 2, 3, 14, 5, 6, tzinfo=UTC)
        datetime.strptime(when.strftime(text), text)
    except ValueError as err:
        raise ValueError(f"{text!r} is no format of a time ({err}); write iso or %Y-%m-%d %H:%M:%S") from err
    return text


def _groups(pattern: str) -> str:
    groups_of(pattern)
    return pattern


Pattern = Annotated[str, AfterValidator(check_pattern)]
Groups = Annotated[str, AfterValidator(_groups)]
"""A pattern with named groups."""
Patterns = Annotated[tuple[Pattern, ...], Listed]
GroupPatterns = Annotated[tuple[Groups, ...], Listed]


class Match(Model):
    """How a file is recognised: by its path in the run folder or its name, by what its first 8 KiB hold, or both."""

    file: Texts = ()
    text: Patterns = ()

    @model_validator(mode="after")
    def _something(self) -> Match:
        if not self.file and not self.text:
            raise ValueError("match says nothing: give file: a pattern such as driver*.csv, or text: an expression")
        return self


class Time(Model):
    """Where a file's times are: in one of `field`, `line` or `interval_s`, or in run.yaml (`numbered`).

    Numbers since 1970 and times that carry an offset are put on the clock of `zone`; `plus` is a field that is added.
    """

    field: str | None = None
    line: Groups | None = None
    unit: Literal["s", "ms", "us", "ns"] = "s"
    since: Literal["epoch", "start"] = "epoch"
    format: Annotated[str, AfterValidator(_time_format)] | None = None
    zone: Annotated[str, AfterValidator(_zone)] = "UTC"
    plus: str | None = None
    interval_s: Positive | None = None
    start_s: Number = 0.0
    numbered: Flag = False
    optional: Flag = False

    @model_validator(mode="after")
    def _one(self) -> Time:
        given = [self.field is not None, self.line is not None, self.interval_s is not None, self.numbered]
        if sum(given) != 1:
            raise ValueError("time says one of field, line, interval_s or numbered")
        if self.line is not None and groups_of(self.line) != ("time",):
            raise ValueError("the expression of line has one group, (?P<time>...)")
        if self.plus is not None and (self.field is None or self.format is not None):
            raise ValueError("plus adds to a time that is a number of a field")
        return self

    @property
    def per_second(self) -> float:
        """How many of the unit make a second: dividing by it rounds once, and right."""
        return {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9}[self.unit]


class Entity(Model):
    """Whom a row speaks of: its kind, and its name from fields (joined by blanks), else from the file's name."""

    kind: Annotated[str, Field(min_length=1)] = "host"
    name: Texts = ()
    file: Groups | None = None

    @model_validator(mode="after")
    def _one(self) -> Entity:
        if self.file is not None and groups_of(self.file) != ("name",):
            raise ValueError("file is an expression for the file's name with one group, (?P<name>...)")
        return self


Each = Literal["mean", "max", "sum", "count", "rate"]
Printed = dict[str, str | Number] | Literal["duration"] | None
Condition = dict[str, Texts]
"""By field: patterns, with ``*`` and ``?``, of which one is the field's text."""


class FieldRule(Model):
    """One number of each row; docs/formats/declared.md explains the fields."""

    field: str = ""
    name: str = ""
    metric: str | None = None
    unit: str | None = None
    kind: Kind | None = None
    factor: Number = 1.0
    printed: Printed = None
    where: Condition = {}
    needs: str | None = None
    per: str | None = None
    each: Each = "mean"
    optional: Flag = False

    @model_validator(mode="after")
    def _whole(self) -> FieldRule:
        if not self.field and (self.each not in ("count", "rate") or not self.name):
            raise ValueError("field is missing; only what is counted has none, and then a name")
        if self.metric is not None and self.unit is None:
            raise ValueError(f"the unit of {self.field or self.name} is missing: its metric {self.metric} needs one")
        self.printed_factors()
        return self

    def printed_factors(self) -> dict[str, float]:
        """What a number is multiplied by, by the text behind it, to be in `unit`; raises `ValueError`."""
        try:
            return {
                text: conversion_factor(meant, self.unit or meant) if isinstance(meant, str) else meant
                for text, meant in (self.printed.items() if isinstance(self.printed, dict) else ())
            }
        except VirtperfError as err:
            raise ValueError(str(err)) from err

    @property
    def record(self) -> str:
        """The field of its records."""
        return self.name or self.field
