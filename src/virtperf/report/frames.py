"""Stored results of a study, loaded once for all exhibits, and tidy frames of its numbers: one row
a point, a run or a sample.

A stage that has not run yet leaves empty tables. Every frame has the columns study, exhibit,
series, quantity, the factors that vary in the figure (typed), provenance. ``frame.attrs["axes"]``
holds axis metadata: labels with units, level names, natural bounds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from rawperf.core.errors import RawperfError, StudyError, did_you_mean, require_known
from rawperf.core.model import Level
from virtperf.core import stage_tables
from virtperf.core.estimate import Estimate
from virtperf.core.grouping import grouped
from virtperf.core.numbers import interval, pretty
from virtperf.core.provenance import RUN_KINDS, Provenance
from virtperf.core.schema import TableSchema
from virtperf.report.axis_words import axis_metadata
from virtperf.study.claims import Claim, Claims
from virtperf.study.conditions import (
    MIN_UNITS,
    RELATIVE,
    Means,
    means_by_quantity,
    rows_by_quantity,
    scale_of,
    within_bounds,
)
from virtperf.study.definition import Exhibit, Study, load_study
from virtperf.study.derived_kinds.base import Derivation
from virtperf.study.hypotheses import study_claims
from virtperf.study.parts import EVERY, QuantityKind
from virtperf.study.quantities import Quantity, quantities_of
from virtperf.study.study_samples import DEFAULT_LEVEL, StudySamples, samples_by_quantity

_INPUT_FOLDERS = ("measured", "published")  # data folders; all others are stage outputs


@dataclass(frozen=True, eq=False)
class StudyData:
    """All inputs of exhibits: the stage tables declared in `core.stage_tables`, empty if a stage
    has not run (`claim_results` is `CLAIMS`).

    `claims` is None if the study has no `claims.yaml` yet; `contradictions` and `index` are
    `contradictions.json` and the samples' `index.json`, perhaps empty; `missing` lists missing
    files, relative to the data folder.
    """

    study: Study
    claims: Claims | None
    points: pd.DataFrame
    ranges: pd.DataFrame
    claim_results: pd.DataFrame
    contradictions: dict[str, Any]
    readings: pd.DataFrame
    series: pd.DataFrame
    observations: pd.DataFrame
    means: pd.DataFrame
    lineage: pd.DataFrame
    raw_lines: pd.DataFrame
    timelines: pd.DataFrame
    distributions: pd.DataFrame
    thumbnails: pd.DataFrame
    audits: pd.DataFrame
    index: dict[str, Any]
    verdicts: pd.DataFrame
    verdicts_by_level: pd.DataFrame
    verdicts_read: pd.DataFrame
    missing: tuple[str, ...]

    def result(self, claim_id: str) -> dict[str, Any]:
        """Stage results for a claim: its rows of claims.parquet and verdicts.parquet merged into
        one dict.
        """
        return dict(self._results.get(claim_id, {}))

    def require_stages(self) -> None:
        """Raise `RawperfError` if a stage output is missing: its empty table would be mistaken for
        a result.
        """
        of_stages = (f for f in self.missing if f.partition("/")[0] not in _INPUT_FOLDERS)
        first = next(of_stages, None)
        if first is None:
            return
        folder = first.rpartition("/")[0]
        folder_exists = (self.study.folder.parent.parent / folder).is_dir()
        raise RawperfError(
            f"data/{first if folder_exists else folder} is missing",
            remedy=f"run `virtperf pipeline {self.study.id}`",
        )

    @property
    def paper_claims(self) -> tuple[Claim, ...]:
        """Claims of the paper, without our assumptions."""
        return tuple(claim for claim in self.claims or () if not claim.assumed)

    def claims_about(self, exhibit_id: str) -> tuple[str, ...]:
        """Ids of the claims about an exhibit."""
        return tuple(claim.id for claim in self.claims.about(exhibit_id)) if self.claims else ()

    def mean(self, quantity: Quantity, provenance: str, scale: str = "") -> Estimate | None:
        """Mean over the runs of one provenance at a quantity's levels; None without an observation.

        `scale`: "own", "relative", or "" for the scale of figures and claims: relative if there are
            reference points.
        """
        return self._means.get(
            (quantity, str(provenance), scale or scale_of(self.study, quantity.name))
        )

    def samples(self, provenance: Provenance) -> StudySamples:
        """Runs of each quantity, measured or example, and ratios between them."""
        return self._samples[provenance]

    @cached_property
    def _samples(self) -> dict[Provenance, StudySamples]:
        level = float(self.means["level"].iloc[0]) if len(self.means) else DEFAULT_LEVEL
        return {
            kind: samples_by_quantity(self.study, self.observations, kind, level)
            for kind in (Provenance.MEASURED, Provenance.EXAMPLE)
        }

    @cached_property
    def observed(self) -> dict[Quantity, NDArray[np.intp]]:
        """Row positions in `observations` by quantity; rows at levels removed from the study are
        left out.
        """
        rows = rows_by_quantity(self.study, self.observations)
        places = grouped((quantity, row) for row, quantity in rows)
        return {quantity: np.array(of, dtype=np.intp) for quantity, of in places.items()}

    @cached_property
    def levels_of_runs(self) -> dict[str, dict[str, Level]]:
        """Factor levels by run id: a run has one level of a factor that others are pooled over."""
        return {run["run_id"]: run["factors"] for run in self.index.get("runs", ())}

    @cached_property
    def shown(self) -> frozenset[Quantity]:
        """Quantities that a figure plots, or that a derived number compares."""
        plotted = {q for e in self.study.exhibits for _, _, q in self.study.points(e)}
        derived = quantities_of(part for d in self.derivations for part in d.parts)
        return frozenset(plotted | derived)

    @cached_property
    def derivations(self) -> tuple[Derivation, ...]:
        """All derived numbers of the study, in the order of study.yaml."""
        return tuple(self.study.derivations)

    @cached_property
    def _means(self) -> Means:
        return means_by_quantity(self.study, self.means)

    @cached_property
    def _results(self) -> dict[str, dict[str, Any]]:
        results: dict[str, dict[str, Any]] = {}
        for frame in (self.verdicts, self.claim_results):
            for row in frame.to_dict("records"):
                results.setdefault(str(row["claim"]), {}).update(
                    {str(k): v for k, v in row.items()}
                )
        return results


def load(
    study_id: str, data: Path, *, examples: bool = False, with_claims: bool = True
) -> StudyData:
    """Load a study's files below the data folder.

    Only measured runs are loaded; `examples` adds the synthetic example runs, and their verdicts if
    nothing was measured. `with_claims` False skips the claims, the slowest file to read. Raises
    `RawperfError` with the known studies for an unknown study, or with the stage to rerun if a
    file can't be read or has unexpected columns.
    """
    study = load_study(_study_folder(study_id, data))
    files = _StageFiles(data, study, examples)
    is_measured = study.kind == "measured"
    claims_file = files.find(
        study.folder.parent.name, "hypotheses.yaml" if is_measured else "claims.yaml"
    )
    contradictions = files.read_json("reconstructed", "contradictions.json")
    reading = contradictions.get("reading", "default")  # used by the stage for the other tables
    index = files.index
    measured = any(run["provenance"] == Provenance.MEASURED for run in index.get("runs", ()))
    verdict_table = stage_tables.VERDICTS
    if examples and not measured:
        verdict_table = stage_tables.EXAMPLE_VERDICTS
    return StudyData(
        study=study,
        claims=study_claims(study, reading=reading) if claims_file and with_claims else None,
        points=files.table("reconstructed", stage_tables.POINTS),
        ranges=files.table("reconstructed", stage_tables.RANGES),
        claim_results=files.table("reconstructed", stage_tables.CLAIMS),
        contradictions=contradictions,
        readings=files.table("reconstructed", stage_tables.READINGS),
        series=files.run_table(stage_tables.SERIES),
        observations=files.run_table(stage_tables.OBSERVATIONS),
        means=files.run_table(stage_tables.MEANS),
        lineage=files.run_table(stage_tables.LINEAGE),
        raw_lines=files.run_table(stage_tables.RAW_LINES),
        timelines=files.run_table(stage_tables.TIMELINES),
        distributions=files.run_table(stage_tables.DISTRIBUTIONS),
        thumbnails=files.run_table(stage_tables.THUMBNAILS),
        audits=files.run_table(stage_tables.AUDITS),
        index=index,
        verdicts=files.table("verdicts", verdict_table),
        verdicts_by_level=files.table("verdicts", stage_tables.VERDICTS_BY_LEVEL),
        verdicts_read=files.table("verdicts", stage_tables.VERDICTS_READ),
        missing=tuple(files.missing),
    )


def _study_folder(study_id: str, data: Path) -> Path:
    """Folder of a study's input files; raises `RawperfError` with the known studies."""
    folders = {
        p.parent.name: p.parent
        for root in _INPUT_FOLDERS
        for p in (data / root).glob("*/study.yaml")
    }
    if study_id in folders:
        return folders[study_id]
    known = sorted(folders)
    raise RawperfError(
        f"there is no study {study_id!r}",
        file=data / "published" / study_id,
        expected=f"one of {', '.join(known) or 'none'}",
        remedy=did_you_mean(study_id, known),
    )


class _StageFiles:
    """Reads the stage outputs of a study; `missing` collects those that do not exist.

    `examples` includes example runs.
    """

    def __init__(self, data: Path, study: Study, examples: bool) -> None:
        self.data, self.study, self.examples = data, study, examples
        self.missing: list[str] = []

    def find(self, stage: str, file: str) -> Path | None:
        """Path of a file; None if it is missing."""
        path = self.data / stage / self.study.id / file
        if path.is_file():
            return path
        if self.study.kind == "measured" and stage == "reconstructed":
            return None  # it has no text to reconstruct from
        self.missing.append(f"{stage}/{self.study.id}/{file}")
        return None

    def table(self, stage: str, table: TableSchema) -> pd.DataFrame:
        """A table of a stage; empty if its file is missing."""
        path, factors = self.find(stage, table.file), tuple(self.study.factors)
        return table.frame((), factors) if path is None else table.read(path, factors)

    def run_table(self, table: TableSchema) -> pd.DataFrame:
        """A table of the stage ``runs`` with the rows of included runs."""
        rows = self.table("runs", table)
        if "provenance" in rows:
            included = rows["provenance"].map(self._is_included)
        else:
            included = rows["run_id"].isin({run["run_id"] for run in self.index.get("runs", ())})
        return rows[included.astype(bool)].reset_index(drop=True)

    @cached_property
    def index(self) -> dict[str, Any]:
        """The index of the samples with the included runs; empty if it is missing."""
        index = self.read_json("samples", "index.json")
        for name, field in (
            ("runs", "provenance"),
            ("quarantined", "root"),
            ("excluded", "provenance"),
        ):
            if index:
                index[name] = [run for run in index.get(name, ()) if self._is_included(run[field])]
        return index

    def read_json(self, stage: str, file: str) -> dict[str, Any]:
        """A JSON file of a stage; empty if it is missing."""
        path = self.find(stage, file)
        try:
            return {} if path is None else json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError) as err:
            raise RawperfError(
                "the file can't be read as JSON",
                file=f"{stage}/{self.study.id}/{file}",
                found=str(err),
                remedy="rerun the stage that writes it.",
            ) from err

    def _is_included(self, provenance: str) -> bool:
        return self.examples or provenance != Provenance.EXAMPLE


_NO_LIMITS: dict[str, Any] = {"low": math.nan, "high": math.nan, "pieces": ()}


def points(data: StudyData, exhibit: str | Exhibit, *, assumptions: bool = True) -> pd.DataFrame:
    """Ranges allowed by the text at every point of a figure, in the study's order.

    low, high: the limits, infinite if unbounded, NaN if no stage has computed them; `assumptions`
    False uses the text alone. low_text, high_text: limits without our assumptions. pieces,
    pieces_text: the same as flat lists low, high, low, high, ... of disjoint intervals. printed,
    printed_half_width: the printed number, NaN without one. low_by, high_by, low_text_by,
    high_text_by: ids of the claims that set the limits. reference: whether the value is fixed by
    convention.
    """
    figure, study = _figure(data, exhibit), data.study
    quantities = [quantity for _, _, quantity in study.points(figure)]
    table = _frame(data, figure, _point_columns(data, figure), {})
    stored: dict[Any, Mapping[Any, Any]] = {
        (row["series"], row["x"]): row
        for row in data.points[data.points["exhibit"] == figure.id].to_dict("records")
    }
    keys = zip(table["series"], table[figure.series[0].over], strict=True)
    found = [stored.get(key, {}) for key in keys]
    if study.artifact:
        kinds = [study.quantities[quantity.name] for quantity in quantities]
        found = [
            {} if _natural_bounds_only(row, kind) else row
            for row, kind in zip(found, kinds, strict=True)
        ]
    sources = {"": "" if assumptions else "_text", "_text": "_text"}
    for suffix, source in sources.items():
        for name, absent in _NO_LIMITS.items():
            table[f"{name}{suffix}"] = [row.get(f"{name}{source}", absent) for row in found]
    printed_numbers = _printed_numbers(data)
    values = [printed_numbers.get(quantity, (math.nan, math.nan)) for quantity in quantities]
    table["printed"], table["printed_half_width"] = map(list, zip(*values, strict=True))
    for suffix, source in sources.items():
        for end in ("low", "high"):
            claims = [list(row.get(f"{end}{source}_by", ())) for row in found]
            table[f"{end}{suffix}_by"] = claims
    table["reference"] = [(study.reference_for(q) or (None,))[0] == q for q in quantities]
    table["provenance"] = [
        str(Provenance.RECONSTRUCTED if math.isnan(value) else Provenance.PUBLISHED)
        for value in table["printed"]
    ]
    return table


def _natural_bounds_only(limits: Mapping[Any, Any], kind: QuantityKind) -> bool:
    """Whether the limits are natural bounds only: the paper does not mention the point, or compares
    it with a point without a value.
    """
    if not [*limits.get("low_by", ()), *limits.get("high_by", ())]:
        return True
    return math.isinf(limits["high"]) and limits["low"] <= kind.low


def printed(data: StudyData, exhibit: str | Exhibit) -> pd.DataFrame:
    """Printed numbers of a figure's points: value, half_width (half a unit of the last digit).

    `se`: standard error of the rounding error, uniform over the rounding interval: half_width /
        sqrt(3).
    """
    table = points(data, exhibit)
    keys = list(table.columns[: table.columns.get_loc("low")])
    table = table.assign(se=table["printed_half_width"] / math.sqrt(3))
    table = table[table["printed"].notna()].rename(
        columns={"printed": "value", "printed_half_width": "half_width"}
    )
    return table[[*keys, "value", "se", "half_width", "provenance"]].reset_index(drop=True)


def runs(data: StudyData, exhibit: str | Exhibit) -> pd.DataFrame:
    """Runs behind a figure: run_id, value, se, df in the figure's unit; runs without a value are
    left out.
    """
    figure = _figure(data, exhibit)
    places = zip(_point_columns(data, figure), data.study.points(figure), strict=True)
    rows = [row | run for row, (_, _, quantity) in places for run in _runs_of(data, quantity)]
    return _frame(data, figure, rows, _NO_RUN)


_NO_RUN = {
    "run_id": "",
    **dict.fromkeys(("replicate", "value", "se", "df"), math.nan),
    "provenance": "",
}
"""Columns of a frame without runs, by the type of their cells."""


def condition(data: StudyData, quantity: Quantity) -> pd.DataFrame:
    """Runs of a quantity at levels that need not be in a figure."""
    row = {
        "study": data.study.id,
        "exhibit": "",
        "series": data.study.quantities[quantity.name].label,
        "quantity": quantity.name,
        **dict(quantity.at),
    }
    rows = [row | run for run in _runs_of(data, quantity)]
    return pd.DataFrame(rows) if rows else pd.DataFrame([row | _NO_RUN]).iloc[:0]


def means(data: StudyData, exhibit: str | Exhibit, *, level: float | None = None) -> pd.DataFrame:
    """Means over runs in the figure's unit, one row a point and provenance: value, low, high, se,
    df, n, runs. Intervals end at the quantity's natural bounds.

    On a relative axis, runs without the reference point have no mean. `level` None keeps the stored
    intervals. A mean over fewer than `MIN_UNITS` levels of a pooled factor, such as machines, has
    none: nothing is judged by it either.
    """
    figure = _figure(data, exhibit)
    rows = [
        row | cells
        for row, (_, _, quantity) in zip(
            _point_columns(data, figure), data.study.points(figure), strict=True
        )
        for kind in RUN_KINDS
        if (cells := _mean_cells(data, quantity, kind, level))
    ]
    numbers = ("value", "low", "high", "se", "df", "n", "runs")
    return _frame(data, figure, rows, dict.fromkeys(numbers, math.nan) | {"provenance": ""})


def _mean_cells(
    data: StudyData, quantity: Quantity, provenance: str, level: float | None
) -> dict[str, Any]:
    """Cells of a mean over runs, empty without one."""
    mean, kind = data.mean(quantity, provenance), data.study.quantities[quantity.name]
    if mean is None:
        return {}
    assert mean.origin is not None  # `StudyData.mean` gives every mean its origin
    scale = scale_of(data.study, quantity.name)
    shown = mean if level is None else within_bounds(mean.at(level), kind, scale)
    low, high = shown.low, shown.high
    pooled = data.study.pooled_factor
    if pooled and quantity.level(pooled.name) == EVERY and mean.df < MIN_UNITS - 1:
        low = high = math.nan
    return {
        "value": shown.value,
        "low": low,
        "high": high,
        **{name: getattr(shown, name) for name in ("se", "df", "n")},
        "runs": list(mean.origin.runs),
        "provenance": str(mean.origin.provenance),
    }


def timeline(data: StudyData, exhibit: str | Exhibit) -> pd.DataFrame:
    """Samples of a time series figure: t_s, value, unit, run_id; only of the best provenance
    available.

    Raises `StudyError` if the exhibit is not a time series.
    """
    figure = _figure_of_kind(data, exhibit, "timeseries", "time series")
    return _best_provenance(data, figure, data.timelines)


def over_time(data: StudyData) -> pd.DataFrame:
    """A metric of every run over its whole length, at most 80 steps: run_id, replicate, provenance,
    factors, metric, t_s since the start of the run, value, relative (to the mean within the
    window; NaN without a window), window_begin_s, window_end_s.
    """
    runs: list[dict[str, Any]] = []
    for run in data.index.get("runs", ()):
        begin, end = run["window_s"] or (math.nan, math.nan)
        head = {name: run[name] for name in ("run_id", "replicate", "provenance")}
        runs.append({**head, **run["factors"], "window_begin_s": begin, "window_end_s": end})
    columns = ["run_id", "replicate", "provenance", *data.study.factors]
    window = ["window_begin_s", "window_end_s"]
    known = pd.DataFrame(runs, columns=[*columns, *window])
    table = known.merge(data.thumbnails, on="run_id")
    within = table["t_s"].between(table["window_begin_s"], table["window_end_s"])
    means = table["value"].where(within).groupby(table["run_id"]).transform("mean")
    table["relative"] = table["value"] / means
    return table[[*columns, "metric", "t_s", "value", "relative", *window]]


def distribution(data: StudyData, exhibit: str | Exhibit) -> pd.DataFrame:
    """Samples of a distribution figure, ascending: series, value, unit, run_id; only of the best
    provenance available.

    Raises `StudyError` if the exhibit is not a distribution.
    """
    figure = _figure_of_kind(data, exhibit, "distribution", "distribution")
    shown = _best_provenance(data, figure, data.distributions)
    order = [series.label for series in figure.series]
    shown = shown.sort_values(
        "series", key=lambda column: column.map(order.index), kind="stable"
    ).reset_index(drop=True)
    shown.attrs["axes"] = axis_metadata(data.study, figure)
    return shown


def _best_provenance(data: StudyData, figure: Exhibit, table: pd.DataFrame) -> pd.DataFrame:
    """Rows of a figure, of the first of `RUN_KINDS` that has some."""
    table = table[table["exhibit"] == figure.id]
    best = next((str(kind) for kind in RUN_KINDS if kind in set(table["provenance"])), "")
    shown = table[table["provenance"] == best].reset_index(drop=True)
    return shown.assign(study=data.study.id)[["study", *table.columns]]


def find_exhibit(data: StudyData, exhibit: str | Exhibit) -> Exhibit:
    """Look up an exhibit by id; raises `StudyError` with close matches."""
    if isinstance(exhibit, Exhibit):
        return exhibit
    known = {e.id: e for e in data.study.exhibits}
    require_known(exhibit, known, f"there is no exhibit {exhibit!r}", StudyError)
    return known[exhibit]


def _figure(data: StudyData, exhibit: str | Exhibit) -> Exhibit:
    figure = find_exhibit(data, exhibit)
    if not figure.series:
        known = ", ".join(e.id for e in data.study.exhibits if e.series)
        raise StudyError(
            f"{figure.id} has no series to draw", file="study.yaml", expected=f"one of {known}"
        )
    return figure


def _figure_of_kind(data: StudyData, exhibit: str | Exhibit, kind: str, words: str) -> Exhibit:
    figure = find_exhibit(data, exhibit)
    if figure.kind != kind:
        raise StudyError(
            f"{figure.id} is not a {words} figure",
            file="study.yaml",
            expected=f"kind: {kind}",
        )
    return figure


def _point_columns(data: StudyData, figure: Exhibit) -> list[dict[str, Any]]:
    """Columns common to all frames of a figure, for each of its points."""
    named_factors = {name for s in figure.series for name in (*s.at, s.over)}
    factors = [name for name in data.study.factors if name in named_factors]
    return [
        {
            "study": data.study.id,
            "exhibit": figure.id,
            "series": series.label,
            "quantity": quantity.name,
            **{name: quantity.level(name) for name in factors},
        }
        for series, _, quantity in data.study.points(figure)
    ]


def _frame(
    data: StudyData, figure: Exhibit, rows: list[dict[str, Any]], absent: dict[str, Any]
) -> pd.DataFrame:
    """Build a frame with axis metadata; the columns of an empty one have their types, those of
    `absent` cells behind the columns of a point.
    """
    example = _point_columns(data, figure)[0] | absent
    frame = pd.DataFrame(rows) if rows else pd.DataFrame([example]).iloc[:0]
    frame.attrs["axes"] = axis_metadata(data.study, figure)
    return frame


def _printed_numbers(data: StudyData) -> dict[Quantity, tuple[float, float]]:
    """Value and half-width of every number printed with digits and without a vague word.

    Of two numbers for one point, the one that is not set aside has precedence; numbers that are set
    aside are included.
    """
    dropped = set(data.claim_results.loc[data.claim_results["dropped"].astype(bool), "claim"])
    numbers: dict[Quantity, tuple[float, float]] = {}
    for claim in sorted(data.claims or (), key=lambda claim: claim.id in dropped):
        if not claim.prints_level or claim.value is None or claim.assumed or claim.word:
            continue
        if claim.reading and claim.low == claim.high:  # counted by us: "all", "none"
            continue
        for instance in claim.instances:
            terms = instance.parts[0].terms
            if len(terms) == 1 and terms[0][0] == 1:
                numbers.setdefault(terms[0][1], (claim.value, (claim.high - claim.low) / 2))
    return numbers


def _runs_of(data: StudyData, quantity: Quantity) -> list[dict[str, Any]]:
    rows = data.observations.iloc[data.observed.get(quantity, np.empty(0, dtype=np.intp))]
    prefix = "relative_" if scale_of(data.study, quantity.name) == RELATIVE else ""
    value = "relative" if prefix else "value"
    rows = rows[np.isfinite(rows[value])]
    numbers = {"value": rows[value], "se": rows[f"{prefix}se"], "df": rows[f"{prefix}df"]}
    runs = rows[["run_id", "replicate"]].assign(**numbers, provenance=rows["provenance"])
    if pooled := data.study.pooled_factor:
        runs[pooled.name] = [data.levels_of_runs[run][pooled.name] for run in runs["run_id"]]
    return [{str(name): cell for name, cell in run.items()} for run in runs.to_dict("records")]


PROVENANCES = ("measured", "example")


def point_table(
    data: StudyData, exhibit: Exhibit, *, level: float, assumptions: bool = True
) -> pd.DataFrame:
    """The one frame of a figure, which is drawn, tabulated and downloaded: its points with the means of
    runs, one row a point.

    Adds ``x``, the level on the figure's axis; for each kind of run ``measured``, ``measured_low``,
    ``measured_high`` (NaN without runs) and ``measured_runs`` (ids); ``known``: whether a stage has
    computed limits.
    """
    table = points(data, exhibit, assumptions=assumptions)
    table["x"] = table[exhibit.series[0].over]
    quantities = [quantity for _, _, quantity in data.study.points(exhibit)]
    for kind in PROVENANCES:
        rows = [_mean_cells(data, quantity, kind, level) for quantity in quantities]
        for name, part in ((kind, "value"), (f"{kind}_low", "low"), (f"{kind}_high", "high")):
            table[name] = [row.get(part, math.nan) for row in rows]
        table[f"{kind}_runs"] = [row.get("runs", []) for row in rows]
    table["known"] = table["low"].notna()
    return table


def allowed(pieces: Sequence[float], absent: str = "not computed") -> str:
    """Format flattened disjoint intervals: ``60 to 61 or 90 to 95``; `absent` if empty."""
    ends = merge_pieces(pieces)
    return (
        " or ".join(interval(low, high) for low, high in zip(ends[::2], ends[1::2], strict=True))
        or absent
    )


def merge_pieces(pieces: Sequence[float]) -> list[float]:
    """Merge flattened disjoint intervals with gaps smaller than the printed digits."""
    ends = list(pieces[:1])
    for high, low in zip(pieces[1::2], pieces[2::2], strict=False):
        if pretty(high) != pretty(low):
            ends += [high, low]
    return [*ends, *pieces[-1:]]


def is_printed_value(points: pd.DataFrame) -> pd.Series:
    """Mask of the printed numbers inside the range left by the text; outside are misprints, and
    numbers refined by other statements, such as 1/6 printed as 17 %.
    """
    near = 1e-6 * points["printed"].abs()
    outside = (points["printed"] < points["low"] - near) | (
        points["printed"] > points["high"] + near
    )
    return points["printed"].notna() & ~(points["known"] & outside)
