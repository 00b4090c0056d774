"""Ranges of 4 KiB pages as studies write them, in hexadecimal."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple


class Pages(NamedTuple):
    """Pages `first` to `last`, both included."""

    first: int
    last: int

    @property
    def mib(self) -> float:
        return (self.last - self.first + 1) / 256

    @property
    def on_mib_boundaries(self) -> bool:
        return self.first % 256 == 0 == (self.last + 1) % 256


def pages(ranges: Sequence[str]) -> Pages:
    """Ranges such as ``20000-5FFFF``, each of which begins where the one before it ends."""
    found = [Pages(*(int(page, 16) for page in text.split("-"))) for text in ranges]
    assert all(a.last + 1 == b.first for a, b in pairwise(found)), ranges
    return Pages(found[0].first, found[-1].last)
