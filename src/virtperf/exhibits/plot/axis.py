"""Axes: where levels stand, what ticks and labels say, where axes end."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.transforms import offset_copy

from virtperf.exhibits.plot.theme import CHARACTER, FONT, WIDTH
from virtperf.exhibits.wording import pretty, printable, wrapped

CLOSE = 0.75  # an axis begins above 0 where all values and bands lie above this share of its top
TALL = 2.2  # an axis reaches at most this many times beyond the highest point; wider bands run out of the top
MANY = 14  # numeric levels that each get a tick label
ABOVE = 8  # points between an axis and the words above it
ROOM = WIDTH - 80  # width of a panel, about


@dataclass(frozen=True)
class Words:
    """What axes say: the words that travel with frames (`exhibits.axis_words`), and those of a caller."""

    labels: Mapping[str, str]
    levels: Mapping[str, Sequence[tuple[Any, str]]]
    bounds: Mapping[str, Sequence[float]]

    @classmethod
    def of(cls, frames: Iterable[pd.DataFrame | None], labels: Mapping[str, str]) -> Words:
        """The words of the first frame that has any; `labels` go before them."""
        known = (frame.attrs.get("axes") for frame in frames if frame is not None)
        axes = next((words for words in known if words), {})
        return cls({**axes.get("labels", {}), **labels}, axes.get("levels", {}), axes.get("bounds", {}))

    def label(self, name: object) -> str:
        """The words for a column, or for a row's value."""
        return printable(self.labels.get(str(name), str(name)))


@dataclass(frozen=True)
class Levels:
    """The levels of an x axis.

    Attributes
    ----------
    where : dict
        Position of every level in data units: itself if `numeric`, else its place.
    texts : tuple of str
        Of the tick labels, in the order of `where`.
    """

    where: Mapping[Any, float]
    texts: tuple[str, ...]
    numeric: bool

    @property
    def limits(self) -> tuple[float, float]:
        """Left and right end of the axis; the left one is the larger if the levels descend."""
        places = list(self.where.values())
        low, high = min(places), max(places)
        margin = ((high - low) or 1.0) * 0.06 if self.numeric else 0.5
        ends = (low - margin, high + margin)
        return ends[::-1] if places[0] > places[-1] else ends

    def draw(self, axes: Axes, label: str, *, labelled: bool) -> None:
        """Set limits, ticks and label; only the lowest of several panels is `labelled`."""
        axes.set_xlim(*self.limits)
        axes.grid(visible=False, axis="x")
        axes.tick_params(axis="x", length=4 if self.numeric else 0, labelbottom=labelled)
        axes.set_xlabel("")
        if not self.numeric or len(self.where) <= MANY:
            turned = self.numeric and max(map(len, self.texts)) * CHARACTER + 6 > self._room
            axes.set_xticks(list(self.where.values()), self._tick_labels(turned), rotation=90 if turned else 0)
        if labelled:
            axes.set_xlabel(wrapped(label, int(ROOM / CHARACTER)), labelpad=6)

    @property
    def _room(self) -> float:
        """Points between the nearest two levels."""
        left, right = self.limits
        near = min((b - a for a, b in pairwise(sorted(self.where.values()))), default=abs(right - left))
        return near / abs(right - left) * ROOM

    def _tick_labels(self, turned: bool) -> list[str]:
        """Labels that do not run into each other: wrapped words, or upright numbers some of which are left out."""
        if not turned:
            characters = max(6, int(self._room / CHARACTER) - 1)
            return list(self.texts) if self.numeric else [wrapped(text, characters) for text in self.texts]
        left, right = self.limits
        shown, last = dict.fromkeys(self.where, ""), -math.inf
        for (level, place), text in sorted(zip(self.where.items(), self.texts, strict=True), key=lambda p: p[0][1]):
            if (place - last) / abs(right - left) * ROOM >= FONT + 2:
                shown[level], last = text, place
        return list(shown.values())


def levels_of(frames: Iterable[pd.DataFrame], x: str, words: Words, *, numeric: bool = True) -> Levels:
    """The levels of an axis: in a study's order where the frames bring one, else numbers ascending, words as found.

    `numeric` False gives every number a place of its own, as bars need it.
    """
    found = list(dict.fromkeys(level for frame in frames if x in frame for level in frame[x].tolist()))
    known = dict(words.levels.get(x, ()))
    if all(level in known for level in found):
        found = [level for level in known if level in set(found)]
        texts = [known[level] for level in found]
    else:
        numbers = all(isinstance(level, int | float) for level in found)
        found = sorted(found) if numbers else found
        texts = [pretty(float(v), 6) if isinstance(v, int | float) else printable(v) for v in found]
    numeric = numeric and all(isinstance(level, int | float) for level in found)
    where = {level: float(level) if numeric else float(k) for k, level in enumerate(found)}
    return Levels(where, tuple(texts), numeric)


def top_of(values: Iterable[float], bands: Iterable[float], bound: float = math.inf) -> float:
    """Where a y axis ends: above all values, and above all bands unless they are `TALL` times as high."""
    highest = max((v for v in values if math.isfinite(v)), default=0.0)
    ends = [v for v in bands if math.isfinite(v)]
    top = min(max([highest, *ends]), TALL * highest) if highest > 0 else max(ends, default=1.0)
    top = (top or 1.0) * 1.06
    return min(top, bound * 1.05) if math.isfinite(bound) else top


def floor_of(values: Iterable[float], top: float) -> float:
    """Where the y axis of lines begins: at 0, or just below everything where 0 would press all into one line."""
    lowest = min((v for v in values if math.isfinite(v)), default=0.0)
    if lowest < CLOSE * top:
        return 0.0
    step = 10.0 ** math.floor(math.log10(top - lowest)) if top > lowest else 1.0
    return max(0.0, math.floor((lowest - 0.1 * (top - lowest)) / step) * step)


def y_axis(axes: Axes, bottom: float, top: float, label: str, *, begins: bool = True) -> None:
    """Set limits, ticks and label of the y axis.

    The label stands above the axis, where it needs no turned head and no margin; it says where the axis begins
    (if `begins`). It is an ordinary y label: ``axes.set_ylabel`` changes it, and a title of
    the axes stands above it.
    """
    axes.set_ylim(bottom, top)
    axes.grid(visible=True, axis="y")
    axes.locator_params(axis="y", nbins=6)
    axes.yaxis.set_major_formatter(lambda value, _: pretty(value, 6))
    label += f" (axis begins at {pretty(bottom)})" if bottom > 0 and begins else ""
    text = wrapped(label, int((WIDTH - 30) / CHARACTER))
    axes.set_ylabel(text, rotation=0, ha="left", va="bottom")
    above = offset_copy(axes.transAxes, fig=axes.figure, y=ABOVE, units="points")
    axes.yaxis.set_label_coords(0, 1, transform=above)
    # Titles keep clear of labels on top of an x axis, not of ones above a y axis: an empty one of the former as tall
    # as the latter lifts them.
    spacer = axes.secondary_xaxis("top")
    spacer.set_xticks([])
    spacer.spines["top"].set_visible(False)
    spacer.set_xlabel("\n".join([" "] * (text.count("\n") + 1)), labelpad=ABOVE)


def finite(*columns: Sequence[float] | pd.Series) -> list[float]:
    """The finite values of columns."""
    return [float(v) for column in columns for v in np.asarray(column, dtype=float) if math.isfinite(v)]
