"""XML read as a stream, without document types, so that neither a file's entities nor its size can do harm."""

from __future__ import annotations

import re
from collections.abc import Callable
from pyexpat.errors import XML_ERROR_NO_ELEMENTS, XML_ERROR_PARTIAL_CHAR, XML_ERROR_UNCLOSED_TOKEN, codes
from typing import Any, Protocol

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import DefusedXMLParser, ParseError

from virtperf.core.errors import FormatError
from virtperf.formats.text import decode

XML_TEXT = re.compile("[\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]*")
_DECLARES_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}\bencoding\b")
_ENDS_EARLY = {codes[e] for e in (XML_ERROR_NO_ELEMENTS, XML_ERROR_PARTIAL_CHAR, XML_ERROR_UNCLOSED_TOKEN)}


class Target(Protocol):
    """What the parser calls; `place.CurrentLineNumber` is the line that it has come to."""

    place: Any

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        """An element begins; names are ``{namespace}local``."""
        ...

    def data(self, text: str) -> None:
        """A piece of text."""
        ...

    def end(self, tag: str) -> None:
        """An element ends."""
        ...

    def close(self) -> None:
        """The document ends."""
        ...


def parse_xml(
    data: bytes, target: Target, file: str, most: int, keep: Callable[[], bool]
) -> tuple[tuple[str, ...], int]:
    """Feed a document to `target`.

    Parameters
    ----------
    data : bytes
        Of at most `most` bytes; without an encoding declaration UTF-8, else Latin-1 with a warning.
    target : Target
    file : str
    keep : callable
        Whether `target` has got anything that is worth keeping of a document that ends early.

    Returns
    -------
    warnings : tuple of str
    cut : int
        Line on which the document ends within an element, 0 for a whole document.

    Raises
    ------
    FormatError
        Too large, a document type, no XML, an encoding that can't be read, and what `target` raises.
    """
    if len(data) > most:
        raise FormatError("the file is too large", file=file, expected=f"at most {most} bytes", found=str(len(data)))
    warnings: tuple[str, ...] = ()
    if not _DECLARES_ENCODING.match(data) and data[:2] not in (b"\xff\xfe", b"\xfe\xff"):
        text, warnings = decode(data, file)
        data = text.encode()
    parser = DefusedXMLParser(target=target, forbid_dtd=True)
    target.place = parser.parser
    try:
        parser.feed(data)
        parser.close()
    except DefusedXmlException as err:
        raise FormatError(
            "a document type or an entity declaration is refused",
            file=file,
            line=target.place.CurrentLineNumber,
            expected="XML without DOCTYPE",
            found=type(err).__name__,
            remedy="remove it; it can make a reader open files or fill the memory.",
        ) from err
    except ParseError as err:
        line, _ = err.position
        if err.code in _ENDS_EARLY and keep():
            return warnings, line
        raise FormatError(f"not well-formed XML ({str(err).partition(':')[0]})", file=file, line=line) from err
    except (LookupError, ValueError) as err:  # an encoding that Python or expat doesn't know
        raise FormatError("the declared encoding can't be read", file=file, line=1, found=str(err)) from err
    return warnings, 0


def local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]
