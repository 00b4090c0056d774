"""Results of studies at a given overcommitment ratio of processors or memory."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from rawperf.core.errors import StudyError
from virtperf.core.paths import Layout
from virtperf.core.provenance import Provenance
from virtperf.report.frames import StudyData, load
from virtperf.report.range_words import range_words
from virtperf.report.synthesis.definition import (
    RATIO,
    Curve,
    FactorAxis,
    JointGrid,
    Reference,
)
from virtperf.report.synthesis.values import (
    REFERENCE,
    Value,
    derived_values,
    find_study,
    informative_limits,
    instances,
    quotients,
    scale_value,
    system_name,
)
from virtperf.report.wording import join_words, short_number
from virtperf.study.definition import Study
from virtperf.study.derived_kinds.base import Bounds, Derivation

RATIOS = {
    "cpu": "Virtual CPUs for each real CPU",
    "memory": "Memory needed or defined / real memory",
}
"""Labels of the overcommitment ratios."""
PER_GUEST = "throughput per guest"
"""Measure derived from throughput if the ratio counts guests."""
MIN_KEPT_SHARE = 0.95
"""Share of the reference throughput below which a system counts as losing throughput."""
_CLOSE = 1e-3  # relative tolerance for matching a tested ratio in its printed form

CapacityPoint = tuple[float, tuple[Value, ...]]
"""A tested overcommitment ratio and its values."""


@dataclass(frozen=True)
class CurveValues:
    """A curve of `synthesis.yaml` with its values, by ascending overcommitment ratio."""

    curve: Curve
    system: str
    measure: str
    points: tuple[CapacityPoint, ...]

    def at(self, ratio: float) -> ValuesAtRatio:
        """Values at an overcommitment ratio: its own if tested, else those of the neighbouring
        ratios.
        """
        around = neighbours([where for where, _ in self.points], ratio)
        if not around:
            return ValuesAtRatio((self.points[0][0], self.points[-1][0]), (), outside=True)
        return ValuesAtRatio(
            around, tuple(v for where, vs in self.points if where in around for v in vs)
        )

    @property
    def limits(self) -> RatioLimits:
        """Classify the tested ratios by whether the measure stays near its reference."""
        start = self.curve.ratio(self.curve.reference)
        known = [(ratio, value_limits(values)) for ratio, values in self.points if ratio != start]
        within_limit = tuple(ratio for ratio, (low, _) in known if low >= MIN_KEPT_SHARE)
        lost = tuple(ratio for ratio, (_, high) in known if high < MIN_KEPT_SHARE)
        return RatioLimits(
            within_limit,
            lost,
            tuple(r for r, _ in known if r not in within_limit and r not in lost),
        )


@dataclass(frozen=True)
class RatioLimits:
    """Tested ratios except the reference, by certain outcome.

    `kept`: at least `MIN_KEPT_SHARE` of the reference. `lost`: less than that. `unknown`: either is
    possible.
    """

    kept: tuple[float, ...]
    lost: tuple[float, ...]
    unknown: tuple[float, ...]


@dataclass(frozen=True)
class ValuesAtRatio:
    """Values of a curve at a ratio.

    `tested` is the tested ratio, or the neighbours on both sides; `outside`: the ratio is beyond
    all tested ones, `tested` has the smallest and the largest, and there are no values.
    """

    tested: tuple[float, ...]
    values: tuple[Value, ...]
    outside: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """Smallest and largest possible value; NaN without values."""
        return value_limits(self.values)

    @property
    def words(self) -> str:
        """Format as ``allows 0.9 to 1.1``, with the tested ratios if this one was not tested."""
        if self.outside:
            return f"outside the tested range, {' to '.join(map(ratio_text, self.tested))}"
        if not self.values:
            return "no number"
        if len(self.tested) == 1:
            return "; ".join(value.text for value in self.values)
        between = f"between the tested ratios {join_words(map(ratio_text, self.tested))}"
        return f"{combined_range(self.values)} {between}"


@dataclass(frozen=True)
class RatioGrid:
    """A grid of `synthesis.yaml`: values by CPU ratio and memory ratio."""

    grid: JointGrid
    system: str
    cells: Mapping[tuple[float, float], tuple[Value, ...]]

    def at(self, cpu: float, memory: float) -> str:
        """Describe the values at both ratios, from the tested configurations around them."""
        around = [
            neighbours(sorted({cell[k] for cell in self.cells}), ratio)
            for k, ratio in enumerate((cpu, memory))
        ]
        if not all(around):
            ends = (
                (min(cell[k] for cell in self.cells), max(cell[k] for cell in self.cells))
                for k in (0, 1)
            )
            (a, b), (c, d) = (tuple(map(ratio_text, pair)) for pair in ends)
            return f"outside the tested range, CPU ratios {a} to {b} and memory ratios {c} to {d}"
        cells = [self.cells[x, y] for x in around[0] for y in around[1] if self.cells.get((x, y))]
        if len(cells) < len(around[0]) * len(around[1]):
            return "a neighbouring tested ratio has no number"
        values = [value for cell in cells for value in cell]
        if len(cells) == 1:
            return "; ".join(value.text for value in values)
        where = " and ".join(
            f"{name} {' to '.join(map(ratio_text, ratios))}"
            for name, ratios in zip(("CPU", "memory"), around, strict=True)
        )
        return f"{combined_range(values)} between the tested ratios: {where}"


def neighbours(tested: Sequence[float], ratio: float) -> tuple[float, ...]:
    """Return the tested ratio equal to `ratio`, else its neighbours on both sides; empty outside.

    `tested` is in ascending order.
    """
    for where in tested:
        if math.isclose(where, ratio, rel_tol=_CLOSE) or ratio_text(where) == ratio_text(ratio):
            return (where,)
    below, above = [r for r in tested if r < ratio], [r for r in tested if r > ratio]
    return (below[-1], above[0]) if below and above else ()


def combined_range(values: Sequence[Value]) -> str:
    """Kinds of the values and the range from the smallest to the largest, which has no middle."""
    kinds = " and ".join(dict.fromkeys(v.kind for v in values if v.kind != REFERENCE))
    low, high = informative_limits(value_limits(values))
    both = low > 0 and math.isfinite(high)
    words = (
        f"{short_number(low)} to {short_number(high)}"
        if both
        else range_words((low, high), Bounds(0.0))
    )
    return f"{kinds} {words}".strip()


def value_limits(values: Iterable[Value]) -> tuple[float, float]:
    """Smallest and largest possible value; NaN without values."""
    ends = [end for value in values for piece in value.pieces for end in piece]
    return (min(ends), max(ends)) if ends else (math.nan, math.nan)


def ratio_text(ratio: float) -> str:
    """Format a ratio with three significant digits."""
    return f"{pretty_ratio(ratio):g}"


def pretty_ratio(ratio: float) -> float:
    """Round a ratio to three significant digits."""
    return float(f"{ratio:.3g}")


def load_studies(specs: Iterable[Curve | JointGrid], data: Path) -> dict[str, StudyData]:
    """Load the studies named by curves and grids, without claims, which curves do not need."""
    names = {one.study for one in specs}
    known = Layout(data.parent).studies()
    return {name: load(name, data, with_claims=False) for name in known if name in names}


def curve_values(
    studies: Mapping[str, StudyData], curves: Sequence[Curve], level: float
) -> list[CurveValues]:
    """Values of every curve, and per guest if the curve counts guests.

    Raises
    ------
    StudyError
        A curve names something that its study does not have.
    """
    results = []
    for curve in curves:
        data = find_study(studies, curve.study)
        system = system_name(data.study, curve.system)
        points = _points(data, curve, level)
        results.append(CurveValues(curve, system, curve.measure, points))
        if curve.per_guest:
            start = curve.ratio(curve.reference)
            each = tuple((r, tuple(scale_value(v, start / r) for v in vs)) for r, vs in points)
            results.append(CurveValues(curve, system, PER_GUEST, each))
    return results


def _points(data: StudyData, curve: Curve, level: float) -> tuple[CapacityPoint, ...]:
    reference = Reference(
        study=curve.study,
        system=curve.system,
        label=curve.label,
        derived=curve.derived,
        at=curve.at,
    )
    unit = "" if curve.divided else RATIO
    values_by_ratio = {
        where: derived_values(data, number, reference, unit, level)
        for where, number in interpolate_curve(data.study, curve)
    }
    if curve.divided:
        base = values_by_ratio.get(curve.reference, [])
        values_by_ratio = {
            where: quotients(values, base) for where, values in values_by_ratio.items()
        }
    values_by_ratio[curve.reference] = [_reference_value(data, reference)]
    known = (
        (curve.ratio(where), tuple(values)) for where, values in values_by_ratio.items() if values
    )
    return tuple(sorted(known, key=lambda point: point[0]))


def _reference_value(data: StudyData, reference: Reference) -> Value:
    """Value of the reference condition, 1 by definition."""
    return Value(
        data.study.id,
        reference.label,
        reference.derived,
        REFERENCE,
        "",
        ((1.0, 1.0),),
        Provenance.RECONSTRUCTED if data.study.kind == "paper" else Provenance.MEASURED,
        f"exhibit:{data.study.id}/summary",
        system=system_name(data.study, reference.system),
    )


def interpolate_curve(study: Study, curve: Curve) -> list[tuple[float, Derivation]]:
    """Derived numbers of a curve by the level of its factor; raises `StudyError` without an axis."""
    results = []
    for levels, number in instances(study, curve.derived, curve.at):
        if len(levels) != 1 or isinstance(levels[0], str):
            raise StudyError(
                f"{curve.study}: {curve.derived} has no numeric axis",
                file="data/synthesis.yaml",
                expected="one numeric factor in its for_each that `at` does not fix",
                found=", ".join(map(str, levels)) or "none",
            )
        results.append((float(levels[0]), number))
    return results


def grids(
    studies: Mapping[str, StudyData], specs: Sequence[JointGrid], level: float
) -> list[RatioGrid]:
    """Values of every grid; raises `StudyError` if one names something missing in its study."""
    results = []
    for grid in specs:
        data = find_study(studies, grid.study)
        asking = Reference(
            study=grid.study,
            system=grid.system,
            label=grid.label,
            derived=grid.derived,
            at=grid.at,
        )
        cells = {
            where: tuple(derived_values(data, number, asking, RATIO, level))
            for where, number in corners(data.study, grid)
        }
        reference = (grid.cpu.ratio(grid.cpu.reference), grid.memory.ratio(grid.memory.reference))
        cells[reference] = (_reference_value(data, asking),)
        results.append(RatioGrid(grid, system_name(data.study, grid.system), cells))
    return results


def corners(study: Study, grid: JointGrid) -> list[tuple[tuple[float, float], Derivation]]:
    """Derived numbers of a grid by CPU ratio and memory ratio; raises `StudyError` if its factors
    are not those of the number.
    """
    results = []
    axes: tuple[FactorAxis, FactorAxis] = (grid.cpu, grid.memory)
    entry = next((e for e in study.derived if e.id == grid.derived), None)
    free = [name for name in entry.for_each if name not in grid.at] if entry else []
    if entry and sorted(free) != sorted(axis.factor for axis in axes):
        raise StudyError(
            f"{grid.study}: the factors of {grid.derived} are not those of the grid",
            file="data/synthesis.yaml",
            expected=" and ".join(axis.factor for axis in axes),
            found=", ".join(free) or "none",
        )
    for levels, number in instances(study, grid.derived, grid.at):
        by_factor = dict(zip(free, levels, strict=True))
        x, y = (axis.ratio(float(by_factor[axis.factor])) for axis in axes)
        results.append(((x, y), number))
    return results


def curve_frame(curves: Sequence[CurveValues]) -> pd.DataFrame:
    """Frame with one row a curve, ratio and value, for the download and the picture."""
    rows: list[dict[str, Any]] = []
    for curve in curves:
        for ratio, values in curve.points:
            rows += [
                {
                    "of": curve.curve.of,
                    "measure": curve.measure,
                    "study": value.study,
                    "system": curve.system,
                    "condition": value.label,
                    "against": curve.curve.against,
                    "ratio": pretty_ratio(ratio),
                    "kind": value.kind,
                    "value": value.value,
                    "low": low,
                    "high": high,
                    "provenance": str(value.provenance),
                }
                for value in values
                for low, high in value.pieces
            ]
    return pd.DataFrame(rows)
