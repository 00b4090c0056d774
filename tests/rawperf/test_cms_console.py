"""CMS console transcripts: ready messages, CP's responses, midnight, run-together lines, round trip, damage."""

from __future__ import annotations

import pytest
from hypothesis import strategies as st

from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from rawperf.zvm.cms import FORMAT
from tests.cases import each_case

SESSION = b"""z/VM Version 5 Release 4.0
LOGON AT 23:58:00 EDT FRIDAY 08/05/11

Ready; T=0.03/0.04 23:58:10
cp defseg scratch 62f400-62f400 ew 62f401-66f3ff en
00: HCPNSD440I Saved segment SCRATCH was successfully defined in fileid 0398.
Ready; T=0.01/0.01 23:58:40
saveseg  scratch
00: HCPNSS440I Saved segment SCRATCH was successfully saved in fileid 0398.
Ready; T=0.01/12.34 00:03:05
q nss name scratch map
00: FILE FILENAME FILETYPE BEGPAG        ENDPAG        TYPE CL #USERS PARMREGS VMGROUP
00: 0398 SCRATCH  DCSSG    000000062F400 000000062F400 EW   A  00002  N/A      N/A
00:                        000000062F401 000000066F3FF EN
00: 0401 SCRATCH  DCSSG    000000062F400 000000066F3FF SN   P  00000  N/A      N/A
Ready; T=0.01/0.01 00:03:10
erase nofile
DMSERS002E File NOFILE not found
Ready(00028); T=0.01/0.01 00:03:11
q v
STORAGE = 2G
XSTORE = none
CPU 00  ID  FF0C452E20978000 (BASE) CP   CPUAFF ON
CPU 01  ID  FF0C452E20978000 CP   CPUAFF ON
CONS 0009 ON LDEV L0003 TERM START
DASD 0190 3390 LNX001 R/O        107 CYL ON DASD  61A2 SUBCHANNEL = 000E
DASD 029F 9336 (VDSK) R/W    2097152 BLK ON DASD  VDSK SUBCHANNEL = 001F
Ready; T=0.01/0.02 00:03:15
"""


def values(reading: ParsedFile, report: str, entity: str) -> dict[str, float]:
    r = reading.records
    found = r[(r["report"] == report) & (r["entity"] == entity)]
    return dict(zip(found["field"], found["value"], strict=True))


def commands(reading: ParsedFile) -> list[str]:
    r = reading.records
    return r.loc[r["field"] == "return code", "entity"].tolist()


def test_commands_and_their_times():
    reading = FORMAT.read(SESSION)
    assert commands(reading) == [
        "LOGON",
        "DEFSEG SCRATCH 62F400-62F400 EW 62F401-66F3FF EN",
        "SAVESEG SCRATCH",
        "Q NSS NAME SCRATCH MAP",
        "ERASE NOFILE",
        "Q V",
    ]
    assert values(reading, "command", "SAVESEG SCRATCH") == {
        "return code": 0,
        "virtual CPU": 0.01,
        "total CPU": 12.34,
        "elapsed": 265,
    }
    assert values(reading, "command", "ERASE NOFILE")["return code"] == 28
    assert "elapsed" not in values(reading, "command", "LOGON")
    assert reading.info["logon"] == "23:58:00 EDT FRIDAY 08/05/11"
    assert reading.clock == "time-of-day"
    assert reading.warnings == ()


def test_times_increase_past_midnight():
    records = FORMAT.read(SESSION).records
    assert records["t"].is_monotonic_increasing
    assert sorted(set(records["t"]))[0] == 23 * 3600 + 58 * 60 + 10
    assert sorted(set(records["t"]))[-1] == 86400 + 3 * 60 + 15


def test_values_have_the_time_of_their_ready_message():
    records = FORMAT.read(SESSION).records
    saved = records[records["report"] == "HCPNSS440I"]
    assert saved[["entity_kind", "entity", "field", "t", "value"]].values.tolist() == [
        ["segment", "SCRATCH", "fileid", 86400 + 185, 398]
    ]


def test_defined_ranges():
    reading = FORMAT.read(SESSION)
    assert values(reading, "DEFSEG", "SCRATCH 1 EW") == {"BEGPAG": 0x62F400, "ENDPAG": 0x62F400}
    assert values(reading, "DEFSEG", "SCRATCH 2 EN") == {"BEGPAG": 0x62F401, "ENDPAG": 0x66F3FF}
    assert values(reading, "HCPNSD440I", "SCRATCH") == {"fileid": 398}


def test_failed_defseg_defines_nothing():
    data = (
        b"defseg x 100-1FF sn\nHCPNSD003E Invalid option - X\nReady(00003); T=0.01/0.01 12:00:00\n"
    )
    assert set(FORMAT.read(data).records["report"]) == {"command"}


def test_query_nss_map():
    reading = FORMAT.read(SESSION)
    assert values(reading, "QUERY NSS", "SCRATCH") == {"FILE": 398, "CL A": 1, "#USERS": 2}
    assert values(reading, "QUERY NSS", "SCRATCH 1 EW") == {"BEGPAG": 0x62F400, "ENDPAG": 0x62F400}
    assert values(reading, "QUERY NSS", "SCRATCH 2 EN") == {"BEGPAG": 0x62F401, "ENDPAG": 0x66F3FF}
    assert values(reading, "QUERY NSS", "SCRATCH P0401") == {"FILE": 401, "CL P": 1, "#USERS": 0}
    assert values(reading, "QUERY NSS", "SCRATCH P0401 1 SN") == {
        "BEGPAG": 0x62F400,
        "ENDPAG": 0x66F3FF,
    }
    assert reading.info["filetype SCRATCH"] == "DCSSG"


def test_query_nss_map_of_a_named_system():
    reading = FORMAT.read(
        b"q nss map\n"
        b"FILE FILENAME FILETYPE MINSIZE  BEGPAG ENDPAG TYPE CL #USERS PARMREGS VMGROUP\n"
        b"0016 CMS      NSS      0000256K 00000  0000D  EW   A  00017   00-15    NO\n"
        b"                                00F00  013FF  SR\n"
        b"Ready; T=0.01/0.01 12:00:00\n"
    )
    assert values(reading, "QUERY NSS", "CMS 2 SR") == {"BEGPAG": 0xF00, "ENDPAG": 0x13FF}
    assert values(reading, "QUERY NSS", "CMS")["#USERS"] == 17


def test_query_virtual():
    reading = FORMAT.read(SESSION)
    assert values(reading, "QUERY VIRTUAL", "") == {"STORAGE": 2**31, "XSTORE": 0}
    assert values(reading, "QUERY VIRTUAL", "029F") == {"BLK": 2097152}
    assert values(reading, "QUERY VIRTUAL", "0190") == {"CYL": 107}
    assert values(reading, "QUERY VIRTUAL", "01") == {"CPU": 1}
    assert reading.info["DASD 029F"] == "9336 (VDSK) R/W ON DASD VDSK SUBCHANNEL = 001F"
    assert reading.info["other lines"] == "2"  # DMSERS002E and the console


@each_case(
    ("line", "entity", "fileid"),
    [
        (
            b"00:HCPNSS440I Saved segment DCSS1G was successfully saved in file ID 0400.",
            "DCSS1G",
            400,
        ),
        (
            b"HCPNSS440I Saved segment DCSS1G was successfully saved in\n\nfile ID 0400.",
            "DCSS1G",
            400,
        ),
        (
            b"HCPNSS440I Named Saved System (NSS) CMS was successfully saved in fileid 0002.",
            "CMS",
            2,
        ),
    ],
)
def test_variants_of_the_saved_message(line, entity, fileid):
    reading = FORMAT.read(b"saveseg x\n" + line + b"\nReady; T=0.01/0.01 12:00:00\n")
    assert values(reading, "HCPNSS440I", entity) == {"fileid": fileid}
    assert reading.warnings == ()


@each_case("broken", [b"SUBCHANNEL\n = 001F", b"SUBCHANNEL =\n001F"])
@each_case("before", [b" R/W     ", b" R/W\n        "])
def test_wrapped_device_line(broken, before):
    data = b"q v 29f\nDASD 029F 9336 (VDSK)" + before + b"2097152 BLK ON DASD VDSK " + broken
    reading = FORMAT.read(data + b"\nReady; T=0.01/0.01 12:02:15\n")
    assert values(reading, "QUERY VIRTUAL", "029F") == {"BLK": 2097152}
    assert reading.warnings == ()


def test_ready_messages_without_times():
    reading = FORMAT.read(b"q time\nReady;\nerase x\nReady(-0001);\nREADY;\n")
    assert reading.clock == "none"
    assert commands(reading) == ["Q TIME", "ERASE X", ""]
    assert reading.records["value"].tolist() == [0, -1, 0]
    assert reading.records["t"].isna().all()


def test_elapsed_time_needs_a_previous_time():
    data = b"a\nReady; T=0.01/0.01 12:00:00\nb\nReady;\nc\nReady; T=0.01/0.01 12:00:09\nd\nReady; T=0.01/0.01 12:00:10\n"
    elapsed = FORMAT.read(data).records.query("field == 'elapsed'")
    assert elapsed[["entity", "value"]].values.tolist() == [["D", 1]]


def test_clock_set_back_is_not_midnight():
    reading = FORMAT.read(b"a\nReady; T=0.01/0.01 12:00:00\nb\nReady; T=0.01/0.01 11:00:00\n")
    assert "line 4" in reading.warnings[0]
    assert "elapsed" not in set(reading.records["field"])
    assert reading.records["t"].max() == 12 * 3600


def test_messages_between_commands_are_ignored():
    data = (
        b"a\nReady; T=0.01/0.01 12:00:00\n DVHREQ2289I Your CPU request has completed.\n12:00:03 * MSG FROM OPERATOR: hello\n"
        b"===> #cp q time\nReady; T=0.01/0.01 12:00:05\n"
    )
    assert commands(FORMAT.read(data)) == ["A", "Q TIME"]


def test_timestamps_in_responses_are_ignored():
    data = b"saveseg x\n12:00:01 HCPNSS440I Saved segment X was successfully saved in fileid 0400.\nReady; T=0.01/0.01 12:00:02\n"
    assert values(FORMAT.read(data), "HCPNSS440I", "X") == {"fileid": 400}


def test_responses_without_ready_message_have_no_time():
    reading = FORMAT.read(b"".join(line + b"\n" for line in SESSION.splitlines()[11:15]))
    assert reading.clock == "none"
    assert values(reading, "QUERY NSS", "SCRATCH")["FILE"] == 398


def test_merged_lines_are_skipped_with_a_warning():
    rows = b"00:FILE FILENAME FILETYPE BEGPAG ENDPAG TYPE CL #USERS\n"
    run_together = b"00:0398SCRATCH DCSSG 00000062F40000000062F400EW A00000\n00:  000000062F401 000000066F3FF EN\n"
    good = (
        b"0400 DCSS1G DCSSG 0000000020000 000000005FFFF SN A 00000\nReady; T=0.01/0.01 12:00:00\n"
    )
    reading = FORMAT.read(b"q nss map\n" + rows + run_together + good)
    assert [("line 3" in w, "line 4" in w) for w in reading.warnings] == [
        (True, False),
        (False, True),
    ]
    segments = reading.records[reading.records["report"] == "QUERY NSS"]
    assert set(segments["entity"]) == {"DCSS1G", "DCSS1G 1 SN"}
    reading = FORMAT.read(
        b"q nss map\n" + rows.replace(b"BEGPAG ENDPAG TYPE", b"BEGPAGENDPAGTYPE") + good
    )
    assert "damaged heading" in reading.warnings[0]
    assert set(reading.records["report"]) == {"command"}


@each_case(
    ("old", "new", "line"),
    [
        (b"000000062F400 EW", b"000000062F3FF EW", 13),
        (b"EW   A  00002", b"EX   A  00002", 13),
        (
            b"0401 SCRATCH  DCSSG    000000062F400 000000066F3FF SN   P",
            b"0401 SCRATCH  DCSSG    000000062F400 000000066F3FF SN   A",
            15,
        ),
        (b"saved in fileid 0398", b"saved in fileid O398", 9),
        (b"2097152 BLK", b"2O97152 BLK", 27),
        (b"STORAGE = 2G", b"STORAGE = 2X", 21),
        (b"ID  FF0C452E20978000 (BASE)", b"ID  FF0C (BASE)", 23),
    ],
)
def test_damaged_responses_are_skipped_with_a_warning(old, new, line):
    reading = FORMAT.read(SESSION.replace(old, new))
    assert f"line {line}:" in reading.warnings[0]
    assert len(reading.records) < len(FORMAT.read(SESSION).records)


def test_truncated_response_is_dropped():
    cut = SESSION[: SESSION.index(b"DASD 029F") + 40]
    reading = FORMAT.read(cut)
    assert "this line was left out" in reading.warnings[0]
    assert "ends before the ready message of 'Q V'" in reading.warnings[1]
    assert "QUERY VIRTUAL" not in set(reading.records["report"])
    assert FORMAT.read(SESSION[:-1]).warnings == ()
    assert (
        FORMAT.read(SESSION + b"logoff\nLOGOFF AT 00:04:00 EDT SATURDAY 08/06/11\n").warnings == ()
    )


@each_case(
    ("data", "line", "part"),
    [
        (b"", 1, "no ready message"),
        (b"some text\n", 1, "no ready message"),
        (b"a\nReady; T=0.01/0.01 25:00:00\n", 2, "not a time of day"),
        (b"a\nReady; T=0.01 12:00:00\n", 2, "a damaged ready message"),
        (b"a\nReady(0002x); T=0.01/0.01 12:00:00\n", 2, "a damaged ready message"),
        (b"a\nReady; 12:00:00\n", 2, "a damaged ready message"),
    ],
)
def test_errors_report_the_line_number(data, line, part):
    with pytest.raises(FormatError, match=part) as caught:
        FORMAT.read(data)
    assert caught.value.line == line


def test_virtual_time_above_total_is_reported():
    assert "exceeds the total" in FORMAT.read(b"a\nReady; T=0.02/0.01 12:00:00\n").warnings[0]


NAMES = st.sampled_from(["DCSS1G", "DCSS16G1", "SWAP$1", "CMS"])
TYPES = st.sampled_from(["EW", "EN", "ER", "SW", "SN", "SR", "SC"])
PAGES = st.tuples(st.integers(0, 2**27), st.integers(0, 2**27)).map(sorted)


def test_long_line_is_read_in_linear_time():
    reading = FORMAT.read(
        SESSION + b"DASD " + b"CYL" * 100_000 + b"\nREADY; T=0.01/0.01 00:03:16\n"
    )
    assert reading.records["t"].max() == 86400 + 196


def test_sniff():
    assert FORMAT.sniff(SESSION) > 0.9
    assert FORMAT.sniff(b"\n".join(SESSION.splitlines()[11:14])) >= 0.9
    assert FORMAT.sniff(SESSION.splitlines()[26]) >= 0.8
    assert 0.5 <= FORMAT.sniff(b"q time\nReady;\n") < 0.6
    assert FORMAT.sniff(b"ready; set; go\n") == 0.0


@each_case(
    "old, new",
    [
        (b"Ready; T=0.01/0.01 23:58:40", b"7 Ready; T=0.01/0.01 23:58:40"),
        (b"LOGON AT 23:58:00", b"LOGON 23:58:00"),
        (b"62f400-62f400 ew", b"62f400-62f400 7 ew"),
        (b"CPU 01  ID", b"CPU 01"),
        (b"STORAGE = 2G", b"STORAGE 2G"),
        (b"107 CYL ON", b"107 ON"),
        (b"00: HCPNSD440I", b"00: 7 HCPNSD440I"),
    ],
)
def test_damaged_line_is_warned_of(old: bytes, new: bytes) -> None:
    line = SESSION[: SESSION.index(old)].count(b"\n") + 1
    messages = FORMAT.read(SESSION.replace(old, new, 1)).warnings
    assert any(f"line {line}: " in message for message in messages), messages
