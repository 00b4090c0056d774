"""iostat: reports with and without times, device name columns, the report since boot."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rawperf import ParsedFile, sniff
from rawperf.core.errors import FormatError
from rawperf.sar.iostat import FORMAT
from tests.cases import each_case

# Written by iostat of sysstat 12.6.1, shortened.
HEAD = "Linux 6.1.0 (guest1) \t11/22/26 \t_x86_64_\t(2 CPU)\n"
CPU = "avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n"
DISK = "Device             tps    kB_read/s    kB_wrtn/s    kB_dscd/s    kB_read    kB_wrtn    kB_dscd\n"
LISTING = (
    f"{HEAD}\n{CPU}          24.87    1.52    3.96    0.45    0.04   69.16\n\n"
    f"{DISK}vda             191.28      2724.96      4311.70       469.34    2456365    3886692     423080\n\n\n"
    f"{CPU}           1.52    0.00    1.52    0.00    0.00   96.95\n\n"
    f"{DISK}vda             179.00      1000.00        16.00        20.00       1000         16         20\n"
    "vdb               0.00         0.00         0.00         0.00          0          0          0\n\n\n"
    f"{CPU}           2.52    0.00    1.52    0.00    0.00   95.95\n\n{DISK}"
    "vda             180.00      1000.00        16.00        20.00       1000         16         20\n"
    "vdb               1.00         0.00         0.00         0.00          0          0          0\n\n\n"
).encode()
STAMPED = (
    f"{HEAD}\n11/22/26 12:32:19\n{CPU}          24.82    1.52    3.97    0.45    0.04   69.20\n\n"
    "Device            r/s     rkB/s     w/s     wkB/s  %util\nvda            140.31   2720.20   32.06   4302.18   1.59\n\n\n"
    f"11/22/26 12:32:20\n{CPU}           1.51    0.00    2.51    0.00    0.00   95.98\n\n"
    "Device            r/s     rkB/s     w/s     wkB/s  %util\nvda             19.00    104.00    2.00     60.00   0.40\n\n\n"
).encode()


def get(reading: ParsedFile, entity: str, field: str) -> list[float]:
    r = reading.records
    return r.loc[(r["entity"] == entity) & (r["field"] == field), "value"].tolist()


def test_first_report_is_since_boot() -> None:
    assert sniff(LISTING) is FORMAT
    reading = FORMAT.read(LISTING)
    assert reading.clock == "sample"
    assert get(reading, "", "%idle") == [96.95, 95.95]
    assert get(reading, "vda", "tps") == [179, 180]
    assert get(reading, "vdb", "tps") == [0, 1]
    assert reading.records["t"].unique().tolist() == [0, 1]
    assert set(reading.records["entity_kind"]) == {"host", "device"}
    with pytest.raises(FormatError, match="one report only"):
        FORMAT.read(LISTING[: LISTING.index(b"\n\n\n")] + b"\n")


def when(*time: int) -> float:
    return datetime(*time, tzinfo=UTC).timestamp()  # type: ignore[arg-type]


@each_case(
    ("stamps", "t"),
    [
        (("11/22/26 12:32:19", "11/22/26 12:32:20"), when(2026, 11, 22, 12, 32, 20)),
        (("11/22/2026 11:59:59 PM", "11/23/2026 12:00:00 AM"), when(2026, 11, 23)),
        (("2026-11-22T12:32:20+0100", "2026-11-22T12:32:21+0100"), when(2026, 11, 22, 12, 32, 21)),
        (("Time: 23:59:59", "Time: 00:00:04"), when(2026, 11, 23, 0, 0, 4)),
        (("1795350734", "1795350735"), 1795350735),
    ],
)
def test_time_formats_of_all_versions(stamps: tuple[str, str], t: float) -> None:
    data = STAMPED.replace(b"11/22/26 12:32:19", stamps[0].encode()).replace(
        b"11/22/26 12:32:20", stamps[1].encode()
    )
    reading = FORMAT.read(data)
    assert reading.clock == "absolute"
    assert set(reading.records["t"]) == {t}
    assert get(reading, "vda", "wkB/s") == [60]


def test_device_names_in_the_last_column() -> None:
    moved = LISTING.decode().replace(DISK, "      tps    kB_read/s Device\n")
    rows = [
        f"   {line.split()[1]}  {line.split()[2]} {line.split()[0]}" if line[:2] == "vd" else line
        for line in moved.split("\n")
    ]
    reading = FORMAT.read("\n".join(rows).encode())
    assert get(reading, "vda", "kB_read/s") == [1000, 1000]


@each_case(
    ("old", "new", "line", "problem"),
    [
        (b"179.00 ", b"179.0x ", 14, "not a line of iostat"),
        (b"179.00 ", b"1.1 179.00 ", 14, "does not fit"),
        (b"4311.70", b"  4.2M", 7, "not a number"),
        (b"   1.52    0.00", b"  -1.52    0.00", 11, "negative percentage"),
        (b"Device ", b"Disks  ", 6, "not a heading"),
        (b"tps", b"kB_read", 6, "duplicate"),
        (
            b"avg-cpu:  %user   %nice %system %iowait  %steal   %idle\n           1.52",
            HEAD.encode() + b"1.52",
            10,
            "second system line",
        ),
    ],
)
def test_damaged_file_is_rejected_with_line_number(
    old: bytes, new: bytes, line: int, problem: str
) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        FORMAT.read(LISTING.replace(old, new, 1), file="i")
    assert caught.value.line == line


def test_partial_times_are_rejected() -> None:
    with pytest.raises(FormatError, match="some reports have a time") as caught:
        FORMAT.read(STAMPED.replace(b"11/22/26 12:32:20\n", b""))
    assert caught.value.line == 11


def test_truncated_file_loses_its_last_report() -> None:
    reading = FORMAT.read(LISTING[: LISTING.index(b"  1.00         0.00") + 4], file="i")
    assert get(reading, "vda", "tps") == [179]
    assert get(reading, "", "%idle") == [96.95, 95.95]
    assert "i line 23: the file is truncated" in reading.warnings[-1]
