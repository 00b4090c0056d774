"""Text files: encoding, numbers and clocks; reading in chunks, cut at boundaries of the format, so
that memory is bounded.

Compressed files (gzip, xz, bzip2, zstd) are decompressed on the fly, within limits that no text
file comes near.
"""

from __future__ import annotations

import bz2
import codecs
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.base import Warnings
from rawperf.core.errors import FormatError
from rawperf.core.files import MAX_UNPACK_RATIO, max_unpacked_bytes

IndexArray = NDArray[np.int64]


DAY = 86400
HALF_DAY = DAY // 2
EPOCH = date(1970, 1, 1).toordinal()
_ESCAPE = re.compile(rb"\x1b(?:\[[0-9;?]*[A-Za-z]|\([A-Z0-9]|[=>])")
NUMBER = r"^[-+]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][-+]?[0-9]+)?$"
ONE_NUMBER = re.compile(NUMBER)
MAX_PYTHON_NUMBERS = 40
"""Number of texts that Python parses in the time of one Arrow call."""


def decode(data: bytes, file: str) -> tuple[str, tuple[str, ...]]:
    """Decode a raw file, without byte order mark and with line feeds for CR LF; a lone CR stays.

    Also returns warnings; recodes and raises as `recode` does.
    """
    warnings = Warnings(file)
    text = recode(data.removeprefix(codecs.BOM_UTF8), warnings).decode()
    return text.replace("\r\n", "\n"), warnings.drain()


def recode(data: bytes, warnings: Warnings, lines_before: int = 0) -> bytes:
    """Recode a text in UTF-8, after `lines_before` lines of the file.

    Each line is UTF-8, or else Latin-1, which can't fail; `warnings` names the first of those.
    Raises `FormatError` at a NUL character: a file system fills what a crash left unwritten with
    them, and readers skip lines that match no pattern.
    """
    place = data.find(b"\0")
    if place >= 0:
        raise FormatError(
            "a NUL character",
            file=warnings.file,
            line=lines_before + data.count(b"\n", 0, place) + 1,
            expected="text",
            remedy="the file is damaged, as by a crash while it was written: collect it again, or "
            "remove the damaged lines.",
        )
    data, bad_line = recode_utf8(data)
    if bad_line >= 0:
        sentence = "not UTF-8; such lines were read as Latin-1"
        warnings.add_once("utf8", lines_before + bad_line + 1, sentence)
    return data


def recode_utf8(data: bytes) -> tuple[bytes, int]:
    """Recode a text in UTF-8; also return the first line, from 0, that was Latin-1, else -1."""
    try:
        data.decode()
        return data, -1
    except UnicodeDecodeError as err:
        first = data.count(b"\n", 0, err.start)
    lines = data.split(b"\n")
    for number in range(first, len(lines)):
        try:
            lines[number].decode()
        except UnicodeDecodeError:
            lines[number] = lines[number].decode("latin-1").encode()
    return b"\n".join(lines), first


def strip_colours(data: bytes) -> bytes:
    """Strip terminal escape sequences for colour and cursor position."""
    return _ESCAPE.sub(b"", data) if b"\x1b" in data else data


def take_strings(values: Sequence[str], codes: np.ndarray) -> pd.api.extensions.ExtensionArray:
    """Build the string column ``[values[c] for c in codes]`` without a Python loop."""
    if len(values) == 1:
        return pd.array(pa.repeat(pa.scalar(values[0], pa.large_string()), len(codes)), dtype="str")
    return pd.array(pa.array(list(values), pa.large_string()).take(pa.array(codes)), dtype="str")


def split_blanks(texts: Sequence[str] | pa.Array) -> tuple[pa.Array, np.ndarray]:
    """Tokenize many texts at runs of ASCII blanks; return the tokens and their offsets.

    ``tokens[offsets[i]:offsets[i + 1]]`` belong to text ``i``.
    """
    array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.string())
    parts = pc.ascii_split_whitespace(pc.ascii_trim_whitespace(array))
    offsets = np.asarray(parts.offsets)
    return parts.flatten(), offsets - offsets[0]


def parse_numbers(tokens: pa.Array | list[str]) -> tuple[np.ndarray, int]:
    """Parse decimal numbers as float64; also return the index of the first invalid token, else -1.

    A token is invalid if it is not a number or not finite.
    """
    if isinstance(tokens, list):
        if len(tokens) <= MAX_PYTHON_NUMBERS:
            values = np.array(
                [float(token) if ONE_NUMBER.fullmatch(token) else np.nan for token in tokens]
            )
            return values, _first_non_finite(values)
        tokens = pa.array(tokens, pa.string())
    try:
        values = pc.cast(tokens, pa.float64()).to_numpy(zero_copy_only=False, writable=True)
    except pa.ArrowInvalid:
        is_number = pc.match_substring_regex(tokens, NUMBER).to_numpy(zero_copy_only=False)
        return np.full(len(tokens), np.nan), int(np.argmin(is_number))
    return values, _first_non_finite(values)


def _first_non_finite(values: np.ndarray) -> int:
    invalid = np.flatnonzero(~np.isfinite(values))
    return int(invalid[0]) if len(invalid) else -1


def clock_seconds(text: str, *, file: str, line: int) -> int:
    """Seconds since midnight of ``HH:MM:SS``, 24-hour; raises `FormatError` for anything else."""
    parts = text.split(":")
    if len(parts) == 3 and all(len(p) == 2 and p.isascii() and p.isdigit() for p in parts):
        hour, minute, second = map(int, parts)
        if hour < 24 and minute < 60 and second <= 60:  # 60 is a leap second
            return hour * 3600 + minute * 60 + second
    raise FormatError("not a time of day", file=file, line=line, expected="HH:MM:SS", found=text)


def unwrap_midnight(
    seconds: np.ndarray, previous: float = np.nan, days: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Unwrap times of day across midnights; also return the positions of backward clock steps.

    A step back of more than half a day is a midnight; a smaller one is a clock that was set back,
    and stays.

    Parameters
    ----------
    seconds : ndarray, shape (n,)
        Times of day in file order.
    previous, days : float
        The preceding time of day, NaN if there is none, and the seconds that midnights before it
        add.
    """
    seconds = np.asarray(seconds, dtype=float)
    if not len(seconds):
        return seconds, np.zeros(0, dtype=int)
    step = np.diff(seconds, prepend=seconds[0] if np.isnan(previous) else previous)
    midnights = DAY * np.cumsum(step < -HALF_DAY)
    return seconds + midnights + days, np.flatnonzero((step < 0) & (step >= -HALF_DAY))


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
