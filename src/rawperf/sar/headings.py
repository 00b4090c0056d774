"""What headings tell: which tool of sysstat printed a listing; the activity, the entity and the
numeric fields.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

ACTIVITIES = {
    "%idle": "cpu",
    "proc/s": "tasks",
    "cswch/s": "tasks",
    "INTR": "interrupts",
    "intr/s": "interrupts",
    "TIMER/s": "softirqs",
    "pswpin/s": "swapping",
    "pgpgin/s": "paging",
    "rtps": "io",
    "kbmemfree": "memory",
    "frmpg/s": "memory-rates",
    "kbswpfree": "swap-space",
    "kbhugfree": "huge-pages",
    "dentunusd": "files",
    "runq-sz": "queue",
    "TTY": "tty",
    "DEV": "disk",
    "rxpck/s": "net-dev",
    "rxerr/s": "net-edev",
    "call/s": "nfs-client",
    "scall/s": "nfs-server",
    "totsck": "sockets",
    "irec/s": "ip",
    "ihdrerr/s": "ip-errors",
    "imsg/s": "icmp",
    "ierr/s": "icmp-errors",
    "active/s": "tcp",
    "atmptf/s": "tcp-errors",
    "idgm/s": "udp",
    "tcp6sck": "sockets6",
    "irec6/s": "ip6",
    "ihdrer6/s": "ip6-errors",
    "imsg6/s": "icmp6",
    "ierr6/s": "icmp6-errors",
    "idgm6/s": "udp6",
    "fch_rxf/s": "fibre-channel",
    "squeezd/s": "softnet",
    "MHz": "cpu-frequency",
    "wghMHz": "cpu-weighted-frequency",
    "FAN": "fan",
    "TEMP": "temperature",
    "IN": "voltage",
    "BAT": "battery",
    "BUS": "usb",
    "MBfsfree": "filesystems",
    "%scpu": "psi-cpu",
    "%sio": "psi-io",
    "%smem": "psi-memory",
}
"""Activity by a heading that only its table has. RHEL 4 and 5 print proc/s and cswch/s in tables of
their own.
"""

SINCE_BOOT = " since boot"
"""End of the report of rows whose time is that of their heading."""

# Words or hexadecimal numbers, which are not read. Those at the right end may hold blanks.
_WORDS = {"idvendor", "idprod", "manufact", "product", "status", "DEVICE", "CORE", "SOCK"}
_INTERRUPT = re.compile(r"\d+/s")
_SYSTEM = re.compile(rb"\s*Linux \S+ +\(")
_TIME = rb"^(?:# Time|#? *\d{9,10}|\d\d:\d\d:\d\d(?: [AaPp]\.?[Mm]\.?)?) +"
# The last one is for times such as 09h05m10s, as some languages print them.
_TOOLS = (
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


def tool_of(head: bytes) -> str:
    """The tool's name; ``sysstat`` for the first line of any of them with nothing below that tells,
    else "".
    """
    if not _SYSTEM.match(head):
        return ""
    return next((name for name, pattern in _TOOLS if pattern.search(head)), "sysstat")


@dataclass(frozen=True)
class TableHeading:
    """A heading without its time."""

    report: str  # key of the activity; in an unknown table the first three fields joined by "+"
    kind: str  # the entity's column in lower case, "host" where the table has none
    entity: int  # place of the entity: 0, -1 (the right end, which may hold blanks) or -2 (none)
    fixed: int  # how many columns have exactly one word in each row
    open_end: bool  # whether words that may hold blanks, or be missing, follow
    numeric: tuple[int, ...]  # places of the columns that are read
    fields: tuple[str, ...]  # their names
    topology: bool = False  # CORE, SOCK and NODE stand beside the processor; rows of all processors leave them empty


@lru_cache(maxsize=1024)
def parse_heading(body: str) -> TableHeading | None:
    """The heading that a line, without its time, is; None where a word is a number or no field is
    left.
    """
    words = body.split()
    numbers = (word[0] in "0123456789-+.," and not _INTERRUPT.fullmatch(word) for word in words)
    if any(numbers) or len(set(words)) != len(words):
        return None
    entity, kind, fixed = -2, "host", len(words)
    if words and words[0].isupper():
        entity, kind = 0, words[0].lower()
    elif (
        words and words[-1].isupper()
    ):  # FCHOST, FILESYSTEM, MOUNTPOINT, and any device under --pretty
        entity, kind, fixed = -1, words[-1].lower(), fixed - 1
    while fixed and words[fixed - 1] in _WORDS:
        fixed -= 1
    placed = _WORDS | ({"NODE"} if "CORE" in words else set())
    numeric = tuple(i for i in range(fixed) if i != entity and words[i] not in placed)
    if not numeric:
        return None
    fields = tuple(words[i] for i in numeric)
    other = "interrupts" if _INTERRUPT.fullmatch(fields[0]) else "+".join(fields[:3])
    report = next((ACTIVITIES[word] for word in words if word in ACTIVITIES), other)
    return TableHeading(
        report, kind, entity, fixed, fixed < len(words), numeric, fields, "CORE" in words
    )
