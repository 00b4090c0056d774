"""Own runs without the reference point are scaled at the best known point, and only then."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from virtperf.exhibits.rescale import rescaled

PLACE = ["series", "quantity", "guests"]


@pytest.fixture
def points() -> pd.DataFrame:
    """Three points of a relative quantity; bands of 10 to either side, but of 2 at the second."""
    rows = [("s", "throughput", g, 100.0 - w, 100.0 + w) for g, w in ((2, 10), (4, 2), (8, 10))]
    return pd.DataFrame(rows, columns=[*PLACE, "low", "high"])


def means(scale: str = "own", provenance: str = "measured") -> pd.DataFrame:
    rows = [
        {"series": "s", "quantity": "throughput", "guests": g, "provenance": provenance, "scale": scale,
         "place": f"{g} guests", "value": 50.0 + 5 * k, "low": 49.0, "high": 51.0, "se": 1.0}
        for k, g in enumerate((2, 4, 8))
    ]  # fmt: skip
    return pd.DataFrame(rows)


def test_the_narrowest_band_sets_the_scale_and_ratios_stay(points: pd.DataFrame) -> None:
    found = rescaled(means(), points, {"throughput"}, "guests")
    assert list(found["value"]) == pytest.approx([50 * 100 / 55, 100, 60 * 100 / 55])
    assert list(found["se"]) == pytest.approx([100 / 55] * 3)
    assert set(found["scaled_at"]) == {"4 guests"} and list(found["sets_scale"]) == [False, True, False]


def test_nothing_is_scaled_where_the_reference_was_run(points: pd.DataFrame) -> None:
    both = pd.concat([means(), means("relative").iloc[:1].assign(value=90.0)], ignore_index=True)
    found = rescaled(both, points, {"throughput"}, "guests")
    assert found["value"].tolist() == [90.0] and set(found["scaled_at"]) == {""}


def test_an_absolute_quantity_stays_as_it_is(points: pd.DataFrame) -> None:
    found = rescaled(means(), points, set(), "guests")
    assert found["value"].tolist() == [50, 55, 60]


@pytest.mark.parametrize(("low", "high"), [(80.0, math.inf), (80.0, 99.0), (0.0, 0.0)])
def test_without_a_narrow_range_there_is_no_scale(points: pd.DataFrame, low: float, high: float) -> None:
    assert rescaled(means(), points.assign(low=low, high=high), {"throughput"}, "guests").empty
