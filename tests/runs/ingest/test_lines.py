"""Line numbers of samples are stored in the Parquet files for all formats."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from rawperf import all_formats
from tests.cases import each_case
from tests.rawperf.seeds import FORMATS, SEEDS
from tests.toy_runs import netstat, toy_study, write_run
from virtperf.runs.ingest.stage import ingest

SNAPSHOTS = ("netstat", "ps")
FILES = SEEDS | {
    "netstat": (b"\n" + netstat(1000, 5), netstat(61000, 6)),  # a rate needs two snapshots
    "ps": (SEEDS["ps"][0], SEEDS["ps"][0].replace(b"00:00:26", b"00:00:56")),
}
# interval counts, whose length follows from neighbouring rows; a log without quantity
WITHOUT_METRIC = {
    "azure-metrics",
    "cloudwatch-statistics",
    "hdrhistogram",
    "perf-stat-intervals",
    "perf-time-stat",
    "perfmon",
}

# format, metric, value, file, text on the line
PICKS = (
    ("vegeta", "failed_response_time", 0.000514712, "0.txt", ",514712,"),
    ("vegeta", "response_time", 0.001258252, "0.txt", ",1258252,"),
    ("proc-vmstat", "page_fault_rate", 13315, "0.txt", "pgfault 453421757"),
    ("vegeta-report", "requests", 150, "0.txt", '"requests":150'),
    ("ab", "throughput", 1504.56, "0.txt", "Requests per second:    1504.56"),
    ("bcc-histogram", "latency_buckets", 25, "0.txt", "16 -> 31 "),
    ("bpftrace-histogram", "latency_buckets", 758, "0.txt", "[1500000, 2000000)     758"),
    ("fio-log-bw", "read_bandwidth", 203 * 1024, "0.txt", "1003, 203, 0"),
    ("fio-log-iops", "read_iops", 50, "0.txt", "1003, 50, 0"),
    ("fio-log-latency", "read_latency", 191.266e-6, "0.txt", "1000, 191266, 0"),
    ("kubectl-top", "group_cpu", 1.2, "0.txt", "db-0    1200m"),
    ("kvm-stat", "kvm_exits", 0, "0.txt", "2026-11-29 09:15:46,"),
    ("numastat", "numa_pages_hit", 126374070, "0.txt", "numa_hit               126374070"),
    ("pcp-dstat", "context_switch_rate", 1409, "0.txt", ",717,1409"),
    ("proc-stat", "processor_idle_time", 0, "0.txt", "cpu  4747803 2157820"),
    ("turbostat", "processors_awake", 0.048, "0.txt", "120\t4.80\t"),
    ("cgroup-cpu", "group_cpu_system", 0.144, "1.txt", "system_usec"),
    ("cgroup-io", "group_disk_writes", 16, "0.txt", "254:16 rbytes=0 wbytes=163840"),
    ("cgroup-memory", "group_page_faults", 10, "0.txt", "pgfault 97687"),
    ("cgroup-memory-1", "group_memory_file", 3015757824, "0.txt", "total_cache 3015757824"),
    ("cms-console", "cp_command_cpu", 12.34, "0.txt", "Ready; T=0.01/12.34 00:03:05"),
    ("collectl", "context_switch_rate", 91, "0.txt", " 59 91 0 85 "),
    ("diskstats", "disk_read_rate", 0, "0.txt", " vda 1499914 "),
    ("docker-stats", "group_cpu", 0.0314, "0.txt", "3.14%"),
    ("docker-stats-json", "group_cpu", 0.0358, "0.txt", '"CPUPerc":"3.58%"'),
    ("dstat", "context_switch_rate", 70, "0.txt", ",46,70"),
    ("dool", "context_switch_rate", 1228, "0.txt", ",792,1228"),
    ("dool-epoch", "context_switch_rate", 1355, "0.txt", ",744,1355"),
    ("cyclictest", "timer_latency_max", 0.007732, "0.txt", '"max": 7732'),
    ("hey-csv", "response_time", 0.0473, "0.txt", "0.0473,"),
    ("oha-csv", "response_time", 0.023379761, "0.txt", "0.023379761,1354"),
    ("ab-percentiles", "response_time_p99", 0.016538, "0.txt", "99,16.538"),
    ("esxtop", "guest_memory", 8192 * 1024**2, "0.txt", '"8192.00"'),
    ("iperf3", "network_throughput", 19485643437.190044 / 8, "0.txt", "19485643437.190044"),
    ("k6", "throughput", 72.26069331353197, "0.txt", '"rate": 72.26069331353197'),
    ("k6-csv", "response_time", 0.053510517, "0.txt", ",53.510517,"),
    ("k6-json", "response_time", 0.053510517, "0.txt", '"value":53.510517,'),
    ("vegeta-json", "response_time", 0.055698535, "0.txt", '"latency":55698535,'),
    ("ab-gnuplot", "response_time", 0.078, "0.txt", "\t78\t"),
    ("nmon", "context_switch_rate", 66, "0.txt", "PROC,T0003,1,0,66.0"),
    ("podman-stats-json", "group_cpu", 0.0355, "0.txt", '"cpu_percent": "3.55%"'),
    ("prometheus", "memory_free", 22324715520, "0.txt", "MemFree_bytes 2.232471552e+10"),
    ("prometheus-query", "memory_available", 22981206016, "0.txt", '"22981206016"'),
    ("prometheus-query-range", "memory_total", 25276510208, "0.txt", '"25276510208"'),
    ("virsh-domstats", "guest_cpu", 0.01, "0.txt", "cpu.time=480000000"),
    ("virt-top", "guest_memory", 64 * 1024**2, "0.txt", "host1,09:12:09,"),
    ("fio", "read_bandwidth", 52251 * 1024, "0.txt", '"bw": 52251'),
    ("fio-minimal", "read_latency", 55.50309e-6, "0.txt", "55.503090"),
    ("fio-text", "read_iops", 6500, "1.txt", "iops=6.5K"),
    ("iostat", "cpu_busy", 0.0305, "0.txt", "1.52    0.00    1.52"),
    ("iwl-console", "clients", 7, "0.txt", "# clients 7/8 |"),
    ("iwl-xml", "page_element_response_time_to_date", 0.006, "0.txt", "<"),
    ("jmeter-csv", "response_time", 0.483, "0.txt", ",483,home page"),
    ("jmeter-csv-bare", "clients", 2, "0.txt", ",users 1-"),
    ("jmeter-xml", "clients", 2, "0.txt", 'na="2"'),
    ("meminfo", "memory_total", 24684092 * 1024, "0.txt", "MemTotal:       24684092 kB"),
    ("mpstat", "cpu_busy", 0.505, "0.txt", "12:32:08     all    0.00   49.50"),
    ("netstat", "tcp_segments_received", 1000, "1.txt", "61000 segments received"),
    ("perf-stat", "counted_cpu_time", 0.00068, "0.txt", "0.68,msec,task-clock"),
    ("perfkit", "guest_cpu", 0.125, "0.txt", "LNWEB1"),
    ("pidstat", "process_cpu", 1, "0.txt", "98.00    2.00    0.00    0.50  100.00"),
    ("pressure", "pressure_full", 0, "1.txt", "/proc/pressure/cpu:full"),
    ("ps", "thread_cpu", 0.5, "1.txt", "00:00:56"),
    ("sadf-json", "disk_writes", 0.5, "0.txt", '"wtps": 0.5'),
    ("sar", "cpu_idle", 0.9425, "1.txt", "94.25"),
    (
        "stress-ng",
        "operation_rate_total",
        20449.091076,
        "0.txt",
        "bogo-ops-per-second-real-time: 20449.091076",
    ),
    ("stress-ng-brief", "operation_rate_total", 20449.09, "0.txt", "stress-ng: metrc: [18039] vm"),
    ("swapon", "swap_device_size", 1130392 * 1024, "0.txt", "/dev/dasda2"),
    ("swingbench", "clients_configured", 4, "0.txt", "<NumberOfUsers>4<"),
    ("swingbench-console", "transaction_rate", 5, "0.txt", "[3/4]"),
    ("swingbench-json", "clients_configured", 4, "1.txt", '"NumberOfUsers": "4"'),
    ("sysbench", "transaction_rate", 2236.84, "0.txt", "[ 2s ] thds: 1 eps: 2236.84"),
    ("time", "elapsed_time", 65.003, "0.txt", "real\t1m5.003s"),
    ("uperf", "network_operations_total", 148365, "0.txt", "Total      5.89GB"),
    ("verbosegc-java5", "gc_pause_time", 0.04, "0.txt", 'totalms="40.000"'),
    ("kvm-stat-once", "kvm_exits", 0, "0.txt", "kvm_exit   "),
    ("verbosegc", "gc_pause_time", 0.25, "0.txt", 'durationms="250.000"'),
    ("vmstat", "cpu_busy", 0.51, "0.txt", " 2  0      0 128898976"),
    ("wrk", "response_time_p99", 0.00802, "1.txt", "99%    8.02ms"),
    ("xentop", "disk_reads", 0, "2.txt", "      a --b---"),
)


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory, root: Path) -> dict[str, pd.DataFrame]:
    """Samples of one run per format, read from the Parquet files."""
    place = tmp_path_factory.mktemp("lines")
    for name in FORMATS:
        raw = {f"{number}.txt": data for number, data in enumerate(FILES[name])}
        files = [
            {"path": path, "format": name, "entity": f"e{i}"[: 1 if name in SNAPSHOTS else 2]}
            | {"sample": {"start_s": 0, "interval_s": 60}, "none": {"at_s": 60.0 + 60 * i}}.get(
                all_formats()[name].read(raw[path]).clock, {}
            )
            for i, path in enumerate(raw)
        ]
        write_run(place / "measured", name, raw=raw, files=files)
    study = toy_study(place / "studies")
    done = ingest(
        study,
        {"measured": place / "measured"},
        root / "src" / "rawperf" / "metrics.yaml",
        place / "out",
        place / "cache",
        jobs=1,
    )
    assert done.quarantined == []
    return {name: pd.read_parquet(place / "out" / f"{name}.parquet") for name in FORMATS}


@pytest.mark.parametrize("name", FORMATS)
def test_every_sample_has_a_line_number(name: str, samples: dict[str, pd.DataFrame]) -> None:
    found = samples[name]
    if name in WITHOUT_METRIC:
        assert found.empty
        return
    assert found["line"].dtype == np.int64
    ends = {f"{number}.txt": data.count(b"\n") + 1 for number, data in enumerate(FILES[name])}
    assert len(found)
    # a counter omitted by a snapshot because it is zero has no line
    assert (found["line"] >= (0 if name == "netstat" else 1)).all()
    assert (found["line"] <= found["file"].map(ends)).all()


@each_case(("name", "metric", "value", "file", "printed"), PICKS)
def test_line_contains_the_value(
    name: str, metric: str, value: float, file: str, printed: str, samples: dict[str, pd.DataFrame]
) -> None:
    rows = samples[name]
    rows = rows[
        (rows["metric"] == metric) & (rows["file"] == file) & np.isclose(rows["value"], value)
    ]
    text = ["", *FILES[name][int(file[0])].decode().split("\n")]
    assert printed in text[rows["line"].iloc[0]]


def test_every_format_is_covered() -> None:
    assert {pick[0] for pick in PICKS} | WITHOUT_METRIC >= set(FORMATS)
