"""Regular expressions of declarations: matched by RE2, in linear time for every pattern."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import re2

MAX_PATTERN_LENGTH = 1000
MAX_LINE_LENGTH = 100_000
"""Characters; no pattern matches a longer line."""


def check_pattern(pattern: str) -> str:
    """Return a pattern; raises `ValueError` if too long, or not valid in RE2 (back references)."""
    if len(pattern) > MAX_PATTERN_LENGTH:
        raise ValueError(f"the pattern has more than {MAX_PATTERN_LENGTH} characters")
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as err:
        raise ValueError(f"{pattern!r}: {_reason(err)}") from err
    return pattern


@lru_cache(maxsize=256)
def group_names(pattern: str) -> tuple[str, ...]:
    """Names of a pattern's groups.

    Raises `ValueError` as `check_pattern` does, and for unnamed or duplicate groups.
    """
    check_pattern(pattern)
    try:
        captured_type = pc.extract_regex(pa.array([""]), _anchor(pattern)).type
    except pa.ArrowInvalid as err:
        raise ValueError(f"{pattern!r}: {_reason(err)}; write (?P<name>...) or (?:...)") from err
    names = tuple(captured_type.field(index).name for index in range(captured_type.num_fields))
    if len(set(names)) < len(names):
        raise ValueError(f"{pattern!r}: two groups have the same name")
    return names


@lru_cache(maxsize=1)
def normalize_head(head: bytes) -> bytes:
    """Normalise the head of a file for `contains_match`; cached: many patterns are tested in sequence."""
    return head.decode("utf-8", "replace").replace("\r\n", "\n").encode()


def contains_match(pattern: str, text: bytes) -> bool:
    """Whether a pattern occurs in the text of `normalize_head`; ``^`` and ``$`` match at line ends."""
    return _compile(pattern).search(text) is not None


def matches_whole(pattern: str, text: str) -> bool:
    """Whether a pattern matches a text as a whole."""
    return _compile(pattern).fullmatch(text) is not None


@lru_cache(maxsize=1024)
def _compile(pattern: str) -> Any:
    # Arrow would compile every pattern again for each file.
    return re2.compile(f"(?m){pattern}")


def full_match_mask(pattern: str, lines: pa.Array) -> pa.Array:
    """Mask of the lines that match a pattern as a whole."""
    return pc.match_substring_regex(lines, _anchor(pattern))


def capture_groups(pattern: str, lines: pa.Array) -> dict[str, list[str]]:
    """Capture groups of lines that match a pattern as a whole; "" for a group that took no part."""
    captured = pc.extract_regex(lines, _anchor(pattern))
    return {
        name: captured.field(index).to_pylist() for index, name in enumerate(group_names(pattern))
    }


def first_group(pattern: str, text: str) -> str | None:
    """First capture group if the pattern matches the whole text, else None."""
    line = pa.array([text])
    return (
        next(iter(capture_groups(pattern, line).values()))[0]
        if full_match_mask(pattern, line)[0].as_py()
        else None
    )


def _anchor(pattern: str) -> str:
    return f"^(?:{pattern})$"


def _reason(err: pa.ArrowInvalid) -> str:
    return str(err).removeprefix("Invalid regular expression: ").partition("\n")[0]
