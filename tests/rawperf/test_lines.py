"""The line number of a reading's value is the line of the file that prints it."""

from __future__ import annotations

import re

import numpy as np

from rawperf import ParsedFile, all_formats
from tests.cases import each_case
from tests.rawperf.seeds import FORMATS, SEEDS

# format, seed, entity, field, index among equal records, text around the number
PICKS = (
    ("azure-metrics", 0, "Data Disk Read Bytes/sec 1", "average", 1, '"average": 512.0'),
    ("bcc-histogram", 0, "vda 0 to 2 us", "count", 0, " 0 -> 1 "),
    (
        "bpftrace-histogram",
        0,
        "ns 1500000 to 2000000 ns",
        "count",
        0,
        "[1500000, 2000000)     758 |",
    ),
    ("fio-log-bw", 0, "<bytes>", "read", 0, "1003, 203, 0, 0, 0"),
    ("fio-log-iops", 0, "<bytes>", "read", 0, "1003, 50, 0, 0, 0"),
    ("fio-log-latency", 0, "<bytes>", "write", 0, "1000, 15791, 1, 0, 0"),
    ("kubectl-top", 0, "web-0", "cpu", 0, " 254m "),
    ("pcp-dstat", 0, "", "usr", 0, "09:08:58,93.506,"),
    ("proc-stat", 0, "cpu", "user", 0, "cpu  4747730 "),
    ("vegeta", 0, "", "latency (failed)", 0, ",514712,"),
    ("vegeta-json", 0, "", "latency", 0, '"latency":6471447'),
    ("k6-csv", 0, "", "http_reqs", 0, "http_reqs,1795944694561,1.000000"),
    ("k6-json", 0, "", "http_reqs", 0, '"value":1,'),
    ("ab-gnuplot", 0, "", "ttime", 0, "2026\t1795944264\t0\t1\t1\t1"),
    ("vegeta-report", 0, "", "latencies/50th", 0, '"50th":422666'),
    ("ab", 0, "", "response_time", 0, "Time per request:       1.329 [ms] (mean)"),
    ("cgroup-cpu", 1, "", "usage_usec", 1, "usage_usec 8"),
    ("cgroup-io", 0, "254:0", "rios", 1, "254:0 rbytes=1310720"),
    ("cgroup-memory", 0, "", "anon", 1, "anon 1540096"),
    ("cgroup-memory-1", 0, "", "total_rss", 0, "total_rss 3937144832"),
    ("cloudwatch-statistics", 1, "NetworkIn", "Sum", 1, '"Sum": 40960.0'),
    ("cms-console", 0, "", "STORAGE", 0, "STORAGE = "),
    ("cms-console", 0, "SCRATCH", "fileid", 0, "HCPNSD440I Saved segment SCRATCH"),
    ("cms-console", 0, "SCRATCH 1 EW", "BEGPAG", 0, "cp defseg scratch 62f400-62f400 ew"),
    ("cms-console", 0, "SCRATCH 1 EW", "BEGPAG", 1, "SCRATCH  DCSSG    000000062F400"),
    ("cms-console", 0, "Q V", "total CPU", 0, "/0.02 00:03:15"),
    ("collectl", 0, "", "[CPU]User%", 0, "20261124 "),
    ("diskstats", 0, "zram0", "reads", 0, " zram0 0 0"),
    ("docker-stats", 0, "db", "cpu", 0, "db        3.14%"),
    ("docker-stats-json", 0, "db", "received", 0, '"CPUPerc":"3.58%"'),
    ("dstat", 0, "", "usr", 0, "24-11 "),
    ("dool", 0, "", "usr", 0, "Nov-30 "),
    ("dool-epoch", 0, "", "usr", 0, "1796085013."),
    ("cyclictest", 0, "0", "result/max", 0, '"max":'),
    ("hey-csv", 0, "", "response-time", 0, ",200,"),
    ("oha-csv", 0, "", "request-duration", 0, ",1354,200"),
    ("ab-percentiles", 0, "", "p99", 0, "99,"),
    ("perfmon", 0, "Memory", "Available Bytes", 0, '"11/29/2026 09:00:01.123"'),
    ("esxtop", 0, "system", "% Used", 1, '"03/01/2026 10:00:05"'),
    ("hdrhistogram", 0, "", "Interval_Max", 1, "Tag=b,1767268800.000,1.000,20.840,"),
    ("iperf3", 0, "", "sum/retransmits", 0, '"retransmits":'),
    ("k6", 0, "", "metrics/http_reqs/count", 0, '"count": 28,'),
    ("kvm-stat-once", 0, "", "kvm_apic", 0, "kvm_apic  "),
    ("kvm-stat", 0, "", "kvm_apic", 1, "2026-11-29 09:15:47,"),
    ("nmon", 0, "002", "steal", 0, "CPU002,T0001"),
    ("numastat", 0, "node0", "interleave_hit", 0, "interleave_hit              1130"),
    ("proc-vmstat", 0, "", "pgfault", 1, "pgfault 453421757"),
    ("podman-stats-json", 0, "db", "memory", 0, '"mem_usage": "725kB'),
    ("prometheus", 0, 'cpu="0",mode="user"', "node_cpu_seconds_total", 0, "} 4358.6"),
    (
        "prometheus-query",
        0,
        'instance="127.0.0.1:19100",job="node"',
        "node_load1",
        0,
        '"8.48"',
    ),
    (
        "prometheus-query-range",
        1,
        'instance="127.0.0.1:19100",mode="idle"',
        "value",
        0,
        '"0"',
    ),
    ("turbostat", 0, "", "IPC", 1, "\t1.25\t"),
    ("virsh-domstats", 0, "db-01", "state.state", 0, "state.state=1"),
    ("virt-top", 0, "", "Active", 1, "host1,09:12:09,"),
    ("fio", 0, "rw", "write/clat_ns/percentile/99.000000", 0, '"99.000000": '),
    ("fio", 1, "w1", "write/iops", 0, '"iops": '),
    ("fio-minimal", 0, "db", "write_iops", 0, "fio-3.33;db;"),
    ("fio-text", 1, "read#2", "read bw", 0, "bw=51.200MB/s"),
    ("iostat", 0, "vdb", "tps", 1, "vdb               1.00"),
    ("iwl-console", 0, "", "pg elem/s", 1, "| pg elem/s = "),
    ("iwl-console", 2, "", "pg", 1, "| pg 9 |"),
    ("iwl-console", 2, "", "pg elem/s", 1, "| resp avg = "),
    ("jmeter-csv", 0, "", "allThreads", 0, "127.0.0.1"),
    ("jmeter-csv-bare", 0, "", "allThreads", 0, ",users 1-"),
    ("jmeter-xml", 0, "", "na", 0, 'na="2"'),
    ("meminfo", 0, "", "HugePages_Free", 0, "HugePages_Free:"),
    ("mpstat", 0, "1", "%nice", 0, "12:32:08       1    0.00   99.00"),
    ("netstat", 0, "", "resets sent", 0, "5 resets sent"),
    ("netstat", 1, "", "InOctets", 0, "InOctets: 123456789012"),
    ("perf-stat", 1, "CPU1", "context-switches", 0, "CPU1;989;"),
    ("perf-stat-intervals", 0, "", "page-faults", 1, "0.697868723,1,,page-faults"),
    ("perf-time-stat", 0, "", "page-faults", 1, "2920      page-faults"),
    ("perf-stat-intervals", 1, "db.slice", "task-clock", 1, "2.011332484,72.22,msec"),
    ("perfkit", 0, "LNWEB1", "%CPU", 0, "12.5"),
    ("perfkit", 1, "DB", "T/V Ratio", 0, "1K"),
    ("pidstat", 1, "io worker 78", "%usr", 0, "|__io worker"),
    ("pressure", 0, "memory", "full total", 0, "memory:full"),
    ("ps", 0, "1 68", "TIME", 0, "00:00:02 "),
    ("sadf-json", 0, "0", "idle", 0, '"idle": 95'),
    ("sadf-json", 1, "sum/0", "cpu/value", 0, '"value": 2'),
    ("sar", 0, "/dev/sda", "%fsused", 0, "10:00:10 5 6.5 /dev/sda"),
    ("sar", 1, "all", "%idle", 1, "12:00:10 AM     all      3.00"),
    ("stress-ng", 0, "vm", "system-time", 0, "system-time: 0.197245"),
    ("stress-ng-brief", 0, "vm", "rate_real", 0, "20449.09"),
    ("sysbench", 0, "", "rate", 1, "[ 2s ] thds: 1"),
    ("swapon", 0, "/dev/dm-1", "PRIO", 0, "/dev/dm-1"),
    ("swingbench", 0, "", "TPSReadings", 1, "<TPSReadings>"),
    ("swingbench-console", 0, "", "OP", 1, "23:59:59  [3/4]"),
    (
        "swingbench-json",
        1,
        "",
        "AverageTransactionsPerSecond",
        0,
        '"AverageTransactionsPerSecond": "4.0',
    ),
    ("time", 1, "", "sys", 0, "sys\t"),
    ("time", 3, "", "maxresident", 0, "maxresident)k"),
    ("time", 3, "", "swaps", 0, "swaps"),
    ("time", 4, "cp testcase0-data part3", "Exit status", 0, "Exit status: 0"),
    ("uperf", 1, "Txn2", "bytes", 1, "nr_bytes:2181873664"),
    ("verbosegc", 0, "", "pause", 0, 'durationms="12.500"'),
    ("verbosegc-java5", 0, "", "pause", 1, '  <time totalms="40.000" />'),
    ("vmstat", 1, "", "id", 0, " 2  0      0 128898976"),
    ("wrk", 1, "", "latency_p99", 0, "99%    8.02ms"),
    ("xentop", 0, "b c", "CPU(sec)", 1, "b c --b---          5"),
    ("xentop", 1, "Domain-0/5", "VCPUs(sec)", 0, "5:          7s"),
    ("xentop", 1, "Domain-0/0", "TX bytes", 0, "TX:  7732224bytes"),
)
# Computed from several lines, or a count of lines.
COMPUTED = {
    "prometheus": lambda r: r["entity_kind"] == "bucket",  # differences of cumulative counts
    # no line of errors is 0 errors
    "wrk": lambda r: (r["entity_kind"] == "bucket") | (r["value"] == 0),
    "ab": lambda r: r["value"] == 0,
    "hdrhistogram": lambda r: r["field"] == "count",
    "jmeter-csv": lambda r: r["t"].notna(),
    "jmeter-csv-bare": lambda r: r["t"].notna(),
    "jmeter-xml": lambda r: r["t"].notna(),
    "cms-console": lambda r: r["field"].isin(["elapsed", "CPU"]) | r["field"].str.startswith("CL "),
    "swingbench": lambda r: (r["field"] == "AverageResponse") & (r["entity"] == ""),
    "swingbench-json": lambda r: (r["field"] == "AverageResponse") & (r["entity"] == ""),
}

_NUMBER = re.compile(r"-?(?:\d[\d']*(?:[.,]\d+)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_PLAIN = re.compile(r"\d+(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_HEX = re.compile(r"\b[0-9A-F]+\b", re.ASCII | re.IGNORECASE)
_CLOCK = re.compile(r"(?:(\d+):)?(\d+)[:m](\d+(?:\.\d+)?)", re.ASCII)
_TIMES = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3}
_TIME = re.compile(r"(\d+\.?\d*)(ns|us|ms)\b", re.ASCII)
_MILLI = re.compile(r"(\d+)m\b", re.ASCII)
_COUNT = re.compile(r"(\d+\.?\d*)([kKM])\b", re.ASCII)
_BITS = re.compile(r"(\d+\.?\d*)([KMG]?)b/s", re.ASCII)
_SIZE = re.compile(r"(\d[\d']*(?:\.\d+)?) ?([BKMGTPE])", re.ASCII | re.IGNORECASE)


def numbers_of(line: str) -> np.ndarray:
    """Every number that a line may print: decimal, hexadecimal, duration in seconds, size, or none."""
    found = [float(text.replace("'", "").replace(",", ".")) for text in _NUMBER.findall(line)]
    found += [float(text) for text in _PLAIN.findall(line)]
    found += [
        float(text.replace("'", "")) * 1000.0 ** "BkMGTPE".index(unit.replace("K", "k"))
        for text, unit in _SIZE.findall(line)
        if unit in "BkKMGTPE"
    ]
    found += [int(text, 16) for text in _HEX.findall(line)]
    found += [int(h or 0) * 3600 + int(m) * 60 + float(s) for h, m, s in _CLOCK.findall(line)]
    sizes = [
        float(text.replace("'", "")) * 1024.0 ** "BKMGTPE".index(unit.upper())
        for text, unit in _SIZE.findall(line)
    ]
    found += [size / unit for size in sizes for unit in (1, 1024, 1024**2)]
    found += [float(text) * _TIMES[unit] for text, unit in _TIME.findall(line)]
    found += [float(text) / 1000 for text in _MILLI.findall(line)]
    found += [float(text) * {"M": 1e6}.get(unit, 1e3) for text, unit in _COUNT.findall(line)]
    found += [
        float(text) * 1000.0 ** " KMG".index(unit or " ") / 8 for text, unit in _BITS.findall(line)
    ]
    return np.array([*found, *([0.0] if "none" in line else [])])


def read(name: str, data: bytes) -> tuple[ParsedFile, list[int], list[str]]:
    """A reading, its line numbers, and the file's lines counted from 1."""
    reading = all_formats()[name].read(data)
    assert reading.lines is not None
    assert reading.lines.shape == (len(reading.records),)
    return reading, reading.lines.tolist(), ["", *data.decode().split("\n")]


@each_case(("name", "seed", "entity", "field", "which", "printed"), PICKS)
def test_number_is_printed_on_its_line(
    name: str, seed: int, entity: str, field: str, which: int, printed: str
) -> None:
    reading, lines, text = read(name, SEEDS[name][seed])
    records = reading.records
    place = np.flatnonzero((records["entity"] == entity) & (records["field"] == field))[which]
    assert printed in text[lines[place]]


def test_every_format_is_covered() -> None:
    assert {pick[0] for pick in PICKS} | {"iwl-xml"} >= set(
        FORMATS
    )  # XML: the line of an element's start


@each_case("name", FORMATS)
def test_every_value_is_printed_on_its_line(name: str) -> None:
    checked = 0
    for seed in SEEDS[name]:
        reading, lines, text = read(name, seed)
        computed = COMPUTED.get(name, lambda r: r["field"].isna())(reading.records)
        if name == "iwl-xml":  # line of the element's start; its text may end further down
            text = [line + " ".join(text[i + 1 : i + 3]) for i, line in enumerate(text)]
        for value, line, skip in zip(reading.records["value"], lines, computed, strict=True):
            assert skip or np.isclose(numbers_of(text[line]), value, rtol=1e-12, atol=0).any(), (
                value,
                text[line],
            )
            checked += not skip
    assert checked or name.startswith("jmeter")


def test_wrapped_line() -> None:
    text = "q v\n00: DASD 0190 3390 M01RES R/O\n 107 CYL ON DASD 0201 SUBCHANNEL =\n0003\nReady; T=0.01/0.02 00:03:15\n"
    reading, lines, _ = read("cms-console", text.encode())
    assert dict(zip(reading.records["field"], lines, strict=True))["CYL"] == 3
    assert lines[-1] == 5
    whole = text.replace("R/O\n", "R/O").replace(" =\n", "\n= ")
    assert read("cms-console", whole.encode())[1][0] == 2


@each_case("name", FORMATS)
def test_crlf_counts_as_one_line_end(name: str) -> None:
    for seed in SEEDS[name]:
        assert (
            read(name, seed.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"))[1]
            == read(name, seed)[1]
        )


@each_case("name", sorted(set(FORMATS) - {"cms-console"}))
def test_line_numbers_shift_with_the_text(name: str) -> None:
    """A leading blank line shifts all lines by one; a console begins with a command or nothing."""
    for seed in SEEDS[name]:
        if seed.startswith(b"<?xml"):
            continue
        assert read(name, b"\n" + seed)[1] == [line + 1 for line in read(name, seed)[1]]
