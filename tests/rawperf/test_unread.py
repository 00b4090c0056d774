"""A file of unknown format gives an error with advice."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest

from rawperf import FormatError, RawperfError, get_format, sniff
from tests.cases import each_case

TEXT = "a line that no tool prints\n" * 3
NAMED = {
    "empty": (b"", "the file is empty", "Collect the run again"),
    "blank": (b" \n\n", "the file is empty", "Collect"),
    "zip": (b"PK\3\4" + TEXT.encode(), "compressed with zip", "Decompress it"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + TEXT.encode(), "compressed with 7z", "Decompress it"),
    "what gzip packed": (gzip.compress(b"2;fio-3.8;"), "fio --minimal", "json"),
    "what xz packed": (lzma.compress(b"\1\2\0\3"), "the file is binary", "text output"),
    "what bzip2 packed": (bz2.compress(b""), "the file is empty", "Collect the run again"),
    "utf-16": (TEXT.encode("utf-16"), "encoded as UTF-16", "iconv"),
    "utf-16 without its mark": (TEXT.encode("utf-16-le"), "encoded as UTF-16", "iconv"),
    "binary": (b"\1\2\0\3", "the file is binary", "text output"),
    "mpstat -o JSON": (
        b'{"sysstat": {\n\t"hosts": [\n\t\t{\n\t\t\t"nodename": "h",\n\t\t\t"date": "11/22/26",\n\t\t\t"statistics": [\n',
        "mpstat, pidstat or iostat -o JSON",
        "default text output",
    ),
    "fio": (b"2;0;job;0;0\n5;fio-3.33;job;0;0\n", "fio --minimal of another version", "json"),
    "uperf": (
        b"Total     5.31GB /  10.00(s) =     4.56Gb/s       69580op/s\n",
        "incomplete uperf output",
        "complete output",
    ),
    "z/VM's monitor data": (
        b"\0\x40\0\0\1\0\0\4",
        "the file is binary",
        "listing of the Performance Toolkit",
    ),
    "AWR": (
        b"<html><head><title>AWR Report for DB: X</title>",
        "Oracle's AWR report",
        "declared.md",
    ),
    "cifsiostat": (
        b"Linux 6.1 (h) \t11/22/26 \t_x86_64_\t(2 CPU)\n\nFilesystem:   rB/s  wB/s  rops/s\n",
        "cifsiostat",
        "",
    ),
    "top": (b"top - 10:00:01 up 1 day,  1 user,  load average: 0.1, 0.1, 0.1\n", "top", "pidstat"),
    "free": (
        b"               total        used        free      shared\nMem: 1 2 3 4\n",
        "free",
        "sar -r",
    ),
    "benchstat": (
        "goos: linux\n           │ a.txt │ b.txt │\n           │ sec/op │ sec/op  vs base │\n".encode(),
        "benchstat",
        "go test -bench",
    ),
    "benchstat -format csv": (
        b"goos: linux\npkg: x\n,a.txt,,b.txt,,,\n,sec/op,CI,sec/op,CI,vs base,P\n",
        "benchstat",
        "go test -bench",
    ),
    "openssl speed": (
        b"The 'numbers' are in 1000s of bytes per second processed.\ntype           1024 bytes\n",
        "openssl speed",
        "-mr",
    ),
    "sadf -x": (b'<?xml version="1.0"?>\n<sysstat>\n', "sadf -x", "sadf -j"),
    "Solaris": (
        b"SunOS host1 5.11 11.4 sun4v    03/01/2026\n\n00:00:00 %usr\n",
        "Solaris' sar",
        "declared.md",
    ),
    "macOS": (b"Darwin host1 23.1 arm64\n", "macOS'", "declared.md"),
    "CloudWatch's other answer": (
        b'{"MetricDataResults": [{"Id": "m1", "Timestamps": [], "Values": []}]}',
        "get-metric-data",
        "get-metric-statistics",
    ),
    "a query's answer": (
        b'{"status":"success","data":{"resultType":"scalar","result":[1795647076.885,"1"]}}',
        "Prometheus query",
        "query_range",
    ),
    "a part of a query's answer": (
        b'{"resultType":"matrix","result":[]}',
        "Prometheus query",
        "complete response",
    ),
    "a query's error": (
        b'{"status":"error","errorType":"bad_data","error":"invalid parameter"}',
        "an error of Prometheus: invalid parameter",
        "query_range",
    ),
    "a log of fio": (b"1000, 203, 0, 0, 0\n2000, 201, 0, 0, 0\n", "fio log", "_bw.1.log"),
    "turbostat": (b"Core\tCPU\tAvg_MHz\tBusy%\n-\t-\t1\t2\n", "rows per CPU", "--Summary"),
    "collectl": (b"#<--------CPU-------->\n#cpu sys\n", "table of collectl", "collectl -P"),
    "dstat": (b"----total-usage---- -dsk/total-\nusr sys\n", "table of dstat", "--output"),
    "kvm_stat": (b" Event          Total %Total CurAvg/s\n", "table of kvm_stat", "kvm_stat -c"),
    "old docker stats": (
        b"CONTAINER           CPU %               MEM USAGE / LIMIT\n",
        "output of docker stats",
        "json",
    ),
    "virsh dominfo": (b"Id:             1\nName:           web-01\n", "virsh dominfo", "domstats"),
    "virt-top": (b"virt-top 10:00:00 - x86_64 4/4CPU\n", "virt-top's screen", "--csv"),
    "percentiles": (
        b"       Value   Percentile   TotalCount 1/(1-Percentile)\n",
        "HdrHistogram percentiles",
        "wrk2",
    ),
    "git lfs": (
        b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n",
        "pointer of Git LFS",
        "git lfs pull",
    ),
    "iperf3": (b"[  5] local 127.0.0.1 port 5201 connected to 127.0.0.1\n", "iperf", "iperf3 -J"),
}


@each_case("kind", NAMED)
def test_error_identifies_the_file_type(kind: str) -> None:
    data, words, help_ = NAMED[kind]
    with pytest.raises(FormatError) as caught:
        sniff(data, file="f")
    assert caught.value.problem.startswith(
        (
            "no known format recognises this file: it looks like ",
            "no known format recognises this file: the file is ",
        )
    )
    assert words in str(caught.value)
    assert help_ in str(caught.value)


def test_error_for_other_texts_suggests_a_declaration() -> None:
    with pytest.raises(FormatError) as caught:
        sniff(TEXT.encode(), file="f")
    assert caught.value.problem == "no known format recognises this file"
    assert "declared.md" in str(caught.value)


def test_errors_do_not_print_binary_content() -> None:
    data = b"\x7fELF\2\1\1\0secret words\0\0\n"
    with pytest.raises(RawperfError) as caught:
        sniff(data, file="f")
    assert "secret" not in str(caught.value)
    with pytest.raises(RawperfError) as caught:
        get_format("ps").read(data.replace(b"\0", b"\1") * 40, file="f")
    assert "secret" not in str(caught.value)
    assert "binary data" in str(caught.value)


def test_reader_errors_share_one_base_class() -> None:
    assert issubclass(FormatError, RawperfError)
    assert not issubclass(RawperfError, (ValueError, OSError))
