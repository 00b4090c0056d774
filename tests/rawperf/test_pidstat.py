"""pidstat: processes, threads, commands with blanks, single table (-h), unreadable values."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from rawperf import ParsedFile, sniff
from rawperf.core.errors import FormatError
from rawperf.sar.pidstat import FORMAT
from tests.cases import each_case

# Written by pidstat of sysstat 12.6.1, shortened; commands are replaced.
HEAD = "Linux 6.1.0 (guest1) \t11/22/26 \t_x86_64_\t(2 CPU)\n"
LISTING = (
    HEAD + "\n"
    "12:32:11      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
    "12:32:12        0         1    0.00    1.00    0.00    0.00    1.00     1  init\n"
    "12:32:12     1000     11335   98.00    2.00    0.00    0.50  100.00     1  web server\n\n"
    "12:32:11      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n"
    "12:32:12        0         1     -1.00     -1.00     -1.00       0  init\n"
    "12:32:12     1000     11335     28.50     31.74      4.81    1146  web server\n\n"
    "12:32:12      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
    "12:32:13     1000     11335   99.00    1.00    0.00    0.00  100.00     0  web server\n\n"
    "12:32:12      UID       PID   kB_rd/s   kB_wr/s kB_ccwr/s iodelay  Command\n\n"
    "Average:      UID       PID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
    "Average:        0         1    0.00    0.50    0.00    0.00    0.50     -  init\n"
).encode()
THREADS = (
    HEAD + "\n"
    "12:32:15      UID      TGID       TID    %usr %system  %guest   %wait    %CPU   CPU  Command\n"
    "12:32:16        0        77         -    0.00    0.99    0.00    0.00    0.99     0  web\n"
    "12:32:16        0         -        77    0.00    0.89    0.00    0.00    0.89     0  |__web\n"
    "12:32:16        0         -        78    0.10    0.00    0.00    0.00    0.10     0  |__io worker\n"
    "12:32:16        0      3258      3259    0.99    0.00    0.00    0.00    0.99     0  (db)__log\n"
).encode()
ONE_TABLE = (
    HEAD + "\n"
    "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n"
    "12:32:14        0        32    0.00    1.00    0.00    1.00    1.00     0      0.00      0.00       0       0   0.00  kworker/u8:1\n"
    "12:32:14     1000     11335   98.00    3.00    0.00    0.00  101.00     1      5.00      0.00 1974268  392512   1.59  web\n\n"
    "# Time        UID       PID    %usr %system  %guest   %wait    %CPU   CPU  minflt/s  majflt/s     VSZ     RSS   %MEM  Command\n"
    "12:32:15     1000     11335   96.00    3.00    0.00    0.00   99.00     1      4.00      0.00 1974268  392512   1.59  web\n"
).encode()


def get(reading: ParsedFile, kind: str, entity: str, field: str) -> list[float]:
    r = reading.records
    return r.loc[
        (r["entity_kind"] == kind) & (r["entity"] == entity) & (r["field"] == field), "value"
    ].tolist()


def test_processes() -> None:
    assert sniff(LISTING) is FORMAT
    reading = FORMAT.read(LISTING)
    assert reading.records["t"].unique().tolist() == [
        datetime(2026, 11, 22, 12, 32, s, tzinfo=UTC).timestamp() for s in (12, 13)
    ]
    assert get(reading, "process", "web server 11335", "%CPU") == [100, 100]
    assert get(reading, "process", "web server 11335", "iodelay") == [1146]
    assert get(reading, "process", "init 1", "%CPU") == [1]  # the average is not a sample
    assert not {"CPU", "UID", "PID"} & set(reading.records["field"])
    assert set(reading.records["report"]) == {"cpu", "disk"}


def test_unreadable_values_have_no_record() -> None:
    reading = FORMAT.read(LISTING)
    assert get(reading, "process", "init 1", "kB_rd/s") == []
    assert get(reading, "process", "init 1", "iodelay") == [0]


def test_threads_are_distinguished_from_processes() -> None:
    reading = FORMAT.read(THREADS)
    assert get(reading, "process", "web 77", "%CPU") == [0.99]
    assert get(reading, "thread", "web 77", "%CPU") == [0.89]
    assert get(reading, "thread", "io worker 78", "%usr") == [0.1]
    assert get(reading, "thread", "log 3259", "%usr") == [0.99]


@each_case("stamps", [("12:32:14", "12:32:15"), ("1795350734", "1795350735")])
def test_single_table_with_both_time_formats(stamps: tuple[str, str]) -> None:
    data = ONE_TABLE.replace(b"12:32:14", stamps[0].encode()).replace(
        b"12:32:15", stamps[1].encode()
    )
    assert sniff(data) is FORMAT
    reading = FORMAT.read(data)
    assert set(reading.records["report"]) == {"cpu"}  # no report is since boot
    assert get(reading, "process", "web 11335", "RSS") == [392512, 392512]
    assert reading.records["t"].unique().tolist() == [1795350734, 1795350735]


@each_case(
    ("old", "new", "line", "problem"),
    [
        (b"98.00    2.00", b"98.00    2.x0", 5, "not a number"),
        (b"98.00    2.00", b"98.00   -2.00", 5, "negative percentage"),
        (b"   1  init", b"", 4, "not a line of pidstat"),
        (b"%CPU   CPU  Command", b"%CPU   CPU  Comman", 3, "not a line of pidstat"),
        (b"12:32:12", b"12:99:12", 4, "time of day"),
        (
            b"%usr %system  %guest   %wait    %CPU   CPU  Command",
            b"CPU  Command",
            3,
            "not a heading of pidstat",
        ),
    ],
)
def test_damaged_file_is_rejected_with_line_number(
    old: bytes, new: bytes, line: int, problem: str
) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        FORMAT.read(LISTING.replace(old, new, 1), file="p")
    assert caught.value.line == line


def test_truncated_file_loses_its_last_sample() -> None:
    end = LISTING.index(b"web server\n\n12:32:12      UID       PID   kB") - 3
    reading = FORMAT.read(LISTING[:end], file="p")
    assert get(reading, "process", "web server 11335", "%CPU") == [100]
    assert "p line 12: the file is truncated" in reading.warnings[-1]
