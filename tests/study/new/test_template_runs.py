"""Runs of the measured study template: outputs of the workload processes are added up."""

from __future__ import annotations

import pandas as pd
import pytest
import yaml

from tests.study.new.conftest import layout as layout
from tests.toy_runs import write_run
from virtperf.core.paths import Layout
from virtperf.runs.stage import process_runs
from virtperf.study.new.write import write_study

RATES = (31_000.0, 33_000.0)


@pytest.mark.parametrize("pattern", ["as declared", "loops-{n}.csv"])
def test_throughput_is_the_sum_over_processes(layout: Layout, pattern: str) -> None:
    write_study(layout, "busy", measured=True)
    folder = layout.measured("busy")
    (workload,) = yaml.safe_load((folder / "measure.yaml").read_text())["workload"]
    name = workload["output"] if pattern == "as declared" else pattern
    raw = {
        name.format(n=n): "".join(
            ["seconds,loops_per_s\n", *(f"{0.5 * k + 0.01 * n},{rate}\n" for k in range(1, 21))]
        ).encode()
        for n, rate in enumerate(RATES, start=1)
    }
    write_run(
        folder,
        raw=raw,
        study="busy",
        factors={"processes": 2},
        duration_s=10,
        warmup_s=1,
        window_s=[1, 9],
    )
    summary = process_runs(layout, "busy", jobs=1)
    if pattern != "as declared":  # two files without entity
        assert "overlaps in time with that in loops-1.csv" in str(summary)
        return
    table = pd.read_parquet(layout.root / "data" / "runs" / "busy" / "observations.parquet")
    (value,) = table.loc[table["quantity"] == "throughput", "value"]
    assert value == pytest.approx(sum(RATES))
