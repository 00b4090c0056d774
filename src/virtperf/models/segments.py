"""Saved segments: page ranges of virtual storage in hexadecimal, and their sizes.

z/VM defines a discontiguous saved segment (DCSS) by the first and last number of its 4 KiB pages,
both included; it begins and ends on a 1 MiB boundary (Saved Segments Planning and Administration,
SC24-6116). One segment can hold at most 2047 MiB; larger devices join several of them end to end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

import pandas as pd

from rawperf.core.errors import RawperfError

PAGES_PER_MIB = 256
MAX_SEGMENT_MIB = 2047
_RANGE = re.compile(r"\s*([0-9A-Fa-f]{1,13})\s*-\s*([0-9A-Fa-f]{1,13})\s*")


@dataclass(frozen=True, order=True)
class PageRange:
    """Pages `first` to `last`, both included.

    Raises
    ------
    RawperfError
        A negative page number, or a last page below the first.
    """

    first: int
    last: int

    def __post_init__(self) -> None:
        if not 0 <= self.first <= self.last:
            raise RawperfError(
                "the page range is out of order or negative",
                expected="0 <= first page <= last page",
                found=str(self),
            )

    @classmethod
    def parse(cls, text: str) -> PageRange:
        """Parse a range in the syntax of DEFSEG, such as ``20000-5FFFF``."""
        match = _RANGE.fullmatch(text)
        if match is None:
            raise RawperfError(
                "invalid page range",
                expected="two hexadecimal page numbers as in 20000-5FFFF",
                found=repr(text),
            )
        return cls(int(match[1], 16), int(match[2], 16))

    def __str__(self) -> str:
        return f"{self.first:X}-{self.last:X}"

    @property
    def pages(self) -> int:
        """Number of pages."""
        return self.last - self.first + 1

    @property
    def mib(self) -> float:
        """Size in MiB."""
        return self.pages / PAGES_PER_MIB

    @property
    def on_mib_boundaries(self) -> bool:
        """Whether it begins and ends on a 1 MiB boundary, as a DCSS must."""
        return self.first % PAGES_PER_MIB == 0 and (self.last + 1) % PAGES_PER_MIB == 0

    def overlaps(self, other: PageRange) -> bool:
        """Whether the two share a page."""
        return self.first <= other.last and other.first <= self.last


def merged_range(ranges: Sequence[PageRange]) -> PageRange:
    """Join adjacent ranges to one.

    Raises
    ------
    RawperfError
        No ranges, a gap or an overlap; names the two ranges.
    """
    if not ranges:
        raise RawperfError("no ranges to join", expected="at least one page range")
    for a, b in pairwise(ranges):
        if b.first != a.last + 1:
            kind = "overlap" if a.overlaps(b) else "are not adjacent"
            raise RawperfError(
                f"the ranges {a} and {b} {kind}", expected=f"the second to begin at {a.last + 1:X}"
            )
    return PageRange(ranges[0].first, ranges[-1].last)


def overlaps(named: Iterable[tuple[str, PageRange]]) -> list[tuple[str, str]]:
    """Return all pairs of names with overlapping ranges, in the given order."""
    return [(a, b) for (a, first), (b, second) in combinations(named, 2) if first.overlaps(second)]


def address_table(segments: Sequence[tuple[str, PageRange, float]]) -> pd.DataFrame:
    """Compare the sizes computed from page ranges with the stated sizes.

    Parameters
    ----------
    segments : sequence of (name, range, stated size in MiB)

    Returns
    -------
    DataFrame
        name, first, last (hexadecimal), pages, mib, stated_mib, short_mib (stated minus actual),
        segments (number of segments of at most 2047 MiB), boundaries (whether both ends are on 1
        MiB).
    """
    rows = [
        {
            "name": name,
            "first": f"{r.first:X}",
            "last": f"{r.last:X}",
            "pages": r.pages,
            "mib": r.mib,
            "stated_mib": stated,
            "short_mib": stated - r.mib,
            "segments": math.ceil(r.mib / MAX_SEGMENT_MIB),
            "boundaries": r.on_mib_boundaries,
        }
        for name, r, stated in segments
    ]
    return pd.DataFrame(rows)
