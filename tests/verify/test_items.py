"""Cells of stages' tables as they are compared."""

from __future__ import annotations

import math
from pathlib import Path

from virtperf.core import stage_tables
from virtperf.verify.items import table_items


def test_numbers_of_a_list_are_compared_one_by_one(tmp_path: Path) -> None:
    row = {
        "exhibit": "figure-1",
        "series": "A",
        "x": 3,
        "quantity": "speed",
        "low": 1.0,
        "high": math.inf,
        "low_text": 1.0,
        "high_text": math.inf,
        "pieces": [1.0, 2.0, 5.0, math.inf],
        "pieces_text": [1.0, math.inf],
        "low_by": ["a"],
        "high_by": [],
    }
    stage_tables.POINTS.write(stage_tables.POINTS.frame([row]), tmp_path / stage_tables.POINTS.file)
    found = {item.field: item.value for item in table_items(tmp_path / stage_tables.POINTS.file)}
    assert [found[f"pieces {k}"] for k in (1, 2, 3, 4)] == [1.0, 2.0, 5.0, math.inf]
    assert "pieces" not in found and found["pieces_text 2"] == math.inf and "low_by" not in found
