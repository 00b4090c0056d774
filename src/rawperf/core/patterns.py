"""Regular expressions of declarations: matched by RE2, in time that is linear in the text whatever
the pattern.
"""

from __future__ import annotations

from functools import lru_cache

import pyarrow as pa
import pyarrow.compute as pc

LONGEST_PATTERN = 1000
LONGEST_LINE = 100_000
"""Characters; a longer line is matched by no pattern."""


def check_pattern(pattern: str) -> str:
    """The same pattern; raises `ValueError` where it is too long, or RE2 does not take it, as back
    references.
    """
    if len(pattern) > LONGEST_PATTERN:
        raise ValueError(f"a pattern of more than {LONGEST_PATTERN} characters")
    try:
        pc.match_substring_regex(pa.array([""]), pattern)
    except pa.ArrowInvalid as err:
        raise ValueError(f"{pattern!r}: {_reason(err)}") from err
    return pattern


@lru_cache(maxsize=256)
def groups_of(pattern: str) -> tuple[str, ...]:
    """Names of a pattern's groups; raises `ValueError` as `check_pattern`, for one without a name,
    two of one name.
    """
    check_pattern(pattern)
    try:
        made = pc.extract_regex(pa.array([""]), _whole(pattern)).type
    except pa.ArrowInvalid as err:
        raise ValueError(f"{pattern!r}: {_reason(err)}; write (?P<name>...) or (?:...)") from err
    names = tuple(made.field(place).name for place in range(made.num_fields))
    if len(set(names)) < len(names):
        raise ValueError(f"{pattern!r}: two groups of one name")
    return names


@lru_cache(maxsize=1)
def searchable(head: bytes) -> pa.Array:
    """The beginning of a file as text, for `occurs`; many patterns are asked about one after the
    other.
    """
    return pa.array([head.decode("utf-8", "replace").replace("\r\n", "\n")])


def occurs(pattern: str, text: pa.Array) -> bool:
    """Whether a pattern occurs in a text, the only one of `searchable`; ``^`` and ``$`` stand for
    the ends of its lines.
    """
    return bool(pc.match_substring_regex(text, f"(?m){pattern}")[0].as_py())


def whole_lines(pattern: str, lines: pa.Array) -> pa.Array:
    """Which lines are, as a whole, what the pattern says."""
    return pc.match_substring_regex(lines, _whole(pattern))


def extracted(pattern: str, lines: pa.Array) -> dict[str, list[str]]:
    """What the groups of a pattern hold in lines that match as a whole; "" for a group that took no
    part.
    """
    found = pc.extract_regex(lines, _whole(pattern))
    return {name: found.field(place).to_pylist() for place, name in enumerate(groups_of(pattern))}


def first_group(pattern: str, text: str) -> str | None:
    """What the first group of a pattern holds, where it is the whole text; else None."""
    line = pa.array([text])
    return (
        next(iter(extracted(pattern, line).values()))[0]
        if whole_lines(pattern, line)[0].as_py()
        else None
    )


def _whole(pattern: str) -> str:
    return f"^(?:{pattern})$"


def _reason(err: pa.ArrowInvalid) -> str:
    return str(err).removeprefix("Invalid regular expression: ").partition("\n")[0]
