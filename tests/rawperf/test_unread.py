"""A file that nothing reads is named, with what helps."""

from __future__ import annotations

import bz2
import gzip
import lzma
import time

import pytest

from rawperf import sniff
from rawperf.core.errors import FormatError

TEXT = "a line that no tool prints\n" * 3
NAMED = {
    "empty": (b"", "it is empty", "Collect the run again"),
    "blank": (b" \n\n", "it is empty", "Collect"),
    "zip": (b"PK\3\4" + TEXT.encode(), "compressed by zip", "Unpack it first"),
    "7z": (b"7z\xbc\xaf\x27\x1c" + TEXT.encode(), "compressed by 7z", "Unpack it first"),
    "what gzip packed": (gzip.compress(b"2;fio-3.8;"), "fio --minimal", "json"),
    "what xz packed": (lzma.compress(b"\1\2\0\3"), "it is binary", "text output"),
    "what bzip2 packed": (bz2.compress(b""), "it is empty", "Collect the run again"),
    "utf-16": (TEXT.encode("utf-16"), "text in UTF-16", "iconv"),
    "utf-16 without its mark": (TEXT.encode("utf-16-le"), "text in UTF-16", "iconv"),
    "binary": (b"\1\2\0\3", "it is binary", "text output"),
    "mpstat -o JSON": (
        b'{"sysstat": {\n\t"hosts": [\n\t\t{\n\t\t\t"nodename": "h",\n\t\t\t"date": "11/22/26",\n\t\t\t"statistics": [\n',
        "mpstat, pidstat or iostat -o JSON",
        "text that they print",
    ),
    "fio": (b"2;0;job;0;0\n5;fio-3.33;job;0;0\n", "fio --minimal of another version", "json"),
    "uperf": (
        b"Total     5.31GB /  10.00(s) =     4.56Gb/s       69580op/s\n",
        "a part of uperf's output",
        "all of it",
    ),
    "z/VM's monitor data": (
        b"\0\x40\0\0\1\0\0\4",
        "it is binary",
        "listing that the Performance Toolkit makes",
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
}


@pytest.mark.parametrize("kind", NAMED)
def test_what_it_is_stands_in_the_error(kind: str) -> None:
    data, words, help_ = NAMED[kind]
    with pytest.raises(FormatError) as caught:
        sniff(data, file="f")
    assert caught.value.problem.startswith("no known format recognises this file: it ")
    assert words in str(caught.value)
    assert help_ in str(caught.value)


def test_of_any_other_text_nothing_is_said_but_how_to_declare_it() -> None:
    with pytest.raises(FormatError) as caught:
        sniff(TEXT.encode(), file="f")
    assert caught.value.problem == "no known format recognises this file"
    assert "declared.md" in str(caught.value)


def test_no_beginning_takes_long() -> None:
    for data in (
        b"\n" * 8192,
        b" " * 8192,
        b"Linux a (" + b"\n " * 4000,
        b"1" * 8192,
        b"a;" * 4096,
        b"#\t" * 4096,
    ):
        start = time.process_time()
        with pytest.raises(FormatError):
            sniff(data)
        assert time.process_time() - start < 0.5
