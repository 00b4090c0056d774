"""Compressed files are read like their content; damaged ones are rejected."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
from collections.abc import Callable

import pyarrow as pa
import pytest

from rawperf import all_formats, extract_head, sniff
from rawperf.core.errors import FormatError
from rawperf.text import MAGIC, decompress_stream
from tests.cases import each_case
from tests.rawperf.seeds import FORMATS, SEEDS
from tests.rawperf.trial import read_whole


def zstd(data: bytes) -> bytes:
    """A frame without content size, as zstd writes from a pipe."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return bytes(sink.getvalue())


PACK: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": zstd,
}
TEXT = b"a line of text\n" * 50_000


class Slow(io.RawIOBase):
    """A pipe: returns a few bytes at a time and cannot seek."""

    def __init__(self, data: bytes) -> None:
        self._left = data

    def readable(self) -> bool:
        return True

    def readinto(self, into: memoryview) -> int:
        part, self._left = self._left[: min(len(into), 777)], self._left[min(len(into), 777) :]
        into[: len(part)] = part
        return len(part)


@each_case("kind", PACK)
def test_compressed_data_round_trip(kind: str) -> None:
    for data in (b"", b"x", TEXT):
        assert decompress_stream(io.BytesIO(PACK[kind](data)), file="f").read() == data
        assert decompress_stream(Slow(PACK[kind](data)), file="f").read() == data
    assert decompress_stream(Slow(TEXT), file="f").read() == TEXT


@each_case("kind", ["gzip", "xz", "bzip2"])
def test_concatenated_members_are_one_file(kind: str) -> None:
    assert (
        decompress_stream(io.BytesIO(PACK[kind](b"a\n") + PACK[kind](TEXT)), file="f").read()
        == b"a\n" + TEXT
    )


@each_case("kind", PACK)
@each_case(
    "name", ["xentop", "sar", "sadf-json", "iwl-xml", "iwl-console", "jmeter-csv", "perfkit"]
)
def test_compressed_file_is_recognised_and_read(name: str, kind: str) -> None:
    data = SEEDS[name][0]
    form = all_formats()[name]
    pressed = PACK[kind](data)
    assert sniff(pressed) is form
    reading = read_whole(form, pressed)
    assert reading.records.equals(form.read(data).records)
    assert reading.lines is not None


@each_case("kind", PACK)
def test_damaged_or_truncated_archive_is_rejected(kind: str) -> None:
    form, data = all_formats()["sar"], PACK[kind](SEEDS["sar"][0])
    for bad in (
        data[: len(data) // 2],
        data[:-9],
        data[: len(data) // 2] + b"\xff" * 20 + data[len(data) // 2 + 20 :],
    ):
        with pytest.raises(FormatError) as caught:
            read_whole(form, bad, file="f.gz")
        assert caught.value.file == "f.gz"
        assert kind in caught.value.problem


@each_case("kind", PACK)
def test_archive_damaged_at_its_beginning_is_not_called_empty(kind: str) -> None:
    packed = PACK[kind](SEEDS["sar"][0])
    with pytest.raises(FormatError, match=f"the {kind} data are damaged"):
        sniff(packed[:12] + b"\xff" * 40 + packed[52:], file="f.gz")
    with pytest.raises(FormatError, match="the file is empty"):
        sniff(PACK[kind](b""), file="f.gz")


@pytest.mark.parametrize("kind", ["gzip", "xz", "bzip2", "zstd"])
def test_decompression_bomb_is_rejected_early(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rawperf.core.files.ALWAYS_ALLOWED_BYTES", 2**20)
    bomb = PACK[kind](b"\0" * 2**26)
    with pytest.raises(FormatError, match="the decompressed file is too large"):
        read_whole(all_formats()["xentop"], bomb, file="f")


@each_case("name", FORMATS)
def test_sniffing_any_bytes_after_a_magic_number_works(name: str) -> None:
    for magic in MAGIC:
        assert isinstance(extract_head(magic + SEEDS[name][0]), bytes)
