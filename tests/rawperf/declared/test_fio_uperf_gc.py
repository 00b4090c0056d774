"""fio text output, uperf output and garbage collection logs, compared with the tools' other outputs.

`tests/rawperf/samples` has the output of fio 3.33 and uperf 1.0.8; the texts below follow the documented grammar of
other versions, with made-up numbers.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rawperf import sniff
from rawperf.core.metrics import load_metrics
from rawperf.registry import extend_with_presets
from tests.cases import each_case
from tests.rawperf.sample_files import sample
from tests.rawperf.translated import translate

FIO_2 = """\
db: (g=0): rw=randrw, bs=8K-8K/8K-8K/8K-8K, ioengine=libaio, iodepth=4
...
fio-2.1.7
Starting 2 processes

db: (groupid=0, jobs=1): err= 0: pid=4711: Mon Mar 31 10:00:00 2014
  read : io=3200.0MB, bw=54613KB/s, iops=6826, runt= 60000msec
    clat (usec): min=90, max=23440, avg=456.78, stdev=12.30
    bw (KB  /s): min=40000, max=60000, per=50.10%, avg=54600.00, stdev=900.00
  write: io=819200KB, bw=13653KB/s, iops=1706, runt= 60000msec
    lat (usec) : 100=0.01%, 250=12.00%, 500=80.00%, 750=5.00%, 1000=2.99%
db: (groupid=0, jobs=1): err= 0: pid=4712: Mon Mar 31 10:00:00 2014
  read : io=3072.0MB, bw=51.200MB/s, iops=6.5K, runt= 60000msec
  write: io=786432KB, bw=13107KB/s, iops=1638, runt= 60000msec

Run status group 0 (all jobs):
   READ: io=6272.0MB, aggrb=107042KB/s, minb=52428KB/s, maxb=54613KB/s, mint=60000msec, maxt=60000msec
  WRITE: io=1568.0MB, aggrb=26760KB/s, minb=13107KB/s, maxb=13653KB/s, mint=60000msec, maxt=60000msec
"""
UPERF_OLD = """\
Starting 4 threads running profile:pairs ...   0.01 seconds
Txn0           0B/1.01   (s) =        0b/s           3txn/s     254.89ms/txn
--------------------------------------------------------------------------------
pairs         200.00MB/32.00(s) =   52.43Mb/s (CPU 20.00s)

Netstat statistics for this run
"""
GC_OLD = """\
<?xml version="1.0" ?>

<verbosegc version="20090101_AB">

<af type="nursery" id="1" timestamp="Nov 07 10:00:00 2011" intervalms="0.000">
  <minimum requested_bytes="48" />
  <time exclusiveaccessms="0.039" meanexclusiveaccessms="0.039" threads="0" lastthreadtid="0x10" />
  <gc type="scavenger" id="1" totalid="1" intervalms="0.000">
    <nursery freebytes="600" totalbytes="1000" percent="60" tenureage="10" />
    <time totalms="11.500" />
  </gc>
  <time totalms="12.250" />
</af>

<con event="collection" id="1" timestamp="Mon Nov 07 10:00:05 2011" intervalms="5000.000">
  <time totalms="40.000" />
</con>
"""
GC_NEW = """\
<?xml version="1.0" encoding="UTF-8"?>
<verbosegc xmlns="http://www.ibm.com/j9/verbosegc" version="a">
<exclusive-start id="2" timestamp="2014-03-31T10:00:00.000" intervalms="5000.2">
  <response-info timems="0.1" idlems="0.1" threads="0" lastid="00AB" lastname="main" />
</exclusive-start>
<gc-end id="5" type="scavenge" contextid="3" durationms="12.000" usertimems="90.000" systemtimems="1.000" timestamp="2014-03-31T10:00:00.012" activeThreads="8">
</gc-end>
<exclusive-end id="9" timestamp="2014-03-31T10:00:00.013" durationms="12.500" />
[3/31/14 10:00:01:000 UTC] 00000001 another line of the same output
<exclusive-end id="19" timestamp="2014-03-31T10:00:05.250" durationms="250.000" />
"""


@pytest.fixture(scope="module")
def metrics(root: Path):  # type: ignore[no-untyped-def]
    """Metrics of a text in the dictionary's units: (metric, entity) -> values."""
    dictionary = extend_with_presets(load_metrics(root / "src" / "rawperf" / "metrics.yaml"))

    def of(data: str | bytes) -> dict[tuple[str, str], list[float]]:
        data = data.encode() if isinstance(data, str) else data
        form = sniff(data)
        found = translate(dictionary, form.read(data).records, form.name)
        return found.groupby(["metric", "entity"])["value"].apply(list).to_dict()

    return of


def test_fio_normal_and_terse_output_agree(metrics) -> None:  # type: ignore[no-untyped-def]
    text = metrics(sample("fio/fio-3.33.txt"))
    assert text["read_iops", "read"] == [16600]
    assert text["read_bandwidth", "read"] == [65.0 * 1024**2]
    assert text["write_iops", "write"] == [4687]
    assert text["write_bandwidth", "write#2"] == [1000 * 1024**2]
    assert text["write_bandwidth", "WRITE"] == [102 * 1024**2]
    assert sum(v for (m, _), (v,) in text.items() if m == "io_bandwidth") == pytest.approx(
        (65 + 18.3 + 1000) * 1024**2
    )
    line = metrics(sample("fio/fio-3.33-minimal.txt"))
    assert line["read_bandwidth", "web 1"] == [62666 * 1024]
    assert line["read_iops", "web 1"] == [15666]
    assert line["read_latency", "web 1"] == [pytest.approx(55.503090e-6)]
    assert line["write_bandwidth", "web 1"] == [17647 * 1024]
    assert line["write_latency", "db"] == [pytest.approx(1.403302e-6)]
    assert ("read_iops", "db") not in line  # no reads
    assert line["io_bandwidth", "web 1"] == [(62666 + 17647) * 1024]
    # bandwidth over request rate is the block size, 4 KiB
    assert line["read_bandwidth", "web 1"][0] / line["read_iops", "web 1"][0] == pytest.approx(
        4096, rel=1e-3
    )


def test_fio_output_of_2014(metrics) -> None:  # type: ignore[no-untyped-def]
    found = metrics(FIO_2)
    assert found["read_bandwidth", "read"] == [54613 * 1024]
    assert found["read_bandwidth", "read#2"] == [51.2 * 1024**2]
    assert found["read_iops", "read#2"] == [6500]
    rates = {
        way: sum(v for (m, e), (v,) in found.items() if m == f"{way}_bandwidth" and e[0].islower())
        for way in ("read", "write")
    }
    for (
        way,
        rate,
    ) in rates.items():  # group rates are the sums of their jobs, truncated to whole KB
        assert found[f"{way}_bandwidth", way.upper()] == [pytest.approx(rate, rel=1e-4)]


def test_uperf(metrics) -> None:  # type: ignore[no-untyped-def]
    found = metrics(sample("uperf/uperf-a.txt"))
    assert found["network_throughput_total", ""] == [pytest.approx(9.72e9 / 8)]
    assert found["network_operations_total", ""] == [148365]
    assert found["transaction_count_total", "Txn1"] == [386220]
    assert found["transaction_response_time_total", "Txn1"] == [pytest.approx(15.50e-6)]
    # the profile runs two processes for 3 s
    assert found["transaction_count_total", "Txn1"][0] * 15.50e-6 == pytest.approx(2 * 3, rel=0.01)
    data = sniff(sample("uperf/uperf-a.txt")).read(sample("uperf/uperf-a.txt")).records
    moved = data.loc[data["field"] == "data", "value"].item()
    assert moved / found["driver_run_time", ""][0] == pytest.approx(
        found["network_throughput_total", ""][0], rel=2e-3
    )
    assert metrics(UPERF_OLD) == {
        ("driver_run_time", ""): [32.0],
        ("network_throughput_total", ""): [pytest.approx(52.43e6 / 8)],
    }


def test_uperf_samples_are_counters() -> None:
    data = sample("uperf/uperf-R.txt")
    reading = sniff(data).read(data)
    assert reading.clock == "absolute"
    sent = reading.records[
        (reading.records["entity"] == "Txn2") & (reading.records["field"] == "bytes")
    ]
    assert sent["value"].tolist() == [24576, 2181873664, 4352933888, 6551027712]
    assert sent["t"].tolist()[1] == pytest.approx(1795364106.1375798)


@each_case(
    ("text", "pauses", "apart"), [(GC_OLD, [0.01225, 0.04], 5.0), (GC_NEW, [0.0125, 0.25], 5.237)]
)
def test_garbage_collection_pauses(metrics, text: str, pauses: list[float], apart: float) -> None:  # type: ignore[no-untyped-def]
    reading = sniff(text.encode()).read(text.encode())
    assert reading.clock == "absolute"
    assert metrics(text)["gc_pause_time", ""] == pytest.approx(pauses)
    first, last = reading.records["t"]
    assert last - first == pytest.approx(apart)
