"""A study's definition: factors, quantities, exhibits, runs; loaded from `study.yaml` and validated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from virtperf.core.errors import Report, StudyError, stop
from virtperf.core.yamlio import Document, load_yaml
from virtperf.study.quantities import Expression, Level, Quantity, split_expression, split_quantity


@dataclass(frozen=True)
class Factor:
    """What a study varies. `default` is None where every quantity must write the level."""

    name: str
    label: str
    levels: tuple[Level, ...]
    default: Level | None
    unit: str
    level_labels: Mapping[Level, str]

    def show(self, level: Level) -> str:
        """The level as a reader sees it."""
        return self.level_labels.get(level, str(level))

    def noun(self, level: Level) -> str:
        """The label after a number: ``guests``, but ``1 guest``."""
        many = self.label.endswith("s") and not self.label.lower().endswith("ss")
        return self.label[:-1] if level == 1 and many else self.label


@dataclass(frozen=True)
class QuantityKind:
    """A quantity's name, unit, natural bounds and how runs observe it.

    Attributes
    ----------
    references : tuple of (factor levels, value)
        Where the paper gives no absolute scale: the points that are set to a value by convention.
    resolution : float
        The smallest difference that the paper's wording distinguishes, in the quantity's unit.
    observed : dict
        How `summarize` gets it from a run: metric, entity_kind, combine, scale.
    """

    name: str
    label: str
    unit: str
    low: float
    high: float
    resolution: float
    references: tuple[tuple[Mapping[str, Level], float], ...]
    observed: Mapping[str, Any]


@dataclass(frozen=True)
class Series:
    """One line or bar group of a figure: `quantity` at `at`, over the levels of one factor."""

    label: str
    quantity: str
    at: Mapping[str, Level]
    over: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Exhibit:
    """A table or figure of the paper; `series` is empty for tables and diagrams."""

    id: str
    title: str
    kind: str
    section: str
    series: tuple[Series, ...]
    spec: Mapping[str, Any]


@dataclass(frozen=True)
class Study:
    """One study, whole.

    Attributes
    ----------
    id : str
    folder : Path
        `data/published/<id>`.
    factors, quantities : dict
    exhibits : tuple of Exhibit
        In the paper's order.
    data : dict
        Everything of `study.yaml`, for the descriptive parts (bibliography, machines, guests, procedure, runs).
    """

    id: str
    folder: Path
    document: Document
    factors: Mapping[str, Factor]
    quantities: Mapping[str, QuantityKind]
    exhibits: tuple[Exhibit, ...]
    data: Mapping[str, Any] = field(repr=False)

    def quantity(self, text: str) -> Quantity:
        """The quantity that a text such as ``throughput[system=zvm, guests=12]`` names.

        Raises
        ------
        ValueError
            Unknown name, factor or level; a factor without default that is not written.
        """
        name, written = split_quantity(text)
        return self.quantity_at(name, written)

    def quantity_at(self, name: str, levels: Mapping[str, Level]) -> Quantity:
        """The quantity of that name at those levels, defaults filled in; raises `ValueError` as `quantity` does."""
        if name not in self.quantities:
            raise ValueError(f"unknown quantity {name!r}; known are {', '.join(self.quantities)}")
        for factor, level in levels.items():
            if factor not in self.factors:
                raise ValueError(f"unknown factor {factor!r}; known are {', '.join(self.factors)}")
            if level not in self.factors[factor].levels:
                known = ", ".join(map(str, self.factors[factor].levels))
                raise ValueError(f"unknown level {level!r} of {factor}; known are {known}")
        at = tuple((f.name, levels.get(f.name, f.default)) for f in self.factors.values())
        missing = [name for name, level in at if level is None]
        if missing:
            raise ValueError(f"{name}: no level for {', '.join(missing)}, which has no default")
        return Quantity(name, at)  # type: ignore[arg-type]

    def expression(self, text: str, also: Mapping[str, Level] | None = None) -> Expression:
        """A sum of quantities; `also` adds levels to every one of them that does not write its own."""
        terms = []
        for coefficient, part in split_expression(text):
            name, written = split_quantity(part)
            terms.append((coefficient, self.quantity_at(name, {**(also or {}), **written})))
        return Expression(tuple(terms))

    def exhibit(self, exhibit_id: str) -> Exhibit:
        """The exhibit of that id; raises `StudyError` listing the known ones."""
        for exhibit in self.exhibits:
            if exhibit.id == exhibit_id:
                return exhibit
        known = ", ".join(e.id for e in self.exhibits)
        raise StudyError(f"no exhibit is called {exhibit_id!r}", file="study.yaml", expected=f"one of {known}")

    def points(self, exhibit: Exhibit) -> list[tuple[Series, Level, Quantity]]:
        """Every plotted point of a figure: its series, its level on the axis, its quantity."""
        return [
            (series, level, self.quantity_at(series.quantity, {**series.at, series.over: level}))
            for series in exhibit.series
            for level in series.levels
        ]

    def reference_for(self, quantity: Quantity) -> tuple[Quantity, float] | None:
        """The reference point on whose scale a relative quantity stands: the one that shares most levels with it.

        Returns
        -------
        (Quantity, value) or None
            None for quantities on an absolute scale.
        """
        kind = self.quantities[quantity.name]
        references = [(self.quantity_at(quantity.name, at), value) for at, value in kind.references]
        if not references:
            return None

        def likeness(reference: tuple[Quantity, float]) -> tuple[int, list[bool]]:
            same = [a == b for a, b in zip(reference[0].at, quantity.at, strict=True)]
            return sum(same), same  # of equally like ones, the one that agrees in the earlier factor

        return max(references, key=likeness)

    def show(self, quantity: Quantity) -> str:
        """A quantity as a reader sees it: levels that differ from the defaults, in words."""
        parts = [
            f"{self.factors[f].show(level)} {self.factors[f].noun(level)}".strip()
            if isinstance(level, int | float)
            else self.factors[f].show(level)
            for f, level in quantity.at
            if level != self.factors[f].default
        ]
        label = self.quantities[quantity.name].label
        return f"{label} ({', '.join(parts)})" if parts else label


def load_study(folder: Path, report: Report = stop) -> Study:
    """Load `study.yaml` of a folder `data/published/<study>`.

    Parameters
    ----------
    folder : Path
    report : callable, optional
        Told of every problem that leaves something to load, so that all can be listed.

    Raises
    ------
    StudyError
        With file and line: against the schema, an unknown factor or level, a reference or series that names nothing.
    """
    document = load_yaml(folder / "study.yaml", "study")
    data = document.data
    factors = {name: _factor(name, entry) for name, entry in data["factors"].items()}
    quantities = {name: _quantity_kind(name, entry) for name, entry in data["quantities"].items()}
    exhibits = tuple(_exhibit(entry, factors, quantities) for entry in data["exhibits"])
    study = Study(data["study"], folder, document, factors, quantities, exhibits, data)
    if study.id != folder.name:
        report(
            document.error(
                f"the study calls itself {study.id!r}", "study", expected=f"the folder's name {folder.name!r}"
            )
        )
    _check(study, report)
    return study


def _factor(name: str, entry: Mapping[str, Any]) -> Factor:
    return Factor(
        name, entry.get("label", name), tuple(entry["levels"]), entry.get("default"), entry.get("unit", ""),
        entry.get("labels", {}),
    )  # fmt: skip


def _quantity_kind(name: str, entry: Mapping[str, Any]) -> QuantityKind:
    low, high = entry.get("bounds", [0, None])
    references = tuple((ref["at"], float(ref["value"])) for ref in entry.get("references", ()))
    return QuantityKind(
        name, entry["label"], entry["unit"], -float("inf") if low is None else float(low),
        float("inf") if high is None else float(high), float(entry.get("resolution", 0)), references,
        entry.get("observed", {}),
    )  # fmt: skip


def _exhibit(
    entry: Mapping[str, Any], factors: Mapping[str, Factor], quantities: Mapping[str, QuantityKind]
) -> Exhibit:
    if entry["kind"] == "timeseries":
        return Exhibit(entry["id"], entry["title"], entry["kind"], entry.get("section", ""),
                       _marks(entry, factors, quantities), entry)  # fmt: skip
    series = tuple(
        Series(s["label"], s.get("quantity", entry.get("quantity", "")), s.get("at", {}),
               s.get("over", entry.get("over", "")),
               tuple(s["levels"]))
        for s in entry.get("series", ())
    )  # fmt: skip
    return Exhibit(entry["id"], entry["title"], entry["kind"], entry.get("section", ""), series, entry)


def _marks(
    entry: Mapping[str, Any], factors: Mapping[str, Factor], quantities: Mapping[str, QuantityKind]
) -> tuple[Series, ...]:
    """The levels that a figure over time marks, each a series of one point at the condition of the figure's run."""
    at = entry["run"]["at"]
    over, factor = next(iter(factors.items()))
    level = at.get(over, factor.default)
    return tuple(
        Series(quantities[name].label if name in quantities else name, name, at, over, (level,))
        for name in entry.get("marks", ())
    )


def _check(study: Study, report: Report) -> None:
    for name, kind in study.quantities.items():
        for position, (at, _) in enumerate(kind.references):
            try:
                study.quantity_at(name, at)
            except ValueError as err:
                report(study.document.error(str(err), "quantities", name, "references", position))
    if study.data.get("telling") not in (None, *(e.id for e in study.exhibits if e.series)):
        raise study.document.error(
            "it names no figure with points", "telling", expected="the id of a line or bar figure"
        )
    for position, exhibit in enumerate(study.exhibits):
        try:
            study.points(exhibit)
        except ValueError as err:
            report(study.document.error(f"{exhibit.id}: {err}", "exhibits", position))
    for position, block in enumerate(study.data.get("runs", ())):
        for levels in run_levels(block):
            for factor, level in levels.items():
                if factor not in study.factors or level not in study.factors[factor].levels:
                    report(study.document.error(f"unknown factor or level {factor}={level}", "runs", position))


def run_levels(block: Mapping[str, Any]) -> list[dict[str, Level]]:
    """The factor levels of every run condition of one block of `runs`: `at` crossed with the lists of `over`."""
    over = block.get("over", {})
    return [{**block.get("at", {}), **dict(zip(over, combo, strict=True))} for combo in product(*over.values())]
