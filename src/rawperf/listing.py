"""Listings: formats of text with rows of numbers, read part by part or line by line.

A format is a subclass of `Listing`, or of `LineListing`, with ``FORMAT = ListingFormat(Subclass)``.
The subclass finds the numbers of a part or of a line; what all listings have in common is here:
parts of the file, encoding, warnings, a truncated last line, the result.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO, ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray

from rawperf.base import ParsedFile, RecordBuilder, Streaming, Warnings
from rawperf.core.errors import FileReader
from rawperf.recognition import Recognised
from rawperf.text import IndexArray, PieceReader, cut_after_line, read_whole_file, recode

RecordsWithLines = tuple[pd.DataFrame, NDArray[np.int64]]
"""`ParsedFile.records`, and `ParsedFile.lines`."""
TRUNCATED_LINE = "the file is truncated; this line was left out"


_BLANK, _TAB, _CONTROLS = 32, 9, 5  # a blank; \t \n \v \f \r
_BLANKS = b" \t\n\v\f\r"
_DIGIT_0, _DIGIT_9 = ord("0"), ord("9")


@dataclass(frozen=True)
class ListingPart:
    """Some whole lines of a file, in UTF-8, split at ASCII blanks; the file's last line may lack its
    line feed.

    Attributes
    ----------
    lines_before : int
        Lines of the file before the part.
    is_last : bool
        Whether no part follows.
    begin, end : ndarray of int, shape (words,)
        Offsets of each word in `data`.
    line_begin, line_end : ndarray of int, shape (lines,)
        Offsets of each line, without its line feed.
    first_word : ndarray of int, shape (lines + 1,)
        Words ``first_word[i]`` to ``first_word[i + 1]``, the last one excluded, are those of line ``i``.
    words : pyarrow string array, shape (words,)
    """

    data: bytes
    lines_before: int = 0
    is_last: bool = True

    @cached_property
    def text(self) -> str:
        """The part as text."""
        return self.data.decode()

    @cached_property
    def characters(self) -> NDArray[np.uint8]:
        """The bytes of `data`."""
        return np.frombuffer(self.data, np.uint8)

    @cached_property
    def line_end(self) -> IndexArray:
        ends = np.flatnonzero(self.characters == ord("\n"))
        whole = self.data.endswith(b"\n") or not self.data
        return ends if whole else np.append(ends, len(self.data))

    @cached_property
    def line_begin(self) -> IndexArray:
        ends = self.line_end
        return np.concatenate([[0], ends[:-1] + 1]) if len(ends) else ends

    @cached_property
    def _edges(self) -> IndexArray:
        """Begin and end of each word in turn."""
        nonblank = (self.characters != _BLANK) & (self.characters - np.uint8(_TAB) >= _CONTROLS)
        edges = np.flatnonzero(nonblank[1:] != nonblank[:-1]) + 1
        if len(nonblank) and nonblank[0]:
            edges = np.concatenate([[0], edges])
        return np.append(edges, len(self.data)) if len(edges) % 2 else edges

    @cached_property
    def begin(self) -> IndexArray:
        return self._edges[::2]

    @cached_property
    def end(self) -> IndexArray:
        return self._edges[1::2]

    @cached_property
    def first_word(self) -> IndexArray:
        return np.append(np.searchsorted(self.begin, self.line_begin), len(self.begin))

    @cached_property
    def words(self) -> pa.StringArray:
        offsets = np.zeros(len(self.begin) + 1, dtype=np.int32)
        np.cumsum(self.end - self.begin, out=offsets[1:])
        texts = pa.py_buffer(self.data.translate(None, _BLANKS))
        return pa.StringArray.from_buffers(len(self.begin), pa.py_buffer(offsets), texts)

    def line(self, number: int) -> str:
        """Text of a line, numbered from 0."""
        return self.data[self.line_begin[number] : self.line_end[number]].decode()

    def is_digit(self, offsets: IndexArray) -> NDArray[np.bool_]:
        """Mask of the offsets at which a digit stands; False beyond the text."""
        byte = self.bytes_at(offsets)
        return (byte >= _DIGIT_0) & (byte <= _DIGIT_9)

    def bytes_at(self, offsets: IndexArray) -> NDArray[np.uint8]:
        """Bytes at these offsets; line feeds beyond the text."""
        if not self.data:
            return np.full(len(offsets), ord("\n"), dtype=np.uint8)
        bytes_at = self.characters[np.minimum(offsets, len(self.data) - 1)]
        return np.where(offsets < len(self.data), bytes_at, np.uint8(ord("\n")))

    def starts_with(self, offsets: IndexArray, text: bytes) -> NDArray[np.bool_]:
        """Mask of the offsets at which a given text starts."""
        is_match = np.ones(len(offsets), dtype=bool)
        for k, byte in enumerate(text):
            is_match &= self.bytes_at(offsets + k) == byte
        return is_match

    def numbered_lines(self) -> Iterator[tuple[int, str, bool]]:
        """Yield each line's number in the file, from 1, its text, and whether it lacks its end.

        Words or digits may be missing in a line without its end.
        """
        *lines, rest = self.text.split("\n")
        number = self.lines_before
        for number, line in enumerate(lines, start=self.lines_before + 1):
            yield number, line, False
        if rest:
            yield number + 1, rest, True


class Listing(FileReader, ABC):
    """A file of a format while it is read: one object for each file.

    Attributes
    ----------
    name, title : str
        Those of the format.
    reads_whole : bool
        Whether the file is one part, as if the clock or a value depends on its end.
    clock : str
        One of `rawperf.base.CLOCKS`; it may be set up to the end of the first part with records.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    reads_whole: ClassVar[bool] = False
    clock = "none"

    def __init__(self, file: str) -> None:
        self.file = file
        self.info: dict[str, str] = {}
        self.warnings = Warnings(file)

    def cut(self, lines: bytes, lines_before: int) -> int:
        """Number of bytes of `lines`, which are whole lines, to the end of the part; 0 if unknown.

        `lines_before` is the number of lines of the file before them.
        """
        return cut_after_line(lines)

    @abstractmethod
    def parse(self, part: ListingPart) -> RecordsWithLines | None:
        """`ParsedFile.records` and `ParsedFile.lines` of a part; None if they follow with a later part.

        Raises `FormatError` at a line that the tool does not print, and at the end of a file without
        numbers.
        """


class LineListing(Listing):
    """A listing that is read line by line; `parse_line` adds the records to `rows`."""

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.rows = RecordBuilder()

    def parse(self, part: ListingPart) -> RecordsWithLines | None:
        for number, line, is_truncated in part.numbered_lines():
            self.rows.line = number
            self.parse_line(line, number, is_truncated)
        if part.is_last:
            self.finish()
        return self.rows.take()

    @abstractmethod
    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        """Parse a line; `is_truncated` for a last line without its end; raises as `parse`."""

    def finish(self) -> None:
        """Complete records, clock and info after the last line; raises as `parse`."""


class ListingFormat(Recognised, Streaming):
    """A format whose files are read by a `Listing`; one of another package overrides `sniff`."""

    def __init__(self, listing: type[Listing]) -> None:
        self.listing = listing
        self.name, self.title = listing.name, listing.title

    def blocks(self, stream: BinaryIO, *, file: str = "<bytes>") -> Iterator[ParsedFile]:
        """Read a file part by part; raises `FormatError` as its `Listing` does."""
        listing = self.listing(file)
        for part in self._parts(listing, stream):
            yield from _read_part(listing, part)

    def _parts(self, listing: Listing, stream: BinaryIO) -> Iterator[ListingPart]:
        if listing.reads_whole:
            data = read_whole_file(stream, self.name, listing.file).replace(b"\r\n", b"\n")
            yield ListingPart(recode(data, listing.warnings), 0, True)
            return
        pieces: PieceReader = PieceReader(
            stream, lambda lines: listing.cut(lines, pieces.lines_before), listing.file
        )
        for piece in pieces:
            data = recode(piece, listing.warnings, pieces.lines_before)
            yield ListingPart(data, pieces.lines_before, pieces.is_last)


def _read_part(listing: Listing, part: ListingPart) -> Iterator[ParsedFile]:
    """Yield the content of a part, unless it follows with a later one.

    A generator, so that no records are kept while the next part is parsed.
    """
    parsed = listing.parse(part)
    if parsed is not None and (part.is_last or len(parsed[1])):
        records, lines = parsed
        messages = listing.warnings.drain(part.is_last)
        yield ParsedFile(records, listing.clock, dict(listing.info), messages, lines)
