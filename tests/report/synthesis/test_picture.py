"""The picture of a question, checked by its drawn artists."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from tests.report.plot.drawn import legend
from virtperf.report.synthesis.picture import LARGEST_RATIO, draw_ratios


def number(name: str, kind: str, low: float, high: float, drawn: str = "A quantity") -> dict:
    return {
        "row": "r",
        "quantity": "Quantity",
        "unit": "ratio",
        "drawn": drawn,
        "name": name,
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
    figure = draw_ratios(numbers)
    assert figure is not None
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.texts] == ["A quantity", "paper: A", "own: B"]
    ((bar,),) = axes.containers
    assert (bar.get_x(), bar.get_width()) == (0.4, pytest.approx(LARGEST_RATIO - 0.4))
    marks = {line.get_marker(): line.get_xdata().tolist() for line in axes.lines}
    assert marks == {"o": [1.0], ">": [LARGEST_RATIO]}
    assert "measured, with its interval" in legend(axes)
    first = draw_ratios(numbers.assign(drawn=""))
    assert first is not None and len(first.axes[0].texts) == 4
    assert first.axes[0].texts[0].get_text() == "Quantity"


def test_no_picture_without_limited_ratios(numbers: pd.DataFrame) -> None:
    assert draw_ratios(numbers[2:3]) is None
    assert draw_ratios(numbers.assign(unit="ms")) is None


def test_vertical_lines_stay_clear_of_the_names(numbers: pd.DataFrame) -> None:
    figure = draw_ratios(numbers)
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
    assert len(names) == 3 and len(at_one) == 2
    for segment in at_one:
        low, high = sorted(axes.transData.transform(segment)[:, 1])
        assert not any(name.y0 < high and low < name.y1 for name in names)
