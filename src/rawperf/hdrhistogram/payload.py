"""One encoded histogram of an HdrHistogram log: the counts of its buckets.

The encoding is version 2 of HdrHistogram's compressed format (base64 of a header and a zlib stream of
ZigZag LEB128 counts, a negative number being so many empty buckets), which its libraries for Java,
C, Go, Python, Rust and .NET write since 2016.

Source: ``AbstractHistogram.java``, ``ZigZagLEB128Codec.java`` of HdrHistogram.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Iterator

COMPRESSED, COUNTS = 0x1C849304, 0x1C849303
_WORD_SIZE = 0xF0
_OUTER, _INNER = struct.Struct(">II"), struct.Struct(">IIiiQQQ")
MAX_BYTES = 16 * 1024**2
"""Of the counts, unpacked: 47 powers of two at five digits take less."""
MAX_DIGITS = 5
_LAST_BYTE = 8
_SIGN = 1 << 63


class PayloadError(ValueError):
    """What is wrong with an encoded histogram."""


def buckets(text: str) -> list[tuple[int, int]]:
    """The highest value of each bucket that is not empty, and its count; in the order of values.

    Raises `PayloadError` for any other text, and for histograms in another encoding.
    """
    try:
        packed = base64.b64decode(text.encode("ascii"), validate=True)
    except (binascii.Error, UnicodeEncodeError) as err:
        raise PayloadError("the histogram is not base64") from err
    if len(packed) < _OUTER.size:
        raise PayloadError("the histogram is too short")
    cookie, length = _OUTER.unpack_from(packed)
    if cookie & ~_WORD_SIZE != COMPRESSED:
        raise PayloadError(f"the histogram's encoding {cookie:#010x} is not version 2, compressed")
    if length != len(packed) - _OUTER.size:
        raise PayloadError("the histogram is cut off")
    return _counted(_unpacked(packed[_OUTER.size :]))


def _unpacked(packed: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, MAX_BYTES)
    except zlib.error as err:
        raise PayloadError("the histogram can't be unpacked") from err
    if not stream.eof:
        raise PayloadError("the histogram is cut off, or too large")
    return data


def _counted(data: bytes) -> list[tuple[int, int]]:
    if len(data) < _INNER.size:
        raise PayloadError("the histogram has no header")
    cookie, length, offset, digits, lowest, *_ = _INNER.unpack_from(data)
    if cookie & ~_WORD_SIZE != COUNTS:
        raise PayloadError(f"the counts' encoding {cookie:#010x} is not version 2")
    if not 0 <= digits <= MAX_DIGITS or not 1 <= lowest < _SIGN:
        raise PayloadError("the histogram's digits or lowest value are out of range")
    if offset:
        raise PayloadError("the histogram was shifted, which is not read")
    counts = data[_INNER.size :]
    if length != len(counts):
        raise PayloadError("the counts are cut off")
    unit = lowest.bit_length() - 1
    half = (2 * 10**digits - 1).bit_length() - 1
    found, index = [], 0
    for number in _numbers(counts):
        if number < 0:
            index -= number
            continue
        if number:
            found.append((_highest(index, half, unit), number))
        index += 1
    return found


def _highest(index: int, half: int, unit: int) -> int:
    """The highest value that is counted in a bucket; buckets of the lower half of the first power of
    two come first.
    """
    bucket = max((index >> half) - 1, 0)
    if bucket + half + unit >= _SIGN.bit_length():
        raise PayloadError("a bucket lies above the highest value of 64 bits")
    sub = index - (bucket << half)
    return ((sub + 1) << (bucket + unit)) - 1


def _numbers(data: bytes) -> Iterator[int]:
    value = shift = length = 0
    for byte in data:
        length += 1
        if length > _LAST_BYTE:  # the ninth byte has eight bits
            value |= byte << shift
        else:
            value |= (byte & 0x7F) << shift
            if byte & 0x80:
                shift += 7
                continue
        value &= (1 << 64) - 1
        yield (value >> 1) ^ -(value & 1)
        value = shift = length = 0
    if length:
        raise PayloadError("the last count is cut off")
