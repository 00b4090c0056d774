"""The words of many lines, found and read all at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

_BLANK, _TAB, _CONTROLS = 32, 9, 5  # a blank; \t \n \v \f \r
_BLANKS = b" \t\n\v\f\r"
_FIRST, _LATER = ord("0"), ord("9")

Places = NDArray[np.int64]


class WordOffsets:
    """The words of a text in UTF-8, which ASCII blanks part; the last line may lack its line feed.

    Attributes
    ----------
    begin, end : ndarray of int, shape (words,)
        Where each word stands in `bytes`.
    line_begin, line_end : ndarray of int, shape (lines,)
        Where each line stands, without its line feed.
    first : ndarray of int, shape (lines + 1,)
        Words ``first[i]`` to ``first[i + 1]``, the last one excluded, are those of line ``i``.
    array : pyarrow string array, shape (words,)
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.bytes = np.frombuffer(data, np.uint8)
        ends = np.flatnonzero(self.bytes == ord("\n"))
        if len(data) and not data.endswith(b"\n"):
            ends = np.append(ends, len(data))
        self.line_end: Places = ends
        self.line_begin: Places = np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends
        ink = (self.bytes != _BLANK) & (self.bytes - np.uint8(_TAB) >= _CONTROLS)
        edges = np.flatnonzero(ink[1:] != ink[:-1]) + 1
        if len(ink) and ink[0]:
            edges = np.concatenate([[0], edges])
        if len(edges) % 2:
            edges = np.append(edges, len(data))
        self.begin: Places = edges[::2]
        self.end: Places = edges[1::2]
        self.first: Places = np.append(
            np.searchsorted(self.begin, self.line_begin), len(self.begin)
        )
        offsets = np.zeros(len(self.begin) + 1, dtype=np.int32)
        np.cumsum(self.end - self.begin, out=offsets[1:])
        texts = pa.py_buffer(data.translate(None, _BLANKS))
        self.array = pa.StringArray.from_buffers(len(self.begin), pa.py_buffer(offsets), texts)

    def __len__(self) -> int:
        return len(self.line_begin)

    def line(self, number: int) -> str:
        """The text of a line, from 0."""
        return self.data[self.line_begin[number] : self.line_end[number]].decode()

    def digit(self, places: Places) -> NDArray[np.bool_]:
        """Whether the bytes at these places are digits; a place behind the text holds none."""
        found = self.at(places)
        return (found >= _FIRST) & (found <= _LATER)

    def at(self, places: Places) -> NDArray[np.uint8]:
        """The bytes at these places; behind the text there are line feeds."""
        if not len(self.bytes):
            return np.zeros(len(places), dtype=np.uint8)
        found = self.bytes[np.minimum(places, len(self.bytes) - 1)]
        return np.where(places < len(self.bytes), found, np.uint8(ord("\n")))

    def starting(self, places: Places, text: bytes) -> NDArray[np.bool_]:
        """Whether a text stands at each of these places."""
        found = np.ones(len(places), dtype=bool)
        for k, byte in enumerate(text):
            found &= self.at(places + k) == byte
        return found
