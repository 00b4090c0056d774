"""Pages that differ from one before in nothing but times and rows: their rows are found by array
operations.
"""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from rawperf.perfkit.page import PAGE_BEGINS, Page
from rawperf.perfkit.table import RULE, Table
from rawperf.perfkit.values import BLANK
from rawperf.words import Places

_PADDING = 1024


class Part:
    """A part of a file, in UTF-8, below so many lines: where its lines and pages stand.

    Attributes
    ----------
    begin, end : ndarray of int, shape (lines,)
        Where each line stands, without its line feed.
    reports : list of str
        Of each page.
    pages, first : ndarray of int, shape (pages + 1,)
        Where each page begins, and with which line, from 0; then the part's end, and the number of
        lines.
    odd : ndarray of int, shape (pages + 1,)
        The last place in each page of what a message or a prompt holds but no row, or is not
        printable, else -1.
    number, repeated : ndarray, shape (pages,)
        Set by the reader: place of each page among those that were read, and whether it goes on
        with the interval of the one before, so that averages were read already.
    """

    def __init__(self, data: bytes, above: int) -> None:
        self.data, self.above = data, above
        self.bytes = np.frombuffer(data + b" " * _PADDING, np.uint8)
        own = self.bytes[: len(data)]
        strange = np.flatnonzero(own - np.uint8(BLANK) > 94)
        breaks = own[strange] == ord("\n")
        ends, strange = (
            strange[breaks],
            np.append(strange[~breaks], np.flatnonzero(own == ord("="))),
        )
        self.end: Places = ends if data.endswith(b"\n") else np.append(ends, len(data))
        self.begin: Places = np.concatenate([[0], self.end[:-1] + 1])
        begins: list[int] = []
        self.reports: list[str] = []
        odd = self._places(b"Select", 2).tolist()
        for at in self._places(b"FCX", 2).tolist():
            begin = data.rfind(b"\n", max(at - 5, 0), at) + 1
            line = data[begin : data.find(b"\n", at) + 1 or len(data)] if at - begin < 5 else b""
            if match := PAGE_BEGINS.match(line.decode()):
                begins.append(begin)
                self.reports.append(match[1])
            else:
                odd.append(at)
        self.pages: Places = np.array([*begins, len(data)])
        self.first: Places = np.append(
            np.searchsorted(self.begin, self.pages[:-1]), len(self.begin)
        )
        self.odd: Places = np.full(len(begins) + 1, -1)
        places = np.append(strange, np.array(odd, dtype=np.int64))
        np.maximum.at(self.odd, np.searchsorted(self.pages, places, side="right") - 1, places)
        self.number: Places = np.full(len(begins), -1)
        self.repeated = np.zeros(len(begins), dtype=bool)

    def _places(self, text: bytes, rare: int) -> Places:
        """Where a text stands, sought by the one of its characters that is the rarest."""
        at = np.flatnonzero(self.bytes[: len(self.data)] == text[rare]) - rare
        for k, byte in enumerate(text):
            at = at[self.bytes[at + k] == byte]
        return at

    def line(self, number: int) -> str:
        """The text of a line, from 0."""
        return self.data[self.begin[number] : self.end[number]].decode()

    def letters(self, lines: Places, width: int) -> NDArray[np.uint8]:
        """The first characters of some lines, shape (lines, width), with blanks behind a line's
        end.
        """
        if width > len(self.bytes) - len(self.data):
            self.bytes = np.append(
                self.bytes[: len(self.data)], np.full(width, BLANK, dtype=np.uint8)
            )
        found = sliding_window_view(self.bytes, width)[self.begin[lines]]
        length = self.end[lines] - self.begin[lines]
        if len(length) and length.min() < width:
            np.copyto(found, np.uint8(BLANK), where=np.arange(width) >= length[:, None])
        return found


class Template:
    """A page's lines above its rows (`top`), for pages that differ in nothing but times, the page's
    number and rows.

    `common` is what all such pages have in common.
    """

    def __init__(self, page: Page, table: Table, top: str) -> None:
        self.page, self.table = page, table
        self._top = np.frombuffer(top.encode(), np.uint8)
        self._lines = top.count("\n")
        begin, end, said = page.places
        self._digits = [at + k for at in (begin, end) for k in (0, 1, 3, 4, 6, 7)]
        self._unsaid = slice(said, top.index("\n"))
        self._free = np.zeros(len(top), dtype=bool)
        self._free[self._digits] = self._free[self._unsaid] = True
        self.common = np.where(self._free, np.uint8(0), self._top).tobytes()

    def rows(self, part: Part, pages: Places) -> list[list[int]]:
        """Give the table the rows of those pages that are regular: these pages, begin and end of
        their intervals.
        """
        pages = pages[part.pages[pages + 1] - part.pages[pages] > len(self._top)]
        if not len(pages):
            return []
        tops = sliding_window_view(part.bytes, len(self._top))[part.pages[pages]]
        digits = tops[:, self._digits] - np.uint8(ord("0"))
        clocks = digits.reshape(-1, 2, 3, 2) @ np.array([10, 1])
        same = ((tops == self._top) | self._free).all(axis=1) & (
            tops[:, self._unsaid] >= BLANK
        ).all(axis=1)
        same &= (digits <= 9).all(axis=1) & (clocks < [24, 60, 61]).all(axis=(1, 2))
        same &= part.odd[pages] < part.pages[pages] + len(self._top)
        if not same.any():
            return []
        pages, clocks = pages[same], clocks[same] @ np.array([3600, 60, 1])
        return np.column_stack([pages, clocks])[self._taken(part, pages)].tolist()

    def _taken(self, part: Part, pages: Places) -> NDArray[np.bool_]:
        """Whether every line of a page is a row or none at all, and one of them not an average."""
        first = part.first[pages] + self._lines
        counts = part.first[pages + 1] - first
        own = np.repeat(np.arange(len(pages)), counts)
        lines = np.arange(len(own)) + np.repeat(first - np.cumsum(counts) + counts, counts)
        letters = part.letters(lines, self.table.reach)
        entity, kind, fits = self.table.tell(letters)
        if self.page.asa:
            fits &= letters[:, 0] == BLANK
        regular = np.bincount(own[fits & (kind == 0)], minlength=len(pages)) > 0
        empty = part.end[lines] == part.begin[lines]
        for place in np.flatnonzero(~fits & ~empty).tolist():
            if regular[own[place]] and not RULE.fullmatch(part.line(lines[place])):
                regular[own[place]] = False
        fits &= regular[own]
        if fits.any():
            self.table.found.append((lines[fits], pages[own[fits]], entity[fits], kind[fits]))
        return regular
