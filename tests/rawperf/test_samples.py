"""Real tool output: read and compared with a plain parser in this file, or rejected by name."""

from __future__ import annotations

import json
import re
from datetime import datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from rawperf import ParsedFile, all_formats, sniff
from rawperf.core.errors import FormatError
from rawperf.registry import choose_format
from tests.cases import each_case
from tests.rawperf.sample_files import sample, sample_names
from tests.rawperf.trial import FILE, check_reading, check_refusal, last_line, read_whole

FORMAT_OF = {
    "ab/ab-failing.tsv": "ab-gnuplot",
    "ab/ab-percentiles": "ab-percentiles",
    "ab/": "ab",
    "cgroup/cpu": "cgroup-cpu",
    "cgroup/io": "cgroup-io",
    "cgroup/memory-1": "cgroup-memory-1",
    "cgroup/memory-2": "cgroup-memory",
    "cms/": "cms-console",
    "fio/mixed_bw": "fio-log-bw",
    "fio/mixed_iops": "fio-log-iops",
    "fio/mixed_clat": "fio-log-latency",
    "fio/fio-3.33.txt": "fio-text",
    "fio/fio-3.33-minimal": "fio-minimal",
    "fio/": "fio",
    "gnu_time/": "time",
    "iostat/": "iostat",
    "iwl/console": "iwl-console",
    "iwl/snapshots": "iwl-xml",
    "jmeter/jmeter-bare": "jmeter-csv-bare",
    "jmeter/jmeter.csv": "jmeter-csv",
    "jmeter/jmeter-5.6.3.csv": "jmeter-csv",
    "jmeter/jmeter-5.6.3-dates.csv": "jmeter-csv",
    "jmeter/": "jmeter-xml",
    "mmtests/mpstat": "mpstat",
    "mmtests/perf-time-stat": "perf-time-stat",
    "mmtests/proc-vmstat": "proc-vmstat",
    "mpstat/": "mpstat",
    "netstat/": "netstat",
    "perf/perf-I": "perf-stat-intervals",
    "perf/": "perf-stat",
    "perfkit/": "perfkit",
    "pidstat/": "pidstat",
    "proc/meminfo": "meminfo",
    "proc/pressure": "pressure",
    "ps/": "ps",
    "sadf/sadf-d": "",
    "sadf/": "sadf-json",
    "sar/": "sar",
    "stress-ng/stress-ng-brief": "stress-ng-brief",
    "stress-ng/": "stress-ng",
    "swapon/": "swapon",
    "swingbench/": "swingbench",
    "sysbench/": "sysbench",
    "aws/": "cloudwatch-statistics",
    "azure/": "azure-metrics",
    "bcc/": "bcc-histogram",
    "bpftrace/": "bpftrace-histogram",
    "kubectl/": "kubectl-top",
    "proc/stat": "proc-stat",
    "uperf/": "uperf",
    "vmstat/": "vmstat",
    "wrk/": "wrk",
    "wrk2/": "wrk",
    "xentop/": "xentop",
    "collectl/": "collectl",
    "docker/docker-stats.txt": "docker-stats",
    "docker/": "docker-stats-json",
    "dstat/pcp-dstat": "pcp-dstat",
    "dstat/dool-epoch": "dool-epoch",
    "dstat/dool": "dool",
    "dstat/": "dstat",
    "cyclictest/": "cyclictest",
    "hey/": "hey-csv",
    "oha/": "oha-csv",
    "esxtop/": "esxtop",
    "perfmon/": "perfmon",
    "hdrhistogram/": "hdrhistogram",
    "iperf3/": "iperf3",
    "k6/k6.csv": "k6-csv",
    "k6/k6.jsonl": "k6-json",
    "k6/": "k6",
    "kvm_stat/kvm_stat-1": "kvm-stat-once",
    "kvm_stat/": "kvm-stat",
    "libvirt/": "virsh-domstats",
    "nmon/": "nmon",
    "numastat/": "numastat",
    "podman/podman-stats.txt": "docker-stats",
    "podman/": "podman-stats-json",
    "proc/diskstats": "diskstats",
    "prometheus/query_range": "prometheus-query-range",
    "prometheus/query": "prometheus-query",
    "prometheus/": "prometheus",
    "turbostat/": "turbostat",
    "vegeta/vegeta-report": "vegeta-report",
    "vegeta/failing-report": "vegeta-report",
    "vegeta/failing.json": "vegeta-json",
    "vegeta/": "vegeta",
    "virt-top/": "virt-top",
}
REFUSED = {
    "iperf3/iperf3.txt": "it looks like iperf, which has no reader",
    "sadf/sadf-d.txt": "it looks like sadf -d or -p, which has no reader.*Convert it with sadf -j",
}
CLOCK = re.compile(r"\d\d:\d\d:\d\d$")


def read(name: str) -> ParsedFile:
    file = name if "pressure" in name else FILE  # the name identifies the resource
    return read_whole(all_formats()[format_of(name)], sample(name), file)


def format_of(name: str) -> str:
    return next(form for beginning, form in FORMAT_OF.items() if name.startswith(beginning))


def lines_of(name: str) -> list[str]:
    return sample(name).decode().splitlines()


def epoch(day: str, time: str) -> float:
    return datetime.fromisoformat(f"{day}T{time}+00:00").timestamp()


def table(reading: ParsedFile) -> dict[tuple[Any, ...], float]:
    """Values by entity, field and time."""
    r = reading.records
    keys = zip(r["entity"], r["field"], r["t"], strict=True)
    return dict(zip(keys, r["value"], strict=True))


@each_case("name", sample_names())
def test_sample_is_read_or_rejected_by_name(name: str) -> None:
    data = sample(name)
    if name in REFUSED:
        with pytest.raises(FormatError, match=REFUSED[name]) as caught:
            sniff(data, file=FILE)
        check_refusal(caught.value, last_line(data))
        return
    assert choose_format(data, name, None, file=FILE).name == format_of(name)
    check_reading(read(name), last_line(data))


def sysstat_rows(name: str, headings: str) -> dict[tuple[str, str, str], float]:
    """Numbers of sar or mpstat tables with such a heading, by time, entity and column."""
    found: dict[tuple[str, str, str], float] = {}
    columns: list[str] = []
    for line in lines_of(name)[1:]:
        words = line.split()
        if not words or not CLOCK.match(words[0]):
            columns = []
        elif not columns:
            columns = words[1:] if re.search(headings, line) else ["?"]
        elif columns != ["?"]:
            for column, word in zip(columns[1:], words[2:], strict=True):
                found[words[0], words[1], column] = float(word)
    return found


@each_case(
    ("name", "report", "heading"),
    [
        ("sar/sar-A.txt", "cpu", r" CPU .*%idle"),
        ("sar/sar-A.txt", "interrupts", r" INTR "),
        ("sar/sar-A.txt", "disk", r" DEV "),
        ("sar/sar-A.txt", "net-dev", r" rxpck/s "),
        ("sar/sar-u.txt", "cpu", r" CPU "),
        ("sar/sar-iso.txt", "cpu", r" CPU "),
        ("mpstat/mpstat-P.txt", "cpu", r" CPU "),
    ],
)
def test_tables_of_sar_and_mpstat(name: str, report: str, heading: str) -> None:
    found = read(name)
    own = found.records[found.records["report"] == report]
    wanted = sysstat_rows(name, heading)
    assert len(own) == len(wanted) > 10
    for (time, entity, field), value in wanted.items():
        at = epoch("2026-11-24", time)
        hit = own[(own["t"] == at) & (own["entity"] == entity) & (own["field"] == field)]
        assert hit["value"].tolist() == [value]


def test_every_table_of_sar_is_found() -> None:
    lines = lines_of("sar/sar-A.txt")
    headings = [b for a, b in pairwise(lines) if not a and b.startswith("0")]
    reading = read("sar/sar-A.txt")
    fields = set(reading.records["field"])
    named = {
        word
        for heading in headings
        for word in heading.split()[1:]
        if not word.isupper() and word not in ("idvendor", "idprod", "manufact", "product")
    }
    empty = {"TTY", "USB"}
    assert named - fields <= {w for h in headings if empty & set(h.split()) for w in h.split()}
    assert reading.info["kernel"] == "6.18.44"
    assert (reading.info["host"], reading.info["cpus"]) == ("host1", "2")


def test_twelve_hours_of_sar() -> None:
    assert read("sar/sar-12-hours.txt").records.equals(read("sar/sar-u.txt").records)


def test_restart_and_comment() -> None:
    at = f"{epoch('2026-11-24', '04:18:09'):.0f}"
    text, document = read("sar/sar-restart.txt"), read("sadf/sadf-restart.json")
    assert text.info["restarts"] == document.info["restarts"] == at
    assert text.info["comments"] == f"{at} second part"
    assert text.records["t"].nunique() == 3
    assert (text.records["field"] == "runq-sz").sum() == 3


def test_averages_since_boot_are_a_separate_report() -> None:
    reading = read("sar/sar-since-boot.txt")
    assert all(report.endswith(" since boot") for report in reading.records["report"])
    found = table(reading)
    t = epoch("2026-11-24", "04:18:11")
    assert found["1", "%usr", t] == 31.41
    assert found["vda", "await", t] == 0.45
    assert found["", "runq-sz", t] == 8


def leaves(found: Any) -> int:
    """Numbers in a JSON value, without identifiers."""
    if isinstance(found, dict):
        first = next(iter(found.values()), None)
        named = isinstance(first, int | float) and next(iter(found)) in (
            "number",
            "bus_number",
            "line",
        )
        return sum(map(leaves, found.values())) - named
    if isinstance(found, list):
        return sum(map(leaves, found))
    return isinstance(found, int | float) and not isinstance(found, bool)


@each_case("name", ["sadf-A.json", "sadf.json", "sadf-t.json"])
def test_sadf(name: str) -> None:
    reading = read(f"sadf/{name}")
    (host,) = json.loads(sample(f"sadf/{name}"))["sysstat"]["hosts"]
    statistics = host["statistics"]
    assert len(reading.records) == sum(
        leaves({key: part for key, part in one.items() if key != "timestamp"}) for one in statistics
    )
    times = [epoch(s["timestamp"]["date"], s["timestamp"]["time"]) for s in statistics]
    cpu = reading.records[
        (reading.records["report"] == "cpu-load") & (reading.records["entity"] == "all")
    ]
    idle = cpu[cpu["field"] == "idle"]
    assert idle["t"].tolist() == times
    assert idle["value"].tolist() == [s["cpu-load"][0]["idle"] for s in statistics]
    nice = cpu.loc[cpu["field"] == "nice", "value"].tolist()
    assert nice == [s["cpu-load"][0]["nice"] for s in statistics]
    assert reading.info["host"] == "host1"


def test_sadf_and_sar_of_one_file_agree() -> None:
    text, document = read("sar/sar-A.txt").records, read("sadf/sadf-A.json").records
    for report, field, other in (
        ("paging", "fault/s", "fault"),
        ("memory", "kbmemfree", "memfree"),
        ("queue", "ldavg-1", "ldavg-1"),
    ):
        a = text[(text["report"] == report) & (text["field"] == field)]
        b = document[(document["report"] == report) & (document["field"] == other)]
        assert (
            len(a)
            and a[["t", "value"]].to_numpy().tolist() == b[["t", "value"]].to_numpy().tolist()
        )


def test_iostat() -> None:
    lines = lines_of("iostat/iostat.txt")
    reading = read("iostat/iostat.txt")
    rows = [line.split() for line in lines if line.startswith("vda")]
    columns = next(line.split()[1:] for line in lines if line.startswith("Device"))
    for t, row in enumerate(rows[1:]):  # the first holds averages since boot
        for column, word in zip(columns, row[1:], strict=True):
            assert table(reading)["vda", column, t] == float(word)
    cpu = [line.split() for line in lines if re.match(r" +\d", line)][1:]
    idle = reading.records[reading.records["field"] == "%idle"]
    assert idle["value"].tolist() == [float(row[-1]) for row in cpu]
    stamped = read("iostat/iostat-tdx.txt")
    found = table(stamped)
    for line, below in pairwise_stamps(lines_of("iostat/iostat-tdx.txt"))[1:]:
        time = line.split()[1]
        assert found["vda", "%util", epoch("2026-11-24", time)] == float(below.split()[-1])


def pairwise_stamps(lines: list[str]) -> list[tuple[str, str]]:
    """Time lines paired with the disk row below."""
    return [(line, lines[k + 2]) for k, line in enumerate(lines) if line.startswith("11/24/26")]


def test_pidstat() -> None:
    rows = [line.split() for line in lines_of("pidstat/pidstat-h.txt") if line.startswith("04:")]
    heading = next(line for line in lines_of("pidstat/pidstat-h.txt") if line.startswith("#"))
    columns = heading.split()[2:]
    found = table(read("pidstat/pidstat-h.txt"))
    for row in rows:
        for column, word in zip(columns, row[1:], strict=True):
            if column not in ("UID", "PID", "CPU", "Command"):
                entity = f"{row[-1]} {row[columns.index('PID') + 1]}"
                assert found[entity, column, epoch("2026-11-24", row[0])] == float(word)
    threads = read("pidstat/pidstat-t.txt").records
    assert set(threads["entity_kind"]) == {"process", "thread"}
    assert threads.loc[threads["field"] == "%CPU", "value"].tolist() == [15.38, 15.38, 12.87, 12.87]
    whole = read("pidstat/pidstat.txt").records
    assert set(whole["report"]) == {"cpu", "tasks"}


def test_vmstat() -> None:
    lines = lines_of("vmstat/vmstat.txt")
    columns, rows = lines[1].split(), [line.split() for line in lines[3:]]
    found = table(read("vmstat/vmstat.txt"))
    assert len(found) == len(columns) * len(rows)
    for t, row in enumerate(rows):
        for column, word in zip(columns, row, strict=True):
            assert found["", column, t] == float(word)
    stamped = read("vmstat/vmstat-t.txt")
    assert stamped.clock == "absolute"
    times = [epoch(*line.split()[-2:]) for line in lines_of("vmstat/vmstat-t.txt")[3:]]  # type: ignore[arg-type]
    assert stamped.records["t"].unique().tolist() == times


def test_netstat() -> None:
    records = read("netstat/netstat-s.txt").records
    found = {(r, f): v for r, f, v in records[["report", "field", "value"]].itertuples(index=False)}
    assert len(found) == sum(
        len(re.findall(r"(?<!\S)\d+(?!\S)", line)) for line in lines_of("netstat/netstat-s.txt")
    )
    assert found["Ip", "total packets received"] == 67438
    assert found["Icmp", "ICMP input histogram: echo requests"] == 2
    assert found["Icmp", "ICMP output histogram: echo replies"] == 2
    assert found["IcmpMsg", "InType8"] == 2
    assert found["Tcp", "segments sent out"] == 24453
    assert found["TcpExt", "Quick ack mode was activated # times"] == 131
    assert found["TcpExt", "TCPLossProbes"] == 28


def test_swapon() -> None:
    size = 8188.0
    for name in ("swapon-s", "proc-swaps"):
        found = table(read(f"swapon/{name}.txt"))
        assert {key[:2]: value for key, value in found.items()} == {
            ("/swapfile", "Size"): size,
            ("/swapfile", "Used"): 0,
            ("/swapfile", "Priority"): 5,
        }
    by_bytes = read("swapon/swapon-bytes.txt").records
    assert by_bytes.loc[by_bytes["field"] == "SIZE", "value"].item() == size * 1024
    shown = read("swapon/swapon-show.txt")
    assert shown.records.loc[shown.records["field"] == "SIZE", "value"].item() == 8 * 1024**2
    assert shown.info["sizes"] == "rounded"


def test_time_command_of_gnu() -> None:
    records = read("gnu_time/time-v.txt").records
    found = dict(zip(records["field"], records["value"], strict=True))
    for line in lines_of("gnu_time/time-v.txt"):
        name, _, text = line.strip().rpartition(": ")
        if name in found and ":" not in text:
            assert found[name] == float(text.rstrip("%"))
    assert found["Elapsed (wall clock) time (h:mm:ss or m:ss)"] == 0.04
    assert len(found) == 22
    bash = read("gnu_time/bash-time.txt").records
    assert bash["entity"].unique().tolist() == ["gzip -c /usr/bin/bash", "sleep 0.1"]
    assert bash["value"].tolist() == [0.25, 0.095, 0, 0.104, 0.001, 0]
    plain = read("gnu_time/time.txt").records
    assert plain.loc[plain["field"] == "maxresident", "value"].item() == 2696
    assert read("gnu_time/time-p.txt").records["field"].tolist() == ["real", "user", "sys"]


def test_xentop() -> None:
    reading = read("xentop/xentop-4.17.txt")
    samples: list[list[list[str]]] = []
    columns: list[str] = []
    for line in lines_of("xentop/xentop-4.17.txt"):
        words = line.replace("no limit", "-").split()
        if words[0] == "NAME":
            columns = words
            samples.append([])
        else:
            samples[-1].append(words)
    found = table(reading)
    missing = 0
    for t, rows in enumerate(samples):
        for row in rows:
            for column, word in list(zip(columns, row, strict=True))[2:]:
                if (row[0], column, t) not in found:
                    missing += 1
                    assert word in ("-", "n/a") or (column, t, word) == ("CPU(%)", 0, "0.0")
                else:
                    assert found[row[0], column, t] == float(word)
    assert missing < 0.1 * len(found)
    assert len(samples) > 2


def test_performance_toolkit_listings() -> None:
    for name, id_, entity, field in (
        ("perfkit/cpu-and-user.txt", "FCX100", "P00", "%CPU"),
        ("perfkit/lpar-and-proclog.txt", "FCX144", "0", "Total"),
    ):
        pages = re.split(r"(?m)^1(?=FCX\d{3})", sample(name).decode())[1:]
        own = [page for page in pages if page.startswith(id_)]
        reading = read(name)
        assert reading.warnings == ()
        assert len(reading.records["report"].unique()) == 2
        # numbers are right-aligned below their headings
        printed: list[float] = []
        for page in own:
            lines = page.splitlines()
            place, heading = next(
                (k, line) for k, line in enumerate(lines) if re.search(rf"{field}(?!\S)", line)
            )
            end = heading.index(field) + len(field)
            for line in lines[place + 1 :]:
                if re.match(rf"(?: \d\d:\d\d:\d\d)? {entity} ", line):
                    printed.append(float(line[:end].split()[-1]))
        r = reading.records
        picked = r[(r["report"] == id_) & (r["entity"] == entity) & (r["field"] == field)]
        picked = picked[~picked["entity_kind"].str.contains("average")]
        assert picked["value"].tolist() == printed
        assert len(printed) > 5


def test_workload_simulator_and_cms_consoles() -> None:
    reading = read("iwl/console.txt")
    printed = [line for line in lines_of("iwl/console.txt") if line.startswith("# clients")]
    pages = reading.records[reading.records["field"] == "pg"]
    assert pages["value"].tolist() == [
        float(found[1]) for line in printed if (found := re.search(r"\| pg (\d+) ", line))
    ]
    snapshots = read("iwl/snapshots.xml").records
    text = sample("iwl/snapshots.xml").decode()
    assert len(snapshots) == len(re.findall(r">[\d.]+<", text)) - snapshots["t"].nunique()
    commands = read("cms/defseg.txt").records
    total = commands.loc[commands["field"] == "total CPU", "value"].tolist()
    assert total == [
        float(cpu) for cpu in re.findall(r"T=[\d.]+/([\d.]+)", sample("cms/defseg.txt").decode())
    ]
    saved = commands[commands["field"] == "fileid"]
    assert saved["value"].tolist() == [401, 402]


def test_swingbench_results() -> None:
    reading = read("swingbench/results.xml")
    text = sample("swingbench/results.xml").decode()
    for name in ("TotalCompletedTransactions", "NumberOfUsers", "AverageTransactionsPerSecond"):
        (printed,) = re.findall(rf"<{name}>([\d.]+)</{name}>", text)
        own = reading.records.loc[reading.records["field"] == name, "value"]
        assert own.item() == float(printed)
    (readings,) = re.findall(r"<TPSReadings>([^<]*)</TPSReadings>", text) or [""]
    series = reading.records[reading.records["field"] == "TPSReadings"]
    numbers = [float(word) for word in readings.split(",") if word.strip()]
    assert series["value"].tolist() == numbers[1::2]
    assert np.allclose(series["t"] * 1000, numbers[::2], rtol=1e-15)


def test_samples_folder_is_small() -> None:
    assert all(len(sample(name)) <= 100_000 for name in sample_names())
