"""What stands on an axes, read back in the units of its data."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.colors import to_hex


def uprights(axes: Axes, label: str) -> list[tuple[float, float, float]]:
    """x, low and high of the upright lines of that label, sorted."""
    found = [c for c in axes.collections if isinstance(c, LineCollection) and c.get_label() == label]
    return sorted((float(s[0][0]), float(s[0][1]), float(s[1][1])) for c in found for s in c.get_segments())


def dots(axes: Axes, *, filled: str | None = None) -> list[tuple[float, float]]:
    """Marks, perhaps only those filled with a colour, sorted."""
    found = []
    for c in axes.collections:
        if isinstance(c, PathCollection) and (filled is None or to_hex(c.get_facecolor()[0]) == filled):
            found += [(float(x), float(y)) for x, y in np.asarray(c.get_offsets())]
    return sorted(found)


def lines(axes: Axes) -> list[list[tuple[float, float]]]:
    """The lines of more than one point, each as its points."""
    return [list(map(tuple, line.get_xydata())) for line in axes.lines if len(line.get_xdata()) > 1]


def words(axes: Axes) -> str:
    """The words above an axes."""
    return axes.child_axes[0].get_xlabel()


def legend(axes: Axes) -> list[str]:
    """The texts of a figure's legend."""
    found = axes.figure.legends
    return [text.get_text() for text in found[0].get_texts()] if found else []
