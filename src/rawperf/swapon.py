"""Reader of swap devices and their usage: ``swapon -s``, ``/proc/swaps``, ``swapon --show``.

Sources: ``mm/swapfile.c`` of Linux, ``sys-utils/swapon.c`` of util-linux.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

from rawperf.listing import (
    TRUNCATED_LINE,
    LineListing,
    ListingFormat,
    ListingPart,
    RecordsWithLines,
)

SUMMARY, SHOW = "summary", "show"
"""Values of `report`: ``swapon -s`` and ``/proc/swaps`` (KiB); ``swapon --show`` (bytes)."""

SHOW_FIELDS = ("SIZE", "USED", "PRIO")
ENTITY_KIND = "swap device"

_HEAD = ("Filename", "Type", "Size", "Used", "Priority")
_TYPES, _KIB, _LEVEL = (
    re.compile(shape, re.ASCII) for shape in (r"[A-Za-z]\w*", r"\d{1,18}", r"-?\d{1,9}")
)
_SIZES = re.compile(r"\d{1,18}(?:[.,]\d)?|\d{1,6}(?:[.,]\d)?[BKMGTPE]", re.ASCII)
_VALUES = {"Type": _TYPES, "Size": _KIB, "Used": _KIB, "Priority": _LEVEL}
_VALUES |= {"TYPE": _TYPES, "SIZE": _SIZES, "USED": _SIZES, "PRIO": _LEVEL}
_MAX_PATH_LENGTH = 4 * 4096  # Linux's limit, every byte escaped
_IGNORED_COLUMNS = (
    "UUID",
    "LABEL",
)  # may be empty, so they are only accepted after the other columns
_LIKE_ROW = re.compile(r"\s(?:partition|file)\s+\d", re.ASCII)
_ENDS_WITH_TYPE = re.compile(r" (?:partition|file)$")
_UNITS = {letter: 1024**power for power, letter in enumerate("BKMGTPE")}
_ESCAPE = re.compile(r"\\(?:([0-7]{3})|x([0-9a-f]{2}))")
_HUMAN, _SNAPSHOTS, _TYPE = "sizes", "snapshots", "type "  # keys of info


class SwaponListing(LineListing):
    """One or several lists of swap devices, each with a heading; see docs/formats/swapon.md.

    Refused are a file without a heading, a damaged row, and a device that is listed twice or has
    more used than its size.
    """

    name = "swapon"
    title = "swapon -s, /proc/swaps, swapon --show"
    reads_whole = True

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._columns: list[str] = []  # of the list, none outside of lists
        self._devices: set[str] = set()  # in the list
        self._n_lists = self._heading_line = self._n_other_lines = 0
        self._first_other = (0, "")  # number and text of a line that is none of a list
        self._head = ""
        self._is_wrapped = False

    def parse(self, part: ListingPart) -> RecordsWithLines | None:
        self._head = part.text.strip()[:60]
        return super().parse(part)

    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        words = line.split()
        if not words or (self._is_wrapped and words == ["Priority"]):
            self._is_wrapped = False
            return
        self._is_wrapped = words == list(_HEAD[:-1])
        if columns := self._parse_heading(words, number):
            if self._columns and not self._devices:
                self.warnings.add(self._heading_line, "a list without a device")
            self._columns, self._devices, self._heading_line = columns, set(), number
            self._n_lists += 1
        elif is_truncated:  # digits may be missing
            self.warnings.add(number, TRUNCATED_LINE)
        elif self._columns and self._parse_row(line, number):
            return
        elif (self._columns and words[0].startswith("/")) or _LIKE_ROW.search(line):
            problem = "a damaged row" if self._columns else "a row without a heading"
            raise self.error(problem, number, " ".join(self._columns or _HEAD), line)
        else:
            self._columns, self._n_other_lines = [], self._n_other_lines + 1
            self._first_other = self._first_other if self._first_other[0] else (number, line)

    def finish(self) -> None:
        if not self._n_lists:
            expected = f"a heading such as {' '.join(_HEAD)}"
            found = self._head or "nothing"
            raise self.error("no list of swap devices", 1, expected, found)
        if self._n_lists > 1:
            self.clock = "sample"
            self.info[_SNAPSHOTS] = str(self._n_lists)
        else:
            self.rows.set_time(0, math.nan)
        if self._n_other_lines:
            others = f" and {self._n_other_lines - 1} more" * (self._n_other_lines > 1)
            number, text = self._first_other
            sentence = f"not a line of a list, left out{others}: {text.strip()[:60]!r}"
            self.warnings.add(number, sentence)

    def _parse_heading(self, words: list[str], number: int) -> list[str]:
        """Columns below a heading; empty if the line is not a heading."""
        if tuple(words) in (_HEAD, _HEAD[:-1]):
            return list(_HEAD)
        columns = set(words[1:])
        if (
            words[0] != "NAME"
            or not columns <= {"TYPE", *SHOW_FIELDS, *_IGNORED_COLUMNS}
            or not {"SIZE", "USED"} & columns
        ):
            return []
        ignored = [name for name in words[1:] if name in _IGNORED_COLUMNS]
        if len(set(words)) < len(words) or words[len(words) - len(ignored) :] != ignored:
            expected = "NAME, then any of TYPE, SIZE, USED, PRIO, then UUID, LABEL"
            problem = "unsupported order of the columns of swapon --show"
            raise self.error(problem, number, expected, " ".join(words))
        return words

    def _parse_row(self, line: str, number: int) -> bool:
        """Parse a row; False if the line is not one."""
        columns = [name for name in self._columns[1:] if name not in _IGNORED_COLUMNS]
        if len(columns) < len(self._columns) - 1:
            name, *texts = line.split()[: 1 + len(columns)]
        else:  # a name may have blanks
            name, *texts = line.strip().rsplit(None, len(columns))
        cells = dict(zip(columns, texts, strict=False))
        is_valid = all(_VALUES[column].fullmatch(text) for column, text in cells.items())
        if (
            not name.startswith("/")
            or len(name) > _MAX_PATH_LENGTH
            or len(cells) < len(columns)
            or not is_valid
        ):
            return False
        name = name.strip()
        kind = cells.pop("TYPE", None) or cells.pop("Type", None)
        # padding, or a type without its heading: the name has taken another cell
        if "\t" in name or "  " in name or (kind is None and _ENDS_WITH_TYPE.search(name)):
            return False
        device = _ESCAPE.sub(_unescape, name)
        has_unit_suffix = any(text[-1] in _UNITS for text in cells.values())
        if any(text[-1].isdigit() and ("." in text or "," in text) for text in cells.values()):
            raise self.error("decimals without a unit", number, found=line)
        if device in self._devices:
            raise self.error(f"{device!r} is listed twice", number, found=line)
        values = {column: _parse_number(text) for column, text in cells.items()}
        used = values.get("Used", values.get("USED", 0.0))
        if not has_unit_suffix and used > values.get("Size", values.get("SIZE", math.inf)):
            raise self.error("the used space exceeds the size", number, found=line)
        self._devices.add(device)
        self.info |= {_HUMAN: "rounded"} if has_unit_suffix else {}
        if kind is not None:
            self.info.setdefault(_TYPE + device, kind)
        report, t = SUMMARY if self._columns[0] == _HEAD[0] else SHOW, self._n_lists - 1.0
        for column, value in values.items():
            self.rows.add(report, ENTITY_KIND, device, column, value, t)
        return True


def _parse_number(text: str) -> float:
    if text[-1] in _UNITS:
        return float(Decimal(text[:-1].replace(",", ".")) * _UNITS[text[-1]])
    return float(text)


def _unescape(match: re.Match[str]) -> str:
    r"""Unescape ``\040`` or ``\x20``; characters other than printable ASCII stay escaped."""
    code = int(match[1], 8) if match[1] else int(match[2], 16)
    return chr(code) if 32 <= code < 127 else match[0]


FORMAT = ListingFormat(SwaponListing)
