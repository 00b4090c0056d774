"""What studies allow or measured at a given overcommitment ratio of processors or memory."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from rawperf.core.errors import StudyError
from virtperf.report.data import StudyData
from virtperf.report.range_words import Bounds, range_words
from virtperf.report.synthesis.definition import RATIO, Curve, Reference
from virtperf.report.synthesis.values import (
    REFERENCE,
    Value,
    derived_values,
    instances,
    study_named,
    useful,
)
from virtperf.study.definition import Study
from virtperf.study.derived import Derivation

RATIOS = {
    "cpu": "Virtual CPUs for each real CPU",
    "memory": "Memory needed or defined / real memory",
}
"""Overcommitment ratios in words."""
_SAME = 1e-6  # of a ratio, for one that was tested to be met


@dataclass(frozen=True)
class Course:
    """A curve of `synthesis.yaml` with its values, in ascending order of the overcommitment
    ratio.
    """

    curve: Curve
    points: tuple[tuple[float, tuple[Value, ...]], ...]

    def at(self, ratio: float) -> Allowed:
        """What is known at an overcommitment ratio: of a tested one its own values, else those on
        both sides.
        """
        for where, found in self.points:
            if math.isclose(where, ratio, rel_tol=_SAME):
                return Allowed((where,), found)
        below, above = (
            [p for p in self.points if p[0] < ratio],
            [p for p in self.points if p[0] > ratio],
        )
        if not below or not above:
            return Allowed((self.points[0][0], self.points[-1][0]), (), outside=True)
        (lower, before), (upper, after) = below[-1], above[0]
        return Allowed((lower, upper), (*before, *after))


@dataclass(frozen=True)
class Allowed:
    """What one curve says at a ratio.

    `tested` is the tested ratio, or those on both sides; of a ratio outside all tested ones, of
    which nothing is said, the smallest and the largest.
    """

    tested: tuple[float, ...]
    values: tuple[Value, ...]
    outside: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The smallest and the largest value that is possible; NaN without values."""
        ends = [end for value in self.values for piece in value.pieces for end in piece]
        return (min(ends), max(ends)) if ends else (math.nan, math.nan)

    @property
    def words(self) -> str:
        """``allows 0.9 to 1.1``, with the tested ratios where this one was not tested."""
        tested = [f"{pretty_ratio(ratio):g}" for ratio in self.tested]
        if self.outside:
            return f"not tested (only {' to '.join(tested)})"
        if not self.values:
            return "silent"
        if len(self.tested) == 1:
            return "; ".join(value.said for value in self.values)
        kinds = " and ".join(
            dict.fromkeys(value.kind for value in self.values if value.kind != REFERENCE)
        )
        words = range_words(useful(self.ends), Bounds(0.0))
        return f"{kinds} {words} between the tested ratios {' and '.join(tested)}"


def pretty_ratio(ratio: float) -> float:
    """A ratio to three digits."""
    return float(f"{ratio:.3g}")


def courses(
    studies: Mapping[str, StudyData], curves: Sequence[Curve], level: float
) -> list[Course]:
    """The values of every curve; raises `StudyError` where one names what its study does not
    have.
    """
    found = []
    for curve in curves:
        data = study_named(studies, curve.study)
        asked = Reference(study=curve.study, label=curve.label, derived=curve.derived, at=curve.at)
        points = [
            (curve.ratio(at), tuple(derived_values(data, number, asked, RATIO, level)))
            for at, number in along(data.study, curve)
        ]
        known = [(ratio, values) for ratio, values in points if values]
        found.append(Course(curve, tuple(sorted(known, key=lambda point: point[0]))))
    return found


def along(study: Study, curve: Curve) -> list[tuple[float, Derivation]]:
    """The derived numbers of a curve by the level of its factor; raises `StudyError` where it has
    no axis.
    """
    found = []
    for levels, number in instances(study, curve.derived, curve.at):
        if len(levels) != 1 or isinstance(levels[0], str):
            raise StudyError(
                f"{curve.study}: {curve.derived} has no axis",
                file="data/synthesis.yaml",
                expected="one factor with numbers left in its for_each",
                found=", ".join(map(str, levels)) or "none",
            )
        found.append((float(levels[0]), number))
    return found


def frame(found: Sequence[Course]) -> pd.DataFrame:
    """One row a curve, ratio and value, for the download and the picture."""
    rows: list[dict[str, Any]] = []
    for course in found:
        for ratio, values in course.points:
            rows += [
                {
                    "of": course.curve.of,
                    "measure": course.curve.measure,
                    "study": value.study,
                    "system": value.label,
                    "against": course.curve.against,
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
