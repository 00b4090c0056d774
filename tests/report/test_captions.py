"""The sentence below a figure follows from its points and claims no more than their ranges."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import each_case
from virtperf.report.captions import caption
from virtperf.report.frames import point_table
from virtperf.report.loaded import LoadedStudy
from virtperf.report.orders import order_claims

Say = Callable[[pd.DataFrame], str]
NAN, INF = math.nan, math.inf
SHARP = 1e-4


@pytest.fixture(scope="module")
def say(loaded: LoadedStudy) -> Say:
    """The caption of a frame of figure 2."""
    return lambda points: caption(points, loaded.study.factors["guests"], ["More is more."])


@pytest.fixture(scope="module")
def ranges(loaded: LoadedStudy) -> Callable[..., pd.DataFrame]:
    """One series with these ranges at 2, 4, 8 and 16 guests."""
    frame = point_table(loaded.data, loaded.study.exhibit("figure-2"), level=0.95)
    frame = frame[frame["system"] == "a"].reset_index(drop=True)

    def made(*ends: tuple[float, float], ordered: bool = False) -> pd.DataFrame:
        low, high = (pd.Series([end[k] for end in ends], dtype=float) for k in (0, 1))
        pieces = [[] if math.isnan(a) else [a, b] for a, b in ends]
        same = {"low_text": low, "high_text": high, "pieces": pieces, "pieces_text": pieces}
        return frame.assign(
            low=low, high=high, **same, known=low.notna(), measured=NAN, ordered=ordered
        )

    return made


def sharp(*values: float) -> list[tuple[float, float]]:
    return [(v - SHARP, v + SHARP) for v in values]


def measured(points: pd.DataFrame, row: int, low: float, high: float) -> pd.DataFrame:
    points = points.copy()
    for name, value in {
        "measured": (low + high) / 2,
        "measured_low": low,
        "measured_high": high,
    }.items():
        points.loc[row, name] = value
    return points


@each_case(
    ("values", "expected"),
    [
        ([1, 2, 3, 4], ": rising from 1 at 2 guests to 4 at 16."),
        ([4, 3, 2, 1], ": falling from 4 at 2 guests to 1 at 16."),
        ([1, 5, 9, 4], ": rising from 1 at 2 guests to 9 at 8, then falling to 4 at 16."),
        ([9, 5, 1, 4], ": falling from 9 at 2 guests to 1 at 8, then rising to 4 at 16."),
        ([61.84, 70, 80, 91.2], ": rising from 61.8 at 2 guests to 91.2 at 16."),
        ([1, 9, 2, 4], ": 1 at 2 guests, 9 at 4, 2 at 8, 4 at 16."),
    ],
)
def test_certain_trend_is_stated(
    ranges: Callable[..., pd.DataFrame], say: Say, values: list[float], expected: str
) -> None:
    assert expected in say(ranges(*sharp(*values)))


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(1, 100), st.floats(0, 20)), min_size=4, max_size=4))
def test_uncertain_trend_is_not_stated(
    ranges: Callable[..., pd.DataFrame], say: Say, drawn: list[tuple[float, float]]
) -> None:
    ends = [(low, low + width) for low, width in drawn]
    sentence = say(ranges(*ends))
    overlap = any(a[1] >= b[0] and b[1] >= a[0] for a, b in pairwise(ends))
    assert not (overlap and ("rising" in sentence or "falling" in sentence))


@each_case(
    ("low", "high", "ordered", "phrase"),
    [
        (60.0, 62.0, True, "60 to 62"),
        (61.0, 61.0, False, "61"),
        (50.0, 62.0, False, "50 to 62"),
        (20.0, 62.0, False, "between 20 and 62"),
        (0.0, 62.0, False, "at most 62"),
        (2.0, 98.0, True, "between 2 and 98"),  # as in a figure without claims of an order
        (40.0, INF, False, "at least 40"),
        (0.0, INF, False, "no upper limit"),
        (40.0, INF, True, "order only"),
    ],
)
def test_value_is_stated_only_for_a_narrow_range(
    ranges: Callable[..., pd.DataFrame],
    say: Say,
    low: float,
    high: float,
    *,
    ordered: bool,
    phrase: str,
) -> None:
    sentence = say(ranges((low, high), *[(NAN, NAN)] * 3, ordered=ordered))
    assert f": {phrase} at 2 guests." in sentence
    assert sentence.endswith("The text says: More is more.") == (phrase == "order only")


def test_points_with_equal_ranges_are_described_together(
    ranges: Callable[..., pd.DataFrame], say: Say
) -> None:
    sentence = say(ranges((1, INF), (2, INF), (60, 62), (0, INF), ordered=True))
    assert ": order only at 2 guests and 4, 60 to 62 at 8, order only at 16." in sentence
    assert ": at most 5 at 2 guests, at most 6 at 4, at most 7 at 8, 8 to 8.1 at 16." in say(
        ranges((0, 5), (0, 6), (0, 7), (8, 8.1))
    )


def test_disjoint_pieces_with_a_printed_value(
    ranges: Callable[..., pd.DataFrame], say: Say
) -> None:
    points = ranges((10, 90), *[(NAN, NAN)] * 3)
    points.at[0, "pieces"] = [10.0, 12.0, 80.0, 90.0]
    points.loc[0, "printed"] = 95.0
    assert (
        ": 10 to 12 or 80 to 90 (printed: 95) at 2 guests. Several ranges: the claims contradict each other"
        in say(points)
    )
    points.loc[0, "printed"] = 85.0
    assert ": 10 to 12 or 80 to 90 (printed: 85) at 2 guests." in say(points)
    points.at[0, "pieces"] = [10.0, 44.9999, 45.0001, 90.0]  # a gap below the printed precision
    # a strongly asymmetric range around the printed number is stated too
    assert ": between 10 and 90 (printed: 85) at 2 guests." in say(points)
    assert "Several ranges" not in say(points)
    points.loc[0, "printed"] = 45.0
    assert ": 45 at 2 guests." in say(points)


def test_series_with_equal_ranges_are_described_together(
    ranges: Callable[..., pd.DataFrame], say: Say
) -> None:
    points = ranges(*sharp(1, 2, 3, 4))
    both = pd.concat([points.assign(series="a"), points.assign(series="b")], ignore_index=True)
    assert "a and b: rising from 1 at 2 guests to 4 at 16." in say(both)
    both["series"] = both["series"].map({"a": "a, 1", "b": "b, 1"})
    assert "a, 1; b, 1: rising from 1" in say(both)


def test_points_depending_on_assumptions_are_counted(
    ranges: Callable[..., pd.DataFrame], say: Say
) -> None:
    points = ranges(*sharp(1, 2, 3, 4))
    assert "assumptions" not in say(points)
    points["low_text"] = points["low_text"].mask(points["guests"] == 4, 0.0)
    assert say(points).startswith("Values with our assumptions, which narrow 1 of 4 ranges: ")


def test_measured_means_are_stated_without_ranges(
    ranges: Callable[..., pd.DataFrame], say: Say
) -> None:
    points = ranges(*[(NAN, NAN)] * 4)
    assert "no values" in say(points)
    for row, value in enumerate((10, 20, 30, 40)):
        points = measured(points, row, value - 1, value + 1)
    assert "Measured values." in say(points) and ": rising from 10 at 2 guests to 40 at 16." in say(
        points
    )


def test_measured_means_are_not_called_printed(
    ranges: Callable[..., pd.DataFrame], say: Say
) -> None:
    points = ranges(*[(NAN, NAN)] * 4)
    for row, (low, high) in enumerate(((28, 29), (20, 90), (29, 30), (29, 31))):
        points = measured(points, row, low, high)
    points.loc[0, "measured"] = 29.0  # at an end of its interval, as a median may be
    sentence = say(points)
    assert sentence.startswith("Measured values.") and "printed" not in sentence
    assert "29 at 2 guests, 55 (20 to 90) at 4, " in sentence
    points.loc[3, ["low", "high"]] = [60.0, 61.0]
    points.at[3, "pieces"] = [60.0, 61.0]
    points.loc[3, "known"] = True
    sentence = say(points)
    assert ": 60 to 61 at 16 guests. Measured: 29 (2 guests), 55 (4 guests), " in sentence
    assert "0 of 1 intervals" in sentence or "The interval does not overlap" in sentence


def test_measured_intervals_are_compared_with_ranges(
    ranges: Callable[..., pd.DataFrame], say: Say
) -> None:
    points = measured(ranges(*sharp(10, 20, 30, 40)), 0, 9, 11)
    assert "Measured: 10 (2 guests). The interval overlaps the range that the text allows." in say(
        points
    )
    points = measured(points, 2, 45, 55)
    assert "1 of 2 intervals overlaps the range that the text allows." in say(points)
    assert "The interval does not overlap" in say(
        measured(ranges(*sharp(10, 20, 30, 40)), 2, 45, 55)
    )


def test_reference_point_is_not_compared(ranges: Callable[..., pd.DataFrame], say: Say) -> None:
    points = measured(
        ranges(*sharp(10, 100, 30, 40)), 1, 99, 101
    )  # 4 guests are the reference of system a
    assert "Measured: 100 (4 guests)." in say(points) and "overlap" not in say(points)


def test_orders_come_from_uncontradicted_claims_about_plotted_points(loaded: LoadedStudy) -> None:
    found, claims = order_claims(loaded.data, loaded.study.exhibit("figure-2"))
    assert [claim.says for claim in claims] == ["System A peaks at 8 guests"]
    assert {quantity.level("guests") for quantity in found} == {2, 4, 8, 16}
    assert {quantity.level("system") for quantity in found} == {"a"}
