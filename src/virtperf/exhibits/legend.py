"""The legend of a figure in HTML: series and layers, each with its mark and in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from virtperf.exhibits.layers import Point
from virtperf.exhibits.style import CSS_COLOURS, INK, MUTED, SURFACE, look
from virtperf.exhibits.wording import breakable, pretty

_SHAPES = {
    "o": '<circle cx="14" cy="7" r="4"{0}/>',
    "s": '<rect x="10.2" y="3.2" width="7.6" height="7.6"{0}/>',
    "^": '<path d="M14 2.6 18.4 10.8H9.6Z"{0}/>',
    "D": '<path d="M14 2 19 7 14 12 9 7Z"{0}/>',
    "v": '<path d="M14 11.4 18.4 3.2H9.6Z"{0}/>',
    "P": '<path d="M12.5 2.5h3v3h3v3h-3v3h-3v-3h-3v-3h3Z"{0}/>',
}
_HATCHES = ("", "M5 13 17 1M11 13 23 1", "M9 4h.1M14 4h.1M19 4h.1M9 10h.1M14 10h.1M19 10h.1", "M5 1 17 13M11 1 23 13",
            "M5 13 17 1M11 13 23 1M5 1 17 13M11 1 23 13", "M5 5H23M5 9H23")  # fmt: skip
_DASHES = ("", "5 2", "2 1.5", "6 2 2 2", "3 1 1 1", "1 1")


def legend(points: list[Point], curves: Mapping[str, Any], *, kind: str, level: float, assumptions: bool) -> str:
    """Series first, then every layer that the figure has, as a list."""
    labels = list(dict.fromkeys(p.series.label for p in points))
    series = []
    for k, label in enumerate(labels):
        style = look(k)
        colour = CSS_COLOURS[style.colour]
        if kind == "bar":
            mark = f'<path d="M5 1H23V13H5Z{_HATCHES[k % 6]}" stroke="{colour}" stroke-width="1.3"/>'
        else:
            mark = f'<path d="M0 7H28" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{_DASHES[k % 6]}"/>'
            mark += _shape(style.marker, f' fill="{CSS_COLOURS[SURFACE]}" stroke="{colour}" stroke-width="1.6"')
        series.append(_item(mark, breakable(label, 24)))
    return f'<ul class="vp-legend">{"".join(series)}{"".join(_layers(points, curves, kind, level, assumptions))}</ul>'


def swatches(labels: list[str], *, bands: bool) -> str:
    """The legend of a figure over time: one line a series, and what its bands mean."""
    items = []
    for k, label in enumerate(labels):
        colour = CSS_COLOURS[look(k).colour]
        line = f'<path d="M0 7H28" stroke="{colour}" stroke-width="1.5" stroke-dasharray="{_DASHES[k % 6]}"/>'
        items.append(_item(line, breakable(label, 24)))
    if bands:
        ink, muted = CSS_COLOURS[INK], CSS_COLOURS[MUTED]
        mark = f'<rect width="28" height="14" fill="{muted}" opacity=".25"/>'
        mark += f'<path d="M0 7H28" stroke="{ink}" stroke-dasharray="3 3"/>'
        items.append(
            _item(
                mark, "band: what the text allows for a level that it names; dashes: its middle, or the printed number"
            )
        )
    return f'<ul class="vp-legend">{"".join(items)}</ul>'


def _layers(
    points: list[Point], curves: Mapping[str, Any], kind: str, level: float, assumptions: bool
) -> Iterable[str]:
    ink, muted, surface = CSS_COLOURS[INK], CSS_COLOURS[MUTED], CSS_COLOURS[SURFACE]
    percent = f"{pretty(100 * level)} %"
    if any(p.banded for p in points):
        text = "shaded: what the paper's text allows" + ("" if assumptions else ", our assumptions being off")
        yield _item(f'<rect x="10" width="8" height="14" fill="{ink}" opacity=".3"/>', text)
    if any(p.banded and _wider(p) for p in points):
        text = "hairline: what it allows without our assumptions"
        text += "; without a cap at the top, no limit" if any(math.isinf(p.high_bare) for p in points) else ""
        yield _item(f'<path d="M14 0V14M10 .5h8M10 13.5h8" stroke="{ink}"/>', text)
    if any(p.known and math.isinf(p.high) for p in points):
        yield _item(f'<path d="M14 3 18 9H10Z" fill="{ink}"/>', "arrow: no upper limit")
    if any(math.isfinite(p.hollow) for p in points):
        marker = _shape("o", f' fill="{surface}" stroke="{ink}" stroke-width="1.6"')
        bar = f'<path d="M10 14V2H18V14" stroke="{ink}" stroke-width="1.6"/>'
        shape, word = (bar, "outline") if kind == "bar" else (marker, "hollow")
        yield _item(shape, f"{word}: reconstructed, not measured")
    if any(p.published for p in points):
        half = f'<path d="M10 7A4 4 0 0 0 18 7Z" fill="{ink}"/>'
        outline = _shape("o", f' fill="{surface}" stroke="{ink}" stroke-width="1.4"')
        yield _item(outline + half, "half-filled: printed in the paper")
    if any(p.measured for p in points):
        yield _item(_shape("o", f' fill="{ink}"'), f"solid: measured, with {percent} interval over runs")
    if any(p.example for p in points):
        yield _item(f'<path d="M10 3 18 11M18 3 10 11" stroke="{muted}" stroke-width="2"/>', "cross: made-up example")
    if curves:
        yield _item(
            f'<path d="M0 2H28M0 13H28" stroke="{ink}" stroke-dasharray="1 2"/><path d="M0 7.5H28" stroke="{ink}"/>',
            f"line and dots: fitted curve with its {percent} interval",
        )


def _wider(point: Point) -> bool:
    bare = (point.low_bare, point.high_bare)
    return not math.isnan(point.low_bare) and bare != (point.low, point.high)


def _shape(marker: str, attributes: str) -> str:
    return _SHAPES[marker].format(attributes)


def _item(mark: str, text: str) -> str:
    drawing = (
        f'<svg viewBox="0 0 28 14" width="28" height="14" fill="none" aria-hidden="true" focusable="false">{mark}</svg>'
    )
    return f'<li style="display:inline-block;margin-right:1.2em">{drawing} <span>{text}</span></li>'
