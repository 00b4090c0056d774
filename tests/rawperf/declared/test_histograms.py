"""Rows as histogram buckets; fio's percentiles, bins and logs."""

from __future__ import annotations

import json
import re

import pytest

from rawperf.core.buckets import parse_bucket
from rawperf.core.errors import RawperfError
from rawperf.tidy import read as read_file
from tests.cases import each_case
from tests.rawperf.declared.declaring import declared, read, rows
from tests.rawperf.sample_files import SAMPLES, sample

CUMULATIVE = """
reads: csv
entity: {kind: bucket, name: who}
histogram: {upper: le, cumulative: true, unit: s}
fields: [{field: count, unit: count}]
"""


def test_cumulative_counts_become_bucket_counts() -> None:
    found = read(CUMULATIVE, "who,le,count\na,0.1,3\na,1,3\na,+Inf,7\nb,0.5,2\nb,+Inf,2\n")
    assert rows(found, "entity_kind", "entity", "value") == [
        ("bucket", "a 0 to 0.1 s", 3.0),
        ("bucket", "a 0.1 to 1 s", 0.0),
        ("bucket", "a 1 to inf s", 4.0),
        ("bucket", "b 0 to 0.5 s", 2.0),
        ("bucket", "b 0.5 to inf s", 0.0),
    ]


WRONG = {
    "falls": ("a,0.1,3\na,1,2\n", "the cumulative count count decreases", 3),
    "descends": ("a,1,3\na,0.1,3\n", "not in ascending order", 3),
    "no bound": ("a,0.1,3\na,,4\n", "le is not a bucket bound", 3),
    "no number": ("a,x,3\n", "le", 2),
}


@each_case("kind", WRONG)
def test_damaged_histogram_is_reported_with_line_number(kind: str) -> None:
    body, words, line = WRONG[kind]
    with pytest.raises(RawperfError, match=words) as caught:
        read(CUMULATIVE, "who,le,count\n" + body)
    assert caught.value.line == line


REFUSED = {
    "kind: bucket, name: who": ("kind: host, name: who", "write entity: {kind: bucket}"),
    ", unit: s}": ("}", "the unit of the bounds needs exactly one source"),
    "unit: s}": ("unit: parsecs}", "parsecs"),
    "cumulative: true": ("whole: true", "whole needs both bounds of a bucket"),
    "unit: count": ("unit: ms", "its unit must be count"),
}


@each_case("part", REFUSED)
def test_declaration_without_valid_buckets_is_rejected(part: str) -> None:
    becomes, words = REFUSED[part]
    assert part in CUMULATIVE
    with pytest.raises(RawperfError) as caught:
        declared(CUMULATIVE.replace(part, becomes))
    assert words in str(caught.value)


def test_unit_in_a_preceding_line_must_be_declared() -> None:
    text = """
reads: lines
lines: '(?P<low>\\d+)-(?P<high>\\d+): (?P<count>\\d+)'
entity: {kind: bucket}
histogram: {lower: low, upper: high, whole: true, above: 'in (?P<unit>\\w+)', units: {usecs: us}}
fields: [{field: count, unit: count}]
"""
    assert rows(read(text, "in usecs\n0-1: 5\n2-3: 6\n"), "entity") == [
        ("0 to 2 us",),
        ("2 to 4 us",),
    ]
    with pytest.raises(RawperfError, match="unit of the bounds is not declared") as caught:
        read(text, "in usecs\n0-1: 5\nin pages\n0-1: 5\n")
    assert caught.value.line == 4


def test_all_percentiles_and_bins_of_fio() -> None:
    document = json.loads(sample("fio/fio-3.33-plus.json"))
    table = read_file(SAMPLES / "fio" / "fio-3.33-plus.json")
    for way in ("read", "write"):
        job = document["jobs"][0][way]
        for kind in ("clat_ns", "lat_ns"):
            for share, nanoseconds in job[kind]["percentile"].items():
                found = table[table["field"] == f"{way}/{kind}/percentile/{share}"]
                assert found["value"].tolist() == [nanoseconds]
        bins = table[table["metric"] == f"{way}_latency_buckets"]
        assert bins["value"].tolist() == list(job["clat_ns"]["bins"].values())
        assert bins["value"].sum() == job["clat_ns"]["N"]
        buckets = [parse_bucket(entity) for entity in bins["entity"]]
        assert all(bucket is not None and bucket.owner == "mixed" for bucket in buckets)
        lowest = min(bucket.lower for bucket in buckets if bucket)
        assert lowest <= job["clat_ns"]["min"] <= max(bucket.upper for bucket in buckets if bucket)


def test_fio_logs_are_recognised_by_file_name() -> None:
    for name, metric, factor in (
        ("mixed_bw.1.log", "read_bandwidth", 1024.0),
        ("mixed_iops.1.log", "read_iops", 1.0),
        ("mixed_clat.1.log", "read_latency", 1e-9),
    ):
        printed = re.findall(r"(?m)^(\d+), (\d+), 0, ", sample(f"fio/{name}").decode())
        table = read_file(SAMPLES / "fio" / name)
        found = table[table["metric"] == metric]
        assert found["t"].tolist() == [int(ms) / 1000 for ms, _ in printed]
        assert found["metric_value"].tolist() == pytest.approx(
            [factor * int(v) for _, v in printed]
        )
        assert set(found["entity"]) == {name.removesuffix(".log")}
