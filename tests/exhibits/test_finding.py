"""The sentence under a figure follows from its points."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from virtperf.exhibits.finding import finding
from virtperf.exhibits.joined import joined
from virtperf.exhibits.loaded import LoadedStudy


@pytest.fixture
def say(loaded: LoadedStudy):
    """The caption of a frame of figure 2."""
    return lambda points: finding(points, loaded.study.factors["guests"])


def with_values(loaded: LoadedStudy, values: list[float]) -> pd.DataFrame:
    points = joined(loaded.data, loaded.study.exhibit("figure-2"), level=0.95)
    points = points[points["system"] == "a"].reset_index(drop=True)
    series = pd.Series(values, dtype=float)
    return points.assign(told=series, reconstructed=series, low=series - 1, high=series + 1, measured=math.nan)


def measured(points: pd.DataFrame, row: int, low: float, high: float) -> pd.DataFrame:
    cells = {"measured": (low + high) / 2, "measured_low": low, "measured_high": high}
    for name, value in cells.items():
        points.loc[row, name] = value
    return points


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2, 3, 4], ": rising from 1 at 2 guests to 4 at 16."),
        ([4, 3, 2, 1], ": falling from 4 at 2 guests to 1 at 16."),
        ([1, 5, 9, 4], "from 1 at 2 guests up to 9 at 8, then down to 4 at 16."),
        ([9, 5, 1, 4], "from 9 at 2 guests down to 1 at 8, then up to 4 at 16."),
        ([61.84, 70, 80, 91.15], ": rising from 61.8 at 2 guests to 91.2 at 16."),
        ([100, 100.2, 100.1, 100.4], ": constant, about 100."),
        ([math.nan] * 4, "no values yet"),
    ],
)
def test_the_course_of_a_series(loaded: LoadedStudy, say, values: list[float], said: str) -> None:
    assert said in say(with_values(loaded, values))


def test_open_and_widest_bands_are_named(loaded: LoadedStudy, say) -> None:
    points = with_values(loaded, [10, 20, 30, 40])
    points.loc[0, "high"] = math.inf
    points.loc[3, "low"] = 5.0
    said = say(points)
    assert "no upper limit for 2 guests" in said and "Least certain: 16 guests, 5 to 41." in said
    assert said.startswith("Reconstructed values. ") and said.endswith("Not yet tested by measurement.")


def test_agreement_of_measured_points_is_counted(loaded: LoadedStudy, say) -> None:
    points = measured(with_values(loaded, [10, 20, 30, 40]), 0, 10, 11)
    assert "1 measured point, which agrees" in say(points)
    points = measured(points, 2, 45, 55)
    assert "2 measured points, 1 of which agrees" in say(points)
    points = measured(points, 0, 45, 55)
    assert "2 measured points, none of which agrees" in say(points)
    points = measured(measured(points, 2, 29, 30), 0, 10, 11)
    assert "2 measured points, all of which agree" in say(points)


def test_a_point_that_sets_the_scale_agrees_with_nothing(loaded: LoadedStudy, say) -> None:
    points = measured(with_values(loaded, [10, 100, 30, 40]), 1, 99, 101)  # 4 guests are the reference of system a
    said = say(points)
    assert "Measured: 100 (4 guests). 1 measured point." in said and "agree" not in said
    points = measured(points, 2, 45, 55)
    assert "2 measured points, the one of which that can be compared does not agree" in say(points)
    points = measured(points, 3, 40, 41)
    assert "3 measured points, 1 of the 2 that can be compared agrees" in say(points)
    points["sets_scale"] = points["guests"] == 8  # runs without the reference, put on the scale of 8 guests
    assert "3 measured points, all of the 2 that can be compared agree" in say(points)
