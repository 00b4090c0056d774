"""The console of charbench: headings, escapes, mixed lines, midnight, round trip, damage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from rawperf import all_formats
from rawperf.base import RECORD_COLUMNS, ParsedFile
from rawperf.core.errors import FormatError
from rawperf.swingbench.console import FORMAT
from tests.cases import each_case
from tests.rawperf.sample_files import sample, sample_names

BANNER = """\
\x1b[33;1mSwingBench Wizard\x1b[m
\x1b[34mVersion :\x1b[m\t\x1b[34;1m2.7.0.1\x1b[m
Swingbench
Author  :  \t Dominic Giles
Version :  \t 2.7.0.2

Results will be written to out/results.xml
Expected Benchmark Runtime is set to 3 seconds.

"""
HEADING = "Time      Users       TPM      TPS     Errors   NCR    OP     \n"
ROWS = """\
23:59:58  [0/4]       0        0       0        0      0      \r
23:59:59  [3/4]       5        5       0        1      2.5    \r
00:00:00  [4/4]       11       6       1        3      4      \r
"""
LOG = BANNER + HEADING + ROWS + "Saved results to out/results.xml\nCompleted Run.\n"


def read(text: str) -> ParsedFile:
    return FORMAT.read(text.encode(), file="charbench.log")


def table(reading: ParsedFile) -> pd.DataFrame:
    return reading.records.pivot(index="t", columns="field", values="value")


def test_rows_are_samples() -> None:
    reading = read(LOG)
    assert reading.clock == "time-of-day"
    assert tuple(reading.records.columns) == RECORD_COLUMNS
    assert set(reading.records["entity_kind"]) == {"driver"}
    found = table(reading)
    assert found.index.tolist() == [86398.0, 86399.0, 86400.0]  # past midnight
    assert dict(found.loc[86399.0]) == {
        "Users": 3,
        "Users total": 4,
        "TPM": 5,
        "TPS": 5,
        "Errors": 0,
        "NCR": 1,
        "OP": 2.5,
    }
    assert reading.info == {
        "version": "2.7.0.2",
        "results file": "out/results.xml",
        "runtime": "3 seconds",
        "completed": "Completed Run",
    }
    assert reading.warnings == ()
    assert reading.lines is not None
    assert reading.lines.tolist() == np.repeat([11, 12, 13], 7).tolist()


def test_options_select_the_columns() -> None:
    text = "Time     TPM      TPS     Users       Response NCR\n12:50:45 11       11      [10/10]     60       106\n"
    assert dict(table(read(text)).loc[46245.0]) == {
        "TPM": 11,
        "TPS": 11,
        "Users": 10,
        "Users total": 10,
        "Response": 60,
        "NCR": 106,
    }
    assert read("Time TPS\n12:50:45 -3\n").records["value"].tolist() == [-3]


def test_other_lines_and_escape_sequences_are_ignored() -> None:
    lines = ROWS.splitlines(keepends=True)
    mixed = HEADING + lines[0] + "12:00:00 ERROR: no logon\n[2011-03-01 10:00:00] a wrapper: 3\n"
    mixed += (
        "\x1b[0m"
        + lines[1]
        + "Saved results to out/results.xml "
        + lines[2].replace("  ", "\x1b[1m  \x1b[m")
    )
    pd.testing.assert_frame_equal(read(mixed).records, read(HEADING + ROWS).records)


def test_lines_before_the_heading_are_ignored() -> None:
    pd.testing.assert_frame_equal(
        read("10:00:00 1 2\n" + HEADING + ROWS).records, read(HEADING + ROWS).records
    )


def test_second_run_gives_a_warning() -> None:
    text = (
        HEADING
        + ROWS.replace("\r", "")
        + HEADING
        + "22:00:00  [0/4] 0 0 0 0 0\n"
        + "21:00:00  [0/4] 0 0 0 0 0\n"
    )
    again, back = read(text).warnings
    assert "line 5: the heading is repeated" in again
    assert "line 7: the time decreases" in back


@each_case("end", range(1, 40, 3))
def test_truncated_row_is_dropped(end: int) -> None:
    last = ROWS.rindex("00:00:00")
    reading = read(HEADING + ROWS[: last + end])
    assert len(table(reading)) == 2
    assert bool(reading.warnings) == (end > 9)  # before that, it could be anything


@each_case(
    ("old", "new", "line"),
    [
        ("[3/4]", "[3/4", 3),
        ("[3/4]", "3", 3),
        ("  5        5 ", "  5        x ", 3),
        ("  5        5 ", "  5 ", 3),
        ("  5        5 ", "  5   5   5 ", 3),
        ("  5        5 ", "  5   [5/5] ", 3),
        ("  2.5 ", "  2,5 ", 3),
        ("23:59:59", "23:60:59", 3),
        ("TPM", "TPS", 1),
        ("Users", "Time", 1),
    ],
)
def test_damaged_log_is_rejected_with_line_number(old: str, new: str, line: int) -> None:
    text = HEADING + ROWS
    assert old in text
    with pytest.raises(FormatError) as caught:
        read(text.replace(old, new, 1))
    assert (caught.value.file, caught.value.line) == ("charbench.log", line)


def test_unknown_heading_is_rejected() -> None:
    with pytest.raises(FormatError, match="a different heading") as caught:
        read(HEADING + ROWS + "Time TPM TPS\n")
    assert caught.value.line == 5


@each_case("text", ["", "hello\n", BANNER, BANNER + HEADING, ROWS, "Time Users TPM TPS"])
def test_other_text_is_rejected(text: str) -> None:
    with pytest.raises(FormatError, match="no row of charbench"):
        read(text)


def test_long_lines_are_read_in_linear_time() -> None:
    text = HEADING + ROWS + ("x 00:00:00 " + "1 " * 20000 + "y") + "\n" + "[1m:" * 20000 + "\n"
    assert len(table(read(text))) == 3


def test_sniff() -> None:
    others = [fmt for fmt in all_formats().values() if fmt.name != FORMAT.name]
    head = LOG.encode()
    assert FORMAT.sniff(head) > 0.9
    assert max(fmt.sniff(head) for fmt in others) < 0.5
    assert FORMAT.sniff(BANNER.encode()) > 0.5  # the heading may come later than 8 KiB
    assert FORMAT.sniff(b"Time     TPM      TPS     Users       Response NCR\n") > 0.9
    assert FORMAT.sniff(b"Time is short\n") == 0
    for name in sample_names():
        assert FORMAT.sniff(sample(name)[:8192]) == 0, name
