"""Which formats there are, and which of them a file is, or what a file is that none of them
reads.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache
from importlib.metadata import entry_points
from typing import BinaryIO, TypeGuard

from rawperf.base import Format, Reading, Streaming
from rawperf.core.errors import FormatError
from rawperf.declared.read import DeclaredFormat, presets
from rawperf.packed import unpacked, unpacked_head
from rawperf.pieces import whole
from rawperf.text import uncoloured
from rawperf.undeclared import csv_columns

HEAD_BYTES = 8192
MIN_CERTAINTY = 0.5
DECLARE_REMEDY = "a few lines declare its columns or lines, see docs/formats/declared.md"
MAX_SHOWN = 160
"""Characters of a heading in a message."""
_PACKED = {
    b"\x1f\x8b": "gzip",
    b"PK\3\4": "zip",
    b"7z\xbc\xaf\x27\x1c": "7z",
    b"\x1f\x9d": "compress",
}
# What no format reads: its name, what shows it in the first 8 KiB, and what helps.
_SADF = "print it by sadf -j"
_OUTPUTS = (
    (
        "sadf -d or -p",
        rb"\A# hostname;interval;|\A[^\n;\t]*[;\t]-?\d+[;\t]\d{4}-\d\d-\d\d [\d:]+ \w+[;\t]",
        _SADF,
    ),
    ("sadf -x or -g", rb"\A<\?xml[^>]*>\s*(?:<!DOCTYPE svg|<sysstat\b)", _SADF),
    (
        "mpstat, pidstat or iostat -o JSON",
        rb'\A\s*\{\s*"sysstat"\s*:',
        "collect the text that they print by default",
    ),
    ("cifsiostat", rb"\A\s*Linux [^\n]*\n(?s:.*)^Filesystem:? .*(?:rops/s|fo/s)", ""),
    ("tapestat", rb"\A\s*Linux [^\n]*\n(?s:.*)^Tape:? ", ""),
    (
        "sysstat",
        rb"\A\s*Linux \S+ +\(",
        "there is no table in its first lines: collect the run again",
    ),
    ("vmstat -d", rb"\Adisk-? +-+reads-+", "collect by iostat -x, or vmstat without -d"),
    ("vmstat -s", rb"\A\s*\d+ K total memory\n", "collect by vmstat SECONDS COUNT"),
    ("fio --minimal of another version", rb"^[25];fio-", "collect by fio --output-format=json"),
    (
        "perf stat's text for people",
        rb"^ Performance counter stats for ",
        "collect by perf stat -x,",
    ),
    ("perf.data", rb"\APERFILE2", "print it by perf stat or perf script"),
    (
        "a part of uperf's output",
        rb"^(?:Txn\d+|Total) +[\d.]+[KMGT]?B? +/|^timestamp_ms:\S+ name:",
        "keep all of it",
    ),
    (
        "iperf",
        rb"^\[ *(?:\d+|ID|SUM)\] +(?:local|Interval|[\d.]+-)",
        "collect by iperf3 -J",
    ),
    (
        "top",
        rb"^top - \d\d:\d\d:\d\d up |^ *PID USER +PR +NI +VIRT",
        "collect by pidstat SECONDS COUNT",
    ),
    ("free", rb"^ +total +used +free +shared", "collect by sar -r, vmstat, or cat /proc/meminfo"),
    (
        "Solaris' sar",
        rb"\A\s*SunOS \S+ [\d.]+ ",
        "declare its lines, see docs/formats/declared.md",
    ),
    (
        "macOS' or a BSD's sar",
        rb"\A\s*(?:Darwin|FreeBSD|NetBSD|OpenBSD)\b",
        "declare its lines, see docs/formats/declared.md",
    ),
    (
        "k6's points (--out json or csv)",
        rb'\A\{"type":"(?:Metric|Point)","|\Ametric_name,timestamp,metric_value,',
        "collect by k6 run --summary-export, or declare them with names and value",
    ),
    (
        "the answer of aws cloudwatch get-metric-data",
        rb'"MetricDataResults"\s*:',
        "collect by aws cloudwatch get-metric-statistics, a file a metric",
    ),
    (
        "the answer of a Prometheus query",
        rb'"resultType"\s*:\s*"(?:scalar|string|vector|matrix)"|\A\{"status"\s*:\s*"error"',
        "keep the whole answer to query_range, or to query with a vector",
    ),
    (
        "a log of fio under another name",
        rb"\A\d+, \d+, [012], \d+(?:, \w+)*\n\d+, \d+, [012], \d+",
        "call it as fio does, NAME_bw.1.log, NAME_iops.1.log, NAME_clat.1.log: only that says what it holds",
    ),
    (
        "turbostat's rows of every processor",
        rb"^(?:usec\t|Time_Of_Day_Seconds\t)*(?:Package\t|Die\t|Node\t|Core\t)*CPU\tAvg_MHz\t",
        "collect by turbostat --Summary",
    ),
    (
        "collectl's table for people",
        rb"^#<-+CPU",
        "collect by collectl -P",
    ),
    (
        "dstat's table for people",
        rb"^-+total-(?:cpu-)?usage-+ ",
        "collect by dstat -t --output FILE",
    ),
    (
        "kvm_stat's table for people",
        rb"^ *Event +Total +%Total +CurAvg",
        "collect by kvm_stat -c -l, which prints columns",
    ),
    (
        "Windows' performance counters (typeperf, relog)",
        rb'\A"\(PDH-CSV 4\.0\)',
        "declare its columns with melt, see docs/formats/declared.md",
    ),
    (
        "docker stats' stream of a terminal",
        rb"^CONTAINER +CPU %",
        "collect by docker stats --format json",
    ),
    ("virsh dominfo", rb"^Id: +[\d-]+\nName: +", "collect by virsh domstats"),
    ("virt-top's screen", rb"^virt-top \d\d:\d\d:\d\d", "collect by virt-top --csv FILE"),
    (
        "HdrHistogram percentiles",
        rb"^ *Value +Percentile +TotalCount +1/\(1-Percentile\)",
        "keep all that wrk2 printed above it, or declare its lines",
    ),
    ("Oracle's AWR report", rb"AWR (?:RPT|Report|Instance)|WORKLOAD REPOSITORY report", ""),
    (
        "an HTML page",
        rb"\A\s*<(?:!DOCTYPE html|html)\b",
        "keep the tool's own file, not the page made of it",
    ),
)
_PATTERNS = tuple((name, re.compile(pattern, re.M), remedy) for name, pattern, remedy in _OUTPUTS)


@cache
def all_formats() -> dict[str, Format]:
    """Every format by name, in alphabetical order: programmed ones, and declared ones (`presets`).

    Raises `StudyError` for a declaration that is wrong, or named like another format.
    """
    found: dict[str, Format] = {point.name: point.load() for point in entry_points(group="rawperf")}
    for preset in presets():
        if preset.name in found:
            raise preset.error("there is a format of this name already", "name")
        found[preset.name] = preset
    return dict(sorted(found.items()))


def by_name(fmt: Format) -> TypeGuard[DeclaredFormat]:
    """Whether a format's files are told by their names too, since others have the same content."""
    match = fmt.declaration.match if isinstance(fmt, DeclaredFormat) else None
    return match is not None and bool(match.file)


def get_format(name: str) -> Format:
    """The format of that name; raises `FormatError` listing the known ones."""
    formats = all_formats()
    if name not in formats:
        remedy = "install the package that brings the format, or correct the name."
        raise FormatError(
            f"no format is called {name!r}", expected=f"one of {', '.join(formats)}", remedy=remedy
        )
    return formats[name]


def ranking(data: bytes) -> list[tuple[float, str]]:
    """How sure each format is of the file's beginning, the surest first; without those that are
    sure of nothing.

    A byte order mark and the colours of a terminal say nothing about a format.
    """
    head = head_of(data)
    scores = ((fmt.sniff(head), name) for name, fmt in all_formats().items() if not by_name(fmt))
    return sorted(((score, name) for score, name in scores if score > 0), reverse=True)


def sniff(data: bytes, *, file: str = "<bytes>") -> Format:
    """The format that is surest of the file's beginning; raises `FormatError` when none is at least
    half sure.
    """
    scores = ranking(data)
    if not scores or scores[0][0] < MIN_CERTAINTY:
        what, help_ = _unread(head_of(data))
        nearest = f"if it is {scores[0][1]}, say so in run.yaml or by --format; " if scores else ""
        problem, found = "no known format recognises this file", None
        if what:
            problem += f": {what}"
        else:
            found = _shape(head_of(data))
            columns = csv_columns(head_of(data))
            if columns is not None:
                problem += ": it looks like a CSV that is not declared"
                found = ", ".join(columns.names)[:MAX_SHOWN]
                help_ = (
                    f"put {columns.declaration()} into mine.yaml and give --format mine.yaml; "
                    "docs/formats/declared.md explains metrics and units"
                )
        raise FormatError(
            problem, file=file, found=found, remedy=f"{help_ or nearest + DECLARE_REMEDY}."
        )
    return all_formats()[scores[0][1]]


def _unread(head: bytes) -> tuple[str, str]:
    """What a file's first 8 KiB show it to be, and what helps; both "" where they show nothing."""
    if not head.strip():
        return "it is empty", "collect the run again; the tool may have printed to its error output"
    packed = next((name for magic, name in _PACKED.items() if head.startswith(magic)), None)
    if packed:
        return f"it is compressed by {packed}", "unpack it first, or pack it by gzip, xz or zstd"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or (
        head[1::2].count(0) > len(head) // 4 and head[::2].count(0) == 0
    ):
        return "it is text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE"
    for name, pattern, remedy in _PATTERNS:
        if pattern.search(head):
            return f"it looks like {name}, which has no reader", remedy
    binary = (
        "keep the tool's text output; of z/VM's monitor data (MONWRITE), the listing that the "
        "Performance Toolkit makes"
    )
    return ("it is binary", binary) if b"\0" in head else ("", "")


def _shape(head: bytes) -> str:
    """What a text looks like, without its content, which may be nobody else's business."""
    first = head.split(b"\n")[0].decode("utf-8", "replace")
    return f"a first line of {len(first)} characters, {len(first.split())} words"


def head_of(data: bytes) -> bytes:
    """The beginning of a file that formats are asked about: unpacked, without byte order mark and
    colours.
    """
    return uncoloured(unpacked_head(data, HEAD_BYTES).removeprefix(codecs.BOM_UTF8))


def blocks_of(
    fmt: Format, stream: BinaryIO, *, file: str = "<bytes>", coded: bool = False
) -> Iterator[Reading]:
    """Readings of consecutive parts of a file, packed or not; one of the whole file where the
    format does not stream.

    The stream need not be seekable. With `coded`, texts may be categories.

    Raises `FormatError`: what the format raises; a packed file that is damaged or unpacks to too
    much; a file that is too large for a format that does not stream.
    """
    plain = unpacked(stream, file=file)
    if coded and isinstance(fmt, DeclaredFormat):
        yield from fmt.coded_blocks(plain, file=file)
        return
    if isinstance(fmt, Streaming):
        yield from fmt.blocks(plain, file=file)
        return
    yield fmt.read(whole(plain, fmt.name, file), file=file)
