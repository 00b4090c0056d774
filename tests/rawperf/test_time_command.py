"""time: bash and GNU, several blocks, labels, other shells, round trip, damage."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.base import RECORD_COLUMNS
from rawperf.core.errors import FormatError
from rawperf.time import FORMAT, GNU, GNU_FIELDS, SHELL, VERBOSE_FIELDS
from tests.cases import each_case

BASH = b"\nreal\t1m5.003s\nuser\t0m0.010s\nsys\t0m3.999s\n"
POSIX = b"real 65.00\nuser 0.01\nsys 3.99\n"
GNU_LINES = (
    b"12.34user 0.01system 1:05.07elapsed 18%CPU (1avgtext+2avgdata 1234maxresident)k\n"
    b"8inputs+16outputs (3major+300minor)pagefaults 0swaps\n"
)
VERBOSE_LINES = (
    b'\tCommand being timed: "cp testcase0-data part3"\n'
    b"\tUser time (seconds): 0.02\n"
    b"\tSystem time (seconds): 61.50\n"
    b"\tPercent of CPU this job got: 99%\n"
    b"\tElapsed (wall clock) time (h:mm:ss or m:ss): 1:01:02\n"
    b"\tAverage shared text size (kbytes): 0\n"
    b"\tAverage unshared data size (kbytes): 0\n"
    b"\tAverage stack size (kbytes): 0\n"
    b"\tAverage total size (kbytes): 0\n"
    b"\tMaximum resident set size (kbytes): 2048\n"
    b"\tAverage resident set size (kbytes): 0\n"
    b"\tMajor (requiring I/O) page faults: 1\n"
    b"\tMinor (reclaiming a frame) page faults: 270\n"
    b"\tVoluntary context switches: 4\n"
    b"\tInvoluntary context switches: 5\n"
    b"\tSwaps: 0\n"
    b"\tFile system inputs: 524288\n"
    b"\tFile system outputs: 0\n"
    b"\tSocket messages sent: 0\n"
    b"\tSocket messages received: 0\n"
    b"\tSignals delivered: 0\n"
    b"\tPage size (bytes): 4096\n"
    b"\tExit status: 0\n"
)
ALL = (
    b"+ cp a b\n" + BASH + POSIX + b"lnx001:~ # /usr/bin/time cp a b\n" + GNU_LINES + VERBOSE_LINES
)


def fields(data: bytes) -> dict[str, float]:
    records = FORMAT.read(data).records
    return dict(zip(records["field"], records["value"], strict=True))


def entities(data: bytes) -> list[str]:
    records = FORMAT.read(data).records
    return records.loc[records["field"] == "real", "entity"].tolist()


def test_bash():
    reading = FORMAT.read(BASH)
    assert reading.records["value"].tolist() == [65.003, 0.01, 3.999]
    assert reading.records["field"].tolist() == ["real", "user", "sys"]
    assert set(reading.records["report"]) == {SHELL}
    assert set(reading.records["entity_kind"]) == {"host"}  # the run folder identifies the command
    assert (reading.clock, reading.info, reading.warnings) == ("none", {}, ())


def test_surrounding_blanks_are_ignored():
    for data in (BASH, POSIX, GNU_LINES, VERBOSE_LINES):
        around = b"".join(
            b"    " + line.replace(b"\t", b"   ") + b"  \n" for line in data.splitlines()
        )
        assert fields(around) == fields(data)
        assert FORMAT.sniff(around) >= 0.9


def test_posix_form():
    assert fields(POSIX) == {"real": 65.0, "user": 0.01, "sys": 3.99}
    assert fields(b"real 0.000001\nuser 0.000000\nsys 0.0\n")["real"] == 1e-6


def test_decimal_comma():
    assert fields(BASH.replace(b".", b",")) == fields(BASH)
    assert fields(POSIX.replace(b".", b",")) == fields(POSIX)


def test_gnu_default():
    got = fields(GNU_LINES)
    assert tuple(got) == GNU_FIELDS
    assert got["user"] == 12.34
    assert got["elapsed"] == 65.07
    assert got["%CPU"] == 18
    assert got["maxresident"] == 1234
    assert got["minor pagefaults"] == 300


@each_case(
    ("printed", "seconds"),
    [(b"0:00.00", 0), (b"59:59.99", 3599.99), (b"1:00:00", 3600), (b"26:03:04", 93784)],
)
def test_gnu_elapsed(printed, seconds):
    assert fields(GNU_LINES.replace(b"1:05.07", printed))["elapsed"] == seconds


@each_case("unknown", [b"?%CPU", b"??%CPU"])
def test_gnu_unknown_percentage_of_old_versions(unknown):
    got = fields(GNU_LINES.replace(b"18%CPU", unknown))
    assert "%CPU" not in got
    assert len(got) == len(GNU_FIELDS) - 1


def test_gnu_verbose():
    got = fields(VERBOSE_LINES)
    assert tuple(got) == VERBOSE_FIELDS
    assert got["System time (seconds)"] == 61.5
    assert got["Elapsed (wall clock) time (h:mm:ss or m:ss)"] == 3662
    assert got["Maximum resident set size (kbytes)"] == 2048
    assert set(FORMAT.read(VERBOSE_LINES).records["entity"]) == {"cp testcase0-data part3"}


def test_gnu_verbose_of_a_multi_line_command():
    data = VERBOSE_LINES.replace(b"cp testcase0-data part3", b'sh -c echo "a"\n\tUser time "b"')
    assert set(FORMAT.read(data).records["entity"]) == {'sh -c echo "a" User time "b"'}


def test_status_lines_belong_to_the_block_below():
    got = FORMAT.read(
        b"Command terminated by signal 9\n"
        + GNU_LINES
        + b"Command exited with non-zero status 2\n"
        + POSIX
    )
    records = got.records
    assert records.loc[
        records["field"] == "terminated by signal", ["report", "value"]
    ].values.tolist() == [[GNU, 9]]
    assert records.loc[
        records["field"] == "non-zero status", ["report", "value"]
    ].values.tolist() == [[SHELL, 2]]
    assert got.lines is not None
    assert got.lines[records["field"].str.contains("status|signal")].tolist() == [1, 4]


@each_case(
    ("line", "entity"),
    [
        (b"+ cp a b", "cp a b"),
        (b"++ time -p cp  a b", "cp a b"),
        (b"lnx001:~ # time cp a b", "cp a b"),
        (b"[root@lnx001 ~]# /usr/bin/time -v cp a b", "cp a b"),
        (b"$ cp a b", "cp a b"),
        (b"user@lnx001:/mnt$ \\time cp a b", "cp a b"),
        (b"# fill DCSS1G", "fill DCSS1G"),
        (b"== fill DCSS1G ==", "fill DCSS1G"),
        (b"==> fill.txt <==", "fill.txt"),
        (b"$ timeout 5 cp a b", "timeout 5 cp a b"),
        (b"262144+0 records out", ""),
        (b"50% done # 3 left", ""),
    ],
)
def test_labels(line, entity):
    assert entities(line + b"\n" + BASH) == [entity]


def test_timed_command_labels_the_block():
    assert entities(b"$ time sh -x copy.sh\n+ cp a b\n+ sync\nsome output\n" + BASH) == [
        "sh -x copy.sh"
    ]


def test_label_applies_to_one_block():
    reading = FORMAT.read(b"# first\n" + BASH + BASH)
    assert entities(b"# first\n" + BASH + BASH) == ["first", ""]
    assert reading.clock == "none"


def test_repeated_blocks_of_one_command_are_samples():
    reading = FORMAT.read(b"+ cp a b\n" + BASH + b"+ cp a c\n" + BASH + b"+ cp a b\n" + POSIX)
    assert reading.clock == "sample"
    real = reading.records[reading.records["field"] == "real"]
    assert real[["entity", "t", "value"]].values.tolist() == [
        ["cp a b", 0, 65.003],
        ["cp a c", 0, 65.003],
        ["cp a b", 1, 65],
    ]


def test_other_lines_are_counted():
    assert FORMAT.read(b"1+0 records in\n1+0 records out\n" + BASH + b"done\n").info == {
        "other lines": "3"
    }


def test_windows_line_ends_and_another_encoding():
    assert fields(BASH.replace(b"\n", b"\r\n")) == fields(BASH)
    reading = FORMAT.read(b"# gr\xf6\xdfe\n" + BASH)
    assert reading.records["entity"].tolist() == ["größe"] * 3
    assert "not UTF-8" in reading.warnings[0]


def test_truncated_block_is_dropped():
    for data in (
        BASH[:-4],
        POSIX[:-1],
        POSIX[:-3],
        GNU_LINES[:-3],
        VERBOSE_LINES[:-1],
        VERBOSE_LINES[:400],
        b"real\t0m5",
    ):
        reading = FORMAT.read(BASH + data)
        assert reading.records["value"].tolist() == [65.003, 0.01, 3.999]
        assert "line 5" in reading.warnings[0] or "line 6" in reading.warnings[0]
    assert FORMAT.read(BASH[:-1]).warnings == ()  # the trailing s shows that the number is complete
    assert FORMAT.read(GNU_LINES[:-1]).warnings == ()


@each_case(
    ("tool", "line"),
    [
        ("zsh", b"cp a b  0.00s user 0.31s system 98% cpu 0.314 total"),
        ("tcsh", b"0.000u 0.310s 0:00.31 98.3%\t0+0k 0+0io 0pf+0w"),
        ("mksh", b"    0m0.31s real     0m0.00s user     0m0.31s system"),
        ("BSD", b"        0.31 real         0.00 user         0.31 sys"),
        ("ksh", b"real\t0m0.31s"),
        ("busybox", b"real\t0m 0.31s"),
    ],
)
def test_output_of_other_tools_is_rejected_by_name(tool, line):
    data = line + b"\nuser\t0m0.00s\n" if tool == "ksh" else line + b"\n"
    assert FORMAT.sniff(data) >= 0.5
    with pytest.raises(FormatError, match=f"this is the output of time in {tool}") as caught:
        FORMAT.read(b"some output\n" + data)
    assert caught.value.line == 2


@each_case(
    ("data", "line", "part"),
    [
        (b"", 1, "no complete block"),
        (b"some output\n", 1, "no complete block"),
        (BASH.replace(b"user", b"usr"), 3, "not the user line"),
        (BASH.replace(b"user\t0m0.010s\n", b""), 3, "not the user line"),
        (BASH.replace(b"5.003", b"75.003"), 2, "not the real line"),
        (BASH.replace(b"5.003s", b"5.003"), 2, "not the real line"),
        (POSIX.replace(b"0.01", b"0.01s"), 2, "not the user line"),
        (b"user\t0m0.010s\n", 1, "not the real line"),
        (GNU_LINES.replace(b"1:05.07", b"1:65.07"), 1, "first line of GNU time"),
        (GNU_LINES.replace(b"18%", b"18"), 1, "first line of GNU time"),
        (GNU_LINES.replace(b"300minor", b"300"), 2, "second line of GNU time"),
        (
            GNU_LINES + b"8inputs+16outputs (3major+300minor)pagefaults 0swaps\n",
            3,
            "first line of GNU time",
        ),
        (VERBOSE_LINES.replace(b"Swaps: 0", b"Swaps: x"), 16, "not a line of time -v"),
        (VERBOSE_LINES.replace(b"Swaps", b"Page size (bytes)"), 22, "not a line of time -v"),
        (VERBOSE_LINES.replace(b"\tSystem time (seconds): 61.50\n", b""), 1, "lacks 'System time"),
        (b'Command being timed: "cp\n' + b"x\n" * 300, 1, "the command has no end"),
        (VERBOSE_LINES.replace(b"\tUser time (seconds): 0.02\n", b""), 1, "the command has no end"),
        (VERBOSE_LINES[:46] + BASH + VERBOSE_LINES, 1, "the command has no end"),
    ],
)
def test_errors_report_the_line_number(data, line, part):
    with pytest.raises(FormatError, match=part) as caught:
        FORMAT.read(data)
    assert caught.value.line == line


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.integers(0, len(ALL)), st.integers(0, 80), st.binary(max_size=12))
def test_damaged_file_gives_reading_or_format_error(at, cut, put):
    try:
        reading = FORMAT.read(ALL[:at] + put + ALL[at + cut :])
    except FormatError:
        return
    assert tuple(reading.records.columns) == RECORD_COLUMNS
    assert (reading.records["value"] >= 0).all()


def test_sniff():
    assert FORMAT.sniff(BASH) > 0.9
    assert FORMAT.sniff(BASH.replace(b".", b",")) > 0.9
    assert FORMAT.sniff(POSIX) >= 0.9
    assert FORMAT.sniff(GNU_LINES) > 0.9
    assert FORMAT.sniff(VERBOSE_LINES) > 0.9
    assert FORMAT.sniff(b"real time clock\nuser 5\n") == 0.0
