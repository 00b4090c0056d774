"""XML in chunks gives the same events as the whole document."""

from __future__ import annotations

import codecs
import io

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rawperf import xml_stream
from rawperf.base import Warnings
from rawperf.core.errors import FormatError
from rawperf.text import decode, strip_colours
from rawperf.xml_stream import XmlParser, XmlPieceReader, XmlTarget, declares_encoding

HEADS = (
    b"",
    b"\n",
    b"<?xml version='1.0'?>",
    b'<?xml version="1.0"\n encoding="latin-1"?>',
    codecs.BOM_UTF8,
    b"\xff\xfe",
)
WORDS = (
    b"<a x='1'>",
    b"</a>",
    b"text ",
    b"\n",
    b"\r\n",
    b"\r",
    b">",
    "é".encode(),
    b"\xe9",
    "€".encode(),
    b"\x1b[1m",
    b"\x1b>",
    b"\x1b",
    b"[0;",
    b"\0",
    b"long words without any end ",
)


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.sampled_from(HEADS), st.lists(st.sampled_from(WORDS), max_size=30), st.integers(3, 40))
def test_chunks_give_the_events_of_the_whole(head: bytes, words: list[bytes], size: int) -> None:
    data = head + b"".join(words)
    whole = data if b"\0" in data else strip_colours(data.removeprefix(codecs.BOM_UTF8))
    said: tuple[str, ...] = ()
    if not declares_encoding(whole):
        assume(b"\0" not in data)  # an error of `decode`
        text, said = decode(whole, "f")
        whole = text.encode()
    strange = Warnings("f")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rawperf.text.PIECE_BYTES", size)
        assert b"".join(XmlPieceReader(io.BytesIO(data), strange, "f")) == whole
    assert strange.drain() == said


def test_long_ascii_line_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rawperf.text.PIECE_BYTES", 100)
    monkeypatch.setattr("rawperf.text.MAX_PIECE_BYTES", 500)
    line = b"<r>" + b"<a n='1'/>" * 200
    found = list(XmlPieceReader(io.BytesIO(line + b"\xe9</r>"), Warnings("f"), "f"))
    assert len(found) > 10
    assert b"".join(found) == line + "é</r>".encode()


@pytest.mark.parametrize(
    ("begin", "words"),
    [
        ("<r>\n<!--", "a tag or a comment is too long"),
        ("<r>\n<a x='", "a tag or a comment is too long"),
        ("<r>\n<a>", "the text of an element is too long"),
    ],
)
def test_unterminated_document_is_rejected_before_it_fills_memory(
    begin: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(xml_stream, "MAX_PIECE_BYTES", 5000)
    feed = XmlParser(XmlTarget("f", "r", 9))
    feed.feed(begin.encode())
    with pytest.raises(FormatError, match=f"f line 2: {words}"):
        for _ in range(1000):
            feed.feed(b" > x" * 20)
