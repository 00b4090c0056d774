"""Chunked reading of text files, cut at boundaries of the format, so that memory is bounded.

Compressed files (gzip, xz, bzip2, zstd) are decompressed on the fly, within limits that no text
file comes near.
"""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa

from rawperf.core.errors import FormatError
from rawperf.core.files import MAX_UNPACK_RATIO, max_unpacked_bytes
from rawperf.text import strip_colours

MAGIC = {b"\x1f\x8b\x08": "gzip", b"\xfd7zXZ\0": "xz", b"BZh": "bzip2", b"\x28\xb5\x2f\xfd": "zstd"}
SUFFIXES = (".gz", ".xz", ".bz2", ".zst")
CHUNK_BYTES = 256 * 1024
HEAD_BYTES = 8192
_XZ_MEMORY = 128 * 1024**2
_DECOMPRESSION_ERRORS = (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError)


def detect_compression(head: bytes) -> str:
    """Compression format from the magic bytes; "" if there is none."""
    return next((name for magic, name in MAGIC.items() if head.startswith(magic)), "")


def extract_head(data: bytes) -> bytes:
    """Head of a file for recognition, `HEAD_BYTES` or fewer: decompressed, without byte order mark
    and colours; empty if it is damaged.
    """
    return strip_colours(_decompressed_head(data).removeprefix(codecs.BOM_UTF8))


def _decompressed_head(data: bytes) -> bytes:
    kind = detect_compression(data)
    if not kind:
        return data[:HEAD_BYTES]
    try:
        if kind == "zstd":
            with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
                return bytes(stream.read(HEAD_BYTES))
        return _decompressor(kind).decompress(data[:CHUNK_BYTES], HEAD_BYTES)
    except _DECOMPRESSION_ERRORS:
        return b""


def decompress_stream(stream: BinaryIO, *, file: str) -> BinaryIO:
    """Decompress a stream if necessary.

    Reading raises `FormatError` if the compressed data are damaged, truncated, or expand far more
    than a log would.
    """
    head = read_full(stream, CHUNK_BYTES)
    kind = detect_compression(head)
    source = _IteratorStream(_chain_head(head, stream))
    return io.BufferedReader(
        _IteratorStream(_decompress(source, kind, file)) if kind else source, CHUNK_BYTES
    )


def peek_stream(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """Read the first `CHUNK_BYTES` bytes for recognition; also return the stream with them restored."""
    head = read_full(stream, CHUNK_BYTES)
    return head, io.BufferedReader(_IteratorStream(_chain_head(head, stream)), CHUNK_BYTES)


def read_full(stream: BinaryIO, size: int) -> bytes:
    """Read `size` bytes, fewer only at the end."""
    parts: list[bytes] = []
    while size > 0 and (part := stream.read(size)):
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


def _decompressor(kind: str) -> Any:
    if kind == "gzip":
        return zlib.decompressobj(wbits=31)
    return bz2.BZ2Decompressor() if kind == "bzip2" else lzma.LZMADecompressor(memlimit=_XZ_MEMORY)


class _IteratorStream(io.RawIOBase):
    """Raw stream over an iterator of bytes; counts the bytes read."""

    def __init__(self, parts: Iterator[bytes]) -> None:
        super().__init__()
        self._parts, self._rest = parts, b""
        self.bytes_read = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        view = memoryview(buffer)
        self._rest = self._rest or next(self._parts, b"")
        part = self._rest[: len(view)]
        self._rest = self._rest[len(part) :]
        view[: len(part)] = part
        self.bytes_read += len(part)
        return len(part)


def _chain_head(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    """Chain the bytes already read and the rest of a stream."""
    while head:
        yield head
        head = stream.read(CHUNK_BYTES)


def _decompress(source: _IteratorStream, kind: str, file: str) -> Iterator[bytes]:
    """Decompress a stream, limiting its expansion."""
    produced = 0
    try:
        for part in (
            _decompress_zstd(source) if kind == "zstd" else _decompress_members(source, kind)
        ):
            produced += len(part)
            if produced > max_unpacked_bytes(source.bytes_read):
                raise FormatError(
                    "the decompressed file is too large",
                    file=file,
                    expected=f"at most {MAX_UNPACK_RATIO} times the compressed size",
                    found=f"{produced} bytes from {source.bytes_read}",
                    remedy="decompress it and check its content.",
                )
            yield part
    except _DECOMPRESSION_ERRORS as err:
        raise FormatError(
            f"the {kind} data are damaged",
            file=file,
            found=f"{type(err).__name__}: {err}"[:200],
            remedy="copy the file again, or decompress the intact part.",
        ) from err


def _decompress_zstd(source: _IteratorStream) -> Iterator[bytes]:
    with pa.CompressedInputStream(pa.PythonFile(source, mode="r"), "zstd") as stream:
        while part := stream.read(CHUNK_BYTES):
            yield bytes(part)


def _decompress_members(source: _IteratorStream, kind: str) -> Iterator[bytes]:
    """Decompress the concatenated members of a gzip, xz or bzip2 stream."""
    pending = source.read(CHUNK_BYTES) or b""
    while pending:
        decompressor = _decompressor(kind)
        decompress: Callable[[bytes, int], bytes] = decompressor.decompress
        while not decompressor.eof:
            part = decompress(pending, CHUNK_BYTES)
            pending = decompressor.unconsumed_tail if kind == "gzip" else b""
            if part:
                yield part
            if (
                not decompressor.eof
                and not pending
                and (kind == "gzip" or decompressor.needs_input)
            ):
                pending = source.read(CHUNK_BYTES) or b""
                if not pending:
                    raise EOFError("the file is truncated")
        pending = decompressor.unused_data or source.read(CHUNK_BYTES) or b""
        pending = pending.lstrip(b"\0") if kind != "bzip2" else pending  # padding


PIECE_BYTES = 1024**2
"""Bytes per read."""
MAX_PIECE_BYTES = 32 * 1024**2
"""Largest piece that a format may request."""
MAX_WHOLE_BYTES = 256 * 1024**2
"""Largest file that is read as a whole."""


class PieceReader:
    """Iterator over a file in pieces, of whole lines unless `by_line` is False.

    Lines end with a line feed; a byte order mark and the colours of a terminal are dropped. `cut`
    gets lines of the file, or all bytes unchanged unless `by_line`, and returns the number of bytes
    before the piece's end, 0 if it can't end yet.
    """

    def __init__(
        self, stream: BinaryIO, cut: Callable[[bytes], int], file: str, by_line: bool = True
    ) -> None:
        self._stream, self._cut, self._file, self._by_line = stream, cut, file, by_line
        self.lines_before = 0  # lines of the file before the piece
        self.is_last = False  # whether the piece is the file's last
        # bytes at the piece's end to repeat in the next one; set by the consumer
        self.bytes_to_repeat = 0

    def __iter__(self) -> Iterator[bytes]:
        lines, rest = b"", b""  # complete lines, and a partial one
        at_start = True
        while not self.is_last:
            data = read_full(self._stream, PIECE_BYTES)
            self.is_last = len(data) < PIECE_BYTES
            if at_start:
                data, at_start = data.removeprefix(codecs.BOM_UTF8), False
            rest += data
            if self._by_line:
                end = len(rest) if self.is_last else rest.rfind(b"\n") + 1
                complete = strip_colours(rest[:end])
                lines += complete.replace(b"\r\n", b"\n") if b"\r" in complete else complete
                rest = rest[end:]
            else:
                lines, rest = lines + rest, b""
            if len(lines) + len(rest) > MAX_PIECE_BYTES:
                raise FormatError(
                    "a sample or a line is too long",
                    file=self._file,
                    line=self.lines_before + 1,
                    expected=f"its end within {MAX_PIECE_BYTES} bytes",
                    remedy="the file is damaged, or from another tool.",
                )
            end = len(lines) if self.is_last else self._cut(lines)
            if not end and not self.is_last:
                continue
            self.bytes_to_repeat = 0
            yield lines[:end]
            end -= self.bytes_to_repeat
            self.lines_before += count_line_feeds(lines[:end])
            lines = lines[end:]


def read_whole_file(stream: BinaryIO, name: str, file: str) -> bytes:
    """Read a whole file for a format `name` that does not stream.

    The byte order mark and the colours of a terminal are dropped from text. Raises `FormatError` if
    the file is too large.
    """
    data = stream.read(MAX_WHOLE_BYTES + 1)
    if len(data) > MAX_WHOLE_BYTES:
        raise FormatError(
            f"the file is too large for {name}, which reads it as a whole",
            file=file,
            expected=f"at most {MAX_WHOLE_BYTES} bytes",
            remedy="split it.",
        )
    return (
        data if b"\0" in data[:PIECE_BYTES] else strip_colours(data.removeprefix(codecs.BOM_UTF8))
    )


def count_line_feeds(text: bytes) -> int:
    """Count the line feeds of a text, ten times as fast as in Python."""
    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord("\n")))


def cut_after_line(lines: bytes) -> int:
    """Cut after the last complete line."""
    return lines.rfind(b"\n") + 1
