"""JSON with the line number of each value."""

from __future__ import annotations

import io
import json
import re
from array import array
from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import Any

# A key with its colon is kept; every other string, number or word is a value.
TOKEN = re.compile(
    r'("(?:[^"\\]|\\.)*+"[ \t\r\n]*:)|"(?:[^"\\]|\\.)*+"|-?[0-9][0-9.eE+-]*|true|false|null|NaN|-?Infinity'
)


def loads_strict(text: str) -> Any:
    """Parse a JSON document, rejecting NaN and infinities."""
    return json.loads(text, parse_constant=reject_constant)


def reject_constant(word: str) -> float:
    """Reject a constant, as a callback of `json`."""
    raise ValueError(f"{word} is not a JSON number")


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
