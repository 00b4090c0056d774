"""Identification of files that no format reads: the tool or the kind of file, and what to do."""

from __future__ import annotations

import re

NAMED_TOOL = "it looks like"
"""Beginning of a problem that names the tool or the kind of file."""
MAX_SHOWN = 160
"""Characters of a heading or message that an error shows."""
_COMPRESSION_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"PK\3\4": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x1f\x9d": "compress",
}
_DECLARE = "declare its lines, see docs/formats/declared.md"
# Unsupported outputs: name, pattern in the first 8 KiB, remedy. The group `said` is shown.
_SADF = "convert it with sadf -j"
_UNSUPPORTED = (
    (
        "sadf -d or -p",
        rb"\A# hostname;interval;|\A[^\n;\t]*[;\t]-?\d+[;\t]\d{4}-\d\d-\d\d [\d:]+ \w+[;\t]",
        _SADF,
    ),
    ("sadf -x or -g", rb"\A<\?xml[^>]*>\s*(?:<!DOCTYPE (?:svg|Configure)|<sysstat\b)", _SADF),
    (
        "mpstat, pidstat or iostat -o JSON",
        rb'\A\s*\{\s*"sysstat"\s*:',
        "collect their default text output",
    ),
    ("cifsiostat", rb"\A\s*Linux [^\n]*\n(?s:.*)^Filesystem:? .*(?:rops/s|fo/s)", ""),
    ("tapestat", rb"\A\s*Linux [^\n]*\n(?s:.*)^Tape:? ", ""),
    (
        "sysstat without a known table",
        rb"\A\s*Linux \S+ +\(",
        "another version or option of the tool may print another heading, or the tool was stopped "
        "before its first sample",
    ),
    (
        "numastat -m, -p or -c",
        rb"^Per-node (?:system memory usage|process memory usage|numastat info) \(in MBs\)",
        "collect with numastat without options, or declare its columns with melt",
    ),
    (
        "GNU time with a decimal comma",
        rb"^\d+,\d\duser \d+,\d\dsystem |^\s*(?:User|System) time \(seconds\): \d+,\d\d$",
        "collect in the C locale: LC_ALL=C time ...",
    ),
    (
        "vmstat in another locale",
        rb"^procs -+\S+-+ -+swap-+ ",
        "collect in the C locale: LC_ALL=C vmstat ...",
    ),
    ("vmstat -d", rb"\Adisk-? +-+reads-+", "collect with iostat -x, or vmstat without -d"),
    ("vmstat -s", rb"\A\s*\d+ K total memory\n", "collect with vmstat SECONDS COUNT"),
    ("fio --minimal of another version", rb"^[25];fio-", "collect with fio --output-format=json"),
    (
        "the human-readable output of perf stat",
        rb"^ Performance counter stats for ",
        "collect with perf stat -x,",
    ),
    ("perf stat -j", rb'^\{"(?:interval|cpu|counter-value)" : ', "collect with perf stat -x,"),
    ("perf.data", rb"\APERFILE2", "print it with perf stat or perf script"),
    (
        "incomplete uperf output",
        rb"^(?:Txn\d+|Total) +[\d.]+[KMGT]?B? +/|^timestamp_ms:\S+ name:",
        "keep the complete output",
    ),
    (
        "iperf",
        rb"^\[ *(?:\d+|ID|SUM)\] +(?:local|Interval|[\d.]+-)|\A\d{14},[\d.:a-f]+,\d+,[\d.:a-f]+,\d+,",
        "collect with iperf3 -J",
    ),
    (
        "top",
        rb"^top - \d\d:\d\d:\d\d up |^ *PID USER +PR +NI +VIRT",
        "collect with pidstat SECONDS COUNT",
    ),
    ("free", rb"^ +total +used +free +shared", "collect with sar -r, vmstat, or cat /proc/meminfo"),
    (
        "Solaris' sar",
        rb"\A\s*SunOS \S+ [\d.]+ ",
        _DECLARE,
    ),
    ("HP-UX' or AIX' sar", rb"\A\s*(?:HP-UX|AIX) \S+ ", _DECLARE),
    (
        "macOS' or a BSD's sar",
        rb"\A\s*(?:Darwin|FreeBSD|NetBSD|OpenBSD)\b",
        _DECLARE,
    ),
    (
        "the response of aws cloudwatch get-metric-data",
        rb'"MetricDataResults"\s*:',
        "collect with aws cloudwatch get-metric-statistics, one file per metric",
    ),
    (
        "an error of Prometheus",
        rb'\A\{"status"\s*:\s*"error"(?:[^\n]*"error"\s*:\s*"(?P<said>[^"\n]*)")?',
        "correct the query, and keep the complete response of query_range, or of a query with a vector result",
    ),
    (
        "a Prometheus query response",
        rb'"resultType"\s*:\s*"(?:scalar|string|vector|matrix)"',
        "keep the complete response of query_range, or of a query with a vector result",
    ),
    (
        "sysbench without a result",
        rb"\Asysbench [\s\S]*?^(?P<said>FATAL: [^\n]*)(?![\s\S]*^ *(?:General statistics|Throughput|CPU speed):)",
        "correct what sysbench reports, and collect again",
    ),
    (
        "a JMeter log without a heading",
        rb"\A\d{13},\d+,[^,\n]*,(?:\d{3}|Non HTTP)[^\n]*,(?:true|false),",
        "set jmeter.save.saveservice.print_field_names=true, or add the heading timeStamp,elapsed,label,...",
    ),
    (
        "sysbench 0.4",
        rb"^sysbench v?0\.[0-4]",
        "collect with sysbench 0.5 or 1.0, or declare its lines, see docs/formats/declared.md",
    ),
    (
        "a fio log with another file name",
        rb"\A\d+, \d+, [012], \d+(?:, \w+)*\n\d+, \d+, [012], \d+",
        "name it as fio does, NAME_bw.1.log, NAME_iops.1.log, NAME_clat.1.log: only the file name tells the quantity",
    ),
    (
        "turbostat rows per CPU",
        rb"^(?:usec\t|Time_Of_Day_Seconds\t)*(?:Package\t|Die\t|Node\t|Core\t)*CPU\tAvg_MHz\t",
        "collect with turbostat --Summary",
    ),
    (
        "the human-readable table of collectl",
        rb"^#<-+CPU",
        "collect with collectl -P",
    ),
    (
        "the human-readable table of dstat",
        rb"^-+total-(?:cpu-)?usage-+ ",
        "collect with dstat -t --output FILE",
    ),
    (
        "dstat's CSV without times",
        rb'\A"?(?:Dstat|pcp-dstat|dool)\b(?s:.*?)^"total (?:cpu )?usage"|'
        rb'\A"?(?:Dstat|pcp-dstat|dool) [^\n]*CSV [oO]utput"?(?![\s\S]*^"(?:time|epoch|system)",)',
        "collect with dstat -t --output FILE",
    ),
    (
        "dstat's CSV with times as seconds (-T, --epoch)",
        rb'\A"?(?:Dstat|pcp-dstat|dool)\b(?s:.*?)^"epoch",',
        "collect with dstat -t --output FILE",
    ),
    (
        "the human-readable table of kvm_stat",
        rb"^ *Event +Total +%Total +CurAvg",
        "collect with kvm_stat -c -l, which prints columns",
    ),
    (
        "the log of kvm_stat without -c",
        rb"\A(?:[a-z]\w+(?:\([\w ]+\))? ){3,}\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\d",
        "collect with kvm_stat -c -l",
    ),
    (
        "the terminal output of docker stats",
        rb"^CONTAINER +CPU %",
        "collect with docker stats --format json",
    ),
    ("virsh dominfo", rb"^Id: +[\d-]+\nName: +", "collect with virsh domstats"),
    (
        "virt-top's screen",
        rb"^virt-top (?:time +)?\d\d:\d\d:\d\d",
        "collect with virt-top --csv FILE",
    ),
    (
        "HdrHistogram percentiles",
        rb"^ *Value(?:\(ms\))? +Percentile +TotalCount +1/\(1-Percentile\)",
        "keep the complete output of wrk2, or declare its lines; of vegeta collect -type json",
    ),
    (
        "an unfinished run of ab (ApacheBench)",
        rb"\A(?:<p>\s*)?This is ApacheBench, (?![\s\S]*^(?:Concurrency Level:|<table))"
        rb"(?:[\s\S]*?^(?P<said>(?:apr_|SSL )\w+[^\n]*))?",
        "ab stopped before its report; correct what it reports, and collect again",
    ),
    (
        "the HTML of ab (ApacheBench)",
        rb"\A<p>\s*This is ApacheBench, ",
        "collect with ab without -w",
    ),
    (
        "vegeta's printed histogram",
        rb"^Bucket +# +% +Histogram",
        "collect with vegeta report -type json, or vegeta encode -to csv",
    ),
    (
        "an AsciiDoc table",
        rb"\A\[[^\n]*\]\s*\n\|===",
        "have the tool write JSON or CSV, such as hyperfine --export-json FILE",
    ),
    (
        "the CSV of CloudWatch's console",
        rb"\AFull label,",
        "collect with aws cloudwatch get-metric-statistics, or delete the lines above the first time stamp "
        "and name the columns",
    ),
    (
        "InfluxDB's annotated CSV",
        rb"\A#(?:group|datatype|default),",
        "export without annotations: delete the lines that begin with #",
    ),
    (
        "collectl's columns with another separator",
        rb"^#Date,Time,",
        "collect with collectl -P without --sep",
    ),
    # printed tables of tools whose result files are read
    (
        "JMH's printed table",
        rb"^Benchmark +(?:\(\w+\) +)*Mode +Cnt +Score",
        "collect with java -jar ... -rf json -rff FILE",
    ),
    (
        "Google Benchmark's printed table",
        rb"^Benchmark +Time +CPU +Iterations",
        "collect with --benchmark_out=FILE --benchmark_out_format=json",
    ),
    (
        "hyperfine's printed results",
        rb"^Benchmark #?\d+: [^\n]*\n +Time \(mean",
        "collect with hyperfine --export-json FILE",
    ),
    (
        "Criterion's printed results",
        rb"^(?:\S[^\n]*| )  +time: +\[[\d.]+ \S+ [\d.]+ \S+ [\d.]+ \S+\]",
        "keep estimates.json of target/criterion, or collect with cargo criterion --message-format=json",
    ),
    ("the results of cargo bench", rb"^test \S[^\n]* \.\.\. bench: +[\d,.]+ ns/iter", _DECLARE),
    (
        "benchstat",
        rb"^name +(?:\(?old\)? +)?(?:(?:time|allocs?)/op|speed)\b|^ +\xe2\x94\x82 +(?:sec|B|allocs)/op|"
        rb"^,(?:sec|B|allocs)/op,CI,",
        "collect with go test -bench . -count 10, and compare these files",
    ),
    (
        "redis-benchmark's printed results",
        rb"(?:^|\r)====== [^\n]+ ======|(?:^|\r)[A-Z][A-Z_]+(?: \([^)\n]*\))?: [\d.]+ requests per second",
        "collect with redis-benchmark --csv",
    ),
    (
        "k6's printed summary",
        rb"^ +(?:\xe2\x9c\x93 |\xe2\x9c\x97 )?(?:http_req_duration|iteration_duration)\.{2,}:",
        "collect with k6 run --summary-export FILE",
    ),
    (
        "locust's printed table",
        rb"^Type +Name +# reqs +# fails",
        "collect with locust --csv PREFIX",
    ),
    (
        "vegeta's printed report",
        rb"^Requests +\[total, rate, throughput\]",
        "collect with vegeta report -type json, or vegeta encode -to csv",
    ),
    (
        "JMeter's printed summary",
        rb"^(?:Generate )?[sS]ummar\S+ [=+] +\d+ in ",
        "collect with jmeter -l FILE",
    ),
    (
        "pytest-benchmark's printed table",
        rb"^-+ benchmark[^\n]*: \d+ tests -+",
        "collect with pytest --benchmark-json FILE",
    ),
    (
        "pyperf's printed results",
        rb"^(?:\S[^\n]*: )?Mean \+- std dev: [\d.]+ \S+ \+- [\d.]+ \S+",
        "collect with pyperf ... -o FILE",
    ),
    (
        "a Markdown table",
        rb"\A\s*\|[^\n]*\|[ \r]*\n\|[ :|-]+\|[ \r]*$",
        "have the tool write JSON or CSV, such as hyperfine --export-json FILE",
    ),
    # benchmarks
    ("STREAM", rb"^Function +Best Rate MB/s +Avg time", _DECLARE),
    ("UnixBench", rb"BYTE UNIX Benchmarks \(Version", _DECLARE),
    ("HPL (Linpack)", rb"^T/V +N +NB +P +Q +Time +Gflops", _DECLARE),
    ("CoreMark", rb"^CoreMark Size +:", _DECLARE),
    ("openssl speed", rb"^Doing \S.* for \d+s on \d+ ", "declare its lines of openssl speed -mr"),
    ("the 7-Zip benchmark", rb"^7-Zip[^\n]* Copyright \(c\)(?s:.*?)^RAM size: +\d+ MB", _DECLARE),
    ("perf bench", rb"^# Running '?[\w-]+/[\w-]+'? benchmark", _DECLARE),
    ("hackbench", rb"^Running in (?:process|threaded) mode with \d+ groups using", _DECLARE),
    (
        "cyclictest",
        rb"^T: *\d+ \( *\d+\) P: *\d+ I: *\d+ C: *\d+ Min:|^# /dev/cpu_dma_latency set to|\"rt_test_version:?\"",
        "declare its lines, or the JSON of cyclictest --json FILE",
    ),
    ("schbench", rb"^(?:Wakeup )?Latenc(?:y|ies) percentiles \(usec\)", _DECLARE),
    ("stressapptest", rb"^Stats: (?:Starting SAT|Found )", _DECLARE),
    ("IOzone", rb"^\s*Iozone: Performance Test of File I/O", _DECLARE),
    (
        "bonnie++",
        rb"^Version +[\d.]+ +-+Sequential Output-+|^\d\.\d\d,\d\.\d\d[a-z]?,[^,\n]+,\d+,\d+,",
        "declare the columns of its CSV, which bonnie++ -q prints",
    ),
    ("dbench or tbench", rb"^dbench version \d|^ Operation +Count +AvgLat +MaxLat", _DECLARE),
    (
        "ioping",
        rb"^--- .+ ioping statistics ---$|^\d+ [KMG]iB <<< |\A\d+(?: \d+){8,}\s*\Z",
        "declare the columns of ioping -p",
    ),
    ("fs_mark", rb"^# +fs_mark +-", "declare the columns below its heading"),
    ("PostMark", rb"^PostMark v\d", _DECLARE),
    ("mbw", rb"\tMethod: \w+\tElapsed: [\d.]+\tMiB: ", _DECLARE),
    ("IOR", rb"^IOR-\d+\.\d", _DECLARE),
    ("mdtest", rb"^-- started at .*|^mdtest-\d+\.\d", _DECLARE),
    ("Vdbench", rb"\bVdbench (?:distribution|summary)", "declare the columns of its flatfile.html"),
    ("DiskSpd", rb"^Results for timespan #\d", _DECLARE),
    # networks and load generators
    ("qperf", rb"^(?:tcp|udp|sctp|rc|uc|ud)_(?:bw|lat):$", _DECLARE),
    ("sockperf", rb"^sockperf: == version", _DECLARE),
    ("fping", rb"^\S+ +: (?:xmt/rcv/%loss = |\[\d+\], )", _DECLARE),
    ("ping", rb"^PING \S+ .*bytes of data|^\d+ packets transmitted, \d+ received", _DECLARE),
    (
        "hey or oha",
        rb"^Summary:\n +(?:Total:|Success rate:)",
        "collect with oha --output-format json, or hey -o csv, which virtperf compare reads as tables",
    ),
    (
        "bombardier",
        rb"^Statistics +Avg +Stdev +Max\s*$",
        "collect with bombardier --print r --format json, which virtperf compare reads",
    ),
    (
        "autocannon",
        rb"^Running \d+s test @ [^\n]*\n\d+ connections",
        "collect with autocannon --json, which virtperf compare reads",
    ),
    ("h2load", rb"^finished in [\d.]+\S*, [\d.]+ req/s", _DECLARE),
    (
        "siege",
        rb'^Transactions:\s+\d+|^\{\s*"transactions":\s+\d+,$',
        "collect with siege -q -j > FILE, one complete run a file, which virtperf compare reads",
    ),
    ("httperf", rb"^httperf --", _DECLARE),
    (
        "Gatling",
        rb"^---- Global Information -+|^RUN\t\S+\t",
        "declare its lines, or its stats.json",
    ),
    (
        "Artillery",
        rb'"aggregate"\s*:\s*\{\s*"(?:counters|rates|scenariosCreated)"',
        "declare its JSON",
    ),
    # monitors
    ("atop's screen", rb"^ATOP - ", "declare the lines of atop -P LABEL"),
    (
        "atop -P",
        rb"^(?:(?:RESET|SEP)\r?$|(?:CPU|cpu|CPL|MEM|SWP|DSK|NET|PRG) \S+ \d{9,10} \d{4}/)",
        _DECLARE,
    ),
    ("ps aux", rb"^USER +PID +%CPU +%MEM +VSZ", "collect with ps -eLf, or pidstat SECONDS COUNT"),
    (
        "ifstat",
        rb"^ *(?:HH:MM:SS +)?KB/s in +KB/s out",
        "collect with sar -n DEV, or declare its columns",
    ),
    ("nicstat", rb"^ +Time +Int +rKB/s", "collect with sar -n DEV, or declare its columns"),
    ("iotop", rb"^Total DISK READ", "collect with pidstat -d SECONDS COUNT"),
    (
        "systemd-cgtop",
        rb"^(?:Control Group|CGroup) +(?:Tasks|Proc\+?) +%CPU",
        "collect the group's cpu.stat",
    ),
    (
        "pmval of Performance Co-Pilot",
        rb"^metric: +[\w.]+\nhost: ",
        "collect with pcp dstat, or declare pmrep -o csv",
    ),
    ("perf report", rb"^# Samples: \S+ +of event", "collect counts with perf stat -x,"),
    ("strace -c", rb"^% time +seconds +usecs/call", _DECLARE),
    ("InfluxDB's line protocol", rb"\A\w+(?:,[\w.]+=[^, \n]+)* [\w.]+=\S+ \d{19}$", _DECLARE),
    # lists of guests and containers without measurements
    (
        "a list of containers (docker ps)",
        rb"^CONTAINER ID +IMAGE +COMMAND",
        "collect with docker stats --format json",
    ),
    (
        "a list of pods (kubectl get)",
        rb"^(?:NAMESPACE +)?NAME +READY +STATUS +RESTARTS",
        "collect with kubectl top pod",
    ),
    ("crictl stats", rb"^CONTAINER +(?:NAME +)?CPU % +MEM +DISK", _DECLARE),
    ("a list of guests (virsh list)", rb"^ Id +Name +State", "collect with virsh domstats"),
    ("a list of guests (xl list)", rb"^Name +ID +Mem VCPUs\s+State", "collect with xentop -b"),
    (
        "lscpu",
        rb"^Architecture: +\S+\n(?:[^\n]*\n){0,8}CPU\(s\):",
        "it has no measurement: state it in run.yaml as machine",
    ),
    ("Oracle's AWR report", rb"AWR (?:RPT|Report|Instance)|WORKLOAD REPOSITORY report", ""),
    (
        "an HTML page",
        rb"\A\s*<(?:!DOCTYPE html|html)\b",
        "keep the tool's own file, not a page generated from it",
    ),
    (
        "numbers without names",
        rb"\A(?:[+-]?\d+(?:[.,]\d+)?(?:[eE][+-]?\d+)?[ \t]*\r?\n){3,}",
        "write a name with its unit into the first line, such as latency_ms, and read it as a table",
    ),
    (
        "an error message instead of results",
        rb"\A(?P<said>(?:\S{1,40}: )?(?i:error|fatal|panic|usage|traceback|failed)\b(?=[:!.\s])[^\n]*|"
        rb"[^\n]{0,120}(?:command not found|No such file or directory|Permission denied|"
        rb"Connection refused|Cannot connect to|[Cc]ould not (?:connect|establish)|unable to connect|"
        rb"establish control: are you sure)[^\n]*)",
        "correct the command or what it needs, and collect again",
    ),
)
_PATTERNS = tuple(
    (name, re.compile(pattern, re.M), remedy) for name, pattern, remedy in _UNSUPPORTED
)


UTF16_PROBLEM = "the file is encoded as UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE"
"""Problem and remedy of a file in UTF-16."""


def is_utf16(head: bytes) -> bool:
    """Whether a file's head is UTF-16 text, with a byte order mark or mostly Latin."""
    return head[:2] in (b"\xff\xfe", b"\xfe\xff") or (
        head[1::2].count(0) > len(head) // 4 and head[::2].count(0) == 0
    )


def identify_unsupported(head: bytes) -> tuple[str, str]:
    """Identify an unsupported file from its first 8 KiB: problem and remedy, or "" twice."""
    if not head.strip():
        return (
            "the file is empty",
            "collect the run again; the tool may have written to standard error",
        )
    compression = next(
        (name for magic, name in _COMPRESSION_MAGIC.items() if head.startswith(magic)), None
    )
    if compression:
        return (
            f"the file is compressed with {compression}",
            "decompress it, or compress it with gzip, xz or zstd",
        )
    if is_utf16(head):
        return UTF16_PROBLEM
    for name, pattern, remedy in _PATTERNS:
        match = pattern.search(head)
        if match:
            said = (match.groupdict().get("said") or b"").decode("utf-8", "replace").strip()
            if said:
                return f"{NAMED_TOOL} {name}: {said[:MAX_SHOWN]}", remedy
            return f"{NAMED_TOOL} {name}, which has no reader", remedy
    binary_remedy = (
        "keep the tool's text output; for z/VM monitor data (MONWRITE), the listing of the "
        "Performance Toolkit"
    )
    return ("the file is binary", binary_remedy) if b"\0" in head else ("", "")
