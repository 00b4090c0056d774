"""Numbers as the z/VM Performance Toolkit prints them: ``8'192MB``, ``.3``, ``---``, ``1761K``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.core.units import conversion_factor

NUMBER = r"(?:[0-9]{1,3}(?:'[0-9]{3})+|[0-9]{1,15})"
_VALUE = re.compile(
    rf"({NUMBER}(?:\.[0-9]{{0,9}})?|\.[0-9]{{1,9}})[ ]?(kB|MB|GB|TB|B|K|M|G|%|/s|s)?"
)
_MISSING = re.compile(r"-+|\.{2,}")
_BYTES = {"B": "B", "kB": "KiB", "MB": "MiB", "GB": "GiB"}
_SIZES = ("B", "KiB", "MiB", "GiB")
_POWERS = {"K": 1024.0, "M": 1024.0**2, "G": 1024.0**3}
MAX_VALUE_LENGTH = 24
BLANK = ord(" ")
_GAP = np.uint8(0x10)
_PLAIN = str.maketrans("", "", "0123456789.")


def number(text: str, unit: str) -> float | None:
    """A printed value in `unit`: NaN for a missing one (blank, ``---``, ``....``), None for what is
    no value.

    ``kB``, ``MB`` and ``GB`` are powers of 1024 bytes. ``K``, ``M`` and ``G`` are powers of 1024
        too: of bytes where
    `unit` is a size, else of whatever is counted.
    """
    text = text.strip()
    if not text or _MISSING.fullmatch(text):
        return float("nan")
    match = _VALUE.fullmatch(text)
    if match is None:
        return None
    value, glued = float(match[1].replace("'", "")), match[2]
    if glued is None or glued == unit or (glued == "/s" and unit.endswith("/s")):
        return value
    if glued in _POWERS:
        return value * _POWERS[glued] * (conversion_factor("B", unit) if unit in _SIZES else 1.0)
    if glued in _BYTES and unit in (*_SIZES, "pages"):
        return value * conversion_factor(_BYTES[glued], unit)
    return None


_kept = lru_cache(maxsize=1 << 15)(number)  # for cells, which are short: "1761K" stands in many


def numbers(texts: Sequence[str], unit: str) -> list[float | None]:
    """Values of texts of one column, without blanks around; where all are plain numbers they may
    have more digits.
    """
    if (
        "".join(texts).translate(_PLAIN) == ""
        and max(map(len, texts), default=0) <= MAX_VALUE_LENGTH
    ):
        try:
            return [float(text) if text else float("nan") for text in texts]
        except ValueError:  # "...", "1.2.3"
            pass
    return [_kept(text, unit) for text in texts]


def letters_of(text: str, width: int) -> NDArray[np.uint8]:
    """The first characters of a text as a row of letters: white space is a blank (or 160), what has
    no code a ``?``.
    """
    text = text[:width].ljust(width)
    if not (text.isascii() and text.isprintable()):
        text = re.sub(r"[\x01-\x1f]", "?", re.sub(r"[^\S ]", "\xa0", text))
    return np.frombuffer(text.encode("latin-1", "replace"), np.uint8)


def distinct(letters: NDArray[np.uint8]) -> tuple[NDArray[np.int64], list[str]]:
    """Which text each row of letters is, and the texts."""
    rows, width = letters.shape
    data = pa.py_buffer(np.ascontiguousarray(letters))
    found = pa.Array.from_buffers(pa.binary(width), rows, [None, data]).dictionary_encode()
    texts = [text.decode("latin-1") for text in found.dictionary.to_pylist()]
    return found.indices.to_numpy(zero_copy_only=False).astype(np.int64), texts


def plain_numbers(
    letters: NDArray[np.uint8], cells: Sequence[tuple[int, int]]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Numbers of the cells of many rows at once, and which of them hold other than digits and a
    point up to their end.

    `cells` are begin and end of each column's. Both answers have the shape (rows, cells); numbers
    are NaN where a cell is blank or holds something else.
    """
    gap = np.full(
        (len(letters), 1), _GAP
    )  # so that no cell's characters have neighbours in another
    block = np.hstack([part for begin, end in cells for part in (gap, letters[:, begin:end])])
    starts = np.cumsum([0, *(end - begin + 1 for begin, end in cells)])
    flat = block.ravel()
    ink = flat - np.uint8(BLANK + 1) < 256 - BLANK  # all but gaps and blanks; a zero byte is ink
    digit, point = flat - np.uint8(ord("0")) <= 9, flat == ord(".")
    odd = ink & ~(digit | point)
    odd[1:] |= (flat[1:] == BLANK) & ink[:-1]
    lone = point.copy()
    lone[1:] &= ~digit[:-1]
    lone[:-1] &= ~digit[1:]
    row, column = np.divmod(np.flatnonzero(odd | lone), block.shape[1])
    others = np.zeros((len(letters), len(cells)), dtype=bool)
    others[row, np.searchsorted(starts, column, side="right") - 1] = True
    for k, (begin, end) in enumerate(cells):
        if end - begin > MAX_VALUE_LENGTH:
            others[:, k] |= (letters[:, begin : end - MAX_VALUE_LENGTH] != BLANK).any(axis=1)
    try:
        values = _cast(block, starts, others)
    except pa.ArrowInvalid:
        others |= (
            np.add.reduceat(point.reshape(block.shape), starts[:-1], axis=1, dtype=np.int64) > 1
        )
        values = _cast(block, starts, others)
    last = letters[:, [end - 1 for _, end in cells]]
    np.copyto(values, np.nan, where=others | (last == BLANK))
    return values, others


def _cast(
    block: NDArray[np.uint8], starts: NDArray[np.int64], others: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Numbers of the cells that begin at `starts`, 0 for the `others`; changes `block`."""
    for k in np.flatnonzero(others.any(axis=0)).tolist():
        block[others[:, k], starts[k] : starts[k + 1]] = BLANK
    block |= (block <= BLANK) * np.uint8(ord("0"))  # gaps and blanks become zeros
    rows, width = block.shape
    offsets = np.append((np.arange(rows)[:, None] * width + starts[:-1]).ravel(), block.size)
    texts = pa.LargeStringArray.from_buffers(
        len(offsets) - 1, pa.py_buffer(offsets), pa.py_buffer(block)
    )
    return np.asarray(pc.cast(texts, pa.float64())).reshape(rows, -1).copy()
