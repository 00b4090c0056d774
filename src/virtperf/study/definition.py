"""Study definition, loaded from `study.yaml`: factors, quantities, exhibits, runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import Field, PrivateAttr, model_validator

from rawperf.core.declaration import Declaration
from rawperf.core.errors import Report, StudyError, did_you_mean, raise_problem
from rawperf.core.model import InsertKeyAsName, Integer, Level, Model, load_model
from rawperf.core.yamlio import Document
from virtperf.core.levels import level_text
from virtperf.core.stage_tables import TABLES_WITH_FACTORS
from virtperf.study import parts
from virtperf.study.derived_kinds import ParsedDerived
from virtperf.study.derived_kinds.base import Derivation
from virtperf.study.parts import (
    EVERY,
    Exhibit,
    Factor,
    Finding,
    QuantityKind,
    Series,
    Text,
    as_list,
)
from virtperf.study.quantities import Expression, Quantity, split_expression, split_quantity

REPLICATE = "replicate"
"""Name of the replicate number in `Study.blocks`."""

__all__ = ["Exhibit", "Factor", "QuantityKind", "Series", "Study", "load_study"]


class Study(Model):
    """Definition of a study; docs/add-a-study.md documents `study.yaml`.

    `kind`: "paper" (reconstructed from a paper's text) or "measured". `question`: the research
        question of a measured study.
    `exhibits`: in the paper's order. `derived`: numbers computed from plotted quantities, with
        their ranges.
    `findings`: the most important first.
    `conventions`: assumptions added to the paper's description for the computation. `errata`:
        mistakes of the paper, each with the claims that it affects.
    `systems`: systems under test with their year, such as "z/VM 5.3 on z9, 2009": labels for
        comparisons between studies.
    `colours`: positions in the palette by the beginning of a series' label, as in synthesis.yaml; all
        other series are grey. If empty, every label has a colour, and labels of different figures may
        share one.
    `names`: display names for facts of machines, guests, networks, workload and procedure with
        abbreviated keys.
    `inputs`: raw formats declared by the study.
    `not_read`: glob patterns of raw files, relative to the run folder, that are kept but not
        parsed, each with the reason; ``*`` matches folders too.
    `blocks`: blocking factors, or ``replicate``: runs with the same levels of these were made
        consecutively, and are compared within their block; if empty, only runs that name their
        block have one.
    `machine_may_differ`: facts about machine, tools and protocol that may differ between compared
        runs, each with the reason; `study.run_groups` lists the names.
    `machine_factor`: a factor whose levels may be different machines, such as measurement sessions:
        machine and tools must be equal within each level only.
    `artifact`: provenance of the runs, if the paper's authors published them.
    `judged_over`: a factor; claims, or hypotheses, are judged again at each of its other levels.
    """

    id: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]*$")] = Field(alias="study")
    kind: Literal["paper", "measured"] = "paper"
    title: Text
    question: str = ""
    bibliography: dict[str, Any] = {}
    n_statements: Annotated[Integer, Field(ge=0)] = 0
    summary: Annotated[str, Field(min_length=20)] = ""
    findings: tuple[Finding, ...] = ()
    caveat: Annotated[str, Field(min_length=20)] | None = None
    conventions: tuple[Annotated[str, Field(min_length=10)], ...] = ()
    factors: Annotated[dict[str, Factor], InsertKeyAsName]
    quantities: Annotated[dict[str, QuantityKind], InsertKeyAsName]
    exhibits: tuple[Exhibit, ...]
    derived: tuple[ParsedDerived, ...] = ()
    inputs: tuple[Declaration, ...] = ()
    not_read: dict[str, Annotated[str, Field(min_length=10)]] = {}
    blocks: tuple[str, ...] = ()
    machine_may_differ: dict[str, Annotated[str, Field(min_length=10)]] = {}
    machine_factor: str = ""
    artifact: parts.Artifact | None = None
    judged_over: str = ""
    systems: dict[str, Annotated[str, Field(min_length=3)]] = {}
    machines: dict[str, parts.Machine] = {}
    guests: dict[str, parts.Guest] = {}
    networks: dict[str, parts.Network] = {}
    names: dict[str, str] = {}
    colours: dict[str, Annotated[Integer, Field(ge=0, lt=6)]] = {}
    software: dict[str, dict[str, Any]] = {}
    workload: dict[str, Any] = {}
    procedure: parts.Procedure = parts.Procedure()
    segments: tuple[parts.Segment, ...] = ()
    errata: tuple[parts.Erratum, ...] = ()
    _document: Document = PrivateAttr()

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed = ("question",) if self.kind == "measured" else ("bibliography", "n_statements")
        if missing := [name for name in needed if name not in self.model_fields_set]:
            raise ValueError(f"a study of kind {self.kind} needs {', '.join(missing)}")
        return self

    @property
    def headline_figure(self) -> str | None:
        """The figure of the first finding: it stands for the study."""
        return self.findings[0].figure if self.findings else None

    def findings_of(self, exhibit_id: str) -> tuple[parts.Finding, ...]:
        """The findings with this `figure`."""
        return tuple(finding for finding in self.findings if finding.figure == exhibit_id)

    @property
    def document(self) -> Document:
        return self._document

    @property
    def folder(self) -> Path:
        """`data/published/<id>`, or `data/measured/<id>` of a measured study."""
        return self._document.path.parent

    @property
    def data(self) -> Mapping[str, Any]:
        """The parsed content of `study.yaml`."""
        return self._document.data

    def quantity(self, text: str) -> Quantity:
        """Parse a quantity: ``throughput[system=zvm, guests=12]``; raises as `quantity_at`."""
        return self.quantity_at(*split_quantity(text))

    def quantity_at(self, name: str, levels: Mapping[str, Level]) -> Quantity:
        """The quantity with this name and these levels, completed by defaults.

        Raises `ValueError` for unknown names or levels, and for a missing level.
        """
        if name not in self.quantities:
            raise ValueError(
                f"unknown quantity {name!r}; known quantities: {', '.join(self.quantities)}"
            )
        for factor, level in levels.items():
            if wrong := self.level_problem(factor, level):
                raise ValueError(f"{wrong['problem']}, expected {wrong['expected']}")
        at = tuple(self.filled(levels).items())
        missing = [name for name, level in at if level is None]
        if missing:
            raise ValueError(f"{name}: no level for {', '.join(missing)}, and no default")
        return Quantity(name, at)  # type: ignore[arg-type]

    def level_problem(self, factor: str, level: Level) -> dict[str, str]:
        """Validate a level: keywords `problem` and `expected` of an error, empty if it is valid."""
        if factor not in self.factors:
            return {
                "problem": f"unknown factor {factor!r}",
                "expected": f"one of {', '.join(self.factors)}",
            }
        levels = self.factors[factor].levels
        if level in levels:
            return {}
        return {
            "problem": f"unknown level {level!r} of {factor}",
            "expected": f"one of {', '.join(map(repr, levels))}",
        }

    def filled(self, levels: Mapping[str, Level]) -> dict[str, Level | None]:
        """The level of every factor: the given one, else the default, else None."""
        return {name: levels.get(name, factor.default) for name, factor in self.factors.items()}

    def expression(self, text: str, also: Mapping[str, Level] | None = None) -> Expression:
        """Parse a sum of quantities; `also` gives further levels, which written ones override."""
        terms = []
        for coefficient, part in split_expression(text):
            name, written = split_quantity(part)
            terms.append((coefficient, self.quantity_at(name, {**(also or {}), **written})))
        return Expression(tuple(terms))

    @property
    def derivations(self) -> list[Derivation]:
        """All derived numbers, in the order of study.yaml: one for each combination of the levels of
        `for_each`, and each result of a kind with several.
        """
        return [derivation for derived in self.derived for derivation in derived.expand(self)]

    @property
    def pooled_factor(self) -> Factor | None:
        """The factor in `judged_over`, if its default stands for all of its levels."""
        factor = self.factors.get(self.judged_over)
        return factor if factor and factor.default == EVERY else None

    def block(self, levels: Mapping[str, Level], replicate: int) -> str:
        """Block label of a run, from `blocks`; "" if the study has no blocks."""
        known = {**levels, REPLICATE: replicate}
        return " ".join(level_text(known[name]) for name in self.blocks)

    def exhibit(self, exhibit_id: str) -> Exhibit:
        """The exhibit with this id; raises `StudyError` listing the known ones."""
        for exhibit in self.exhibits:
            if exhibit.id == exhibit_id:
                return exhibit
        known = ", ".join(e.id for e in self.exhibits)
        raise StudyError(
            f"unknown exhibit {exhibit_id!r}", file="study.yaml", expected=f"one of {known}"
        )

    def points(self, exhibit: Exhibit) -> list[tuple[Series, Level, Quantity]]:
        """All plotted points of a figure: series, level on the axis, quantity."""
        return [
            (series, level, self.quantity_at(series.quantity, {**series.at, series.over: level}))
            for series in exhibit.series
            for level in series.levels
        ]

    def axis(self, exhibit: Exhibit) -> Factor:
        """The factor on a figure's axis, with the names of levels that the figure gives itself."""
        factor = self.factors[exhibit.series[0].over]
        names = exhibit.spec.get("labels", {})
        return factor.model_copy(update={"level_labels": {**factor.level_labels, **names}})

    def reference_for(self, quantity: Quantity) -> tuple[Quantity, float] | None:
        """The reference point closest to a relative quantity, and its value; None if there is none.

        The closest one shares the most levels.
        """
        kind = self.quantities[quantity.name]
        references = [(self.quantity_at(quantity.name, at), value) for at, value in kind.references]
        if not references:
            return None

        def likeness(reference: tuple[Quantity, float]) -> tuple[int, list[bool]]:
            same = [a == b for a, b in zip(reference[0].at, quantity.at, strict=True)]
            return sum(same), same  # ties: the one that agrees in the earlier factor

        return max(references, key=likeness)

    def level_words(self, factor: str, level: Level) -> str:
        """Display text of a level, a number with its noun: ``12 guests``."""
        shown = self.factors[factor].show(level)
        return (
            f"{shown} {self.factors[factor].noun(level)}".strip()
            if isinstance(level, int | float)
            else shown
        )

    def show(self, quantity: Quantity) -> str:
        """Display text of a quantity, with the levels that differ from the defaults."""
        parts = [
            self.level_words(f, level)
            for f, level in quantity.at
            if level != self.factors[f].default
        ]
        label = self.quantities[quantity.name].label
        return f"{label} ({', '.join(parts)})" if parts else label


def load_study(folder: Path, report: Report = raise_problem) -> Study:
    """Load and validate `study.yaml` of a folder; raises `StudyError` with file and line."""
    study, document = load_model(folder / "study.yaml", Study, report)
    study._document = document
    if study.id != folder.name:
        expected = f"the folder name {folder.name!r}"
        report(
            document.error(
                f"the id {study.id!r} differs from the folder name", "study", expected=expected
            )
        )
    study = study.model_copy(
        update={"exhibits": tuple(_expand_marks(study, e) for e in study.exhibits)}
    )
    _check(study, report)
    return study


def _expand_marks(study: Study, exhibit: Exhibit) -> Exhibit:
    """Expand the marks of a time-series figure to one-point series at its run's condition."""
    if not exhibit.marks:
        return exhibit
    at = exhibit.run.at if exhibit.run else {}
    over, factor = next(iter(study.factors.items()))
    level = at.get(over, factor.levels[0] if factor.default is None else factor.default)
    kinds = study.quantities
    labels = {name: kinds[name].label if name in kinds else name for name in exhibit.marks}
    series = tuple(
        Series(label=labels[n], quantity=n, at=at, over=over, levels=(level,))
        for n in exhibit.marks
    )
    return exhibit.model_copy(update={"series": series})


def _check(study: Study, report: Report) -> None:
    """Check the cross-references within `study.yaml`."""
    _check_names_of_factors(study, report)
    _check_factors(study, report)
    _check_quantities(study, report)
    for position, exhibit in enumerate(study.exhibits):
        try:
            study.points(exhibit)
        except ValueError as err:
            report(study.document.error(f"{exhibit.id}: {err}", "exhibits", position))
    _check_findings(study, report)
    _check_derived(study, report)


def _check_factors(study: Study, report: Report) -> None:
    """Check the levels of factors, and the settings that name a factor."""
    for name, factor in study.factors.items():
        if factor.default is not None and factor.default not in factor.levels:
            problem = f"the default {factor.default!r} of {name} is not one of its levels"
            report(study.document.error(problem, "factors", name, "default"))
        for level in factor.level_labels.keys() - set(factor.levels):
            problem = f"label of {level!r}, which is not a level of {name}"
            report(study.document.error(problem, "factors", name, "labels"))
    for position, name in enumerate(study.blocks):
        if name not in (*study.factors, REPLICATE):
            parts = {"expected": f"a factor, or {REPLICATE}"}
            parts["remedy"] = did_you_mean(name, (*study.factors, REPLICATE))
            report(study.document.error(f"unknown factor {name!r}", "blocks", position, **parts))
    if study.machine_factor and study.machine_factor not in study.factors:
        _report_unknown_factor(study, report, study.machine_factor, "machine_factor")
    judged_over = study.factors.get(study.judged_over)
    if study.judged_over and (judged_over is None or judged_over.default is None):
        expected = f"a factor whose default is the level of the paper's claims, or {EVERY!r}"
        problem = f"{study.judged_over!r} is not a factor with a default"
        report(study.document.error(problem, "judged_over", expected=expected))
    elif judged_over is not None and study.kind == "measured" and study.pooled_factor is None:
        problem = (
            f"the hypotheses would be judged at {judged_over.place(judged_over.default or '')} only"
        )
        expected = f"{study.judged_over} with the level {EVERY!r} as its default"
        report(study.document.error(problem, "judged_over", expected=expected))


def _report_unknown_factor(study: Study, report: Report, name: str, *place: str) -> None:
    expected = f"one of {', '.join(study.factors)}"
    report(study.document.error(f"unknown factor {name!r}", *place, expected=expected))


def _check_quantities(study: Study, report: Report) -> None:
    """Check the levels and factors that quantities refer to."""
    for name, kind in study.quantities.items():
        for position, (at, _) in enumerate(kind.references):
            try:
                study.quantity_at(name, at)
            except ValueError as err:
                report(study.document.error(str(err), "quantities", name, "references", position))
        if kind.observed_by is None:
            continue
        place = ("quantities", name, "observed")
        for factor, levels in kind.observed_by.at.items():
            for level in as_list(levels):
                if wrong := study.level_problem(factor, level):
                    report(study.document.error(wrong.pop("problem"), *place, "at", **wrong))
        less = kind.observed_by.less
        if less is not None and less not in study.factors:
            _report_unknown_factor(study, report, less, *place, "less")


def _check_findings(study: Study, report: Report) -> None:
    """Check the figures of findings, and the expressions of their numbers."""
    figures = [e.id for e in study.exhibits if e.series or e.spec.get("bars")]
    for position, finding in enumerate(study.findings):
        if finding.figure not in (None, *figures):
            report(
                study.document.error(
                    f"figure {finding.figure!r} is not a figure with points",
                    "findings",
                    position,
                    "figure",
                    expected="the id of a line or bar figure, or of a table with bars",
                    remedy=did_you_mean(str(finding.figure), figures),
                )
            )
        for name, number in finding.numbers.items():
            for key, text in (("of", number.of), ("to", number.to)):
                try:
                    study.expression(text) if text else None
                except ValueError as err:
                    place = ("findings", position, "numbers", name, key)
                    report(study.document.error(str(err), *place))


def _check_names_of_factors(study: Study, report: Report) -> None:
    """Check that factor names do not collide with columns of the tables of runs."""
    columns = {name: table.file for table in TABLES_WITH_FACTORS for name in table.columns}
    for name in study.factors:
        if name in columns:
            problem = f"factor {name!r} has the same name as a column of {columns[name]}"
            parts = {
                "expected": f"a name other than {', '.join(sorted(columns))}",
                "remedy": "rename the factor.",
            }
            report(study.document.error(problem, "factors", name, **parts))


def _check_derived(study: Study, report: Report) -> None:
    ids, exhibits = (
        [derived.id for derived in study.derived],
        [*(exhibit.id for exhibit in study.exhibits), "text"],
    )
    for position, derived in enumerate(study.derived):
        place = ("derived", position)
        if derived.id in [*ids[:position], *exhibits]:
            report(study.document.error(f"duplicate id {derived.id!r}", *place, "id"))
        for exhibit in derived.exhibits:
            if exhibit not in exhibits:
                parts = {
                    "expected": "the id of an exhibit, or text",
                    "remedy": did_you_mean(exhibit, exhibits),
                }
                report(
                    study.document.error(f"unknown exhibit {exhibit!r}", *place, "about", **parts)
                )
        try:
            derived.expand(study)
        except ValueError as err:
            report(study.document.error(f"{derived.id}: {err}", *place))
