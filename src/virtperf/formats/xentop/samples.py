"""Which sample and which domain each row of a xentop listing is of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from virtperf.formats.xentop.lines import Listing, Seen, begins_sample


def numbered(found: Listing) -> tuple[NDArray[np.int64], int]:
    """Sample number of each row, from 0 in this part of the file (-1 before the first), and how many are whole.

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
            raise found.error("a sample without its summary or its header", int(bounds[odd[0]]), expected)
        return np.searchsorted(bounds, rows, side="right") - 1, len(bounds) - cut
    if not repeated:
        return np.searchsorted(headers, rows, side="right") - 1, len(headers) - cut
    samples, number = _by_names(found, headers)
    if "repeat_header" in seen.info or number + 1 < len(headers) - len(empty):
        seen.info["repeat_header"] = "yes"
        return samples, number + 1 - (found.cut >= 0)
    # below an empty header begins another sample
    return samples, number + 1 - (cut and not len(empty))


def _by_names(found: Listing, headers: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Sample of each row, and the last one's number, where every row has a header of its own."""
    rows, names = found.rows, found.names
    samples, seen, number, previous = np.full(len(rows), -1), set[str](), 0, ""
    above = headers[np.searchsorted(headers, rows) - 1].tolist() if len(headers) else []  # the header of each row
    for i in range(int(np.searchsorted(rows, headers[0])) if len(headers) else len(rows), len(rows)):
        name = names[found.who[i]]
        if seen and (above[i] in found.apart or begins_sample(name, previous, seen)):
            seen.clear()
            number += 1
        seen.add(name)
        samples[i], previous = number, name
    return samples, number


def behind(found: Listing, row: int) -> int:
    """How many bytes stand from the header above a row on, the blank lines above it included."""
    header = found.headers[int(np.searchsorted(found.headers, found.rows[row])) - 1]
    while header and found.words.first[header - 1] == found.words.first[header]:
        header -= 1
    return len(found.words.data) - int(found.words.line_begin[header])


def entities(
    found: Listing, samples: NDArray[np.int64], keep: NDArray[np.bool_]
) -> tuple[Sequence[str], NDArray[np.int64]]:
    """Names of the domains and which of them each row is; equal names in one sample are told apart by their order."""
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
    found.seen.said.once("twin", f"{place}: {twin}; the later one is called #2, by its place in the list")
    codes, unique = pd.factorize(np.array(full, dtype=object))
    return [str(name) for name in unique], codes


def without_difference(
    samples: NDArray[np.int64], ids: NDArray[np.int64], keep: NDArray[np.bool_], cpu: NDArray[np.float64],
    names: Sequence[str], seen: Seen,
) -> NDArray[np.bool_]:  # fmt: skip
    """Which rows have a CPU(%) of 0.0 because xentop knew no sample of the domain before.

    In a log whose beginning was cut off the first sample has differences; any other value than 0.0 tells it.
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
