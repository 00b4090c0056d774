"""Reader of HdrHistogram logs, format versions 1.0 to 1.3: a histogram per interval.

Clients of load tests write them (HdrHistogram's own recorders, YCSB, Cassandra's stress tool,
JLBH). Histograms are in version 2 of HdrHistogram's compressed format (base64 of a header and a
zlib stream of ZigZag LEB128 counts, a negative number being a run of empty buckets), which its
libraries for Java, C, Go, Python, Rust and .NET write since 2016.

Source: ``HistogramLogWriter.java``, ``HistogramLogReader.java``, ``AbstractHistogram.java`` and
``ZigZagLEB128Codec.java`` of HdrHistogram.
"""

from __future__ import annotations

import base64
import binascii
import re
import struct
import zlib
from collections.abc import Iterator

from rawperf.core.sample_rows import HOST
from rawperf.listing import LineListing, ListingFormat

COMPRESSED, COUNTS = 0x1C849304, 0x1C849303
_WORD_SIZE = 0xF0
_OUTER, _INNER = struct.Struct(">II"), struct.Struct(">IIiiQQQ")
MAX_BYTES = 16 * 1024**2
"""Largest size of the decompressed counts: 47 powers of two at five digits take less."""
MAX_DIGITS = 5
_LAST_BYTE = 8
_SIGN = 1 << 63


class PayloadError(ValueError):
    """Invalid encoding of a histogram."""


def decode_buckets(text: str) -> list[tuple[int, int]]:
    """Decode the non-empty buckets: highest value and count of each, in ascending order.

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
        raise PayloadError("the histogram is truncated")
    return _decode_counts(_decompress(packed[_OUTER.size :]))


def _decompress(packed: bytes) -> bytes:
    stream = zlib.decompressobj()
    try:
        data = stream.decompress(packed, MAX_BYTES)
    except zlib.error as err:
        raise PayloadError("the histogram can't be decompressed") from err
    if not stream.eof:
        raise PayloadError("the histogram is truncated or too large")
    return data


def _decode_counts(data: bytes) -> list[tuple[int, int]]:
    if len(data) < _INNER.size:
        raise PayloadError("the histogram has no header")
    cookie, length, offset, digits, lowest, *_ = _INNER.unpack_from(data)
    if cookie & ~_WORD_SIZE != COUNTS:
        raise PayloadError(f"the counts' encoding {cookie:#010x} is not version 2")
    if not 0 <= digits <= MAX_DIGITS or not 1 <= lowest < _SIGN:
        raise PayloadError("the histogram's digits or lowest value are out of range")
    if offset:
        raise PayloadError("shifted histograms are not supported")
    counts = data[_INNER.size :]
    if length != len(counts):
        raise PayloadError("the counts are truncated")
    unit = lowest.bit_length() - 1
    half = (2 * 10**digits - 1).bit_length() - 1
    decoded, index = [], 0
    for number in _decode_varints(counts):
        if number < 0:
            index -= number
            continue
        if number:
            decoded.append((_highest_equivalent(index, half, unit), number))
        index += 1
    return decoded


def _highest_equivalent(index: int, half: int, unit: int) -> int:
    """Highest equivalent value of a bucket; the lower half of the first power of two is first."""
    bucket = max((index >> half) - 1, 0)
    if bucket + half + unit >= _SIGN.bit_length():
        raise PayloadError("a bucket exceeds the largest 64-bit value")
    sub = index - (bucket << half)
    return ((sub + 1) << (bucket + unit)) - 1


def _decode_varints(data: bytes) -> Iterator[int]:
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
        raise PayloadError("the last count is truncated")


BUCKET, COUNT = "bucket", "count"
"""Entity kind of a bucket, named by its highest equivalent value, and field of its count."""
LENGTH, MAX = "Interval_Length", "Interval_Max"
YEAR_S = 365 * 24 * 3600.0

_TIME = re.compile(r"#\[(StartTime|BaseTime): *(\d{1,12}(?:\.\d{1,9})?) ", re.A)
_VERSION = re.compile(r"#\[Histogram log format version (\S{1,9})\]")
_NUMBER = r"(\d{1,15}(?:[.,]\d{1,9})?)"
_INTERVAL = re.compile(rf"(?:Tag=([^,\s]{{1,200}}),)?{_NUMBER},{_NUMBER},{_NUMBER},(\S+)", re.A)
_HEADING = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'
_LINE_FORMAT = "[Tag=NAME,]START,LENGTH,MAX,HISTOGRAM, the histogram in base64"


class HdrHistogramListing(LineListing):
    """Intervals of a log; `t` is the end of each. See docs/formats/hdrhistogram.md.

    Refused are a damaged line that is not the last, and a log without any interval.
    """

    name = "hdrhistogram"
    title = "HdrHistogram log"
    reads_whole = True
    clock = "elapsed"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._times: dict[str, float] = {}  # StartTime and BaseTime

    def parse_line(self, line: str, number: int, is_truncated: bool) -> None:
        line = line.strip()
        if line.startswith("#"):
            if match := _TIME.match(line):
                self._times.setdefault(match[1], float(match[2]))
                self.clock = "absolute"
            elif match := _VERSION.match(line):
                self.info["version"] = match[1]
        elif line and line != _HEADING:
            try:
                self._add_interval(line)
            except PayloadError as err:
                if not is_truncated:
                    raise self.error(str(err), number, _LINE_FORMAT, line[:60]) from err
                sentence = f"the file is truncated here ({err}); the line was left out"
                self.warnings.add(number, sentence)

    def finish(self) -> None:
        if not len(self.rows):
            raise self.error("the log has no interval", expected=_LINE_FORMAT)

    def _add_interval(self, line: str) -> None:
        match = _INTERVAL.fullmatch(line)
        if not match:
            raise PayloadError("the line is not an interval")
        tag = match[1] or ""
        start, length, maximum = (float(text.replace(",", ".")) for text in match.groups()[1:4])
        begin = self._times.get("StartTime", 0.0)
        base = self._times.get("BaseTime", begin if start < begin - YEAR_S else 0.0)
        t = base + start + length
        buckets = decode_buckets(match[5])
        self.rows.add(tag, HOST, "", LENGTH, length, t)
        self.rows.add(tag, HOST, "", MAX, maximum, t)
        for value, count in buckets:
            self.rows.add(tag, BUCKET, str(value), COUNT, count, t)


FORMAT = ListingFormat(HdrHistogramListing)
