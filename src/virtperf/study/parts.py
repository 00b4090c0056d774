"""Schema of the parts of `study.yaml`: factors, quantities, exhibits, and the set-up."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import inf
from typing import Annotated, Any, Literal

from pydantic import Field, PrivateAttr, field_validator, model_validator

from rawperf.core.buckets import BUCKET
from rawperf.core.model import (
    Count,
    Flag,
    Level,
    Levels,
    Model,
    NonNegative,
    Number,
    Positive,
    Texts,
)

Id = Annotated[str, Field(pattern=r"^[a-z0-9-]+$")]
Text = Annotated[str, Field(min_length=1)]
At = dict[str, Level]


EVERY = "every"
"""Level that stands for all other levels of the factor in `judged_over`, such as sessions or machines."""


class Factor(Model):
    """A factor. `default` is None if every quantity must give the level explicitly."""

    name: str = Field(alias="<name>")
    label: str = Field(default_factory=lambda data: data["name"])
    levels: Levels
    default: Level | None = None
    unit: str = ""
    level_labels: dict[Level, str] = Field(default={}, alias="labels")

    def show(self, level: Level) -> str:
        """Display text of a level."""
        return self.level_labels.get(level, str(level))

    def place(self, level: Level) -> str:
        """A level with the factor's name: ``session 2``, ``first (Intel) session``."""
        if level == EVERY:
            return f"over every {self.label}"
        if level in self.level_labels:
            return f"{self.level_labels[level]} {self.label}"
        return f"{self.label} {level}"

    def noun(self, level: Level) -> str:
        """Label after a number: ``guests``, ``1 guest``; ``JVMs per guest``, ``1 JVM per guest``.

        Levels with their own labels keep the part before "per" or "at a time".
        """
        link = next((words for words in (" per ", " at a time") if words in self.label), " per ")
        many, per, what = (
            self.label.partition(link) if level not in self.level_labels else (self.label, "", "")
        )
        plural = many.endswith("s") and not many.lower().endswith("ss")
        end = 2 if many.lower().endswith(("sses", "shes", "tches", "xes")) else 1
        return f"{many[:-end]}{per}{what}" if level == 1 and plural else self.label


class _Metric(Model):
    metric: str
    entity_kind: str
    entity: str | None = None


class _Limit(Model):
    value: Number
    unit: str


class _Observed(Model):
    sources: tuple[_Metric, ...] = Field(alias="from", min_length=1)
    combine: Literal["sum", "mean"]
    statistic: Literal["mean", "median", "max", "sum", "quantile", "interquartile", "above"] = (
        "mean"
    )
    share: Annotated[float, Field(gt=0, lt=1)] | None = Field(
        None, description="for quantile: the share of samples below it"
    )
    limit: _Limit | None = Field(None, description="for above: samples above it are counted")
    less: str | None = Field(
        None, description="a factor whose level, in its unit, is subtracted from the number"
    )
    interpolate: Flag = Field(
        False,
        description="for a quantile of buckets: interpolate within the bucket, instead of its upper bound",
    )
    cpus: Count | None = Field(None, description="the sum is a share of this number of processors")
    per: _Metric | None = Field(None, description="divide by this metric, summed over its entities")
    relative: Flag = False
    at: dict[str, Level | Levels] = Field({}, description="only for runs at these levels")

    @model_validator(mode="after")
    def _check(self) -> _Observed:
        self._check_buckets()
        for statistic, needed in (("quantile", "share"), ("above", "limit")):
            if (self.statistic == statistic) != (getattr(self, needed) is not None):
                raise ValueError(
                    f"{needed} is required with statistic: {statistic}, and only there"
                )
        return self

    def _check_buckets(self) -> None:
        buckets = [source.entity_kind == BUCKET for source in self.sources]
        if self.interpolate and not (all(buckets) and self.statistic in ("median", "quantile")):
            raise ValueError("interpolate is only for a median or a quantile of buckets")
        if not any(buckets):
            return
        if not all(buckets):
            raise ValueError("from mixes buckets and other entities: use separate quantities")
        if self.statistic not in ("median", "quantile", "above"):
            raise ValueError(
                f"statistic {self.statistic} is not available for buckets: use median, quantile or above"
            )
        other = next((n for n in ("per", "relative", "cpus") if getattr(self, n)), None)
        if other is not None:
            raise ValueError(f"{other} is not available for buckets: they have no standard error")


class _Reference(Model):
    at: At
    value: Number


class QuantityKind(Model):
    """A quantity's name, unit, natural bounds (None for no bound) and how runs observe it.

    `resolution`: the smallest difference that the paper's wording distinguishes, in the quantity's
        unit.
    `response`: a result of the workload, such as a throughput or a response time; its steadiness
        within the window is tested.
    `share_of`: what is 100 %, for a share that may exceed it: ``% of ...`` on axes.
    """

    name: str = Field(alias="<name>")
    label: Text
    unit: str
    share_of: str = ""
    note: str = ""
    response: Flag = False
    bounds: tuple[Number | None, Number | None] = (0.0, None)
    resolution: NonNegative = 0.0
    reference_points: tuple[_Reference, ...] = Field((), alias="references")
    observed_by: _Observed | None = Field(None, alias="observed")

    @field_validator("bounds")
    @classmethod
    def _ascending(cls, bounds: tuple[Number | None, Number | None]) -> Any:
        low, high = bounds
        if low is not None and high is not None and low >= high:
            raise ValueError(f"the lower bound {low:g} is not below the upper bound {high:g}")
        return bounds

    @property
    def low(self) -> float:
        return -float("inf") if self.bounds[0] is None else self.bounds[0]

    @property
    def high(self) -> float:
        return float("inf") if self.bounds[1] is None else self.bounds[1]

    @property
    def references(self) -> tuple[tuple[At, float], ...]:
        """Reference points set to a value by convention, if the paper gives no absolute scale."""
        return tuple((reference.at, reference.value) for reference in self.reference_points)

    @property
    def observed(self) -> Mapping[str, Any]:
        """The `observed` rule of study.yaml: from, combine, statistic, per, relative, at."""
        return (
            self.observed_by.model_dump(mode="json", by_alias=True, exclude_unset=True)
            if self.observed_by
            else {}
        )

    def observable(self, levels: Mapping[str, Any]) -> bool:
        """Whether runs at these levels, one of every factor, observe the quantity."""
        required = self.observed_by.at if self.observed_by else {}
        return self.observed_by is not None and all(
            levels[f] in as_list(w) for f, w in required.items()
        )


def as_list(levels: Any) -> list[Any]:
    """Wrap a single level in a list."""
    return list(levels) if isinstance(levels, list | tuple) else [levels]


class Series(Model):
    """A line or bar group of a figure: `quantity` at `at`, over the levels of one factor.

    `colour`: label of another series of the study with the same colour, that of the same system.
    """

    label: Text
    colour: str = ""
    quantity: str = ""
    at: At = {}
    over: str = ""
    levels: Levels


PLACEHOLDER = re.compile(r"\{([a-z0-9-]+)(?:\.([a-z_]+))?\}")
"""A number in a finding, by the id of a claim or of a derived number, perhaps with the name of one of
its numbers (``{load-rule.slope}``); or one of `numbers`.
"""


class MeasuredNumber(Model):
    """A number from measured runs in a finding: `of`, or its ratio to `to`.

    `show`: the value itself, a percentage of `to`, or the unsigned change against it in percent.
        `low`, `high`: limits that the sentence implies, in the displayed unit and with the sign of
        a change; the confidence interval must lie within them.
    `mean`: whether it is that of the mean over runs; false: its smallest and largest over the blocks,
        for runs in two groups, or the number of a single run.
    """

    of: str = Field(min_length=1)
    to: str = ""
    show: Literal["value", "percent", "change"] = "value"
    mean: Flag = True
    low: float = -inf
    high: float = inf

    @model_validator(mode="after")
    def _complete(self) -> MeasuredNumber:
        if self.show != "value" and not self.to:
            raise ValueError(f"show: {self.show} needs to, the reference")
        if self.low == -inf and self.high == inf:
            raise ValueError("no limits: set low, high or both, as the sentence implies")
        return self


class Finding(Model):
    """A finding of a study, in one sentence.

    ``{name}`` is replaced by one of `numbers`, ``{claim-id}`` by the number that the claim prints, with
    its unit, ``{claim-id.low}``, ``.high``, ``.intercept`` or ``.slope`` by another number of it,
    ``{derived-id}`` or ``{derived-id.slope}`` by the range of a derived number. `claims`: the claims,
    or hypotheses, that support it. `figure`: the exhibit that shows it, whose title it is then, unless
    that has its own (`Exhibit.shows`); that of the first finding is the picture at the head of the
    report. `written_for`: their state when the sentence was written, recorded by `virtperf
    keep-findings`.
    """

    says: Annotated[str, Field(min_length=20)]
    claims: Texts = Field((), alias="rests_on")
    numbers: dict[Id, MeasuredNumber] = {}
    figure: Id | None = None
    written_for: dict[Id, str] = {}

    @model_validator(mode="after")
    def _complete(self) -> Finding:
        if not self.claims and not self.numbers:
            raise ValueError("no evidence: set rests_on, or numbers of measured runs")
        placeholders = [match[1] for match in PLACEHOLDER.finditer(self.says)]
        if unused := [name for name in self.numbers if name not in placeholders]:
            raise ValueError(f"the sentence does not use the number {unused[0]!r}")
        return self

    @property
    def quoted(self) -> tuple[tuple[str, str], ...]:
        """Ids of the claims and derived numbers that the sentence quotes, each with the name of the
        number, or "".
        """
        found = (match for match in PLACEHOLDER.finditer(self.says))
        return tuple((m[1], m[2] or "") for m in found if m[1] not in self.numbers)


class Erratum(Model):
    """A mistake or ambiguity of the paper; `claims` are the ones it affects.

    Plain text in the YAML if it affects no claim.
    """

    short_forms = ("string",)
    says: Annotated[str, Field(min_length=10)]
    claims: Texts = ()

    @model_validator(mode="before")
    @classmethod
    def _text_alone(cls, value: Any) -> Any:
        return {"says": value} if isinstance(value, str) else value

    @field_validator("says")
    @classmethod
    def _one_line(cls, value: str) -> str:
        return " ".join(value.split())


class SingleCondition(Model):
    """Levels of an exhibit's single run."""

    at: At


class Exhibit(Model, extra="allow"):
    """A table or figure of the paper: fields common to all kinds.

    `spec` is the whole entry; the kind's own model validates it. `series` plot a quantity over
    levels; tables and diagrams have none, a time-series figure has one for each of its `marks`.
    `shows`: the claims, or hypotheses, whose sentences are its title; one that other claims
    contradict says so, one with which the study's own runs disagree is an error of the report.
    """

    id: Id
    title: Text
    kind: str
    section: str = ""
    shows: Texts = ()
    series: tuple[Series, ...] = ()
    run: SingleCondition | None = None
    marks: tuple[str, ...] = ()
    _spec: dict[str, Any] = PrivateAttr({})

    @model_validator(mode="wrap")
    @classmethod
    def _open(cls, entry: Any, handler: Any) -> Any:
        """Fill in `quantity` and `over` of the series from the exhibit.

        Series of metrics belong to the kind's own model.
        """
        if not isinstance(entry, dict):
            return handler(entry)
        common = {name: entry[name] for name in ("quantity", "over") if name in entry}
        written = entry.get("series", ())
        plots = not any(isinstance(s, dict) and "metric" in s for s in written)
        series = [{**common, **s} if isinstance(s, dict) else s for s in written] if plots else []
        exhibit = handler({**entry, "series": series})
        for each in exhibit.series:
            if missing := [name for name in ("quantity", "over") if not getattr(each, name)]:
                raise ValueError(f"series {each.label!r} has no {' and no '.join(missing)}")
            if each.over in each.at:
                raise ValueError(
                    f"series {each.label!r}: at gives {each.over}, the factor of the axis"
                )
        exhibit._spec = entry
        return exhibit

    @property
    def spec(self) -> Mapping[str, Any]:
        """The raw entry of study.yaml."""
        return self._spec


class Guest(Model, extra="allow"):
    """A virtual machine; None if the paper does not say."""

    name: str
    label: str
    vcpus: Count | None
    memory_mb: Positive | None
    networks: tuple[str, ...] = ()


class Machine(Model, extra="allow"):
    """A host of the guests."""

    label: str
    machine: str
    cpus: Count | None = None


class Procedure(Model, extra="allow"):
    """Timing of a run, in seconds from its start."""

    run_s: Positive | None = None
    warmup_s: NonNegative | None = None
    window_s: tuple[NonNegative, NonNegative] | None = None
    sample_interval_s: Positive | None = None
    think_time_s: NonNegative | None = None
    steps: tuple[str, ...] = ()


class Artifact(Model):
    """Data published by the paper's authors: who measured, publication date and place, licence.

    `remarks`: discrepancies between the files and the paper's set-up, and other notes for readers.
    """

    by: Annotated[str, Field(min_length=3)]
    when: Annotated[str, Field(min_length=4)]
    origin: Annotated[str, Field(min_length=3)]
    licence: Annotated[str, Field(min_length=2)]
    remarks: tuple[Annotated[str, Field(min_length=10)], ...] = ()

    @property
    def words(self) -> str:
        """Provenance as text: ``measured by the authors, February 2020``."""
        return f"measured by {self.by}, {self.when}"

    @property
    def link(self) -> str:
        """`origin` if it is an address, else ""."""
        return self.origin if self.origin.startswith(("https://", "http://")) else ""


class Network(Model, extra="allow"):
    label: str


class Segment(Model):
    """A saved segment: its stated size, and its contiguous page ranges."""

    name: str
    gb: Positive
    pages: tuple[Annotated[str, Field(pattern=r"^[0-9A-F]{1,13}-[0-9A-F]{1,13}$")], ...] = Field(
        min_length=1
    )
    types: tuple[Literal["EW", "EN", "ER", "SW", "SN", "SR", "SC"], ...] = ()
    use: str = ""
    where: str
