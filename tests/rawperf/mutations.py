"""Reproducible mutations of files, as caused by disks, editors, mail programs, copied screens and attackers.

`mutant` takes intact files of a format and damages one of them one to four times. Every mutation is a function of the
bytes and a generator.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

SEED = 20090101
LONGEST = 100_000
"""Maximum number of bytes added by one mutation."""

NUMBER = re.compile(rb"\d+(?:[.,]\d+)?")
NAME = re.compile(rb"[A-Za-z_]\w*")
NUMBERS = (
    b"1e308",
    b"-1e308",
    b"1e309",
    b"1e-400",
    b"1" + 40 * b"0",
    30 * b"9",
    5000 * b"9",
    b"0." + 5000 * b"3",
    b"9223372036854775808",
    b"-9223372036854775809",
    b"18446744073709551616",
    b"9007199254740993",
    b"4294967296",
    b"99999999",
    b"10000",
    b"0",
    b"-0",
    b"-1",
    b"-0.5",
    b"00000000",
    b"nan",
    b"-nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"Infinity",
    b"-Infinity",
    b"",
    b"+5",
    b"5.",
    b".5",
    b".",
    b"-",
    b"1,5",
    b"1.2.3",
    b"1_000",
    b"1'000",
    b"0x1F",
    b"1e5",
    b"1E",
    b"12a",
    b"\xc2\xb2",
    b"\xd9\xa3",
    b"\xef\xbc\x91",
    b"\xc2\xbd",  # ², ٣, １, ½ count as digits for some
)
WORDS = (
    b"--",
    b"n/a",
    b"no limit",
    b"?",
    b"null",
    b"true",
    b"None",
    b"%s",
    b"%",
    b":",
    b"=",
    b"/",
    b"|",
    b",",
    b"'",
    b'"',
    b"\\",
    b"\\ud800",
    b"\\u0000",
    b"[",
    b"]",
    b"{",
    b"}",
    b"[]",
    b"{}",
    b"<",
    b">",
    b"</",
    b"/>",
    b"]]>",
    b"<!--",
    b"<![CDATA[",
    b"&amp;",
    b"&#0;",
    b"&#xD800;",
    b"&x;",
    b"<!DOCTYPE a>",
    b'<?xml version="1.0" encoding="utf-7"?>',
    b"<a xmlns='b'/>",
    b"\x1b[1m",
    b"\x1b[2J",
    b"\x08",
    b"\t",
    b"\t\t",
    b"\x0b",
    b"\x0c",
    b"\r",
    b"\x1c",
    b"\x7f",
    b"\x85",
    b"\xa0",
    b"\xff",
    b"\xed\xa0\x80",
    b"\xc2\x85",
    b"\xc2\xa0",
    b"\xe2\x80\xa8",
    b"\xef\xbb\xbf",
    b"\xef\xbf\xbe",
    b"\xf0\x9f\x92\xa9",
    b"Average:",
    b"Ready;",
    b"restart",
    b"AM",
    b"PM",
    b"23:59:60",
    b"24:00:00",
    b"99:99:99",
    b"00:00:00",
    b"2009-02-30",
    b"0000-00-00",
    b"9999-12-31",
    b"02/29/2100",
    b"1G",
    b"1K",
)
ENCODINGS = (
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-32",
    "cp037",
    "cp500",
    "latin-1",
    "cp1252",
    "utf-8-sig",
)
LINE_ENDS = (
    b"\r\n",
    b"\r",
    b"\n\r",
    b"\r\r\n",
    b"\n\n",
    b"\x85",
    b"\x0b",
    b"\x0c",
    b"\xe2\x80\xa8",
    b"\x00",
    b"",
)
NESTED = (b"[", b'{"a":', b"<a>", b"(", b'[{"a":[', b"&amp;", b"<!--")

Mutation = Callable[[bytes, np.random.Generator], bytes]


def _below(rng: np.random.Generator, end: int) -> int:
    """A position from 0 to `end` inclusive."""
    return int(rng.integers(end + 1))


def _pick(rng: np.random.Generator, things: Sequence[bytes]) -> bytes:
    return things[int(rng.integers(len(things)))]


def _length(rng: np.random.Generator) -> int:
    """1 to `LONGEST`, half of them below 300: long lines are rare and slow."""
    return int(LONGEST ** rng.random())


def _insert(data: bytes, at: int, new: bytes) -> bytes:
    return data[:at] + new + data[at:]


def cut_end(data: bytes, rng: np.random.Generator) -> bytes:
    """Truncation, as by a full disk or a killed tool."""
    return data[: _below(rng, len(data))]


def cut_beginning(data: bytes, rng: np.random.Generator) -> bytes:
    """A missing beginning, as of a rotated log."""
    return data[_below(rng, len(data)) :]


def cut_out(data: bytes, rng: np.random.Generator) -> bytes:
    """A hole of up to 60 bytes."""
    at = _below(rng, len(data))
    return data[:at] + data[at + _below(rng, 60) :]


def flip(data: bytes, rng: np.random.Generator) -> bytes:
    """One to eight changed bytes."""
    changed = bytearray(data)
    for _ in range(1 + _below(rng, 7) if data else 0):
        changed[int(rng.integers(len(data)))] = int(rng.integers(256))
    return bytes(changed)


def lines(data: bytes, rng: np.random.Generator) -> bytes:
    """A line dropped, duplicated, swapped, moved or repeated many times."""
    rows = data.split(b"\n")
    one, other = int(rng.integers(len(rows))), int(rng.integers(len(rows)))
    match int(rng.integers(5)):
        case 0:
            del rows[one]
        case 1:
            rows.insert(other, rows[one])
        case 2:
            rows[one], rows[other] = rows[other], rows[one]
        case 3:
            rows.insert(other, rows.pop(one))
        case _:
            rows[one:one] = [rows[one]] * min(200, 20_000 // (len(rows[one]) + 1))
    return b"\n".join(rows)


def join_lines(data: bytes, rng: np.random.Generator) -> bytes:
    """Newlines replaced by blanks or removed, or a line broken in two."""
    if rng.random() < 0.5:
        return _insert(data, _below(rng, len(data)), b"\n")
    at = data.find(b"\n", _below(rng, len(data)))
    return data if at < 0 else data[:at] + b" " * _below(rng, 2) + data[at + 1 :]


def blanks(data: bytes, rng: np.random.Generator) -> bytes:
    """Blanks inserted, removed or replaced by tabs, once or everywhere."""
    if rng.random() < 0.3:
        old, new = ((b"  ", b" "), (b"        ", b"\t"), (b" ", b""), (b"\t", b" "))[
            int(rng.integers(4))
        ]
        return data.replace(old, new)
    return _insert(data, _below(rng, len(data)), b" " * (1 + _below(rng, 20)))


def numbers(data: bytes, rng: np.random.Generator) -> bytes:
    """One number (or every third) made too large, negative, invalid, or written in a form the tool does not print."""
    found = list(NUMBER.finditer(data))
    if not found:
        return data
    if rng.random() < 0.1:
        new = _pick(rng, NUMBERS)[:40]
        chosen = [match for match in found[:300] if rng.random() < 0.3]
    else:
        new = _pick(rng, NUMBERS if rng.random() < 0.8 else WORDS)
        chosen = [found[int(rng.integers(len(found)))]]
    for match in reversed(chosen):
        data = data[: match.start()] + new + data[match.end() :]
    return data


def digits(data: bytes, rng: np.random.Generator) -> bytes:
    """Changed, added or removed digits of one number that keeps the tool's format."""
    found = list(NUMBER.finditer(data))
    if not found:
        return data
    match = found[int(rng.integers(len(found)))]
    new = b"%d" % int(rng.integers(10 ** int(rng.integers(1, 18))))
    return data[: match.start()] + new + data[match.end() :]


def words(data: bytes, rng: np.random.Generator) -> bytes:
    """A keyword of some format, inserted or in place of a word."""
    at = _below(rng, len(data))
    if rng.random() < 0.5:
        return _insert(data, at, _pick(rng, WORDS))
    end = re.compile(rb"\s|\Z").search(data, at)
    return data[:at] + _pick(rng, WORDS) + data[end.start() if end else at :]


def exchange(data: bytes, rng: np.random.Generator) -> bytes:
    """One name (or all its occurrences) replaced by another name of the file: valid form, wrong meaning."""
    found = list(NAME.finditer(data))
    if not found:
        return data
    old, new = (found[int(rng.integers(len(found)))] for _ in range(2))
    if rng.random() < 0.3:
        return data.replace(old.group(), new.group(), 50)
    return data[: old.start()] + new.group() + data[old.end() :]


def move(data: bytes, rng: np.random.Generator) -> bytes:
    """A piece copied to another position."""
    at = _below(rng, len(data))
    return _insert(data, _below(rng, len(data)), data[at : at + 1 + _below(rng, 200)])


def encoding(data: bytes, rng: np.random.Generator) -> bytes:
    """Another encoding, or a byte order mark."""
    text = data.decode("utf-8", "replace")
    return text.encode(ENCODINGS[int(rng.integers(len(ENCODINGS)))], "replace")


def nuls(data: bytes, rng: np.random.Generator) -> bytes:
    """Zero bytes, as after a crash: one, a block, or one behind each byte."""
    match int(rng.integers(6)):
        case 0:
            return data + b"\0" * _below(rng, 4096)
        case 1:
            return b"\0".join(data[k : k + 1] for k in range(len(data)))
        case _:
            return _insert(data, _below(rng, len(data)), b"\0" * (1 + _below(rng, 8)))


def long_line(data: bytes, rng: np.random.Generator) -> bytes:
    """A piece of the file, a blank or a digit, repeated within a line."""
    at, length = _below(rng, len(data)), _length(rng)
    piece = (
        data[at : at + 1 + _below(rng, 19)]
        if rng.random() < 0.6
        else _pick(rng, (b" ", b"x", b"9", b"1 ", b"\t"))
    )
    piece = piece.replace(b"\n", b" ") or b" "
    return _insert(data, at, (piece * (length // len(piece) + 1))[:length])


def line_ends(data: bytes, rng: np.random.Generator) -> bytes:
    """Line ends of another system, mixed, or none."""
    if rng.random() < 0.3:
        return data.replace(b"\n", _pick(rng, LINE_ENDS))
    ends = [
        _pick(rng, LINE_ENDS) if rng.random() < 0.2 else b"\n" for _ in range(data.count(b"\n"))
    ]
    return b"".join(part + end for part, end in zip(data.split(b"\n"), [*ends, b""], strict=True))


def nested(data: bytes, rng: np.random.Generator) -> bytes:
    """Deeply nested brackets or elements."""
    opening = _pick(rng, NESTED)
    return _insert(data, _below(rng, len(data)), opening * (_length(rng) // len(opening) + 1))


def empty(data: bytes, rng: np.random.Generator) -> bytes:
    """Empty or only white space."""
    return _pick(
        rng, (b"", b"", b"\n", b" ", b"\n\n\n", b"\r\n", b"\0", b"\xef\xbb\xbf", b"\xff\xfe")
    )


# Small changes are drawn more often: an unrecognised file is rejected at its first line.
MUTATIONS: dict[Mutation, float] = {
    cut_end: 2,
    cut_beginning: 1,
    cut_out: 2,
    flip: 3,
    lines: 3,
    join_lines: 2,
    blanks: 2,
    numbers: 4,
    digits: 3,
    words: 4,
    exchange: 2,
    move: 2,
    encoding: 0.5,
    nuls: 0.7,
    long_line: 0.5,
    line_ends: 1,
    nested: 0.3,
    empty: 0.02,
}
_KINDS = list(MUTATIONS)
_UP_TO = np.cumsum(list(MUTATIONS.values())) / sum(MUTATIONS.values())


def mutant(seeds: Sequence[bytes], number: int) -> tuple[bytes, str]:
    """Mutant `number` of some intact files.

    Parameters
    ----------
    seeds : sequence of bytes
        Intact files, at least one.
    number : int
        From 0; equal numbers give equal mutants of the same files.

    Returns
    -------
    data : bytes
    history : str
        The file and its mutations, for the message of a failing test.
    """
    rng = np.random.default_rng([SEED, number])
    which = int(rng.integers(len(seeds)))
    data, names = seeds[which], [f"seed {which}"]
    if len(seeds) > 1 and rng.random() < 0.05:  # two concatenated files
        other = int(rng.integers(len(seeds)))
        data = data[: _below(rng, len(data))] + seeds[other][_below(rng, len(seeds[other])) :]
        names.append(f"with seed {other}")
    for _ in range(1 + int(rng.choice(4, p=(0.5, 0.25, 0.15, 0.1)))):
        mutation = _KINDS[int(np.searchsorted(_UP_TO, rng.random()))]
        data = mutation(data, rng)
        names.append(mutation.__name__)
    return data, ", ".join(names)
