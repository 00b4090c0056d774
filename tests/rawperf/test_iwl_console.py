"""The console log of the workload simulator: grammar, edge cases, round trip, robustness."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import strategies as st

from rawperf.base import RECORD_COLUMNS, ParsedFile
from rawperf.core.errors import FormatError
from rawperf.zvm.iwl.console import FORMAT, STATUS_FIELDS
from tests.cases import each_case

STATUS = "# clients 7/8 | rd 1.5000 MB/s | wr 0.2500 MB/s | pg {pg} | web err 1 | resp avg = 0.012 | pg elem/s = 13.125\n"
SUMMARY = """\
IWL0058I Time limit of 20 seconds has been reached. Shutting down.
IWL0038I Run time = 00:00:21
IWL0007I Clients completed = 0/8
IWL0059I Page elements = 262
IWL0060I Page element throughput = 12.500 /s
IWL0059I Transactions = 200
IWL0060I Transaction throughput = 9.524 /s
IWL0060I HTTP data read = 31.500 MB
IWL0060I HTTP avg. page element response time = 0.012
IWL0059I HTTP avg. page element response time = 0 (with all clients concurrently running)
"""
LOG = STATUS.format(pg=100) + STATUS.format(pg=230) + SUMMARY


def read(text: str) -> ParsedFile:
    return FORMAT.read(text.encode(), file="engine.log")


def summary(reading: ParsedFile) -> dict[str, float]:
    own = reading.records[reading.records["report"] == "summary"]
    return dict(zip(own["field"], own["value"], strict=True))


def test_status_lines_are_samples() -> None:
    reading = read(LOG)
    assert reading.clock == "sample"
    assert tuple(reading.records.columns) == RECORD_COLUMNS
    assert set(reading.records["entity_kind"]) == {"driver"}
    status = reading.records[reading.records["report"] == "status"].pivot(
        index="t", columns="field", values="value"
    )
    assert list(status.index) == [0.0, 1.0]
    assert dict(status.loc[1.0]) == {
        "clients": 7,
        "clients max": 8,
        "rd": 1.5,
        "wr": 0.25,
        "pg": 230,
        "web err": 1,
        "resp avg": 0.012,
        "pg elem/s": 13.125,
    }


def test_summary_labels_are_complete() -> None:
    reading = read(LOG)
    found = summary(reading)
    assert found["Page element throughput"] == 12.5
    assert found["Transaction throughput"] == 9.524
    assert "Page throughput" not in found
    assert found["Run time"] == 21
    assert (found["Clients completed"], found["Clients completed max"]) == (0, 8)
    assert reading.records.loc[reading.records["report"] == "summary", "t"].isna().all()
    assert reading.info["time limit"] == "20"
    assert reading.warnings == ()


def test_response_time_occurs_twice() -> None:
    label = "HTTP avg. page element response time"
    found = summary(read(LOG))
    assert found[label] == 0.012
    assert found[f"{label} (with all clients concurrently running)"] == 0


def test_ids_are_optional() -> None:
    bare = "".join(line.partition(" ")[2] + "\n" for line in SUMMARY.splitlines())
    assert summary(read(bare)) == summary(read(SUMMARY))


def test_status_line_wrapped_before_response_time() -> None:
    wrapped = LOG.replace(" | resp avg", "\n| resp avg")
    pd.testing.assert_frame_equal(read(wrapped).records, read(LOG).records)
    pd.testing.assert_frame_equal(read(LOG.replace("\n", "\r\n")).records, read(LOG).records)


def test_data_wrapper_and_foreign_lines() -> None:
    text = f"<data machine=m1 runType=trade runNo=4>\nInitial number of clients = 7\nIWL0099W odd\nodd = 3\n{LOG}</data>\n"
    reading = read(text)
    assert reading.info["data runNo"] == "4"
    assert reading.info["message IWL0099W"] == "1"
    assert reading.info["other lines"] == "1"
    assert summary(reading)["Initial number of clients"] == 7
    assert "odd" not in summary(reading)


# JMeter summary as printed by a public DayTrader harness, with iwlengine's labels and no ids.
JMETER = """\
DayTrader Run against was1:9080
<data machine="{machine}" runType="measure" runNo="3">
Running 50 clients for 600 seconds...
Page throughput = 512.5 /s
HTTP avg. page element response time = 97
Web server errors = 2
Network I/O errors = 2
Num of pages retrieved = 307500
Initial number of clients = 50
</data>
"""


def test_jmeter_summary_with_iwlengine_labels() -> None:
    """JMeter's mean has whole milliseconds, iwlengine's three decimals of a second."""
    reading = read(JMETER.format(machine="client"))
    assert summary(reading) == {
        "Page throughput": 512.5,
        "HTTP avg. page element response time": 0.097,
        "Web server errors": 2,
        "Network I/O errors": 2,
        "Num of pages retrieved": 307500,
        "Initial number of clients": 50,
    }
    assert reading.info == {
        "data machine": "client",
        "data runType": "measure",
        "data runNo": "3",
        "harness": "jmeter",
        "other lines": "2",
    }
    for seconds in ("0.097", "97.0"):
        found = read(JMETER.format(machine="client").replace("= 97\n", f"= {seconds}\n"))
        assert summary(found)["HTTP avg. page element response time"] == float(seconds)
        assert "harness" not in found.info
    found = read(JMETER.format(machine="client") + "IWL0099W odd\n")  # an id identifies iwlengine
    assert summary(found)["HTTP avg. page element response time"] == 97


def test_empty_jmeter_summary_is_rejected() -> None:
    with pytest.raises(FormatError, match="damaged summary line") as caught:
        read(JMETER.format(machine="client").replace("512.5", ""))
    assert caught.value.line == 4


def test_several_machines_in_one_log() -> None:
    text = JMETER.format(machine="client.1") + JMETER.format(machine="client.2").replace(
        "= 97", "= 98"
    )
    text += f"<data machine=m3 runType=warmup>\n{LOG}</data>\n"
    reading = read(text)
    assert reading.records["entity"].drop_duplicates().tolist() == ["client.1", "client.2", "m3"]
    found = reading.records[reading.records["field"] == "HTTP avg. page element response time"]
    assert found["value"].tolist() == [0.097, 0.098, 0.012]
    status = reading.records[reading.records["report"] == "status"]
    assert (set(status["entity"]), status["t"].max()) == ({"m3"}, 1)
    assert reading.info["client.2 harness"] == "jmeter"
    assert reading.info["m3 data runType"] == "warmup"
    assert reading.info["m3 time limit"] == "20"


@each_case(
    ("text", "problem", "line"),
    [
        (JMETER.format(machine="a") * 2, "several runs of one machine", 12),
        (
            JMETER.format(machine="a") + JMETER.replace(' machine="{machine}"', ""),
            "one of them without a machine",
            12,
        ),
        (
            SUMMARY + JMETER.format(machine="a") + JMETER.format(machine="b"),
            "outside of the wrappers",
            2,
        ),
    ],
)
def test_several_runs_of_one_machine_are_rejected(text: str, problem: str, line: int) -> None:
    with pytest.raises(FormatError, match=problem) as caught:
        read(text)
    assert caught.value.line == line


def test_wrapper_without_a_run_is_skipped() -> None:
    """As written by a harness whose warm-up did not start."""
    failed = '<data machine="a" runType="warmup" runNo="1">\nnot started\n</data>\n'
    reading = read(failed + JMETER.format(machine="a"))
    pd.testing.assert_frame_equal(reading.records, read(JMETER.format(machine="a")).records)
    assert reading.info | {"other lines": "2"} == read(JMETER.format(machine="a")).info
    (warning,) = reading.warnings
    assert "line 1: this wrapper contains no run" in warning
    both = read(failed + JMETER.format(machine="a") + JMETER.format(machine="b"))
    assert set(both.records["entity"]) == {"a", "b"}
    assert len(both.warnings) == 1


def test_line_numbers() -> None:
    text = "\n" + LOG.replace(" | resp avg", "\n| resp avg", 1) + "\n"
    reading = read(text)
    assert reading.lines is not None
    lines = text.splitlines()
    for field, line in zip(reading.records["field"], reading.lines, strict=True):
        label = field.removesuffix(" max").partition(" (")[0] + (
            " =" if field.startswith(("resp", "pg elem")) else ""
        )
        assert label in lines[line - 1]
    found = read(JMETER.format(machine="a") + JMETER.format(machine="b")).lines
    assert found is not None
    assert found.tolist() == [4, 5, 6, 7, 8, 9, 14, 15, 16, 17, 18, 19]


def test_non_ascii_digits_are_rejected() -> None:
    with pytest.raises(FormatError):
        read(LOG.replace("Transactions = 200", "Transactions = \u0662\u0660\u0660"))


def test_count_inconsistent_with_rate_and_time_gives_a_warning() -> None:
    # 12.5/s for 21 s is 262.5; a run time uncertain by 1 s allows +-12.5
    assert read(SUMMARY.replace("= 262", "= 274")).warnings == ()
    (warning,) = read(SUMMARY.replace("= 262", "= 290")).warnings
    assert "engine.log line 5" in warning
    assert "290" in warning


def test_decreasing_page_counter_gives_a_warning() -> None:
    (warning,) = read(STATUS.format(pg=9) + STATUS.format(pg=3)).warnings
    assert "line 2" in warning


@each_case(
    "cut",
    [
        "# clients 7/8 | rd 1.5",
        "# clients 7/8 | rd 1.5000 MB/s | wr 0.2500 MB/s | pg 9 | web err 1\n",
    ],
)
def test_truncated_last_status_line_is_dropped(cut: str) -> None:
    reading = read(STATUS.format(pg=5) + cut)
    assert len(reading.records) == len(STATUS_FIELDS)
    assert "line 2" in reading.warnings[0]


def test_last_number_without_newline_may_have_lost_digits() -> None:
    text = STATUS.format(pg=5) + "IWL0059I Transactions = 83"
    assert "Transactions" not in summary(read(text))
    assert "line 2" in read(text).warnings[0]
    assert summary(read(LOG.rstrip("\n"))) == summary(
        read(LOG)
    )  # the last line of LOG ends in a bracket


@each_case(
    ("old", "new", "line"),
    [
        ("pg 100", "pg 1x0", 1),
        ("rd 1.5000 MB/s", "rd 1.5000 GB/s", 1),
        ("Run time = 00:00:21", "Run time = 21", 4),
        ("completed = 0/8", "completed = 0", 5),
        ("Page elements = 262", "Page elements = 26 2", 6),
        ("throughput = 12.500 /s", "throughput = 12.500 MB", 7),
        ("Transactions = 200\n", "Transactions = 200\nIWL0059I Transactions = 201\n", 9),
    ],
)
def test_damaged_log_is_rejected_with_line_number(old: str, new: str, line: int) -> None:
    with pytest.raises(FormatError) as caught:
        read(LOG.replace(old, new, 1))
    assert (caught.value.file, caught.value.line) == ("engine.log", line)


def test_other_text_is_rejected() -> None:
    for data in (b"", b"hello\n", b"\xff\xfe\x00"):
        with pytest.raises(FormatError):
            FORMAT.read(data)


def test_sniff() -> None:
    assert FORMAT.sniff(LOG.encode()) > 0.9
    assert FORMAT.sniff(SUMMARY.encode()) > 0.8
    assert FORMAT.sniff(b"Page element throughput = 3\n") > 0.5
    assert FORMAT.sniff(JMETER.encode()) > 0.5
    assert FORMAT.sniff(JMETER[: JMETER.index("Page")].encode()) > 0.5
    assert FORMAT.sniff(b'<data machine="m" units="KB">3</data>\n') == 0
    assert FORMAT.sniff(b"xentop - 10:00:00   Xen 4.0\n") == 0


counts = st.integers(0, 10**9).map(float)
thousandths = st.integers(0, 10**9).map(lambda n: n / 1000)
STATUS_VALUES = st.tuples(
    counts, counts, thousandths, thousandths, counts, counts, thousandths, thousandths
)
