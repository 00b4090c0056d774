"""Performance Toolkit pages: layouts, positions, value formats, times, edge cases, round trip, robustness.

The fixtures follow the documented grammar with made-up numbers.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf.base import RECORD_COLUMNS, ParsedFile
from rawperf.core.errors import FormatError, StudyError
from rawperf.zvm.perfkit import read as perfkit_read
from rawperf.zvm.perfkit.layout import LAYOUTS_VARIABLE, load_layouts, match_layout
from rawperf.zvm.perfkit.page import (
    BLANK,
    encode_letters,
    parse_column,
    parse_number,
    parse_plain_numbers,
)
from rawperf.zvm.perfkit.read import FORMAT
from tests.cases import each_case
from tests.rawperf.mutations import mutant

STORAGE_SCREEN = """\
 FCX103      CPU 2094  SER 0A1B2  Interval 09:58:30 - 09:59:30    Perf. Monitor

 Main storage utilization:                  XSTORE utilization:
 Total real storage          4'096MB        Total available             1'024MB
 Total available             4'095MB        Att. to virt. machines          0kB
 Locked pages                   1204        Low threshold for migr.     2'240kB
FCXVMC111I Critical exception message(s) issued
 Storage utilization            131%        XSTORE allocation rate         27/s
 Shared storage                  ---        Average age at migration      812s
                                            MDCACHE utilization:
 Paging / spooling activity:                Act. size in XSTORE       768'000 B
 Page read rate                 .7/s        Bias for XSTORE                1.00
 Command ===>
 F1=Help  F4=Top  F5=Bot
"""
COUNTERS_SCREEN = """\
 FCX102      CPU 2094  SER 0A1B2  Interval 09:58:30 - 09:59:30    Remote Data

 Operation                Count Rate/s    Operation                Count Rate/s
 Real SSCH instructions    4410   73.5    Real CSCH instructions       2     .0
 SVC 76 reflected             0     .0    FP simul of Diag.X'44'      21     .4

 Storage Management
 Reserved                                 Storage fast clears        138    2.3
 Demand scan 1st pass       ---    ---    Available lst empty <2G      5     .1
"""
OVERVIEW_SCREEN = """\
 FCX198         Performance Toolkit Remote Monitoring Facility     Remote Data

 Sel Node-ID   Time   ------------- Exceptions & CPU Load -------------> AvExcp
  _  NODEA     11:04   >>>>>>>>>>>>>>>>====                            :    .00
  _  NODEB     11:04   Usrlimit>>>>>>>>>>>>                            :      0
  _  NODEC     11:05   >>>>>                                           :   2.17
  _  NODED     03:10  Not updated for  475 min.                        :    ...

 Select  e: exception log  h: history data  m: monitor
 Command ===>
"""
USER_HEADING = """\
          <---------- CPU Load ---------> <----- Virtual IO/s ----->
                  <--Seconds-->      T/V
 Userid      %CPU    TCPU    VCPU   Ratio   Total    DASD   Avoid  Diag98      UR    Pg/s  User Status
"""
USER_ROWS = """\
 >System<     7.5     4.5     4.0    1.13      .3      .3      .0      .0      .0      .0
 LNWEB1      12.5     7.5     7.0    1.07      .2    ....     ---       0               1  EME,CL3,DIS
 DB          102.     61.  1'061.      1K
"""


def header(
    report: str, begin: str = "09:58:30", end: str = "09:59:30", run: str = "2008/05/06 10:11:12"
) -> str:
    return (
        f"1{report}  Run {run}         USER{'':60}Page    1\n{'':41}A title\n"
        f" From {begin}{'':70}VMSYS1\n To   {end}{'':70}CPU 2094-719   SN 0A1B2\n"
        f" For     60 Secs 00:01:00                 Result of VMSYS1 Run{'':40}z/VM   V.5.3.0 SLU 0701\n {'_' * 100}\n"
    )


SEGMENTS = """\
                    <--Users--->  <-------------- Rate per Sec. ------------->  <----------- Number of Pages ----------->
 Name      Type     Shared  Excl    Pgstl   Pgrds   Pgwrt   X-rds   X-wrt   X-mig    Total   Resid    Lock   XSTOR    DASD

 BINS1     DCSSG         5     0      1.5      .0      .0    12.5    11.0      .0   102400    2560       0   99840       0
 CMS       NSS          12                                                            1024     512
"""
SPACES = """\
                                    <-------------- Rate per Sec. ------------->  <--------------- Number of Pages --------------->
 Owning                                                                                   <---Resid---->  <---Locked--->
 Userid   Data Space Name             Pgstl   Pgrds   Pgwrt   X-rds   X-wrt   X-mig    Total   Resid   R<2GB    Lock   L<2GB   XSTOR    DASD

 >System< -----                          .0      .0      .0     1.0     2.0      .0      600     500     100       5       0     100       0
 SYSTEM   PTRM0000                       .0      .0      .0     3.0     4.0      .0     1200    1000     200      10       0     200       0
 MAINT    BASE                           .0      .0      .0      .0      .0      .0       10       9       8       0       0       1       0
"""
PARTITIONS = """\
 LPAR Data, Collected in Partition VMSYS1

 Nr. of configured partitions:   3
 Nr. of physical processors  :  12

 Partition  Nr. Upid #Proc Weight Wait-C Cap  %Load  CPU  %Busy  %Ovhd  %Susp  %VMld %Logld Type
 VMSYS1       1   01     2    100     NO  NO   12.0    0   75.5    1.5     .5   74.0   74.4 IFL
                                                       1   66.0    2.0     .3   64.0   64.2 IFL
 ZOS1         2   02     1    DED     NO  NO    8.0    0   99.0     .1    ...    ...    ... CP
 SPARE        3   03     0                      ...

 Summary of physical processors:
 Type  Number  Weight  %LPBUSY  %LPOVHD  %NCOVHD   %BUSY
 CP         4     300    396.0       .5      1.0   397.5
 IFL        8     100    141.5    110.0      3.5   255.0
"""
PROCESSOR_LOG = """\
 Interval                      <---- Percent Busy ---->
 End Time CPU Type PPD  Ent.  Total  User  Syst  Emul

 >>Mean>>   0 CP   Vh   100%   50.0  45.0   5.0  30.0
 23:59:00   0 CP   Vh   100%   40.0  36.0   4.0  24.0
 23:59:00   1 CP   Vh   100%   42.0  38.0   4.0  25.0
 00:00:00   0 CP   Vh   100%   60.0  54.0   6.0  36.0
            1 CP   Vh   100%   62.0  56.0   6.0  37.0
"""
LOG_HEADING = """\
            <------- Expanded Storage ------->  <----- Paging to DASD ----->
 Interval    Paging
 End Time    Blocks    PGIN   PGOUT   Migr.     Reads   Write   Total     SSCH
"""
USER_PAGE = header("FCX112") + USER_HEADING + "\n" + USER_ROWS


def read(text: str) -> ParsedFile:
    return FORMAT.read(text.encode(), file="vm.lst")


def values(reading: ParsedFile, entity: str = "") -> dict[str, float]:
    own = reading.records[reading.records["entity"] == entity]
    return dict(zip(own["field"], own["value"], strict=True))


def test_storage_screen() -> None:
    reading = read(STORAGE_SCREEN)
    assert reading.clock == "time-of-day"
    assert tuple(reading.records.columns) == RECORD_COLUMNS
    assert set(reading.records["entity_kind"]) == {"host"}
    assert set(reading.records["t"]) == {9 * 3600 + 59 * 60 + 30}  # the interval's end
    assert values(reading) == {
        "Total real storage": 4096,
        "XSTORE Total available": 1024,
        "Total available": 4095,
        "Att. to virt. machines": 0,
        "Locked pages": 1204,
        "Low threshold for migr.": 2240 / 1024,
        "Storage utilization": 131,
        "XSTORE allocation rate": 27,
        "Average age at migration": 812,
        "Act. size in XSTORE": 768000 / 1024**2,
        "Page read rate": 0.7,
        "Bias for XSTORE": 1,
    }
    assert "assumed layouts" not in reading.info
    assert reading.info["serial"] == "0A1B2"


@each_case("screen", [STORAGE_SCREEN, COUNTERS_SCREEN])
def test_key_value_pages_ignore_spacing(screen: str) -> None:
    flat = "\n".join(" ".join(line.split()) for line in screen.splitlines()) + "\n"
    pd.testing.assert_frame_equal(read(flat).records, read(screen).records)


def test_counters_screen() -> None:
    assert values(read(COUNTERS_SCREEN)) == {
        "Real SSCH instructions Count": 4410,
        "Real SSCH instructions Rate/s": 73.5,
        "Real CSCH instructions Count": 2,
        "Real CSCH instructions Rate/s": 0,
        "SVC 76 reflected Count": 0,
        "SVC 76 reflected Rate/s": 0,
        "FP simul of Diag.X'44' Count": 21,
        "FP simul of Diag.X'44' Rate/s": 0.4,
        "Storage fast clears Count": 138,
        "Storage fast clears Rate/s": 2.3,
        "Available lst empty <2G Count": 5,
        "Available lst empty <2G Rate/s": 0.1,
    }


def test_segments_and_spaces() -> None:
    reading = read(header("FCX133") + SEGMENTS + header("FCX134") + SPACES)
    assert reading.warnings == ()
    assert reading.info["assumed layouts"] == "FCX133 FCX134"
    segment = values(reading, "BINS1")
    assert (segment["Resid"], segment["XSTOR"], segment["X-rds"], segment["<Users> Shared"]) == (
        2560,
        99840,
        12.5,
        5,
    )
    assert values(reading, "CMS") == {"<Users> Shared": 12, "Total": 1024, "Resid": 512}
    assert (
        values(reading, "SYSTEM:PTRM0000")["R<2GB"] == 200
    )  # owner:name, as CP calls address spaces
    assert values(reading, "MAINT:BASE")["Resid"] == 9
    kinds = dict(zip(reading.records["entity"], reading.records["entity_kind"], strict=True))
    assert kinds == {
        "BINS1": "segment",
        "CMS": "segment",
        ">System<": "space-average",
        "SYSTEM:PTRM0000": "space",
        "MAINT:BASE": "space",
    }


def test_partitions_and_their_processors() -> None:
    reading = read(header("FCX126") + PARTITIONS)
    assert reading.warnings == ()
    assert values(reading, "VMSYS1:0") == {
        "#Proc": 2,
        "%Load": 12,
        "%Busy": 75.5,
        "%Ovhd": 1.5,
        "%Susp": 0.5,
        "%VMld": 74,
        "%Logld": 74.4,
    }
    # further rows of a partition omit its name
    assert values(reading, "VMSYS1:1") == {
        "%Busy": 66,
        "%Ovhd": 2,
        "%Susp": 0.3,
        "%VMld": 64,
        "%Logld": 64.2,
    }
    assert values(reading, "SPARE") == {"#Proc": 0}
    assert values(reading, "IFL") == {
        "Number": 8,
        "Weight": 100,
        "%LPBUSY": 141.5,
        "%LPOVHD": 110,
        "%NCOVHD": 3.5,
        "%BUSY": 255,
    }
    assert set(reading.records["entity_kind"]) == {"partition processor", "processor type"}


def test_row_after_a_damaged_one_is_not_assigned_to_the_previous_partition() -> None:
    reading = read(header("FCX126") + PARTITIONS.replace(" ZOS1         2", " Z:S1         2"))
    assert "ZOS1:0" not in set(reading.records["entity"])
    assert "not a row of FCX126" in reading.warnings[0]
    later = PARTITIONS.replace(" ZOS1         2", " " * 14).replace("0   99.0", "1   99.0")
    (warning,) = read(header("FCX126") + later).warnings  # VMSYS1 cannot have two processors 1
    assert "line 15: 2 line(s) below tables were not read" in warning


def test_processor_log() -> None:
    reading = read(
        header("FCX304", "23:58:00", "00:00:00").replace("    60 Secs 00:01", "   120 Secs 00:02")
        + PROCESSOR_LOG
    )
    assert reading.warnings == ()
    busy = reading.records[reading.records["field"] == "Total"]
    assert busy[["entity_kind", "entity", "t", "value"]].to_numpy().tolist() == [
        ["logical-processor-average", "0", 86400.0, 50.0],
        ["logical processor", "0", 86340.0, 40.0],
        ["logical processor", "1", 86340.0, 42.0],
        ["logical processor", "0", 86400.0, 60.0],
        ["logical processor", "1", 86400.0, 62.0],  # it has the time of the preceding row
    ]
    old = (
        PROCESSOR_LOG.replace(" PPD  Ent.", "")
        .replace(" Vh   100%", "")
        .replace("  <---- Percent", "<---- Percent")
    )
    text = (
        header("FCX144", "23:58:00", "00:00:00").replace("    60 Secs 00:01", "   120 Secs 00:02")
        + old
    )
    assert read(text).records["value"].tolist() == reading.records["value"].tolist()


def log(*rows: str, begin: str = "23:58:00", end: str = "00:01:00") -> str:
    cells = "       100     1.0     2.0      .0        .0      .0      .0      5.0\n"
    begins, ends = (
        sum(60**place * int(part) for place, part in enumerate(t.split(":")[::-1]))
        for t in (begin, end)
    )
    top = header("FCX143", begin, end).replace(
        "For     60 Secs", f"For {(ends - begins) % 86400:>6} Secs"
    )
    return top + LOG_HEADING + "\n" + "".join(f" {row}{cells}" for row in rows)


def test_log_has_a_row_per_interval() -> None:
    """Rows have their own times, which continue past midnight within a page and over a page break."""
    reading = read(log(">>Mean>>", "23:59:00", "00:00:00") + log(">>Mean>>", "00:01:00"))
    records = reading.records
    assert set(records["entity"]) == {""}
    blocks = records[records["field"] == "<Expanded Storage> Blocks"]
    assert blocks[["entity_kind", "t"]].to_numpy().tolist() == [
        ["host-average", 86460.0],
        ["host", 86340.0],
        ["host", 86400.0],
        ["host", 86460.0],
    ]
    assert "interval s" not in reading.info  # the period of a log page is not an interval


def test_log_does_not_depend_on_the_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "".join(
        log(*rows, begin="00:00:00", end="00:00:00")
        for rows in (["08:00:00", "16:00:00", "00:00:00"], ["08:00:00", "16:00:00"])
    )
    cached = read(text).records
    monkeypatch.setattr("rawperf.zvm.perfkit.tables.match_layout", match_layout.__wrapped__)
    pd.testing.assert_frame_equal(read(text).records, cached)


def test_log_may_span_days() -> None:
    text = log(*["08:00:00", "16:00:00", "00:00:00"] * 3, begin="00:00:00", end="00:00:00").replace(
        "For      0 Secs", "For 259200 Secs"
    )
    t = read(text).records["t"].unique().tolist()
    assert t == [28800.0 * n for n in range(1, 10)]


def test_line_numbers_are_those_of_the_file() -> None:
    text = STORAGE_SCREEN + USER_PAGE
    reading = read(text)
    assert reading.lines is not None
    lines = text.splitlines()
    for entity, line in zip(reading.records["entity"], reading.lines, strict=True):
        assert entity in lines[line - 1]
    where = dict(zip(reading.records["field"], reading.lines, strict=True))
    assert lines[where["Bias for XSTORE"] - 1].split()[-2:] == ["XSTORE", "1.00"]


def test_overview_screen() -> None:
    records = read(OVERVIEW_SCREEN).records
    assert records[["entity", "value"]].to_numpy().tolist() == [
        ["NODEA", 0.0],
        ["NODEB", 0.0],
        ["NODEC", 2.17],
    ]
    assert records["t"].tolist() == [39840.0, 39840.0, 39900.0]
    assert read(OVERVIEW_SCREEN).warnings == ()


def test_user_page() -> None:
    reading = read(USER_PAGE)
    assert values(reading, "LNWEB1") == {
        "%CPU": 12.5,
        "TCPU": 7.5,
        "VCPU": 7,
        "T/V Ratio": 1.07,
        "<Virtual IO/s> Total": 0.2,
        "<Virtual IO/s> Diag98": 0,
        "Pg/s": 1,
    }
    assert values(reading, "DB") == {"%CPU": 102, "TCPU": 61, "VCPU": 1061, "T/V Ratio": 1024}
    kinds = dict(zip(reading.records["entity"], reading.records["entity_kind"], strict=True))
    assert kinds == {">System<": "guest-average", "LNWEB1": "guest", "DB": "guest"}
    assert reading.info == {
        "run date": "2008/05/06",
        "run time": "10:11:12",
        "system": "VMSYS1",
        "cpu": "2094-719",
        "serial": "0A1B2",
        "result of": "VMSYS1",
        "release": "5.3.0",
        "interval s": "60",
        "assumed layouts": "FCX112",
    }


def test_columns_follow_the_heading() -> None:
    """Rows under a reordered and respaced heading give the same numbers."""
    text = header("FCX100") + (
        " PROC TYPE  %CPU  %NEW  %EMU\n\n"
        " P00  IFL  100.0   7.0  55.0\n"
        " P01  IFL        100.01000.0\n"  # a blank cell, and two adjacent numbers
    )
    reading = read(text)
    assert values(reading, "P00") == {"%CPU": 100, "%NEW": 7, "%EMU": 55}
    assert values(reading, "P01") == {"%NEW": 100, "%EMU": 1000}
    with pytest.raises(FormatError, match="not aligned with its heading"):
        read(text.replace("100.01000.0", "100.0  1.0 "))
    with pytest.raises(FormatError, match="to the right of the last heading"):
        read(text.replace("  55.0", "  55.02"))
    assert set(reading.records["entity_kind"]) == {"processor"}


def test_unknown_columns_keep_their_names() -> None:
    text = header("FCX113") + (
        "           <-Page Rate->  <Odd>\n Userid      Reads  Write  WSS  Fresh  Fresh Text\n\n"
        " LNWEB1          5      6   70      8      9 ab\n"
    )
    assert values(read(text), "LNWEB1") == {
        "<Page Rate> Reads": 5,
        "<Page Rate> Write": 6,
        "WSS": 70,
        "Fresh": 8,
        "Fresh (2)": 9,
    }


def test_caption_distinguishes_equal_column_names() -> None:
    text = (
        header("FCX113")
        + "           <-Movement/s>\n Userid      Reads  Write\n\n LNWEB1          5      6\n"
    )
    with pytest.raises(FormatError, match="no registered layout of FCX113"):
        read(text)


@each_case(
    ("text", "unit", "value"),
    [
        ("8'192MB", "MiB", 8192),
        ("577'536 B", "KiB", 564),
        ("4kB", "pages", 1),
        ("114%", "%", 114),
        (".3", "1/s", 0.3),
        ("32/s", "pages/s", 32),
        ("1761K", "pages", 1761 * 1024),
        ("2G", "MiB", 2048),
        ("0", "1", 0),
        ("12s", "s", 12),
    ],
)
def test_value_forms(text: str, unit: str, value: float) -> None:
    assert parse_number(text, unit) == value


@each_case("text", ["", "---", "....", "...", "   "])
def test_missing_values(text: str) -> None:
    assert np.isnan(parse_number(text, "%") or 0)


@each_case(
    ("text", "unit"),
    [("1'92", "1"), ("-3", "1"), ("nan", "1"), ("1e5", "1"), ("3MB", "%"), ("1 2", "1")],
)
def test_invalid_value(text: str, unit: str) -> None:
    assert parse_number(text, unit) is None


def test_intervals_across_midnight() -> None:
    spans = [("23:58:00", "23:59:00"), ("23:59:00", "00:00:00"), ("00:00:00", "00:01:00")]
    by_report = "".join(header(r, *s) + h for r, h in PAGES.items() for s in spans)
    by_time = "".join(header(r, *s) + h for s in spans for r, h in PAGES.items())
    for text in (by_report, by_time):
        records = read(text).records
        for report in PAGES:
            assert records.loc[records["report"] == report, "t"].tolist() == [
                86340.0,
                86400.0,
                86460.0,
            ]


PAGES = {
    "FCX100": " PROC   %CPU\n\n P00    12.0\n",
    "FCX114": " Userid     %ACT  %RUN\n ......\n LNWEB1              5\n",
}


def test_dates_distinguish_days() -> None:
    text = "".join(
        header("FCX100", f"{day} 10:00:00 ", f"{day} 10:01:00 ") + PAGES["FCX100"]
        for day in ("2008/05/06", "2008/05/09")
    )
    assert read(text).records["t"].tolist() == [36060.0, 36060.0 + 3 * 86400]
    assert read(text).info["from date"] == "2008-05-06"


def test_several_pages_of_one_interval() -> None:
    """A page break repeats the heading, sometimes the average; messages and carriage control are interspersed."""
    second = (
        header("FCX112")
        + USER_HEADING
        + "0LNWEB2      50.0\n+LNWEB2      50.0\n"
        + USER_ROWS.splitlines(True)[0]
    )
    reading = read(USER_PAGE + "FCXPER315A Limit exceeded\n" + second)
    assert reading.records["entity"].drop_duplicates().tolist() == [
        ">System<",
        "LNWEB1",
        "DB",
        "LNWEB2",
    ]
    assert not reading.records.duplicated(["entity", "field"]).any()


def test_other_lines_below_a_table_are_reported() -> None:
    text = header("FCX100") + PAGES["FCX100"] + "\n Total SSCH/RSCH    57/s\n"
    (warning,) = read(text).warnings
    assert "vm.lst line 11" in warning


PROCESSORS = """\
 PROC TYPE    %CPU     %CP    %EMU

 P00  IFL     10.0     1.0     9.0
 P01  IFL     20.0     2.0    18.0
 P02  IFL     30.0     3.0    27.0
"""


def processors(text: str) -> tuple[list[str], tuple[str, ...]]:
    reading = read(header("FCX100") + text)
    return reading.records["entity"].drop_duplicates().tolist(), reading.warnings


@each_case(
    ("name", "kept"), [("P00", ["P01", "P02"]), ("P01", ["P00", "P02"]), ("P02", ["P00", "P01"])]
)
@each_case("damaged", ["#00", "P 1", "   ", "P\u00d80"])
def test_damaged_name_drops_only_its_row(name: str, kept: list[str], damaged: str) -> None:
    entities, (warning,) = processors(PROCESSORS.replace(name, damaged))
    assert entities == kept
    assert f"vm.lst line {9 + int(name[1:])}: not a row of FCX100" in warning


def test_every_damaged_row_is_reported() -> None:
    entities, warnings = processors(
        PROCESSORS.replace(" P00  IFL     10.0", " %%%  #@!     ??~?").replace("P01", "0.1")
    )
    assert entities == ["P02"]
    assert ["line 9" in warnings[0], "line 10" in warnings[1]] == [True, True]


def test_rows_after_unknown_lines_must_be_complete() -> None:
    """Otherwise rows of a second table would be read with the first heading."""
    entities, (warning,) = processors(
        PROCESSORS + "\n PROC Busy Waits\n P03  IFL     40.0     4.0    36.0\n"
    )
    assert entities == ["P00", "P01", "P02"]  # a heading ends the table
    assert "2 line(s) below tables" in warning
    entities, (odd, below) = processors(PROCESSORS.replace("P01", "0.1") + " P03  3      40.0\n")
    assert entities == ["P00", "P02", "P03"][:2]
    assert ("left out" in odd, "line 12: 1 line(s) below" in below) == (True, True)
    entities, _ = processors(PROCESSORS.replace("P01", "0.1").replace("P02", "P00"))
    assert entities == ["P00"]  # one row per processor


def test_damaged_time_drops_only_its_row() -> None:
    reading = read(log("23:59:00", "00:0x:00", "00:01:00"))
    assert reading.records["t"].unique().tolist() == [86340.0, 86460.0]
    assert "line 12: not a row of FCX143" in reading.warnings[0]
    means = read(log(">>Mean>>", "00:0x:00")).records
    assert set(means["entity_kind"]) == {"host-average"}


def test_unknown_reports_are_rejected() -> None:
    with pytest.raises(FormatError, match="no complete page of a registered report") as caught:
        read(header("FCX999") + " what\n")
    assert caught.value.found == "FCX999"
    reading = read(header("FCX999") + " what\n" + USER_PAGE)
    assert len(reading.records) > 0
    assert "line 1: FCX999" in reading.warnings[0]


def test_unknown_heading_is_reported_with_file_and_line() -> None:
    with pytest.raises(FormatError) as caught:
        read(
            header("FCX112")
            + " Name    Load  More\n\n A        1.0   2.0\n B        1.0   2.0\n"
            + USER_PAGE
        )
    assert (caught.value.file, caught.value.line) == ("vm.lst", 7)
    assert "Name Load More" in str(caught.value)
    assert "%CPU" in (caught.value.expected or "")


@each_case(
    ("old", "new", "line"),
    [
        ("To   09:59:30", "To   09:61:30", 4),
        ("For     60", "For     x", 5),
        ("1FCX112  Run", "1FCX112  Ran", 1),
        ("   7.5     7.0", "   7x5     7.0", 12),
        (" LNWEB1      12.5", " LNWEB1     12.5 ", 12),
    ],
)
def test_damaged_page_is_rejected_with_line_number(old: str, new: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        read(USER_PAGE.replace(old, new, 1))
    assert (caught.value.file, caught.value.line) == ("vm.lst", line)


@each_case(("old", "new"), [("4'096MB", "4'0x6MB"), ("27/s", "27/m"), ("131%", "131kB")])
def test_damaged_items_are_reported_with_line_number(old: str, new: str) -> None:
    line = STORAGE_SCREEN[: STORAGE_SCREEN.index(old)].count("\n") + 1
    with pytest.raises(FormatError) as caught:
        read(STORAGE_SCREEN.replace(old, new))
    assert caught.value.line == line


def test_duplicate_items() -> None:
    with pytest.raises(FormatError, match="given twice"):
        read(STORAGE_SCREEN + " Locked pages                   1205\n")
    found = values(
        read(
            COUNTERS_SCREEN
            + " Novel counter                7     .1    Novel counter                8     .2\n"
        )
    )
    assert (found["Novel counter Count"], found["Novel counter (2) Count"]) == (7, 8)


def test_truncated_file_keeps_complete_rows() -> None:
    text = (
        USER_PAGE
        + header("FCX100", "09:59:30", "10:00:30")
        + " PROC   %CPU   %EMU\n\n P00    12.0   11.0\n"
    )
    whole = read(text).records.to_numpy().tolist()
    for end in range(len(USER_PAGE) + 8, len(text)):
        reading = read(text[:end])
        kept = reading.records.to_numpy().tolist()
        assert kept == whole[: len(kept)]
        assert len(kept) >= len(whole) - 2
        assert len(kept) == len(whole) or reading.warnings


OWN_LAYOUT = """\
layouts:
  - report: FCX777
    kind: table
    entity_kind: device
    entity: Dev
    heading: [" Dev    Busy  Wait"]
    columns:
      - {name: Dev, text: true, width: 4}
      - {name: Busy, unit: "%", required: true, shift: 1}
  - report: FCX112
    release: "5.3"
    kind: table
    entity_kind: guest
    entity: Userid
    heading: [" Userid      %CPU"]
    columns:
      - {name: Userid, text: true, width: 8}
      - {name: "%CPU", field: busy, unit: "%", required: true}
"""


def test_user_defined_layouts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN_LAYOUT)
    page = header("FCX777") + " Dev    Busy  Wait\n\n 0A01    12.5  3.0\n"
    with pytest.raises(FormatError):
        FORMAT.read(page.encode())
    monkeypatch.setenv(LAYOUTS_VARIABLE, str(path))
    assert values(read(page), "0A01") == {"Busy": 12.5, "Wait": 3}
    assert "busy" in set(read(USER_PAGE).records["field"])  # the release is 5.3.0
    assert "busy" not in set(read(USER_PAGE.replace("V.5.3", "V.6.3")).records["field"])


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("kind: table", "kind: tabel", 2),
        ('unit: "%"', "unit: percent", 2),
        ("name: Busy", "name: Bussy", 2),
        ("entity: Dev", "entity: Busy", 2),
        ("    entity: Dev\n", "", 2),
        ("entity: Dev", "entity: Dev\n    owner: Own", 2),
        ("FCX777", "X", 2),
    ],
)
def test_invalid_layout_is_reported_with_line_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, line: int
) -> None:
    path = tmp_path / "own.yaml"
    path.write_text(OWN_LAYOUT.replace(old, new, 1))
    monkeypatch.setenv(LAYOUTS_VARIABLE, str(path))
    with pytest.raises(StudyError) as caught:
        load_layouts()
    assert (caught.value.file, caught.value.line) == ("own.yaml", line)


def test_documented_layout_is_valid(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = (root / "docs/formats/perfkit.md").read_text(encoding="utf-8")
    path = tmp_path / "own.yaml"
    path.write_text(page.split("```yaml\n")[1].split("```")[0])
    monkeypatch.setenv(LAYOUTS_VARIABLE, str(path))
    (layout,) = load_layouts()["FCX108"]
    assert [column.field for column in layout.columns] == [
        "Addr",
        "<Rate/s> I/O",
        "<Time (msec)> Resp",
    ]


def test_packaged_layouts_state_their_evidence() -> None:
    evidence = {
        report: {layout.evidence for layout in known} for report, known in load_layouts().items()
    }
    assert {report for report, kinds in evidence.items() if kinds == {"screen"}} == {
        "FCX102",
        "FCX103",
        "FCX198",
    }
    assert {report for report, kinds in evidence.items() if kinds == {"assumed"}} == {
        "FCX100",
        "FCX112",
        "FCX113",
        "FCX114",
        "FCX126",
        "FCX133",
        "FCX134",
        "FCX143",
        "FCX144",
        "FCX290",
        "FCX292",
        "FCX304",
    }


def test_sniff() -> None:
    for text in (USER_PAGE, STORAGE_SCREEN, OVERVIEW_SCREEN):
        assert FORMAT.sniff(text.encode()) > 0.9
    assert FORMAT.sniff(b"IWL0059I Transactions = 3\n") == 0


ALL = (
    USER_PAGE
    + header("FCX100", "09:59:30", "10:00:30")
    + PAGES["FCX100"]
    + STORAGE_SCREEN
    + COUNTERS_SCREEN
    + OVERVIEW_SCREEN
    + header("FCX133")
    + SEGMENTS
    + header("FCX134")
    + SPACES
    + header("FCX126")
    + PARTITIONS
    + header("FCX304", "23:58:00", "00:00:00").replace("    60 Secs 00:01", "   120 Secs 00:02")
    + PROCESSOR_LOG
    + log(">>Mean>>", "23:59:00", "00:00:00")
)


CELLS = st.one_of(
    st.from_regex(r"[0-9]{0,12}\.?[0-9]{0,12}", fullmatch=True),
    st.text("0123456789.'-KMG% \t\0\xa0\u2003\xe9", max_size=9),
    st.sampled_from(
        [
            "---",
            "....",
            "8'192MB",
            "12 B",
            "1761K",
            ".",
            "..",
            "1.2.3",
            "9" * 25,
            "5.",
            ".5",
            "1e5",
            "nan",
            "+1",
        ]
    ),
)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.tuples(CELLS, st.integers(0, 1)), min_size=1, max_size=6))
def test_fast_number_parser_agrees_with_numbers(rows: list[tuple[str, int]]) -> None:
    """The fast path equals the slow path of `parse_column`, whatever the neighbouring cells are."""
    width = 28
    texts = [(text + " " * behind).rjust(width) for text, behind in rows]
    letters = np.array([encode_letters(text[:4] + text, 4 + width) for text in texts])
    values, others = parse_plain_numbers(letters, [(0, 4), (4, 4 + width)])
    for text, value, other in zip(texts, values[:, 1], others[:, 1], strict=True):
        wanted = parse_column([text.strip()], "1")[0]
        assert other or (
            wanted is not None and (value == wanted or (value != value and wanted != wanted))
        )
        plain = (
            text.strip(" ").replace(".", "", 1).isdecimal()
            and text.isascii()
            and not text.endswith(" ")
        )
        assert other != (plain and len(text.strip()) <= 24) or not text.strip(" ")
    assert values.shape == others.shape == (len(rows), 2)
    assert np.isnan(values[others]).all()


def test_letters_separate_blanks_from_damage() -> None:
    assert encode_letters("a\tb\u2003", 5).tolist() == [ord("a"), 0xA0, ord("b"), 0xA0, BLANK]
    assert encode_letters("\0\1\x7f\u20ac", 4).tolist() == [0, ord("?"), 0x7F, ord("?")]
    assert parse_number(encode_letters("\u200312", 3).tobytes().decode("latin-1"), "1") == 12


def _outcome(data: bytes) -> tuple[object, ...]:
    try:
        reading = FORMAT.read(data, file="listing")
    except FormatError as err:
        return (str(err), err.line)
    assert reading.lines is not None
    rows = reading.records.to_csv(index=False)
    return (rows, reading.lines.tolist(), reading.info, reading.warnings)


def test_regular_pages_equal_pages_read_line_by_line(monkeypatch: pytest.MonkeyPatch) -> None:
    times = ["23:58:00", "23:59:00", "00:00:00", "00:01:00", "00:02:00"]
    users = USER_HEADING + "\n" + USER_ROWS
    seeds = [
        "".join(
            header(report, begin, end) + body
            for begin, end in pairwise(times)
            for report, body in pages
        ).encode()
        for pages in (
            [("FCX112", users), ("FCX100", PROCESSORS)],
            [("FCX112", users), ("FCX112", users.replace("LNWEB1", "LNWEB2"))],
            [("FCX133", SEGMENTS), ("FCX126", PARTITIONS)],
        )
    ]
    n_regular = 0
    whole = perfkit_read._PageTemplate.collect

    def collect(*arguments: object) -> list[list[int]]:
        nonlocal n_regular
        found = whole(*arguments)  # type: ignore[arg-type]
        n_regular += len(found)
        return found

    for data in (*seeds, *(mutant(seeds, number)[0] for number in range(60))):
        with monkeypatch.context() as patch:
            patch.setattr(perfkit_read._PageTemplate, "collect", collect)
            regular = _outcome(data)
            patch.setattr(perfkit_read._PageTemplate, "collect", lambda *_: [])
            assert regular == _outcome(data)
    assert n_regular > 30
