"""xentop: real listings, each trap of the versions, round trip, damage."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf import sniff
from rawperf.base import RECORD_COLUMNS, Reading
from rawperf.core.errors import FormatError
from rawperf.xentop.read import FORMAT
from rawperf.xentop.write import COLUMNS

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
    reading: Reading, entity: str, field: str, t: float | None = None, kind: str = "domain"
) -> list[float]:
    r = reading.records
    mask = (r["entity"] == entity) & (r["field"] == field) & (r["entity_kind"] == kind)
    return r.loc[mask & (True if t is None else r["t"] == t), "value"].tolist()


def test_eight_samples_of_xen_3(samples):
    reading = FORMAT.read((samples / "xentop/xen3_17col_batch_8samples.txt").read_bytes())
    assert reading.clock == "sample"
    assert reading.info == {"columns": "17", "summary": "no"}
    assert get(reading, "Domain-0", "CPU(sec)") == [22157, 22157] + [22158] * 6
    # the log begins after the tool's first sample, whose 0.0 would be no measurement
    assert get(reading, "Domain-0", "CPU(%)") == [0.6, 0.4, 11.8, 0.5, 0.6, 0.5, 0.7, 0.5]
    assert get(reading, "Domain-0", "CPU(%)", t=2) == [11.8]
    assert get(reading, "Domain-0", "MEM(%)", t=7) == [2.3]


def test_no_limit_and_one_iteration(samples):
    reading = FORMAT.read((samples / "xentop/xen3_17col_nolimit.txt").read_bytes())
    assert get(reading, "Domain-0", "MAXMEM(k)") == get(reading, "Domain-0", "MAXMEM(%)") == []
    assert get(reading, "jvm", "MAXMEM(k)") == [524288]
    assert get(reading, "utm", "NETTX(k)") == [17630]
    assert get(reading, "utm", "NETRX(k)") == [10866]
    assert get(reading, "utm", "VBD_WR") == [17994]
    assert get(reading, "Domain-0", "NETS") == [4]
    assert "CPU(%)" not in set(reading.records["field"])


def test_screens_with_summary(samples):
    reading = FORMAT.read((samples / "xentop/xen4.1.2_xmtop_summary.txt").read_bytes())
    assert reading.clock == "time-of-day"
    assert set(reading.records["t"]) == {18 * 3600 + 3 * 60 + 17.0}
    assert reading.info["xen_version"] == "4.1.2"
    assert get(reading, "virtual1", "NETRX(k)") == [17270964]
    assert get(reading, "virtual1", "VBD_WSECT") == [69690752]
    assert get(reading, "Domain-0", "MAXMEM(k)") == []
    reading = FORMAT.read((samples / "xentop/xen4.9.2_xltop_summary.txt").read_bytes())
    assert (reading.info["columns"], reading.info["cpus"], reading.info["cpu_mhz"]) == (
        "19",
        "8",
        "2112",
    )
    assert get(reading, "guest-01", "MAXMEM(k)") == [1049600]
    assert get(reading, "guest-01", "VBD_RSECT", t=20 * 3600 + 44 * 60 + 53) == [112010]
    assert get(reading, "guest-01", "VBD_RD") == [2495]


def test_listing_with_eight_columns(samples):
    reading = FORMAT.read((samples / "xentop/xen_batch_i2_first_sample_zero_8col.txt").read_bytes())
    assert get(reading, "Domain-0", "CPU(%)") == [127.3]
    assert get(reading, "vm2132", "CPU(%)") == [0.2]
    assert get(reading, "vm2057", "CPU(%)") == [
        0.0
    ]  # the 0.0 of the second sample is a measurement
    assert get(reading, "vm2113", "MAXMEM(k)", t=1) == [262144]


def test_names_longer_than_the_column_or_with_blanks():
    names = ("BB - backup2", "a-very-long-domain-name", "x y z")
    reading = FORMAT.read(listing(HEADER, *(row(name, sec) for sec, name in enumerate(names, 5))))
    assert [get(reading, name, "CPU(sec)") for name in names] == [[5], [6], [7]]


def test_header_that_widens_between_samples():
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
    busy = {(0, "a"): 0, (0, "b"): 0, (3, "a"): 0}  # what xentop prints where it has no difference
    shown = [(t, name) for t, names in enumerate(("ab", "ab", "b", "ab")) for name in names]
    data = listing(
        *(line for key in shown for line in (HEADER, row(key[1], 1, busy.get(key, 7.0))))
    )
    reading = FORMAT.read(data)
    assert reading.info["repeat_header"] == "yes"
    # sample 2 lacks a, so sample 3 has no difference for it
    assert reading.records.loc[
        reading.records["field"] == "CPU(%)", ["t", "entity"]
    ].values.tolist() == [
        [1, "a"],
        [1, "b"],
        [2, "b"],
        [3, "b"],
    ]


def test_a_log_whose_beginning_was_cut_off_has_differences_in_its_first_sample():
    cut = listing(
        HEADER, row("a", 5, 12.5), row("b", 3, 0.0), HEADER, row("a", 6, 10.0), row("b", 3, 0.0)
    )
    assert get(FORMAT.read(cut), "a", "CPU(%)") == [12.5, 10.0]
    assert get(FORMAT.read(cut), "b", "CPU(%)") == [0.0, 0.0]
    whole = listing(HEADER, row("a", 5), row("b", 3), HEADER, row("a", 6, 10.0), row("b", 3))
    assert get(FORMAT.read(whole), "b", "CPU(%)") == [0.0]


def test_colours_and_a_byte_order_mark_are_no_part_of_the_listing():
    plain = listing(HEADER, row("a", 1), HEADER, row("a", 2, 50.0))
    coloured = b"\x1b[7m" + plain.replace(b" --b---", b"\x1b[0m --b---")
    for data in (coloured, b"\xef\xbb\xbf" + plain):
        assert sniff(data) is FORMAT
        assert FORMAT.read(data).records.equals(FORMAT.read(plain).records)


def test_a_header_for_each_domain() -> None:
    both = listing(HEADER, row("a"), HEADER, row("b"))
    assert FORMAT.read(both).records["t"].unique().tolist() == [0]
    assert FORMAT.read(both).info["repeat_header"] == "yes"
    parted = listing(HEADER, row("b"), HEADER, row("a"), "", HEADER, row("b"))
    assert FORMAT.read(parted).records["t"].unique().tolist() == [0, 1, 2]
    for data in (both, parted):
        with pytest.raises(FormatError, match="can't print"):
            FORMAT.write(FORMAT.read(data))


def test_devices_in_error_and_counters_below_zero():
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


def test_names_cut_to_the_same_ten_characters():
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


def test_file_that_breaks_off():
    whole = listing(HEADER, row("a", 1), row("b", 1), HEADER, row("a", 2), row("b", 2))
    reading = FORMAT.read(whole[:-60])
    assert get(reading, "a", "CPU(sec)") == [1]
    assert "line 6" in reading.warnings[0]
    assert get(FORMAT.read(whole[:-1]), "b", "CPU(sec)") == [
        1,
        2,
    ]  # nothing but the line end is missing
    shorter = listing(HEADER, row("a", 1), HEADER, row("a", 2, tail="1234"))[
        :-3
    ]  # every value is there, one lacks digits
    assert get(FORMAT.read(shorter), "a", "CPU(sec)") == [1]
    after = FORMAT.read(whole + b"      NAME  STA")
    assert get(after, "b", "CPU(sec)") == [1, 2]


@pytest.mark.parametrize(
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
def test_refusals_name_the_line(data, line, part):
    with pytest.raises(FormatError, match=part) as caught:
        FORMAT.read(data, file="x")
    assert caught.value.line == line


def test_written_layout():
    lines = (
        FORMAT.write(
            FORMAT.read(listing(HEADER, row("a"), row("b"), HEADER, row("a", 3, 12.34), row("b")))
        )
        .decode()
        .split("\n")
    )
    assert lines[0] == lines[3] == HEADER
    assert len(HEADER) == len(lines[1]) == 140
    assert lines[4].split()[:5] == ["a", "------", "3", "12.3", "524288"]
    assert lines[1].split()[3] == "0.0"
    assert len(HEADER_19) == 162
    with pytest.raises(FormatError, match="NETTX"):
        gone = FORMAT.read(listing(HEADER, row("a")))
        FORMAT.write(
            Reading(gone.records[gone.records["field"] != "NETTX(k)"], "sample", gone.info)
        )


@st.composite
def readings(draw) -> Reading:
    timed = draw(st.booleans())
    names = draw(
        st.lists(
            st.from_regex(r"[A-Za-z0-9](?:[ .-]?[a-z0-9]){0,14}", fullmatch=True),
            min_size=1 if timed else 2,
            max_size=4,
            unique=True,
        )
    )
    records, before = [], set()
    t = float(draw(st.integers(0, 86399))) if timed else 0.0
    for _ in range(draw(st.integers(1, 4))):
        now = draw(st.lists(st.sampled_from(names), min_size=1 if timed else 2, unique=True))
        for name in now:
            for c in COLUMNS:
                tenths = draw(st.integers(0, 9999)) / 10
                absent = c.startswith(("MAXMEM", "VBD_")) and draw(st.booleans())
                if not absent and (c != "CPU(%)" or name in before):
                    records.append(
                        (
                            "",
                            "domain",
                            name,
                            c,
                            t,
                            tenths if "(%)" in c else draw(st.integers(0, 2**52)),
                        )
                    )
        before = set(now)
        t += draw(st.integers(1, 4000)) if timed else 1
    frame = pd.DataFrame(records, columns=list(RECORD_COLUMNS)).astype({"t": float, "value": float})
    info = {"columns": "17", "summary": "yes" if timed else "no"}
    if timed:
        info |= {"xen_version": "3.1.0", "mem_total_k": "16734804", "cpus": "8", "cpu_mhz": "2112"}
    return Reading(frame, "time-of-day" if timed else "sample", info)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(readings())
def test_round_trip(reading):
    reading.records.loc[reading.records["field"] == "CPU(sec)", "value"] %= (
        1e9  # more is below zero in disguise
    )
    reading.records["value"] = np.where(
        reading.records["field"].str.contains("(%)", regex=False),
        reading.records["value"],
        np.floor(reading.records["value"]),
    )
    again = FORMAT.read(FORMAT.write(reading))
    pd.testing.assert_frame_equal(again.records, reading.records)
    assert (again.clock, again.info, again.warnings) == (reading.clock, reading.info, ())


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


@settings(max_examples=250, deadline=None, derandomize=True)
@given(st.integers(0, len(BASE)), st.integers(0, 40), st.binary(max_size=12))
def test_damage_gives_a_reading_or_a_format_error(at, cut, put):
    try:
        reading = FORMAT.read(BASE[:at] + put + BASE[at + cut :])
    except FormatError:
        return
    assert tuple(reading.records.columns) == RECORD_COLUMNS


def test_sniff():
    assert FORMAT.sniff(listing(HEADER, row("a"))) == 1.0
    assert FORMAT.sniff(b"Linux 2.6 (h) 01/01/09\n") == 0.0
