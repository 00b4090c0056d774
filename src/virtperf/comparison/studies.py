"""Sides of a comparison from a study of the repository: two levels of a factor, or all runs."""

from __future__ import annotations

import json
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from rawperf.core.errors import RawperfError, require_known
from rawperf.registry import build_dictionary
from virtperf.comparison.ratio_rows import Pair, RunRatio, contrast
from virtperf.comparison.sides import Side
from virtperf.core.contrasts import Replicates
from virtperf.core.grouping import grouped
from virtperf.core.levels import Level, parse_level
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.core.stage_tables import OBSERVATIONS
from virtperf.runs.ingest.inputs import study_inputs
from virtperf.runs.ingest.stage import INDEX
from virtperf.runs.run_reader import quantity_metadata
from virtperf.runs.run_values import CellName, ComparedQuantity, RunValues
from virtperf.study.definition import Study, load_study
from virtperf.study.parts import EVERY
from virtperf.study.quantities import Quantity
from virtperf.study.study_samples import StudySamples, samples_by_quantity


@dataclass(frozen=True, eq=False)
class MeasuredStudy:
    """A study with the measured runs of its quantities, as stored by the runs stage."""

    study: Study
    samples: StudySamples
    quantities: Mapping[str, ComparedQuantity]
    runs: Mapping[str, Mapping[str, Any]]

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

    def require_factors(self, where: Mapping[str, Level]) -> None:
        """Raise `RawperfError` for a factor that the study does not have."""
        for name in where:
            factors, problem = self.study.factors, f"{self.study.id} has no factor {name!r}"
            require_known(name, factors, problem, expected=", ".join(factors))

    def level_sides(
        self, factor: str, written: Sequence[str], where: Mapping[str, Level]
    ) -> tuple[list[Side], list[Pair]]:
        """The runs at two levels of a factor, and the conditions measured at both, all other levels
        equal.

        Raises `RawperfError` for an unknown level, and if there is no such condition.
        """
        self.require_factors(where)
        levels = [parse_level(text) for text in written]
        names = [f"{factor}={level}" for level in levels]
        for level in levels:
            if wrong := self.study.level_problem(factor, level):
                raise RawperfError(wrong["problem"], expected=wrong["expected"])
        both = [
            (quantity, moved)
            for quantity in sorted(self.conditions(where))
            if quantity.level(factor) == levels[0]
            and (moved := quantity.moved({factor: levels[1]})) in self.samples
        ]
        if not both:
            raise RawperfError(
                f"no condition was measured at both {names[0]} and {names[1]}",
                remedy="runs are compared at the same levels of all other factors",
            )
        varied = _varied_factors([quantity for quantity, _ in both]) - {factor}
        pairs = [
            Pair(
                of.name,
                tuple((name, level) for name, level in of.at if name in varied),
                self.samples[of],
                self.samples[to],
                side=names[1],
            )
            for of, to in both
        ]
        ids = dict.fromkeys(run for p in pairs for side in (p.a, p.b) for run in side.run_ids)
        sides = [
            Side(
                name,
                tuple(
                    self._run(run, {})
                    for run in ids
                    if self.runs.get(run, {}).get("factors", {}).get(factor) == level
                ),
                self.quantities,
            )
            for name, level in zip(names, levels, strict=True)
        ]
        return sides, pairs

    def contrast(self, pair: Pair) -> RunRatio:
        """Ratio as in the study's verdicts and tables, possibly with an error pooled over its
        conditions.
        """
        quantities = {id(runs): quantity for quantity, runs in self.samples.items()}
        of, to = quantities.get(id(pair.b)), quantities.get(id(pair.a))
        if of is None or to is None:  # without an outlying run
            return contrast(pair)
        return self.samples.log_ratio({of: 1.0}, {to: 1.0}) or contrast(pair)

    def all_runs(self, where: Mapping[str, Level]) -> Side:
        """All runs at the levels of `where`, with blocks specific to this study."""
        conditions = self.conditions(where)
        values: dict[str, dict[CellName, float]] = {}
        blocks: dict[str, tuple[str, str]] = {}
        for quantity, of in conditions.items():
            rows = zip(of.run_ids, of.values.tolist(), of.blocks, of.days, strict=True)
            for run, value, block, day in rows:
                values.setdefault(run, {})[quantity.name, ()] = value
                blocks[run] = f"{self.study.id}: {block}" if block else "", day
        if not values:
            raise RawperfError(
                f"{self.study.id} has no measured runs at these levels",
                found=", ".join(f"{factor}={level}" for factor, level in where.items()),
            )
        runs = tuple(
            replace(self._run(run, values[run]), block=blocks[run][0], day=blocks[run][1])
            for run in sorted(values)
        )
        return Side(self.study.id, runs, self.measured(conditions))

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
    levels = grouped(item for quantity in quantities for item in quantity.at)
    return {factor for factor, values in levels.items() if len({*values}) > 1}
