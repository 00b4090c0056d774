"""The three layers of a figure's points: what the text allows, what was reconstructed, what was measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from virtperf.core.errors import StudyError
from virtperf.exhibits.data import StudyData, as_level, names
from virtperf.study.definition import Exhibit, Series
from virtperf.study.quantities import Level, Quantity


@dataclass(frozen=True)
class Mean:
    """A mean over replicates with its interval.

    Attributes
    ----------
    value, low, high : float
        In the quantity's unit; the limits are NaN where one run without a standard error is all there is.
    runs : tuple of str
    """

    value: float
    low: float
    high: float
    runs: tuple[str, ...]


@dataclass(frozen=True)
class Printed:
    """A number that the paper prints for one quantity, and half the step of its last digit."""

    value: float
    half_width: float


@dataclass(frozen=True)
class Point:
    """One plotted point in all its layers; `inf` limits are absent limits, NaN means that no stage has set them.

    Attributes
    ----------
    low, high, centre : float
        What the text allows, and the reconstruction's centre.
    low_bare, high_bare : float
        What it allows without our assumptions.
    low_by, high_by : tuple of str
        Claims that set the limits.
    reconstructed, measured, example : Mean or None
        From runs.
    published : Printed or None
        The number that the paper prints for this very point.
    anchor : Quantity or None
        The point at which own runs were put on the figure's scale, where its reference was not run (`anchored`).
    """

    series: Series
    x: Level
    quantity: Quantity
    low: float
    high: float
    centre: float
    low_bare: float
    high_bare: float
    low_by: tuple[str, ...]
    high_by: tuple[str, ...]
    reconstructed: Mean | None
    measured: Mean | None
    example: Mean | None
    published: Printed | None = None
    anchor: Quantity | None = None

    @property
    def hollow(self) -> float:
        """Where the hollow point stands: the mean of reconstructed runs, else the centre if nothing is printed."""
        if self.reconstructed is None and self.published is not None:
            return math.nan
        return self.reconstructed.value if self.reconstructed else self.centre

    @property
    def banded(self) -> bool:
        """Whether a band is drawn: a number that is only printed needs none, its rounding is all the room there is."""
        return self.known and (self.published is None or math.isfinite(self.hollow))

    @property
    def shown(self) -> float:
        """The value that words speak of: measured, else printed, else reconstructed."""
        if self.measured is not None:
            return self.measured.value
        return self.published.value if self.published is not None else self.hollow

    @property
    def known(self) -> bool:
        """Whether the reconstruction has spoken of this point."""
        return not math.isnan(self.low)


def load_points(
    data: StudyData,
    exhibit: Exhibit,
    means: Mapping[tuple[Quantity, str], Mean],
    printed: Mapping[Quantity, Printed],
    *,
    examples: bool,
    assumptions: bool,
) -> list[Point]:
    """Every point of a figure, in the study's order.

    Parameters
    ----------
    means, printed : mapping
        Of all quantities: results of `load_means` and `load_printed`.
    examples : bool
        Whether runs of provenance example are included.
    assumptions : bool
        False puts the limits without our assumptions in place of the others.

    Raises
    ------
    StudyError
        The exhibit has no series.
    """
    if not exhibit.series:
        raise StudyError(f"{exhibit.id} has no series to draw", file="study.yaml", remedy="use table() or diagram()")
    rows = {
        (str(row["series"]), as_level(row["x"])): row
        for row in data.points[data.points["exhibit"] == exhibit.id].to_dict("records")
    }
    points = []
    for series, x, quantity in data.study.points(exhibit):
        row = rows.get((series.label, x), {})
        low_bare = _limit(row, "low_bare", -math.inf)
        high_bare = _limit(row, "high_bare", math.inf)
        points.append(
            Point(
                series, x, quantity,
                low=_limit(row, "low", -math.inf) if assumptions else low_bare,
                high=_limit(row, "high", math.inf) if assumptions else high_bare,
                centre=float(row.get("centre", math.nan)), low_bare=low_bare, high_bare=high_bare,
                low_by=names(row.get("low_by")), high_by=names(row.get("high_by")),
                reconstructed=means.get((quantity, "reconstructed")), measured=means.get((quantity, "measured")),
                example=means.get((quantity, "example")) if examples else None,
                published=printed.get(quantity),
            )
        )  # fmt: skip
    return points


def load_printed(data: StudyData) -> dict[Quantity, Printed]:
    """Every quantity whose value the paper prints as it stands: no vague word, not set aside as contradicted."""
    if data.claims is None:
        return {}
    dropped = set(data.claim_results.loc[data.claim_results["dropped"].astype(str) == "1", "claim"])
    found: dict[Quantity, Printed] = {}
    for claim in data.claims:
        if claim.kind != "value" or claim.value is None or claim.assumed or claim.reading or claim.id in dropped:
            continue
        for instance in claim.instances:
            terms = instance.parts[0].terms
            if len(terms) == 1 and terms[0][0] == 1:
                found.setdefault(terms[0][1], Printed(claim.value, (claim.high - claim.low) / 2))
    return found


def _limit(row: dict, name: str, absent: float) -> float:
    if name not in row:
        return math.nan
    value = float(row[name])
    return absent if math.isnan(value) else value


def load_means(data: StudyData, level: float, *, absolute: bool = False) -> dict[tuple[Quantity, str], Mean]:
    """Means by quantity and provenance; `absolute`: in the runs' own unit even where the study's scale is relative."""
    table = data.observations
    provenances, runs = table["provenance"].to_numpy(dtype=object), table["run_id"].to_numpy(dtype=object)
    numbers = {c: table[c].to_numpy(dtype=float) for c in ("value", "se", "relative", "relative_se")}
    means: dict[tuple[Quantity, str], Mean] = {}
    for quantity, rows in data.observed.items():
        relative = bool(data.study.quantities[quantity.name].references) and not absolute
        values, errors = numbers["relative" if relative else "value"], numbers["relative_se" if relative else "se"]
        for provenance in sorted(set(provenances[rows])):
            own = rows[(provenances[rows] == provenance) & np.isfinite(values[rows])]
            if len(own):
                means[quantity, str(provenance)] = combine(values[own], errors[own], runs[own], level)
    return means


def combine(values: NDArray[np.float64], errors: NDArray[np.float64], runs: Iterable[object], level: float) -> Mean:
    """The mean over the runs of one condition.

    With two or more runs the interval is Student's t over runs, since run-to-run variation is what a reader wants to
    see past; one run alone gets a normal interval from its own standard error.
    """
    mean = float(values.mean())
    if len(values) > 1:
        half = special.stdtrit(len(values) - 1, (1 + level) / 2) * float(values.std(ddof=1)) / math.sqrt(len(values))
    else:
        half = float(special.ndtri((1 + level) / 2)) * float(errors[0])
    return Mean(mean, mean - half, mean + half, tuple(sorted(str(r) for r in runs)))
