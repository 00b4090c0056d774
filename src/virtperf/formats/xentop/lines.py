"""Lines of a xentop listing, told apart: domain rows, headers, summaries and detail rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from virtperf.core.errors import FormatError
from virtperf.formats.text import clock_seconds

COLUMNS_19 = (
    "NAME", "STATE", "CPU(sec)", "CPU(%)", "MEM(k)", "MEM(%)", "MAXMEM(k)", "MAXMEM(%)", "VCPUS", "NETS",
    "NETTX(k)", "NETRX(k)", "VBDS", "VBD_OO", "VBD_RD", "VBD_WR", "VBD_RSECT", "VBD_WSECT", "SSID",
)  # fmt: skip

# A name may hold blanks and may be longer than its column, so the state is the only firm mark of a row.
STATE = r"[d-][s-][b-][c-][p-][r-]"
_LINE = re.compile(rf"^(?:(.*?) {STATE} +(\d.*)|(.*))$", re.ASCII | re.MULTILINE)
_SUMMARY = re.compile(r"xentop - (\S+) +Xen (.*)")
_MEMORY = re.compile(r"Mem: +0*(\d{1,20})k total,.* free +CPUs: 0*(\d{1,9}) @ 0*(\d{1,9})MHz", re.ASCII)
_SKIPPED = re.compile(
    r"\d+ domains: .*shutdown"  # counts of states
    r"|[+|│┌├└].*|Physical CPU Usage:|No PCPU data available"  # the table of -p
    r"|Tmem:.*"
    r"|Delay  Networks .*Quit"  # the key menu of the screen
)
_VCPU = re.compile(r"(?:VCPUs\(sec\):)?((?: *\d{1,6}: +\d+s)*)", re.ASCII)
_VCPU_ITEM = re.compile(r"(\d{1,6}): +(\d+)s", re.ASCII)
_NET = re.compile(
    r"Net(\d{1,6}) RX: +(\d+)bytes +(\d+)pkts +(\d+)err +(\d+)drop +TX: +(\d+)bytes +(\d+)pkts +(\d+)err +(\d+)drop",
    re.ASCII,
)
_VBD = re.compile(
    r"VBD ((?:[A-Za-z]\w* +)?-?\d{1,10}) +(?:\[ *[0-9a-f]+: *[0-9a-f]+\] +)?"
    r"OO: +(\d+|-) +RD: +(\d+|-) +WR: +(\d+|-)(?: +RSECT: +(\d+|-) +WSECT: +(\d+|-))?",
    re.ASCII,
)
NET_FIELDS = tuple(f"{way} {what}" for way in ("RX", "TX") for what in ("bytes", "pkts", "err", "drop"))
VBD_FIELDS = ("OO", "RD", "WR", "RSECT", "WSECT")


@dataclass
class Listing:
    """What stands where; line numbers count from 0.

    Attributes
    ----------
    rows, names, tails : list
        Line number, name and everything behind the state of each domain row.
    headers : list of int
        Lines of the column headings.
    apart : set of int
        Those of them that stand below a blank line.
    summaries, clock : list of int
        Lines ``xentop - HH:MM:SS`` and the seconds since midnight that they print.
    columns : tuple of str
        The headings in order, NAME and STATE included.
    details : list of (line, kind, device, field, digits)
        Numbers of the rows that -v, -n and -x add.
    cut : int
        The line at which the file breaks off, or -1.
    cut_opens : bool
        Whether that line is the first of another sample, so that the one before it is whole.
    file : str
        For messages.
    """

    rows: list[int] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    tails: list[str] = field(default_factory=list)
    headers: list[int] = field(default_factory=list)
    apart: set[int] = field(default_factory=set)
    summaries: list[int] = field(default_factory=list)
    clock: list[int] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    details: list[tuple[int, str, str, str, str]] = field(default_factory=list)
    info: dict[str, str] = field(default_factory=dict)
    warnings: list[str] = field(default_factory=list)
    cut: int = -1
    cut_opens: bool = False
    file: str = ""

    def error(
        self, problem: str, line: int, expected: str | None = None, found: str | None = None,
        remedy: str = "the file is damaged; remove that sample.",
    ) -> FormatError:  # fmt: skip
        """The error of a line."""
        return FormatError(problem, file=self.file, line=line + 1, expected=expected, found=found, remedy=remedy)

    def warn(self, line: int, sentence: str) -> None:
        """Add a warning of a line."""
        self.warnings.append(f"{self.file} line {line + 1}: {sentence}")


def scan(text: str, file: str) -> Listing:
    """Tell the lines of a listing apart; raises `FormatError` at a line that xentop does not print."""
    lines = _LINE.findall(text)  # (name, tail, "") for a domain's row, ("", "", line) for any other
    last = len(lines) - 1
    finished = text.endswith("\n") or not "".join(lines[last]).strip()
    found = Listing(file=file)
    found.rows = [i for i, (_, tail, _) in enumerate(lines) if tail]
    found.names = [name.strip() for name, tail, _ in lines if tail]
    found.tails = [tail for _, tail, _ in lines if tail]

    known: dict[str, None] = {}  # headings seen, without their blanks at both ends
    strange = below = vcpus = -2  # last line that was no line of xentop, a detail row, a row of vCPUs
    blank = set[int]()
    for i, (_, tail, line) in enumerate(lines):
        if tail:
            continue
        key = line.strip()
        if key in known:
            found.headers.append(i)
        elif not key:
            blank.add(i)
        elif _SKIPPED.fullmatch(key):
            continue
        elif i == last and not finished:
            found.cut = i
            found.cut_opens = key.startswith("xentop - " if found.summaries else "NAME")
        elif key.startswith("NAME ") and key.split()[1] == "STATE":
            _check_columns(tuple(key.split()), found, i)
            known[key] = None
            found.headers.append(i)
        elif i and (lines[i - 1][1] or below == i - 1) and _is_detail(key, found, i, vcpus == i - 1):
            below = i
            vcpus = i if not key.startswith(("Net", "VBD")) else vcpus
        elif not _is_summary(key, found, i):
            if found.headers or found.summaries:
                expected = "a domain's row, a header, a summary or a row of -v, -n or -x"
                raise found.error("not a line of xentop", i, expected, line, "remove the damaged sample.")
            strange = i
    found.apart = {header for header in found.headers if header - 1 in blank}
    if strange >= 0:
        found.warn(strange, "the text before the first header was skipped")
    if not finished and found.headers and found.rows[-1:] == [last]:
        # a row of full length may have lost no more than its line end
        row, header = text.rpartition("\n")[2], lines[found.headers[-1]][2]
        found.cut = last if len(row.rstrip()) < len(header.rstrip()) else -1
    return found


def begins_sample(name: str, previous: str, seen: set[str]) -> bool:
    """Whether a domain can't stand in the sample of the one before it, where nothing else parts the samples.

    Batch mode sorts by name, case ignored (-z puts Domain-0 before them), so a step back begins another sample too.
    """
    return name in seen or (name.lower() < previous.lower() and previous != "Domain-0")


def _check_columns(columns: tuple[str, ...], found: Listing, line: int) -> None:
    printed = " ".join(columns)
    if found.columns and columns != found.columns:
        remedy = "keep the listings of two versions in two files."
        problem, expected = "the header names other columns than the first one", " ".join(found.columns)
        raise found.error(problem, line, expected, printed, remedy)
    unknown = [name for name in columns if name not in COLUMNS_19]
    if unknown or len(set(columns)) != len(columns) or len(columns) < 3:
        problem = (
            "a column that no version of xentop prints" if unknown else "a header with a doubled or missing column"
        )
        expected, remedy = f"columns among {' '.join(COLUMNS_19)}", "the file is cut or comes from another tool."
        raise found.error(problem, line, expected, " ".join(unknown) or printed, remedy)
    found.columns = columns


def _is_summary(key: str, found: Listing, line: int) -> bool:
    if match := _SUMMARY.fullmatch(key):
        found.summaries.append(line)
        found.clock.append(clock_seconds(match[1], file=found.file, line=line + 1))
        found.info.setdefault("xen_version", match[2].strip())
        return True
    if match := _MEMORY.fullmatch(key):
        for name, digits in zip(("mem_total_k", "cpus", "cpu_mhz"), match.groups(), strict=True):
            if found.summaries and digits.strip("0"):
                found.info.setdefault(name, digits)
        return True
    return False


def _is_detail(line: str, found: Listing, number: int, below_vcpus: bool) -> bool:
    if (match := _VCPU.fullmatch(line)) and (below_vcpus or line.startswith("VCPUs")):
        found.details += [(number, "vcpu", vcpu, "VCPUs(sec)", s) for vcpu, s in _VCPU_ITEM.findall(match[1])]
        return True
    for kind, pattern, fields in (("net", _NET, NET_FIELDS), ("vbd", _VBD, VBD_FIELDS)):
        if match := pattern.fullmatch(line):
            device, *digits = match.groups()
            device = " ".join(device.split())
            found.details += [
                (number, kind, device, name, d)
                for name, d in zip(fields, digits, strict=True)
                if d is not None and d != "-"  # "-" stands for a device in error
            ]
            return True
    return False
