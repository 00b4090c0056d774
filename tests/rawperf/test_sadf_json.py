"""sadf -j: real files, both notations of the zone, nesting, round trip, damage."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from rawperf.base import ParsedFile
from rawperf.core.errors import FormatError
from rawperf.sadf import FORMAT
from tests.cases import each_case


def epoch(*when: int) -> float:
    return datetime(*when, tzinfo=UTC).timestamp()


def get(
    reading: ParsedFile, report: str, entity: str, field: str, t: float | None = None
) -> list[float]:
    r = reading.records
    mask = (r["report"] == report) & (r["entity"] == entity) & (r["field"] == field)
    return r.loc[mask & (True if t is None else r["t"] == t), "value"].tolist()


def sample(time: str, zone: dict | None = None, **activities) -> dict:
    return {
        "timestamp": {"date": "2009-01-03", "time": time, **(zone or {"utc": 1}), "interval": 10},
        **activities,
    }


def document(*samples: dict, **more) -> bytes:
    host = {"nodename": "g", "number-of-cpus": 2, "statistics": list(samples), **more}
    return json.dumps({"sysstat": {"hosts": [host]}}, indent=1).encode()


LOAD = [{"cpu": "all", "user": 2.5, "idle": 97.5}, {"cpu": "0", "user": 5, "idle": 95}]
IO = {"tps": 1.5, "io-reads": {"rtps": 1.0, "bread": 2.0}, "io-writes": {"wtps": 0.5}}


def test_nested_activities():
    network = {
        "net-dev": [{"iface": "lo", "rxpck": 0.0}, {"iface": "eth0", "rxpck": 5.25}],
        "net-nfs": {"call": 3},
    }
    reading = FORMAT.read(
        document(sample("10:00:10", **{"cpu-load": LOAD}, io=IO, network=network))
    )
    assert get(reading, "cpu-load", "0", "idle") == [95]
    assert get(reading, "io", "", "tps") == [1.5]
    assert get(reading, "io/io-reads", "", "bread") == [2]
    assert get(reading, "network/net-dev", "eth0", "rxpck") == [5.25]
    assert get(reading, "network/net-nfs", "", "call") == [3]
    kinds = dict(zip(reading.records["report"], reading.records["entity_kind"], strict=True))
    assert kinds == {
        "cpu-load": "cpu",
        "io": "host",
        "io/io-reads": "host",
        "io/io-writes": "host",
        "network/net-dev": "iface",
        "network/net-nfs": "host",
    }


def test_objects_and_arrays_inside_an_element():
    element = {
        "cpu": "all",
        "sub": {"b": 2},
        "intr": [{"intr": "9", "value": 4}],
        "vendor": "x",
        "on": True,
        "none": None,
    }
    reading = FORMAT.read(document(sample("10:00:10", odd=[element, {"x": 7}, 3])))
    assert reading.records[["entity_kind", "entity", "field", "value"]].values.tolist() == [
        ["cpu", "all", "sub/b", 2],
        ["cpu/intr", "all/9", "intr/value", 4],
        ["index", "1", "x", 7],
    ]


def test_zone_in_both_notations():
    assert FORMAT.read(document(sample("10:00:10", io=IO))).info["zone"] == "UTC"
    assert FORMAT.read(document(sample("10:00:10", {"utc": 0}, io=IO))).info["zone"] == "local"
    assert FORMAT.read(document(sample("10:00:10", {"tz": "CET"}, io=IO))).info["zone"] == "CET"
    mixed = FORMAT.read(document(sample("10:00:10", io=IO), sample("10:00:20", {"utc": 0}, io=IO)))
    assert "zones UTC, local" in mixed.warnings[0]


def test_restarts_comments_and_no_samples():
    boot = [{"boot": {"date": "2009-01-03", "time": "10:00:00", "utc": 1, "cpu_count": 2}}]
    com = [{"comment": {"date": "2009-01-03", "time": "10:00:05", "utc": 1, "com": "a  b"}}]
    reading = FORMAT.read(document(restarts=boot, comments=com))
    assert reading.records.empty
    assert reading.info["restarts"] == f"{epoch(2009, 1, 3, 10):.0f}"
    assert reading.info["comments"] == f"{epoch(2009, 1, 3, 10, 0, 5):.0f} a b"


def test_values_and_errors_have_line_numbers():
    whole = document(sample("10:00:10", io=IO), sample("10:00:20", io=IO)).decode()
    reading, text = FORMAT.read(whole.encode()), ["", *whole.split("\n")]
    for field, line in zip(reading.records["field"], reading.lines, strict=True):
        assert f'"{field}": ' in text[line]
    last = whole[: whole.rindex('"io-reads"')]
    assert FORMAT.read(last.encode()).lines.tolist() == reading.lines[:4].tolist()
    commas = whole.replace("0.5", "0.5,")
    assert FORMAT.read(commas.encode()).lines.tolist() == reading.lines.tolist()
    second = next(n for n, line in enumerate(text) if "10:00:20" in line)
    for old, new in (("10:00:20", "10:70:20"), ('"wtps": 0.5', '"wtps": 1e999')):
        at = whole.rindex(old)
        with pytest.raises(FormatError) as caught:
            FORMAT.read((whole[:at] + new + whole[at + len(old) :]).encode(), file="x")
        assert caught.value.line in (second - 1, reading.lines[-1])
    with pytest.raises(FormatError, match="statistics is not a list") as caught:
        FORMAT.read(b'{"sysstat": {"hosts": [\n{"statistics":\n {"a": 1}}]}}', file="x")
    assert caught.value.line == 3


def test_truncated_file():
    whole = document(sample("10:00:10", io=IO), sample("10:00:20", io=IO))
    reading = FORMAT.read(whole[: whole.rindex(b"wtps")])
    assert reading.records["t"].unique().tolist() == [epoch(2009, 1, 3, 10, 0, 10)]
    assert "is truncated" in reading.warnings[0]


def test_trailing_commas():
    data = document(sample("10:00:10", io=IO)).replace(b"0.5", b"0.5,")
    reading = FORMAT.read(data)
    assert get(reading, "io/io-writes", "", "wtps") == [0.5]
    assert "commas" in reading.warnings[0]


@each_case(
    ("data", "part"),
    [
        (b"", "invalid JSON"),
        (b"[1, 2\n, x]\n", "invalid JSON"),
        (b"[" * 100_000, "nested too deeply"),
        (b"{}", "structure"),
        (b'{"sysstat": {"hosts": []}}', "structure"),
        (b'{"sysstat": {"hosts": [{"statistics": 3}]}}', "not a list"),
        (b'{"sysstat": {"hosts": [{"statistics": [{}]}]}}', "statistics 1 has no timestamp"),
        (document(sample("25:00:00")), "statistics 1 has no time"),
        (document(sample("10:00:00", io={"tps": 10**400})), "too large"),
        (document(sample("10:00:00", io={"tps": float("nan")})), "invalid JSON"),
        (
            document(sample("10:00:00", disk=[{"disk-device": "\ud800", "tps": 1}])),
            "a lone surrogate",
        ),
    ],
)
def test_invalid_files_are_rejected(data, part):
    with pytest.raises(FormatError, match=part):
        FORMAT.read(data)


BASE = document(sample("10:00:10", io=IO, disk=LOAD), restarts=[])


def test_sniff():
    assert FORMAT.sniff(BASE) == 1.0
    assert FORMAT.sniff(b'{"fio version": 1}') == 0.0


def test_fast_path_for_uniform_samples_agrees(monkeypatch):
    def numbered(n):
        load = [
            {"cpu": n % 2, "user": n / 4, "note": "x"},
            {"cpu": 7, "user": 10**n, "on": n % 2 == 0},
        ]
        stamp = {"date": "2026-01-05", "time": f"00:00:{n:02d}", "utc": 1, "interval": 10}
        return {
            "timestamp": stamp,
            "cpu-load": load,
            "io": {"tps": n, "reads": {"rtps": -n, "bread": None}},
        }

    data = json.dumps(
        {"sysstat": {"hosts": [{"statistics": [numbered(n) for n in range(12)]}]}}, indent=1
    ).encode()
    quick = FORMAT.read(data)
    monkeypatch.setattr("rawperf.sadf.SampleReader._cached_form", lambda *args: None)
    walked = FORMAT.read(data)
    assert quick.records.equals(walked.records)
    assert quick.lines.tolist() == walked.lines.tolist()
    assert set(quick.records["entity"]) == {"", "0", "1", "7"}
