"""The elements of a long list in JSON, and their numbers, found without making objects of them."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

_ESCAPE = re.compile(rb"\\.", re.DOTALL)
_QUOTE, _OPENING, _CLOSING, _LETTER_BIT = ord('"'), ord("{"), ord("}"), 0x20
_IN_NUMBERS = np.zeros(256, dtype=bool)
_IN_NUMBERS[list(b"0123456789+-.eE")] = True
_BEGINS_NUMBER = np.zeros(256, dtype=bool)
_BEGINS_NUMBER[list(b"0123456789-")] = True
_NUMBER = r"^-?(0|[1-9][0-9]*)([.][0-9]+)?([eE][+-]?[0-9]+)?$"

Places = NDArray[np.int64]


class Elements:
    """The objects and arrays of a list, and their numbers; `data` begins behind its bracket, or
    behind an element.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        plain = _ESCAPE.sub(b"__", data) if b"\\" in data else data
        text = np.frombuffer(plain, np.uint8)
        outside = np.bitwise_xor.accumulate((text == _QUOTE).view(np.uint8)) == 0
        kind = text | np.uint8(_LETTER_BIT)  # makes { of [ and } of ]
        brackets = np.flatnonzero(((kind == _OPENING) | (kind == _CLOSING)) & outside)
        depth = np.cumsum(np.where(kind[brackets] == _OPENING, 1, -1))
        closing = np.flatnonzero(depth < 0)
        # where the bracket is that closes the list, -1 where it is not in sight
        self.closed = int(brackets[closing[0]]) if len(closing) else -1
        if len(closing):
            brackets, depth = brackets[: closing[0]], depth[: closing[0]]
        ends = np.flatnonzero(depth == 0)
        # where the whole elements stand
        self.end: Places = brackets[ends] + 1
        self.begin: Places = brackets[np.append(0, ends[:-1] + 1)] if len(ends) else ends
        inside = _IN_NUMBERS[text] & outside
        edges = np.flatnonzero(np.diff(inside, prepend=False, append=False))
        at, behind = edges[::2], edges[1::2]
        real = _BEGINS_NUMBER[text[at]]
        for k in np.flatnonzero(~real).tolist():  # the e of true and false
            inside[at[k] : behind[k]] = False
        # where the numbers stand
        self.at: Places = at[real]
        self.behind: Places = behind[real]
        self._inside, self._text = inside, text

    def shapes(self) -> list[bytes]:
        """The text of each element with a 0 in the place of each number."""
        original = np.frombuffer(self.data, np.uint8).copy()
        original[self.at] = ord("0")
        kept = ~self._inside
        kept[self.at] = True
        text = original[kept].tobytes()
        less = np.concatenate([[0], np.cumsum(self.behind - self.at - 1)])

        def moved(places: Places) -> list[int]:
            found: list[int] = (places - less[np.searchsorted(self.at, places)]).tolist()
            return found

        return [
            text[begin:end] for begin, end in zip(moved(self.begin), moved(self.end), strict=True)
        ]

    def values(self) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """All numbers, and which of them JSON and float64 allow."""
        lengths = self.behind - self.at
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        texts = pa.StringArray.from_buffers(
            len(lengths), pa.py_buffer(offsets), pa.py_buffer(self._text[self._inside])
        )
        fine = pc.match_substring_regex(texts, _NUMBER).to_numpy(zero_copy_only=False)
        if not fine.all():
            texts = pc.if_else(pa.array(fine), texts, "0")
        values = pc.cast(texts, pa.float64()).to_numpy(zero_copy_only=False)
        return values, fine & np.isfinite(values)
