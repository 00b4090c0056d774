"""Numbers as the z/VM Performance Toolkit prints them: ``8'192MB``, ``.3``, ``---``, ``1761K``."""

from __future__ import annotations

import re

import numpy as np

from virtperf.core.units import conversion_factor

NUMBER = r"(?:[0-9]{1,3}(?:'[0-9]{3})+|[0-9]{1,15})"
_VALUE = re.compile(rf"({NUMBER}(?:\.[0-9]{{0,9}})?|\.[0-9]{{1,9}})[ ]?(kB|MB|GB|TB|B|K|M|G|%|/s|s)?")
_MISSING = re.compile(r"-+|\.{2,}")
_BYTES = {"B": "B", "kB": "KiB", "MB": "MiB", "GB": "GiB"}
_SIZES = ("B", "KiB", "MiB", "GiB")
_POWERS = {"K": 1024.0, "M": 1024.0**2, "G": 1024.0**3}
LONGEST = 24
_PLAIN = str.maketrans("", "", "0123456789.")


def number(text: str, unit: str) -> float | None:
    """A printed value in `unit`: NaN for a missing one (blank, ``---``, ``....``), None for what is no value.

    ``kB``, ``MB`` and ``GB`` are powers of 1024 bytes. ``K``, ``M`` and ``G`` are powers of 1024 too: of bytes where
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


def numbers(cells: np.ndarray, unit: str) -> tuple[np.ndarray, int]:
    """Values of a column of texts, and the place of the first that is none, else -1."""
    cells = np.char.strip(cells)
    values = np.full(len(cells), np.nan)
    printed = cells != ""
    if "".join(np.unique(cells)).translate(_PLAIN) == "" and np.char.str_len(cells).max(initial=0) <= LONGEST:
        try:
            values[printed] = cells[printed].astype(np.float64)
        except ValueError:  # "...", "1.2.3"
            pass
        else:
            return values, -1
    for place in np.flatnonzero(printed):
        value = number(str(cells[place]), unit)
        if value is None:
            return values, int(place)
        values[place] = value
    return values, -1
