"""Matplotlib figures as deterministic SVG with unique ids for pages, and tooltips on points, shown
on hover or tap.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.transforms import Affine2D, ScaledTranslation, blended_transform_factory

from virtperf.core.grouping import grouped
from virtperf.core.numbers import interval
from virtperf.report.plot.long import (
    CROSS,
    MARK,
    PRINTED,
    RANGE,
    SOLID,
    TEXT,
    WITH_ASSUMPTIONS,
)
from virtperf.report.plot.theme import FONT_SIZE, INK_COLOUR
from virtperf.report.wording import printable, short_number

_KEY = "virtperf_tips"
_RANGE_LABELS = {TEXT: "the text allows", WITH_ASSUMPTIONS: "with our assumptions"}
_MARK_LABELS = {PRINTED: "printed ", SOLID: "measured ", CROSS: "example "}


def add_tip(axes: Axes, x: float, shift: float, width: float, text: str) -> None:
    """Add a tooltip to a figure at `x` (data units), shifted right by `shift` points, `width` points
    wide and as high as the axes.

    It is a rectangle that is not drawn, since Matplotlib has no titles of SVG elements.
    """
    figure: Any = axes.get_figure(root=True)
    data: Any = axes.transData  # the type stubs want an affine one
    at = Affine2D().scale(1 / 72) + figure.dpi_scale_trans + ScaledTranslation(x, 0, data)
    place = blended_transform_factory(at, axes.transAxes)
    rectangle = Rectangle((shift - width / 2, 0), width, 1, transform=place, label=text)
    figure.__dict__.setdefault(_KEY, []).append(rectangle)


def tip_text(rows: pd.DataFrame) -> str:
    """Tooltip text of the rows of one point (`plot.long`): ranges, then printed and measured values; ""
    if empty.
    """
    bands, points = (rows[rows["layer"] == layer] for layer in (RANGE, MARK))
    parts = []
    ranges = grouped(
        (str(kind), interval(float(low), float(high)))
        for kind, low, high in zip(bands["kind"], bands["low"], bands["high"], strict=True)
    )
    descriptions = {kind: " or ".join(texts) for kind, texts in ranges.items()}
    if descriptions.get(WITH_ASSUMPTIONS) == descriptions.get(TEXT):
        descriptions.pop(WITH_ASSUMPTIONS, None)
    range_words = _RANGE_LABELS if TEXT in descriptions else {WITH_ASSUMPTIONS: "allowed"}
    parts += [f"{range_words[kind]} {texts}" for kind, texts in descriptions.items()]
    numbers = points[["value", "low", "high"]].to_numpy(dtype=float)
    for kind, (value, low, high) in zip(points["kind"], numbers, strict=True):
        known = kind != PRINTED and math.isfinite(low) and math.isfinite(high)
        ends = f" ({short_number(low)} to {short_number(high)})" if known else ""
        parts.append(f"{_MARK_LABELS.get(kind, '')}{short_number(value)}{ends}")
    return "; ".join(parts)


def tip_rectangles(figure: Figure) -> Iterator[tuple[str, dict[str, float]]]:
    """Yield text and rectangle of each tooltip, in points from the upper left corner; the figure
    must have been drawn, so that its layout is known.
    """
    rectangles: list[Rectangle] = figure.__dict__.get(_KEY, [])
    scale, top = 72 / figure.dpi, 72 * float(figure.get_figheight())
    for rectangle in rectangles:
        box = rectangle.get_window_extent().transformed(Affine2D().scale(scale))
        width = rectangle.get_width()  # in points, so that no last bit depends on the position
        place = {"x": box.x0, "y": top - box.y1, "width": width, "height": box.height}
        yield str(rectangle.get_label()), {name: float(end) for name, end in place.items()}


_TAG = re.compile(r"(<[^>]+>)")
_OMITTED = re.compile(r"<metadata>.*?</metadata>|<style[ >].*?</style>|<!--.*?-->", re.DOTALL)
_ID = re.compile(r' id="([^"]*)"')
_REFERENCE = re.compile(r'url\(#([^)"]+)\)|xlink:href="#([^"]+)"')
_COORDINATES = re.compile(r' (d|x|y|transform)="([^"]*)"')
_NOT_TURNED = re.compile(r' transform="rotate\(-?0(?:\.0)? [^"]*"')
_STYLE = re.compile(r' style="([^"]*)"')
_DECIMALS = re.compile(r"-?\d+\.\d{2,}")
_COMMAND = re.compile(r"\s*([A-Za-z])\s*")
_SEGMENT = re.compile(r"([A-Za-z])([^A-Za-z]*)")
_WITHOUT_INK = re.compile(r'<path(?: d="[^"]*")?(?: style="fill:none")?/>')
_PATH = re.compile(r'(<path d="[^"]*")((?: clip-path="[^"]*")?(?: style="[^"]*")?)/>')
_OPACITY = re.compile(r"(?<!-)opacity:")
"""Opacity of a whole element, which overlapping parts of a group would share."""
_INHERITED = {f"font-size:{FONT_SIZE}px", f"fill:{INK_COLOUR}", "text-anchor:start"}
"""Text styles set on the root element."""


def svg(
    figure: Figure, name: str, *, title: str = "", description: str = "", background: str = ""
) -> str:
    """Draw a figure as one `svg` element: text stays text in the page's font; no date, no metadata,
    no style rules.

    `name` prefixes every id, so that several drawings fit on one page. `title` and `description`
    are for screen readers. `background` is a fill colour for standalone files.
    """
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    document = buffer.getvalue()
    body = document[document.index(">", document.index("<svg")) + 1 : document.rindex("</svg>")]
    width, height = (f"{72 * inches:.0f}" for inches in figure.get_size_inches())
    words = [
        (tag, printable(text)) for tag, text in (("title", title), ("desc", description)) if text
    ]
    attributes = {
        "xmlns": "http://www.w3.org/2000/svg",
        "xmlns:xlink": "http://www.w3.org/1999/xlink",
        "class": "vp-drawing",
        "role": "img",
        "viewBox": f"0 0 {width} {height}",
        "width": width,
        "height": height,
        # Matplotlib writes these as a style rule for "*"
        "stroke-linejoin": "round",
        "stroke-linecap": "butt",
        "font-family": "sans-serif",
        "font-size": f"{FONT_SIZE}px",
        "fill": INK_COLOUR,
    }
    if words:
        attributes["aria-labelledby"] = " ".join(f"{name}_{tag}" for tag, _ in words)
    attributes_text = "".join(f" {key}={quoteattr(value)}" for key, value in attributes.items())
    described = "".join(f'<{tag} id="{name}_{tag}">{escape(text)}</{tag}>' for tag, text in words)
    background_element = (
        f'<rect width="100%" height="100%" fill={quoteattr(background)}/>' if background else ""
    )
    return f"<svg{attributes_text}>{described}{background_element}{_clean(body, name)}{_tip_elements(figure)}</svg>"


def _tip_elements(figure: Figure) -> str:
    """Transparent rectangles over the points, with the tooltips as titles."""
    rectangles = ""
    for text, place in tip_rectangles(figure):
        sides = "".join(f" {key}={quoteattr(format(value, '.1f'))}" for key, value in place.items())
        rectangles += f"<rect{sides}><title>{escape(printable(text))}</title></rect>"
    opening_tag = '<g class="vp-tips" fill="none" pointer-events="all">'
    return f"{opening_tag}{rectangles}</g>" if rectangles else ""


def _clean(body: str, prefix: str) -> str:
    """Strip metadata, style rules, fonts and groups without attributes from Matplotlib's elements.

    Ids that are referenced are renumbered behind `prefix`, since Matplotlib's own ids of clips and
    marks depend on the last bit of a position. Text between tags is unchanged.
    """
    body = _OMITTED.sub("", body)
    used = dict.fromkeys(a or b for a, b in _REFERENCE.findall(body))
    # no collision: anchors of headings have no underscore
    names = {name: f"{prefix}_{number}" for number, name in enumerate(used)}
    pieces = (
        _clean_tag(piece, names) if piece.startswith("<") else piece if piece.strip() else ""
        for piece in _TAG.split(body)
    )
    drawn = (piece for piece in _drop_empty_groups(pieces) if not _WITHOUT_INK.fullmatch(piece))
    return "".join(_share_attributes(filter(None, drawn)))


def _share_attributes(pieces: Iterable[str]) -> Iterator[str]:
    """Write clip and style of successive paths once, on a group around them: they are a large part
    of a drawing's size.

    Texts between them, such as the tick labels between grid lines, follow the group.
    """
    shared, paths, texts = "", list[str](), list[str]()
    in_text = False
    for piece in pieces:
        in_text = in_text or piece.startswith("<text")
        attributes = "" if in_text else _path_attributes(piece)
        if attributes and attributes == shared:
            paths.append(piece)
        elif in_text and shared:
            texts.append(piece)
        else:
            yield from _group(shared, paths)
            yield from texts
            shared, paths, texts = attributes, [piece], []
        in_text = in_text and piece != "</text>"
    yield from _group(shared, paths)
    yield from texts


def _group(attributes: str, paths: Sequence[str]) -> Iterator[str]:
    """Paths in a group with their attributes; a single piece as it is."""
    if len(paths) < 2:
        yield from paths
        return
    yield f"<g{attributes}>"
    yield from (_PATH.sub(r"\1/>", path) for path in paths)
    yield "</g>"


def _path_attributes(piece: str) -> str:
    """Clip and style of a path that may share them; "" for other pieces."""
    match = _PATH.fullmatch(piece)
    return match[2] if match and not _OPACITY.search(match[2]) else ""


def _clean_tag(tag: str, names: dict[str, str]) -> str:
    """Shorten coordinates and styles of one tag, and rename ids and references."""

    def id_of(match: re.Match[str]) -> str:
        return f' id="{names[match[1]]}"' if match[1] in names else ""

    def reference(match: re.Match[str]) -> str:
        if match[1]:
            return f"url(#{names[match[1]]})"
        return f'xlink:href="#{names[match[2]]}"'

    def coordinates(match: re.Match[str]) -> str:
        # a tenth of a pixel is below screen resolution
        value = " ".join(_DECIMALS.sub(_round_match, match[2]).split())
        value = shorten_path(_COMMAND.sub(r"\1", value)) if match[1] == "d" else value
        return f' {match[1]}="{value}"'

    def style(match: re.Match[str]) -> str:
        parts = [part.strip().replace(": ", ":") for part in match[1].split(";")]
        if tag.startswith("<text"):
            parts = [part for part in parts if not part.startswith("font-family:")]
            parts = [part for part in parts if part not in _INHERITED]
        kept = ";".join(filter(None, parts))
        return f' style="{kept}"' if kept else ""

    tag = _NOT_TURNED.sub("", _REFERENCE.sub(reference, _ID.sub(id_of, tag)))
    return _STYLE.sub(style, _COORDINATES.sub(coordinates, tag))


def shorten_path(path: str) -> str:
    """Shorten horizontal and vertical lines of a path to one coordinate.

    Steps of distributions and their bands consist of such lines, which make up most of a page's
    size. A line to the current point draws nothing, except directly after a move, where it is a
    dot.
    """
    segments, pen, after_move = [], None, False
    for letter, numbers in _SEGMENT.findall(path):
        target = tuple(numbers.split())
        segment = letter + numbers
        if letter == "L" and pen is not None and len(target) == 2:
            if target == pen and not after_move:
                continue
            if target[1] == pen[1]:
                segment = f"H{target[0]}"
            elif target[0] == pen[0]:
                segment = f"V{target[1]}"
        segments.append(segment)
        pen = target if letter in "ML" and len(target) == 2 else None
        after_move = letter == "M"
    return "".join(segments)


def _drop_empty_groups(pieces: Iterator[str]) -> Iterator[str]:
    kept: list[bool] = []
    for piece in pieces:
        if piece == "<g/>":
            continue
        if piece in ("<g>", "</g>"):
            if piece == "<g>":
                kept.append(False)
            elif kept.pop():
                yield piece
            continue
        if piece.startswith("<g ") and not piece.endswith("/>"):
            kept.append(True)
        yield piece


def _round_match(number: re.Match[str]) -> str:
    text = f"{float(number[0]):.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
