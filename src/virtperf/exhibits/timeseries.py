"""Figures over time: the samples of one run, and what the text allows for the levels that it speaks of."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from virtperf.core.errors import StudyError
from virtperf.exhibits import display
from virtperf.exhibits.axes import left_margin, y_axis
from virtperf.exhibits.data import StudyData, as_level
from virtperf.exhibits.display import Shown
from virtperf.exhibits.layers import Point
from virtperf.exhibits.legend import swatches
from virtperf.exhibits.seal import sealed
from virtperf.exhibits.style import INK, MUTED, NARROW, WIDE, Size, house_style, look, panels
from virtperf.exhibits.svg import to_svg
from virtperf.exhibits.wording import exhibit_name, interval, joined, number, pretty
from virtperf.study.definition import Exhibit

COLUMNS = ("series", "unit", "provenance", "run_id", "t_s", "value")
PREFERENCE = ("measured", "reconstructed", "example")


def series_table(data: StudyData, exhibit: Exhibit, *, examples: bool) -> pd.DataFrame:
    """The samples that a figure over time shows: those of the first run at its condition, measured before others.

    Returns
    -------
    DataFrame
        series, unit, provenance, run_id, t_s, value; empty where nobody has run that condition.
    """
    run = _run(data, exhibit, examples)
    if run is None:
        return pd.DataFrame({c: pd.Series(dtype="float64" if c in ("t_s", "value") else "object") for c in COLUMNS})
    samples = pd.read_parquet(data.samples / f"{run['run_id']}.parquet")
    parts = []
    for spec in exhibit.spec["series"]:
        rows = samples[(samples["metric"] == spec["metric"]) & (samples["entity_kind"] == spec["entity_kind"])]
        if "entity" in spec:
            wanted = str(spec["entity"]).casefold()
            rows = rows[[fnmatchcase(str(name).casefold(), wanted) for name in rows["entity"]]]
        rows = rows.groupby("t_s", sort=True, as_index=False)["value"].sum()
        parts.append(
            pd.DataFrame(
                {
                    "series": spec["label"], "unit": spec["unit"], "provenance": run["provenance"],
                    "run_id": run["run_id"], "t_s": rows["t_s"], "value": rows["value"] * float(spec.get("scale", 1)),
                }
            )
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True)


def _run(data: StudyData, exhibit: Exhibit, examples: bool) -> dict[str, Any] | None:
    wanted = {f.name: exhibit.spec["run"]["at"].get(f.name, f.default) for f in data.study.factors.values()}
    found = [
        run
        for run in data.index.get("runs", [])
        if all(as_level(run["factors"].get(name)) == level for name, level in wanted.items())
        and (examples or run["provenance"] != "example")
    ]
    found.sort(key=lambda run: (PREFERENCE.index(run["provenance"]), run["run_id"]))
    return found[0] if found else None


def timeseries_exhibit(data: StudyData, exhibit: Exhibit, points: list[Point], *, examples: bool) -> Shown:
    """A figure over time with everything that belongs to it.

    Parameters
    ----------
    points : list of Point
        The levels of which the text speaks (`marks` of the exhibit), drawn as bands across the whole time.
    """
    if exhibit.kind != "timeseries":
        raise StudyError(f"{exhibit.id} is no figure over time", file="study.yaml", expected="kind: timeseries")
    table = series_table(data, exhibit, examples=examples)
    name = exhibit_name(exhibit.id, "figure")
    said = _finding(table, points)
    drawings = []
    for size, kind in ((WIDE, "wide"), (NARROW, "narrow")):
        with house_style():
            drawing = _draw(exhibit, table, points, size)
            svg = to_svg(
                drawing, prefix=f"{exhibit.id}-{kind}", title=f"{name}: {exhibit.title}", description=said, kind=kind
            )
        drawings.append(sealed(svg, table, pd.DataFrame([(p.low, p.high, p.shown) for p in points])))
    provenance = list(dict.fromkeys(table["provenance"])) or (["reconstructed"] if points else [])
    run = table["run_id"].iloc[0] if len(table) else "none"
    where = f"Run {run}: every sample that its raw files hold for these metrics. Nothing is smoothed."
    after = [
        swatches(list(dict.fromkeys(s["label"] for s in exhibit.spec["series"])), bands=bool(points)),
        f'<p class="vp-where">{display.escape(where)}</p>',
        display.badges(provenance),
        display.more(
            display.trail(data.study.id, exhibit.id), display.download(table, f"{data.study.id}-{exhibit.id}")
        ),
    ]
    html = display.block(exhibit.id, name, exhibit.title, "".join(drawings), after=after, finding=said)
    rows = [[level.label, number(level.least), number(level.median), number(level.most)] for level in _levels(table)]
    rows += [[p.series.label, number(p.low), number(p.shown), number(p.high)] for p in points]
    header = ["series or level", "least or allowed low", "median or centre", "most or allowed high"]
    return Shown(html, f"{name}. {exhibit.title}\n{display.table_text(header, rows)}")


@dataclass(frozen=True)
class _Level:
    label: str
    unit: str
    least: float
    median: float
    most: float
    at_s: float


def _levels(table: pd.DataFrame) -> list[_Level]:
    found = []
    for label, rows in table.groupby("series", sort=False):
        values = rows["value"].to_numpy(dtype=float)
        if len(values):
            top = int(np.argmax(values))
            found.append(
                _Level(str(label), str(rows["unit"].iloc[0]), values.min(), float(np.median(values)), values[top],
                       float(rows["t_s"].iloc[top]))
            )  # fmt: skip
    return found


def _finding(table: pd.DataFrame, points: Sequence[Point]) -> str:
    parts = [
        f"{v.label}: median {pretty(v.median, 3)} {v.unit}, at most {pretty(v.most, 3)} {v.unit} at {_clock(v.at_s)}."
        for v in _levels(table)
    ]
    parts = parts or ["No run shows this yet."]
    if points:
        parts.append(
            f"The text allows {joined(f'{interval(p.low, p.high)} for {p.series.label.lower()}' for p in points)}."
        )
    return " ".join(parts)


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min"


def _draw(exhibit: Exhibit, table: pd.DataFrame, points: list[Point], size: Size) -> Figure:
    specs = exhibit.spec["series"]
    units = list(dict.fromkeys(s["unit"] for s in specs))
    tops = {u: _top(table[table["unit"] == u]["value"], points if u == units[0] else []) for u in units}
    left = left_margin(tops.values())
    figure, axes = panels(size, len(units), left=left, bottom=54)
    labels = [s["label"] for s in specs]
    end = float(table["t_s"].max()) if len(table) else 60.0
    for panel, unit in zip(axes, units, strict=True):
        names = [s["label"] for s in specs if s["unit"] == unit]
        y_axis(panel, tops[unit], unit if len(names) > 1 else f"{names[0]}, {unit}", size, low=0.0)
        panel.set_xlim(0, end * 1.01)
        panel.tick_params(labelbottom=panel is axes[-1])
        for label in names:
            rows = table[table["series"] == label]
            style = look(labels.index(label))
            panel.plot(rows["t_s"], rows["value"], color=style.colour, linestyle=style.dash, zorder=3)
        if unit == units[0]:
            for point in points:
                _mark(panel, point, end)
    axes[-1].xaxis.set_major_formatter(lambda value, _: _clock(value).removesuffix(" min"))
    axes[-1].locator_params(axis="x", nbins=5 if size.narrow else 8)
    axes[-1].set_xlabel("Time from the start, min:s", labelpad=6)
    return figure


def _top(values: pd.Series, points: Sequence[Point]) -> float:
    ends = [v for p in points for v in (p.shown, p.low, p.high) if math.isfinite(v)]
    return 1.08 * (max([*ends, *values.tolist()], default=1.0) or 1.0)


def _mark(axes: Axes, point: Point, end: float) -> None:
    bottom, top = axes.get_ylim()
    if point.known:
        axes.fill_between([0, end], max(point.low, bottom), min(point.high, top), color=MUTED, alpha=0.18, linewidth=0)
    if math.isfinite(point.shown):
        axes.axhline(point.shown, color=INK, linewidth=0.8, linestyle=(0, (3, 3)), zorder=2)
