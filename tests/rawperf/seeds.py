"""Intact files of each format from the fixtures of its tests, as input for mutations."""

from __future__ import annotations

import json

from rawperf import all_formats
from tests.rawperf.declared.test_fio_uperf_gc import FIO_2, GC_NEW, GC_OLD, UPERF_OLD
from tests.rawperf.sample_files import sample
from tests.rawperf.test_cms_console import SESSION
from tests.rawperf.test_iostat import LISTING as IOSTAT
from tests.rawperf.test_iostat import STAMPED as IOSTAT_STAMPED
from tests.rawperf.test_iwl_console import LOG, STATUS
from tests.rawperf.test_iwl_xml import DOCUMENT as IWL_DOCUMENT
from tests.rawperf.test_mpstat import LISTING as MPSTAT
from tests.rawperf.test_mpstat import TOPOLOGY as MPSTAT_TOPOLOGY
from tests.rawperf.test_netstat import BASE as NETSTAT
from tests.rawperf.test_perfkit import (
    ALL as PERFKIT,
)
from tests.rawperf.test_perfkit import (
    COUNTERS_SCREEN,
    OVERVIEW_SCREEN,
    STORAGE_SCREEN,
    USER_PAGE,
    log,
)
from tests.rawperf.test_pidstat import LISTING as PIDSTAT
from tests.rawperf.test_pidstat import ONE_TABLE as PIDSTAT_H
from tests.rawperf.test_pidstat import THREADS as PIDSTAT_T
from tests.rawperf.test_sadf_json import BASE as SADF
from tests.rawperf.test_sadf_json import IO, document
from tests.rawperf.test_sadf_json import sample as sadf_sample
from tests.rawperf.test_sar import BASE as SAR
from tests.rawperf.test_sar import LINE
from tests.rawperf.test_swapon import BYTES, PROC_SWAPS, SHOWN, SUMMARY_LIST
from tests.rawperf.test_swingbench import DOCUMENT as SWINGBENCH
from tests.rawperf.test_swingbench import as_json
from tests.rawperf.test_swingbench_console import LOG as CHARBENCH
from tests.rawperf.test_time_command import ALL as TIMES
from tests.rawperf.test_time_command import BASH, GNU_LINES, POSIX, VERBOSE_LINES
from tests.rawperf.test_vmstat import LISTING as VMSTAT
from tests.rawperf.test_vmstat import STAMPED as VMSTAT_STAMPED
from tests.rawperf.test_xentop import BASE as XENTOP
from tests.rawperf.test_xentop import HEADER, HEADER_19, listing, row

XENTOP_DETAILS = listing(
    "xentop - 23:59:50   Xen 4.1.2",
    "2 domains: 1 running, 1 blocked, 0 paused, 0 crashed, 0 dying, 0 shutdown ",
    "Mem: 16734804k total, 8000000k used, 8734804k free    CPUs: 8 @ 2112MHz",
    HEADER_19,
    row("Domain-0", 7, 12.5, state="-----r", tail="8 9 0"),
    "VCPUs(sec):   0:        123s  1:         45s  2:          1s  3:          1s  4:          1s",
    "          5:          7s",
    "Net0 RX:  1481728bytes    12000pkts        0err        3drop  TX:  7732224bytes    14000pkts        0err        0drop",
    "VBD BlkBack  768 [ 3: 0]  OO:        0   RD:     6142   WR:    43020   RSECT:         11   WSECT:         12",
    row("web 1", vbd="- - -", tail="18446744073562662986 - 2149627072"),
    "",
    "Physical CPU Usage:",
    "+-------+--------+",
    "| Core  | Usage  |",
    "| 0     |  98.1% |",
    "+-------+--------+",
)
SAR_12_HOURS = (
    b"Linux 4.4.0 (guest1) \t01/31/2009 \t_x86_64_\t(2 CPU)\n\n"
    b"11:59:50 PM     CPU     %user     %nice   %system   %iowait    %steal     %idle\n"
    b"12:00:00 AM     all      1.00      0.00      2.00      0.50      0.25     96.25\n"
    b"12:00:10 AM     all      3.00      0.00      2.00      0.50      0.25     94.25\n"
    b"Average:        all      2.00      0.00      2.00      0.50      0.25     95.25\n\n"
    b"11:59:50 PM   runq-sz  plist-sz   ldavg-1\n12:00:00 AM         1       120      0.50\n\n"
    b"12:00:20 AM  COM a note\n12:01:00 AM  LINUX RESTART\t(2 CPU)\n"
)
NETSTAT_LONG = b"""\
Ip:
    Forwarding: 2
    71046 total packets received
    0 forwarded
Tcp:
    5 active connections openings
    6 segments send out
    7 segments retransmited
TcpExt:
    Quick ack mode was activated 479 times
    TCPLossProbes: 12
    TCP ran low on memory 3 times
IpExt:
    InOctets: 123456789012
"""

FORMATS = sorted(
    name
    for name, form in all_formats().items()
    if type(form).__module__.startswith("rawperf.")
    and name != "sar-binary"  # read by another program
)
"""The formats of this repository."""


def _files(*names: str) -> tuple[bytes, ...]:
    return tuple(map(sample, names))


SEEDS: dict[str, tuple[bytes, ...]] = {
    "ab": _files("ab/ab.txt", "ab/ab-err.txt", "ab/ab-failing.txt"),
    "ab-gnuplot": _files("ab/ab-failing.tsv"),
    "cgroup-cpu": _files("cgroup/cpu-1.stat", "cgroup/cpu-2.stat"),
    "cgroup-io": _files("cgroup/io-2.stat"),
    "cgroup-memory": _files("cgroup/memory-2.stat"),
    "cgroup-memory-1": _files("cgroup/memory-1.stat"),
    "cms-console": (SESSION, SESSION[SESSION.index(b"q v\n") :]),
    "fio": _files("fio/fio-3.33.json", "fio/fio-3.33-status.json", "fio/fio-3.33-client.json"),
    "fio-minimal": _files("fio/fio-3.33-minimal.txt"),
    "fio-text": (*_files("fio/fio-3.33.txt"), FIO_2.encode()),
    "iostat": (IOSTAT, IOSTAT_STAMPED),
    "iwl-console": (
        LOG.encode(),
        f"<data machine=m1 runType=trade runNo=4>\nInitial number of clients = 7\n{LOG}</data>\n".encode(),
        "".join(
            STATUS.format(pg=page).replace(" | resp avg", "\n| resp avg") for page in (5, 9, 12)
        ).encode(),
    ),
    "iwl-xml": (IWL_DOCUMENT.encode(),),
    "jmeter-csv": _files(
        "jmeter/jmeter.csv", "jmeter/jmeter-5.6.3.csv", "jmeter/jmeter-5.6.3-dates.csv"
    ),
    "jmeter-csv-bare": _files("jmeter/jmeter-bare.csv"),
    "jmeter-xml": _files(
        "jmeter/jmeter.xml", "jmeter/jmeter-parents.xml", "jmeter/jmeter-5.6.3.xml"
    ),
    "meminfo": _files("proc/meminfo.txt"),
    "mpstat": (MPSTAT, MPSTAT_TOPOLOGY),
    "netstat": (NETSTAT, NETSTAT_LONG),
    "perf-stat": _files("perf/perf.csv", "perf/perf-A.csv", "perf/perf-cgroup.csv"),
    "perf-stat-intervals": _files(
        "perf/perf-I.csv", "perf/perf-I-cgroup.csv", "perf/perf-I-cgroup-A.csv"
    ),
    "perfkit": tuple(
        text.encode()
        for text in (
            PERFKIT,
            USER_PAGE,
            STORAGE_SCREEN,
            COUNTERS_SCREEN,
            OVERVIEW_SCREEN,
            log(">>Mean>>", "00:00:00"),
        )
    ),
    "pidstat": (PIDSTAT, PIDSTAT_T, PIDSTAT_H),
    "pressure": _files("proc/pressure-all.txt", "proc/pressure-timed.txt"),
    "ps": _files("ps/ps.txt"),
    "sadf-json": (
        SADF,
        document(
            sadf_sample(
                "10:00:10",
                {"tz": "UTC"},
                network={"net-dev": [{"iface": "lo", "rxpck": 0.0}]},
                io=IO,
            ),
            sadf_sample(
                "10:00:20",
                interrupts=[{"intr": "sum", "value": 1e3, "cpu": [{"cpu": "0", "value": 2}]}],
            ),
            restarts=[{"boot": {"date": "2009-01-03", "time": "10:00:00", "utc": 1}}],
            comments=[
                {"comment": {"date": "2009-01-03", "time": "10:00:05", "utc": 1, "com": "a b"}}
            ],
        ),
        sample("sadf/sadf.json"),
    ),
    "sar": (SAR, SAR_12_HOURS, f"{LINE}\n10:00:10 INTR intr/s\n10:00:20 sum 5.5\n".encode()),
    "stress-ng": _files("stress-ng/stress-ng.yaml"),
    "stress-ng-brief": _files("stress-ng/stress-ng-brief.txt"),
    "swapon": (SUMMARY_LIST + SHOWN + BYTES, PROC_SWAPS, SHOWN, BYTES),
    "swingbench": (SWINGBENCH.encode(),),
    "swingbench-console": (CHARBENCH.encode(),),
    "swingbench-json": (
        as_json(SWINGBENCH).encode(),
        json.dumps(json.loads(as_json(SWINGBENCH)), indent=1).encode(),
    ),
    "sysbench": _files(
        "sysbench/sysbench-cpu.txt",
        "sysbench/sysbench-mem.txt",
        "sysbench/sysbench-fileio.txt",
        "sysbench/sysbench-0.5-cpu.txt",
        "sysbench/sysbench-0.5-mem.txt",
    ),
    "time": (TIMES, BASH, POSIX, GNU_LINES, VERBOSE_LINES),
    "uperf": (*_files("uperf/uperf-a.txt", "uperf/uperf-R.txt"), UPERF_OLD.encode()),
    "verbosegc": (GC_NEW.encode(),),
    "verbosegc-java5": (GC_OLD.encode(),),
    "vmstat": (VMSTAT, VMSTAT_STAMPED),
    "wrk": _files("wrk/wrk.txt", "wrk/wrk-latency.txt", "wrk/wrk-err.txt", "wrk2/wrk2.txt"),
    "bcc-histogram": _files("bcc/biolatency-TD.txt"),
    "bpftrace-histogram": _files("bpftrace/timer.txt", "bpftrace/timer-intervals.txt"),
    "fio-log-bw": _files("fio/mixed_bw.1.log"),
    "fio-log-iops": _files("fio/mixed_iops.1.log"),
    "fio-log-latency": _files("fio/mixed_clat.1.log"),
    "kubectl-top": _files(
        "kubectl/top-pod.txt",
        "kubectl/top-containers.txt",
        "kubectl/top-node.txt",
        "kubectl/top-sum.txt",
    ),
    "pcp-dstat": _files("dstat/pcp-dstat.csv", "dstat/pcp-dstat-lo.csv"),
    "proc-stat": _files("proc/stat.txt"),
    "collectl": _files("collectl/collectl-P.txt"),
    "diskstats": _files("proc/diskstats.txt"),
    "docker-stats": _files("docker/docker-stats.txt", "podman/podman-stats.txt"),
    "docker-stats-json": _files("docker/docker-stats.json"),
    "dstat": _files("dstat/dstat.csv"),
    "dool": _files("dstat/dool.csv"),
    "dool-epoch": _files("dstat/dool-epoch.csv"),
    "cyclictest": _files("cyclictest/cyclictest.json"),
    "hey-csv": _files("hey/hey.csv"),
    "oha-csv": _files("oha/oha.csv"),
    "ab-percentiles": _files("ab/ab-percentiles.csv"),
    "esxtop": _files("esxtop/esxtop.csv"),
    "perfmon": _files("perfmon/hyper-v.csv", "perfmon/typeperf.csv"),
    "hdrhistogram": _files("hdrhistogram/two-drivers.hlog"),
    "azure-metrics": _files("azure/metrics.json"),
    "cloudwatch-statistics": _files("aws/cpu.json", "aws/network.json"),
    "iperf3": _files(
        "iperf3/iperf3.json",
        "iperf3/iperf3-udp.json",
        "iperf3/iperf3-udp-reverse.json",
        "iperf3/iperf3-bidir.json",
        "iperf3/iperf3-omit.json",
    ),
    "k6": _files("k6/k6-summary.json"),
    "k6-csv": _files("k6/k6.csv"),
    "k6-json": _files("k6/k6.jsonl"),
    "vegeta": _files("vegeta/vegeta.csv", "vegeta/vegeta-refused.csv", "vegeta/failing.csv"),
    "vegeta-json": _files("vegeta/failing.json"),
    "vegeta-report": _files("vegeta/vegeta-report.json"),
    "kvm-stat-once": _files("kvm_stat/kvm_stat-1.txt"),
    "kvm-stat": _files("kvm_stat/kvm_stat.csv"),
    "nmon": _files("nmon/host1.nmon"),
    "numastat": _files("numastat/numastat.txt"),
    "perf-time-stat": _files("mmtests/perf-time-stat.txt"),
    "proc-vmstat": _files("mmtests/proc-vmstat.txt"),
    "podman-stats-json": _files("podman/podman-stats.json"),
    "prometheus": _files("prometheus/node-exporter.txt", "prometheus/histograms.txt"),
    "prometheus-query": _files("prometheus/query.json", "prometheus/query-expression.json"),
    "prometheus-query-range": (
        *_files("prometheus/query_range.json"),
        json.dumps(json.loads(sample("prometheus/query_range-expression.json")), indent=1).encode(),
    ),
    "turbostat": _files("turbostat/turbostat-summary.txt"),
    "virsh-domstats": _files("libvirt/domstats.txt"),
    "virt-top": _files(
        "virt-top/virt-top.csv", "virt-top/virt-top-no-cpu.csv", "virt-top/virt-top-no-mem.csv"
    ),
    "xentop": (
        XENTOP,
        XENTOP_DETAILS,
        listing(HEADER, row("a"), row("b", 2), HEADER, row("a", 3, 12.5), row("b", 4)),
    ),
}
