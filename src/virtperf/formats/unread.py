"""What a file is that no format reads, so that an error can name it and say what helps."""

from __future__ import annotations

import re

_PACKED = {b"\x1f\x8b": "gzip", b"PK\3\4": "zip", b"7z\xbc\xaf\x27\x1c": "7z", b"\x1f\x9d": "compress"}
_SADF = "print it by sadf -j"
_OUTPUTS = (
    ("sadf -d or -p", rb"\A# hostname;interval;|\A[^\n;\t]*[;\t]-?\d+[;\t]\d{4}-\d\d-\d\d [\d:]+ \w+[;\t]", _SADF),
    ("sadf -x or -g", rb"\A<\?xml[^>]*>\s*(?:<!DOCTYPE svg|<sysstat\b)", _SADF),
    ("mpstat, pidstat or iostat -o JSON", rb'\A\s*\{\s*"sysstat"\s*:', "collect the text that they print by default"),
    ("cifsiostat", rb"\A\s*Linux [^\n]*\n(?s:.*)^Filesystem:? .*(?:rops/s|fo/s)", ""),
    ("tapestat", rb"\A\s*Linux [^\n]*\n(?s:.*)^Tape:? ", ""),
    ("sysstat", rb"\A\s*Linux \S+ +\(", "there is no table in its first lines: collect the run again"),
    ("vmstat -d", rb"\Adisk-? +-+reads-+", "collect by iostat -x, or vmstat without -d"),
    ("vmstat -s", rb"\A\s*\d+ K total memory\n", "collect by vmstat SECONDS COUNT"),
    ("fio --minimal of another version", rb"^[25];fio-", "collect by fio --output-format=json"),
    ("perf stat's text for people", rb"^ Performance counter stats for ", "collect by perf stat -x,"),
    ("perf.data", rb"\APERFILE2", "print it by perf stat or perf script"),
    ("a part of uperf's output", rb"^(?:Txn\d+|Total) +[\d.]+[KMGT]?B? +/|^timestamp_ms:\S+ name:", "keep all of it"),
    ("iperf", rb"^\[ *(?:\d+|ID|SUM)\] +(?:local|Interval|[\d.]+-)", "iperf3 --json can be declared"),
    ("Oracle's AWR report", rb"AWR (?:RPT|Report|Instance)|WORKLOAD REPOSITORY report", ""),
    ("an HTML page", rb"\A\s*<(?:!DOCTYPE html|html)\b", "keep the tool's own file, not the page made of it"),
)  # fmt: skip
_PATTERNS = tuple((name, re.compile(pattern, re.M), remedy) for name, pattern, remedy in _OUTPUTS)


def unread(head: bytes) -> tuple[str, str]:
    """What a file's first 8 KiB show it to be, and what helps; both "" where they show nothing."""
    if not head.strip():
        return "it is empty", "collect the run again; the tool may have printed to its error output"
    packed = next((name for magic, name in _PACKED.items() if head.startswith(magic)), None)
    if packed:
        return f"it is compressed by {packed}", "unpack it first, or pack it by gzip, xz or zstd"
    if head[:2] in (b"\xff\xfe", b"\xfe\xff") or (head[1::2].count(0) > len(head) // 4 and head[::2].count(0) == 0):
        return "it is text in UTF-16", "convert it: iconv -f UTF-16 -t UTF-8 FILE"
    for name, pattern, remedy in _PATTERNS:
        if pattern.search(head):
            return f"it looks like {name}, which has no reader", remedy
    binary = (
        "keep the tool's text output; of z/VM's monitor data (MONWRITE), the listing that the Performance Toolkit makes"
    )
    return ("it is binary", binary) if b"\0" in head else ("", "")
