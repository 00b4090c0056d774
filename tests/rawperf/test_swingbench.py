"""SwingBench results as XML and JSON: real samples, edge cases, agreement, round trip, damage.

Fixtures have the structure of charbench 2.7 with made-up numbers.
"""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest

from rawperf import all_formats
from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from rawperf.swingbench.json import FORMAT as JSON
from rawperf.swingbench.results import FIELDS, PERCENTILES, TRANSACTIONS
from rawperf.swingbench.xml import FORMAT as XML
from tests.cases import each_case
from tests.rawperf.sample_files import sample, sample_names

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


def read(text: str) -> ParsedFile:
    return XML.read(text.encode(), file="results.xml")


def value(reading: ParsedFile, report: str, field: str, entity: str = "") -> float:
    r = reading.records
    (found,) = r.loc[
        (r["report"] == report) & (r["field"] == field) & (r["entity"] == entity), "value"
    ]
    return float(found)


def series(reading: ParsedFile) -> pd.DataFrame:
    return reading.records[reading.records["report"] == "TPSReadings"]


def as_json(text: str) -> str:
    """Hand-written JSON of the same results: other order, an object of strings per element."""
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


@each_case("namespace", NAMESPACES)
@each_case("prefix", ["", "sb"])
def test_namespaces_are_ignored(namespace: str, prefix: str) -> None:
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


def test_line_numbers() -> None:
    reading = read(DOCUMENT)
    assert reading.lines is not None
    lines = DOCUMENT.splitlines()
    for field, line in zip(reading.records["field"], reading.lines, strict=True):
        assert f"<{field}>" in lines[line - 1]


def test_overall_response_time_is_weighted() -> None:
    assert (
        value(read(DOCUMENT), TRANSACTIONS, "AverageResponse") == (300 * 1.5 + 100 * 3.5) / 400
    )  # 2, not 2.5
    no_count = DOCUMENT.replace("<TransactionCount>100</TransactionCount>", "")
    no_mean = DOCUMENT.replace("<AverageResponse>3.5</AverageResponse>", "")
    for text in (no_count, no_mean):  # a mean over all needs all of them
        reading = read(text)
        of_all = (reading.records["entity"] == "") & (reading.records["report"] == TRANSACTIONS)
        assert not of_all.any()
        assert "'Order Products' has only one of" in " ".join(reading.warnings)


def test_inconsistent_counts_give_a_warning() -> None:
    (warning,) = read(DOCUMENT.replace("<TransactionCount>100<", "<TransactionCount>99<")).warnings
    assert (
        warning == "results.xml line 9: the transaction counts sum to 399, but 400 were completed"
    )
    (warning,) = JSON.read(
        as_json(DOCUMENT).replace('"400"', '"401"').encode(), file="r.json"
    ).warnings
    assert warning.startswith("r.json line 1: the transaction counts sum to 400, but 401")
    # 400 in 100 s +- 1 s: 3.96 to 4.04 per second
    assert read(DOCUMENT.replace(">4.0<", ">4.03<")).warnings == ()
    (warning,) = read(DOCUMENT.replace(">4.0<", ">4.06<")).warnings
    assert "line 11: 400 transactions in 100 s do not match the rate of 4.06 per second" in warning


def test_missing_percentiles_give_a_warning() -> None:
    without = DOCUMENT.replace(PERCENT, "", 1)
    (warning,) = read(without).warnings
    assert "line 25: 1 of 2 transactions lack percentiles, first 'Browse Products'" in warning
    found = read(without).records
    assert "FortiethPrecentile" not in set(found.loc[found["entity"] == "Browse Products", "field"])


def test_response_times_are_milliseconds() -> None:
    with pytest.raises(FormatError, match="unsupported unit"):
        read(DOCUMENT.replace(">milliseconds<", ">seconds<"))
    (warning,) = read(DOCUMENT.replace("<TimingsIn>milliseconds</TimingsIn>", "")).warnings
    assert "TimingsIn, the unit of response times, is missing" in warning


def test_run_times_of_hours_and_fractions() -> None:
    reading = read(DOCUMENT.replace("0:01:40", "27:46:40.125"))
    assert value(reading, "Overview", "TotalRunTime") == 100000.125


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
    document = json.loads(as_json(DOCUMENT))
    document["Results"]["Overview"] |= {"Host": "h1", "Odd": "8", "List": []}
    found = JSON.read(
        json.dumps({"Results": document["Results"] | {"Novelty": {"x": "1"}}}).encode()
    )
    assert value(found, "Overview", "Odd") == 8
    assert (found.info["Overview/Host"], found.info["not read"]) == ("h1", "Novelty Overview/List")


def test_missing_number_gives_no_record() -> None:
    reading = read(DOCUMENT.replace("<AverageResponse>3.5<", "<AverageResponse>NaN<"))
    assert "AverageResponse" not in set(
        reading.records.loc[reading.records["entity"] == "Order Products", "field"]
    )


def test_clock_set_back_gives_a_warning() -> None:
    (warning,) = read(DOCUMENT.replace("1298973603251", "1298973601000")).warnings
    assert "line 36" in warning


@each_case(
    ("old", "new", "problem", "line"),
    [
        (">400<", ">4OO<", "invalid value of TotalCompletedTransactions", 9),
        (">4.0<", ">4,0<", "invalid value of AverageTransactionsPerSecond", 11),
        (">250<", ">1e999<", "invalid value of MaximumTransactionRate", 12),
        ("0:01:40", "100", "invalid value of TotalRunTime", 7),
        (
            "<NumberOfUsers>4",
            "<NumberOfUsers>4</NumberOfUsers><NumberOfUsers>4",
            "NumberOfUsers is given twice",
            15,
        ),
        ('id="Order Products"', 'id="Browse Products"', "AverageResponse is given twice", 32),
        ('id="Order Products"', 'name="Order Products"', "without an id", 31),
        ("1298973602250, 5,", "1298973602250, x,", "invalid time or rate", 38),
        ("1298973602250, 5,", "1298973602250,", "odd number", 38),
        ("1298973602250, 5,", "1298973602250.5, 5,", "invalid time or rate", 38),
        ("<DMLResults>", "<DMLResults>" + "<a>" * 20, "nested too deeply", 20),
        ("</TransactionResults>", "</TransactionResult>", "not well-formed", 36),
        ("<Results ", "<Result ", "wrong root element", 2),
        ("<Results ", "<!DOCTYPE Results><Results ", "document type", 2),
    ],
)
def test_damaged_document_is_rejected_with_line_number(
    old: str, new: str, problem: str, line: int
) -> None:
    assert old in DOCUMENT
    with pytest.raises(FormatError, match=problem) as caught:
        read(DOCUMENT.replace(old, new, 1))
    assert caught.value.file == "results.xml"
    assert abs((caught.value.line or 0) - line) <= 2  # the element's first line


@each_case(
    ("document", "problem"),
    [
        ("", "not a complete JSON document"),
        ("[]", "is not an object"),
        ('{"Results": 3}', "is not an object"),
        ('{"Results": {}}', "no results"),
        ('{"Results": {"Overview": {"Odd": 1, "Odd": 1}}}', "given twice"),
        ('{"Results":' + "[" * 10**5, "too deeply"),
        ('{"Results": {"Overview": {"BenchmarkName": "\\ud800"}}}', "is not a string"),
        ('{"Results": {"Overview": {"\\ud800": "1"}}}', "a lone surrogate"),
        (
            '{"Results": {"TransactionResults": {"Result": [{"AverageResponse": "1"}]}}}',
            "without an id",
        ),
        ('{"Results": {"TransactionResults": {"Result": [7]}}}', "is not an object"),
    ],
)
def test_other_json_is_rejected(document: str, problem: str) -> None:
    with pytest.raises(FormatError, match=problem):
        JSON.read(document.encode())


def test_json_with_one_transaction_and_plain_numbers() -> None:
    text = '{"Results":{"TransactionResults":{"Result":{"id":"A","AverageResponse":2.5,"TransactionCount":3,"On":true}},"BenchmarkMetrics":{"Odd":[]}}}'
    with pytest.raises(FormatError, match="invalid value of On"):
        JSON.read(text.encode())
    reading = JSON.read(text.replace(',"On":true', "").encode())
    assert value(reading, TRANSACTIONS, "AverageResponse") == 2.5
    assert reading.info["not read"] == "BenchmarkMetrics/Odd"


def test_truncated_document_keeps_complete_elements() -> None:
    end = DOCUMENT.index(" 5,12989")
    reading = read(DOCUMENT[: end + 2])
    assert series(reading)["value"].tolist() == [4]  # 5 lacks its comma, so digits may be missing
    assert "the document is truncated" in reading.warnings[0]
    whole = read(DOCUMENT).records
    for cut in range(DOCUMENT.index("</TotalRunTime>") + 15, len(DOCUMENT) - 12, 97):
        reading = read(DOCUMENT[:cut])
        kept = set(map(tuple, reading.records.fillna(0).to_numpy().tolist()))
        assert kept <= {*map(tuple, whole.fillna(0).to_numpy().tolist())} | {
            (TRANSACTIONS, "driver", "", "AverageResponse", 0.0, 1.5)
        }
        assert reading.warnings


def test_large_files_are_rejected_before_parsing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rawperf.swingbench.xml.MAX_BYTES", 100)
    with pytest.raises(FormatError, match="too large"):
        read(DOCUMENT)


def test_xml_and_json_of_one_run_agree() -> None:
    own = JSON.read(as_json(DOCUMENT).encode())
    pd.testing.assert_frame_equal(own.records, read(DOCUMENT).records)
    assert own.info == read(DOCUMENT).info


def test_mean_response_time_is_weighted_by_counts() -> None:
    reading = read(DOCUMENT)
    own = reading.records[reading.records["entity"] != ""]
    means, counts = (
        own.loc[own["field"] == name, "value"].to_numpy()
        for name in ("AverageResponse", "TransactionCount")
    )
    overall = value(reading, TRANSACTIONS, "AverageResponse")
    assert overall == pytest.approx(np.average(means, weights=counts), rel=1e-14)
    assert abs(overall - means.mean()) > 0.1


def test_sniff_distinguishes_xml_and_json() -> None:
    for head, own in ((DOCUMENT.encode(), XML), (as_json(DOCUMENT).encode(), JSON)):
        assert own.sniff(head) > 0.9
        others = [form for form in all_formats().values() if form.name != own.name]
        assert max(form.sniff(head) for form in others) < 0.5
    for name in sample_names():
        if not name.startswith("swingbench/"):
            assert XML.sniff(sample(name)[:8192]) == JSON.sniff(sample(name)[:8192]) == 0, name
    assert XML.sniff(b"<Results><x/></Results>") == 0
    assert JSON.sniff(b'{"Results": {"x": 1}}') == 0
