"""netstat -s: a real snapshot, spellings, round trip, damage."""

from __future__ import annotations

import pandas as pd
import pytest

from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from rawperf.netstat import FORMAT
from tests.cases import each_case


def get(reading: ParsedFile, section: str, field: str) -> list[float]:
    r = reading.records
    return r.loc[(r["report"] == section) & (r["field"] == field), "value"].tolist()


def snapshot(*lines: str) -> ParsedFile:
    return FORMAT.read("".join(f"{line}\n" for line in lines).encode())


def test_spellings_and_indent_do_not_matter():
    old = snapshot(
        "Tcp:",
        "    5 active connections openings",
        "    6 segments send out",
        "    7 segments retransmited",
    )
    new = snapshot(
        "  Tcp:",
        "  5 active connection openings",
        "  6 segments sent out",
        "  7 segments retransmitted",
    )
    pd.testing.assert_frame_equal(old.records, new.records)


def test_text_before_the_number():
    reading = snapshot("TcpExt:", "    TCPLossProbes: 12", "    TCP ran low on memory 3 times")
    assert reading.records["field"].tolist() == ["TCPLossProbes", "TCP ran low on memory # times"]


def test_settings_without_a_number_are_skipped():
    reading = snapshot(
        "Ip:", "    Forwarding is enabled", "    Default TTL is 64", "    9 forwarded"
    )
    assert get(reading, "Ip", "forwarded") == [9]


def test_last_line_without_newline_is_dropped():
    reading = FORMAT.read(b"Tcp:\n    5 resets sent\n    11 segm")
    assert reading.records["value"].tolist() == [5]
    assert "line 3" in reading.warnings[0]


@each_case(
    ("text", "line", "part"),
    [
        ("", 1, "no section"),
        ("    5 resets sent\n", 1, "before the first section"),
        ("Tcp:\n    no number here\n", 2, "not a counter"),
        ("Tcp:\n    a 1 b 2 c\n", 2, "not a counter"),
        ("Tcp:\n    5\n", 2, "without a name"),
        ("Tcp:\n    5 resets sent\nTcp:\n", 3, "occurs twice"),
        ("Tcp:\n    5 segments send out\n    5 segments sent out\n", 3, "occurs twice"),
    ],
)
def test_errors_report_the_line_number(text, line, part):
    with pytest.raises(FormatError, match=part) as caught:
        FORMAT.read(text.encode())
    assert caught.value.line == line


BASE = b"Icmp:\n    103 ICMP messages received\n    ICMP input histogram:\n        echo requests: 5\nTcp:\n    5 resets sent\n"


def test_sniff():
    assert FORMAT.sniff(b"Ip:\n    71 total packets received\n") > 0.9
    assert FORMAT.sniff(b"Time: 10\n") == 0.0
