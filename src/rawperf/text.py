"""Encoding, numbers and clocks of texts."""

from __future__ import annotations

import codecs
import re
from collections.abc import Sequence
from datetime import date

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.rows import Warnings

IndexArray = NDArray[np.int64]


DAY = 86400
HALF_DAY = DAY // 2
EPOCH = date(1970, 1, 1).toordinal()
_ESCAPE = re.compile(rb"\x1b(?:\[[0-9;?]*[A-Za-z]|\([A-Z0-9]|[=>])")
NUMBER = r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
_ONE_NUMBER = re.compile(NUMBER)
MAX_PYTHON_NUMBERS = 40
"""Number of texts that Python parses in the time of one Arrow call."""


def decode(data: bytes, file: str) -> tuple[str, tuple[str, ...]]:
    """Decode a raw file, without byte order mark and with line feeds for CR LF; a lone CR stays.

    Also returns warnings; recodes and raises as `recode` does.
    """
    warnings = Warnings(file)
    text = recode(data.removeprefix(codecs.BOM_UTF8), warnings).decode()
    return text.replace("\r\n", "\n"), warnings.drain()


def recode(data: bytes, warnings: Warnings, lines_before: int = 0) -> bytes:
    """Recode a text in UTF-8, after `lines_before` lines of the file.

    Each line is UTF-8, or else Latin-1, which can't fail; `warnings` names the first of those.
    Raises `FormatError` at a NUL character: a file system fills what a crash left unwritten with
    them, and readers skip lines that match no pattern.
    """
    place = data.find(b"\0")
    if place >= 0:
        raise FormatError(
            "a NUL character",
            file=warnings.file,
            line=lines_before + data.count(b"\n", 0, place) + 1,
            expected="text",
            remedy="the file is damaged, as by a crash while it was written: collect it again, or "
            "remove the damaged lines.",
        )
    data, bad_line = recode_utf8(data)
    if bad_line >= 0:
        sentence = "not UTF-8; such lines were read as Latin-1"
        warnings.add_once("utf8", lines_before + bad_line + 1, sentence)
    return data


def recode_utf8(data: bytes) -> tuple[bytes, int]:
    """Recode a text in UTF-8; also return the first line, from 0, that was Latin-1, else -1."""
    try:
        data.decode()
        return data, -1
    except UnicodeDecodeError as err:
        first = data.count(b"\n", 0, err.start)
    lines = data.split(b"\n")
    for number in range(first, len(lines)):
        try:
            lines[number].decode()
        except UnicodeDecodeError:
            lines[number] = lines[number].decode("latin-1").encode()
    return b"\n".join(lines), first


def strip_colours(data: bytes) -> bytes:
    """Strip terminal escape sequences for colour and cursor position."""
    return _ESCAPE.sub(b"", data) if b"\x1b" in data else data


def take_strings(values: Sequence[str], codes: np.ndarray) -> pd.api.extensions.ExtensionArray:
    """Build the string column ``[values[c] for c in codes]`` without a Python loop."""
    if len(values) == 1:
        return pd.array(pa.repeat(pa.scalar(values[0], pa.large_string()), len(codes)), dtype="str")
    return pd.array(pa.array(list(values), pa.large_string()).take(pa.array(codes)), dtype="str")


def split_blanks(texts: Sequence[str] | pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Tokenize many texts at runs of ASCII blanks; return the tokens and their offsets.

    ``tokens[offsets[i]:offsets[i + 1]]`` belong to text ``i``.
    """
    array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
    parts = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(array))
    offsets = np.asarray(parts.offsets)
    return parts.flatten(), offsets - offsets[0]


def parse_numbers(tokens: pa.Array | list[str]) -> tuple[np.ndarray, int]:
    """Parse decimal numbers as float64; also return the index of the first invalid token, else -1.

    A token is invalid if it is not a number or not finite.
    """
    if isinstance(tokens, list):
        if len(tokens) <= MAX_PYTHON_NUMBERS:
            values = np.array(
                [float(token) if _ONE_NUMBER.fullmatch(token) else np.nan for token in tokens]
            )
            return values, _first_non_finite(values)
        tokens = pa.array(tokens, pa.string())
    try:
        values = pc.cast(tokens, pa.float64()).to_numpy(zero_copy_only=False, writable=True)
    except pa.ArrowInvalid:
        is_number = pc.match_substring_regex(tokens, NUMBER).to_numpy(zero_copy_only=False)
        return np.full(len(tokens), np.nan), int(np.argmin(is_number))
    return values, _first_non_finite(values)


def _first_non_finite(values: np.ndarray) -> int:
    invalid = np.flatnonzero(~np.isfinite(values))
    return int(invalid[0]) if len(invalid) else -1


def clock_seconds(text: str, *, file: str, line: int) -> int:
    """Seconds since midnight of ``HH:MM:SS``, 24-hour; raises `FormatError` for anything else."""
    parts = text.split(":")
    if len(parts) == 3 and all(len(p) == 2 and p.isascii() and p.isdigit() for p in parts):
        hour, minute, second = map(int, parts)
        if hour < 24 and minute < 60 and second <= 60:  # 60 is a leap second
            return hour * 3600 + minute * 60 + second
    raise FormatError("not a time of day", file=file, line=line, expected="HH:MM:SS", found=text)


def unwrap_midnight(
    seconds: np.ndarray, previous: float = np.nan, days: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Unwrap times of day across midnights; also return the positions of backward clock steps.

    A step back of more than half a day is a midnight; a smaller one is a clock that was set back,
    and stays.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Times of day in file order.
    previous, days : float
        The preceding time of day, NaN if there is none, and the seconds that midnights before it
        add.
    """
    seconds = np.asarray(seconds, dtype=float)
    if not len(seconds):
        return seconds, np.zeros(0, dtype=int)
    step = np.diff(seconds, prepend=seconds[0] if np.isnan(previous) else previous)
    midnights = DAY * np.cumsum(step < -HALF_DAY)
    return seconds + midnights + days, np.flatnonzero((step < 0) & (step >= -HALF_DAY))
