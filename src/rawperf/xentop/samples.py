"""The rows of a xentop listing as records: which sample and domain each is of, and its numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.rows import record_table
from rawperf.text import numbers, strings
from rawperf.xentop.lines import ListingLines, XentopState

# xentop subtracts and sums unsigned 64-bit numbers, so a counter that went back prints as almost
# 2^64 of its raw unit. Anything from half of that on can't be a true value. CPU(%) is bounded by
# the 4095 processors that Xen can drive.
_BELOW_ZERO = {
    "CPU(sec)": 2.0**63 / 1e9,
    "VCPUs(sec)": 2.0**63 / 1e9,
    "CPU(%)": 4095 * 100.0,
} | dict.fromkeys(("MEM(k)", "MAXMEM(k)", "NETTX(k)", "NETRX(k)"), 2.0**53)
_LIMIT = 2.0**63
_WORDS = {
    "no": ("MAXMEM(k)",),  # no limit
    "n/a": ("MAXMEM(%)",),
    "-": ("VBD_OO", "VBD_RD", "VBD_WR", "VBD_RSECT", "VBD_WSECT"),
}
_DAMAGED = "the line is damaged; remove its sample."


def numbered(found: ListingLines) -> tuple[NDArray[np.int64], int]:
    """Sample number of each row, from 0 in this part of the file (-1 before the first), and how
    many are whole.

    Raises `FormatError` at a header without a row, and a sample without its summary or its header.
    """
    rows, headers, seen = found.rows, np.array(found.headers, dtype=int), found.seen
    under = np.diff(np.append(np.searchsorted(rows, headers), len(rows)))  # rows below each header
    empty = np.flatnonzero(under == 0)
    if len(empty) and not (len(empty) == 1 and empty[0] == len(headers) - 1 and found.cut >= 0):
        raise found.error("a header without a row", int(headers[empty[0]]))
    seen.plain = seen.plain or bool(len(under) and under.max() > 1)
    # -r, or one domain only: the same rule serves both
    repeated = not seen.plain and (len(headers) > 1 or seen.samples > 0)
    cut = found.cut >= 0 and not found.cut_opens
    if seen.timed:
        bounds = np.array(found.summaries, dtype=int)
        between = np.diff(np.append(np.searchsorted(headers, bounds), len(headers)))
        odd = np.flatnonzero((between != 1) if not repeated else (between == 0))
        if len(odd) and not (cut and odd[0] == len(bounds) - 1 and between[-1] == 0):
            expected = "one header under every line `xentop - HH:MM:SS`"
            raise found.error(
                "a sample without its summary or its header", int(bounds[odd[0]]), expected
            )
        return np.searchsorted(bounds, rows, side="right") - 1, len(bounds) - cut
    if not repeated:
        return np.searchsorted(headers, rows, side="right") - 1, len(headers) - cut
    samples, number = _by_names(found, headers)
    if "repeat_header" in seen.info or number + 1 < len(headers) - len(empty):
        seen.info["repeat_header"] = "yes"
        return samples, number + 1 - (found.cut >= 0)
    # below an empty header begins another sample
    return samples, number + 1 - (cut and not len(empty))


def _by_names(found: ListingLines, headers: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Sample of each row, and the last one's number, where every row has a header of its own."""
    rows, samples = found.rows, np.full(len(found.rows), -1)
    begin = int(np.searchsorted(rows, headers[0])) if len(headers) else len(rows)
    above = headers[np.searchsorted(headers, rows[begin:]) - 1].tolist()
    seen, number, previous = set[str](), 0, ""
    for i, header in enumerate(above, start=begin):
        name = found.names[found.who[i]]
        # batch mode sorts by name, case ignored (-z puts Domain-0 before them): a step back begins
        # another sample too
        back = name.lower() < previous.lower() and previous != "Domain-0"
        if seen and (header in found.apart or name in seen or back):
            seen.clear()
            number += 1
        seen.add(name)
        samples[i], previous = number, name
    return samples, number


def behind(found: ListingLines, row: int) -> int:
    """How many bytes stand from the header above a row on, the blank lines above it included."""
    header = found.headers[int(np.searchsorted(found.headers, found.rows[row])) - 1]
    while header and found.words.first[header - 1] == found.words.first[header]:
        header -= 1
    return len(found.words.data) - int(found.words.line_begin[header])


def entities(
    found: ListingLines, samples: NDArray[np.int64], keep: NDArray[np.bool_]
) -> tuple[Sequence[str], NDArray[np.int64]]:
    """Names of the domains and which of them each row is; equal names in one sample are told apart
    by their order.
    """
    codes, names = found.who, found.names
    key = samples * len(names) + codes
    twice = pd.Series(key).duplicated().to_numpy() & keep
    if not twice.any():
        return names, codes
    nth = pd.Series(key).groupby(key).cumcount().to_numpy()
    full = [f"{names[c]}#{n + 1}" if n else names[c] for c, n in zip(codes, nth, strict=True)]
    row = int(np.flatnonzero(twice)[0])
    twin = f"{names[codes[row]]!r} occurs twice in a sample (a name cut to ten characters)"
    place = f"{found.seen.file} line {found.line + int(found.rows[row]) + 1}"
    found.seen.said.once(
        "twin", f"{place}: {twin}; the later one is called #2, by its place in the list"
    )
    codes, unique = pd.factorize(np.array(full, dtype=object))
    return [str(name) for name in unique], codes


def without_difference(
    samples: NDArray[np.int64],
    ids: NDArray[np.int64],
    keep: NDArray[np.bool_],
    cpu: NDArray[np.float64],
    names: Sequence[str],
    seen: XentopState,
) -> NDArray[np.bool_]:
    """Which rows have a CPU(%) of 0.0 because xentop knew no sample of the domain before.

    In a log whose beginning was cut off the first sample has differences; any other value than 0.0
    tells it.
    """
    zero = np.flatnonzero(cpu == 0)
    key = samples * len(names) + ids
    first = samples[zero] == samples[keep].min()
    new = ~np.isin(key[zero] - len(names), key[keep]) & ~first
    if not seen.samples:
        differs = bool((cpu[keep & (samples == samples[keep].min())] > 0).any())
        new |= first & (not differs)
    else:
        known = np.array([name in seen.before for name in names], dtype=bool)
        new |= first & ~known[ids[zero]]
    found = np.zeros(len(cpu), dtype=bool)
    found[zero[new]] = True
    return found


def values_of(found: ListingLines, last: bool) -> NDArray[np.float64]:
    """Numbers of the domain rows, shape (rows, columns - 2); NaN where the tool prints a word in
    place of a number.

    A row that ends early is taken out of `found` where the file breaks off in it. Raises
    `FormatError` at a row with too many or too few values, or one that is no number.
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
    inside = (
        (row_of_no >= 0) & (no + 1 < behind[row_of_no])
        if len(behind)
        else np.zeros(len(no), dtype=bool)
    )
    counts = counts - np.bincount(row_of_no[inside], minlength=len(counts))
    wrong = np.flatnonzero(counts != len(columns))
    if last and len(wrong) == 1 and wrong[0] == len(counts) - 1 and counts[-1] < len(columns):
        found.cut = int(found.rows[-1]) if found.cut < 0 else found.cut
        found.rows, found.state, found.who = found.rows[:-1], found.state[:-1], found.who[:-1]
    elif len(wrong):
        row, expected = int(wrong[0]), f"{len(columns)} values after the state"
        tail = f"{counts[row]}: {found.tail(row)}"
        raise found.error(
            "a row does not fit its header", int(found.rows[row]), expected, tail, _DAMAGED
        )
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
            [
                [name in _WORDS.get(text, ()) for name in columns]
                for text in texts.dictionary.to_pylist()
            ]
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
        name, text = (
            found.names[found.who[row]],
            words.array[int(flat[row * len(columns) + column])].as_py(),
        )
        sentence = (
            f"{columns[column]} of {name!r} is below zero in disguise ({text}) and was left out"
        )
        found.warn(int(found.rows[row]), sentence)
    values[large] = np.nan
    return values


def listing_records(
    found: ListingLines,
    values: NDArray[np.float64],
    keep: NDArray[np.bool_],
    names: Sequence[str],
    ids: NDArray[np.int64],
    t: NDArray[np.float64],
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
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
            raise FormatError(
                f"{kind} {device} twice below one domain", file=found.seen.file, line=place
            )
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
