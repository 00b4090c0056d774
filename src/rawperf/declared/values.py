"""Conversion of cells: numbers, times, and CSV rows parsed by Arrow.

Numbers may have a unit suffix, a decimal comma, a thousands separator, or be durations.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from typing import Any, Literal
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from rawperf.core.declaration import DURATION, Declaration, FieldRule, TableDeclaration, Time
from rawperf.core.errors import FileReader, FormatError
from rawperf.text import DAY, MAX_PYTHON_NUMBERS, ONE_NUMBER, parse_numbers, unwrap_midnight

_NUMBER_AND_UNIT = re.compile(
    r"([-+]?(?:\d[\d.,' ]*|[.,]\d+)(?:[eE][-+]?\d+)?)(.*)", re.ASCII | re.DOTALL
)
_DURATION = re.compile(r"(?:(?:(\d{1,6})-)?(\d{1,6}):)?(\d{1,9}):(\d{1,2}(?:\.\d{1,9})?)", re.ASCII)
_GROUPED = {
    mark: re.compile(rf"[-+]?\d{{1,3}}(?:{re.escape(mark)}\d{{3}})+(?:[.,]\d*)?") for mark in ",.' "
}


class NumberParser(FileReader):
    """Parse the numbers of a declared file; empty cells and `missing` are missing values."""

    def __init__(self, missing: Sequence[str], decimal: str, thousands: str, file: str) -> None:
        self._missing = frozenset(("", *missing))
        self._words = pa.array([None, *sorted(self._missing)], pa.string())
        self._decimal, self._thousands, self.file = decimal, thousands, file

    def parse(
        self,
        cells: Any,
        lines: Sequence[int] | np.ndarray,
        name: str,
        rule: FieldRule | None = None,
    ) -> np.ndarray:
        """Convert cells to float64, with NaN for missing values; a numeric array is returned as is.

        Raises `FormatError`, with the line, at a cell that is not a number or overflows float64.
        """
        if isinstance(cells, np.ndarray):
            return cells
        printed = rule.printed if rule is not None else None
        is_plain = printed is None and not self._thousands and self._decimal == "."
        is_arrow = isinstance(cells, pa.Array)
        if is_plain and len(cells) > MAX_PYTHON_NUMBERS and (is_arrow or type(cells[0]) is str):
            plain = self._parse_vectorized(cells, lines, name)
            if plain is not None:
                return plain
        if is_arrow:
            cells = cells.to_pylist()
        values = np.full(len(cells), np.nan)
        texts: list[str] = []
        positions: list[int] = []
        for position, cell in enumerate(cells):
            if isinstance(cell, str):
                stripped = cell.strip()
                if stripped not in self._missing:
                    texts.append(stripped)
                    positions.append(position)
            elif cell is not None:
                values[position] = self._parse_scalar(cell, name, lines[position])
        if not texts:
            return values
        factors: np.ndarray | float = 1.0
        if printed == DURATION:
            parsed = np.array(
                [
                    self._parse_duration(t, name, lines[p])
                    for t, p in zip(texts, positions, strict=True)
                ]
            )
        else:
            if rule is not None and printed is not None:
                texts, factors = self._strip_units(texts, rule, name, lines, positions)
            parsed, invalid = parse_numbers([self._normalize(text) for text in texts])
            if invalid >= 0:
                raise self._error(name, lines[positions[invalid]], texts[invalid])
        with np.errstate(over="ignore"):
            parsed = parsed * factors
        large = np.flatnonzero(np.isinf(parsed))
        if len(large):
            raise self._error(
                name,
                lines[positions[large[0]]],
                texts[large[0]],
                "a number in the range of float64",
            )
        values[positions] = parsed
        return values

    def _parse_vectorized(
        self, cells: Any, lines: Sequence[int] | np.ndarray, name: str
    ) -> np.ndarray | None:
        """Vectorised conversion of text cells; None if some are not text."""
        try:
            array = cells if isinstance(cells, pa.Array) else pa.array(cells, pa.string())
            texts = pc.utf8_trim_whitespace(array)
        except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeEncodeError):
            return None
        is_present = ~pc.is_in(texts, self._words).to_numpy(zero_copy_only=False)
        if is_present.all():
            parsed, invalid = parse_numbers(texts)
            if invalid >= 0:
                raise self._error(name, lines[invalid], str(cells[invalid]))
            return parsed
        positions = np.flatnonzero(is_present)
        parsed, invalid = parse_numbers(texts.filter(pa.array(is_present)))
        if invalid >= 0:
            raise self._error(name, lines[positions[invalid]], str(cells[positions[invalid]]))
        values = np.full(len(cells), np.nan)
        values[positions] = parsed
        return values

    def _parse_scalar(self, cell: Any, name: str, line: int) -> float:
        """Convert a JSON or YAML value."""
        if isinstance(cell, bool) or not isinstance(cell, int | float):
            raise self._error(name, line, str(cell)[:60])
        try:
            value = float(cell)
        except OverflowError:
            value = np.inf
        if not np.isfinite(value):
            raise self._error(name, line, str(cell)[:60], "a number in the range of float64")
        return value

    def _normalize(self, text: str) -> str:
        """Normalise a number to C notation; invalid text stays invalid."""
        if self._thousands and self._thousands in text:
            text = (
                text.replace(self._thousands, "")
                if _GROUPED[self._thousands].fullmatch(text)
                else "?"
            )
        if self._decimal == ",":
            text = "?" if "." in text else text.replace(",", ".")
        return text

    def _strip_units(
        self,
        texts: list[str],
        rule: FieldRule,
        name: str,
        lines: Sequence[int] | np.ndarray,
        positions: list[int],
    ) -> tuple[list[str], np.ndarray]:
        factor_by_unit = rule.printed_factors()
        number_texts, factors = [], []
        for text, position in zip(texts, positions, strict=True):
            match = _NUMBER_AND_UNIT.fullmatch(text)
            unit = match[2].strip() if match else None
            if match is None or unit not in factor_by_unit:
                raise self._error(
                    name,
                    lines[position],
                    text,
                    f"a number and one of {', '.join(map(repr, factor_by_unit))}",
                )
            number_texts.append(match[1].rstrip())
            factors.append(factor_by_unit[unit])
        return number_texts, np.array(factors)

    def _parse_duration(self, text: str, name: str, line: int) -> float:
        match = _DURATION.fullmatch(text)
        if match is None:
            raise self._error(name, line, text, "[[days-]hours:]minutes:seconds")
        days, hours, minutes, seconds = match.groups()
        return (
            float(days or 0) * 86400
            + float(hours or 0) * 3600
            + float(minutes) * 60
            + float(seconds)
        )

    def _error(
        self, name: str, line: int, found: str, expected: str = "a number, or nothing"
    ) -> FormatError:
        return self.error(
            f"{name} is not a number",
            line,
            expected=expected,
            found=found or "nothing",
            remedy="the line may be damaged, or from another version or option of the tool; a declaration "
            "may lack missing, decimal, thousands or printed.",
        )


LATEST = 253_402_300_800.0
"""End of the year 9999, in seconds since 1970."""
MILLISECONDS = 1e11
"""Larger numbers since 1970 are not seconds: it is the year 5138."""
MAX_CACHED_TEXTS = 100_000
"""Cache size for texts of times and of conditions."""
MAX_PYTHON_TIMES = 100
"""Largest number of distinct texts that are parsed one by one in Python."""
EXACT = 2**53
"""Integers below it are exact in float64."""
_WIDTHS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2, "%f": 0}


class TimeParser(FileReader):
    """Convert the times of a file to seconds, chunk by chunk; `clock` is one of `CLOCKS`."""

    def __init__(self, time: Time | None, numbers: NumberParser, file: str) -> None:
        self._time, self._number_parser, self.file = time, numbers, file
        self._counts: defaultdict[str, count[int]] = defaultdict(count)
        self._days, self._last = 0.0, np.nan
        # midnight before the first row, from a line with the date
        self.day: float | None = None
        self._date_line = 0
        # None for numbers, "" if the first time is yet to decide
        self._format = _single_format(time)
        self.clock = "none"
        if time is not None:
            is_relative = time.interval_s is not None or (not time.format and time.since == "start")
            self.clock = (
                "sample"
                if time.numbered
                else "elapsed"
                if is_relative
                else "time-of-day"
                if time.is_time_of_day and time.date is None
                else "absolute"
            )

    def parse(self, cells: Any, plus: Any, lines: Sequence[int] | np.ndarray) -> np.ndarray:
        """Seconds of times in the file, as texts or numbers; `plus` is added to each.

        Raises `FormatError` at a time that is missing, not in the format, or out of range.
        """
        time = self._time
        assert time is not None
        name = f"the time {time.field}" if time.field is not None else "the time"
        if self._format == "":
            self._choose_format(time, cells)
        if self._format is not None:
            t = self._parse_formatted(cells, name, lines)
        else:
            t = self._number_parser.parse(cells, lines, name)
        self._require_all(t, name, lines)
        if plus is not None:
            plus_name = f"{time.plus}, which is added to {name},"
            added = self._number_parser.parse(plus, lines, plus_name)
            self._require_all(added, plus_name, lines)
            with np.errstate(over="ignore"):  # infinite times are rejected below
                t = t + (added if self._format is None else added / time.per_second)
        if self._format is None:
            t = t / (_units_per_second(t) if time.unit == "auto" else time.per_second)
        if time.is_time_of_day and len(t):
            t = self._unwrap(t)
            if time.date is not None:
                if self.day is None or lines[0] < self._date_line:
                    raise self.error(
                        "no line above gives the date",
                        lines[0],
                        expected=f"a line that fully matches {time.date}",
                        remedy="the beginning of the file may be missing.",
                    )
                t = t + self.day
        invalid = np.flatnonzero((np.abs(t) > LATEST) | ((t < 0) & (self.clock == "absolute")))
        if len(invalid):
            raise self._error(f"{name} is out of range", lines[invalid[0]], cells[invalid[0]])
        if self._format is None and self.clock == "absolute" and time.zone != "UTC" and len(t):
            t = t + _utc_offsets(t, time.zone)
        return t

    def _choose_format(self, time: Time, cells: Any) -> None:
        """Choose the first of several formats that the first time of the file has."""
        texts = (None if cell is None else str(cell).strip() for cell in cells)
        text = next(filter(None, texts), None)
        if text is None:
            return
        self._format = next((f for f in time.format if _has_format(text, f, time.zone)), "")
        if self._format == "number":
            self._format = None

    def read_date(self, text: str, line: int) -> None:
        """Take the date of the first row from the text of a line above it."""
        assert self._time is not None
        try:
            day = _parse_time(text.strip(), self._time.date_format, "UTC")
        except (ValueError, OverflowError) as err:
            problem = f"the date does not match the format {self._time.date_format}"
            raise self._error(problem, line, text) from err
        self.day, self._date_line = day - day % DAY, line

    def _require_all(
        self, values: np.ndarray, name: str, lines: Sequence[int] | np.ndarray
    ) -> None:
        """Raise `FormatError` at the first row without a value."""
        missing = np.flatnonzero(np.isnan(values))
        if len(missing):
            raise self._error(f"{name} is missing", lines[missing[0]], None)

    def number_samples(self, entities: Sequence[str]) -> np.ndarray:
        """Times of numbered samples, counted from 0 for each entity."""
        time = self._time
        sample_numbers = np.array([next(self._counts[name]) for name in entities], dtype=float)
        return (
            sample_numbers
            if time is None or time.interval_s is None
            else time.start_s + sample_numbers * time.interval_s
        )

    def _parse_formatted(
        self, cells: Any, name: str, lines: Sequence[int] | np.ndarray
    ) -> np.ndarray:
        """Parse texts in the declared format; NaN where missing."""
        if not isinstance(cells, pa.Array):
            both = zip(cells, lines, strict=True)
            return np.array(
                [self._parse_text(cell, name, line) for cell, line in both], dtype=float
            )
        if not isinstance(cells, pa.DictionaryArray):
            cells = cells.dictionary_encode()
        texts, codes = cells.dictionary, cells.indices.to_numpy()
        assert self._time is not None
        seconds = (
            parse_times_vectorized(texts, self._format or "", self._time.zone)
            if len(texts) > MAX_PYTHON_TIMES
            else None
        )
        if seconds is not None:
            seconds = seconds % DAY if self._time.is_time_of_day else seconds
        else:
            firsts = np.zeros(len(texts), dtype=np.int64)
            firsts[codes[::-1]] = np.arange(len(codes))[::-1]
            seconds = np.array(
                [
                    self._parse_text(text, name, lines[first])
                    for text, first in zip(texts.to_pylist(), firsts.tolist(), strict=True)
                ],
                dtype=float,
            )
        return seconds[codes]

    def _parse_text(self, cell: Any, name: str, line: int) -> float:
        time = self._time
        assert time is not None
        text = "" if cell is None else str(cell).strip()
        if not text:
            return np.nan
        try:
            if self._format == "":
                raise ValueError
            seconds = _parse_time(text, str(self._format), time.zone)
        except (ValueError, OverflowError) as err:
            formats = " or ".join(filter(None, [self._format] if self._format else time.format))
            raise self._error(f"{name} does not match the format {formats}", line, text) from err
        return seconds % DAY if time.is_time_of_day else seconds

    def _unwrap(self, t: np.ndarray) -> np.ndarray:
        """Unwrap times of day across midnight, from chunk to chunk."""
        previous = t[0] if np.isnan(self._last) else self._last
        unwrapped = unwrap_midnight(np.concatenate([[previous], t]))[0][1:] + self._days
        self._days, self._last = unwrapped[-1] - t[-1], t[-1]
        return unwrapped

    def _error(self, problem: str, line: int, found: Any) -> FormatError:
        return self.error(
            problem,
            line,
            found=None if found is None else str(found)[:80] or "nothing",
            remedy="the line may be damaged, or from another version or option of the tool; a declaration "
            "may have the wrong format or unit in time.",
        )


def _single_format(time: Time | None) -> str | None:
    """The only format of a time; "" if it has several, None for numbers."""
    if time is None or time.format in ((), ("number",)):
        return None
    return time.format[0] if len(time.format) == 1 else ""


def _has_format(text: str, time_format: str, zone: str) -> bool:
    if time_format == "number":
        return ONE_NUMBER.fullmatch(text) is not None
    try:
        _parse_time(text, time_format, zone)
    except (ValueError, OverflowError):
        return False
    return True


def parse_times_vectorized(texts: pa.Array, time_format: str, zone: str) -> np.ndarray | None:
    """Vectorised parsing of times in a zero-padded numeric format.

    None if a text deviates, which Python may still parse.
    """
    if time_format == "iso":
        return _parse_iso_vectorized(texts) if zone == "UTC" else None
    parts = re.findall(r"%.|[^%]", time_format)
    if not all(part in _WIDTHS or (len(part) == 1 and part.isascii()) for part in parts):
        return None
    if len(set(parts) & _WIDTHS.keys()) < sum(part in _WIDTHS for part in parts):
        return None
    lengths = pc.binary_length(texts).to_numpy()
    width = int(lengths[0])
    fraction = width - sum(_WIDTHS.get(part, 1) for part in parts if part != "%f")
    if (lengths != width).any() or not ((1 <= fraction <= 6) if "%f" in parts else fraction == 0):
        return None
    cells = np.frombuffer("".join(texts.to_pylist()).encode(), np.uint8).reshape(-1, width)
    components = {
        "%Y": np.full(len(cells), 1900),
        "%m": np.ones(len(cells), int),
        "%d": np.ones(len(cells), int),
    }
    position = 0
    for part in parts:
        size = fraction if part == "%f" else _WIDTHS.get(part, 1)
        column, position = cells[:, position : position + size], position + size
        if part not in _WIDTHS:
            if (column != ord(part)).any():
                return None
            continue
        if (column < ord("0")).any() or (column > ord("9")).any():
            return None
        components[part] = (column - ord("0")) @ 10 ** np.arange(size - 1, -1, -1)
    limits = (("%m", 1, 12), ("%H", 0, 23), ("%M", 0, 59), ("%S", 0, 59), ("%Y", 1000, 9999))
    if any(
        ((components[k] < low) | (components[k] > high)).any()
        for k, low, high in limits
        if k in components
    ):
        return None
    months = (components["%Y"] - 1970).astype("M8[Y]").astype("M8[M]") + (components["%m"] - 1)
    if (
        (components["%d"] < 1)
        | (months.astype("M8[D]") + components["%d"] - 1 >= (months + 1).astype("M8[D]"))
    ).any():
        return None
    days = (months.astype("M8[D]") + (components["%d"] - 1)).astype(np.int64)
    seconds = days * DAY + sum(
        components.get(k, 0) * n for k, n in (("%H", 3600), ("%M", 60), ("%S", 1))
    )
    if "%f" not in components:
        return seconds.astype(float)
    micros = seconds * 10**6 + components["%f"] * 10 ** (6 - fraction)
    return micros / 1e6 if (np.abs(micros) < EXACT).all() else None


def _parse_iso_vectorized(texts: pa.Array) -> np.ndarray | None:
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            micros = pc.cast(texts, kind).cast(pa.int64()).to_numpy()
        except pa.ArrowInvalid:
            continue
        # Python cannot represent some earlier dates
        fits = len(micros) and micros.min() >= 0 and micros.max() < EXACT
        return micros / 1e6 if fits else None
    return None


def _units_per_second(t: np.ndarray) -> np.ndarray:
    """Units per second of numbers since 1970, by their size: those of years from 1973 to 5138 differ."""
    steps = np.searchsorted(MILLISECONDS * np.array([1.0, 1e3, 1e6]), np.abs(t), side="right")
    return np.array([1.0, 1e3, 1e6, 1e9])[steps]


@lru_cache(MAX_CACHED_TEXTS)
def _parse_time(text: str, format_: str, zone: str) -> float:
    time = datetime.fromisoformat(text) if format_ == "iso" else datetime.strptime(text, format_)
    if time.tzinfo is not None:
        time = time.astimezone(ZoneInfo(zone))
    return time.replace(tzinfo=UTC).timestamp()


def _utc_offsets(t: np.ndarray, zone: str) -> np.ndarray:
    """UTC offset of a zone, in seconds, at seconds since 1970."""
    utc = pd.to_datetime(np.floor(t), unit="s", utc=True)
    local = utc.tz_convert(ZoneInfo(zone)).tz_localize(None)
    return ((local - utc.tz_localize(None)) / pd.Timedelta(seconds=1)).to_numpy(dtype=float)


Role = Literal["number", "name", "text"]
Cells = dict[str, Any]
"""By column: float64 array with NaN for missing values, dictionary array, or array of texts."""
_TYPES = {
    "number": pa.float64(),
    "name": pa.dictionary(pa.int32(), pa.string()),
    "text": pa.string(),
}
_QUOTE, _LINE_END = ord('"'), ord("\n")


class ArrowRowParser:
    """Arrow parser for the rows of a declared file with a delimiter.

    Parameters
    ----------
    width : int
        Columns of the file.
    required : dict of int to str
        Columns to read, by position.
    melted : collection of str
        Columns that `melt` turns into rows.
    """

    def __init__(
        self,
        width: int,
        required: dict[int, str],
        declaration: Declaration,
        melted: Collection[str],
    ) -> None:
        self._declaration, self._required = declaration, required
        self._keys = [str(index) for index in range(width)]  # names may be duplicate
        roles = _column_roles(declaration, set(required.values()), set(melted))
        self._roles: dict[str, Role] = {str(p): roles.get(n, "text") for p, n in required.items()}
        self._melted = {key for key in self._roles if required[int(key)] in set(melted)}
        self._unify_melted_roles()
        self._nulls = ["", *declaration.missing]
        self._max_times = _max_time_numbers(declaration)
        delimiter = declaration.delimiter
        self._usable = (
            width > 1 and bool(required) and delimiter.isascii() and delimiter not in '"\n\r'
        )

    def parse(self, text: str) -> Cells | None:
        """Parse whole lines without comments.

        None if a line is blank or does not fit, or if quotes occur other than around cells.
        """
        if not self._usable:
            return None
        data = text.encode()
        has_quotes = '"' in text
        if has_quotes and not _quotes_enclose_cells(data, self._declaration.delimiter):
            return None
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END)
        if ends[0] == 0 or (ends[1:] == ends[:-1] + 1).any():  # to Arrow: a row of empty cells
            return None
        try:
            table = self._read_csv(data, has_quotes, self._roles)
            columns = self._finite_columns(table)
        except pa.ArrowInvalid:
            columns = None
        if columns is None:
            texts: dict[str, Role] = {
                key: "text" if role == "number" else role for key, role in self._roles.items()
            }
            try:
                table = self._read_csv(data, has_quotes, texts)
            except pa.ArrowInvalid:
                return None
            columns = {key: table[key].combine_chunks() for key in texts}
            self._demote(columns)
        if table.num_rows != len(ends):
            return None
        return {self._required[int(key)]: column for key, column in columns.items()}

    def _read_csv(self, data: bytes, has_quotes: bool, roles: dict[str, Role]) -> pa.Table:
        return arrow_csv.read_csv(
            pa.py_buffer(data),
            arrow_csv.ReadOptions(
                use_threads=False, block_size=len(data) + 1, column_names=self._keys
            ),
            arrow_csv.ParseOptions(
                delimiter=self._declaration.delimiter,
                quote_char='"' if has_quotes else False,
                ignore_empty_lines=False,
            ),
            arrow_csv.ConvertOptions(
                column_types={key: _TYPES[role] for key, role in roles.items()},
                include_columns=list(roles),
                null_values=self._nulls,
                strings_can_be_null=False,
                decimal_point=self._declaration.decimal,
            ),
        )

    def _finite_columns(self, table: pa.Table) -> dict[str, Any] | None:
        """Columns; None if a number is not finite or out of range, so that the texts are needed."""
        columns: dict[str, Any] = {}
        for key, role in self._roles.items():
            column = table[key].combine_chunks()
            if role != "number":
                columns[key] = column
                continue
            values = column.to_numpy(zero_copy_only=False)
            if np.count_nonzero(~np.isfinite(values)) != column.null_count:
                return None
            latest = self._max_times.get(self._required[int(key)])
            if latest is not None and len(values):
                low, high = values.min(), values.max()
                if not (low >= 0 and high <= latest):  # includes NaN, a missing time
                    return None
            columns[key] = values
        return columns

    def _demote(self, columns: dict[str, Any]) -> None:
        """Read columns as text from here on if Arrow cannot parse their cells as numbers."""
        missing = pa.array(self._nulls, pa.string())
        for key, role in self._roles.items():
            if role == "number":
                present = columns[key].filter(pc.invert(pc.is_in(columns[key], missing)))
                try:
                    pc.cast(
                        pc.replace_substring(present, self._declaration.decimal, "."), pa.float64()
                    )
                except pa.ArrowInvalid:
                    self._roles[key] = "text"
        self._unify_melted_roles()

    def _unify_melted_roles(self) -> None:
        """Give columns that are melted into one the same role: text unless all are numbers."""
        if any(self._roles[key] != "number" for key in self._melted):
            self._roles |= dict.fromkeys(self._melted, "text")


def _quotes_enclose_cells(data: bytes, delimiter: str) -> bool:
    """Whether every quote begins or ends a cell, or is doubled within a quoted cell."""
    text = np.frombuffer(data, np.uint8)
    positions = np.flatnonzero(text == _QUOTE)
    if len(positions) % 2:
        return False
    opening, closing = positions[::2], positions[1::2]
    bytes_before, bytes_after = text[opening - 1], text[closing + 1]
    if len(opening) and opening[0] == 0:
        bytes_before[0] = _LINE_END
    allowed = np.zeros(256, dtype=bool)
    allowed[[ord(delimiter), _LINE_END, _QUOTE]] = True
    return bool(allowed[bytes_before].all() and allowed[bytes_after].all())


def _column_roles(
    declaration: Declaration, required: set[str], melted: set[str]
) -> dict[str, Role]:
    """Role of each column over all tables: number (plain), name (often repeats), or text.

    A column is text if tables disagree.
    """
    roles_by_name: dict[str, set[Role]] = {}

    def add(role: Role, *names: str | None) -> None:
        for name in filter(None, names):
            roles_by_name.setdefault(name, set()).add(role)

    for part in declaration.parts:
        plain_role: Role = "number" if _is_plain(declaration, part) else "text"
        add("name", *part.entity.name, *part.where, *part.unless, part.names)
        add(plain_role if part.names is not None else "text", part.value)
        for rule in part.fields:
            add("name", *rule.where, *rule.unless)
            add("text", *rule.needs, rule.per, rule.suffix, *rule.plus, *rule.minus)
            if part.names is None:
                add(
                    "number" if plain_role == "number" and _is_unconditional(rule) else "text",
                    rule.field,
                )
        if part.melt is not None:
            add(plain_role, *melted)
        time = part.time
        if time is not None:
            is_number = not time.format and not time.optional and time.plus is None
            role: Role = "number" if is_number and _is_parsed(declaration) else "text"
            is_text = bool(time.format) and "number" not in time.format
            add("name" if is_text else role, time.field, time.then)
            add("text", time.plus)
        if part.others and part.names is None:
            add(plain_role, *(required - set(declaration.input_fields)))
    return {
        name: next(iter(roles)) if len(roles) == 1 else "text"
        for name, roles in roles_by_name.items()
    }


def _is_unconditional(rule: Any) -> bool:
    conversions = (rule.printed, rule.within, rule.suffix, rule.needs, rule.per)
    return not any((*conversions, rule.plus, rule.minus))


def _is_plain(declaration: Declaration, part: TableDeclaration) -> bool:
    """Whether the numbers of a table need no conversion but parsing."""
    is_unmelted = part.names is None and part.melt is None
    return (
        _is_parsed(declaration)
        and part.printed is None
        and (
            is_unmelted
            or all(
                _is_unconditional(rule) and not (rule.where or rule.unless) for rule in part.fields
            )
        )
    )


def _is_parsed(declaration: Declaration) -> bool:
    """Whether Arrow's syntax of numbers and missing values is that of the declaration."""
    return not declaration.thousands and all(
        word == word.strip() and not ONE_NUMBER.fullmatch(word.replace(",", "."))
        for word in declaration.missing
    )


def _max_time_numbers(declaration: Declaration) -> dict[str, float]:
    """Largest valid number of each column of times."""
    limits: dict[str, float] = {}
    for part in declaration.parts:
        if part.time is not None and part.time.field is not None and not part.time.format:
            latest = LATEST * part.time.per_second
            limits[part.time.field] = min(latest, limits.get(part.time.field, latest))
    return limits
