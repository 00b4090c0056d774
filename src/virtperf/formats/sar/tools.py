"""Which tool of sysstat printed a listing: all of them begin with the same line."""

from __future__ import annotations

import re

_SYSTEM = re.compile(rb"\s*Linux \S+ +\(")
_TIME = rb"^(?:# Time|#? *\d{9,10}|\d\d:\d\d:\d\d(?: [AaPp]\.?[Mm]\.?)?) +"
# The last one is for times such as 09h05m10s, as some languages print them.
_TOOLS = (
    ("pidstat", re.compile(_TIME + rb"(?:(?:UID|USER) +)?(?:PID|TGID)\b[^\n]*\bCommand\b", re.M)),
    ("mpstat", re.compile(_TIME + rb"(?:CPU|NODE)\b(?=[^\n]*(?:%iowait +%irq|intr/s|CORE| \d+/s|[A-Z]+/s))", re.M)),
    ("iostat", re.compile(rb"^avg-cpu: +%|^Device:? .*(?:tps|r/s|rrqm/s)|^ +(?:tps|r/s) .*\bDevice\b", re.M)),
    ("cifsiostat", re.compile(rb"^(?:Filesystem:?|[ ]+r?\w*B/s) .*(?:rops/s|fo/s)", re.M)),
    ("tapestat", re.compile(rb"^Tape:? +r/s", re.M)),
    ("sar", re.compile(rb"^\d\d:\d\d:\d\d(?: [AaPp]\.?[Mm]\.?)? +\S{0,12}[A-Za-z%/]", re.M)),
    ("sar", re.compile(rb"^(?=[ -~]*[\x80-\xff])[^\n]{0,12}?\d\d?[^\d\n]{1,4}\d\d[^\d\n]{1,4}\d\d\D{0,4} ", re.M)),
)  # fmt: skip


def tool_of(head: bytes) -> str:
    """The tool's name; ``sysstat`` for the first line of any of them with nothing below that tells, else ""."""
    if not _SYSTEM.match(head):
        return ""
    return next((name for name, pattern in _TOOLS if pattern.search(head)), "sysstat")
