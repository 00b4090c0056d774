"""What CP answers on a CMS console: messages of DEFSEG and SAVESEG, ``QUERY NSS MAP``, ``QUERY
VIRTUAL``.

A line that begins like one of these and goes on otherwise is left out with a warning: transcripts
that went through a document have columns run together, and half a row must not become a number.
"""

from __future__ import annotations

import re

from rawperf.rows import WHOLE, RecordRows, Warnings

NSS, VIRTUAL, DEFSEG = "QUERY NSS", "QUERY VIRTUAL", "DEFSEG"
"""Values of `report` besides message ids and ``command``."""

SEGMENT, RANGE, DEVICE, CPU = "segment", "segment range", "device", "virtual cpu"
"""Entity kinds. A range is called ``NAME number TYPE``, such as ``SWAPPING 1 EW``."""

NSS_COLUMNS = (
    "FILE",
    "FILENAME",
    "FILETYPE",
    "MINSIZE",
    "BEGPAG",
    "ENDPAG",
    "TYPE",
    "CL",
    "#USERS",
    "PARMREGS",
    "VMGROUP",
)
_MAY_LACK = {"MINSIZE", "PARMREGS", "VMGROUP"}
ACTIVE = (
    "A",
    "R",
)  # classes of the one copy of a segment that is in force; any other class may have several
SIZE_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40, "P": 2**50, "E": 2**60}

_HEX, _TYPE, _NAME = r"[0-9A-F]{1,16}", r"(?:E[WNR]|S[WNRC])", r"[A-Z0-9$#@_+-]{1,8}"
_SHAPES = {
    "FILE": r"\d{4}",
    "FILENAME": _NAME,
    "FILETYPE": r"[A-Z][A-Z-]{1,7}",
    "MINSIZE": r"\S{1,9}",
    "BEGPAG": _HEX,
    "ENDPAG": _HEX,
    "TYPE": _TYPE,
    "CL": r"[A-Z]",
    "#USERS": r"\d{1,9}",
    "PARMREGS": r"\S{1,9}",
    "VMGROUP": r"\S{1,9}",
}
_SHAPE = {name: re.compile(pattern, re.ASCII) for name, pattern in _SHAPES.items()}
_SAVED = re.compile(
    rf"(HCPNS[SD]440I) +(?:Saved segment|(?:The )?Named Saved System \(NSS\)) +({_NAME}) +was successfully"
    r" +(?:saved|defined) +in +file ?id +(\d{1,5})\.?",
    re.ASCII | re.IGNORECASE,
)
_SIZE = re.compile(
    rf"(STORAGE|XSTORE) *= *(?:(\d{{1,12}})([{''.join(SIZE_UNITS)}])|NONE)",
    re.ASCII | re.IGNORECASE,
)
_CPU = re.compile(r"CPU +([0-9A-F]{2}) +(ID +[0-9A-F]{16}\b.{0,60})", re.ASCII)
_DASD = re.compile(
    r"DASD +([0-9A-F]{3,4}) +(\d{4} +\S{1,8} +R/[WO]) +(\d{1,12}) +(CYL|BLK) +ON"
    r" +(DASD +\S{1,8} +SUBCHANNEL = [0-9A-F]{4})",
    re.ASCII,
)
_DAMAGED = (
    ("message", re.compile("HCPNS[SD]440I")),
    ("line of QUERY VIRTUAL", re.compile(r"(?:STORAGE|XSTORE) *=|CPU +[0-9A-F]{2} +ID")),
    ("line of QUERY VIRTUAL", re.compile("DASD (?=.*SUBCHANNEL)(?=.*(?:CYL|BLK))", re.S)),
)
_DEFSEG_RANGE = re.compile(rf"({_HEX})(?:-({_HEX}))?", re.ASCII)


class Responses:
    """Takes the lines of one response after the other and adds what they say to `rows`."""

    def __init__(self, rows: RecordRows, warnings: Warnings, info: dict[str, str]) -> None:
        self.rows, self.warnings, self.info = rows, warnings, info
        self.begin("")

    def begin(self, command: str) -> None:
        """A command was entered; DEFSEG's own operands say which pages it defines."""
        self._map: list[str] | None = None  # columns, while a table of QUERY NSS MAP goes on
        self._owner, self._ranges = "", 0
        self._listed: set[str] = set()
        self._defined = range(0)
        words = command.split()
        if len(words) > 3 and words[0] == DEFSEG:
            first = len(self.rows)
            for pages, kind in zip(words[2::2], words[3::2], strict=False):
                match = _DEFSEG_RANGE.fullmatch(pages)
                if match is None or not _SHAPE["TYPE"].fullmatch(kind):
                    break
                self._range(DEFSEG, words[1], match[1], match[2] or match[1], kind)
            self._defined = range(first, len(self.rows))

    def failed(self) -> None:
        """The command ended with a return code: what it was to define is not defined."""
        if len(self._defined):
            self.rows.drop(self._defined.start, self._defined.stop)

    def takes(self, line: str, number: int) -> bool:
        """Add what a line says; False for a line that is none of these responses."""
        if not self._alone(line, number):
            return self._nss(line, number)
        self._map = None
        return True

    def _alone(self, line: str, number: int) -> bool:
        """Take a line that says something without those around it."""
        if match := _SAVED.fullmatch(line):
            self.rows.add(match[1].upper(), SEGMENT, match[2].upper(), "fileid", int(match[3]))
        elif match := _SIZE.fullmatch(line):
            value = int(match[2]) * SIZE_UNITS[match[3].upper()] if match[2] else 0
            self.rows.add(VIRTUAL, WHOLE, "", match[1].upper(), value)
        elif match := _CPU.fullmatch(line):
            self.rows.add(VIRTUAL, CPU, match[1], "CPU", 1)
            self.info.setdefault(f"CPU {match[1]}", " ".join(match[2].split()))
        elif match := _DASD.fullmatch(line):
            vdev = match[1].rjust(4, "0")
            self.rows.add(VIRTUAL, DEVICE, vdev, match[4], int(match[3]))
            self.info.setdefault(f"DASD {vdev}", " ".join(f"{match[2]} ON {match[5]}".split()))
        elif damaged := next((what for what, pattern in _DAMAGED if pattern.match(line)), ""):
            self.warnings.add(number, f"a damaged {damaged}, left out")
        else:
            return False
        return True

    def _nss(self, line: str, number: int) -> bool:
        words = [word for word in line.split(" ") if word]
        if words[:2] == ["FILE", "FILENAME"] or (words[0].startswith("FILE") and "BEGPAG" in line):
            if "BEGPAG" not in line:  # another form of QUERY NSS
                self._map = None
                return False
            whole = [
                name for name in NSS_COLUMNS if name in words or name not in _MAY_LACK
            ] == words
            self._map, self._owner = words if whole else [], ""
            if not whole:
                self.warnings.add(
                    number, "a damaged heading of QUERY NSS MAP; the rows below it were left out"
                )
            return True
        like_row = words[0][0].isdigit() or set(words[0]) <= set("0123456789ABCDEF")
        if self._map is None or not like_row:
            return False
        if not self._map:
            return True
        if len(words) == 3 and self._continues(words, number):
            return True
        if not self._segment(words, number):
            self.warnings.add(number, "a damaged row of QUERY NSS MAP, left out")
            self._owner = ""
        return True

    def _continues(self, words: list[str], number: int) -> bool:
        begin, end, kind = words
        if not all(
            _SHAPE[name].fullmatch(word) for name, word in zip(NSS_COLUMNS[4:7], words, strict=True)
        ):
            return False
        if not self._owner:
            self.warnings.add(number, "a range of a row that was left out, left out too")
            return True
        return _in_order(begin, end) and self._range(NSS, self._owner, begin, end, kind)

    def _segment(self, words: list[str], number: int) -> bool:
        assert self._map is not None
        needed = self._map.index("#USERS") + 1
        row = dict(zip(self._map, words, strict=False))
        if not needed <= len(words) <= len(self._map) or not all(
            _SHAPE[n].fullmatch(w) for n, w in row.items()
        ):
            return False
        entity = (
            row["FILENAME"]
            if row["CL"] in ACTIVE
            else f"{row['FILENAME']} {row['CL']}{row['FILE']}"
        )
        if not _in_order(row["BEGPAG"], row["ENDPAG"]) or entity in self._listed:
            return False
        self._listed.add(entity)
        self._owner, self._ranges = entity, 0
        self.info.setdefault(f"filetype {row['FILENAME']}", row["FILETYPE"])
        self.rows.add(NSS, SEGMENT, entity, "FILE", int(row["FILE"]))
        self.rows.add(NSS, SEGMENT, entity, f"CL {row['CL']}", 1)
        self.rows.add(NSS, SEGMENT, entity, "#USERS", int(row["#USERS"]))
        return self._range(NSS, entity, row["BEGPAG"], row["ENDPAG"], row["TYPE"])

    def _range(self, report: str, owner: str, begin: str, end: str, kind: str) -> bool:
        self._ranges += 1
        for field, page in (("BEGPAG", begin), ("ENDPAG", end)):
            self.rows.add(report, RANGE, f"{owner} {self._ranges} {kind}", field, int(page, 16))
        return True


def _in_order(begin: str, end: str) -> bool:
    """Whether two columns hold a range: CP prints both page numbers of a row with the same number
    of digits.
    """
    return len(begin) == len(end) and begin <= end
