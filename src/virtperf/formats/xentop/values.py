"""The numbers of a xentop listing, as records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from virtperf.core.errors import FormatError
from virtperf.formats.rows import record_table
from virtperf.formats.text import numbers, strings
from virtperf.formats.xentop.lines import Listing

# xentop subtracts and sums unsigned 64-bit numbers, so a counter that went back prints as almost 2^64 of its raw unit.
# Anything from half of that on can't be a true value. CPU(%) is bounded by the 4095 processors that Xen can drive.
_BELOW_ZERO = {"CPU(sec)": 2.0**63 / 1e9, "VCPUs(sec)": 2.0**63 / 1e9, "CPU(%)": 4095 * 100.0} | dict.fromkeys(
    ("MEM(k)", "MAXMEM(k)", "NETTX(k)", "NETRX(k)"), 2.0**53
)
_LIMIT = 2.0**63
_WORDS = {
    "no": ("MAXMEM(k)",),  # no limit
    "n/a": ("MAXMEM(%)",),
    "-": ("VBD_OO", "VBD_RD", "VBD_WR", "VBD_RSECT", "VBD_WSECT"),
}
_DAMAGED = "the line is damaged; remove its sample."


def values_of(found: Listing, last: bool) -> NDArray[np.float64]:
    """Numbers of the domain rows, shape (rows, columns - 2); NaN where the tool prints a word in place of a number.

    A row that ends early is taken out of `found` where the file breaks off in it. Raises `FormatError` at a row with
    too many or too few values, or one that is no number.
    """
    words, columns = found.words, found.seen.columns[2:]
    behind = words.first[found.rows + 1]
    counts = behind - found.state - 1
    begin = words.bytes[words.begin] if len(words.begin) else np.zeros(0, dtype=np.uint8)
    # the second word of "no limit" has no place of its own
    no = np.flatnonzero(begin[:-1] == ord("n"))
    no = no[(words.end[no] - words.begin[no] == 2) & (words.begin[no + 1] - words.end[no] == 1)]
    no = no[words.starting(words.begin[no], b"no limit")]
    row_of_no = np.searchsorted(found.state, no, side="right") - 1
    inside = (row_of_no >= 0) & (no + 1 < behind[row_of_no]) if len(behind) else np.zeros(len(no), dtype=bool)
    counts = counts - np.bincount(row_of_no[inside], minlength=len(counts))
    wrong = np.flatnonzero(counts != len(columns))
    if last and len(wrong) == 1 and wrong[0] == len(counts) - 1 and counts[-1] < len(columns):
        found.cut = int(found.rows[-1]) if found.cut < 0 else found.cut
        found.rows, found.state, found.who = found.rows[:-1], found.state[:-1], found.who[:-1]
    elif len(wrong):
        row, expected = int(wrong[0]), f"{len(columns)} values after the state"
        tail = f"{counts[row]}: {found.tail(row)}"
        raise found.error("a row does not fit its header", int(found.rows[row]), expected, tail, _DAMAGED)
    flat = (found.state[:, None] + np.arange(1, len(columns) + 1)).ravel()
    if len(no):
        wanted = np.zeros(len(words.begin) + 1, dtype=np.int8)
        wanted[found.state + 1] = 1
        wanted[words.first[found.rows + 1]] -= 1
        inner = np.cumsum(wanted[:-1], dtype=np.int8)
        inner[no[inside] + 1] = 0
        flat = np.flatnonzero(inner)
    odd = np.flatnonzero(begin[flat] - np.uint8(ord("0")) > 9)
    tokens = words.array.take(pa.array(flat))
    bad = -1
    if len(odd):
        texts = words.array.take(pa.array(flat[odd])).dictionary_encode()
        allowed = np.array(
            [[name in _WORDS.get(text, ()) for name in columns] for text in texts.dictionary.to_pylist()]
        )
        fits = allowed[texts.indices.to_numpy(), odd % len(columns)]
        bad = -1 if fits.all() else int(odd[np.argmin(fits)])
        mask = np.zeros(len(flat), dtype=bool)
        mask[odd] = True
        tokens = pc.if_else(pa.array(mask), "0", tokens)
    values, unreadable = numbers(tokens)
    for place in (bad, unreadable):
        if place >= 0:
            row = place // len(columns)
            problem = f"{columns[place % len(columns)]} is not a number"
            raise found.error(problem, int(found.rows[row]), found=found.tail(row), remedy=_DAMAGED)
    values[odd] = np.nan
    values = values.reshape(-1, len(columns))
    limits = np.array([_BELOW_ZERO.get(name, _LIMIT) for name in columns])
    large = values >= limits
    for row, column in np.argwhere(large) if large.any() else ():
        name, text = found.names[found.who[row]], words.array[int(flat[row * len(columns) + column])].as_py()
        sentence = f"{columns[column]} of {name!r} is below zero in disguise ({text}) and was left out"
        found.warn(int(found.rows[row]), sentence)
    values[large] = np.nan
    return values


def records(
    found: Listing, values: NDArray[np.float64], keep: NDArray[np.bool_], names: Sequence[str], ids: NDArray[np.int64],
    t: NDArray[np.float64],
) -> tuple[pd.DataFrame, NDArray[np.int64]]:  # fmt: skip
    """Records in file order, and the line of the file, from 1, on which each of them stands."""
    columns = found.seen.columns[2:]
    given = np.flatnonzero((~np.isnan(values) & keep[:, None]).ravel())
    row = given // len(columns)
    column = given - row * len(columns)
    line = found.rows
    who, what = strings(names, ids[row]), strings(columns, column)
    frame = record_table("", "domain", who, what, t[row], values.ravel()[given])
    owner = np.searchsorted(line, [detail[0] for detail in found.details]) - 1
    more, at = [], []
    seen: set[tuple[int, str, str, str]] = set()
    for own, (number, kind, device, name, digits) in zip(owner, found.details, strict=True):
        if not keep[own]:
            continue
        key = (int(own), kind, device, name)
        if key in seen:
            place = found.line + number + 1
            raise FormatError(f"{kind} {device} twice below one domain", file=found.seen.file, line=place)
        seen.add(key)
        value = float(digits)
        if value >= _BELOW_ZERO.get(name, _LIMIT):
            found.warn(number, f"{name} is below zero in disguise and was left out")
            continue
        more.append(("", kind, f"{names[ids[own]]}/{device}", name, t[own], value))
        at.append(number)
    if not more:
        return frame, line[row] + found.line + 1
    both = pd.concat([frame, pd.DataFrame(more, columns=list(frame.columns))], ignore_index=True)
    lines = np.concatenate([line[row], np.array(at, dtype=np.int64)])
    order = np.argsort(lines, kind="stable")
    return both.iloc[order].reset_index(drop=True), lines[order] + found.line + 1
