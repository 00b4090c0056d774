"""Own runs without the reference point are scaled at the best known point, and only then."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from virtperf.exhibits.anchor import anchored
from virtperf.exhibits.book import Book
from virtperf.exhibits.layers import Mean, Point


@pytest.fixture
def points(book: Book) -> list[Point]:
    """The points of a relative figure, as if nobody had run anything; bands of 10 %, but 2 % at the second."""
    found = []
    for i, p in enumerate(book._points["figure-2"]):
        width = 2 if i == 1 else 10
        found.append(replace(p, centre=100.0, low=100.0 - width, high=100.0 + width, measured=None, anchor=None))
    return found


def test_the_narrowest_band_is_the_anchor_and_ratios_stay(points):
    runs = {(p.quantity, "measured"): Mean(50.0 + 5 * i, 49.0, 51.0, ("r",)) for i, p in enumerate(points[:3])}
    found = anchored(points, runs, "measured")
    assert found[1].measured.value == pytest.approx(100)
    assert found[2].measured.value / found[0].measured.value == pytest.approx(60 / 50)
    assert {p.anchor for p in found[:3]} == {points[1].quantity}
    assert all(p.measured is None for p in found[3:])


def test_nothing_changes_where_the_reference_was_run(points):
    points[0] = replace(points[0], measured=Mean(90.0, 89.0, 91.0, ("r",)))
    runs = {(p.quantity, "measured"): Mean(50.0, 49.0, 51.0, ("r",)) for p in points}
    assert anchored(points, runs, "measured") == points


def test_a_point_without_a_closed_band_is_no_anchor(points):
    open_ended = [replace(p, high=math.inf) for p in points]
    runs = {(p.quantity, "measured"): Mean(50.0, 49.0, 51.0, ("r",)) for p in points}
    assert anchored(open_ended, runs, "measured") == open_ended
