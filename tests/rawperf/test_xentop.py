"""xentop: real listings, quirks of its versions, round trip, damage."""

from __future__ import annotations

import pytest

from rawperf import sniff
from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from rawperf.xentop import FORMAT
from tests.cases import each_case

HEADER = (
    "      NAME  STATE   CPU(sec) CPU(%)     MEM(k) MEM(%)  MAXMEM(k) MAXMEM(%) VCPUS NETS NETTX(k) NETRX(k) "
    "VBDS   VBD_OO   VBD_RD   VBD_WR SSID"
)
HEADER_19 = HEADER.replace(" SSID", "  VBD_RSECT  VBD_WSECT SSID")


def row(
    name: str,
    sec: int = 1,
    pct: float = 0.0,
    *,
    state: str = "--b---",
    vbd: str = "0 6 7",
    tail: str = "0",
) -> str:
    *sectors, ssid = tail.split()
    cells = [
        *(word.rjust(8) for word in vbd.split()),
        *(word.rjust(10) for word in sectors),
        ssid.rjust(4),
    ]
    front = f"{name:>10s} {state} {sec:10d} {pct:6.1f}     524288   25.0   no limit       n/a     1    1       75       14"
    return f"{front}    1 {' '.join(cells)}"


def listing(*lines: str) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def get(
    reading: ParsedFile, entity: str, field: str, t: float | None = None, kind: str = "domain"
) -> list[float]:
    r = reading.records
    mask = (r["entity"] == entity) & (r["field"] == field) & (r["entity_kind"] == kind)
    return r.loc[mask & (True if t is None else r["t"] == t), "value"].tolist()


def test_no_limit_and_one_iteration():
    reading = FORMAT.read(
        listing(HEADER, row("Domain-0"), row("jvm").replace("no limit", "  524288"))
    )
    assert get(reading, "Domain-0", "MAXMEM(k)") == get(reading, "Domain-0", "MAXMEM(%)") == []
    assert get(reading, "jvm", "MAXMEM(k)") == [524288]
    assert get(reading, "jvm", "VBD_WR") == [7]
    assert "CPU(%)" not in set(reading.records["field"])


def test_summary_lines_contain_the_time_of_day():
    top = "xentop - 18:03:17   Xen 4.1.2"
    states = "2 domains: 1 running, 1 blocked, 0 paused, 0 crashed, 0 dying, 0 shutdown "
    memory = "Mem: 16734804k total, 8000000k used, 8734804k free    CPUs: 8 @ 2112MHz"
    rows = (row("Domain-0", tail="3 4 0"), row("virtual1", tail="3 69690752 0"))
    reading = FORMAT.read(listing(top, states, memory, HEADER_19, *rows))
    assert reading.clock == "time-of-day"
    assert set(reading.records["t"]) == {18 * 3600 + 3 * 60 + 17.0}
    assert (reading.info["xen_version"], reading.info["cpus"], reading.info["cpu_mhz"]) == (
        "4.1.2",
        "8",
        "2112",
    )
    assert get(reading, "virtual1", "VBD_WSECT") == [69690752]


def test_names_longer_than_the_column_or_with_blanks():
    names = ("BB - backup2", "a-very-long-domain-name", "x y z")
    reading = FORMAT.read(listing(HEADER, *(row(name, sec) for sec, name in enumerate(names, 5))))
    assert [get(reading, name, "CPU(sec)") for name in names] == [[5], [6], [7]]


def test_header_widening_between_samples():
    wide = HEADER_19.replace(" VBD_RSECT", "   VBD_RSECT").replace("NETTX(k)", "  NETTX(k)")
    data = listing(
        HEADER_19,
        row("g", 1, 0, tail="8 9 0"),
        wide,
        row("g", 2, 50.0, vbd="0 6 123456789012", tail="8 9 0"),
    )
    reading = FORMAT.read(data)
    assert get(reading, "g", "VBD_WR") == [7, 123456789012]
    assert get(reading, "g", "VBD_WSECT") == [9, 9]


def test_repeated_header_and_returning_domain():
    busy = {(0, "a"): 0, (0, "b"): 0, (3, "a"): 0}  # xentop's output without a difference
    shown = [(t, name) for t, names in enumerate(("ab", "ab", "b", "ab")) for name in names]
    data = listing(
        *(line for key in shown for line in (HEADER, row(key[1], 1, busy.get(key, 7.0))))
    )
    reading = FORMAT.read(data)
    assert reading.info["repeat_header"] == "yes"
    # sample 2 lacks domain a, so sample 3 has no difference for it
    assert reading.records.loc[
        reading.records["field"] == "CPU(%)", ["t", "entity"]
    ].values.tolist() == [
        [1, "a"],
        [1, "b"],
        [2, "b"],
        [3, "b"],
    ]


def test_first_sample_of_a_rotated_log_has_differences():
    cut = listing(
        HEADER, row("a", 5, 12.5), row("b", 3, 0.0), HEADER, row("a", 6, 10.0), row("b", 3, 0.0)
    )
    assert get(FORMAT.read(cut), "a", "CPU(%)") == [12.5, 10.0]
    assert get(FORMAT.read(cut), "b", "CPU(%)") == [0.0, 0.0]
    whole = listing(HEADER, row("a", 5), row("b", 3), HEADER, row("a", 6, 10.0), row("b", 3))
    assert get(FORMAT.read(whole), "b", "CPU(%)") == [0.0]


def test_colours_and_byte_order_mark_are_ignored():
    plain = listing(HEADER, row("a", 1), HEADER, row("a", 2, 50.0))
    coloured = b"\x1b[7m" + plain.replace(b" --b---", b"\x1b[0m --b---")
    for data in (coloured, b"\xef\xbb\xbf" + plain):
        assert sniff(data) is FORMAT
        assert FORMAT.read(data).records.equals(FORMAT.read(plain).records)


def test_header_per_domain() -> None:
    both = listing(HEADER, row("a"), HEADER, row("b"))
    assert FORMAT.read(both).records["t"].unique().tolist() == [0]
    assert FORMAT.read(both).info["repeat_header"] == "yes"
    parted = listing(HEADER, row("b"), HEADER, row("a"), "", HEADER, row("b"))
    assert FORMAT.read(parted).records["t"].unique().tolist() == [0, 1, 2]


def test_failed_devices_and_negative_counters():
    bad = row("bad", vbd="- - -", tail="18446744073562662986 - 2149627072")
    reading = FORMAT.read(listing(HEADER_19, row("ok", tail="3 4 0"), bad), file="x.txt")
    assert get(reading, "bad", "VBD_RD") == get(reading, "bad", "VBD_RSECT") == []
    assert get(reading, "bad", "SSID") == [2149627072]
    assert len(reading.warnings) == 1
    assert "x.txt line 3: VBD_RSECT of 'bad'" in reading.warnings[0]
    huge = FORMAT.read(listing(HEADER, row("a"), HEADER, row("a", 0, 1844674407370.9)))
    assert get(huge, "a", "CPU(%)") == []
    assert "CPU(%)" in huge.warnings[0]


def test_detail_rows():
    data = listing(
        HEADER,
        row("web/1"),
        "VCPUs(sec):   0:        123s  1:         45s  2:          1s  3:          1s  4:          1s",
        "          5:          7s",
        "Net0 RX:  1481728bytes    12000pkts        0err        3drop  TX:  7732224bytes    14000pkts        0err        0drop",
        "VBD BlkBack  768 [ 3: 0]  OO:        0   RD:     6142   WR:    43020   RSECT:         11   WSECT:         12",
        "VBD BlkTap 51712 [ca: 0]  OO:        -   RD:        -   WR:        -   RSECT:          -   WSECT:          -",
        "",
        "Physical CPU Usage:",
        "+-------+--------+",
        "| Core  | Usage  |",
        "| 0     |  98.1% |",
        "+-------+--------+",
    )
    reading = FORMAT.read(data)
    assert get(reading, "web/1/5", "VCPUs(sec)", kind="vcpu") == [7]
    assert get(reading, "web/1/0", "RX drop", kind="net") == [3]
    assert get(reading, "web/1/0", "TX bytes", kind="net") == [7732224]
    assert get(reading, "web/1/BlkBack 768", "WSECT", kind="vbd") == [12]
    assert get(reading, "web/1/BlkTap 51712", "RD", kind="vbd") == []


def test_names_truncated_to_the_same_ten_characters():
    reading = FORMAT.read(listing(HEADER, row("webserver-", 1), row("webserver-", 2)))
    assert get(reading, "webserver-#2", "CPU(sec)") == [2]
    assert "twice" in reading.warnings[0]


def test_summary_time_crosses_midnight():
    lines = [
        line
        for t in ("23:59:50", "00:00:20")
        for line in (
            f"xentop - {t}   Xen 3.1.0",
            "1 domains: 0 running, 1 blocked, 0 shutdown ",
            HEADER,
            row("a"),
        )
    ]
    assert sorted(set(FORMAT.read(listing(*lines)).records["t"])) == [86390, 86420]


def test_truncated_file():
    whole = listing(HEADER, row("a", 1), row("b", 1), HEADER, row("a", 2), row("b", 2))
    reading = FORMAT.read(whole[:-60])
    assert get(reading, "a", "CPU(sec)") == [1]
    assert "line 6" in reading.warnings[0]
    assert get(FORMAT.read(whole[:-1]), "b", "CPU(sec)") == [
        1,
        2,
    ]  # only the newline is missing
    shorter = listing(HEADER, row("a", 1), HEADER, row("a", 2, tail="1234"))[
        :-3
    ]  # all values present, one lacks digits
    assert get(FORMAT.read(shorter), "a", "CPU(sec)") == [1]
    after = FORMAT.read(whole + b"      NAME  STA")
    assert get(after, "b", "CPU(sec)") == [1, 2]


@each_case(
    ("data", "line", "part"),
    [
        (b"", 1, "no xentop header"),
        (listing(HEADER, row("a")[:100], row("b")), 2, "does not fit"),
        (listing(HEADER, row("a").replace("524288", "52x288"), row("b")), 2, "not a number"),
        (listing(HEADER, row("a").replace("25.0", "no limit"), row("b")), 2, "not a number"),
        (listing(HEADER, row("a").replace("--b---", "--x---"), row("b")), 2, "not a line"),
        (listing(HEADER, row("a"), HEADER_19, row("b")), 3, "other columns"),
        (listing(HEADER, HEADER, row("b")), 1, "without a row"),
    ],
)
def test_errors_report_the_line_number(data, line, part):
    with pytest.raises(FormatError, match=part) as caught:
        FORMAT.read(data, file="x")
    assert caught.value.line == line


BASE = (
    listing(
        "xentop - 10:00:00   Xen 3.1.0",
        HEADER,
        row("a"),
        row("b c", 5),
        "VCPUs(sec):   0:          5s",
    )
    * 2
)


def test_sniff():
    assert FORMAT.sniff(listing(HEADER, row("a"))) == 1.0
    assert FORMAT.sniff(b"Linux 2.6 (h) 01/01/09\n") == 0.0
