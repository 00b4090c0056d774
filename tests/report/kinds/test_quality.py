"""Data quality: excluded runs, audits by kind and condition, warm-up, stationarity."""

from __future__ import annotations

import re
from dataclasses import replace

import pandas as pd
import pytest

from tests.report.plain import plain
from virtperf.report.kinds.quality import record
from virtperf.report.loaded import LoadedStudy
from virtperf.report.records import OPEN_ROWS
from virtperf.study.parts import Artifact


def test_excluded_runs_and_failed_audits_are_counted(loaded: LoadedStudy) -> None:
    exhibit = loaded.quality()
    assert "1 excluded because of errors" in repr(exhibit) and "sar.txt" in plain(exhibit)
    checks = "1 of 2 checks passed; not passed: 1 of little's law."
    assert checks in plain(exhibit)


def test_audits_are_listed_by_kind_and_exceptions_by_condition(loaded: LoadedStudy) -> None:
    rows = [
        (
            f"run-{k}-r{r}",
            audit,
            value,
            300.0 if audit == "warm-up" else 16.0,
            low,
            300.0,
            status,
            note,
        )
        for k in ("a", "b")
        for r in (1, 2, 3)
        for audit, value, low, status, note in (
            ("warm-up", 250.0 + 100 * (r == 3), 0.0, "ok", "later" if r == 3 else ""),
            ("law", 16.0 if k == "a" else 20.0 + r, 15.0, "ok" if k == "a" else "violated", ""),
        )
    ]
    columns = ["run_id", "audit", "value", "expected", "low", "high", "status", "note"]
    series = pd.DataFrame({"run_id": ["run-a-r1"] * 3, "stationarity": ["constant", "step", ""]})
    series = series.assign(flags=["", "it jumps", ""], metric="page_rate")
    data = replace(loaded.data, audits=pd.DataFrame(rows, columns=columns), series=series)
    text = re.sub(r"\s+", " ", plain(record(replace(loaded.context, data=data))))
    assert re.search(r"law 6 6 3 44 %", text)  # (23 - 16) / 16
    assert re.search(r"warm-up 6 6 6 limit only", text)
    assert (
        re.search(r"run-b \(3 runs\) 21 to 23 16", text)
        and "run-b-r1" not in text.split("Warm-up")[0]
    )
    assert (
        re.search(r"300 s 6 250 s 250 s 350 s 2", text) and "Later: run-a-r3 and run-b-r3" in text
    )
    assert re.search(r"step 1 33 %", text) and "It jumps: 1 series of run-a-r1 (page_rate)" in text


def test_non_stationary_conditions_are_listed(loaded: LoadedStudy) -> None:
    assert "Change within the window" not in plain(loaded.quality())
    own = loaded.data.means[["scale", "provenance"]].eq(["own", "measured"]).all(axis=1)
    means = loaded.data.means.assign(steady="", trend=0.0, trend_low=-0.01, trend_high=0.01)
    means.loc[own, "steady"] = "constant"
    first = means.index[own][0]
    means.loc[first, ["trend", "trend_low", "trend_high"]] = 0.31, 0.2, 0.42
    means.loc[first, "steady"] = "drift"
    exhibit = record(replace(loaded.context, data=replace(loaded.data, means=means)))
    text = re.sub(r"\s+", " ", plain(exhibit))
    assert f"constant {own.sum() - 1} " in text and "drift 1 " in text
    assert "Conditions that change within the window" in text and "31 % (20 to 42)" in text


def test_equal_warnings_of_several_runs_are_merged(loaded: LoadedStudy) -> None:
    runs = [dict(run) for run in loaded.data.index["runs"]]
    for run in runs[:3]:
        warning = f"{run['run_id']}/drivers/d.csv: rows after the last interval were left out"
        run["files"] = [{"path": "drivers/d.csv", "warnings": [warning]}]
    data = replace(loaded.data, index={**loaded.data.index, "runs": runs})
    text = re.sub(r"\s+", " ", plain(record(replace(loaded.context, data=data))))
    counted = "4 warnings: 3 of “rows after the last interval were left out” and 1 of"
    assert counted in text
    assert text.count("drivers/d.csv: rows after the last interval") == 1
    names = [run["run_id"] for run in runs[:3]]
    assert f"drivers/d.csv: rows after the last interval were left out {names[0]}" in text


def test_host_clock_corrections_are_listed(loaded: LoadedStudy) -> None:
    def clock(offset: float, drift: float) -> dict[str, dict[str, float]]:
        return {"guest1": {"offset_s": offset, "uncertainty_s": 0.002, "drift_s": drift}}

    assert "Clocks of hosts" not in plain(loaded.quality())
    runs = [dict(run) for run in loaded.data.index["runs"]]
    for run, clocks in zip(runs, (clock(-0.5, 0.01), clock(1.25, -0.03)), strict=False):
        run["clocks"] = clocks
    index = {**loaded.data.index, "runs": runs}
    exhibit = record(replace(loaded.context, data=replace(loaded.data, index=index)))
    text = re.sub(r"\s+", " ", plain(exhibit))
    assert "guest1 2 -0.500 to +1.250 0.002 0.030" in text


@pytest.mark.parametrize(
    ("origin", "link"),
    [("https://example.org/data", "https://example.org/data"), ("Zenodo, record 12345", "")],
)
def test_origin_of_published_data_is_a_link_only_if_it_is_an_address(
    loaded: LoadedStudy, origin: str, link: str
) -> None:
    artifact = Artifact(by="the authors", when="2020", origin=origin, licence="MIT")
    data = replace(loaded.data, study=loaded.study.model_copy(update={"artifact": artifact}))
    (span,) = (
        part
        for part in record(replace(loaded.context, data=data)).blocks[0].words
        if getattr(part, "text", "") == origin
    )
    assert span.link == link


def test_each_machine_is_described_once(loaded: LoadedStudy) -> None:
    facts = {"cpu": "x", "memory_mb": 24105}
    runs = [
        {
            **loaded.data.index["runs"][0],
            "run_id": f"{experiment}-r{number}",
            "machine": {**facts, "kernel": kernel},
            "protocol": {
                "experiment": experiment,
                "fingerprint": experiment * 12,
                "commit": "c",
                "dirty": False,
                "host": "h",
                "boot": kernel,
            },
        }
        for experiment in "ab"
        for number, kernel in enumerate(("6.1", "6.12"))
    ]
    data = replace(loaded.data, index={**loaded.data.index, "runs": runs})
    blocks = record(replace(loaded.context, data=data)).blocks
    tables = {block.label: block for block in blocks if block.block == "grid"}
    assert [row[:2] for row in tables["Machines"].rows] == [
        ("1", "cpu x; memory 24,105 MiB; kernel 6.1; host h"),
        ("2", "cpu x; memory 24,105 MiB; kernel 6.12; host h"),
    ]
    assert [(row[0], row[3]) for row in tables["Protocols"].rows] == [
        ("a", "1"),
        ("a", "2"),
        ("b", "1"),
        ("b", "2"),
    ]


def test_long_tables_are_folded(loaded: LoadedStudy) -> None:
    (run, *_) = loaded.data.index["runs"]
    warned = [
        {**run, "warnings": [f"warning {number}"]} for number in range(OPEN_ROWS["quality"] + 1)
    ]
    for runs, is_folded in ((warned[1:], False), (warned, True)):
        data = replace(loaded.data, index={**loaded.data.index, "runs": runs})
        blocks = record(replace(loaded.context, data=data)).blocks
        place = next(
            k for k, block in enumerate(blocks) if getattr(block, "text", "") == "Warnings"
        )
        assert (blocks[place + 1].block == "folded") is is_folded
