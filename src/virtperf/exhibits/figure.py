"""A figure as an exhibit: drawing for wide and narrow pages, legend, numbers, and where they come from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pandas as pd

from virtperf.exhibits import display, legend
from virtperf.exhibits.axes import level_text, unit_words
from virtperf.exhibits.bar import draw_bar
from virtperf.exhibits.data import StudyData
from virtperf.exhibits.display import Html, Shown, Table
from virtperf.exhibits.finding import finding
from virtperf.exhibits.layers import Mean, Point
from virtperf.exhibits.line import draw_line
from virtperf.exhibits.seal import sealed
from virtperf.exhibits.style import NARROW, WIDE, house_style
from virtperf.exhibits.svg import to_svg
from virtperf.exhibits.wording import breakable, escape, exhibit_name, interval, joined, number, pretty
from virtperf.study.definition import Exhibit


def figure_exhibit(
    data: StudyData,
    exhibit: Exhibit,
    points: list[Point],
    curves: Mapping[str, pd.DataFrame],
    *,
    level: float,
    assumptions: bool,
) -> Shown:
    """A line or bar figure with everything that belongs to it."""
    said = finding(data.study, points)
    name = exhibit_name(exhibit.id, "figure")
    table = numbers(data, exhibit, points)
    drawings = []
    for size in (WIDE, NARROW):
        kind = "narrow" if size is NARROW else "wide"
        with house_style():
            drawn = (
                draw_bar(data.study, points, size)
                if exhibit.kind == "bar"
                else draw_line(data.study, points, size, curves)
            )
            svg = to_svg(
                drawn, prefix=f"{exhibit.id}-{kind}", title=f"{name}: {exhibit.title}", description=said, kind=kind
            )
            drawings.append(sealed(svg, table, *(curve.assign(series=label) for label, curve in curves.items())))
    factor = data.study.factors[points[0].series.over]
    header, rows = _text(points, factor.label)
    after = [
        legend.legend(points, curves, kind=exhibit.kind, level=level, assumptions=assumptions),
        _anchor_note(data, points),
        display.badges(_provenances(points)),
        display.more(
            display.details("The numbers", display.table_html(_table(data, points), f"{name}: numbers")),
            display.details("Where this comes from", _sources(data, points)),
            display.trail(data.study.id, exhibit.id),
            display.download(table, f"{data.study.id}-{exhibit.id}"),
        ),
    ]
    html = display.block(exhibit.id, name, exhibit.title, "".join(drawings), after=after, finding=said)
    return Shown(html, f"{name}. {exhibit.title}\n{display.table_text(header, rows)}")


def _anchor_note(data: StudyData, points: list[Point]) -> str:
    anchor = next((p.anchor for p in points if p.anchor is not None), None)
    if anchor is None:
        return ""
    place = escape(data.study.show(anchor))
    return (
        '<p class="vp-where">These runs have no common scale with the paper, since its reference point was not run. '
        f"They are scaled so that {place} stands in the middle of what the text allows. That point says nothing about "
        "the paper, the others do, relative to it.</p>"
    )


def numbers(data: StudyData, exhibit: Exhibit, points: list[Point]) -> pd.DataFrame:
    """Everything behind a figure, one row a point: for the CSV download."""
    rows = []
    for p in points:
        same = [q.quantity for q in points if q.quantity.name == p.quantity.name]
        row: dict[str, Any] = {
            "exhibit": exhibit.id, "series": p.series.label, p.series.over: p.x, "quantity": p.quantity.name,
            "unit": unit_words(data.study, p.quantity.name, same), "allowed_low": p.low, "allowed_high": p.high,
            "allowed_low_without_assumptions": p.low_bare, "allowed_high_without_assumptions": p.high_bare,
            "centre": p.centre, "low_set_by": ";".join(p.low_by), "high_set_by": ";".join(p.high_by),
        }  # fmt: skip
        for kind in ("reconstructed", "measured", "example"):
            mean: Mean | None = getattr(p, kind)
            row |= {kind: None, f"{kind}_low": None, f"{kind}_high": None, f"{kind}_runs": ""}
            if mean:
                limits = {f"{kind}_low": mean.low, f"{kind}_high": mean.high}
                row |= {kind: mean.value, **limits, f"{kind}_runs": ";".join(mean.runs)}
        row["printed"] = p.published.value if p.published else None
        rows.append(row)
    return pd.DataFrame(rows).replace([math.inf, -math.inf], math.nan)


def _provenances(points: list[Point]) -> list[str]:
    shown = ["published"] if any(p.published for p in points) else []
    shown += ["reconstructed"] if any(math.isfinite(p.hollow) or (p.known and not p.published) for p in points) else []
    shown += ["measured"] if any(p.measured for p in points) else []
    return shown + (["example"] if any(p.example for p in points) else [])


def _text(points: list[Point], x_label: str) -> tuple[list[str], list[list[str]]]:
    header = [
        "series",
        x_label,
        "allowed low",
        "allowed high",
        "reconstructed",
        "low",
        "high",
        "printed",
        "measured",
        "low",
        "high",
        "runs",
    ]
    rows = []
    for p in points:
        cells = [p.series.label, number(p.x, 6) if isinstance(p.x, int | float) else p.x, number(p.low), number(p.high)]
        cells += [number(p.hollow), *_limits(p.reconstructed)]
        cells += [number(p.published.value) if p.published else ""]
        cells += [number(p.measured.value) if p.measured else "none", *_limits(p.measured)]
        rows.append([*cells, str(len(p.measured.runs)) if p.measured else "0"])
    return header, rows


def _limits(mean: Mean | None) -> list[str]:
    return [number(mean.low), number(mean.high)] if mean else ["", ""]


def _table(data: StudyData, points: list[Point]) -> Table:
    factor = data.study.factors[points[0].series.over]
    label = factor.label[:1].upper() + factor.label[1:]
    example = any(p.example for p in points)
    printed = any(p.published for p in points)
    columns = [
        "Series",
        label,
        "The text allows",
        "Without our assumptions",
        "Reconstructed",
        *(["Printed"] * printed),
        "Measured",
        *(["Example"] * example),
    ]
    rows = []
    for p in points:
        allowed = (interval(p.low, p.high), interval(p.low_bare, p.high_bare)) if p.known else ("not computed",) * 2
        means = [_mean_words(p.reconstructed) or (pretty(p.hollow) if math.isfinite(p.hollow) else "none")]
        means += [pretty(p.published.value) if p.published else "no"] * printed
        means += [_mean_words(p.measured) or "none", *([_mean_words(p.example) or "none"] * example)]
        rows.append((p.series.label, level_text(factor, p.x), *allowed, *means))
    return Table(tuple(columns), tuple(rows), frozenset({1, 4, 5, 6, 7}))


def _mean_words(mean: Mean | None) -> str:
    if mean is None:
        return ""
    return (
        f"{pretty(mean.value)} ({pretty(mean.low)} to {pretty(mean.high)})"
        if math.isfinite(mean.low)
        else pretty(mean.value)
    )


def _sources(data: StudyData, points: list[Point]) -> str:
    """Per point: the statements that set its limits, as links to their rows, and its runs."""
    factor = data.study.factors[points[0].series.over]
    rows = []
    for p in points:
        runs = []
        for kind in ("measured", "reconstructed", "example"):
            mean: Mean | None = getattr(p, kind)
            if mean:
                runs.append(f"{kind}: {joined(f'<code>{breakable(r)}</code>' for r in mean.runs)}")
        rows.append(
            (
                f"{p.series.label}, {level_text(factor, p.x)}",
                _claims(p.low_by),
                _claims(p.high_by),
                Html("; ".join(runs) or "none"),
            )
        )
    table = Table(("Point", "Lower limit set by", "Upper limit set by", "Runs"), tuple(rows))
    note = "<p>A limit without a statement follows from natural bounds or from a scale that is set by convention.</p>"
    return display.table_html(table, "Sources of every point") + note


def _claims(ids: tuple[str, ...]) -> Html:
    return Html(
        ", ".join(f'<a href="#claim-{escape(c)}"><code>{breakable(c)}</code></a>' for c in ids) or "no statement"
    )
