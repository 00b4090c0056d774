"""Where every plotted value comes from: its formula, the runs and lines behind it, the statements that pin it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from fnmatch import fnmatchcase
from typing import Any

import pandas as pd

from virtperf.exhibits.book import Book
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.layers import Point
from virtperf.exhibits.wording import slug
from virtperf.study.definition import QuantityKind
from virtperf.study.quantities import Quantity

STATISTICS = {
    "mean": "mean of the steady window",
    "median": "median over the window",
    "max": "maximum over the window",
}


@dataclass(frozen=True)
class FileLines:
    """Samples of one raw file that a value rests on: lines from 1, or 0 where the format does not say."""

    path: str
    first_line: int
    last_line: int
    samples: int

    @property
    def lines(self) -> str:
        """Where they stand, in words."""
        if not self.last_line:
            return "lines not told by this format"
        one = self.first_line == self.last_line
        return f"line {self.first_line}" if one else f"lines {self.first_line} to {self.last_line}"


@dataclass(frozen=True)
class RunTrail:
    """One run's part of a value, and the raw lines that it was read from; the window is the one that was evaluated."""

    run: str
    provenance: str
    value: float
    metric: str
    source: str
    window_s: tuple[float, float]
    note: str
    files: tuple[FileLines, ...]


@dataclass(frozen=True)
class Trail:
    """Everything behind one plotted value; `key` names it for good."""

    key: str
    exhibit: str
    series: str
    x: str
    quantity: str
    words: str
    unit: str
    formula: str
    printed: float | None
    printed_by: tuple[str, ...]
    low: float | None
    high: float | None
    low_by: tuple[str, ...]
    high_by: tuple[str, ...]
    centre: float | None
    runs: tuple[RunTrail, ...]
    excluded: tuple[tuple[str, str], ...]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def trail_key(study: str, exhibit: str, series: str, x: Any) -> str:
    """The permanent name of a plotted value, such as ``zvm/figure-5/xen/12``."""
    return "/".join([study, exhibit, slug(series), slug(str(x))])


def trails(book: Book) -> Iterator[Trail]:
    """The trails of every point of every figure, in the study's order."""
    samples = _Samples(book.data)
    for exhibit in book.study.exhibits:
        if exhibit.series:
            for point in book.plotted(exhibit.id):
                yield _trail(book.data, samples, exhibit.id, point)


class _Samples:
    """The samples of runs by metric and kind of entity; each run's are read once."""

    COLUMNS = ("metric", "entity_kind", "source", "entity", "t_s", "file", "line")

    def __init__(self, data: StudyData) -> None:
        self._folder = data.samples
        self._tables: dict[str, pd.DataFrame] = {}

    def of(self, run: str, metric: str, entity_kind: str) -> pd.DataFrame:
        if run not in self._tables:
            self._tables[run] = pd.read_parquet(self._folder / f"{run}.parquet", columns=list(self.COLUMNS))
        table = self._tables[run]
        return table[(table["metric"] == metric) & (table["entity_kind"] == entity_kind)]


def _trail(data: StudyData, samples: _Samples, exhibit: str, point: Point) -> Trail:
    study, quantity = data.study, point.quantity
    kind = study.quantities[quantity.name]
    column = "relative" if kind.references else "value"  # a run whose reference was not run has no relative value
    rows = _observed(data, quantity)
    printed_by = tuple(
        c.id
        for c in data.claims or ()
        if point.published is not None and c.kind == "value" and not c.assumed
        and any(len(i.parts[0].terms) == 1 and i.parts[0].terms[0] == (1.0, quantity) for i in c.instances)
    )  # fmt: skip
    info = {str(run["run_id"]): run for run in data.index.get("runs", [])}
    runs = tuple(_run(row, info.get(str(row["run_id"]), {}), kind, samples) for row in rows if _finite(row[column]))
    unseen = [(str(row["run_id"]), str(row["note"])) for row in rows if not _finite(row[column])]
    refused = [
        (str(q["run"]), f"{q['problem']} ({q['file']}, line {q['line']})") for q in data.index.get("quarantined", [])
    ]
    return Trail(
        key=trail_key(study.id, exhibit, point.series.label, point.x), exhibit=exhibit, series=point.series.label,
        x=str(point.x), quantity=quantity.key(), words=study.show(quantity), unit=kind.unit,
        formula=formula(data, quantity), printed=point.published.value if point.published else None,
        printed_by=printed_by, low=_limit(point.low), high=_limit(point.high), low_by=point.low_by,
        high_by=point.high_by, centre=_limit(point.centre), runs=runs, excluded=tuple(unseen + refused),
    )  # fmt: skip


def _observed(data: StudyData, quantity: Quantity) -> list[dict[str, Any]]:
    table = data.observations.iloc[data.observed.get(quantity, [])]
    order = {"measured": 0, "reconstructed": 1}
    rows = [{str(k): v for k, v in row.items()} for row in table.to_dict("records")]
    return sorted(rows, key=lambda row: (order.get(row["provenance"], 2), row["run_id"]))


def _run(row: Mapping[str, Any], info: Mapping[str, Any], kind: QuantityKind, samples: _Samples) -> RunTrail:
    declared, end = (float(v) for v in info.get("window_s", (math.nan, math.nan)))
    begin = row["begin_s"] if _finite(row["begin_s"]) else declared  # later where the warm-up lasted longer
    rule = kind.observed
    wanted = [
        (s["metric"], s["entity_kind"], s.get("entity")) for s in rule.get("from", ()) if s["metric"] == row["metric"]
    ]
    wanted += [(s["metric"], s["entity_kind"], s.get("entity")) for s in ([rule["per"]] if "per" in rule else [])]
    files: list[FileLines] = []
    for metric, entity_kind, entity in wanted:
        chosen = samples.of(str(row["run_id"]), metric, entity_kind)
        if metric == row["metric"]:
            chosen = chosen[chosen["source"] == row["source"]]
        if entity is not None:
            chosen = chosen[[fnmatchcase(str(name).casefold(), entity.casefold()) for name in chosen["entity"]]]
        since = begin if metric == row["metric"] else declared
        inside = chosen["t_s"].isna() | ((chosen["t_s"] > since) & (chosen["t_s"] <= end))
        for path, group in chosen[inside].groupby("file", sort=True):
            lines = group["line"].to_numpy()
            files.append(FileLines(str(path), int(lines.min()), int(lines.max()), len(group)))
    relative = bool(kind.references)
    return RunTrail(
        str(row["run_id"]), str(row["provenance"]), float(row["relative" if relative else "value"]), str(row["metric"]),
        str(row["source"]), (begin, end), str(row["note"] or ""), tuple(files),
    )  # fmt: skip


def formula(data: StudyData, quantity: Quantity) -> str:
    """How a run's samples become the value, in words."""
    kind = data.study.quantities[quantity.name]
    rule = kind.observed
    if not rule:
        return "not observed in runs: it is arithmetic of the setup, or printed"
    parts = [_source(source) for source in rule["from"]]
    how = "the sum over all entities" if rule["combine"] == "sum" else "the mean over all entities"
    words = f"{how} of the {STATISTICS[rule.get('statistic', 'mean')]} of {' or, where a run has none, '.join(parts)}"
    if "per" in rule:
        words += f", divided by the same of {_source(rule['per'])}"
    if float(rule.get("scale", 1)) != 1:
        words += f", times {float(rule['scale']):.6g}"
    found = data.study.reference_for(quantity)
    if found is not None:
        words += f", relative to the mean of the runs at {data.study.show(found[0])}, which is {found[1]:g}"
    return f"{words}. Plotted: the mean over runs."


def _source(source: Mapping[str, str]) -> str:
    named = f" {source['entity']}" if "entity" in source else ""
    return f"{source['metric']} ({source['entity_kind']}{named})"


def _finite(value: Any) -> bool:
    return isinstance(value, float) and math.isfinite(value)


def _limit(value: float) -> float | None:
    return value if math.isfinite(value) else None
