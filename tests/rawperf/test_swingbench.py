"""SwingBench results as XML and as JSON: real samples, traps, agreement of the numbers, round trip, damage.

Fixtures have the structure of charbench 2.7 with numbers of our own.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rawperf import all_formats
from rawperf.base import RECORD_COLUMNS, Reading
from rawperf.core.errors import FormatError
from rawperf.swingbench.json import FORMAT as JSON
from rawperf.swingbench.results import FIELDS, PERCENTILES, TRANSACTIONS
from rawperf.swingbench.xml import FORMAT as XML

NAMESPACES = (
    "http://www.dominicgiles.com/swingbench/results",
    "http://www.dominicgiles.com/swingbench",
)
PERCENT = "".join(
    f"<{name}>{value}</{name}>" for name, value in zip(PERCENTILES, range(1, 10), strict=True)
)
DOCUMENT = f"""\
<?xml version = '1.0' encoding = 'UTF-8'?>
<Results xmlns="{NAMESPACES[0]}">
   <Overview>
      <BenchmarkName>"Shop"</BenchmarkName>
      <Comment/>
      <TimeOfRun>Mar 1, 2011, 10:00:00 AM</TimeOfRun>
      <TotalRunTime>0:01:40</TotalRunTime>
      <TotalLogonTime>0:00:02</TotalLogonTime>
      <TotalCompletedTransactions>400</TotalCompletedTransactions>
      <TotalFailedTransactions>0</TotalFailedTransactions>
      <AverageTransactionsPerSecond>4.0</AverageTransactionsPerSecond>
      <MaximumTransactionRate>250</MaximumTransactionRate>
   </Overview>
   <Configuration>
      <NumberOfUsers>4</NumberOfUsers>
      <MinimumInterThinkTime>0</MinimumInterThinkTime>
      <ConnectString>//db:1521/SHOP</ConnectString>
      <TimingsIn>milliseconds</TimingsIn>
   </Configuration>
   <DMLResults>
      <SelectStatements>1200</SelectStatements>
   </DMLResults>
   <TransactionResults>
      <Result id="Browse Products">
         <AverageResponse>1.5</AverageResponse><MinimumResponse>1</MinimumResponse>
         <TransactionCount>300</TransactionCount>
         {PERCENT}
      </Result>
      <Result id="Order Products">
         <AverageResponse>3.5</AverageResponse><MinimumResponse>2</MinimumResponse>
         <TransactionCount>100</TransactionCount>
         {PERCENT}
      </Result>
   </TransactionResults>
   <BenchmarkMetrics>
      <TPSReadings>1298973601250, 4,1298973602250, 5,1298973603251, 3,</TPSReadings>
   </BenchmarkMetrics>
</Results>
"""


def read(text: str) -> Reading:
    return XML.read(text.encode(), file="results.xml")


def value(reading: Reading, report: str, field: str, entity: str = "") -> float:
    r = reading.records
    (found,) = r.loc[
        (r["report"] == report) & (r["field"] == field) & (r["entity"] == entity), "value"
    ]
    return float(found)


def series(reading: Reading) -> pd.DataFrame:
    return reading.records[reading.records["report"] == "TPSReadings"]


def as_json(text: str) -> str:
    """The JSON of the same results, written by hand: other order, an object of texts for each element."""
    reading = read(text)
    result = [
        {**{f: repr(v) for f, v in zip(own["field"], own["value"], strict=True)}, "id": name}
        for name, own in reading.records[reading.records["entity"] != ""].groupby(
            "entity", sort=False
        )
    ]
    tags = dict(re.findall(r"<(\w+)>([^<]*)</\1>", text))
    sections: dict[str, object] = {
        section: {name: tags[name] for name in reversed([*FIELDS[section], *extra]) if name in tags}
        for section, extra in (
            ("Configuration", ("ConnectString", "TimingsIn")),
            ("DMLResults", ()),
            ("Overview", ("BenchmarkName", "TimeOfRun")),
        )
    }
    sections["Overview"] |= {"Comment": ""}  # type: ignore[operator]
    content = {"xmlns": NAMESPACES[0], TRANSACTIONS: {"Result": result}, **sections}
    return json.dumps(
        {"Results": content | {"BenchmarkMetrics": {"TPSReadings": tags["TPSReadings"]}}}
    )


def test_real_sample(samples: Path) -> None:
    reading = XML.read(
        (samples / "swingbench/charbench_2.7_4users_60s.xml").read_bytes(), file="results.xml"
    )
    assert (
        reading.warnings == ()
    )  # so the counts make 126939, and 126939 in 60 s are 2115.65 a second
    assert reading.clock == "absolute"
    assert tuple(reading.records.columns) == RECORD_COLUMNS
    assert value(reading, "Overview", "TotalRunTime") == 60
    assert value(reading, "Overview", "TotalCompletedTransactions") == 126939
    assert value(reading, "Overview", "AverageTransactionsPerSecond") == 2115.65
    assert value(reading, "Configuration", "NumberOfUsers") == 4
    assert value(reading, "DMLResults", "SelectStatements") == 1332451
    assert value(reading, TRANSACTIONS, "TransactionCount", "Browse Products") == 50742
    assert value(reading, TRANSACTIONS, "AverageResponse", "Order Products") == 3.39808572412775
    assert value(reading, TRANSACTIONS, "NinetiethPercentile", "Order Products") == 2
    assert reading.info["BenchmarkName"] == '"Order Entry (PLSQL) V2"'
    assert reading.info["TimeOfRun"] == "Apr 23, 2026, 4:24:34 PM"
    t = series(reading)
    assert (len(t), t["value"].iloc[0], t["value"].iloc[-1]) == (59, 1660, 2064)
    assert (t["t"].iloc[0], t["t"].iloc[-1]) == (1776961475.397, 1776961533.408)
    # the overall response is a mean over transactions, not over kinds of transactions
    overall = value(reading, TRANSACTIONS, "AverageResponse")
    own = reading.records[reading.records["entity"] != ""]
    means, counts = (
        own.loc[own["field"] == name, "value"].to_numpy()
        for name in ("AverageResponse", "TransactionCount")
    )
    assert overall == pytest.approx(np.average(means, weights=counts), rel=1e-14)
    assert abs(overall - means.mean()) > 0.1


def test_second_real_sample(samples: Path) -> None:
    reading = XML.read((samples / "swingbench/charbench_2.7_sprint15.xml").read_bytes())
    assert reading.warnings == ()
    t = series(reading)
    assert len(t) == 299
    assert t["value"].sum() == 448589  # the last second's transactions are missing there
    # what the tool calls the maximum rate is the largest sum over 60 s
    rate = max(t["value"].iloc[i : i + 60].sum() for i in range(240))
    assert value(reading, "Overview", "MaximumTransactionRate") == rate == 93291


@pytest.mark.parametrize("name", ["charbench_2.7_4users_60s.xml", "charbench_2.7_sprint15.xml"])
def test_round_trip_of_real_samples(samples: Path, name: str) -> None:
    reading = XML.read((samples / "swingbench" / name).read_bytes())
    again = XML.read(XML.write(reading))
    pd.testing.assert_frame_equal(again.records, reading.records)
    assert again.info == reading.info


def test_xml_and_json_of_one_run_are_the_same(samples: Path) -> None:
    xml = XML.read((samples / "swingbench/charbench_2.7_4users_60s.xml").read_bytes())
    found = JSON.read((samples / "swingbench/benchmark_results_db.json").read_bytes())
    pd.testing.assert_frame_equal(found.records, xml.records)
    assert (found.info, found.clock, found.warnings) == (xml.info, xml.clock, ())
    own = JSON.read(as_json(DOCUMENT).encode())
    pd.testing.assert_frame_equal(own.records, read(DOCUMENT).records)
    assert own.info == read(DOCUMENT).info


@pytest.mark.parametrize("namespace", NAMESPACES)
@pytest.mark.parametrize("prefix", ["", "sb"])
def test_local_names_decide(namespace: str, prefix: str) -> None:
    text = DOCUMENT.replace(NAMESPACES[0], namespace)
    if prefix:
        text = re.sub(r"<(/?)(?=[A-Z])", rf"<\1{prefix}:", text).replace(
            "xmlns=", f"xmlns:{prefix}="
        )
    assert XML.sniff(text.encode()) > 0.9
    reading = read(text)
    pd.testing.assert_frame_equal(reading.records, read(DOCUMENT).records)
    assert reading.info["xmlns"] == namespace


def test_without_a_namespace() -> None:
    text = DOCUMENT.replace(f' xmlns="{NAMESPACES[0]}"', "")
    assert 0.5 < XML.sniff(text.encode()) < 0.95
    assert "xmlns" not in read(text).info
    pd.testing.assert_frame_equal(read(text).records, read(DOCUMENT).records)


def test_lines() -> None:
    reading = read(DOCUMENT)
    assert reading.lines is not None
    lines = DOCUMENT.splitlines()
    for field, line in zip(reading.records["field"], reading.lines, strict=True):
        assert f"<{field}>" in lines[line - 1]


def test_the_overall_response_is_weighted() -> None:
    assert (
        value(read(DOCUMENT), TRANSACTIONS, "AverageResponse") == (300 * 1.5 + 100 * 3.5) / 400
    )  # 2, not 2.5
    no_count = DOCUMENT.replace("<TransactionCount>100</TransactionCount>", "")
    assert value(read(no_count), TRANSACTIONS, "AverageResponse") == 1.5  # of what is counted
    no_mean = DOCUMENT.replace("<AverageResponse>3.5</AverageResponse>", "")
    assert not (
        (read(no_mean).records["entity"] == "") & (read(no_mean).records["report"] == TRANSACTIONS)
    ).any()


def test_counts_that_do_not_agree_warn() -> None:
    (warning,) = read(DOCUMENT.replace("<TransactionCount>100<", "<TransactionCount>99<")).warnings
    assert (
        warning == "results.xml line 9: the transactions' counts make 399, but 400 were completed"
    )
    (warning,) = JSON.read(
        as_json(DOCUMENT).replace('"400"', '"401"').encode(), file="r.json"
    ).warnings
    assert warning.startswith("r.json line 1: the transactions' counts make 400, but 401")
    # 400 in 100 s, give or take a second: 3.96 to 4.04 a second
    assert read(DOCUMENT.replace(">4.0<", ">4.03<")).warnings == ()
    (warning,) = read(DOCUMENT.replace(">4.0<", ">4.06<")).warnings
    assert "line 11: 400 transactions in 100 s are not 4.06 a second" in warning


def test_missing_percentiles_warn() -> None:
    without = DOCUMENT.replace(PERCENT, "", 1)
    (warning,) = read(without).warnings
    assert "line 25: 1 of 2 transactions lack percentiles, first 'Browse Products'" in warning
    found = read(without).records
    assert "FortiethPrecentile" not in set(found.loc[found["entity"] == "Browse Products", "field"])


def test_response_times_are_milliseconds() -> None:
    with pytest.raises(FormatError, match="another unit"):
        read(DOCUMENT.replace(">milliseconds<", ">seconds<"))
    (warning,) = read(DOCUMENT.replace("<TimingsIn>milliseconds</TimingsIn>", "")).warnings
    assert "no TimingsIn" in warning


def test_run_times_of_hours_and_fractions() -> None:
    reading = read(DOCUMENT.replace("0:01:40", "27:46:40.125"))
    assert value(reading, "Overview", "TotalRunTime") == 100000.125
    assert value(XML.read(XML.write(reading)), "Overview", "TotalRunTime") == 100000.125


def test_unknown_elements() -> None:
    text = DOCUMENT.replace("</DMLResults>", "<MergeStatements>7</MergeStatements></DMLResults>")
    text = text.replace(
        "</Overview>", "<Host>h1</Host><Odd>8</Odd></Overview><Novelty><x>1</x></Novelty>"
    )
    reading = read(text)
    assert value(reading, "DMLResults", "MergeStatements") == 7
    assert value(reading, "Overview", "Odd") == 8
    assert reading.info["Overview/Host"] == "h1"
    assert reading.info["not read"] == "Novelty Novelty/x"
    again = XML.read(XML.write(reading))  # what was not read is not written
    pd.testing.assert_frame_equal(again.records, reading.records)
    assert again.info == {k: v for k, v in reading.info.items() if k != "not read"}
    document = json.loads(as_json(DOCUMENT))
    document["Results"]["Overview"] |= {"Host": "h1", "Odd": "8", "List": []}
    found = JSON.read(
        json.dumps({"Results": document["Results"] | {"Novelty": {"x": "1"}}}).encode()
    )
    assert value(found, "Overview", "Odd") == 8
    assert (found.info["Overview/Host"], found.info["not read"]) == ("h1", "Novelty Overview/List")


def test_no_number_is_no_record() -> None:
    reading = read(DOCUMENT.replace("<AverageResponse>3.5<", "<AverageResponse>NaN<"))
    assert "AverageResponse" not in set(
        reading.records.loc[reading.records["entity"] == "Order Products", "field"]
    )


def test_a_clock_that_goes_back_warns() -> None:
    (warning,) = read(DOCUMENT.replace("1298973603251", "1298973601000")).warnings
    assert "line 36" in warning


@pytest.mark.parametrize(
    ("old", "new", "problem", "line"),
    [
        (">400<", ">4OO<", "TotalCompletedTransactions is none", 9),
        (">4.0<", ">4,0<", "AverageTransactionsPerSecond is none", 11),
        (">250<", ">1e999<", "MaximumTransactionRate is none", 12),
        ("0:01:40", "100", "TotalRunTime is none", 7),
        (
            "<NumberOfUsers>4",
            "<NumberOfUsers>4</NumberOfUsers><NumberOfUsers>4",
            "NumberOfUsers is given twice",
            15,
        ),
        ('id="Order Products"', 'id="Browse Products"', "AverageResponse is given twice", 32),
        ('id="Order Products"', 'name="Order Products"', "without its id", 31),
        ("1298973602250, 5,", "1298973602250, x,", "no time and rate", 38),
        ("1298973602250, 5,", "1298973602250,", "odd number", 38),
        ("1298973602250, 5,", "1298973602250.5, 5,", "no time and rate", 38),
        ("<DMLResults>", "<DMLResults>" + "<a>" * 20, "nested too deeply", 20),
        ("</TransactionResults>", "</TransactionResult>", "not well-formed", 36),
        ("<Results ", "<Result ", "another root", 2),
        ("<Results ", "<!DOCTYPE Results><Results ", "document type", 2),
    ],
)
def test_damage_names_its_line(old: str, new: str, problem: str, line: int) -> None:
    assert old in DOCUMENT
    with pytest.raises(FormatError, match=problem) as caught:
        read(DOCUMENT.replace(old, new, 1))
    assert caught.value.file == "results.xml"
    assert abs((caught.value.line or 0) - line) <= 2  # the element's first line


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ("", "not JSON"),
        ("[]", "no object"),
        ('{"Results": 3}', "no object"),
        ('{"Results": {}}', "no results"),
        ('{"Results": {"Overview": {"Odd": 1, "Odd": 1}}}', "given twice"),
        ('{"Results":' + "[" * 10**5, "too deeply"),
        ('{"Results": {"Overview": {"BenchmarkName": "\\ud800"}}}', "no text"),
        ('{"Results": {"Overview": {"\\ud800": "1"}}}', "half a character"),
        (
            '{"Results": {"TransactionResults": {"Result": [{"AverageResponse": "1"}]}}}',
            "without its id",
        ),
        ('{"Results": {"TransactionResults": {"Result": [7]}}}', "no object"),
    ],
)
def test_json_of_another_kind_is_refused(document: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        JSON.read(document.encode())


def test_json_with_one_transaction_and_plain_numbers() -> None:
    text = '{"Results":{"TransactionResults":{"Result":{"id":"A","AverageResponse":2.5,"TransactionCount":3,"On":true}},"BenchmarkMetrics":{"Odd":[]}}}'
    with pytest.raises(FormatError, match="On is none"):
        JSON.read(text.encode())
    reading = JSON.read(text.replace(',"On":true', "").encode())
    assert value(reading, TRANSACTIONS, "AverageResponse") == 2.5
    assert reading.info["not read"] == "BenchmarkMetrics/Odd"


def test_a_document_that_ends_early_keeps_what_is_whole() -> None:
    end = DOCUMENT.index(" 5,12989")
    reading = read(DOCUMENT[: end + 2])
    assert series(reading)["value"].tolist() == [4]  # of 5, the comma is missing, so digits may be
    assert "the document ends early" in reading.warnings[0]
    whole = read(DOCUMENT).records
    for cut in range(DOCUMENT.index("</TotalRunTime>") + 15, len(DOCUMENT) - 12, 97):
        reading = read(DOCUMENT[:cut])
        kept = set(map(tuple, reading.records.fillna(0).to_numpy().tolist()))
        assert kept <= {*map(tuple, whole.fillna(0).to_numpy().tolist())} | {
            (TRANSACTIONS, "driver", "", "AverageResponse", 0.0, 1.5)
        }
        assert reading.warnings


def test_large_files_are_refused_before_they_are_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rawperf.swingbench.xml.MAX_BYTES", 100)
    with pytest.raises(FormatError, match="too large"):
        read(DOCUMENT)


def test_sniff_keeps_the_two_apart_and_from_others(samples: Path) -> None:
    others = [fmt for fmt in all_formats().values() if fmt.name not in (XML.name, JSON.name)]
    for name, own, other in (
        ("charbench_2.7_4users_60s.xml", XML, JSON),
        ("charbench_2.7_sprint15.xml", XML, JSON),
        ("benchmark_results_db.json", JSON, XML),
    ):
        head = (samples / "swingbench" / name).read_bytes()[:8192]
        assert own.sniff(head) > 0.9
        assert max(fmt.sniff(head) for fmt in [*others, other]) < 0.5
    for path in samples.rglob("*"):
        if path.is_file() and path.parent.name != "swingbench":
            head = path.read_bytes()[:8192]
            assert XML.sniff(head) == JSON.sniff(head) == 0, path
    assert XML.sniff(b"<Results><x/></Results>") == 0
    assert JSON.sniff(b'{"Results": {"x": 1}}') == 0


NAMES = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Cn", "Zs", "Zl", "Zp")),
    min_size=1,
    max_size=8,
)
NAMES = NAMES.filter(lambda name: "\ufffe" not in name and "\uffff" not in name)
COUNTS = st.integers(0, 10**9).map(float)
MEANS = st.floats(0, 1e9, allow_subnormal=False).filter(lambda x: x == 0 or x > 1e-25)


@st.composite
def readings(draw: st.DrawFn) -> Reading:
    rows: list[tuple[str, str, str, str, float, float]] = []
    for section in ("Overview", "Configuration", "DMLResults"):
        fields = draw(st.sets(st.sampled_from(FIELDS[section])))
        rows += [
            (section, "driver", "", f, math.nan, draw(COUNTS))
            for f in FIELDS[section]
            if f in fields
        ]
    transactions = draw(st.lists(NAMES, max_size=3, unique=True))
    counted: list[tuple[float, float]] = []
    for name in transactions:
        fields = draw(st.sets(st.sampled_from(FIELDS[TRANSACTIONS]))) | {
            "AverageResponse",
            "TransactionCount",
        }
        of = {
            f: draw(COUNTS if "Count" in f else MEANS) for f in FIELDS[TRANSACTIONS] if f in fields
        }
        rows += [(TRANSACTIONS, "transaction", name, f, math.nan, v) for f, v in of.items()]
        counted.append((of["TransactionCount"], of["AverageResponse"]))
    if total := math.fsum(count for count, _ in counted):
        mean = math.fsum(count * mean for count, mean in counted if count) / total
        rows.append((TRANSACTIONS, "driver", "", "AverageResponse", math.nan, mean))
    begin = draw(st.integers(0, 2 * 10**12))
    steps = draw(st.lists(st.integers(1, 10**5), min_size=0 if rows else 1, max_size=5))
    for t in np.cumsum([begin, *steps])[1:].tolist():
        rows.append(("TPSReadings", "driver", "", "TPSReadings", t / 1000, draw(COUNTS)))
    info = draw(
        st.fixed_dictionaries(
            {},
            optional={
                "xmlns": st.just(NAMESPACES[1]),
                "Comment": NAMES,
                "Overview/Host": st.just("h"),
                "TimingsIn": st.just("milliseconds"),
            },
        )
    )
    return Reading(pd.DataFrame(rows, columns=list(RECORD_COLUMNS)), "absolute", info)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(readings())
def test_round_trip(reading: Reading) -> None:
    again = XML.read(XML.write(reading))
    dtypes = dict.fromkeys(RECORD_COLUMNS[:4], "str") | {"t": "float64", "value": "float64"}
    pd.testing.assert_frame_equal(again.records, reading.records.astype(dtypes))
    assert (again.clock, again.info) == (reading.clock, reading.info)


def test_records_in_another_order_are_written_in_the_tools_own() -> None:
    reading = read(DOCUMENT)
    shuffled = reading.records[
        reading.records["entity"] + reading.records["report"] != TRANSACTIONS
    ].iloc[::-1]
    timed = shuffled.sort_values("t", na_position="first", kind="stable", ignore_index=True)
    again = XML.read(XML.write(Reading(timed, "absolute", reading.info)))
    keys = ["report", "entity", "field", "t"]
    pd.testing.assert_frame_equal(
        again.records.sort_values(keys, ignore_index=True),
        reading.records.sort_values(keys, ignore_index=True),
    )


def test_write_refuses_what_results_cannot_hold() -> None:
    reading = read(DOCUMENT)
    for column, new in (
        ("value", np.nan),
        ("report", "Other"),
        ("t", 5.0),
        ("entity", "x"),
        ("entity_kind", "host"),
    ):
        records = reading.records.assign(**{column: [new, *reading.records[column][1:]]})
        with pytest.raises(FormatError):
            XML.write(Reading(records, "absolute", reading.info))
    for info in ({"odd": "1"}, {"Overview/Odd": "1"}, {"Comment": " "}):
        with pytest.raises(FormatError):
            XML.write(Reading(reading.records, "absolute", info))
    with pytest.raises(FormatError, match="clock"):
        XML.write(Reading(reading.records, "elapsed", reading.info))
    with pytest.raises(FormatError):
        XML.write(Reading(reading.records, "absolute", {"Comment": "\x00"}))
    with pytest.raises(FormatError, match="given twice"):
        XML.write(Reading(pd.concat([reading.records] * 2), "absolute"))
