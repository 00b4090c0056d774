"""The long frame that a figure over one factor draws: one row a mark, a single run, or a piece of a
range.

Columns: panel, series, x; layer (`RANGE`, `MARK` or `RUN`); kind (`TEXT` or `WITH_ASSUMPTIONS` of a
range; `PRINTED`, `SOLID`, `CROSS` or `OWN_DATA` of the others); value (NaN for a range), low, high;
words (written above a bar); open (whether a range says hardly anything); boxed (whether a range is
drawn as a box, see `_is_boxed`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from rawperf.core.errors import RawperfError
from virtperf.core.provenance import Provenance
from virtperf.core.schema import require_columns
from virtperf.report.axis_words import AxisWords
from virtperf.report.range_words import says_little

RANGE, MARK, RUN = "range", "mark", "run"  # layers
TEXT, WITH_ASSUMPTIONS = "text", "given"  # kinds of ranges: by the text alone, with assumptions
PRINTED, SOLID, CROSS, OWN_DATA = "printed", "solid", "cross", "own"  # kinds of marks
_MARK_OF_PROVENANCE = {
    Provenance.PUBLISHED: PRINTED,
    Provenance.MEASURED: SOLID,
    Provenance.EXAMPLE: CROSS,
}
_RANGE_COLUMNS = {
    TEXT: ("low_text", "high_text", "pieces_text"),
    WITH_ASSUMPTIONS: ("low", "high", "pieces"),
}
_HALF_WIDTH = "printed_half_width"  # rounding of the printed number of a point
_COLUMNS = [
    *("panel", "series", "x", "layer", "kind", "value", "low", "high", "unit", "words"),
    _HALF_WIDTH,
]
_QUANTITY = "quantity"  # column of the measured quantity in a study's frames
UNNAMED = ""  # the only series of a figure without a column of series


@dataclass(frozen=True)
class LongFrame:
    """The `rows` of a figure; `panels`, `series` and `levels` of `x` in order of appearance, also those
    without a value; metadata of the axes.
    """

    rows: pd.DataFrame
    panels: Sequence[Any]
    series: Sequence[Any]
    levels: Sequence[Any]
    axes: AxisWords
    x: str


def long_frame(
    points: pd.DataFrame | None,
    means: pd.DataFrame | None,
    printed: pd.DataFrame | None,
    runs: pd.DataFrame | None,
    *,
    x: str,
    y: str,
    hue: str | None,
    row: str | None,
    labels: Mapping[str, str],
    units: str | None = None,
    words: str | None = None,
) -> LongFrame:
    """Join the frames of a caller; without `row`, quantities of different units have panels.

    The mark of a mean or a run follows from its column `provenance`; without that column it is a
    reader's own data. Raises `RawperfError` if there is no frame, or one lacks a named column, or
    points lack ranges.
    """
    named = {"points": points, "means": means, "printed": printed, "runs": runs}
    frames = {name: frame for name, frame in named.items() if frame is not None}
    if not frames:
        raise RawperfError(
            "no data to draw", expected="one of the frames points, means, printed, runs"
        )
    for name, frame in frames.items():
        values = () if name in ("points", "printed") else (y,)
        unit = units if name == "runs" else None
        require_columns(frame, filter(None, (row, hue, x, unit, *values)), name=name)
    if points is not None:
        _require_ranges(points)
    axes = AxisWords.of(frames.values(), labels)
    by_unit = row is None and all(_QUANTITY in frame for frame in frames.values())
    placed = {
        name: frame.assign(
            panel=frame[_QUANTITY].map(axes.panel) if by_unit else frame[row] if row else y,
            series=frame[hue] if hue else UNNAMED,
            x=frame[x],
            words=frame[words] if words and words in frame else None,
            **({"value": frame[y].astype(float)} if name in ("means", "runs") else {}),
        )
        for name, frame in frames.items()
    }
    panels = _distinct(placed, "panel")
    if by_unit and len(panels) == 1 and (y != "value" or panels[0] not in axes["labels"]):
        panels = [y]
        placed = {name: frame.assign(panel=y) for name, frame in placed.items()}
    parts = []
    if points is not None:
        of_points = placed["points"]
        parts.append(range_rows(of_points).assign(layer=RANGE, value=math.nan))
        parts += [
            _column_rows(of_points, name, kind)
            for kind, name in ((SOLID, "measured"), (CROSS, "example"))
        ]
    parts += [_kind_rows(placed["means"], MARK)] if means is not None else []
    if printed is not None:
        parts.append(placed["printed"].assign(layer=MARK, kind=PRINTED))
    elif points is not None:  # the uncertainty of a printed number is its range
        parts.append(_column_rows(of_points, "printed", PRINTED))
    if runs is not None:
        part = _kind_rows(placed["runs"], RUN)
        parts.append(
            part.assign(unit=part[units].astype(str))
            if units
            else part.drop(columns="unit", errors="ignore")
        )
    drawn = [part.reindex(columns=_COLUMNS) for part in parts]
    drawn = [p[(p["layer"] == RANGE) | p["value"].notna()] for p in drawn]
    rows = pd.concat([p for p in drawn if len(p)] or [pd.DataFrame(columns=_COLUMNS)])
    rows = rows.reset_index(drop=True)
    return LongFrame(
        rows.assign(open=_is_open(rows), boxed=_is_boxed(rows)),
        panels or [y],
        _distinct(placed, "series") or [UNNAMED],
        _distinct(placed, "x"),
        axes,
        x,
    )


def _is_open(rows: pd.DataFrame) -> pd.Series:
    """Mask of ranges that say little beside the largest value of their panel, or finite limit."""
    low, high = rows["low"].astype(float), rows["high"].astype(float)
    ends = pd.Series(np.fmax(rows["value"].astype(float), high.where(np.isfinite(high))))
    largest = ends.groupby(rows["panel"]).transform("max").fillna(0.0)
    return (rows["layer"] == RANGE) & says_little(low, high, largest)


def _is_boxed(rows: pd.DataFrame) -> pd.Series:
    """Mask of ranges that are drawn: one a point, with our assumptions where they narrow it; none that
    agrees with a printed number, within its rounding: the number says more.
    """
    keys = ["panel", "series", "x"]
    ranges = rows["layer"] == RANGE
    narrowed = (
        (ranges & (rows["kind"] == WITH_ASSUMPTIONS))
        .groupby([rows[key] for key in keys])
        .transform("any")
    )
    printed = rows["value"].where(rows["kind"] == PRINTED).astype(float)
    number = printed.groupby([rows[key] for key in keys]).transform("max")
    near = 1e-6 * number.abs()
    near = near + rows[_HALF_WIDTH].astype(float).fillna(0.0)
    holds = ranges & (rows["low"] <= number + near) & (number - near <= rows["high"])
    told = holds.groupby([rows[key] for key in keys]).transform("any")
    return ranges & ~told & ~(narrowed & (rows["kind"] == TEXT))


def _column_rows(points: pd.DataFrame, name: str, kind: str) -> pd.DataFrame:
    """Marks of a column of points, with its limits; none without it."""
    if name not in points:
        return points.iloc[:0]
    ends = {end: points.get(f"{name}_{end}", math.nan) for end in ("low", "high")}
    return points.assign(layer=MARK, kind=kind, value=points[name].astype(float), **ends)


def _kind_rows(frame: pd.DataFrame, layer: str) -> pd.DataFrame:
    """Rows of a layer, of kinds by their provenance."""
    if "provenance" not in frame:
        return frame.assign(layer=layer, kind=OWN_DATA)
    kinds = frame["provenance"].map(_MARK_OF_PROVENANCE).fillna(OWN_DATA)
    return frame.assign(layer=layer, kind=kinds)


def range_rows(points: pd.DataFrame) -> pd.DataFrame:
    """One row a piece of a range: the columns of `points`, kind (`TEXT` or `WITH_ASSUMPTIONS`), low,
    high.

    If both kinds are equal at a point, only `TEXT` is kept there; without the columns of the text
    alone there is only the other kind.
    """
    points, found = points.reset_index(drop=True), {}
    for kind, (low, high, pieces) in _RANGE_COLUMNS.items():
        if not {low, high} <= {*points.columns}:
            continue
        ends = [
            list(zip(flat[::2], flat[1::2], strict=True)) if len(flat) else [(a, b)]
            for a, b, flat in zip(
                points[low],
                points[high],
                points[pieces] if pieces in points else [()] * len(points),
                strict=True,
            )
        ]
        rows = points.assign(kind=kind, ends=pd.Series(ends, index=points.index, dtype=object))
        rows = rows.explode("ends")
        pairs = pd.DataFrame(
            rows["ends"].tolist(), columns=["low", "high"], index=rows.index, dtype=float
        )
        found[kind] = rows.assign(low=pairs["low"], high=pairs["high"])[pairs["low"].notna()]
    if len(found) == 2:
        given, text = (
            found[kind].groupby(level=0)[["low", "high"]].agg(tuple)
            for kind in (WITH_ASSUMPTIONS, TEXT)
        )
        same = given.index.intersection(text.index)
        same = same[(given.loc[same] == text.loc[same]).all(axis=1)]
        found[WITH_ASSUMPTIONS] = found[WITH_ASSUMPTIONS].drop(index=same)
    empty = points.iloc[:0].assign(kind="", low=math.nan, high=math.nan)
    return pd.concat(found.values()) if found else empty


def _distinct(frames: Mapping[str, pd.DataFrame], column: str) -> list[Any]:
    return list(dict.fromkeys(v for frame in frames.values() for v in frame[column].tolist()))


def _require_ranges(points: pd.DataFrame) -> None:
    """Raise `RawperfError` for points that have neither ranges nor printed numbers."""
    if "printed" in points.columns:
        return
    if not any({*names[:2]} <= {*points.columns} for names in _RANGE_COLUMNS.values()):
        missing = [name for name in ("low", "high") if name not in points.columns]
        raise RawperfError(
            f"points has no column{'s' if len(missing) > 1 else ''} {' and '.join(map(repr, missing))}",
            expected="ranges in the columns low and high",
            found=", ".join(map(str, points.columns)),
            remedy="pass values without ranges by name: runs=frame, or means=frame",
        )
