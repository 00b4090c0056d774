"""JSON with the line number of each value."""

from __future__ import annotations

import io
import json
import math
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from rawperf.core.errors import FormatError

SURROGATE = re.compile("[\ud800-\udfff]")
"""Lone surrogates: JSON can escape them, UTF-8 cannot encode them."""
# A key with its colon is kept; every other string, number or word is a value.
TOKEN = re.compile(
    r'("(?:[^"\\]|\\.)*+"[ \t\r\n]*:)|"(?:[^"\\]|\\.)*+"|-?[0-9][0-9.eE+-]*|true|false|null|NaN|-?Infinity'
)


def loads_strict(text: str, *, nan: bool = False) -> Any:
    """Parse a JSON document; with `nan`, NaN is a number.

    Raises `NotFiniteError` for infinities and numbers beyond the range of float64, and for NaN
    without `nan`; another `json.JSONDecodeError` for other invalid JSON.
    """
    try:
        return (_WITH_NAN if nan else STRICT).decode(text)
    except _NotFinite as err:
        word = str(err)
        # the same text fails wherever it stands, so its first place is that of the error
        position = next(m.start() for m in TOKEN.finditer(text) if m[0] == word)
        raise NotFiniteError(f"{word} is not a finite number", text, position) from None


class NotFiniteError(json.JSONDecodeError):
    """A number that is not finite."""


class _NotFinite(ValueError):
    """A number that is not finite, as written."""


def _reject(word: str) -> float:
    raise _NotFinite(word)


def _finite(word: str) -> float:
    value = float(word)
    return value if math.isfinite(value) else _reject(word)


def _reject_infinity(word: str) -> float:
    return math.nan if word == "NaN" else _reject(word)


_WITH_NAN = json.JSONDecoder(parse_float=_finite, parse_constant=_reject_infinity)
STRICT = json.JSONDecoder(parse_float=_finite, parse_constant=_reject)
"""Decoder that raises `ValueError` without a position for a number that is not finite."""


def parse_with_lines(
    text: str, loads: Callable[[str], Any], lines_before: int = 0
) -> tuple[Any, Any]:
    """Parse a document, and build its copy with each value replaced by its line, from 1.

    Objects and arrays, their keys and their order are the same in both, so that both can be
    traversed in parallel. Lines of `text` end with a line feed; `loads_strict` parses the document;
    `lines_before` is the number of preceding lines.
    """
    document = loads(text)
    ends = array("q", (match.start() for match in re.finditer("\n", text)))
    numbered, begin = io.StringIO(), 0
    for token in TOKEN.finditer(text):
        if token[1] is None:
            numbered.write(text[begin : token.start()])
            numbered.write(str(bisect_left(ends, token.start()) + 1 + lines_before))
            begin = token.end()
    numbered.write(text[begin:])
    return document, json.loads(numbered.getvalue())


def parse_document(
    text: str, file: str, expected: str, lines_before: int = 0, **parsers: Any
) -> tuple[Any, Any]:
    """Parse a document as `parse_with_lines` does; no object may have a key twice.

    `expected` describes the document for errors, `parsers` are those of `json.loads`. Raises
    `FormatError` with the line: not JSON, such as a truncated file, and invalid keys.
    """
    loads = partial(json.loads, object_pairs_hook=_unique_members, **parsers)
    try:
        return parse_with_lines(text, loads, lines_before)
    except RecursionError as err:
        raise FormatError("nested too deeply", file=file, expected=expected) from err
    except json.JSONDecodeError as err:
        raise FormatError(
            "not a complete JSON document",
            file=file,
            line=err.lineno + lines_before,
            expected=expected,
            found=str(err),
            remedy="it may be truncated or damaged: collect it again.",
        ) from err
    except ValueError as err:
        raise FormatError(str(err), file=file, expected=expected) from err


def _unique_members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members: dict[str, Any] = {}
    for key, value in pairs:
        if key in members or SURROGATE.search(key):
            raise ValueError(f"the key {key[:60]!a} is given twice, or has a lone surrogate")
        members[key] = value
    return members


def first_line(lines: Any) -> int | None:
    """Line of the first value within a part of `lines`; None if it has no value."""
    stack = [lines]
    while stack:
        value = stack.pop()
        if isinstance(value, int):
            return value
        children: Sequence[Any] = list(value.values()) if isinstance(value, dict) else value
        stack += reversed(children)
    return None
