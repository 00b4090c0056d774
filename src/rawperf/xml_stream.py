"""Streaming XML parser without document types: safe from entity expansion, with bounded memory."""

from __future__ import annotations

import codecs
import re
from collections.abc import Callable, Iterator
from pyexpat.errors import (
    XML_ERROR_NO_ELEMENTS,
    XML_ERROR_PARTIAL_CHAR,
    XML_ERROR_UNCLOSED_TOKEN,
    codes,
)
from typing import Any, BinaryIO

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, ParseError

from rawperf.base import Warnings
from rawperf.core.errors import FormatError
from rawperf.text import MAX_PIECE_BYTES, PieceReader, decode, peek_stream, recode, strip_colours

_DECLARES_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}\bencoding\b")
_TRUNCATION_CODES = {
    codes[e] for e in (XML_ERROR_NO_ELEMENTS, XML_ERROR_PARTIAL_CHAR, XML_ERROR_UNCLOSED_TOKEN)
}


class XmlTarget:
    """Parser target that tracks the path of open elements and builds no tree."""

    def __init__(self, file: str, root: str, max_depth: int) -> None:
        self.file = file
        self.root = root  # name of the root element
        self.max_depth = max_depth  # largest nesting depth
        self.parser: Any = None  # expat parser, for the current line
        self.lines_skipped = 0  # lines of the file that the parser did not get
        self.path: list[str] = []  # local names of the open elements
        self.text: list[str] = []  # text of the innermost element since its last child
        self._length = 0

    def on_start(self, tag: str, attributes: dict[str, str]) -> None:
        """Handle a start tag; `tag` is ``{namespace}local``, attributes have no namespace."""

    def on_end(self) -> None:
        """Handle the end tag of the innermost element."""

    def has_content(self) -> bool:
        """Whether a truncated document has anything worth keeping; overridden by readers."""
        return False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """Parser callback for a start tag."""
        self.path.append(local_name(tag))
        self.text, self._length = [], 0
        if len(self.path) > self.max_depth:
            problem = "elements are nested too deeply"
            raise self.error(problem, f"at most {self.max_depth} levels", "/".join(self.path[:6]))
        if len(self.path) == 1 and self.path[0] != self.root:
            raise self.error("wrong root element", self.root, self.path[0])
        self.on_start(tag, {local_name(key): value for key, value in attributes.items()})

    def data(self, text: str) -> None:
        """Parser callback for character data."""
        self.text.append(text)
        self._length += len(text)
        if self._length > MAX_PIECE_BYTES:
            raise self.error(
                "the text of an element is too long",
                f"its end within {MAX_PIECE_BYTES} characters",
                text[:40],
            )

    def end(self, tag: str) -> None:
        """Parser callback for an end tag."""
        self.on_end()
        self.path.pop()
        self.text, self._length = [], 0

    def close(self) -> None:
        """Parser callback for the end of the document; nothing to do."""

    def line(self) -> int:
        """Line of the file at which the parser is."""
        return int(self.parser.CurrentLineNumber) + self.lines_skipped

    def error(
        self, problem: str, expected: str, found: str, line: int | None = None
    ) -> FormatError:
        """Build an error, by default at the parser's current line."""
        return FormatError(
            problem, file=self.file, line=line or self.line(), expected=expected, found=found
        )


def parse_xml(data: bytes, target: XmlTarget, max_bytes: int) -> tuple[tuple[str, ...], int]:
    """Parse a document into `target`.

    Without an encoding declaration it is read as UTF-8, or else as Latin-1 with a warning.

    Returns
    -------
    warnings : tuple of str
    cut : int
        Line on which the document ends within an element, 0 for a whole document.

    Raises `FormatError`: more than `max_bytes`, a document type, not XML, an unknown encoding, and the
    errors of `target`.
    """
    file = target.file
    if len(data) > max_bytes:
        raise FormatError(
            "the file is too large",
            file=file,
            expected=f"at most {max_bytes} bytes",
            found=str(len(data)),
        )
    warnings: tuple[str, ...] = ()
    if not declares_encoding(data):
        text, warnings = decode(data, file)
        data = text.encode()
    feed = XmlParser(target)
    feed.feed(data)
    return warnings, feed.close()


def declares_encoding(data: bytes) -> bool:
    """Whether a document declares its encoding."""
    return bool(_DECLARES_ENCODING.match(data)) or data[:2] in (b"\xff\xfe", b"\xfe\xff")


class XmlPieceReader(PieceReader):
    """Pieces of a document for the parser: without colours, in UTF-8 if no encoding is declared.

    `encoding_warnings` gets one warning on a line that is not UTF-8, which is read as Latin-1.
    """

    def __init__(self, stream: BinaryIO, encoding_warnings: Warnings, file: str) -> None:
        head, stream = peek_stream(stream)
        super().__init__(stream, self._end, file, by_line=False)
        self._encoding_warnings = encoding_warnings
        self._coloured = b"\0" not in head
        self._declares_encoding = declares_encoding(
            strip_colours(head.removeprefix(codecs.BOM_UTF8)) if self._coloured else head
        )

    def __iter__(self) -> Iterator[bytes]:
        for piece in super().__iter__():
            plain = strip_colours(piece) if self._coloured else piece
            if not self._declares_encoding:
                plain = recode(plain, self._encoding_warnings, self.lines_before)
                plain = plain.replace(b"\r\n", b"\n")
            yield plain

    def _end(self, data: bytes) -> int:
        """Cut after a line, or after a tag if its line is ASCII so far; anywhere if bytes are kept.

        The encoding is detected line by line.
        """
        if self._declares_encoding and not (self._coloured and b"\x1b" in data):
            return len(data)
        after_line, after_tag = data.rfind(b"\n") + 1, data.rfind(b">") + 1
        return (
            after_tag
            if after_tag > after_line and data[after_line:after_tag].isascii()
            else after_line
        )


class XmlParser:
    """Feed a document to a target piecewise."""

    def __init__(self, target: XmlTarget) -> None:
        self._target = target
        self._parser = DefusedXMLParser(target=target, forbid_dtd=True)
        target.parser = self._parser.parser
        self._cut = self._fed = 0

    def feed(self, data: bytes) -> None:
        """Parse a piece; raises as `parse_xml` does, and for an endless tag or comment."""
        self._call(self._parser.feed, data)
        self._fed += len(data)
        # bytes that the parser buffers
        if self._fed - self._parser.parser.CurrentByteIndex > MAX_PIECE_BYTES:
            raise self._target.error(
                "a tag or a comment is too long", f"its end within {MAX_PIECE_BYTES} bytes", "more"
            )

    def close(self) -> int:
        """End the document; return the line on which it is truncated, 0 if it is whole."""
        self._call(self._parser.close)
        return self._cut

    def _call(self, method: Callable[..., Any], *data: bytes) -> None:
        target = self._target
        if self._cut:
            return
        try:
            method(*data)
        except DefusedXmlException as err:
            raise FormatError(
                "document types and entity declarations are not allowed",
                file=target.file,
                line=target.line(),
                expected="XML without DOCTYPE",
                found=type(err).__name__,
                remedy="remove it; it can make a parser open files or exhaust the memory.",
            ) from err
        except ParseError as err:
            line = err.position[0] + target.lines_skipped
            if err.code in _TRUNCATION_CODES and target.has_content():
                self._cut = line
                return
            problem = f"not well-formed XML ({str(err).partition(':')[0]})"
            raise FormatError(problem, file=target.file, line=line) from err
        except (LookupError, ValueError) as err:  # an encoding that Python or expat doesn't know
            raise FormatError(
                "the declared encoding is not supported", file=target.file, line=1, found=str(err)
            ) from err


def local_name(name: str) -> str:
    """Local part of a qualified name."""
    return name.rpartition("}")[2]
