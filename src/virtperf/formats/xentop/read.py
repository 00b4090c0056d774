"""xentop batch output and captures of its screen (also ``xm top`` and ``xl top``), Xen 3.0.2 and later.

Source: ``xentop.c`` in the Xen source tree, tools/xenstat/xentop until 4.13 and tools/xentop since.
"""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.rows import record_table
from virtperf.formats.text import decode, numbers, split_blanks, strings, uncoloured, unwrap_midnight
from virtperf.formats.xentop.lines import Listing, begins_sample, scan
from virtperf.formats.xentop.write import write_listing

# xentop subtracts and sums unsigned 64-bit numbers, so a counter that went back prints as almost 2^64 of its raw unit.
# Anything from half of that on can't be a true value. CPU(%) is bounded by the 4095 processors that Xen can drive.
_BELOW_ZERO = {"CPU(sec)": 2.0**63 / 1e9, "VCPUs(sec)": 2.0**63 / 1e9, "CPU(%)": 4095 * 100.0} | dict.fromkeys(
    ("MEM(k)", "MAXMEM(k)", "NETTX(k)", "NETRX(k)"), 2.0**53
)
_LIMIT = 2.0**63
_WORDS = {
    "no-limit": ("MAXMEM(k)",),
    "n/a": ("MAXMEM(%)",),
    "-": ("VBD_OO", "VBD_RD", "VBD_WR", "VBD_RSECT", "VBD_WSECT"),
}
_WARNINGS_SHOWN = 20
_DAMAGED = "the line is damaged; remove its sample."
_HEADING = re.compile(rb"^ *NAME +STATE +CPU\(sec\)", re.M)


class XentopFormat:
    """Reader and writer of xentop listings."""

    name = "xentop"
    title = "xentop batch output (Xen)"

    def sniff(self, head: bytes) -> float:
        """1 when a column heading of xentop is in sight, 0.9 for its summary line."""
        if _HEADING.search(head):
            return 1.0
        return 0.9 if re.search(rb"^xentop - \d\d:\d\d:\d\d ", head, re.M) else 0.0

    def read(self, data: bytes, *, file: str = "<bytes>") -> Reading:
        """Read a listing.

        Records have ``entity_kind`` ``domain`` (and ``vcpu``, ``net``, ``vbd`` with entity ``domain/device`` where the
        listing was made with -v, -n or -x) and the printed headings as fields. A CPU(%) of 0.0 has no record in a
        sample whose predecessor lacks the domain, because xentop prints it there for want of a difference.

        Raises
        ------
        FormatError
            At a line that xentop does not print, at a row with too many or too few values, and where nothing is left.
        """
        text, warnings = decode(uncoloured(data), file)
        found = scan(text, file)
        if not found.columns:
            raise FormatError(
                "no xentop header in the file",
                file=file,
                line=1,
                expected="a line with NAME STATE CPU(sec) ...",
                found=text[:60],
                remedy="collect with `xentop -b`.",
            )
        values = _values(found)
        samples, count = _samples(found)
        keep = samples >= 0
        if not keep.all():
            found.warn(found.rows[0], "rows before the first whole sample were left out")
        if found.cut >= 0:
            keep &= samples < count
            found.warn(found.cut, "the file breaks off; its last sample was left out")
        if not keep.any():
            raise found.error("no whole sample in the file", max(found.cut, 0), remedy="collect the run again.")
        entities, ids = _entities(found, samples, keep)
        if "CPU(%)" in found.columns:
            cpu = values[:, found.columns.index("CPU(%)") - 2]
            cpu[_without_difference(samples, ids, keep, cpu)] = np.nan
        clock, t = "sample", np.arange(count + 1, dtype=float)
        if found.summaries:
            clock = "time-of-day"
            t, set_back = unwrap_midnight(np.array(found.clock))
            for i in set_back[set_back < count]:
                found.warn(found.summaries[i], "the clock was set back")
        records, at = _records(found, values, keep, entities, ids, t[samples])
        info = {"columns": str(len(found.columns)), "summary": "yes" if found.summaries else "no", **found.info}
        return Reading(records, clock, info, (*warnings, *_capped(found.warnings, file)), at)

    def write(self, reading: Reading) -> bytes:
        """Print a listing; see `virtperf.formats.xentop.write.write_listing`."""
        return write_listing(reading)


def _without_difference(samples: np.ndarray, ids: np.ndarray, keep: np.ndarray, cpu: np.ndarray) -> np.ndarray:
    """Which rows have a CPU(%) of 0.0 because xentop knew no sample of the domain before.

    In a log whose beginning was cut off the first sample has differences; any other value than 0.0 tells it.
    """
    domains = ids.max() + 1
    key = samples * domains + ids
    new = ~np.isin(key - domains, key[keep]) & (cpu == 0)
    first = samples == samples[keep].min()
    return new & ~first if (cpu[first & keep] > 0).any() else new


def _values(found: Listing) -> np.ndarray:
    """Numbers of the domain rows, shape (rows, columns - 2); NaN where the tool prints a word in place of a number."""
    columns = found.columns[2:]
    tokens, offsets = split_blanks(pc.replace_substring(pa.array(found.tails, pa.string()), "no limit", "no-limit"))
    counts = np.diff(offsets)
    wrong = np.flatnonzero(counts != len(columns))
    if len(wrong) == 1 and wrong[0] == len(counts) - 1 and counts[-1] < len(columns):
        found.cut = found.rows[-1] if found.cut < 0 else found.cut
        for part in (found.rows, found.names, found.tails):
            part.pop()
        tokens = tokens.slice(0, offsets[-2])
    elif len(wrong):
        row, expected = int(wrong[0]), f"{len(columns)} values after the state"
        tail = f"{counts[row]}: {found.tails[row]}"
        raise found.error("a row does not fit its header", found.rows[row], expected, tail, _DAMAGED)
    words = pc.is_in(tokens, pa.array(_WORDS)).to_numpy(zero_copy_only=False)
    places = np.flatnonzero(words)
    bad = -1
    if len(places):
        for at, word in zip(places.tolist(), tokens.take(pa.array(places)).to_pylist(), strict=True):
            if columns[at % len(columns)] not in _WORDS[word]:
                bad = at
                break
        tokens = pc.if_else(pa.array(words), "0", tokens)
    values, unreadable = numbers(tokens)
    negative = np.flatnonzero(values < 0)
    for at in (bad, unreadable, int(negative[0]) if len(negative) else -1):
        if at >= 0:
            row = at // len(columns)
            problem = f"{columns[at % len(columns)]} is not a number"
            raise found.error(problem, found.rows[row], found=found.tails[row], remedy=_DAMAGED)
    values[words] = np.nan
    values = values.reshape(-1, len(columns))
    limits = np.array([_BELOW_ZERO.get(name, _LIMIT) for name in columns])
    for row, column in np.argwhere(values >= limits):
        text = found.tails[row].replace("no limit", "-").split()[column]
        sentence = f"{columns[column]} of {found.names[row]!r} is below zero in disguise ({text}) and was left out"
        found.warn(found.rows[row], sentence)
    values[values >= limits] = np.nan
    return values


def _samples(found: Listing) -> tuple[np.ndarray, int]:
    """Sample number of each row (-1 before the first) and how many whole samples there are."""
    rows, headers = np.array(found.rows, dtype=int), np.array(found.headers)
    under = np.diff(np.append(np.searchsorted(rows, headers), len(rows)))  # rows below each header
    empty = np.flatnonzero(under == 0)
    if len(empty) and not (len(empty) == 1 and empty[0] == len(headers) - 1 and found.cut >= 0):
        raise found.error("a header without a row", int(headers[empty[0]]))
    repeated = len(headers) > 1 and under.max() == 1  # -r, or one domain only: the same rule serves both
    cut = found.cut >= 0 and not found.cut_opens
    if found.summaries:
        bounds = np.array(found.summaries)
        between = np.diff(np.append(np.searchsorted(headers, bounds), len(headers)))
        odd = np.flatnonzero((between != 1) if not repeated else (between == 0))
        if len(odd) and not (cut and odd[0] == len(bounds) - 1 and between[-1] == 0):
            expected = "one header under every line `xentop - HH:MM:SS`"
            raise found.error("a sample without its summary or its header", int(bounds[odd[0]]), expected)
        return np.searchsorted(bounds, rows, side="right") - 1, len(bounds) - cut
    if not repeated:
        return np.searchsorted(headers, rows, side="right") - 1, len(headers) - cut
    samples, seen, number, previous = np.full(len(rows), -1), set[str](), 0, ""
    above = headers[np.searchsorted(headers, rows) - 1].tolist()  # the header of each row
    for i in range(int(np.searchsorted(rows, headers[0])), len(rows)):
        name = found.names[i]
        if seen and (above[i] in found.apart or begins_sample(name, previous, seen)):
            seen.clear()
            number += 1
        seen.add(name)
        samples[i], previous = number, name
    if number + 1 < len(headers) - len(empty):
        found.info["repeat_header"] = "yes"
        return samples, number + 1 - (found.cut >= 0)
    return samples, number + 1 - (cut and not len(empty))  # below an empty header begins another sample


def _entities(found: Listing, samples: np.ndarray, keep: np.ndarray) -> tuple[list[str], np.ndarray]:
    """Names of the domains and which of them each row is; equal names in one sample are told apart by their order."""
    codes, unique = pd.factorize(np.array(found.names, dtype=object))
    key = samples * len(unique) + codes
    twice = pd.Series(key).duplicated().to_numpy() & keep
    names = [str(name) for name in unique]
    if twice.any():
        nth = pd.Series(key).groupby(key).cumcount().to_numpy()
        full = [f"{names[c]}#{n + 1}" if n else names[c] for c, n in zip(codes, nth, strict=True)]
        row = int(np.flatnonzero(twice)[0])
        twin = f"{found.names[row]!r} occurs twice in a sample (a name cut to ten characters)"
        found.warn(found.rows[row], f"{twin}; the later one is called #2, by its place in the list")
        codes, unique = pd.factorize(np.array(full, dtype=object))
        names = [str(name) for name in unique]
    return names, codes


def _records(
    found: Listing, values: np.ndarray, keep: np.ndarray, names: list[str], ids: np.ndarray, t: np.ndarray
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Records in file order, and the line of the file, from 1, on which each of them stands."""
    columns = found.columns[2:]
    there = ~np.isnan(values) & keep[:, None]
    row, column = np.nonzero(there)
    line = np.array(found.rows, dtype=np.int64)
    frame = record_table("", "domain", strings(names, ids[row]), strings(columns, column), t[row], values[there])
    owner = np.searchsorted(line, [detail[0] for detail in found.details]) - 1
    more, at = [], []
    seen: set[tuple[int, str, str, str]] = set()
    for own, (number, kind, device, name, digits) in zip(owner, found.details, strict=True):
        if not keep[own]:
            continue
        key = (int(own), kind, device, name)
        if key in seen:
            raise FormatError(f"{kind} {device} twice below one domain", file=found.file, line=number + 1)
        seen.add(key)
        value = float(digits)
        if value >= _BELOW_ZERO.get(name, _LIMIT):
            found.warn(number, f"{name} is below zero in disguise and was left out")
            continue
        more.append(("", kind, f"{names[ids[own]]}/{device}", name, t[own], value))
        at.append(number)
    if not more:
        return frame, line[row] + 1
    both = pd.concat([frame, pd.DataFrame(more, columns=list(frame.columns))], ignore_index=True)
    lines = np.concatenate([line[row], np.array(at, dtype=np.int64)])
    order = np.argsort(lines, kind="stable")
    return both.iloc[order].reset_index(drop=True), lines[order] + 1


def _capped(warnings: list[str], file: str) -> list[str]:
    more = len(warnings) - _WARNINGS_SHOWN
    return warnings if more <= 0 else [*warnings[:_WARNINGS_SHOWN], f"{file}: {more} more warnings of the same kinds"]


FORMAT = XentopFormat()
