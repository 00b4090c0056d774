"""Text files in pieces that end where a format says, so that memory does not grow with the file."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator
from typing import BinaryIO

import numpy as np

from rawperf.core.errors import FormatError
from rawperf.packed import read_full
from rawperf.rows import Warnings
from rawperf.text import not_utf8, uncoloured, utf8

PIECE = 1024**2
"""Bytes that are read at a time."""
MAX_PIECE_BYTES = 32 * 1024**2
"""Bytes that a format may want to see at once."""
LARGEST_WHOLE = 256 * 1024**2
"""Bytes of a file that is read as a whole."""


class Pieces:
    """A file in pieces, of whole lines unless told otherwise.

    Lines end with a line feed; a byte order mark and the colours of a terminal are dropped. `cut`
    gets lines of the file, or all bytes as they are unless `by_line`, and says where a piece may
    end: the number of bytes before it, 0 for nowhere.
    """

    def __init__(
        self, stream: BinaryIO, cut: Callable[[bytes], int], file: str, by_line: bool = True
    ) -> None:
        self._stream, self._cut, self._file, self._by_line = stream, cut, file, by_line
        self.line = 0  # lines of the file before the piece
        self.last = False  # the piece is the file's last
        self.back = 0  # bytes at the piece's end to be given again with the next one; set by the reader of the pieces

    def __iter__(self) -> Iterator[bytes]:
        lines, rest = b"", b""  # whole lines, and the beginning of one
        begins = True
        while not self.last:
            raw = read_full(self._stream, PIECE)
            self.last = len(raw) < PIECE
            if begins:
                raw, begins = raw.removeprefix(codecs.BOM_UTF8), False
            rest += raw
            if self._by_line:
                end = len(rest) if self.last else rest.rfind(b"\n") + 1
                new = uncoloured(rest[:end])
                lines += new.replace(b"\r\n", b"\n") if b"\r" in new else new
                rest = rest[end:]
            else:
                lines, rest = lines + rest, b""
            if len(lines) + len(rest) > MAX_PIECE_BYTES:
                raise FormatError(
                    "no end of a sample or of a line",
                    file=self._file,
                    line=self.line + 1,
                    expected=f"one within {MAX_PIECE_BYTES} bytes",
                    remedy="the file is damaged, or another tool's.",
                )
            end = len(lines) if self.last else self._cut(lines)
            if not end and not self.last:
                continue
            self.back = 0
            yield lines[:end]
            end -= self.back
            self.line += line_ends(lines[:end])
            lines = lines[end:]


def recoded(piece: bytes, line: int, said: Warnings, file: str) -> bytes:
    """A piece in UTF-8; `said` is told once where it is not, `line` being how many lines are before
    it.
    """
    piece, strange = utf8(piece)
    if strange >= 0:
        said.once("utf8", not_utf8(file, line + strange))
    return piece


def whole(stream: BinaryIO, name: str, file: str) -> bytes:
    """All of a file whose format `name` reads it as a whole; raises `FormatError` where that is too
    much.

    Of a text the byte order mark and the colours of a terminal are dropped.
    """
    data = stream.read(LARGEST_WHOLE + 1)
    if len(data) > LARGEST_WHOLE:
        raise FormatError(
            f"the file is too large for {name}, which reads it as a whole",
            file=file,
            expected=f"at most {LARGEST_WHOLE} bytes",
            remedy="split it.",
        )
    return data if b"\0" in data[:PIECE] else uncoloured(data.removeprefix(codecs.BOM_UTF8))


def line_ends(text: bytes) -> int:
    """How many lines end in a text: ten times as fast as to count bytes in Python."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))


def line_end(lines: bytes) -> int:
    """Where the last whole line ends: a piece may end at any line."""
    return lines.rfind(b"\n") + 1


def paragraph_end(lines: bytes) -> int:
    """Where the last blank line ends: a piece ends behind a table."""
    place = lines.rfind(b"\n\n")
    return place + 2 if place >= 0 else 0
