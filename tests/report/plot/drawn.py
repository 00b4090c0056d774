"""Reads drawn artists back in data units."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.patches import Rectangle
from matplotlib.transforms import Transform

BRACKETS = ("text", "given")


def boxes(axes: Axes, label: str) -> list[tuple[float, float, float]]:
    """Level, lower and upper end of the boxes, brackets or bars with that label, sorted."""
    found = [
        p
        for c in axes.containers
        if isinstance(c, BarContainer) and c.get_label() == label
        for p in c
    ]
    return sorted(
        [(_middle(p), float(p.get_y()), float(p.get_y() + p.get_height())) for p in found]
        + [
            (round(float(b[2, 0]), 9), float(b[0, 1]), float(b[3, 1]))
            for _, b in brackets(axes, label)
        ]
    )


def brackets(axes: Axes, label: str) -> list[tuple[Transform, np.ndarray]]:
    """Brackets with that label: foot, line, head and a gap, shape (7, 2), and their positions."""
    return [
        (line.get_transform(), part)
        for line in axes.lines
        if line.get_label() == label in BRACKETS
        for part in line.get_xydata().reshape(-1, 7, 2)
    ]


def across(axes: Axes, label: str) -> list[tuple[float, float]]:
    """Left and right ends of boxes and brackets in pixels, from left to right."""
    axes.figure.canvas.draw()
    found = [p.get_window_extent() for c in axes.containers if c.get_label() == label for p in c]
    feet = [where.transform(part[:2])[:, 0] for where, part in brackets(axes, label)]
    return sorted([*((box.x0, box.x1) for box in found), *map(tuple, feet)])


def _middle(patch: Rectangle) -> float:
    return round(float(patch.get_x() + patch.get_width() / 2), 9)


def dots(axes: Axes, *, filled: str | None = None) -> list[tuple[float, float]]:
    """Markers, optionally only filled ones, sorted."""
    found = []
    for c in axes.collections:
        if isinstance(c, PathCollection) and (
            filled is None or to_hex(c.get_facecolor()[0]) == filled
        ):
            found += [(float(x), float(y)) for x, y in np.asarray(c.get_offsets())]
    return sorted(found)


def lines(axes: Axes) -> list[list[tuple[float, float]]]:
    """Lines of more than one point, without brackets, each as its points."""
    found = [
        line
        for line in axes.lines
        if len(line.get_xdata()) > 1 and line.get_label() not in BRACKETS
    ]
    return [list(map(tuple, line.get_xydata())) for line in found]


def words(axes: Axes) -> str:
    """The title texts of an axes."""
    return axes.child_axes[0].get_xlabel()


def legend(axes: Axes) -> list[str]:
    """The texts of a figure's legend."""
    found = axes.figure.legends
    return [text.get_text() for text in found[0].get_texts()] if found else []
