"""The sentence under a figure follows from its points."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from virtperf.exhibits.book import Book
from virtperf.exhibits.layers import Mean, Point

from virtperf.exhibits.finding import finding


def with_values(book: Book, values: list[float], **changes: object) -> list[Point]:
    points = [p for p in book._points_of(book.study.exhibit("figure-2")) if p.quantity.level("system") == "a"]
    return [
        replace(p, centre=v, reconstructed=None, measured=None, low=v - 1, high=v + 1, **changes)
        for p, v in zip(points, values, strict=True)
    ]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, 2, 3, 4], ": rising from 1 at 2 guests to 4 at 16."),
        ([4, 3, 2, 1], ": falling from 4 at 2 guests to 1 at 16."),
        ([1, 5, 9, 4], "from 1 at 2 guests up to 9 at 8, then down to 4 at 16."),
        ([9, 5, 1, 4], "from 9 at 2 guests down to 1 at 8, then up to 4 at 16."),
        ([61.84, 70, 80, 91.15], ": rising from 61.8 at 2 guests to 91.2 at 16."),
        ([100, 100.2, 100.1, 100.4], ": level, between 100 and 100.4"),
        ([math.nan] * 4, "no values yet"),
    ],
)
def test_the_course_of_a_series(book: Book, values: list[float], said: str) -> None:
    assert said in finding(book.study, with_values(book, values))


def test_open_and_widest_bands_are_named(book: Book) -> None:
    points = with_values(book, [10, 20, 30, 40])
    points[0] = replace(points[0], high=math.inf)
    points[3] = replace(points[3], low=5.0)
    said = finding(book.study, points)
    assert "no upper limit for 2 guests" in said
    assert "leaves most room for 16 guests: 5 to 41" in said
    assert said.startswith("Reconstructed values, in the middle") and said.endswith("Nothing has been measured yet.")


def measured_at(points: list[Point], low: float, high: float) -> Point:
    return replace(points[0], measured=Mean((low + high) / 2, low, high, ("r",)))


def test_agreement_of_measured_points_is_counted(book: Book) -> None:
    points = with_values(book, [10, 20, 30, 40])
    points[0] = measured_at(points[:1], 10, 11)
    assert "1 measured point, which agrees" in finding(book.study, points)
    points[2] = measured_at(points[2:], 45, 55)
    assert "2 measured points, 1 of which agrees" in finding(book.study, points)
    points[0] = measured_at(points[:1], 45, 55)
    assert "2 measured points, none of which agrees" in finding(book.study, points)
    points[2], points[0] = measured_at(points[2:], 29, 30), measured_at(points[:1], 10, 11)
    assert "2 measured points, all of which agree" in finding(book.study, points)


def test_a_point_that_sets_the_scale_agrees_with_nothing(book: Book) -> None:
    points = with_values(book, [10, 100, 30, 40])  # 4 guests are the reference of system a
    points[1] = measured_at(points[1:], 99, 101)
    said = finding(book.study, points)
    assert "Measured: 100 (4 guests). 1 measured point." in said and "agree" not in said
    points[2] = measured_at(points[2:], 45, 55)
    assert "2 measured points, the one of which that can be compared does not agree" in finding(book.study, points)
    points[3] = measured_at(points[3:], 40, 41)
    assert "3 measured points, 1 of the 2 that can be compared agrees" in finding(book.study, points)
    # runs without the reference, put on the scale of 8 guests
    points = [replace(p, anchor=points[2].quantity) for p in points]
    assert "3 measured points, all of the 2 that can be compared agree" in finding(book.study, points)
