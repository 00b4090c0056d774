"""`dvc metrics` of a study: measured means with intervals."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from tests.report.toy import build
from virtperf.report.frames import load
from virtperf.report.key_numbers import key_numbers, limits_set, means_table


def test_metrics_contain_measured_means(tmp_path):
    data = load("toy", build(tmp_path))
    rows = data.means[(data.means["provenance"] == "measured") & (data.means["scale"] == "own")]
    assert len(rows)
    found = [cell for of in key_numbers(data)["means"].values() for cell in of.values()]
    assert len(found) == len(rows)
    assert sorted(c["mean"] for c in found) == pytest.approx(sorted(rows["value"]), rel=1e-4)
    assert sorted(c["n"] for c in found) == sorted(rows["n"])


def test_plotted_means_are_those_of_the_metrics(tmp_path):
    data = load("toy", build(tmp_path))
    table = means_table(data)
    assert list(table.columns) == ["quantity", "condition", "mean", "low", "high", "n"]
    assert not table.duplicated(["quantity", "condition"]).any()
    means = key_numbers(data)["means"]
    assert len(table) == sum(map(len, means.values())) > 1
    for row in table.itertuples():
        cell = means[row.quantity][row.condition]
        assert (row.mean, row.n) == (cell["mean"], cell["n"])
        assert row.low == pytest.approx(cell["low"]) and row.high == pytest.approx(cell["high"])


def test_limits_are_counted_for_assumptions_that_set_some() -> None:
    claims = [SimpleNamespace(id=name, assumed=name != "c") for name in "abc"]
    points = pd.DataFrame({"low_by": [("a", "c"), ("a",)], "high_by": [("c",), ()]})
    assert limits_set(SimpleNamespace(claims=claims, points=points)) == {"a": 2}  # type: ignore[arg-type]
