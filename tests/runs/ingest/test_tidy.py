"""One raw file as a tidy table: fields, metrics, rates, recognition."""

from __future__ import annotations

import json
import os
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pytest

from rawperf.core.errors import FormatError, RawperfError
from rawperf.core.metrics import load_metrics
from rawperf.tidy import (
    COLUMNS,
    MetricTranslator,
    RawTables,
    read_bytes,
    read_raw,
    write_json,
)
from tests.toy_runs import console, netstat, sar, xentop


@pytest.fixture(scope="module")
def dictionary(root):
    return load_metrics(root / "src" / "rawperf" / "metrics.yaml")


def rows(raw, **cells):
    table = raw.table
    for column, value in cells.items():
        table = table[table[column] == value]
    return table


def test_gauge_is_converted_and_keeps_the_original_value(dictionary):
    raw = read_raw(BytesIO(sar()), file="sar.txt", dictionary=dictionary)
    assert list(raw.table.columns) == list(COLUMNS)
    assert (raw.format, raw.clock) == ("sar", "absolute")
    user = rows(raw, field="%user", entity="all")
    assert (user["value"] == 40).all()
    assert set(user["metric"]) == {"cpu_user"}
    assert np.allclose(user["metric_value"], 0.4)
    assert set(user["metric_unit"]) == {"1"}


VMSTAT = b"""\
procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu----- -----timestamp-----
 r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st                 UTC
 5  0      0 204380 112204 274892  300  338  1651   987  758 2487 70  7 21  1  0 2026-03-01 10:00:14
 5  0      0 204380 112204 274892    0    0   352     0 1224 1944 79 21  0  0  0 2026-03-01 10:00:15
"""


def test_vmstat_fields_with_other_definitions_are_not_sar_metrics(dictionary):
    """`us` includes nice, `cache` includes reclaimable slabs; an audit would report a disagreement."""
    raw = read_raw(BytesIO(VMSTAT), file="vmstat.txt", dictionary=dictionary)
    found = {
        field: set(rows(raw, field=field)["metric"]) for field in ("us", "cache", "sy", "buff")
    }
    assert found == {
        "us": {"cpu_user_and_nice"},
        "cache": {"memory_cached_vmstat"},
        "sy": {"cpu_system"},
        "buff": {"memory_buffers"},
    }


def test_counter_becomes_a_rate_from_the_second_sample(dictionary):
    listing = xentop({"Domain-0": [0.0, 10.0, 10.0]}, {"Domain-0": [100, 112, 118]})
    raw = read_raw(BytesIO(listing), file="xentop.txt", dictionary=dictionary)
    seconds = rows(raw, field="CPU(sec)")
    assert seconds["value"].tolist() == [100, 112, 118]
    assert np.allclose(seconds["metric_value"].to_numpy()[1:], [12 / 60, 6 / 60])
    assert np.isnan(seconds["metric_value"].iloc[0])


def test_numbered_samples_need_an_interval_for_rates(dictionary):
    raw = read_raw(BytesIO(console(n=5)), file="d1.log", dictionary=dictionary)
    assert rows(raw, metric="page_rate")["metric_value"].isna().all()
    assert any("counters have no rate" in w for w in raw.warnings)
    timed = read_raw(BytesIO(console(n=5)), file="d1.log", dictionary=dictionary, interval_s=10)
    pages = rows(timed, metric="page_rate")
    assert timed.clock == "interval"
    assert pages["t"].tolist() == [0, 10, 20, 30, 40]
    assert np.allclose(pages["metric_value"].iloc[1:], np.diff(pages["value"]) / 10)


def test_interval_for_a_file_with_times_is_rejected(dictionary):
    with pytest.raises(FormatError, match="has its own clock"):
        read_raw(BytesIO(sar()), file="sar.txt", dictionary=dictionary, interval_s=10)


def test_interval_for_totals_is_rejected(dictionary):
    totals = b"real 1.50\nuser 1.00\nsys 0.50\n"
    with pytest.raises(FormatError, match=r"totals without times.*Leave out the interval"):
        read_raw(
            BytesIO(totals),
            file="time.txt",
            dictionary=dictionary,
            format_name="time",
            interval_s=1,
        )


def test_without_dictionary_only_tool_fields():
    raw = read_raw(BytesIO(netstat(5)), file="n.txt")
    assert set(raw.table["metric"]) == {""}
    assert raw.table["metric_value"].isna().all()


def test_single_snapshot_has_no_rate(dictionary):
    raw = read_raw(BytesIO(netstat(5, 2)), file="n.txt", dictionary=dictionary)
    received = rows(raw, field="segments received")
    assert received["metric"].iloc[0] != ""
    assert received["metric_value"].isna().all()
    assert any("the file has no times" in w for w in raw.warnings)


def test_sum_metric_is_listed_at_its_first_part(dictionary):
    (metric,) = [m for m in dictionary.metrics.values() if m.name == "resident_memory"]
    (format_name, *_), report = metric.formats, metric.sources[0].report
    fields = [s.field for s in metric.sources if s.report == report]
    records = pd.DataFrame(
        [
            (metric.sources[0].report, metric.sources[0].entity_kind, "g1", f, 60.0, 2.0)
            for f in fields
        ],
        columns=["report", "entity_kind", "entity", "field", "t", "value"],
    )
    table = MetricTranslator(dictionary, format_name).translate(records, "absolute")
    assert table["metric"].tolist() == ["resident_memory"] + [""] * (len(fields) - 1)
    assert table["metric_value"].iloc[0] == pytest.approx(
        2 * len(fields) * metric.sources[0].factor
    )


def test_given_format_is_not_guessed():
    raw = read_raw(BytesIO(sar()), file="sar.txt", format_name="sar")
    assert np.isnan(raw.certainty)
    with pytest.raises(FormatError, match="no format is named 'ssar'"):
        read_raw(BytesIO(sar()), file="sar.txt", format_name="ssar")


def test_second_matching_format_is_reported(monkeypatch):
    import rawperf.tidy as tidy

    monkeypatch.setattr(
        tidy, "rank_formats", lambda data: [(0.8, "sar"), (0.6, "netstat"), (0.1, "xentop")]
    )
    assert read_raw(BytesIO(sar()), file="sar.txt").runner_up == "netstat"
    monkeypatch.setattr(tidy, "rank_formats", lambda data: [(0.9, "sar"), (0.5, "netstat")])
    assert read_raw(BytesIO(sar()), file="sar.txt").runner_up == ""


def test_json_document_has_every_record_and_is_valid(dictionary):
    data, text = xentop({"a": [0.0, 5.0]}, {"a": [1, 2]}), StringIO()
    raw = RawTables(BytesIO(data), file="x.txt", dictionary=dictionary)
    write_json(raw, raw.tables(), "x.txt", text)
    made = json.loads(text.getvalue())
    table = read_raw(BytesIO(data), file="x.txt", dictionary=dictionary).table
    assert list(made) == ["file", "format", "columns", "records", "clock", "info", "warnings"]
    assert made["records"][0]["metric_value"] is None
    assert pd.DataFrame(made["records"]).astype(table.dtypes.to_dict()).equals(table)
    assert text.getvalue() == json.dumps(made, indent=2, ensure_ascii=False) + "\n"


def test_line_numbers_are_those_of_the_file():
    listing = sar()
    raw = read_raw(BytesIO(listing), file="sar.txt")
    first = raw.table.iloc[0]
    assert f" {first['value']:.2f} " in listing.decode().splitlines()[first["line"] - 1]
    assert raw.table["line"].dtype == "int64"


def test_too_large_or_missing_file_is_rejected(tmp_path, monkeypatch):
    import rawperf.tidy as tidy

    monkeypatch.setattr(tidy, "MAX_TABLE_BYTES", 3)
    (tmp_path / "f").write_bytes(b"abc")
    assert read_bytes(tmp_path / "f") == b"abc"
    (tmp_path / "f").write_bytes(b"abcd")
    with pytest.raises(RawperfError, match="too large; expected at most 3 bytes"):
        read_bytes(tmp_path / "f")
    os.mkfifo(tmp_path / "pipe")
    for name, kind in (("pipe", "a pipe or a device"), (".", "a folder")):
        with pytest.raises(
            RawperfError, match=f"the path is {kind}, not a file. Use - to read from a pipe"
        ):
            read_bytes(tmp_path / name)
