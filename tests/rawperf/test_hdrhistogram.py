"""HdrHistogram logs: buckets, tags, times, damage."""

from __future__ import annotations

import base64
import struct
import zlib

import pytest

from rawperf.core.errors import FormatError
from rawperf.hdrhistogram import COMPRESSED, COUNTS, FORMAT, PayloadError, decode_buckets
from tests.rawperf.sample_files import sample

LOG = sample("hdrhistogram/two-drivers.hlog")


def encoded(numbers: bytes, *, lowest: int = 1, digits: int = 2, offset: int = 0) -> str:
    inner = struct.pack(">IIiiQQd", COUNTS | 0x10, len(numbers), offset, digits, lowest, 2**40, 1.0)
    packed = zlib.compress(inner + numbers)
    return base64.b64encode(struct.pack(">II", COMPRESSED | 0x10, len(packed)) + packed).decode()


def test_log_of_two_drivers():
    reading = FORMAT.read(LOG)
    records = reading.records
    counts = records[records["field"] == "count"]
    assert counts.groupby("report")["value"].sum().to_dict() == {"a": 120, "b": 75}
    assert sorted(counts["t"].unique() - 1767268800) == [1, 2, 3]
    assert (reading.clock, reading.info) == ("absolute", {"version": "1.2"})
    # the maximum of each interval is in its last bucket, whose upper bound is at most 1 % higher
    for (_, _), rows in records.groupby(["report", "t"]):
        top = rows.loc[rows["field"] == "Interval_Max", "value"].item() * 1e6
        last = rows.loc[rows["field"] == "count", "entity"].astype(int).max()
        assert top - 1e3 <= last <= 1.01 * top


def test_times_without_zone():
    lines = LOG.decode().splitlines()
    short = lines[4].replace("1767268800.000", "0.500")
    for head, first, clock in (
        ("", 1.5, "elapsed"),
        ("#[StartTime: 1767268800.000 (seconds since epoch), x]", 1767268801.5, "absolute"),
        ("#[BaseTime: 1000.000 (seconds since epoch)]", 1001.5, "absolute"),
    ):
        reading = FORMAT.read(f"{lines[1]}\n{head}\n{short}\n".encode())
        assert (reading.records["t"].iloc[0], reading.clock) == (first, clock)


def test_bucket_values():
    # ZigZag LEB128: 2 is one value, 5 is three empty buckets
    assert decode_buckets(encoded(b"\x02\x05\x04")) == [(0, 1), (4, 2)]
    assert decode_buckets(encoded(b"\x02\x05\x04", lowest=1000)) == [(511, 1), (2559, 2)]
    beyond = b"\x8f\x04" + b"\x02"  # 264 empty buckets: of two values each from 256 on
    assert decode_buckets(encoded(beyond)) == [(273, 1)]
    nine = b"\xfe" + b"\xff" * 8  # nine bytes
    assert decode_buckets(encoded(nine)) == [(0, 2**63 - 1)]


def test_invalid_logs_are_rejected():
    for text, said in (
        ("x", "not base64"),
        (encoded(b"\x02")[:20], "truncated"),
        (encoded(b"\x82"), "last count is truncated"),
        (encoded(b"\x02", offset=1), "shifted histograms are not supported"),
        (encoded(b"\x02", digits=9), "out of range"),
        (encoded(b"\xff\xff\xff\x7f\x02"), "exceeds the largest 64-bit value"),
        (base64.b64encode(struct.pack(">II", 0x1C849302, 0)).decode(), "not version 2"),
    ):
        with pytest.raises(PayloadError, match=said):
            decode_buckets(text)


def test_damaged_log_is_rejected():
    with pytest.raises(FormatError, match="line 5: the line is not an interval"):
        FORMAT.read(LOG.replace(b"Tag=a,1767268800.000,", b"Tag=a,"))
    with pytest.raises(FormatError, match="no interval"):
        FORMAT.read(b"#[Histogram log format version 1.3]\n")
    cut = FORMAT.read(LOG[:-20])
    assert cut.warnings and "is truncated" in cut.warnings[0]
    assert set(cut.records["t"] - 1767268800) == {1, 2, 3}
