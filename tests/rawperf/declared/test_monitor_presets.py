"""Presets for guest, container and host monitors, and for load generators.

Samples of esxtop, turbostat, k6 and bcc are hand-written in their output format, all others are real
(tests/rawperf/samples/README.md).
"""

from __future__ import annotations

import csv
import json
import re
from datetime import datetime
from pathlib import Path

import numpy as np
import pytest

from rawperf import get_format, sniff
from rawperf.core.buckets import parse_bucket
from rawperf.core.errors import FormatError
from rawperf.tidy import read
from tests.cases import each_case
from tests.rawperf.sample_files import SAMPLES, sample

DOCKER_ROW = (
    "CONTAINER ID   NAME      CPU %     MEM USAGE / LIMIT   MEM %     NET I/O   BLOCK I/O   PIDS\n"
    "7e7dd8803fec   db        3.14%     576KiB / 23.54GiB   0.00%     0B / 0B   0B / 0B     {}\n"
)


def of(name: str, **conditions: object):  # type: ignore[no-untyped-def]
    """Rows of a file's tidy table with these cell values."""
    table = read(SAMPLES / Path(name))
    for column, cell in conditions.items():
        table = table[table[column] == cell]
    return table


def test_virsh_domstats() -> None:
    text = sample("libvirt/domstats.txt").decode()
    blocks = re.split(r"(?m)^(\d{10})$", text)[1:]
    times = [float(stamp) for stamp in blocks[::2]]
    for domain in ("web-01", "db-01"):
        used = [
            int(re.search(rf"'{domain}'.*?cpu\.time=(\d+)", part, re.S)[1])  # type: ignore[index]
            for part in blocks[1::2]
        ]
        found = of("libvirt/domstats.txt", entity=domain, field="cpu.time")
        assert found["t"].tolist() == times
        assert found["value"].tolist() == used
        rates = [
            (b - a) / 1e9 / (u - t)
            for a, b, t, u in zip(used, used[1:], times, times[1:], strict=False)
        ]
        assert found["metric_value"].tolist()[1:] == pytest.approx(rates)
        assert set(found["metric"]) == {"guest_cpu"}
        (memory,) = set(
            of("libvirt/domstats.txt", entity=domain, metric="guest_memory")["metric_value"]
        )
        assert memory == 131072 * 1024
    assert set(of("libvirt/domstats.txt", entity_kind="vcpu")["entity"]) == {
        "web-01 0",
        "web-01 1",
        "db-01 0",
        "db-01 1",
    }
    assert len(of("libvirt/domstats.txt", entity="db-01 0", field="rd.bytes")) == 3


VIRT_TOP_GROUP = 18
"""Columns before those of the first domain."""


@each_case(
    ("name", "columns"),
    [
        ("virt-top.csv", {"CPU (ns)": 2, "%CPU": 3, "Mem (bytes)": 4}),
        ("virt-top-no-cpu.csv", {"Mem (bytes)": 2}),
        ("virt-top-no-mem.csv", {"CPU (ns)": 2, "%CPU": 3}),
    ],
)
def test_virt_top(name: str, columns: dict[str, int]) -> None:
    """The first row of a domain has zeros for what is unknown; memory is in KiB."""
    heading, first, *rows = csv.reader(sample(f"virt-top/{name}").decode().splitlines())
    size = len(heading) - VIRT_TOP_GROUP
    assert float(first[VIRT_TOP_GROUP + 2]) == 0
    found = of(f"virt-top/{name}", report="domain")
    assert not {"CPU (ns)", "%CPU", "Mem (bytes)"} - columns.keys() & set(found["field"])
    for domain, start in (("web-01", VIRT_TOP_GROUP), ("db-01", VIRT_TOP_GROUP + size)):
        for field, place in columns.items():
            one = found[(found["entity"] == domain) & (found["field"] == field)]
            printed = [float(row[start + place]) for row in rows]
            assert one["value"].tolist() == printed
            if field == "Mem (bytes)":
                assert one["metric_value"].tolist() == [64 * 1024**2] * len(rows)
                assert 2 * printed[0] == float(rows[0][heading.index("Total guest memory (KB)")])
    host = of(f"virt-top/{name}", report="host", field="%CPU")
    assert host["value"].tolist() == [float(row[heading.index("%CPU")]) for row in rows]


def test_pcp_dstat() -> None:
    """The row of the first sample has fewer cells; disks are in KiB/s, networks in B/s."""
    lines = sample("dstat/pcp-dstat-lo.csv").decode().splitlines()
    heading = next(index for index, line in enumerate(lines) if line.startswith('"time",'))
    rows = list(csv.reader(lines[heading + 2 :]))
    written = of("dstat/pcp-dstat-lo.csv", metric="disk_write_rate")
    assert written["metric_value"].tolist() == [float(row[4]) * 1024 for row in rows]
    received = of("dstat/pcp-dstat-lo.csv", field="net/lo:recv")
    assert received["value"].tolist() == [float(row[1]) for row in rows]


def test_kvm_stat() -> None:
    heading, *rows = csv.reader(sample("kvm_stat/kvm_stat.csv").decode().splitlines())
    found = of("kvm_stat/kvm_stat.csv", metric="kvm_exits")
    assert found["value"].tolist() == [float(row[heading.index("kvm_exit")]) for row in rows]
    lines = sample("kvm_stat/kvm_stat-1.txt").decode().splitlines()
    once = of("kvm_stat/kvm_stat-1.txt")
    assert dict(zip(once["field"], once["value"], strict=True)) == {
        line.split()[0]: float(line.split()[2]) for line in lines
    }


def test_esxtop() -> None:
    rows = list(csv.reader(sample("esxtop/esxtop.csv").decode().splitlines()))
    place = rows[0].index(r"\\esx1\Group Cpu(12:web01)\% Ready")
    found = of("esxtop/esxtop.csv", entity="web01", field="% Ready")
    assert found["value"].tolist() == [float(row[place]) for row in rows[1:]]
    cpu = of("esxtop/esxtop.csv", entity="db 01 (test)", metric="guest_cpu")
    assert cpu["metric_value"].tolist() == pytest.approx([0.12, 0.145])
    memory = of("esxtop/esxtop.csv", entity="web01", metric="guest_memory")
    assert set(memory["metric_value"]) == {4096.0 * 1024**2}
    assert set(of("esxtop/esxtop.csv", report="physical cpu")["field"]) == {"% Util Time"}


def test_docker_stats() -> None:
    """A container that is not running has no values."""
    text = sample("docker/docker-stats.txt").decode()
    memory = [float(n) * 1024 for n in re.findall(r"(?m)^\w+ +db .*? (\S+)KiB /", text)]
    found = of("docker/docker-stats.txt", entity="db", metric="group_memory")
    assert found["metric_value"].tolist() == memory
    assert found["t"].tolist() == [float(at) for at in re.findall(r"(?m)^(\d{10})$", text)]
    rows = [json.loads(line) for line in sample("docker/docker-stats.json").splitlines()]
    as_json = of("docker/docker-stats.json", metric="group_cpu")
    assert dict(zip(as_json["entity"], as_json["metric_value"], strict=True)) == {
        row["Name"]: pytest.approx(float(row["CPUPerc"].rstrip("%")) / 100)
        for row in rows
        if row["MemUsage"] != "0B / 0B"
    }
    for name in ("docker/docker-stats.txt", "docker/docker-stats.json"):
        assert "batch" in sample(name).decode() and set(of(name)["entity"]) == {"web", "db"}


@each_case("name", ["podman/podman-stats.json", "podman/podman-stats.txt"])
def test_podman_stats(name: str) -> None:
    """Memory is in powers of 1000."""
    printed = re.findall(r"([\d.]+)kB / 25\.28GB", sample(name).decode())
    found = of(name, metric="group_memory")
    assert found["metric_value"].tolist() == pytest.approx([float(n) * 1000 for n in printed])
    assert set(of(name, metric="group_memory_limit")["metric_value"]) == {25.28e9}


def test_prometheus() -> None:
    found = of("prometheus/node-exporter.txt", field="node_cpu_seconds_total")
    text = sample("prometheus/node-exporter.txt").decode()
    printed = dict(re.findall(r"(?m)^node_cpu_seconds_total\{(.*)\} (\S+)$", text))
    assert dict(zip(found["entity"], found["value"], strict=True)) == {
        labels: float(value) for labels, value in printed.items()
    }
    total = re.search(r"(?m)^node_memory_MemTotal_bytes (\S+)$", text)
    assert total is not None
    memory = of("prometheus/node-exporter.txt", metric="memory_total")
    assert memory["metric_value"].tolist() == [float(total[1])]


@each_case("name", ["query_range.json", "query_range-expression.json"])
def test_prometheus_query_range_response(name: str) -> None:
    series = json.loads(sample(f"prometheus/{name}"))["data"]["result"]
    printed = {}
    for each in series:
        labels = dict(each["metric"])
        field = labels.pop("__name__", "value")
        entity = ",".join(f'{key}="{labels[key]}"' for key in sorted(labels))
        printed |= {(entity, field, float(t)): float(v) for t, v in each["values"]}
    found = of(f"prometheus/{name}")
    keys = zip(found["entity"], found["field"], found["t"], strict=True)
    assert dict(zip(keys, found["value"], strict=True)) == printed
    assert len(found) == len(printed)
    assert set(found["entity_kind"]) == {"series"}


def test_prometheus_query_response() -> None:
    found = of("prometheus/query.json", metric="memory_available")
    assert found["value"].tolist() == [22981206016]
    assert found["t"].tolist() == [1795647076.835]
    assert found["entity"].tolist() == ['instance="127.0.0.1:19100",job="node"']
    (row,) = of("prometheus/query-expression.json").itertuples()  # the other one is NaN
    assert (row.field, row.value) == ("value", 0.09000000000000001)


def test_native_histograms_are_reported_as_skipped(tmp_path: Path) -> None:
    """Format as in the documentation of Prometheus' HTTP API."""
    histogram = '{"count": "60", "sum": "33.5", "buckets": [[0, "0.5", "1", "60"]]}'
    answer = (
        '{"status":"success","data":{"resultType":"%s","result":[{"metric":'
        '{"__name__":"rpc_seconds","job":"web"},"%s":%s}]}}'
    )
    path = tmp_path / "a.json"
    path.write_text(answer % ("matrix", "histograms", f"[[1795647076,{histogram}]]"))
    found = read(path)
    assert dict(zip(found["field"], found["value"], strict=True)) == {
        "histogram/count": 60,
        "histogram/sum": 33.5,
    }
    assert set(found["entity"]) == {'__name__="rpc_seconds",job="web"'}
    path.write_text(answer % ("vector", "histogram", f"[1795647076,{histogram}]"))
    with pytest.raises(FormatError, match="the time value/0 is missing"):
        read(path)


def test_cgroup_io_stat(tmp_path: Path) -> None:
    lines = sample("cgroup/io-2.stat").decode().splitlines()
    times = [int(line) for line in lines if line.isdigit()]
    written = [int(n) for n in re.findall(r"(?m)^254:16 .*wbytes=(\d+)", "\n".join(lines))]
    found = of("cgroup/io-2.stat", entity="254:16", metric="group_disk_write_rate")
    assert found["t"].tolist() == times
    assert found["value"].tolist() == written
    assert found["metric_value"].tolist()[1:] == pytest.approx(np.diff(written) / np.diff(times))
    assert set(of("cgroup/io-2.stat")["entity_kind"]) == {"device"}
    path = tmp_path / "io.stat"
    path.write_text(
        "7:7 7:6 7:5 rbytes=28672 wbytes=0 rios=22 wios=0 dbytes=0 dios=0\n7:4 \n"
        "8:16 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6 cost.usage=7 cost.vrate=100.00\n"
        "8:0 rbytes=8 wbytes=9 rios=1 wios=2\n"
    )
    one = read(path)
    reads = one[one["field"] == "rios"]
    assert list(zip(reads["entity"], reads["value"], reads["line"], strict=True)) == [
        ("7:5", 22, 1),
        ("8:16", 3, 3),
        ("8:0", 1, 4),
    ]
    path.write_text("8:16 rbytes=1 wbytes=2 rios=3 wios=4 dbytes=5 dios=6\n8:0 rbytes=8 wbyt\n")
    with pytest.raises(FormatError, match="line 2"):
        read(path)


def test_perf_stat_of_cgroups() -> None:
    text = sample("perf/perf-I-cgroup.csv").decode()
    for group in ("web.slice/web-01.scope", "db.slice"):
        printed = re.findall(rf"(?m)^ +(\S+?),(\d+),,context-switches,{group},", text)
        found = of("perf/perf-I-cgroup.csv", entity=group, field="context-switches")
        assert list(zip(found["t"], found["value"], strict=True)) == [
            (float(t), float(count)) for t, count in printed
        ]
        used = of("perf/perf-cgroup.csv", entity=group, metric="counted_cpu_time")
        assert len(used) == 1
    each = of("perf/perf-I-cgroup-A.csv", entity="db.slice CPU1", field="task-clock")
    assert each["value"].tolist() == [45.60, 36.98, 43.68, 13.87]
    assert set(of("perf/perf-I.csv")["entity"]) == {""}


def test_prometheus_buckets_become_non_cumulative() -> None:
    text = sample("prometheus/histograms.txt").decode()
    field = "prometheus_http_response_size_bytes"
    labels = 'handler="/api/v1/query"'
    rows = re.findall(rf'(?m)^{field}_bucket\{{{labels},le="(\S+)"\}} (\d+)$', text)
    size = len(rows) // 3
    at_most = np.array([int(count) for _, count in rows]).reshape(3, size)
    own = np.diff(at_most, axis=1, prepend=0)
    found = of("prometheus/histograms.txt", report="buckets", field=field)
    found = found[found["entity"].str.startswith(labels)]
    assert found["value"].tolist() == own.ravel().tolist()
    buckets = [parse_bucket(entity) for entity in found["entity"][:size]]
    assert [bucket.upper for bucket in buckets if bucket] == [float(le) for le, _ in rows[:size]]
    assert {(bucket.owner, bucket.unit) for bucket in buckets if bucket} == {(labels, "B")}
    seconds = of("prometheus/histograms.txt", field="prometheus_http_request_duration_seconds")
    assert {parse_bucket(entity).unit for entity in seconds["entity"]} == {"s"}  # type: ignore[union-attr]


def test_histograms_of_ebpf_tools() -> None:
    timer = of("bpftrace/timer-intervals.txt", metric="latency_buckets")
    assert timer["value"].tolist() == [195, 2, 200, 198, 1, 196, 2]
    assert set(timer["entity"]) == {"usecs[0] 4096 to 8192 us", "usecs[0] 8192 to 16384 us"}
    assert timer["t"].max() - timer["t"].min() == 3
    linear = of("bpftrace/timer.txt", entity="ns 5000000 to inf ns")
    assert linear["value"].tolist() == [2]
    disk = of("bcc/biolatency-TD.txt", entity="vda 8 to 16 us")
    assert list(zip(disk["t"], disk["value"], strict=True)) == [(36001, 40), (36002, 80)]
    assert of("bcc/biolatency-TD.txt", entity="vdb 0 to 2 us")["value"].tolist() == [1, 2]


def test_proc_stat_and_kubectl_top() -> None:
    idle = [
        int(n) for n in re.findall(r"(?m)^cpu1 (?:\d+ ){3}(\d+)", sample("proc/stat.txt").decode())
    ]
    found = of("proc/stat.txt", entity="cpu1", metric="processor_idle_time")
    assert found["value"].tolist() == idle
    seconds = np.diff(found["t"])
    assert found["metric_value"].tolist()[1:] == pytest.approx(np.diff(idle) / 100 / seconds)
    assert len(of("proc/stat.txt", metric="context_switch_rate")) == 3
    for name, entity in (
        ("top-pod.txt", "db-0"),
        ("top-sum.txt", "db-0"),
        ("top-containers.txt", "default db-0 postgres"),
    ):
        pods = of(f"kubectl/{name}", entity=entity)
        assert set(pods[pods["metric"] == "group_cpu"]["metric_value"]) == {1.2}
        assert set(pods[pods["metric"] == "group_memory"]["metric_value"]) == {2 * 1024.0**3}
    assert set(of("kubectl/top-node.txt")["entity"]) == {"node-1"}


@each_case(
    ("preset", "line"),
    [
        ("kubectl-top", "NAME    CPU(cores)   MEMORY(bytes)\ndb-0 1 7\n"),
        ("kubectl-top", "NAME    CPU(cores)   MEMORY(bytes)\ndb-0   12k   7Mi\n"),
        ("docker-stats", DOCKER_ROW.format("12k")),
        ("docker-stats", DOCKER_ROW.format("1.2.3")),
        ("turbostat", "Avg_MHz\tBusyX\tIPC\n1\t2\t3\nAvg_MHz\tBusy%\tIPC\n4\t5\t6\n"),
    ],
)
def test_changed_line_is_refused(preset: str, line: str) -> None:
    with pytest.raises(FormatError, match="line 2"):
        get_format(preset).read(line.encode(), file="f")


def test_hypervisor_of_esxtop_is_no_guest() -> None:
    found = of("esxtop/esxtop.csv", field="% Used")
    kinds = dict(zip(found["entity"], found["entity_kind"], strict=True))
    assert kinds == {"system": "system group", "web01": "guest", "db 01 (test)": "guest"}
    assert set(found.loc[found["entity"] == "system", "metric"].fillna("")) <= {"", "-"}


def test_own_times_of_prometheus_samples(tmp_path: Path) -> None:
    """In ms, or in s in OpenMetrics, and before the time of the line above."""
    path = tmp_path / "metrics.txt"
    path.write_text(
        '1772359200\n# TYPE a gauge\na 1 1772359199500\na{x="1"} 2 1772359199.25\nb 3\n'
    )
    table = read(path)
    assert dict(zip(table["line"], table["t"], strict=True)) == {
        3: 1772359199.5,
        4: 1772359199.25,
        5: 1772359200,
    }
    path.write_text("# TYPE a gauge\na 1 1772359199500\nb 3\n")
    assert read(path)["t"].isna().tolist() == [False, True]


def test_iperf3() -> None:
    document = json.loads(sample("iperf3/iperf3.json"))
    bits = document["end"]["sum_received"]["bits_per_second"]
    total = of("iperf3/iperf3.json", metric="network_throughput_total")
    assert total["metric_value"].tolist() == [bits / 8]
    rates = of("iperf3/iperf3.json", metric="network_throughput")
    assert rates["metric_value"].tolist() == [
        each["sum"]["bits_per_second"] / 8 for each in document["intervals"]
    ]


@pytest.mark.parametrize(
    "name", ["iperf3-udp", "iperf3-udp-reverse", "iperf3-omit", "iperf3-bidir"]
)
def test_iperf3_reads_what_arrived_in_each_direction(name: str) -> None:
    document = json.loads(sample(f"iperf3/{name}.json"))
    kept = [each for each in document["intervals"] if not each["sum"]["omitted"]]
    is_sent = document["start"]["test_start"]["protocol"] == "UDP" and kept[0]["sum"]["sender"]
    rates = [] if is_sent else [each["sum"]["bits_per_second"] / 8 for each in kept]
    path = f"iperf3/{name}.json"
    assert of(path, metric="network_throughput")["metric_value"].tolist() == pytest.approx(rates)
    reverse = [
        e["sum_bidir_reverse"]["bits_per_second"] / 8 for e in kept if "sum_bidir_reverse" in e
    ]
    found = of(path, metric="network_throughput_reverse")["metric_value"].tolist()
    assert found == pytest.approx(reverse) and bool(reverse) == (name == "iperf3-bidir")
    for end, metric in (("", ""), ("_bidir_reverse", "_reverse")):
        if total := document["end"].get(f"sum_received{end}"):
            (value,) = of(path, metric=f"network_throughput_total{metric}")["metric_value"]
            assert value == pytest.approx(total["bits_per_second"] / 8)


def test_numastat_and_turbostat() -> None:
    printed = dict(re.findall(r"(\w+) +(\d+)\n", sample("numastat/numastat.txt").decode()))
    found = of("numastat/numastat.txt", entity="node0")
    assert dict(zip(found["field"], found["value"], strict=True)) == {
        key: float(value) for key, value in printed.items()
    }
    assert found.set_index("metric").loc["numa_pages_local", "metric_value"] == float(
        printed["local_node"]
    )
    awake = of("turbostat/turbostat-summary.txt", metric="processors_awake")
    assert awake["metric_value"].tolist() == pytest.approx([0.048, 0.1, 0.03])
    assert of("turbostat/turbostat-summary.txt", field="Avg_MHz")["value"].tolist() == [
        120,
        250,
        75,
    ]


def test_diskstats() -> None:
    lines = [line.split() for line in sample("proc/diskstats.txt").decode().splitlines()]
    reads = [int(cells[3]) for cells in lines if len(cells) > 3 and cells[2] == "vda"]
    found = of("proc/diskstats.txt", entity="vda", metric="disk_reads")
    assert found["value"].tolist() == reads
    assert found["metric_value"].tolist()[1:] == [
        (b - a) / (u - t)
        for a, b, t, u in zip(reads, reads[1:], found["t"], found["t"][1:], strict=False)
    ]


def test_collectl_dstat_and_nmon() -> None:
    text = sample("collectl/collectl-P.txt").decode().splitlines()
    start = next(k for k, line in enumerate(text) if line.startswith("#Date"))
    place = text[start].split().index("[CPU]Ctx/sec")
    switches = of("collectl/collectl-P.txt", metric="context_switch_rate")
    assert switches["value"].tolist() == [float(line.split()[place]) for line in text[start + 1 :]]
    assert switches["line"].tolist() == list(range(start + 2, len(text) + 1))
    rows = list(csv.reader(sample("dstat/dstat.csv").decode().splitlines()))
    place = rows[5].index("read")
    assert of("dstat/dstat.csv", metric="disk_read_rate")["value"].tolist() == [
        float(row[place]) for row in rows[7:]
    ], "the first row is the mean since the machine started"
    assert of("dstat/dstat.csv", metric="cpu_idle")["metric_value"].tolist() == pytest.approx(
        [float(row[3]) / 100 for row in rows[7:]]
    )
    nmon = re.findall(r"(?m)^CPU002,T\d+,(\S+?),", sample("nmon/host1.nmon").decode())
    found = of("nmon/host1.nmon", entity="002", field="user")
    assert found["value"].tolist() == [float(user) for user in nmon]
    assert (found["t"].diff().dropna() == 1).all()


def test_vegeta_report() -> None:
    report = json.loads(sample("vegeta/failing-report.json"))
    totals = of("vegeta/failing-report.json").set_index("metric")["metric_value"]
    assert totals["response_time_p99"] == pytest.approx(report["latencies"]["99th"] / 1e9)
    assert totals["throughput"] == report["throughput"]
    assert totals["failure_rate"] == pytest.approx(1 - report["success"])


def test_wrk2() -> None:
    assert sniff(sample("wrk2/wrk2.txt")).name == "wrk"
    text = sample("wrk2/wrk2.txt").decode()
    at_most = [int(n) for n in re.findall(r"(?m)^ +[\d.]+ +\d\.\d+ +(\d+) +(?:[\d.]+|inf)$", text)]
    spectrum = of("wrk2/wrk2.txt", metric="response_time_buckets")
    own = np.diff(at_most, prepend=0)
    assert spectrum["value"].tolist() == own[own > 0].tolist()
    p99 = of("wrk2/wrk2.txt", metric="response_time_p99")
    printed = re.search(r"99\.000% +([\d.]+)ms", text)
    assert printed and p99["metric_value"].tolist() == [pytest.approx(float(printed[1]) / 1000)]


def test_mmtests_monitors() -> None:
    """A line `time: SECONDS` precedes each snapshot of /proc/vmstat, and separates tables of mpstat."""
    text = sample("mmtests/proc-vmstat.txt").decode()
    stamps = [float(stamp) for stamp in re.findall(r"(?m)^time: (\d+)$", text)]
    faults = [float(count) for count in re.findall(r"(?m)^pgfault (\d+)$", text)]
    found = of("mmtests/proc-vmstat.txt", metric="page_fault_rate")
    assert found["t"].tolist() == stamps
    rate = (faults[1] - faults[0]) / (stamps[1] - stamps[0])
    assert found["metric_value"].tolist()[1] == pytest.approx(rate)
    text = sample("mmtests/mpstat.txt").decode()
    idle = [float(row) for row in re.findall(r"(?m)^\S+ +all .* (\S+)$", text)]
    assert of("mmtests/mpstat.txt", entity="all", field="%idle")["value"].tolist() == idle


def test_cloud_provider_metrics() -> None:
    document = json.loads(sample("aws/cpu.json"))
    found = of("aws/cpu.json")
    assert set(found["entity"]) == {document["Label"]}
    keys = zip(found["t"], found["field"], strict=True)
    assert dict(zip(keys, found["value"], strict=True)) == {
        (datetime.fromisoformat(point["Timestamp"]).timestamp(), name): point[name]
        for point in document["Datapoints"]
        for name in ("Average", "Maximum")
    }
    assert set(of("aws/network.json")["field"]) == {"Sum", "SampleCount"}

    printed = {}
    for metric in json.loads(sample("azure/metrics.json"))["value"]:
        for series in metric["timeseries"]:
            words = [metric["name"]["value"], *(m["value"] for m in series["metadatavalues"])]
            for point in series["data"]:
                at = datetime.fromisoformat(point.pop("timeStamp")).timestamp()
                printed |= {(" ".join(words), k, at): v for k, v in point.items() if v is not None}
    found = of("azure/metrics.json")
    keys = zip(found["entity"], found["field"], found["t"], strict=True)
    assert dict(zip(keys, found["value"], strict=True)) == printed
    assert len(found) == len(printed) == 8


@pytest.mark.parametrize("form", ["{}", "time: {}", "=== {} ==="])
@pytest.mark.parametrize(
    "stamps", [("1767225600", "1767225610"), ("2026-01-01T01:00:00+01:00", "2026-01-01 00:00:10")]
)
def test_snapshots_below_times_as_people_print_them(tmp_path, form, stamps) -> None:
    path = tmp_path / "vmstat.txt"
    path.write_text(
        "".join(
            f"{form.format(at)}\nnr_free_pages 5\npgfault {n}\n"
            for at, n in zip(stamps, (100, 350), strict=True)
        )
    )
    table = read(path)
    assert table["t"].tolist() == [1767225600, 1767225610]
    assert table["metric_value"].tolist()[1:] == [25]


def test_reports_without_times_are_said_to_be_named_apart(tmp_path) -> None:
    path = tmp_path / "domstats.txt"
    path.write_text("Domain: 'vm'\n  state.state=1\n  cpu.time=5\n\n" * 2)
    table = read(path)
    assert set(table["entity"]) == {"vm", "vm#2"}
    assert any("occurs again without a time between" in w for w in table.attrs["warnings"])


def test_details_of_collectl_leave_out_the_names_of_devices() -> None:
    heading, first = [
        line.split() for line in sample("collectl/collectl-details.txt").decode().splitlines()[1:3]
    ]
    table = of("collectl/collectl-details.txt", line=3)
    expected = {
        n: float(x) for n, x in zip(heading[2:], first[2:], strict=True) if not n.endswith("]Name")
    }
    assert dict(zip(table["field"].astype(str), table["value"], strict=True)) == expected
