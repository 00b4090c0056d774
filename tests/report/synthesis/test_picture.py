"""The picture of a question, checked by its drawn artists."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest

from virtperf.report.palette import SERIES_COLOURS
from virtperf.report.plot.theme import NARROW_WIDTH
from virtperf.report.synthesis.picture import draw_numbers


def number(name: str, kind: str, low: float, high: float, drawn: str = "A quantity") -> dict:
    return {
        "row": "r",
        "quantity": "Quantity",
        "unit": "ratio",
        "percent": False,
        "drawn": drawn,
        "system": name.partition(": ")[0],
        "compared": name.partition(": ")[2],
        "words": "a number",
        "kind": kind,
        "value": (low + high) / 2 if kind == "measured" else math.nan,
        "pieces": [low, high],
        "by_authors": False,
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
    texts = [text.get_text() for text in axes.texts if text.get_text().strip()]
    beside = ["a number", "range by the text", "paper", "A"]
    assert texts == ["A quantity", *beside, "a number", "measured", "own", "B"]
    ((bar,),) = axes.containers
    assert (bar.get_x(), bar.get_width()) == (0.4, pytest.approx(2.6))
    assert axes.get_xscale() == "linear" and axes.get_xlim()[1] > 3
    marks = {line.get_marker(): np.ravel(line.get_xdata()).tolist() for line in axes.lines}
    assert marks == {"o": [1.0]}


def test_runs_of_the_authors_are_named_so(numbers: pd.DataFrame) -> None:
    figure = draw_numbers(numbers.assign(by_authors=True))
    assert figure is not None
    texts = [text.get_text() for text in figure.axes[0].texts]
    assert "measured by the authors" in texts and "range by the text" in texts


def test_phone_has_each_value_below_its_name(numbers: pd.DataFrame) -> None:
    figure = draw_numbers(numbers, narrow=True)
    assert figure is not None
    texts = [text.get_text() for text in figure.axes[0].texts]
    first = ["A quantity", "paper", "a number", "A (range by the text)"]
    assert texts == [*first, "own", "a number", "B (measured)"]
    assert 72 * figure.get_figwidth() == pytest.approx(NARROW_WIDTH)


def test_system_of_the_value_before_is_not_repeated(numbers: pd.DataFrame) -> None:
    figure = draw_numbers(numbers.assign(system="own")[:2])
    assert figure is not None
    assert [text.get_text() for text in figure.axes[0].texts].count("own") == 1


def test_condition_has_a_colour_before_its_system(numbers: pd.DataFrame) -> None:
    figure = draw_numbers(numbers[1:2], colours={"own": 0, "B": 1})
    assert figure is not None
    (mark,) = figure.axes[0].lines
    assert mark.get_color() == SERIES_COLOURS[1].light


def test_large_ratios_have_a_logarithmic_axis(numbers: pd.DataFrame) -> None:
    large = number("own: E", "measured", 34.0, 43.0)
    figure = draw_numbers(pd.DataFrame([*numbers.to_dict("records"), large]), "Reads, times")
    assert figure is not None and figure.axes[0].get_xscale() == "log"
    assert figure.axes[0].get_xlabel() == "Reads, times (logarithmic axis)"


def test_printed_numbers_and_other_units_have_their_own_axis() -> None:
    printed = number("paper: A", "states", 48.5, 49.5) | {"value": 49.0}
    wide = number("paper: B", "allows", 100.0, math.inf)
    figure = draw_numbers(pd.DataFrame([printed, wide]).assign(unit="ms"))
    assert figure is not None
    (axes,) = figure.axes
    assert axes.get_xlabel() == "ms" and axes.get_xscale() == "linear"
    marks = {line.get_marker(): np.ravel(line.get_xdata()).tolist() for line in axes.lines}
    assert marks["D"] == [49.0] and marks[">"] == [axes.get_xlim()[1]]


def test_ratios_near_one_are_on_a_linear_axis_in_per_cent_if_asked(numbers: pd.DataFrame) -> None:
    figure = draw_numbers(numbers[1:2].assign(percent=True))
    assert figure is not None
    (axes,) = figure.axes
    figure.canvas.draw()
    assert axes.get_xscale() == "linear"
    ticks = [label.get_text() for label in axes.get_xticklabels()]
    assert ticks == ["90", "95", "100\n(no change)", "105", "110"]


def test_no_picture_without_limits_or_chosen_rows(numbers: pd.DataFrame) -> None:
    assert draw_numbers(numbers[2:3]) is None
    assert draw_numbers(numbers.assign(drawn="")) is None


@pytest.mark.parametrize("narrow", [False, True])
def test_vertical_lines_stay_clear_of_the_names(numbers: pd.DataFrame, *, narrow: bool) -> None:
    figure = draw_numbers(numbers, narrow=narrow)
    assert figure is not None
    figure.canvas.draw()
    (axes,) = figure.axes
    names = [text.get_window_extent() for text in axes.texts if text.get_text().strip()]
    at_one = [
        segment
        for lines in axes.collections
        if np.allclose(lines.get_linewidth(), 1)
        for segment in lines.get_segments()
        if set(segment[:, 0]) == {1}
    ]
    assert len(names) > 5 and len(at_one) == 2
    for segment in at_one:
        ((x, _), *_), (low, high) = (ends := axes.transData.transform(segment)), sorted(ends[:, 1])
        assert not any(name.x0 < x < name.x1 and name.y0 < high and low < name.y1 for name in names)
