"""The result files of benchmark tools: how they are recognised, and their parsers.

A parser is imported when a file of its tool is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

CRITERION_COLUMNS = (
    "group",
    "function",
    "value",
    "throughput_num",
    "throughput_type",
    "sample_measured_value",
    "unit",
    "iteration_count",
)
GOOGLE_BENCHMARK_HEADING = "name,iterations,real_time,cpu_time,time_unit,"
MEMTIER_HEADING = r"^Type {2,}Ops/sec {2,}"
PGBENCH_TRANSACTION = (
    r"\d+ \d+ (?:\d+|failed|skipped|serialization|deadlock) \d+ \d{9,11} \d{1,6}(?: \d+)*"
)
PGBENCH_INTERVAL = r"\d{9,11}(?: \d+){5,16}"
REDIS_BENCHMARK_HEADING = (
    r'\s*"?test"?,"?rps"?(?:,"?(?:avg|min|max|p\d+(?:\.\d+)?)_latency_ms"?)*\s*[\r\n]'
)
_PGBENCH_LOG = rf"(?:{PGBENCH_TRANSACTION}\r?\n){{2,}}"


@dataclass(frozen=True)
class ResultFormat:
    """The result file of a benchmark tool.

    `recognise` decides by the first 8 KiB whether a file is of this format; `parser` is a function
    of this package, ``module:function``, that adds the content of a file to a `ResultBuilder`.
    `note` is a warning for each file, such as that the format was written after the tool's source only.
    """

    name: str
    title: str
    recognise: Callable[[bytes], bool]
    parser: str
    note: str = ""


def _starts(start: str, *patterns: str) -> Callable[[bytes], bool]:
    """Whether a pattern matches at the start of a head, and all others occur in it."""
    compiled, contains = re.compile(start.encode()), _contains(*patterns)
    return lambda head: compiled.match(head) is not None and contains(head)


def _contains(*patterns: str) -> Callable[[bytes], bool]:
    """Whether all patterns occur in a head; ``^`` and ``$`` match at lines."""
    compiled = [re.compile(pattern.encode(), re.MULTILINE) for pattern in patterns]
    return lambda head: all(pattern.search(head) for pattern in compiled)


RESULT_FORMATS = (
    ResultFormat(
        "hyperfine",
        "hyperfine --export-json",
        _starts(r'\s*\{\s*"results"\s*:\s*\[\s*\{\s*"command"\s*:'),
        "hyperfine:parse_hyperfine_json",
    ),
    ResultFormat(
        "hyperfine-csv",
        "hyperfine --export-csv",
        _starts(r"\s*command,mean,stddev,"),
        "hyperfine:parse_hyperfine_csv",
    ),
    ResultFormat(
        "go-bench",
        "go test -bench",
        _contains(
            r"^Benchmark\S*\s+\d+\s+[\d.e+-]+ \S|\A(?:goos|goarch|pkg): \S"
            r"|^(?:goos|pkg): \S+\r?\n(?:goarch|cpu): "
            r'|\A\{"(?:Time|ImportPath|Action)":"[^\n]*"(?:Action|Package)":"',
            r"\A(?!(?s:.*)(?:^ +│ |^,\S+,CI,))",  # not benchstat
        ),
        "go_bench:parse_go_bench",
    ),
    ResultFormat(
        "google-benchmark",
        "Google Benchmark, JSON",
        _starts(r'\s*\{\s*"context"\s*:\s*\{(?s:.*?)"(?:num_cpus|executable|library_build_type)"'),
        "google_benchmark:parse_google_benchmark_json",
    ),
    ResultFormat(
        "google-benchmark-csv",
        "Google Benchmark, CSV",
        _contains(f"^{GOOGLE_BENCHMARK_HEADING}"),
        "google_benchmark:parse_google_benchmark_csv",
    ),
    ResultFormat(
        "pytest-benchmark",
        "pytest-benchmark --benchmark-json",
        _starts(r'\s*\{\s*"machine_info"\s*:\s*\{|\s*\{\s*"benchmarks"\s*:\s*\[\s*\{\s*"group"'),
        "pytest_benchmark:parse_pytest_benchmark",
    ),
    ResultFormat(
        "pyperf",
        "pyperf -o",
        _starts(r'\s*\{\s*"benchmarks"\s*:\s*\[\s*\{\s*"(?:metadata|runs)"\s*:'),
        "pyperf:parse_pyperf",
    ),
    ResultFormat(
        "asv",
        "asv, results of a commit",
        _starts(r'\s*\{\s*"commit_hash"\s*:', r'"result_columns"\s*:'),
        "asv:parse_asv",
    ),
    ResultFormat(
        "jmh",
        "JMH -rf json",
        _starts(r'\s*\[\s*\{\s*"jmhVersion"|\s*\[\s*\{\s*"benchmark"\s*:(?s:.*)"primaryMetric"'),
        "jmh:parse_jmh_json",
    ),
    ResultFormat(
        "jmh-csv",
        "JMH -rf csv or scsv",
        _starts(r'\s*"?Benchmark"?[,;]"?Mode"?[,;]"?Threads"?[,;]"?Samples"?[,;]"?Score"?[,;]'),
        "jmh:parse_jmh_csv",
    ),
    ResultFormat(
        "criterion-estimates",
        "Criterion.rs, estimates.json",
        _starts(r'\s*\{\s*"(?:mean|median)"\s*:\s*\{\s*"confidence_interval"\s*:'),
        "criterion:parse_criterion_estimates",
    ),
    ResultFormat(
        "criterion-sample",
        "Criterion.rs, sample.json",
        _starts(r'\s*\{\s*"sampling_mode"\s*:\s*"(?:Linear|Flat)"\s*,\s*"iters"\s*:'),
        "criterion:parse_criterion_sample",
    ),
    ResultFormat(
        "criterion-raw",
        "Criterion.rs, raw.csv",
        _starts(rf"\s*{','.join(CRITERION_COLUMNS)}"),
        "criterion:parse_criterion_raw",
    ),
    ResultFormat(
        "cargo-criterion",
        "cargo criterion --message-format=json",
        _starts(r'\{"reason":"(?:benchmark|group)-complete"'),
        "criterion:parse_criterion_messages",
    ),
    ResultFormat(
        "redis-benchmark",
        "redis-benchmark --csv",
        _starts(rf'{REDIS_BENCHMARK_HEADING}|(?:\s*"[A-Z][^"\n]*","\d+\.\d+"\r?\n)+'),
        "redis_benchmark:parse_redis_benchmark",
    ),
    ResultFormat("pgbench-log", "pgbench -l", _starts(_PGBENCH_LOG), "pgbench:parse_pgbench_log"),
    ResultFormat(
        "pgbench-aggregate",
        "pgbench -l --aggregate-interval",
        _starts(rf"(?!{_PGBENCH_LOG})(?:{PGBENCH_INTERVAL}\r?\n)+"),
        "pgbench:parse_pgbench_aggregate",
    ),
    ResultFormat(
        "pgbench",
        "pgbench",
        _contains(r"^(?:pgbench \(|starting vacuum|transaction type: )", "number of clients: "),
        "pgbench:parse_pgbench",
    ),
    ResultFormat("ycsb", "YCSB", _contains(r"^\[OVERALL\], ?RunTime\(ms\), "), "ycsb:parse_ycsb"),
    ResultFormat(
        "locust",
        "locust --csv, statistics",
        _starts(r'\s*"?(?:Type|Method)"?,"?Name"?,"?(?:Request Count|# requests)"?,'),
        "locust:parse_locust_stats",
    ),
    ResultFormat(
        "locust-history",
        "locust --csv, history",
        _starts(r'\s*"?Timestamp"?,"?User Count"?,"?Type"?,"?Name"?,'),
        "locust:parse_locust_history",
    ),
    ResultFormat(
        "locust-failures",
        "locust --csv, failures",
        _starts(r'\s*"?(?:Method|Type)"?,"?Name"?,"?Error"?,"?Occurrences"?'),
        "locust:parse_locust_failures",
    ),
    ResultFormat(
        "memtier-json",
        "memtier_benchmark --json-out-file",
        _starts(r'\s*\{\s*"configuration"\s*:\s*\{\s*"server"'),
        "memtier:parse_memtier_json",
    ),
    ResultFormat(
        "memtier", "memtier_benchmark", _contains(MEMTIER_HEADING), "memtier:parse_memtier"
    ),
    ResultFormat(
        "k6-summary",
        "k6 --summary-export, or handleSummary",
        _starts(
            r'\s*\{(?:(?s:.*)"metrics"\s*:\s*\{|\s*"(?:root_group|options|state)"\s*:)',
            r'"(?:iteration_duration|iterations|http_reqs|http_req_duration|vus_max|data_received)'
            r'(?:\{[^"]*\})?"\s*:|"summaryTrendStats"|"root_group"',
        ),
        "k6:parse_k6",
    ),
    ResultFormat(
        "oha",
        "oha --output-format json",
        _starts(r'\s*\{\s*"summary"\s*:\s*\{\s*"successRate"\s*:'),
        "load_generators:parse_oha",
    ),
    ResultFormat(
        "bombardier",
        "bombardier --format json",
        _starts(r'\s*\{\s*"spec"\s*:\s*\{\s*"numberOfConnections"\s*:'),
        "load_generators:parse_bombardier",
    ),
    ResultFormat(
        "autocannon",
        "autocannon --json",
        _starts(
            r'\s*\{\s*(?:"title"\s*:[^\n]*?,\s*)?"url"\s*:', r'"pipelining"\s*:', r'"non2xx"\s*:'
        ),
        "load_generators:parse_autocannon",
    ),
    ResultFormat(
        "gatling",
        "Gatling, stats.json",
        _starts(
            r'\s*\{\s*"(?:type|name)"\s*:',
            r'"numberOfRequests"\s*:\s*\{\s*"total"\s*:',
            r'"meanResponseTime"\s*:',
        ),
        "load_generators:parse_gatling",
    ),
    ResultFormat(
        "netperf",
        "netperf",
        _contains(r"^(?:MIGRATED )?[A-Z]+[A-Za-z /-]* TEST (?:from|to) [^\n]*(?:port \d+|AF_INET)"),
        "netperf:parse_netperf",
    ),
    ResultFormat(
        "hammerdb",
        "HammerDB, log",
        _contains(
            r"TEST RESULT : System achieved"
            r"|^Vuser 1:(?:Beginning rampup time|Rampup|Completed \d+ query set)"
            r"|^(?:HammerDB|Hammerdb Log @|HammerDB CLI)"
        ),
        "hammerdb:parse_hammerdb",
        note="the reader of HammerDB was written after its source and manual, and is not verified "
        "on output of the tool recorded here",
    ),
    ResultFormat(
        "phoronix",
        "Phoronix Test Suite, composite.xml",
        _contains(r"<PhoronixTestSuite>\s*<(?:Generated|System|Result)\b"),
        "phoronix:parse_phoronix",
    ),
    ResultFormat(
        "perf-kvm-stat",
        "perf kvm stat report",
        _contains(r"^ *[A-Za-z][\w /-]*? +Samples +Samples% +Time% "),
        "perf_kvm:parse_perf_kvm",
        note="the reader of perf kvm stat was written after its source, and is not verified on "
        "output of the tool recorded here",
    ),
)
"""All known formats of benchmark tools, in the order of recognition."""
