"""Readings of the presets from real tool output, compared with independent parsers."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rawperf import FormatError, all_formats, registry, sniff
from rawperf.core.errors import StudyError, raise_problem
from rawperf.core.metrics import load_metrics
from rawperf.declared.read import FOLDER_VARIABLE, DeclaredFormat
from rawperf.registry import extend_with_presets
from tests.cases import each_case
from tests.rawperf.sample_files import sample
from tests.rawperf.seeds import SEEDS
from tests.rawperf.translated import translate

PRESETS = sorted(name for name, form in all_formats().items() if isinstance(form, DeclaredFormat))


@pytest.fixture(scope="module")
def metrics(root: Path):  # type: ignore[no-untyped-def]
    """Metrics of a file in the dictionary's units."""
    dictionary = extend_with_presets(load_metrics(root / "src" / "rawperf" / "metrics.yaml"))

    def of(name: str) -> pd.DataFrame:
        form = sniff(sample(name))
        return translate(dictionary, form.read(sample(name), file=name).records, form.name)

    return of


def one(found: pd.DataFrame, metric: str, entity: str | None = None) -> float:
    rows = found[
        (found["metric"] == metric) & (found["entity"] == entity if entity is not None else True)
    ]
    assert len(rows) == 1
    return float(rows["value"].iloc[0])


@each_case("name", sorted(SEEDS))
def test_file_is_recognised_by_exactly_one_format(name: str) -> None:
    for seed in SEEDS[name]:
        if registry.is_recognised_by_name(all_formats()[name]):
            continue  # recognised by its name only
        scores = registry.rank_formats(seed)
        assert scores[0][1] == name
        assert all(score < 0.7 for score, _ in scores[1:]), scores


def test_fio(metrics) -> None:  # type: ignore[no-untyped-def]
    document = json.loads(sample("fio/fio-3.33.json").decode())
    found = metrics("fio/fio-3.33.json")
    (job,) = document["jobs"]
    for way in ("read", "write"):
        assert one(found, f"{way}_iops") == job[way]["iops"]
        assert one(found, f"{way}_bandwidth") == job[way]["bw"] * 1024
        assert one(found, f"{way}_latency") == pytest.approx(
            job[way]["lat_ns"]["mean"] / 1e9, rel=1e-14
        )
        assert one(found, f"{way}_latency_p99") == pytest.approx(
            job[way]["clat_ns"]["percentile"]["99.000000"] / 1e9
        )
        # two reports of the tool: bytes over time
        assert np.isclose(
            job[way]["io_bytes"] / job[way]["runtime"] * 1000,
            one(found, f"{way}_bandwidth"),
            rtol=1e-3,
        )


def test_last_fio_status_report_replaces_earlier_ones(metrics) -> None:  # type: ignore[no-untyped-def]
    text = sample("fio/fio-3.33-status.json").decode()
    last = json.loads(text[text.rindex("\n{\n") :])
    found = metrics("fio/fio-3.33-status.json")
    for job in last["jobs"]:
        way = "read" if job["read"]["runtime"] else "write"
        assert one(found, f"{way}_iops", job["jobname"]) == job[way]["iops"]
    assert set(found.loc[found["metric"] == "read_iops", "entity"]) == {
        "r1"
    }  # w1 has no reads, so no latency


def test_wrk_and_ab(metrics) -> None:  # type: ignore[no-untyped-def]
    wrk = metrics("wrk/wrk-latency.txt")
    assert one(wrk, "throughput") == 1037.06
    assert one(wrk, "response_time") == pytest.approx(0.00216)
    assert one(wrk, "response_time_p50") == pytest.approx(0.00112)
    assert one(wrk, "driver_bytes_read") == 814.84 * 1024
    # requests over duration, both rounded by the tool
    assert one(wrk, "requests") / one(wrk, "driver_run_time") == pytest.approx(1037.06, rel=0.01)
    assert one(metrics("wrk/wrk-err.txt"), "http_errors") == 1714
    assert (one(wrk, "http_errors"), one(wrk, "failures")) == (0, 0), "no line of errors: none"
    wr = metrics("wrk/wrk-failing.txt")
    assert (one(wr, "http_errors"), one(wr, "failures"), one(wr, "requests")) == (41, 0, 207)
    ab = metrics("ab/ab.txt")
    assert one(ab, "throughput") == 1504.56
    assert one(ab, "response_time") == pytest.approx(0.001329)
    assert one(ab, "clients_configured") / one(ab, "throughput") == pytest.approx(
        0.001329, rel=1e-3
    )
    assert one(ab, "http_errors") == 0
    assert one(metrics("ab/ab-err.txt"), "http_errors") == 20
    failing = metrics("ab/ab-failing.txt")
    assert (one(failing, "failures"), one(failing, "http_errors")) == (80, 80)


def test_sysbench(metrics) -> None:  # type: ignore[no-untyped-def]
    cpu = metrics("sysbench/sysbench-cpu.txt")
    rates = cpu[cpu["metric"] == "transaction_rate"]
    assert rates[["t", "value"]].to_numpy().tolist() == [[1, 2292.79], [2, 2236.84]]
    assert one(cpu, "transaction_rate_total") == 2263.80
    assert one(cpu, "transactions_total") / one(cpu, "driver_run_time") == pytest.approx(
        2263.80, rel=1e-3
    )
    assert one(metrics("sysbench/sysbench-fileio.txt"), "read_bandwidth") == 58 * 1024**2
    memory = metrics("sysbench/sysbench-mem.txt")
    assert one(memory, "transaction_rate_total") == 3378183.74
    assert one(memory, "memory_bandwidth") == pytest.approx(3299.01 * 2**20)
    older = metrics("sysbench/sysbench-0.5-mem.txt")  # its MB are 1024 * 1024 bytes
    blocks = one(older, "transaction_rate_total") * 1024
    assert one(older, "memory_bandwidth") == pytest.approx(blocks, rel=1e-5)


OLTP = """sysbench 1.0.20 (using system LuaJIT 2.1.0-beta3)

Running the test with following options:
Number of threads: 4
[ 10s ] thds: 4 tps: 123.45 qps: 2469.00 (r/w/o: 1728.30/493.80/246.90) lat (ms,95%): 34.33 err/s: 0.50 reconn/s: 0.00
SQL statistics:
    transactions:                        1234   (123.40 per sec.)
    queries:                             24680  (2468.00 per sec.)
    ignored errors:                      5      (0.50 per sec.)

General statistics:
    total time:                          10.0002s
    total number of events:              1234

Latency (ms):
         min:                                    8.10
         avg:                                   32.40
         max:                                   99.90
         95th percentile:                       34.33
"""


def test_sysbench_of_a_database() -> (
    None
):  # written after sysbench's source: no database was available
    records = sniff(OLTP.encode()).read(OLTP.encode()).records
    found = dict(
        zip(zip(records["report"], records["field"], strict=True), records["value"], strict=True)
    )
    assert found["intervals", "rate"] == 123.45
    assert found["intervals", "errors"] == 0.5
    assert found["total", "transaction_rate"] == 123.4
    assert found["total", "errors"] == 5


def test_stress_ng_text_and_yaml_agree(metrics) -> None:  # type: ignore[no-untyped-def]
    yaml, brief = metrics("stress-ng/stress-ng.yaml"), metrics("stress-ng/stress-ng-brief.txt")
    for stressor in ("cpu", "vm"):
        for metric in ("operations_total", "operation_rate_total"):
            assert np.isclose(
                one(yaml, metric, stressor), one(brief, metric, stressor), rtol=0.02, atol=0.005
            )
    fields = [
        all_formats()[name].read(SEEDS[name][0]).records.set_index(["entity", "field"])["value"]
        for name in ("stress-ng", "stress-ng-brief")
    ]
    for field in ("wall-clock-time", "user-time", "system-time"):
        assert np.isclose(*(of["vm", field] for of in fields), atol=0.01)
    # more processor time in a fixed time is more work, so that these have no direction
    assert not {"user_time", "system_time", "elapsed_time"} & {*yaml["metric"], *brief["metric"]}


def test_perf_stat() -> None:
    whole = all_formats()["perf-stat"].read(SEEDS["perf-stat"][0]).records
    assert dict(zip(whole["field"], whole["value"], strict=True)) == {
        "task-clock": 0.68,
        "context-switches": 1,
        "cpu-migrations": 0,
        "page-faults": 59,
    }  # unsupported events have no value
    each = all_formats()["perf-stat"].read(SEEDS["perf-stat"][1]).records
    assert set(each["entity"]) == {"CPU0", "CPU1"}
    parts = all_formats()["perf-stat-intervals"].read(SEEDS["perf-stat-intervals"][0])
    assert parts.records["t"].unique().tolist() == [
        0.200255478,
        0.697868723,
    ]  # nothing was counted in between


def test_perf_stat_with_intervals() -> None:
    """Counts have the start and length of their interval; thousands separators depend on the locale."""
    read = all_formats()["perf-time-stat"].read
    plain = sample("mmtests/perf-time-stat.txt")
    begins = [int(at) for at in re.findall(rb"^time: (\d+)$", plain, re.M)]
    found = read(plain).records
    assert found["t"].unique().tolist() == begins and len(begins) == 4
    assert found.loc[found["t"] == begins[0], ["field", "value"]].values.tolist() == [
        ["cpu-clock", 4018.96],
        ["context-switches", 3425],
        ["cpu-migrations", 10],
        ["page-faults", 3049],
        ["time elapsed", 2.008129899],
    ]
    printed = plain.replace(b"  4018.96", b" 4,018.96").replace(b"  3425", b" 3,425")
    assert read(printed).records.equals(found)
    with pytest.raises(FormatError, match="line 6"):
        read(plain.replace(b"context-switches", b"", 1))


def test_proc_files(metrics) -> None:  # type: ignore[no-untyped-def]
    memory = {
        k: int(v)
        for k, v in re.findall(r"^(\w+): +(\d+) kB", sample("proc/meminfo.txt").decode(), re.M)
    }
    found = metrics("proc/meminfo.txt")
    for metric, key in (
        ("memory_total", "MemTotal"),
        ("memory_available", "MemAvailable"),
        ("memory_dirty", "Dirty"),
    ):
        assert one(found, metric) == memory[key] * 1024
    pressure = metrics("proc/pressure-all.txt")
    assert one(pressure, "pressure_some", "io") == pytest.approx(
        38.008359
    )  # cumulative seconds; samples hold increments
    alone = metrics("proc/pressure-cpu.txt")  # the file name identifies it
    grown = alone[(alone["metric"] == "pressure_some") & (alone["entity"] == "cpu")]
    assert np.diff(grown["value"]) == pytest.approx([1.016881])
    group = metrics("cgroup/cpu-2.stat")
    assert np.diff(group.loc[group["metric"] == "group_cpu", "value"]) == pytest.approx([2.015065])
    assert one(metrics("cgroup/cpu-1.stat"), "group_throttled") == pytest.approx(0.35)
    assert one(metrics("cgroup/memory-1.stat"), "group_memory_anonymous") == 3937144832
    threads = metrics("ps/ps.txt")
    assert one(threads, "thread_cpu", "1 75") == 21


OWN = """
name: my-tool
title: a tool of mine
match: {text: '^my tool v1$'}
reads: pairs
separator: '='
strict: false
fields: [{field: rate, metric: my_rate, unit: 1/s}]
metrics: {my_rate: {unit: 1/s, definition: what my tool counts}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv(FOLDER_VARIABLE, str(tmp_path))
    registry.registered_formats.cache_clear()
    yield tmp_path
    registry.registered_formats.cache_clear()


def test_file_in_the_user_folder_is_a_preset(folder: Path, root: Path) -> None:
    (folder / "mine.yaml").write_text(OWN.replace("strict: false\n", "comment: my\n"))
    form = sniff(b"my tool v1\nrate=5\n")
    assert form.title == "a tool of mine"
    dictionary = extend_with_presets(load_metrics(root / "src" / "rawperf" / "metrics.yaml"))
    records = form.read(b"my tool v1\nrate=5\n").records
    assert translate(dictionary, records, "my-tool")[["metric", "value"]].to_numpy().tolist() == [
        ["my_rate", 5.0]
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (OWN, "strict is only valid with reads: lines, not pairs"),
        (
            OWN.replace("strict: false\n", "").replace("match: {text: '^my tool v1$'}\n", ""),
            "its files cannot be recognised by content",
        ),
        (
            OWN.replace("strict: false\n", "").replace("my-tool", "sar"),
            "sar: a format with this name already exists",
        ),
    ],
)
def test_invalid_preset_is_reported_with_its_file(folder: Path, text: str, words: str) -> None:
    (folder / "mine.yaml").write_text(text)
    with pytest.raises(StudyError, match=re.escape(words)) as caught:
        all_formats()
    assert caught.value.file == "mine.yaml"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "metric: my_rate",
            "metric: my_rat",
            "my-tool: there is no metric 'my_rat'. Did you mean 'my_rate'",
        ),
        ("unit: 1/s}]", "unit: s}]", "no conversion exists"),
        ("metrics: {my_rate", "metrics: {cpu_idle", "the metric 'cpu_idle' already exists"),
    ],
)
def test_invalid_preset_metric_is_reported_with_line_number(
    folder: Path, root: Path, old: str, new: str, words: str
) -> None:
    (folder / "mine.yaml").write_text(OWN.replace("strict: false\n", "").replace(old, new))
    with pytest.raises(StudyError, match=re.escape(words)) as caught:
        extend_with_presets(load_metrics(root / "src" / "rawperf" / "metrics.yaml"), raise_problem)
    assert (caught.value.file, caught.value.line) in {("mine.yaml", 7), ("mine.yaml", 8)}


def test_user_dictionary_may_lack_preset_metrics(tmp_path: Path) -> None:
    (tmp_path / "m.yaml").write_text(
        "metrics: {memory_free: {unit: B, definition: memory that is free, sources: []}}"
    )
    dictionary = extend_with_presets(load_metrics(tmp_path / "m.yaml"))
    assert dictionary["memory_free"].formats == (
        "meminfo",
        "prometheus",
        "prometheus-query",
        "prometheus-query-range",
    )
    assert "clients_configured" not in dictionary


def test_every_metric_of_a_preset_is_in_the_dictionary(root: Path) -> None:
    problems: list = []
    extend_with_presets(load_metrics(root / "src" / "rawperf" / "metrics.yaml"), problems.append)
    assert problems == []
