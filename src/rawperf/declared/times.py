"""Times of declared files: numbers, texts in a format, the line above, or none but an interval."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from itertools import count
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from rawperf.core.declaration import Time
from rawperf.core.errors import FormatError
from rawperf.declared.numbers import NumberReader
from rawperf.text import DAY, unwrap_midnight

LATEST = 253_402_300_800.0
"""The end of the year 9999, in seconds since 1970."""
MAX_CACHED_TEXTS = 100_000
"""Texts of times, or of conditions, that are remembered."""
MAX_PYTHON_TIMES = 100
"""Different texts that Python makes times of, one by one."""
EXACT = 2**53
"""Whole numbers below it are float64."""
_WIDTHS = {"%Y": 4, "%m": 2, "%d": 2, "%H": 2, "%M": 2, "%S": 2, "%f": 0}
_DATES = ("%Y", "%y", "%D", "%x", "%c", "%F", "%s", "%G", "%j", "iso")


class TimeReader:
    """Turns what a file says of times into seconds, chunk after chunk; `name` says what they count,
    as in `CLOCKS`.
    """

    def __init__(self, time: Time | None, numbers: NumberReader, file: str) -> None:
        self._time, self._numbers, self._file = time, numbers, file
        self._counts: defaultdict[str, count[int]] = defaultdict(count)
        self._days, self._last = 0.0, np.nan
        self.name = "none"
        if time is not None:
            numbered, format_ = time.numbered, time.format
            relative = time.interval_s is not None or (format_ is None and time.since == "start")
            by_day = format_ is not None and not any(part in format_ for part in _DATES)
            self.name = (
                "sample"
                if numbered
                else "elapsed"
                if relative
                else "time-of-day"
                if by_day
                else "absolute"
            )

    def given(self, cells: Any, plus: Any, lines: Sequence[int] | np.ndarray) -> np.ndarray:
        """Seconds of times that the file holds, as texts or numbers; `plus` is added to each.

        Raises `FormatError` at a time that is missing or none of its format, or that no clock
        shows.
        """
        time = self._time
        assert time is not None
        name = f"the time {time.field}" if time.field is not None else "the time"
        if time.format is not None:
            t = self._formatted(cells, name, lines)
        else:
            t = self._numbers.of(cells, lines, name)
            if plus is not None:
                with np.errstate(over="ignore"):  # infinite times are beyond all years
                    t = t + self._numbers.of(
                        plus, lines, f"{time.plus}, which is added to the time,"
                    )
            t = t / time.per_second
        missing = np.flatnonzero(np.isnan(t))
        if len(missing):
            raise self._error(f"{name} is missing", lines[missing[0]], None)
        wrong = np.flatnonzero((np.abs(t) > LATEST) | ((t < 0) & (self.name == "absolute")))
        if len(wrong):
            raise self._error(f"{name} is beyond all years", lines[wrong[0]], cells[wrong[0]])
        if time.format is None and self.name == "absolute" and time.zone != "UTC" and len(t):
            t = t + _offsets(t, time.zone)
        return self._unwrapped(t) if self.name == "time-of-day" and len(t) else t

    def counted(self, who: Sequence[str]) -> np.ndarray:
        """Times of samples that are numbered, each entity's from 0."""
        time = self._time
        places = np.array([next(self._counts[name]) for name in who], dtype=float)
        return (
            places
            if time is None or time.interval_s is None
            else time.start_s + places * time.interval_s
        )

    def _formatted(self, cells: Any, name: str, lines: Sequence[int] | np.ndarray) -> np.ndarray:
        """Seconds of texts in a format, NaN where there is none."""
        if not isinstance(cells, pa.Array):
            both = zip(cells, lines, strict=True)
            return np.array([self._text(cell, name, line) for cell, line in both], dtype=float)
        if not isinstance(cells, pa.DictionaryArray):
            cells = cells.dictionary_encode()
        texts, codes = cells.dictionary, cells.indices.to_numpy()
        assert self._time is not None
        seconds = texts_at_once(texts, self._time) if len(texts) > MAX_PYTHON_TIMES else None
        if seconds is not None:
            seconds = seconds % DAY if self.name == "time-of-day" else seconds
        else:
            firsts = np.zeros(len(texts), dtype=np.int64)
            firsts[codes[::-1]] = np.arange(len(codes))[::-1]
            seconds = np.array(
                [
                    self._text(text, name, lines[first])
                    for text, first in zip(texts.to_pylist(), firsts.tolist(), strict=True)
                ],
                dtype=float,
            )
        return seconds[codes]

    def _text(self, cell: Any, name: str, line: int) -> float:
        time = self._time
        assert time is not None and time.format is not None
        text = "" if cell is None else str(cell).strip()
        if not text:
            return np.nan
        try:
            seconds = _seconds(text, time.format, time.zone)
        except (ValueError, OverflowError) as err:
            raise self._error(f"{name} is not of the format {time.format}", line, text) from err
        return seconds % DAY if self.name == "time-of-day" else seconds

    def _unwrapped(self, t: np.ndarray) -> np.ndarray:
        """Times of day that go on growing past midnight, from chunk to chunk."""
        before = t[0] if np.isnan(self._last) else self._last
        grown = unwrap_midnight(np.concatenate([[before], t]))[0][1:] + self._days
        self._days, self._last = grown[-1] - t[-1], t[-1]
        return grown

    def _error(self, problem: str, line: int, found: Any) -> FormatError:
        return FormatError(
            problem,
            file=self._file,
            line=int(line),
            found=None if found is None else str(found)[:80] or "nothing",
            remedy="the line is damaged, or time in the declaration says another format or unit.",
        )


def texts_at_once(texts: pa.Array, time: Time) -> np.ndarray | None:
    """Seconds of many texts in a format of numbers with leading zeros; None where one is written in
    another way, which Python may know.
    """
    if time.format == "iso":
        return _iso_at_once(texts) if time.zone == "UTC" else None
    assert time.format is not None
    parts = re.findall(r"%.|[^%]", time.format)
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
    found = {
        "%Y": np.full(len(cells), 1900),
        "%m": np.ones(len(cells), int),
        "%d": np.ones(len(cells), int),
    }
    at = 0
    for part in parts:
        size = fraction if part == "%f" else _WIDTHS.get(part, 1)
        column, at = cells[:, at : at + size], at + size
        if part not in _WIDTHS:
            if (column != ord(part)).any():
                return None
            continue
        if (column < ord("0")).any() or (column > ord("9")).any():
            return None
        found[part] = (column - ord("0")) @ 10 ** np.arange(size - 1, -1, -1)
    limits = (("%m", 1, 12), ("%H", 0, 23), ("%M", 0, 59), ("%S", 0, 59), ("%Y", 1000, 9999))
    if any(((found[k] < low) | (found[k] > high)).any() for k, low, high in limits if k in found):
        return None
    months = (found["%Y"] - 1970).astype("M8[Y]").astype("M8[M]") + (found["%m"] - 1)
    if (
        (found["%d"] < 1)
        | (months.astype("M8[D]") + found["%d"] - 1 >= (months + 1).astype("M8[D]"))
    ).any():
        return None
    days = (months.astype("M8[D]") + (found["%d"] - 1)).astype(np.int64)
    whole = days * DAY + sum(found.get(k, 0) * n for k, n in (("%H", 3600), ("%M", 60), ("%S", 1)))
    if "%f" not in found:
        return whole.astype(float)
    micros = whole * 10**6 + found["%f"] * 10 ** (6 - fraction)
    return micros / 1e6 if (np.abs(micros) < EXACT).all() else None


def _iso_at_once(texts: pa.Array) -> np.ndarray | None:
    for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
        try:
            micros = pc.cast(texts, kind).cast(pa.int64()).to_numpy()
        except pa.ArrowInvalid:
            continue
        # some earlier ones are no dates of Python
        fits = len(micros) and micros.min() >= 0 and micros.max() < EXACT
        return micros / 1e6 if fits else None
    return None


@lru_cache(MAX_CACHED_TEXTS)
def _seconds(text: str, format_: str, zone: str) -> float:
    when = datetime.fromisoformat(text) if format_ == "iso" else datetime.strptime(text, format_)
    if when.tzinfo is not None:
        when = when.astimezone(ZoneInfo(zone))
    return when.replace(tzinfo=UTC).timestamp()


def _offsets(t: np.ndarray, zone: str) -> np.ndarray:
    """How far the clock of a zone is ahead of UTC at seconds since 1970."""
    at = pd.to_datetime(np.floor(t), unit="s", utc=True)
    local = at.tz_convert(ZoneInfo(zone)).tz_localize(None)
    return ((local - at.tz_localize(None)) / pd.Timedelta(seconds=1)).to_numpy(dtype=float)
