"""A laid-out diagram as SVG: frames, edges, boxes, and the edges' labels where they hide least."""

from __future__ import annotations

import textwrap

from virtperf.exhibits.arrange import CHAR_PX, HEAD, LINE_PX, PAD, SMALL_CHAR_PX, Layout, Rect, label_lines
from virtperf.exhibits.layout import ends, head, lay_out
from virtperf.exhibits.style import BOX, CSS_COLOURS, GRID, INK, MUTED, NARROW, SURFACE, WIDE
from virtperf.exhibits.topology import Diagram
from virtperf.exhibits.wording import escape, printable

EDGE_PX = 3  # free around the drawing
SMALL_LINE_PX = 13
SHARES = sorted((k / 20 for k in range(1, 20)), key=lambda share: abs(share - 0.5))  # along an edge, for its label


def draw_diagram(diagram: Diagram, *, prefix: str, title: str, description: str, kind: str) -> str:
    """Draw a diagram as one `svg` element for a "wide" or a "narrow" page."""
    room = (NARROW if kind == "narrow" else WIDE).width - 2 * EDGE_PX
    layout = lay_out(diagram, room)
    width = max(layout.width + 2 * EDGE_PX, NARROW.width if kind == "narrow" else 0)
    height = layout.height + 2 * EDGE_PX
    left = (layout.width - width) / 2
    arrow = f"{prefix}-arrow"
    parts = [
        f'<defs><marker id="{arrow}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="7" markerHeight="7" '
        f'orient="auto"><path d="M0 0 8 4 0 8Z" fill="{CSS_COLOURS[MUTED]}"/></marker></defs>'
    ]
    depth = {n.id: len(diagram.path(n.id)) for n in diagram.nodes}
    frames = sorted((n for n in diagram.nodes if n.id not in layout.lines), key=lambda n: depth[n.id])
    parts += [_frame(layout.rects[n.id]) for n in frames]
    for edge in diagram.edges:
        x1, y1, x2, y2 = ends(layout, edge)
        parts.append(
            f'<path d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}" fill="none" stroke="{CSS_COLOURS[MUTED]}" '
            f'stroke-width="1.2" marker-end="url(#{arrow})"/>'
        )
    parts += [_box(layout.rects[i], lines) for i, lines in layout.lines.items()]
    parts += [_frame_label(layout.rects[n.id], n.label) for n in frames]
    parts += _labels(diagram, layout)
    shown = "block" if kind == "wide" else "none"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="vp-drawing vp-{kind}" role="img" '
        f'viewBox="{left:.1f} {-EDGE_PX} {width:.1f} {height:.1f}" aria-labelledby="{prefix}-title {prefix}-desc" '
        f'style="display:{shown};width:100%;max-width:{width:.0f}px;height:auto;font-family:var(--vp-sans, sans-serif);'
        f'font-size:12px"><title id="{prefix}-title">{escape(printable(title))}</title>'
        f'<desc id="{prefix}-desc">{escape(printable(description))}</desc>{"".join(parts)}</svg>'
    )


def _frame(rect: Rect) -> str:
    left, top, width, height = rect
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="4" '
        f'fill="{CSS_COLOURS[BOX]}" stroke="{CSS_COLOURS[GRID]}"/>'
    )


def _frame_label(rect: Rect, label: str) -> str:
    left, top, width, _ = rect
    name = textwrap.shorten(printable(label), max(10, int((width - 2 * PAD) / CHAR_PX)), placeholder="…")
    return _text(left + PAD, top + HEAD - 7, name, anchor="start", size=12)


def _box(rect: Rect, lines: list[str]) -> str:
    left, top, width, height = rect
    text = "".join(
        f'<text x="{left + width / 2:.1f}" y="{top + PAD + 11.5 + k * LINE_PX:.1f}" text-anchor="middle" '
        f'fill="{CSS_COLOURS[INK]}">{escape(printable(line))}</text>'
        for k, line in enumerate(lines)
    )
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="3" '
        f'fill="{CSS_COLOURS[SURFACE]}" stroke="{CSS_COLOURS[MUTED]}"/>{text}'
    )


def _labels(diagram: Diagram, layout: Layout) -> list[str]:
    """Every label near its edge's middle, moved along the edge until it hides no box and no other label."""
    boxes = [layout.rects[i] for i in layout.lines]
    heads = [head(n, layout.rects[n.id]) for n in diagram.nodes if n.id not in layout.lines]
    placed: list[Rect] = []
    parts = []
    for edge in diagram.edges:
        lines = label_lines(printable(edge.label))
        if not lines:
            continue
        x1, y1, x2, y2 = ends(layout, edge)
        width, height = max(map(len, lines)) * SMALL_CHAR_PX + 4, len(lines) * SMALL_LINE_PX
        options = []
        for share in SHARES:
            x, y = x1 + share * (x2 - x1), y1 + share * (y2 - y1)
            level = abs(y2 - y1) < 4
            for side in (
                ((0.0, -height / 2 - 4), (0.0, height / 2 + 4))
                if level
                else ((0.0, 0.0), (width / 2 + 4, 0.0), (-width / 2 - 4, 0.0))
            ):
                rect = (x + side[0] - width / 2, y + side[1] - height / 2, width, height)
                outside = max(0.0, -rect[0]) + max(0.0, rect[0] + width - layout.width)
                hidden = sum(_overlap(rect, other) for other in [*boxes, *heads, *placed]) + outside * height
                options.append((hidden, abs(share - 0.5), rect))
        rect = min(options, key=lambda option: option[:2])[2]
        placed.append(rect)
        parts.append(_label(rect, lines))
    return parts


def _overlap(a: Rect, b: Rect) -> float:
    wide = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    high = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    return wide * high if wide > 0 and high > 0 else 0.0


def _label(rect: Rect, lines: list[str]) -> str:
    left, top, width, _ = rect
    return "".join(
        _text(left + width / 2, top + 10 + k * SMALL_LINE_PX, line, anchor="middle", size=11)
        for k, line in enumerate(lines)
    )


def _text(x: float, y: float, text: str, *, anchor: str, size: int) -> str:
    # A halo in the page's colour keeps text readable on a line.
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{CSS_COLOURS[INK]}" '
        f'stroke="{CSS_COLOURS[SURFACE]}" stroke-width="3.5" paint-order="stroke" stroke-linejoin="round">'
        f"{escape(text)}</text>"
    )
