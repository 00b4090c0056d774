"""A study's exhibits by their paper's names: what a notebook imports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from virtperf.core.errors import StudyError
from virtperf.exhibits import data as files
from virtperf.exhibits.anchor import anchored
from virtperf.exhibits.attempt import Unavailable
from virtperf.exhibits.claims import claims_exhibit
from virtperf.exhibits.computed import computed_exhibit
from virtperf.exhibits.contradictions import contradictions_exhibit
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.diagram import diagram_exhibit
from virtperf.exhibits.display import Shown
from virtperf.exhibits.equivalence import EquivalenceLike, equivalence_exhibit
from virtperf.exhibits.estimates import estimates_exhibit
from virtperf.exhibits.figure import figure_exhibit, numbers
from virtperf.exhibits.hypotheses import hypotheses_exhibit
from virtperf.exhibits.layers import Point, load_means, load_points, load_printed
from virtperf.exhibits.line import curve_table
from virtperf.exhibits.quality import quality_exhibit
from virtperf.exhibits.region import region_exhibit
from virtperf.exhibits.registers import assumptions_exhibit, errata_exhibit
from virtperf.exhibits.runs import printed_behind, replicates, runs_behind
from virtperf.exhibits.summary import summary_exhibit
from virtperf.exhibits.table import table_exhibit
from virtperf.exhibits.timeseries import series_table, timeseries_exhibit
from virtperf.exhibits.wording import exhibit_name
from virtperf.study.definition import Exhibit, Study
from virtperf.study.quantities import Level


class Book:
    """All exhibits of one study.

    Parameters
    ----------
    study : str
        The study's id.
    data : path
        The repository's `data` folder.
    level : float
        Confidence level of intervals.
    seed : int
        For whatever draws random numbers; exhibits themselves draw none.
    assumptions : bool
        Whether bands are shown with our assumptions; False shows what the paper alone allows.
    show_examples : bool
        Whether runs of provenance "example" are drawn (with a mark of their own; they never count in a verdict).

    Every method returns an object that a notebook shows as HTML and as a text table of the numbers behind it.
    """

    def __init__(
        self,
        study: str,
        data: str | Path,
        *,
        level: float = 0.95,
        seed: int = 0,
        assumptions: bool = True,
        show_examples: bool = False,
    ) -> None:
        self._data = files.load(study, Path(data))
        self.level = level
        self.seed = seed
        self._with_assumptions = assumptions
        self.show_examples = show_examples

    @property
    def data(self) -> StudyData:
        """Everything that the study's exhibits draw from."""
        return self._data

    def plotted(self, exhibit_id: str) -> list[Point]:
        """The points of a figure in all their layers."""
        return list(self._points_of(self.study.exhibit(exhibit_id)))

    @property
    def study(self) -> Study:
        """The study's definition."""
        return self._data.study

    @cached_property
    def _points(self) -> dict[str, list[Point]]:
        means, absolute = (load_means(self._data, self.level, absolute=a) for a in (False, True))
        prints = load_printed(self._data)
        found = {}
        for e in (e for e in self.study.exhibits if e.series):
            points = load_points(
                self._data, e, means, prints, examples=self.show_examples, assumptions=self._with_assumptions
            )
            for provenance in ("measured", "example") if self.show_examples else ("measured",):
                points = anchored(points, absolute, provenance)
            found[e.id] = points
        return found

    def points(self, exhibit_id: str) -> pd.DataFrame:
        """The numbers behind a figure, one row a point: what its CSV download holds, for fits in the notebook."""
        exhibit = self.study.exhibit(exhibit_id)
        return numbers(self._data, exhibit, self._points_of(exhibit))

    def observations(self, exhibit_id: str, provenance: str | None = None) -> pd.DataFrame:
        """The runs behind a figure, one row a run and point: series, x, run_id, provenance, value, se.

        Values are in the figure's unit; relative quantities are in percent of their reference. With provenance
        "published" a row is a number that the paper prints (run_id is empty), its standard error that of rounding, and
        half_width is half the step of its last digit.
        """
        exhibit = self.study.exhibit(exhibit_id)
        points = self._points_of(exhibit)
        return printed_behind(points) if provenance == "published" else runs_behind(self._data, points, provenance)

    def values(self, exhibit_id: str, series: str, x: Level, provenance: str) -> np.ndarray:
        """The replicates behind one point of a figure, in the figure's unit; shape (runs,), perhaps none."""
        runs = self.observations(exhibit_id, provenance)
        here = np.array([level == x for level in runs["x"]], dtype=bool) & (runs["series"] == series).to_numpy()
        return runs["value"].to_numpy(dtype=float)[here]

    def condition(self, quantity: str, provenance: str, **levels: Level) -> np.ndarray:
        """The replicates of a quantity under a condition that no figure shows; shape (runs,)."""
        return replicates(self._data, self.study.quantity_at(quantity, levels), provenance)

    def summary(self) -> Shown:
        """The headline box: what the text pins down, verdict counts, contradictions, runs."""
        return summary_exhibit(self._data, [p for points in self._points.values() for p in points])

    def table(self, exhibit_id: str) -> Shown:
        """A printed table with its corrections marked."""
        return table_exhibit(self.study, self.study.exhibit(exhibit_id))

    def diagram(self, exhibit_id: str) -> Shown:
        """A diagram of the setup."""
        return diagram_exhibit(self.study, self.study.exhibit(exhibit_id))

    def figure(self, exhibit_id: str, *, curves: Mapping[str, Any] | None = None) -> Shown:
        """A figure in its three layers.

        Parameters
        ----------
        curves : mapping, optional
            Fitted models by series label; each has ``predict(x, interval="mean", alpha=...)``, or is `Unavailable`.

        Raises
        ------
        StudyError
            The exhibit is no figure with series; a curve's label is no series of it, or its axis is not numeric.
        """
        exhibit = self.study.exhibit(exhibit_id)
        points = self._points_of(exhibit)
        drawn = {}
        for label, fit in (curves or {}).items():
            if isinstance(fit, Unavailable):
                continue
            x = [p.x for p in points if p.series.label == label]
            if not x or not all(isinstance(level, int | float) for level in x):
                known = ", ".join(dict.fromkeys(p.series.label for p in points))
                raise StudyError(
                    f"{exhibit_id}: no curve can be drawn for {label!r}",
                    expected=f"a series with a numeric axis; series are {known}",
                )
            drawn[label] = curve_table(fit, [float(level) for level in x], self.level)
        return figure_exhibit(self._data, exhibit, points, drawn, level=self.level, assumptions=self._with_assumptions)

    def timeseries(self, exhibit_id: str) -> Shown:
        """A figure over time."""
        exhibit = self.study.exhibit(exhibit_id)
        points = self._points.get(exhibit_id, [])
        return timeseries_exhibit(self._data, exhibit, points, examples=self.show_examples)

    def samples(self, exhibit_id: str) -> pd.DataFrame:
        """The samples behind a figure over time: series, unit, provenance, run_id, t_s, value."""
        return series_table(self._data, self.study.exhibit(exhibit_id), examples=self.show_examples)

    def claims(self, exhibit_id: str | None = None) -> Shown:
        """What the paper says about an exhibit (``"text"``: about none; nothing: everything), with verdicts."""
        claims = self._data.claims
        if exhibit_id is None:
            chosen, title = tuple(c for c in claims or () if not c.assumed), "All statements of the paper"
        elif exhibit_id == "text":
            chosen, title = claims.about("text") if claims else (), "What the paper says elsewhere"
        else:
            exhibit = self.study.exhibit(exhibit_id)
            chosen = claims.about(exhibit_id) if claims else ()
            title = f"What the paper says about {exhibit_name(exhibit.id, exhibit.kind)}"
        chosen = tuple(c for c in chosen if not c.assumed)
        return claims_exhibit(self._data, chosen, anchor=f"{exhibit_id or 'all'}-claims", title=title)

    def estimates(
        self,
        estimates: Mapping[str, Any],
        *,
        title: str,
        provenance: str = "reconstructed",
        unit: str = "",
        anchor: str = "",
        of: Sequence[str] = (),
    ) -> Shown:
        """A table of estimates with intervals: label to `Estimate`, or label to a mapping of them.

        `of` names the exhibits (or runs) whose values were computed with, so that a reader can go back to them.
        """
        return estimates_exhibit(
            estimates, title=title, provenance=provenance, unit=unit, anchor=anchor, study=self.study.id, of=of
        )

    def equivalence(
        self, test: EquivalenceLike, *, title: str, provenance: str = "reconstructed", of: Sequence[str] = ()
    ) -> Shown:
        """The outcome of an equivalence test (`virtperf.models.tost`)."""
        if isinstance(test, Unavailable):
            return estimates_exhibit({"verdict": test}, title=title, provenance=provenance, study=self.study.id, of=of)
        return equivalence_exhibit(test, title=title, provenance=provenance, study=self.study.id, of=of)

    def tests(
        self, tests: Mapping[str, Any], *, title: str, provenance: str = "reconstructed", of: Sequence[str] = ()
    ) -> Shown:
        """A table of significance tests: label to `FTest`."""
        return hypotheses_exhibit(
            tests, title=title, provenance=provenance, level=self.level, study=self.study.id, of=of
        )

    def regions(
        self,
        fits: Mapping[str, Any],
        published: Mapping[str, tuple[float, float]],
        *,
        title: str,
        axes: tuple[str, str],
        provenance: str = "reconstructed",
        of: Sequence[str] = (),
    ) -> Shown:
        """Joint confidence regions of straight lines, with the printed pairs of intercept and slope."""
        return region_exhibit(
            fits, published, title=title, axes=axes, provenance=provenance, level=self.level, study=self.study.id, of=of
        )

    def computed(self, frame: pd.DataFrame, *, title: str, note: str, provenance: str = "published") -> Shown:
        """A small table that the notebook has computed, and how."""
        return computed_exhibit(frame, title=title, note=note, provenance=provenance, study=self.study.id)

    def contradictions(self) -> Shown:
        """Statements of the paper that cannot all hold."""
        return contradictions_exhibit(self._data)

    def assumptions(self) -> Shown:
        """Assumptions of ours."""
        return assumptions_exhibit(self._data, on=self._with_assumptions)

    def errata(self) -> Shown:
        """Misprints of the paper."""
        return errata_exhibit(self._data)

    def quality(self) -> Shown:
        """Refused runs, warnings, audits, warm-up, stationarity."""
        return quality_exhibit(self._data)

    def _points_of(self, exhibit: Exhibit) -> list[Point]:
        if exhibit.id not in self._points:
            raise StudyError(
                f"{exhibit.id} has no series to draw", file="study.yaml", remedy="use table() or diagram()"
            )
        return self._points[exhibit.id]
