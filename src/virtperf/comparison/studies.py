"""Sides of a comparison from a study of the repository: two levels of a factor, or all runs."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from rawperf.core.errors import RawperfError
from rawperf.registry import build_dictionary
from virtperf.comparison.ratio_rows import Pair, RunRatio, contrast
from virtperf.comparison.sides import Side
from virtperf.core.contrasts import Replicates
from virtperf.core.levels import Level, parse_level
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import OBSERVATIONS
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.ingest.stage import INDEX
from virtperf.runs.run_reader import quantity_metadata
from virtperf.runs.run_values import CellName, ComparedQuantity, Condition, RunValues
from virtperf.study.definition import Study, load_study
from virtperf.study.parts import EVERY
from virtperf.study.quantities import Quantity
from virtperf.study.samples import StudySamples, samples_by_quantity


@dataclass(frozen=True, eq=False)
class MeasuredStudy:
    """A study with the measured runs of its quantities, as stored by the runs stage."""

    study: Study
    samples: StudySamples
    quantities: Mapping[str, ComparedQuantity]
    runs: Mapping[str, Mapping[str, Any]]

    def factor_levels(self, written: tuple[str, ...]) -> tuple[str, Level, Level]:
        """Parse the factor and its two levels from ``("kernel=6.1", "kernel=6.6")``.

        Raises `RawperfError` for anything but two known levels of one factor.
        """
        split = [text.partition("=") for text in written]
        names = {name.strip() for name, _, _ in split}
        levels = [parse_level(level) for _, _, level in split]
        if len(split) != 2 or len(names) != 1 or not all(level for _, _, level in split):
            raise RawperfError(
                "two levels of one factor are needed",
                expected="--factor NAME=A --factor NAME=B",
                found=", ".join(written) or "none",
            )
        name = names.pop()
        for level in levels:
            if wrong := self.study.level_problem(name, level):
                raise RawperfError(wrong["problem"], expected=wrong["expected"])
        return name, levels[0], levels[1]

    def conditions(self, where: Mapping[str, Level]) -> dict[Quantity, Replicates]:
        """Quantities observed by runs at these levels."""
        return {
            quantity: runs
            for quantity, runs in self.samples.items()
            if all(
                quantity.level(name) == level
                for name, level in where.items()
                if name in self.study.factors
            )
        }

    def pairs(self, factor: str, a: Level, b: Level, where: Mapping[str, Level]) -> list[Pair]:
        """Pair the conditions measured at both levels of a factor, all other levels equal."""
        conditions = self.conditions(where)
        both = [
            (quantity, moved)
            for quantity in sorted(conditions)
            if quantity.level(factor) == a
            and (moved := quantity.moved({factor: b})) in self.samples
        ]
        varied = _varied_factors([quantity for quantity, _ in both]) - {factor}
        return [
            Pair(of.name, _condition(of, varied), self.samples[of], self.samples[to])
            for of, to in both
        ]

    def contrast(self, pair: Pair) -> RunRatio:
        """Ratio as in the study's verdicts and tables, possibly with an error pooled over its
        conditions.
        """
        quantities = {id(runs): quantity for quantity, runs in self.samples.items()}
        of, to = quantities[id(pair.b)], quantities[id(pair.a)]
        return self.samples.log_ratio({of: 1.0}, {to: 1.0}) or contrast(pair)

    def side(self, name: str, factor: str, level: Level, pairs: list[Pair]) -> Side:
        """Build one side from the runs at a level."""
        ids = dict.fromkeys(run for p in pairs for side in (p.a, p.b) for run in side.run_ids)
        of_level = [
            run for run in ids if self.runs.get(run, {}).get("factors", {}).get(factor) == level
        ]
        return Side(name, tuple(self._run(run, {}) for run in of_level), self.quantities)

    def all_runs(self, name: str, where: Mapping[str, Level]) -> Side:
        """Build a side of all runs at the levels of `where`, with blocks specific to this study."""
        values: dict[str, dict[CellName, float]] = {}
        for quantity, of_quantity in self.conditions(where).items():
            columns = zip(of_quantity.run_ids, of_quantity.values.tolist(), strict=True)
            for run, value in columns:
                values.setdefault(run, {})[quantity.name, ()] = value
        known = {
            run: (block, day)
            for of_quantity in self.samples.values()
            for run, block, day in zip(
                of_quantity.run_ids, of_quantity.blocks, of_quantity.days, strict=True
            )
        }
        runs = []
        for run in sorted(values):
            block, day = known[run]
            block = f"{self.study.id}: {block}" if block else ""
            runs.append(replace(self._run(run, values[run]), block=block, day=day))
        if not runs:
            raise RawperfError(
                f"{self.study.id} has no measured runs at these levels",
                found=", ".join(f"{factor}={level}" for factor, level in where.items()),
            )
        return Side(name, tuple(runs), self.measured(self.conditions(where)))

    def measured(self, conditions: Iterable[Quantity]) -> Mapping[str, ComparedQuantity]:
        """Metadata of the quantities of these conditions."""
        return {name: self.quantities[name] for name in {of.name: None for of in conditions}}

    def _run(self, run: str, values: Mapping[CellName, float]) -> RunValues:
        info = self.runs.get(run, {})
        host = (info.get("protocol") or {}).get("host")
        facts = {"host": host} if host else {}
        facts |= {**info.get("machine", {}), **info.get("tools", {})}
        return RunValues(
            run,
            values,
            factors=info.get("factors", {}),
            facts={k: str(v) for k, v in facts.items()},
            disturbed=bool(info.get("disturbed")),
            place=f"{self.study.id}/{run}",
        )


def measured_study(
    layout: Layout, study_id: str, level: float, named: Container[str] = ()
) -> MeasuredStudy:
    """Load a study's measured runs; `level` is the confidence level of their intervals.

    Runs of a study that is judged over machines are compared over them, unless the factor of the
    machine is among those that are `named`.

    Raises `RawperfError`: there is no such study, or its runs have not been ingested.
    """
    study = load_study(layout.known(study_id))
    path = layout.runs(study_id) / OBSERVATIONS.file
    if not path.is_file():
        raise RawperfError(
            "the study's runs have not been ingested",
            file=str(path),
            remedy=f"run `virtperf runs {study_id}`",
        )
    observations = OBSERVATIONS.read(path, tuple(study.factors))
    if pooled := study.pooled_factor:
        over = observations[pooled.name] == EVERY
        observations = observations[~over if pooled.name in named else over]
    samples = samples_by_quantity(study, observations, Provenance.MEASURED, level)
    if not samples:
        raise RawperfError(f"{study_id} has no measured runs")
    dictionary = build_dictionary(layout.metrics, study_inputs(study))
    names = dict.fromkeys(quantity.name for quantity in samples)
    quantities = {name: quantity_metadata(study, name, dictionary) for name in names}
    index = json.loads((layout.samples(study_id) / INDEX).read_text(encoding="utf-8"))
    return MeasuredStudy(study, samples, quantities, {r["run_id"]: r for r in index["runs"]})


def _varied_factors(quantities: list[Quantity]) -> set[str]:
    """Factors with more than one level among these quantities."""
    levels: dict[str, set[Level]] = {}
    for quantity in quantities:
        for factor, level in quantity.at:
            levels.setdefault(factor, set()).add(level)
    return {factor for factor, values in levels.items() if len(values) > 1}


def _condition(quantity: Quantity, varied: set[str]) -> Condition:
    return tuple((factor, level) for factor, level in quantity.at if factor in varied)
