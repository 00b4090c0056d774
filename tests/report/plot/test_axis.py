"""Axes: limits and tick labels."""

from __future__ import annotations

import math
from dataclasses import replace

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import each_case
from virtperf.report.plot import axis


def levels(*found: object, numeric: bool = True) -> axis.AxisLevels:
    return axis.axis_levels(found, numeric=numeric)


def ranges(*ends: tuple[float, float]) -> pd.DataFrame:
    return pd.DataFrame(ends, columns=["low", "high"], dtype=float)


def test_distant_band_does_not_flatten_a_figure() -> None:
    assert axis.upper_limit([100.0, math.nan], ranges((0, 150))) == pytest.approx(1.06 * 150)
    assert axis.upper_limit([100.0], ranges((0, 5000))) == pytest.approx(
        1.06 * axis.CLIPPED_HEIGHT_FACTOR * 100
    )
    assert axis.upper_limit([], ranges((90, 100), (0, 5000))) == pytest.approx(
        1.06 * axis.CLIPPED_HEIGHT_FACTOR * 100
    )
    assert axis.upper_limit([95.0], ranges((0, 100)), bound=100.0) == pytest.approx(105)
    assert axis.upper_limit([], ranges()) == pytest.approx(1.06)


def test_every_range_starts_within_the_axis() -> None:
    assert axis.upper_limit([1.0], ranges((300, 900))) > 900  # invisible if the axis ended at 2.2
    assert axis.upper_limit([1.0], ranges((300, math.inf))) > 300


@each_case(
    ("values", "top", "floor"),
    [
        ([0.5, 100.0], 106.0, 0.0),
        ([97.0, 99.0], 103.0, 96.0),
        ([11318.0, 9878.0], 12000.0, 9000.0),
        ([], 1.0, 0.0),
        ([-5.0, 3.0], 4.0, -5.3),
    ],
)
def test_axis_excludes_zero_only_if_it_would_flatten_the_data(
    values: list[float], top: float, floor: float
) -> None:
    assert axis.lower_limit(values, top, from_zero=False) == pytest.approx(floor)
    assert axis.lower_limit(values, top) == pytest.approx(min(0.0, floor))


@each_case(
    ("bottom", "highest", "end"),
    [
        (0.0, 115.0, 120.0),
        (0.0, 64.0, 80.0),
        (0.0, 100.0, 103.0),  # a mark at the last tick has a margin
        (0.0, 12.0, 12.5),  # with a margin, ticks of 2 would be seven
        (99.0, 100.0, 100.03),
        (-5.0, 3.0, 4.0),
    ],
)
def test_axis_ends_at_the_first_tick_above_its_marks(
    bottom: float, highest: float, end: float
) -> None:
    assert axis.end_at_tick(bottom, highest) == pytest.approx(end)


@given(st.floats(0, 50), st.floats(1e-3, 1e6))
def test_last_tick_is_not_below_the_marks_and_a_third_of_the_axis_is_not_empty(
    bottom: float, length: float
) -> None:
    highest = bottom + length
    top = axis.end_at_tick(bottom, highest)
    shown = [t for t in axis._y_locator().tick_values(bottom, top) if t <= top * (1 + 1e-9)]
    assert max(shown) >= highest * (1 - 1e-9) and top - highest < (top - bottom) / 3


def test_numeric_levels_are_sorted_and_text_levels_keep_their_order() -> None:
    assert list(levels(8, 1, 4, 1).positions) == [1, 4, 8]
    assert levels("b", "a").positions == {"b": 0.0, "a": 1.0}
    assert levels(8, 1, numeric=False).positions == {1: 0.0, 8: 1.0}


def test_order_and_labels_of_the_study_are_kept() -> None:
    labelled = [(20480, "20,480"), (10240, "10,240"), (512, "512")]
    found = axis.axis_levels([10240, 20480], labelled)
    assert (list(found.positions), found.tick_labels) == ([20480, 10240], ("20,480", "10,240"))
    left, right = found.limits
    assert left > right


def test_short_labels_stay_horizontal_beside_long_ones() -> None:
    _, axes = plt.subplots(figsize=(7.5, 4))
    replace(levels(1, 10, 50, 100), width_pt=260.0).draw(axes, "x", labelled=True)
    assert {label.get_rotation() for label in axes.get_xticklabels()} == {0.0}


@each_case("found", [(20480, 11264, 10240, 9216), (1, 2, 3, 4, 100000), tuple(range(1, 14))])
def test_tick_labels_do_not_overlap(found: tuple[int, ...]) -> None:
    figure, axes = plt.subplots(figsize=(7.5, 4), layout="constrained")
    axis.set_y_axis(axes, 0.0, 1.0, "y")
    levels(*found).draw(axes, "x", labelled=True)
    figure.canvas.draw()
    boxes = [t.get_window_extent() for t in axes.get_xticklabels() if t.get_text()]
    ends = np.array([(b.x0, b.x1) for b in sorted(boxes, key=lambda b: b.x0)])
    assert len(boxes) >= 2 and (ends[1:, 0] >= ends[:-1, 1]).all()
