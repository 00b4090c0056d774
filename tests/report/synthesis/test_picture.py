"""The picture of a question, checked by its drawn artists."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tests.report.plot.drawn import legend
from virtperf.report.synthesis.picture import draw_numbers


def number(name: str, kind: str, low: float, high: float, drawn: str = "A quantity") -> dict:
    return {
        "row": "r",
        "quantity": "Quantity",
        "unit": "ratio",
        "percent": False,
        "drawn": drawn,
        "name": name,
        "words": "a number",
        "kind": kind,
        "value": (low + high) / 2 if kind == "measured" else math.nan,
        "pieces": [low, high],
    }


@pytest.fixture
def numbers() -> pd.DataFrame:
    """A clipped range, a mean, a range without limits, a quantity that is not chosen."""
    return pd.DataFrame(
        [
            number("paper: A", "allows", 0.4, 3.0),
            number("own: B", "measured", 0.9, 1.1),
            number("paper: C", "allows", 0.0, math.inf),
            number("paper: D", "allows", 0.5, 0.6, drawn=""),
        ]
    )


def test_chosen_numbers_with_a_limit_are_drawn(numbers: pd.DataFrame) -> None:
    figure = draw_numbers(numbers)
    assert figure is not None
    (axes,) = figure.axes
    texts = [text.get_text() for text in axes.texts]
    assert texts == ["A quantity", "a number", "paper: A", "a number", "own: B"]
    ((bar,),) = axes.containers
    assert (bar.get_x(), bar.get_width()) == (0.4, pytest.approx(2.6))
    assert axes.get_xscale() == "log" and axes.get_xlim()[1] > 3
    assert {line.get_marker(): line.get_xdata().tolist() for line in axes.lines} == {"o": [1.0]}
    assert legend(axes) == ["range by the text", "measured, interval"]


def test_printed_numbers_and_other_units_have_their_own_axis() -> None:
    printed = number("paper: A", "states", 48.5, 49.5) | {"value": 49.0}
    wide = number("paper: B", "allows", 100.0, math.inf)
    figure = draw_numbers(pd.DataFrame([printed, wide]).assign(unit="ms"))
    assert figure is not None
    (axes,) = figure.axes
    assert axes.get_xlabel() == "ms" and axes.get_xscale() == "linear"
    marks = {line.get_marker(): line.get_xdata().tolist() for line in axes.lines}
    assert marks["D"] == [49.0] and marks[">"] == [axes.get_xlim()[1]]


def test_ratios_near_one_are_on_a_linear_axis_in_per_cent_if_asked(numbers: pd.DataFrame) -> None:
    figure = draw_numbers(numbers[1:2].assign(percent=True))
    assert figure is not None
    (axes,) = figure.axes
    figure.canvas.draw()
    assert axes.get_xscale() == "linear"
    assert [label.get_text() for label in axes.get_xticklabels()] == ["0", "25", "50", "75", "100"]


def test_no_picture_without_limits_or_chosen_rows(numbers: pd.DataFrame) -> None:
    assert draw_numbers(numbers[2:3]) is None
    assert draw_numbers(numbers.assign(drawn="")) is None


def test_vertical_lines_stay_clear_of_the_names(numbers: pd.DataFrame) -> None:
    figure = draw_numbers(numbers)
    assert figure is not None
    figure.canvas.draw()
    (axes,) = figure.axes
    names = [text.get_window_extent() for text in axes.texts]
    at_one = [
        segment
        for lines in axes.collections
        if np.allclose(lines.get_linewidth(), 1)
        for segment in lines.get_segments()
        if set(segment[:, 0]) == {1}
    ]
    assert len(names) == 5 and len(at_one) == 2
    for segment in at_one:
        low, high = sorted(axes.transData.transform(segment)[:, 1])
        assert not any(name.y0 < high and low < name.y1 for name in names)
