"""Frames for plots."""

from __future__ import annotations

import itertools

import pandas as pd
import pytest


@pytest.fixture
def own() -> pd.DataFrame:
    """User data: three runs of two tools at four numbers of users."""
    rows = [
        {"users": users, "tool": tool, "tps": speed * users / (1 + 0.1 * users) + run}
        for users, (tool, speed), run in itertools.product(
            (8, 1, 2, 4), (("wrk", 90.0), ("ab", 60.0)), (-1, 0, 1)
        )
    ]
    return pd.DataFrame(rows)
