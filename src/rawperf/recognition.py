"""Recognition of the package's formats by the head of a file.

Readers are imported when a file of theirs is read: importing all of them takes longer than reading
a small file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

Sniff = Callable[[bytes], float]
"""Certainty that the head of a file is of a format, from 0 (not) to 1 (certainly)."""

PAGE_BEGINS = re.compile(r"^1?[ ]{0,3}(FCX\d{3})(?=[ \n]|\Z)(.*)$", re.MULTILINE)
"""First line of a page of the Performance Toolkit: report id at the left edge, or after carriage
control 1 (new page)."""
INSERTED_TIME = re.compile(rb"(?m)^time: \d+(?:\.\d+)?\r?$")
"""Line that the monitors of MMTests insert between tables of sysstat, whose rows have times of
their own."""


class Recognised:
    """Mixin of this package's formats, which are recognised by `SNIFFS`."""

    name: str

    def sniff(self, head: bytes) -> float:
        """Certainty that the first 8 KiB are of this format."""
        return SNIFFS[self.name](head)


def _by_lines(*patterns: tuple[bytes, float]) -> Sniff:
    """Certainty of the first pattern that occurs; ``^`` and ``$`` match at lines."""
    compiled = [(re.compile(pattern, re.MULTILINE), certainty) for pattern, certainty in patterns]

    def sniff(head: bytes) -> float:
        return next((certainty for pattern, certainty in compiled if pattern.search(head)), 0.0)

    return sniff


_SYSTEM = re.compile(rb"\s*Linux \S+ +\(")
_TIME = rb"^(?:#?[ \t]*Time|#? *\d{9,10}|\d\d:\d\d:\d\d(?: [AaPp]\.?[Mm]\.?)?) +"
# The last pattern is for times such as 09h05m10s, as in some languages.
_SYSSTAT_TOOLS = (
    ("pidstat", re.compile(_TIME + rb"(?:(?:UID|USER) +)?(?:PID|TGID)\b[^\n]*\bCommand\b", re.M)),
    (
        "mpstat",
        re.compile(
            _TIME + rb"(?:CPU|NODE)\b(?=[^\n]*(?:%iowait +%irq|intr/s|CORE| \d+/s|[A-Z]+/s))", re.M
        ),
    ),
    (
        "iostat",
        re.compile(
            rb"^avg-cpu: +%|^Device:? .*(?:tps|r/s|rrqm/s)|^ +(?:tps|r/s) .*\bDevice\b", re.M
        ),
    ),
    ("cifsiostat", re.compile(rb"^(?:Filesystem:?|[ ]+r?\w*B/s) .*(?:rops/s|fo/s)", re.M)),
    ("tapestat", re.compile(rb"^Tape:? +r/s", re.M)),
    ("sar", re.compile(rb"^\d\d:\d\d:\d\d(?: [AaPp]\.?[Mm]\.?)? +\S{0,12}[A-Za-z%/]", re.M)),
    (
        "sar",
        re.compile(
            rb"^(?=[ -~]*[\x80-\xff])[^\n]{0,12}?\d\d?[^\d\n]{1,4}\d\d[^\d\n]{1,4}\d\d\D{0,4} ",
            re.M,
        ),
    ),
)


def _detect_sysstat_tool(head: bytes) -> str:
    """Name of the sysstat tool that printed a file; "" if none did.

    ``sysstat`` stands for a system line without a heading that identifies the tool.
    """
    if not _SYSTEM.match(head):
        return ""
    return next((name for name, pattern in _SYSSTAT_TOOLS if pattern.search(head)), "sysstat")


def _sniff_sysstat(tool: str, head: bytes) -> float:
    found = _detect_sysstat_tool(_without_inserted_times(head) if tool == "mpstat" else head)
    return 0.95 if found == tool else 0.0


def _sniff_sar(head: bytes) -> float:
    """0.95 for sysstat's system line above a heading of sar; 0.2 for the line alone."""
    tool = _detect_sysstat_tool(_without_inserted_times(head))
    return {"sar": 0.95, "sysstat": 0.2}.get(tool, 0.0)


def _without_inserted_times(head: bytes) -> bytes:
    return INSERTED_TIME.sub(b"", head).lstrip(b"\r\n")


# SYSSTAT_MAGIC, then FORMAT_MAGIC of versions 9.1.6 to 12 (0x2170 to 0x217f; sa.h), of machines of
# either byte order.
_SAR_LITTLE, _SAR_BIG = b"\x96\xd5", b"\xd5\x96"


def _sniff_sar_binary(head: bytes) -> float:
    little = head[:2] == _SAR_LITTLE and head[3:4] == b"\x21"
    return 1.0 if little or (head[:2] == _SAR_BIG and head[2:3] == b"\x21") else 0.0


_SADF = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"sysstat"\s*:\s*\{\s*"hosts"')
_SYSSTAT_JSON = re.compile(rb'"date"\s*:\s*"[^"]*"\s*,\s*"statistics"')


def _sniff_sadf(head: bytes) -> float:
    """1 for an object that begins with ``sysstat`` and ``hosts``; 0 for mpstat, pidstat, iostat."""
    return 1.0 if _SADF.match(head) and not _SYSSTAT_JSON.search(head) else 0.0


def _sniff_perfkit(head: bytes) -> float:
    """0.55 if a line begins with a report id, 0.95 if its header follows."""
    first = PAGE_BEGINS.search(head.decode("latin-1").replace("\r\n", "\n"))
    if first is None:
        return 0.0
    header = re.search(r"\bRun\b|\bSER\b|\bInterval\b|Performance Toolkit", first[2])
    return 0.95 if header else 0.55


_NETSTAT_SECTION = re.compile(
    rb"^[ \t]*(?:Ip|Tcp|Udp|TcpExt|Icmp|IpExt|Ip6|Icmp6|Udp6|UdpLite|IcmpMsg):[ \t\r]*$", re.M
)
_NETSTAT_COUNTER = re.compile(
    rb"^[ \t]+\d+ (?:total packets received|active connections? openings|packets received)\b", re.M
)


def _sniff_netstat(head: bytes) -> float:
    """0.95 for a section title with a line specific to netstat, 0.6 for two section titles."""
    sections = len(_NETSTAT_SECTION.findall(head))
    if sections and _NETSTAT_COUNTER.search(head):
        return 0.95
    return 0.6 if sections > 1 else 0.0


_TAG = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*+)([^<>]*)>")
_TAG_NAME = re.compile(rb"<(?:[\w.-]+:)?([A-Za-z_][\w.-]*)")
_SWINGBENCH_ELEMENT = re.compile(
    rb"<(?:[\w.-]+:)?(?:BenchmarkName|TotalCompletedTransactions|TransactionResults|TPSReadings)\b"
)
_SWINGBENCH_ROOT = re.compile(rb'\s*\{\s*"Results"\s*:\s*\{')
_SWINGBENCH_KEY = re.compile(
    rb'swingbench|"(?:TransactionResults|TPSReadings|TotalCompletedTransactions|DMLResults)"'
)


def _begins_xml(head: bytes) -> bool:
    return head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<")


def _sniff_swingbench(head: bytes) -> float:
    """High for a root in SwingBench's namespace, lower for one with the tool's elements."""
    first = _TAG.search(head)
    if first is None or first[1] != b"Results" or not _begins_xml(head):
        return 0.0
    if b"swingbench" in first[2].lower():
        return 0.95
    return 0.8 if _SWINGBENCH_ELEMENT.search(head) else 0.0


def _sniff_swingbench_json(head: bytes) -> float:
    """High for an object ``Results`` that contains SwingBench's own names."""
    head = head.removeprefix(b"\xef\xbb\xbf")
    return 0.95 if _SWINGBENCH_ROOT.match(head) and _SWINGBENCH_KEY.search(head) else 0.0


def _sniff_iwl_xml(head: bytes) -> float:
    """0.6 if the root is that of the mapping in use, 0.95 if a snapshot follows."""
    if not _begins_xml(head) or not (tags := _TAG_NAME.findall(head)):
        return 0.0
    from rawperf.zvm.iwl.mapping import mapping_in_use

    path = mapping_in_use().snapshot
    if tags[0] != path[0].encode():
        return 0.0
    return 0.95 if path[-1].encode() in tags else 0.6


# Other shells' own time: refused by name, since their fields or rounding differ.
_OTHER_SHELLS = (
    ("zsh", re.compile(r"(?:.*\s)?\d+[.,]\d\ds user \d+[.,]\d\ds system \d+% cpu [\d:.,]+ total")),
    (
        "tcsh",
        re.compile(
            r"\d+[.,]\d+u \d+[.,]\d+s \d+:[\d.:,]+\s+[\d.,]+%\s+\d+\+\d+k\s+\d+\+\d+io\s+\d+pf\+\d+w"
        ),
    ),
    ("mksh", re.compile(r"\s*\d+m[\d.]+s real\s+\d+m[\d.]+s user\s+\d+m[\d.]+s system")),
    ("BSD", re.compile(r"\s*[\d.]+ real\s+[\d.]+ user\s+[\d.]+ sys")),
    ("ksh", re.compile(r"(?:real|user|sys)[ \t]+\d+m\d+[.,]\d\ds")),
    ("busybox", re.compile(r"(?:real|user|sys)[ \t]+\d+m \d+[.,]\d\ds")),
)
_sniff_time_block = _by_lines(
    (rb"^[ \t]*real[ \t]+\d+m\d+[.,]\d+s[ \t\r]*\n[ \t]*user[ \t]+\d+m", 0.95),
    (rb"^[ \t]*real[ \t]+\d+[.,]\d+[ \t\r]*\n[ \t]*user[ \t]+\d+[.,]\d+[ \t\r]*$", 0.9),
    (rb"^[ \t]*\d+\.\d\duser \d+\.\d\dsystem [\d:.]+elapsed ", 0.95),
    (rb'^[ \t]*Command being timed: "', 0.95),
)


def detect_other_shell(line: str) -> str | None:
    """Name of an unsupported shell if its ``time`` printed the line, else None."""
    # cheap test that excludes most lines
    if not ("user" in line or "real" in line or "sys" in line or "pf+" in line):
        return None
    return next((name for name, pattern in _OTHER_SHELLS if pattern.fullmatch(line)), None)


def _sniff_time(head: bytes) -> float:
    """High for the first lines of a block; 0.6 for another shell's, to refuse it by name."""
    if certainty := _sniff_time_block(head):
        return certainty
    lines = head.decode("latin-1").split("\n")
    return 0.6 if any(detect_other_shell(line.rstrip()) for line in lines) else 0.0


_sniff_cms = _by_lines(
    (
        rb"^(?i:(?:\d\d: ?)?Ready(?:\(-?\d+\))?; +T=\d+\.\d\d/\d+\.\d\d \d\d:\d\d:\d\d)\s*$",
        0.95,
    ),
    (rb"^(?:\d\d: ?)?(?:HCPNS[SD]440I |FILE +FILENAME +FILETYPE +(?:MINSIZE +)?BEGPAG)", 0.9),
    (rb"^(?:\d\d: ?)?DASD +[0-9A-F]{4} \d{4} +\S+ +R/[WO] +\d+ +(?:CYL|BLK) +ON DASD ", 0.85),
    (rb"^(?i:(?:\d\d: ?)?Ready(?:\(-?\d+\))?;)\s*$", 0.55),
)
_sniff_iwl_console = _by_lines(
    (rb"^[ \t]*# clients +\d+/\d+ \| rd ", 0.95),
    (rb"^[ \t]*IWL\d{4}[A-Z] ", 0.9),
    (rb"^[ \t]*Page (?:element )?throughput = ", 0.8),
    (rb"^[ \t]*<data\b[^<>\n]*\brunType=", 0.7),
)
_sniff_swapon = _by_lines(
    (rb"^Filename[ \t]+Type[ \t]+Size[ \t]+Used(?:[ \t]+Priority)?\s*$", 0.95),
    (rb"^NAME[ \t]+TYPE[ \t]+SIZE[ \t]+USED[ \t]+PRIO\b", 0.95),
    (
        rb"^NAME(?=[ \t][A-Z \t]*\bUSED\b)(?:[ \t]+(?:TYPE|SIZE|USED|PRIO|UUID|LABEL))+\s*$",
        0.7,
    ),
)
_sniff_swingbench_console = _by_lines(
    (
        rb"^(?:\x1b\[[\d;]*m)*Time[ \t]+(?=.*\bTP[SM]\b)(?=.*\b(?:Users|TPM|TPS|Response)\b).*$",
        0.95,
    ),
    (rb"Author +: *(?:\x1b\[[\d;]*m)*[ \t]*(?:\x1b\[[\d;]*m)*Dominic Giles", 0.6),
)
_sniff_hdrhistogram = _by_lines(
    (rb"^#\[Histogram log format version ", 0.98),
    (rb'^"StartTimestamp","Interval_Length","Interval_Max",', 0.95),
)
_sniff_nmon = _by_lines((rb"\AAAA,progname,|^AAA,(?:version|host),", 0.95))
_sniff_vmstat = _by_lines((rb"^ *-*procs\b.*memory.*\r?\n\s*r\s+b\s+swpd\s+free\s", 0.95))
_sniff_xentop = _by_lines(
    (rb"^ *NAME +STATE +CPU\(sec\)", 1.0), (rb"^xentop - \d\d:\d\d:\d\d ", 0.9)
)

SNIFFS: dict[str, Sniff] = {
    "cms-console": _sniff_cms,
    "hdrhistogram": _sniff_hdrhistogram,
    "iostat": partial(_sniff_sysstat, "iostat"),
    "iwl-console": _sniff_iwl_console,
    "iwl-xml": _sniff_iwl_xml,
    "mpstat": partial(_sniff_sysstat, "mpstat"),
    "netstat": _sniff_netstat,
    "nmon": _sniff_nmon,
    "perfkit": _sniff_perfkit,
    "pidstat": partial(_sniff_sysstat, "pidstat"),
    "sadf-json": _sniff_sadf,
    "sar": _sniff_sar,
    "sar-binary": _sniff_sar_binary,
    "swapon": _sniff_swapon,
    "swingbench": _sniff_swingbench,
    "swingbench-console": _sniff_swingbench_console,
    "swingbench-json": _sniff_swingbench_json,
    "time": _sniff_time,
    "vmstat": _sniff_vmstat,
    "xentop": _sniff_xentop,
}
"""Recognition of this package's formats, by the name of their entry point."""
