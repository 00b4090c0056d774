"""Schema of a declared format: recognition, parsing, time, and mapping of fields to metrics."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Annotated, Literal
from zoneinfo import ZoneInfo

from pydantic import AfterValidator, Field, Strict, model_validator

from rawperf.core.buckets import BUCKET
from rawperf.core.errors import RawperfError, did_you_mean
from rawperf.core.metrics import Metric, MetricKind
from rawperf.core.model import (
    Flag,
    InsertKeyAsName,
    Model,
    Number,
    Positive,
    Texts,
    WrapSingleString,
)
from rawperf.core.patterns import check_pattern, group_names
from rawperf.core.units import conversion_factor

OTHER_COLUMNS = "..."
"""Last entry of `columns`: rows may have further cells, which are not read."""
DURATION = "duration"
"""Value of `printed` for durations: ``[[days-]hours:]minutes:seconds``."""


def _check_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as err:
        raise ValueError(
            f"{name!r} is not a time zone; write a name such as UTC or Europe/Berlin"
        ) from err
    return name


def _check_time_format(text: str) -> str:
    if text in ("iso", "number"):
        return text
    try:
        example = datetime(2001, 2, 3, 14, 5, 6, tzinfo=UTC)
        datetime.strptime(example.strftime(text), text)
    except ValueError as err:
        raise ValueError(
            f"{text!r} is not a time format ({err}); write iso, number or %Y-%m-%d %H:%M:%S"
        ) from err
    return text


_DATES = ("%Y", "%y", "%D", "%x", "%c", "%F", "%s", "%G", "%j", "iso", "number")


def _has_date(time_format: str) -> bool:
    return any(part in time_format for part in _DATES)


def _check_groups(pattern: str) -> str:
    group_names(pattern)
    return pattern


def _require_group(option: str, pattern: str | None, group: str) -> None:
    """Raise `ValueError` for a pattern that has other groups than the one that is read."""
    if pattern is not None and group_names(pattern) != (group,):
        raise ValueError(f"{option} needs a regular expression with one group, (?P<{group}>...)")


Pattern = Annotated[str, AfterValidator(check_pattern)]
Groups = Annotated[str, AfterValidator(_check_groups)]
"""A pattern with named groups."""
Patterns = Annotated[tuple[Pattern, ...], WrapSingleString]
GroupPatterns = Annotated[tuple[Groups, ...], WrapSingleString]


class Match(Model):
    """Recognition of a file: path in the run folder or name, text in the first 8 KiB, or both."""

    file: Texts = ()
    text: Patterns = ()

    @model_validator(mode="after")
    def _check_not_empty(self) -> Match:
        if not self.file and not self.text:
            raise ValueError(
                "match is empty: set file: a glob such as driver*.csv, or text: a regular expression"
            )
        return self


class Verified(Model):
    """What shows that a declaration reads the tool's own output correctly.

    `output`: files that the tool wrote, below ``tests/rawperf/samples``, and the `version` of the
    tool. `source`: repository, file, function and commit of the tool's public source that the
    declaration was compared with. `none`: why there is neither; each file that it reads then gets
    a warning.
    """

    output: Texts = ()
    version: str = ""
    source: str = ""
    none: str = ""

    @model_validator(mode="after")
    def _check_evidence(self) -> Verified:
        if bool(self.output) != bool(self.version):
            raise ValueError("output and version need each other: recorded files, and their tool")
        if bool(self.none) == bool(self.output or self.source):
            raise ValueError("set output with version, source, or both; else none: the reason")
        return self

    def describe(self) -> str:
        """Describe the evidence in a few words, as in docs/formats/declared.md."""
        if self.none:
            return "not verified on real output"
        source = f"source of {self.source.split()[0]}" if self.source else ""
        return "; ".join(filter(None, (self.version, source)))


class Time(Model):
    """Source of a file's times: one of `field`, `line` or `interval_s`, or run.yaml (`numbered`).

    With `field` and `line`, rows whose field is empty have the time of the line above, if any.

    `then` is a field with the second part of the text, appended to `field` after a blank; `plus` is
    a field that is added. Of several `format`, the first time of a file decides. `date` is a line
    with the date of the first row, for times of day. Numbers since 1970 and times with a UTC offset
    are converted to `zone`; ``auto`` takes the unit of each number since 1970 from its size.
    """

    field: str | None = None
    line: Groups | None = None
    unit: Literal["s", "ms", "us", "ns", "auto"] = "s"
    since: Literal["epoch", "start"] = "epoch"
    format: Annotated[
        tuple[Annotated[str, AfterValidator(_check_time_format)], ...], WrapSingleString
    ] = ()
    date: Groups | None = None
    date_format: Annotated[str, AfterValidator(_check_time_format)] = "%Y-%m-%d"
    zone: Annotated[str, AfterValidator(_check_zone)] = "UTC"
    plus: str | None = None
    then: str | None = None
    interval_s: Positive | None = None
    start_s: Number = 0.0
    numbered: Flag = False
    optional: Flag = False

    @model_validator(mode="after")
    def _check_options(self) -> Time:
        has_texts = self.field is not None or self.line is not None
        if has_texts + (self.interval_s is not None) + self.numbered != 1:
            raise ValueError(
                "time needs exactly one of field, line, interval_s and numbered; or field and line"
            )
        if self.field and self.line and (self.plus or self.then or not self.optional):
            raise ValueError("field and line together need optional: true, without plus and then")
        _require_group("line", self.line, "time")
        if self.plus is not None and self.field is None:
            raise ValueError("plus is added to the time in a field: field is missing")
        if self.unit == "auto" and self.plus is not None:
            raise ValueError("plus needs a unit that is known: unit is auto")
        if self.then is not None and (self.field is None or not self.format):
            raise ValueError("then needs a time that is text: set field and format")
        if len(self.format) > 1 and not all(map(_has_date, self.format)):
            raise ValueError("each of several formats needs a date, or is number")
        if self.date is not None and (len(self.format) != 1 or _has_date(self.format[0])):
            raise ValueError("date is for times of day: set one format, without a date")
        _require_group("date", self.date, "date")
        if not _has_date(self.date_format) or self.date_format == "number":
            raise ValueError(f"date_format needs a date, such as %Y-%m-%d: {self.date_format}")
        return self

    @property
    def is_time_of_day(self) -> bool:
        """Whether the texts are times of day."""
        return bool(self.format) and not _has_date(self.format[0])

    @property
    def per_second(self) -> float:
        """Units per second: a divisor, since dividing rounds only once, and correctly; the largest
        one of ``auto``.
        """
        return {"s": 1.0, "ms": 1e3, "us": 1e6, "ns": 1e9, "auto": 1e9}[self.unit]


class Entity(Model):
    """Entity that a row describes.

    Its name comes from a line above the row and from fields (joined by blanks), else from the
    file's name. `optional`: rows may lack all of these.
    """

    kind: Annotated[str, Field(min_length=1)] = "host"
    name: Texts = ()
    line: Groups | None = None
    file: Groups | None = None
    optional: Flag = False

    @model_validator(mode="after")
    def _check_options(self) -> Entity:
        _require_group("file", self.file, "name")
        _require_group("line", self.line, "name")
        return self


class Histogram(Model):
    """Rows that are histogram buckets: columns of their bounds, and the unit.

    Without `lower`, a bucket begins where the previous one ends, the first at 0. `above` is an
    expression for a line above the rows; `units` translates its text. `cumulative`: counts include
    all values up to the upper bound. `middle_bits`: `upper` is the middle of a bucket, with
    ``2**middle_bits`` buckets in each power of two. `whole`: bounds are integers that both belong
    to the bucket, which therefore extends to the next integer. `gaps`: a histogram with `lower`
    may leave out buckets, such as empty ones.
    """

    upper: Annotated[str, Field(min_length=1)]
    lower: Annotated[str, Field(min_length=1)] | None = None
    unit: str = ""
    above: Groups | None = None
    units: dict[str, str] = {}
    printed: dict[str, Number] = {}
    cumulative: Flag = False
    whole: Flag = False
    gaps: Flag = False
    middle_bits: Annotated[int, Strict(), Field(ge=1, le=30)] | None = None

    @model_validator(mode="after")
    def _check_options(self) -> Histogram:
        if bool(self.unit) == (self.above is not None):
            raise ValueError(
                "the unit of the bounds needs exactly one source: unit, or above with units"
            )
        _require_group("above", self.above, "unit")
        if self.above is not None and not self.units:
            raise ValueError("above needs units, which maps its texts to units")
        for unit in (*self.units.values(), *filter(None, (self.unit,))):
            try:
                conversion_factor(unit, unit)
            except RawperfError as err:
                raise ValueError(str(err)) from err
        if (self.whole or self.gaps) and self.lower is None:
            option = "whole" if self.whole else "gaps"
            raise ValueError(f"{option} needs both bounds of a bucket: lower is missing")
        if self.middle_bits is not None and (self.lower is not None or self.cumulative):
            raise ValueError(
                "middle_bits is for buckets given by their midpoint: leave out lower and cumulative"
            )
        return self


def is_number(text: str) -> bool:
    """Whether a key of `sum_of` is the sum itself, such as 100, not the name of a field."""
    return re.fullmatch(r"\d+(?:\.\d+)?", text) is not None


Printed = dict[str, str | Number] | Literal["duration"] | None
Condition = dict[str, Texts]
"""Patterns by field, with ``*`` and ``?``; one of them must match the field's text."""


class FieldRule(Model):
    """One numeric field of each row; docs/formats/declared.md explains the attributes."""

    field: Annotated[str, Field(min_length=1)]
    name: str = ""
    metric: str | None = None
    unit: str | None = None
    kind: MetricKind | None = None
    factor: Number = 1.0
    printed: Printed = None
    within: Groups | None = None
    suffix: str | None = None
    where: Condition = {}
    unless: Condition = {}
    needs: Texts = ()
    per: str | None = None
    plus: Texts = ()
    minus: Texts = ()
    complement: Flag = False
    absent: Number | None = None
    optional: Flag = False

    @model_validator(mode="after")
    def _check_rule(self) -> FieldRule:
        if self.metric is not None and self.unit is None:
            raise ValueError(
                f"the unit of {self.field} is missing: its metric {self.metric} needs one"
            )
        if self.complement and self.unit != "1":
            raise ValueError('complement subtracts a share from 1: its unit is "1"')
        _require_group("within", self.within, "value")
        if self.suffix is not None and not isinstance(self.printed, dict):
            raise ValueError(
                f"suffix of {self.field} needs printed: what the texts in {self.suffix} mean"
            )
        if self.unit is None:
            _check_common_unit(self.printed, self.field)
        self.printed_factors()
        return self

    def matches(self, name: str) -> bool:
        """Whether the rule, whose field has ``*`` for any text, is for the number of a name."""
        return "*" in self.field and fnmatchcase(name, self.field.replace("[", "[[]"))

    def printed_factors(self) -> dict[str, float]:
        """Factors to `unit` by the suffix printed after a number; raises `ValueError`."""
        try:
            return {
                text: conversion_factor(unit_or_factor, self.unit or unit_or_factor)
                if isinstance(unit_or_factor, str)
                else unit_or_factor
                for text, unit_or_factor in (
                    self.printed.items() if isinstance(self.printed, dict) else ()
                )
            }
        except RawperfError as err:
            raise ValueError(str(err)) from err

    @property
    def record(self) -> str:
        """Field name in the records."""
        return self.name or self.field


def _check_common_unit(printed: Printed, field: str) -> None:
    """Raise `ValueError` if suffixes of numbers stand for several units and none is declared."""
    suffix_units = printed.values() if isinstance(printed, dict) else ()
    units = sorted({unit for unit in suffix_units if isinstance(unit, str)})
    if len(units) > 1:
        raise ValueError(
            f"the unit of {field} is missing: printed has {', '.join(units)}, and numbers are converted "
            "to the declared unit"
        )


def _check_same_lines(part: TableDeclaration) -> None:
    """Raise `ValueError` for a field that depends on a group of other lines: a row is one line."""
    forms = [group_names(pattern) for pattern in part.lines]
    for rule in part.fields:
        beside = [*rule.needs, *rule.plus, *rule.minus, *rule.where, rule.per, rule.suffix]
        own = [form for form in forms if rule.field in form]
        for name in filter(None, beside):
            if own and not any(name in form for form in own):
                raise ValueError(
                    f"{rule.field!r} refers to {name!r}, which is a group of another line: "
                    "a row is one line, so that both have to be in one expression"
                )


Reads = Literal["csv", "json", "json-lines", "yaml", "xml", "pairs", "lines"]

# Options that only some readers accept.
_OPTIONS = {
    "delimiter": ("csv",),
    "columns": ("csv",),
    "comment": ("csv", "pairs", "lines"),
    "heading": ("csv", "lines"),
    "first": ("csv",),
    "leave_out_rows": ("csv", "json-lines", "lines"),
    "melt": ("csv",),
    "repeat": ("csv",),
    "separator": ("pairs",),
    "rows": ("json", "json-lines", "yaml", "xml"),
    "entries": ("json", "json-lines", "yaml"),
    "lines": ("lines",),
    "strict": ("lines",),
    "uniform": ("lines",),
    "ignore": ("csv", "json", "json-lines", "xml", "pairs", "lines"),
    "documents": ("json",),
    "others": ("csv", "json", "json-lines", "lines", "pairs"),
    "names": ("csv", "json", "json-lines", "lines"),
    "unnamed": ("csv", "json", "json-lines", "lines"),
    "settings": ("json", "json-lines", "yaml", "lines"),
}


class Sum(Model):
    """Fields whose sum a file states once more, up to a difference of `within` (rounding)."""

    fields: Annotated[Texts, Field(min_length=2)]
    within: Annotated[Number, Field(ge=0)] = 0.0


class TableDeclaration(Model):
    """One table of a file: rows, entity, numeric fields.

    docs/formats/declared.md explains the attributes.
    """

    report: str = ""
    time: Time | None = None
    rows: Texts = ()
    lines: GroupPatterns = ()
    entries: Annotated[tuple[str, ...], Field(min_length=2, max_length=2)] | None = None
    where: Condition = {}
    unless: Condition = {}
    settings: dict[str, Texts] = {}
    entity: Entity = Entity()
    histogram: Histogram | None = None
    melt: Groups | None = None
    repeat: str | None = None
    names: str | None = None
    value: str | None = None
    unnamed: Annotated[str, Field(min_length=1)] | None = None
    fields: tuple[FieldRule, ...] = ()
    printed: Printed = None
    others: Flag = False
    heading: Pattern | None = None
    uniform: Flag = False
    integer: Texts = ()
    at_most: dict[str, Number | str] = {}
    sum_of: dict[str, Sum] = {}
    one_of: Condition = {}

    @model_validator(mode="after")
    def _check_table(self) -> TableDeclaration:
        if (self.names is None) != (self.value is None):
            raise ValueError(
                "names and value need each other: the columns of the field names and of the numbers"
            )
        if self.unnamed is not None and self.names is None:
            raise ValueError("unnamed is for tables in long format: names is missing")
        if self.melt is not None and self.repeat is not None:
            raise ValueError("melt and repeat both turn columns into rows: set only one")
        if self.melt is not None and "value" in group_names(self.melt):
            raise ValueError(
                "the group name value is reserved for the melted number: rename the group"
            )
        if self.histogram is not None:
            self._check_histogram()
        if any(rule.absent is not None for rule in self.fields) and (
            self.time is not None or self.entity.name or self.entity.line or self.entity.file
        ):
            raise ValueError(
                "absent is for totals of a whole file: leave out time and entity names"
            )
        names = [rule.record for rule in self.fields]
        duplicate = next((name for index, name in enumerate(names) if name in names[:index]), None)
        if duplicate is not None:
            raise ValueError(
                f"two fields are named {duplicate!r}: set another name for one of them"
            )
        for rule in self.fields:
            if rule.unit is None and not rule.printed:
                _check_common_unit(self.printed, rule.field)
        if self.others or self.names is not None:
            _check_common_unit(self.printed, "fields that are not declared")
        several = next((r for r in self.fields if self.names is not None and "*" in r.field), None)
        if several is not None and (several.metric or several.name):
            raise ValueError(
                f"{several.field} stands for several numbers: leave out metric and name"
            )
        for word in ("needs", "per", "plus", "minus"):
            if self.names is not None and any(getattr(rule, word) for rule in self.fields):
                raise ValueError(
                    f"{word} refers to another field in one row, but tables with names have one field per row"
                )
        return self

    @property
    def number_columns(self) -> set[str]:
        """Columns with the numbers of its rows."""
        return {rule.field for rule in self.fields} if self.names is None else {str(self.value)}

    @property
    def checked_columns(self) -> tuple[str, ...]:
        """Columns that only `integer`, `at_most`, `sum_of` and `one_of` refer to."""
        limits = (limit for limit in self.at_most.values() if isinstance(limit, str))
        terms = (name for total in self.sum_of.values() for name in total.fields)
        totals = (name for name in self.sum_of if not is_number(name))
        records = {rule.record for rule in self.fields if rule.record != rule.field}
        names = (*self.integer, *self.one_of, *self.at_most, *limits, *totals, *terms)
        return tuple(name for name in dict.fromkeys(names) if name not in records)

    def _check_histogram(self) -> None:
        if self.entity.kind != BUCKET:
            raise ValueError(f"rows of a histogram are buckets: write entity: {{kind: {BUCKET}}}")
        if self.names is None and (len(self.fields) != 1 or self.others):
            raise ValueError(
                "a histogram needs exactly one field, the count of the bucket, without others"
            )
        other = next((r for r in self.fields if r.unit not in (None, "count") or r.within), None)
        if other is not None:
            raise ValueError(
                f"{other.field} of a histogram is a count: its unit must be count, without within"
            )


class Declaration(TableDeclaration):
    """One declared format; `tables` replaces the one table that it describes otherwise."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", max_length=60)]
    title: str = ""
    match: Match | None = None
    verified: Verified | None = None
    reads: Reads
    delimiter: Annotated[str, Field(min_length=1, max_length=1)] = ","
    comment: Annotated[str, Field(min_length=1)] | None = None
    columns: Texts = ()
    first: Annotated[str, Field(min_length=1)] | None = None
    leave_out_rows: Annotated[int, Strict(), Field(ge=0, le=100)] = 0
    failed: GroupPatterns = ()
    separator: Literal[":", "=", "blank"] = ":"
    documents: Literal["one", "last"] = "one"
    strict: Flag = False
    ignore: Patterns = ()
    missing: Annotated[tuple[str, ...], WrapSingleString] = ()
    decimal: Literal[".", ","] = "."
    thousands: Literal["", ",", ".", "'", " "] = ""
    metrics: Annotated[dict[str, Metric], InsertKeyAsName] = {}
    tables: tuple[TableDeclaration, ...] = ()

    @cached_property
    def parts(self) -> tuple[TableDeclaration, ...]:
        """Tables, each with its time or the declaration's."""
        return tuple(
            part.model_copy(update={"time": part.time or self.time}) for part in self.tables
        ) or (self,)

    @model_validator(mode="after")
    def _check_consistency(self) -> Declaration:
        shared = {"time", "heading"} if self.reads == "csv" else {"time"}
        inline = sorted(self.model_fields_set & TableDeclaration.model_fields.keys() - shared)
        if self.tables and inline:
            raise ValueError(f"{inline[0]} is outside of tables: move it into one of them")
        for table in [self, *self.tables]:
            for option in table.model_fields_set & _OPTIONS.keys():
                self._require_reader(option, *_OPTIONS[option])
        for part in self.parts:
            self._check_part(part)
        if self.columns and self.first:
            raise ValueError("columns names all columns, also the first: leave out first")
        if OTHER_COLUMNS in self.columns[:-1]:
            raise ValueError(f"{OTHER_COLUMNS} stands for the columns at the end: move it there")
        if self.reads == "csv" and any(part.heading for part in self.tables):
            raise ValueError("the tables of a csv file have one heading: set it beside tables")
        if self.leave_out_rows and any(part.melt or part.repeat for part in self.parts):
            raise ValueError("leave_out_rows cannot be combined with melt or repeat")
        for pattern in self.failed:
            _require_group("failed", pattern, "error")
        if self.failed and self.reads == "xml":
            raise ValueError("failed is not valid with reads: xml")
        if self.decimal == self.thousands:
            raise ValueError("decimal and thousands are the same character")
        known_names = () if any(part.melt for part in self.parts) else self.columns
        repeats = {part.repeat for part in self.parts} - {None}
        if len(repeats) > 1:
            raise ValueError("the tables name different columns in repeat: name one")
        if self.reads == "lines":
            known_names = tuple(
                name
                for part in self.parts
                for pattern in part.lines
                for name in group_names(pattern)
            )
        for name in self.input_fields if known_names else ():
            if name not in known_names:
                noun = "group" if self.reads == "lines" else "column"
                raise ValueError(f"there is no {noun} {name!r}; {did_you_mean(name, known_names)}")
        return self

    @cached_property
    def input_fields(self) -> tuple[str, ...]:
        """All input fields that it refers to, without values of the `names` column."""
        return tuple(
            dict.fromkeys(name for part in self.parts for name in self.input_fields_of(part))
        )

    def input_fields_of(self, part: TableDeclaration) -> tuple[str, ...]:
        """All input fields that one of its tables refers to."""
        names: list[str | None] = []
        names += (part.time.field, part.time.plus, part.time.then) if part.time else ()
        names += (*part.entity.name, *part.where, *part.unless, part.names, part.value)
        names += (field for of_setting in part.settings.values() for field in of_setting)
        names += (part.histogram.lower, part.histogram.upper) if part.histogram else ()
        for rule in part.fields:
            field = rule.field if part.names is None else None
            names += (
                *rule.where,
                *rule.unless,
                *rule.needs,
                *rule.plus,
                *rule.minus,
                rule.per,
                rule.suffix,
                field,
            )
        names += part.checked_columns
        return tuple(dict.fromkeys(filter(None, names)))

    def _require_reader(self, option: str, *readers: str) -> None:
        """Raise `ValueError` if no reader of these has an option."""
        if self.reads not in readers:
            raise ValueError(
                f"{option} is only valid with reads: {' or '.join(readers)}, not {self.reads}"
            )

    def _check_part(self, part: TableDeclaration) -> None:
        if not (part.fields or part.others or part.names or part.settings):
            raise ValueError("no field is declared: fields is missing")
        if part.others and self.reads in ("json", "json-lines") and part.names is None:
            raise ValueError(f"others with reads: {self.reads} needs names and value")
        if self.reads in ("xml", "lines") and not (
            part.rows if self.reads == "xml" else part.lines
        ):
            raise ValueError(f"{'rows' if self.reads == 'xml' else 'lines'} is missing")
        if self.reads == "lines" and part.names is None:
            _check_same_lines(part)
        if part.time is not None and part.time.line is not None:
            self._require_reader("time: {line: ...}", "pairs", "lines")
        if part.time is not None and part.time.date is not None:
            self._require_reader("time: {date: ...}", "csv", "pairs", "lines")
        if part.entity.line is not None:
            self._require_reader("entity: {line: ...}", "pairs", "lines")
        if part.histogram is not None and part.histogram.above:
            self._require_reader("histogram: {above: ...}", "lines")
        if part.melt is not None and part.names is None and not part.others:
            melted = group_names(part.melt)
            if "field" not in melted and any(rule.field != "value" for rule in part.fields):
                raise ValueError(
                    "melt has no group (?P<field>...): its only field is value, "
                    "unless names is the column of the field names"
                )
        if (
            self.reads == "xml"
            and len({path.split("/")[0] for table in self.parts for path in table.rows}) > 1
        ):
            raise ValueError(
                "the paths of rows begin with different elements, but a document has one root element"
            )
