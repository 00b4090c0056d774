"""Reader of swap devices and their usage: ``swapon -s``, ``/proc/swaps``, ``swapon --show``.

Sources: ``mm/swapfile.c`` of Linux, ``sys-utils/swapon.c`` of util-linux.
"""

from __future__ import annotations

import re
from decimal import Decimal
from functools import partial

import numpy as np

from rawperf.base import Reading
from rawperf.core.errors import FormatError
from rawperf.recognition import Recognised
from rawperf.rows import RecordBuilder, Warnings, split_lines
from rawperf.text import decode

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


class SwaponFormat(Recognised):
    """Reader of lists of swap devices; see docs/formats/swapon.md."""

    name = "swapon"
    title = "swapon -s, /proc/swaps, swapon --show"

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read one or several lists; each heading starts a snapshot.

        Raises `FormatError` without a heading, at a damaged row, at a device that is listed twice
        or has more used than its size.
        """
        text, decode_warnings = decode(data, file)
        lines, is_complete = split_lines(text)
        warnings = Warnings(file, decode_warnings)
        table: _TableParser | None = None
        rows, info = RecordBuilder(), dict[str, str]()
        snapshots = n_other_lines = first_other = heading_line = 0
        is_wrapped = False
        for number, line in enumerate(lines, start=1):
            words, rows.line = line.split(), number
            error = partial(FormatError, file=file, line=number)
            if not words or (is_wrapped and words == ["Priority"]):
                is_wrapped = False
                continue
            is_wrapped = words == list(_HEAD[:-1])
            if columns := _parse_heading(words, error):
                if table is not None and not table.has_rows:
                    warnings.add(heading_line, "a list without a device")
                heading_line = number
                table, snapshots = (
                    _TableParser(columns, rows, info, float(snapshots)),
                    snapshots + 1,
                )
            # without a line end, digits may be missing
            elif number == len(lines) and not is_complete:
                warnings.add(number, "the file is truncated; this line was left out")
            elif table is not None and table.parse_row(line, error):
                continue
            elif (table is not None and words[0].startswith("/")) or _LIKE_ROW.search(line):
                problem = "a damaged row" if table else "a row without a heading"
                raise error(
                    problem, expected=" ".join(table.columns if table else _HEAD), found=line
                )
            else:
                table, n_other_lines = None, n_other_lines + 1
                first_other = first_other or number
        if not snapshots:
            raise FormatError(
                "no list of swap devices",
                file=file,
                line=1,
                expected=f"a heading such as {' '.join(_HEAD)}",
                found=text.strip()[:60] or "nothing",
            )
        records = rows.to_frame()
        if snapshots > 1:
            info[_SNAPSHOTS] = str(snapshots)
        else:
            records["t"] = np.nan
        if n_other_lines:
            others = f" and {n_other_lines - 1} more" * (n_other_lines > 1)
            text = lines[first_other - 1].strip()
            warnings.add(first_other, f"not a line of a list, left out{others}: {text[:60]!r}")
        return Reading(
            records, "sample" if snapshots > 1 else "none", info, warnings.messages(), rows.lines()
        )


def _parse_heading(words: list[str], error: partial[FormatError]) -> list[str]:
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
        raise error(problem, found=" ".join(words), expected=expected)
    return words


class _TableParser:
    """Parser of the rows below one heading; adds to `rows` and `info`."""

    def __init__(
        self, columns: list[str], rows: RecordBuilder, info: dict[str, str], t: float
    ) -> None:
        self.columns = columns
        self._rows, self._info, self._t = rows, info, t
        self._read_columns = [name for name in columns[1:] if name not in _IGNORED_COLUMNS]
        self._report = SUMMARY if columns[0] == _HEAD[0] else SHOW
        self._seen: set[str] = set()

    @property
    def has_rows(self) -> bool:
        """Whether the list has a device."""
        return bool(self._seen)

    def parse_row(self, line: str, error: partial[FormatError]) -> bool:
        """Parse a row; False if the line is not one."""
        if len(self._read_columns) < len(self.columns) - 1:
            name, *texts = line.split()[: 1 + len(self._read_columns)]
        else:  # a name may have blanks
            name, *texts = line.strip().rsplit(None, len(self._read_columns))
        cells = dict(zip(self._read_columns, texts, strict=False))
        is_valid = all(_VALUES[column].fullmatch(text) for column, text in cells.items())
        if (
            not name.startswith("/")
            or len(name) > _MAX_PATH_LENGTH
            or len(cells) < len(self._read_columns)
            or not is_valid
        ):
            return False
        name = name.strip()
        kind = cells.pop("TYPE", None) or cells.pop("Type", None)
        # padding, or a type without its heading: the name has taken another cell
        if "\t" in name or "  " in name or (kind is None and _ENDS_WITH_TYPE.search(name)):
            return False
        entity = _ESCAPE.sub(_unescape, name)
        has_unit_suffix = any(text[-1] in _UNITS for text in cells.values())
        if any(text[-1].isdigit() and ("." in text or "," in text) for text in cells.values()):
            raise error("decimals without a unit", found=line)
        if entity in self._seen:
            raise error(f"{entity!r} is listed twice", found=line)
        values = {column: _parse_number(text) for column, text in cells.items()}
        used = values.get("Used", values.get("USED", 0.0))
        if not has_unit_suffix and used > values.get("Size", values.get("SIZE", np.inf)):
            raise error("the used space exceeds the size", found=line)
        self._seen.add(entity)
        self._info |= {_HUMAN: "rounded"} if has_unit_suffix else {}
        if kind is not None:
            self._info.setdefault(_TYPE + entity, kind)
        for column, value in values.items():
            self._rows.add(self._report, ENTITY_KIND, entity, column, value, self._t)
        return True


def _parse_number(text: str) -> float:
    if text[-1] in _UNITS:
        return float(Decimal(text[:-1].replace(",", ".")) * _UNITS[text[-1]])
    return float(text)


def _unescape(match: re.Match[str]) -> str:
    r"""Unescape ``\040`` or ``\x20``; characters other than printable ASCII stay escaped."""
    code = int(match[1], 8) if match[1] else int(match[2], 16)
    return chr(code) if 32 <= code < 127 else match[0]


FORMAT = SwaponFormat()
