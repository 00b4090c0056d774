"""XML read as a stream, without document types, so that neither a file's entities nor its size can
do harm.
"""

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

from rawperf.core.errors import FormatError
from rawperf.pieces import MAX_PIECE_BYTES, Pieces, peeked, recoded
from rawperf.rows import Warnings
from rawperf.text import decode, uncoloured

_DECLARES_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}\bencoding\b")
_ENDS_EARLY = {
    codes[e] for e in (XML_ERROR_NO_ELEMENTS, XML_ERROR_PARTIAL_CHAR, XML_ERROR_UNCLOSED_TOKEN)
}


class Target:
    """What the parser calls: knows which element it is in, and never keeps a tree."""

    def __init__(self, file: str, root: str, deepest: int) -> None:
        self.file = file
        self.root = root  # name of the document's element
        self.deepest = deepest  # how many may be open at once
        self.place: Any = None  # gives the parser's line
        self.above = 0  # lines of the file that the parser did not get
        self.path: list[str] = []  # names of the open elements, without their namespaces
        self.text: list[str] = []  # what stands in the innermost one, since its last child
        self._length = 0

    def begins(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins; `tag` is ``{namespace}local``, attributes have no namespace."""

    def ends(self) -> None:
        """The innermost element ends."""

    def any(self) -> bool:
        """Whether there is anything worth keeping of a document that ends early; readers say what
        counts.
        """
        return False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """The parser's word for an element's beginning."""
        self.path.append(local(tag))
        self.text, self._length = [], 0
        if len(self.path) > self.deepest:
            problem = "elements are nested too deeply"
            raise self.error(problem, f"at most {self.deepest} levels", "/".join(self.path[:6]))
        if len(self.path) == 1 and self.path[0] != self.root:
            raise self.error("another root element", self.root, self.path[0])
        self.begins(tag, {local(key): value for key, value in attributes.items()})

    def data(self, text: str) -> None:
        """The parser's word for a piece of text."""
        self.text.append(text)
        self._length += len(text)
        if self._length > MAX_PIECE_BYTES:
            raise self.error(
                "a text has no end", f"one within {MAX_PIECE_BYTES} characters", text[:40]
            )

    def end(self, tag: str) -> None:
        """The parser's word for an element's end."""
        self.ends()
        self.path.pop()
        self.text, self._length = [], 0

    def close(self) -> None:
        """Nothing is left to do."""

    def line(self) -> int:
        """The line that the parser has come to."""
        return int(self.place.CurrentLineNumber) + self.above

    def error(
        self, problem: str, expected: str, found: str, line: int | None = None
    ) -> FormatError:
        """The error of something in the document, by default where the parser is."""
        return FormatError(
            problem, file=self.file, line=line or self.line(), expected=expected, found=found
        )


def parse_xml(data: bytes, target: Target, most: int) -> tuple[tuple[str, ...], int]:
    """Feed a document to `target`; without an encoding declaration it is UTF-8, else Latin-1 with a
    warning.

    Returns
    -------
    warnings : tuple of str
    cut : int
        Line on which the document ends within an element, 0 for a whole document.

    Raises `FormatError`: more than `most` bytes, a document type, no XML, an encoding that can't be
    read, and what
    `target` raises.
    """
    file = target.file
    if len(data) > most:
        raise FormatError(
            "the file is too large",
            file=file,
            expected=f"at most {most} bytes",
            found=str(len(data)),
        )
    warnings: tuple[str, ...] = ()
    if not declared(data):
        text, warnings = decode(data, file)
        data = text.encode()
    feed = XmlFeed(target)
    feed.feed(data)
    return warnings, feed.close()


def declared(data: bytes) -> bool:
    """Whether a document says which encoding it has."""
    return bool(_DECLARES_ENCODING.match(data)) or data[:2] in (b"\xff\xfe", b"\xfe\xff")


class XmlPieces(Pieces):
    """A document in pieces as the parser takes them: without colours, in UTF-8 where it does not
    name its encoding.

    `strange` is told once of a line that is not UTF-8 and was read as Latin-1.
    """

    def __init__(self, stream: BinaryIO, strange: Warnings, file: str) -> None:
        head, stream = peeked(stream)
        super().__init__(stream, self._end, file, by_line=False)
        self._strange = strange
        self._coloured = b"\0" not in head
        self._declared = declared(
            uncoloured(head.removeprefix(codecs.BOM_UTF8)) if self._coloured else head
        )

    def __iter__(self) -> Iterator[bytes]:
        for piece in super().__iter__():
            plain = uncoloured(piece) if self._coloured else piece
            if not self._declared:
                plain = recoded(plain, self.line, self._strange, self._file).replace(b"\r\n", b"\n")
            yield plain

    def _end(self, data: bytes) -> int:
        """Behind a line or, since whole lines are Latin-1, in ASCII behind a tag; anywhere where
        bytes stay.
        """
        if self._declared and not (self._coloured and b"\x1b" in data):
            return len(data)
        line, tag = data.rfind(b"\n") + 1, data.rfind(b">") + 1
        return tag if tag > line and data[line:tag].isascii() else line


class XmlFeed:
    """Gives a document, or what is below the first `above` lines of a file, to a target piece by
    piece.
    """

    def __init__(self, target: Target, above: int = 0) -> None:
        self._target = target
        self._parser = DefusedXMLParser(target=target, forbid_dtd=True)
        target.place, target.above = self._parser.parser, above
        self._cut = self._fed = 0

    def feed(self, data: bytes) -> None:
        """Take a piece; raises what `parse_xml` does, and where a tag or a comment does not end."""
        self._call(self._parser.feed, data)
        self._fed += len(data)
        if (
            self._fed - self._parser.parser.CurrentByteIndex > MAX_PIECE_BYTES
        ):  # what waits there to be parsed
            raise self._target.error(
                "a tag or a comment has no end", f"one within {MAX_PIECE_BYTES} bytes", "more"
            )

    def close(self) -> int:
        """Take the end: the line on which the document ends within an element, 0 for a whole
        document.
        """
        self._call(self._parser.close)
        return self._cut

    def _call(self, take: Callable[..., Any], *data: bytes) -> None:
        target = self._target
        if self._cut:
            return
        try:
            take(*data)
        except DefusedXmlException as err:
            raise FormatError(
                "a document type or an entity declaration is refused",
                file=target.file,
                line=target.line(),
                expected="XML without DOCTYPE",
                found=type(err).__name__,
                remedy="remove it; it can make a reader open files or fill the memory.",
            ) from err
        except ParseError as err:
            line = err.position[0] + target.above
            if err.code in _ENDS_EARLY and target.any():
                self._cut = line
                return
            problem = f"not well-formed XML ({str(err).partition(':')[0]})"
            raise FormatError(problem, file=target.file, line=line) from err
        except (LookupError, ValueError) as err:  # an encoding that Python or expat doesn't know
            raise FormatError(
                "the declared encoding can't be read", file=target.file, line=1, found=str(err)
            ) from err


def local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]
