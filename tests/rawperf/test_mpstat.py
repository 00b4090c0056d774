"""mpstat: distinction from sar, tables, offline processors, averages since boot."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rawperf import ParsedFile, sniff
from rawperf.core.errors import FormatError
from rawperf.sar.read import FORMAT as SAR
from rawperf.sar.read import MPSTAT
from tests.rawperf.sample_files import sample
from tests.rawperf.trial import read_whole

# Written by mpstat of sysstat 12.6.1, shortened.
HEAD = "Linux 6.1.0 (guest1) \t2026-11-22 \t_x86_64_\t(2 CPU)\n"
LISTING = (
    HEAD + "\n"
    "12:32:07     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
    "12:32:08     all    0.00   49.50    1.00    0.00    0.00    0.00    0.00    0.00    0.00   49.50\n"
    "12:32:08       0    0.00    0.00    1.00    0.00    0.00    0.00    0.00    0.00    0.00   99.00\n"
    "12:32:08       1    0.00   99.00    1.00    0.00    0.00    0.00    0.00    0.00    0.00    0.00\n\n"
    "12:32:07    NODE    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
    "12:32:08     all    0.00   49.50    1.00    0.00    0.00    0.00    0.00    0.00    0.00   49.50\n\n"
    "12:32:07     CPU    intr/s\n"
    "12:32:08     all    397.00\n"
    "12:32:08       0     74.00\n\n"
    "12:32:07     CPU       24/s       25/s      LOC/s\n"
    "12:32:08       0       0.00       3.00      71.00\n\n"
    "Average:     CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
    "Average:     all    0.00   49.50    1.00    0.00    0.00    0.00    0.00    0.00    0.00   49.50\n"
).encode()
TOPOLOGY = (
    HEAD + "\n"
    "23:59:59     CPU CORE SOCK NODE    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle\n"
    "00:00:00     all                   2.15   12.50    1.84    0.12    0.34    0.19    0.00    0.00    0.00   82.88\n"
    "00:00:00       0    0    1    0    2.71    0.03    2.16    0.00    0.32    0.64    0.00    0.00    0.00   94.14\n"
).encode()


def get(reading: ParsedFile, report: str, kind: str, entity: str, field: str) -> list[float]:
    r = reading.records
    return r.loc[
        (r["report"] == report)
        & (r["entity_kind"] == kind)
        & (r["entity"] == entity)
        & (r["field"] == field),
        "value",
    ].tolist()


def test_processors_nodes_and_interrupts() -> None:
    assert sniff(LISTING) is MPSTAT
    reading = MPSTAT.read(LISTING)
    assert set(reading.records["t"]) == {datetime(2026, 11, 22, 12, 32, 8, tzinfo=UTC).timestamp()}
    assert get(reading, "cpu", "cpu", "all", "%idle") == [
        49.5
    ]  # the average is not a second sample
    assert get(reading, "cpu", "cpu", "1", "%nice") == [99]
    assert get(reading, "cpu", "node", "all", "%idle") == [49.5]
    assert get(reading, "interrupts", "cpu", "all", "intr/s") == [397]
    assert get(reading, "interrupts", "cpu", "0", "25/s") == [3]


def test_all_processors_row_has_no_topology() -> None:
    reading = MPSTAT.read(TOPOLOGY)
    assert get(reading, "cpu", "cpu", "all", "%usr") == [2.15]
    assert get(reading, "cpu", "cpu", "0", "%usr") == [2.71]
    assert not {"CORE", "SOCK", "NODE"} & set(reading.records["field"])
    assert set(reading.records["t"]) == {datetime(2026, 11, 23, tzinfo=UTC).timestamp()}


def test_epoch_seconds_as_time() -> None:
    data = LISTING.replace(b"12:32:07", b"1591016000").replace(b"12:32:08", b"1591016001")
    assert sniff(data) is MPSTAT
    assert set(MPSTAT.read(data).records["t"]) == {1591016001}


def test_averages_since_boot_are_a_separate_report() -> None:
    once = LISTING.split(b"\n\n12:32:07    NODE")[0].replace(b"12:32:07", b"12:32:08") + b"\n"
    assert set(MPSTAT.read(once).records["report"]) == {"cpu since boot"}


def test_sar_is_not_recognised_as_mpstat() -> None:
    sar = LISTING.replace(
        b"%iowait    %irq   %soft  %steal", b"%iowait  %steal    %irq   %soft"
    ).split(b"\n\n12:32:07    NODE")[0]
    assert sniff(sar) is SAR
    assert MPSTAT.sniff(sar) == 0 == SAR.sniff(LISTING)


def test_damaged_row_is_rejected() -> None:
    with pytest.raises(FormatError, match="does not fit") as caught:
        MPSTAT.read(LISTING.replace(b"   99.00\n", b" 99.00  1.00\n", 1))
    assert caught.value.line == 5


def test_time_stamps_of_mmtests_may_end_with_cr_lf() -> None:
    data = sample("mmtests/mpstat.txt")
    reading = read_whole(sniff(data.replace(b"\n", b"\r\n")), data.replace(b"\n", b"\r\n"))
    assert reading.records.equals(read_whole(sniff(data), data).records)
