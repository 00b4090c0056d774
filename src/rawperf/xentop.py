"""Reader of xentop batch output and screen captures (also ``xm top``, ``xl top``), from Xen 3.0.2.

Source: ``xentop.c`` in the Xen source tree, tools/xenstat/xentop until 4.13 and tools/xentop since.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.base import build_records
from rawperf.core.errors import FormatError
from rawperf.listing import Listing, ListingFormat, ListingPart, RecordsWithLines
from rawperf.text import (
    clock_seconds,
    parse_numbers,
    recode_utf8,
    take_strings,
    unwrap_midnight,
)

COLUMNS_19 = (
    "NAME",
    "STATE",
    "CPU(sec)",
    "CPU(%)",
    "MEM(k)",
    "MEM(%)",
    "MAXMEM(k)",
    "MAXMEM(%)",
    "VCPUS",
    "NETS",
    "NETTX(k)",
    "NETRX(k)",
    "VBDS",
    "VBD_OO",
    "VBD_RD",
    "VBD_WR",
    "VBD_RSECT",
    "VBD_WSECT",
    "SSID",
)

_STATE_LETTERS = b"dsbcpr"
SUMMARY = "xentop - "
_SUMMARY = re.compile(r"xentop - (\S+) +Xen (.*)")
_MEMORY = re.compile(
    r"Mem: +0*(\d{1,20})k total,.* free +CPUs: 0*(\d{1,9}) @ 0*(\d{1,9})MHz", re.ASCII
)
_SKIPPED = re.compile(
    r"\d+ domains: .*shutdown"  # counts of states
    r"|[+|│┌├└].*|Physical CPU Usage:|No PCPU data available"  # the table of -p
    r"|Tmem:.*"
    r"|Delay  Networks .*Quit"  # the key menu of the screen
)
_VCPU = re.compile(r"(?:VCPUs\(sec\):)?((?: *\d{1,6}: +\d+s)*)", re.ASCII)
_VCPU_ITEM = re.compile(r"(\d{1,6}): +(\d+)s", re.ASCII)
_NET = re.compile(
    r"Net(\d{1,6}) RX: +(\d+)bytes +(\d+)pkts +(\d+)err +(\d+)drop +TX: +(\d+)bytes +(\d+)pkts +(\d+)err +(\d+)drop",
    re.ASCII,
)
_VBD = re.compile(
    r"VBD ((?:[A-Za-z]\w* +)?-?\d{1,10}) +(?:\[ *[0-9a-f]+: *[0-9a-f]+\] +)?"
    r"OO: +(\d+|-) +RD: +(\d+|-) +WR: +(\d+|-)(?: +RSECT: +(\d+|-) +WSECT: +(\d+|-))?",
    re.ASCII,
)
NET_FIELDS = tuple(
    f"{way} {what}" for way in ("RX", "TX") for what in ("bytes", "pkts", "err", "drop")
)
VBD_FIELDS = ("OO", "RD", "WR", "RSECT", "WSECT")


@dataclass
class ListingLines:
    """Classified lines of a part of a file; line numbers count from 0 at the part's beginning."""

    part: ListingPart
    parser_state: XentopListing
    # by domain row: line; index of the state word, between name and values; index into `names`
    rows: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    state_words: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    name_codes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    names: list[str] = field(default_factory=list)
    headers: list[int] = field(default_factory=list)  # lines of the column headings
    separated_headers: set[int] = field(default_factory=set)  # headings below a blank line
    summaries: list[int] = field(default_factory=list)  # lines "xentop - HH:MM:SS"
    clock: list[int] = field(default_factory=list)  # their times, in seconds since midnight
    # rows of -v, -n and -x: line, kind, device, field, digits
    details: list[tuple[int, str, str, str, str]] = field(default_factory=list)
    truncated_line: int = -1  # truncated line
    # whether it starts a sample, so that the one before it is whole
    truncated_line_opens_sample: bool = False

    def error(
        self,
        problem: str,
        line: int,
        expected: str | None = None,
        found: str | None = None,
        remedy: str = "the file is damaged; remove that sample.",
    ) -> FormatError:
        """Build the error of a line."""
        number = self.part.lines_before + line + 1
        return self.parser_state.error(problem, number, expected, found, remedy)

    def warn(self, line: int, sentence: str) -> None:
        """Add a warning on a line."""
        self.parser_state.warnings.add(self.part.lines_before + line + 1, sentence)

    def tail(self, row: int) -> str:
        """Text after the state in a domain row."""
        part = self.part
        begin, end = part.end[self.state_words[row]], part.line_end[self.rows[row]]
        return part.data[begin:end].decode().strip()


def classify_lines(part: ListingPart, state: XentopListing) -> ListingLines:
    """Classify the lines of a part of a file; raises `FormatError` at any that is not xentop's."""
    listing = ListingLines(part, state)
    _find_domain_rows(listing)
    is_row = np.zeros(len(part.line_end) + 1, dtype=bool)
    is_row[listing.rows] = True
    end = len(part.line_end) - 1
    is_complete = not part.is_last or not part.data.rpartition(b"\n")[2].strip()
    # last line that is not xentop's, last detail row, last row of vCPUs
    unknown_line = last_detail = last_vcpus = -2
    blank_lines = set[int]()
    for i in np.flatnonzero(~is_row[:-1]).tolist():
        text = part.line(i)
        key = text.strip()
        if key in state.headings:
            listing.headers.append(i)
        elif not key:
            blank_lines.add(i)
        elif _SKIPPED.fullmatch(key):
            continue
        elif i == end and not is_complete:
            listing.truncated_line = i
            timed = state.has_times or bool(listing.summaries)
            listing.truncated_line_opens_sample = key.startswith(SUMMARY if timed else "NAME")
        elif key.startswith("NAME ") and key.split()[1] == "STATE":
            _check_columns(tuple(key.split()), listing, i)
            state.headings.add(key)
            listing.headers.append(i)
        elif (
            i
            and (is_row[i - 1] or last_detail == i - 1)
            and _is_detail(key, listing, i, last_vcpus == i - 1)
        ):
            last_detail = i
            last_vcpus = i if not key.startswith(("Net", "VBD")) else last_vcpus
        elif not _is_summary(key, listing, i):
            if state.columns or state.has_times or listing.summaries:
                expected = "a domain's row, a header, a summary or a row of -v, -n or -x"
                raise listing.error(
                    "not a line of xentop", i, expected, text, "remove the damaged sample."
                )
            unknown_line = i
    listing.separated_headers = {header for header in listing.headers if header - 1 in blank_lines}
    if unknown_line >= 0:
        listing.warn(unknown_line, "the text before the first header was skipped")
    if not is_complete and listing.headers and len(listing.rows) and listing.rows[-1] == end:
        # a row of full length may lack only its line end
        header = part.line(listing.headers[-1])
        listing.truncated_line = end if len(part.line(end).rstrip()) < len(header.rstrip()) else -1
    return listing


def _find_domain_rows(listing: ListingLines) -> None:
    """Find the domain rows by their state, followed by a digit.

    Names may contain blanks and be longer than their column, so the state is the only reliable
    mark.
    """
    part = listing.part
    states = np.flatnonzero(part.end - part.begin == len(_STATE_LETTERS))
    for k, letter in enumerate(_STATE_LETTERS):
        byte = part.characters[part.begin[states] + k]
        states = states[(byte == letter) | (byte == ord("-"))]
    states = states[states + 1 < len(part.begin)]
    line_numbers = np.searchsorted(part.line_begin, part.begin[states], side="right") - 1
    # at least one blank precedes a state; the first state in a line counts
    is_row = (part.first_word[line_numbers + 1] > states + 1) & part.is_digit(
        part.begin[states + 1]
    )
    is_row &= part.begin[states] > part.line_begin[line_numbers]
    states, line_numbers = states[is_row], line_numbers[is_row]
    is_first = np.diff(line_numbers, prepend=-1) > 0
    listing.state_words, listing.rows = states[is_first], line_numbers[is_first]
    opening = part.first_word[listing.rows]
    unnamed = np.flatnonzero(listing.state_words == opening)
    if len(unnamed):
        line = int(listing.rows[unnamed[0]])
        raise listing.error("a row without the name of its domain", line, found=part.line(line))
    if (listing.state_words - opening == 1).all():
        coded = part.words.take(pa.array(opening)).dictionary_encode()
        listing.names, listing.name_codes = (
            coded.dictionary.to_pylist(),
            coded.indices.to_numpy().astype(np.int64),
        )
        return
    begins, ends = (
        part.line_begin[listing.rows].tolist(),
        part.begin[listing.state_words].tolist(),
    )
    names = [part.data[begin:end].decode().strip() for begin, end in zip(begins, ends, strict=True)]
    listing.name_codes, unique = pd.factorize(np.array(names, dtype=object))
    listing.names = [str(name) for name in unique]


def _check_columns(columns: tuple[str, ...], listing: ListingLines, line: int) -> None:
    printed = " ".join(columns)
    previous = listing.parser_state.columns
    if previous and columns != previous:
        remedy = "keep the listings of two versions in two files."
        problem, expected = "the header has other columns than the first one", " ".join(previous)
        raise listing.error(problem, line, expected, printed, remedy)
    unknown = [name for name in columns if name not in COLUMNS_19]
    if unknown or len(set(columns)) != len(columns) or len(columns) < 3:
        problem = (
            "a column that no version of xentop prints"
            if unknown
            else "a header with a duplicate or missing column"
        )
        expected, remedy = (
            f"columns among {' '.join(COLUMNS_19)}",
            "the file is truncated or comes from another tool.",
        )
        raise listing.error(problem, line, expected, " ".join(unknown) or printed, remedy)
    listing.parser_state.columns = columns


def _is_summary(key: str, listing: ListingLines, line: int) -> bool:
    if match := _SUMMARY.fullmatch(key):
        listing.summaries.append(line)
        listing.clock.append(
            clock_seconds(
                match[1], file=listing.parser_state.file, line=listing.part.lines_before + line + 1
            )
        )
        listing.parser_state.facts.setdefault("xen_version", match[2].strip())
        return True
    if match := _MEMORY.fullmatch(key):
        for name, digits in zip(("mem_total_k", "cpus", "cpu_mhz"), match.groups(), strict=True):
            if (listing.summaries or listing.parser_state.has_times) and digits.strip("0"):
                listing.parser_state.facts.setdefault(name, digits)
        return True
    return False


def _is_detail(line: str, listing: ListingLines, number: int, is_below_vcpus: bool) -> bool:
    if (match := _VCPU.fullmatch(line)) and (is_below_vcpus or line.startswith("VCPUs")):
        listing.details += [
            (number, "vcpu", vcpu, "VCPUs(sec)", s) for vcpu, s in _VCPU_ITEM.findall(match[1])
        ]
        return True
    for kind, pattern, fields in (("net", _NET, NET_FIELDS), ("vbd", _VBD, VBD_FIELDS)):
        if match := pattern.fullmatch(line):
            device, *digits = match.groups()
            device = " ".join(device.split())
            listing.details += [
                (number, kind, device, name, d)
                for name, d in zip(fields, digits, strict=True)
                if d is not None and d != "-"  # "-" stands for a device in error
            ]
            return True
    return False


# xentop subtracts and sums unsigned 64-bit integers, so a counter reset underflows to almost 2^64
# of its raw unit. Anything from half of that on is invalid. CPU(%) is bounded by the 4095
# processors that Xen supports.
_UNDERFLOW_LIMITS = {
    "CPU(sec)": 2.0**63 / 1e9,
    "VCPUs(sec)": 2.0**63 / 1e9,
    "CPU(%)": 4095 * 100.0,
} | dict.fromkeys(("MEM(k)", "MAXMEM(k)", "NETTX(k)", "NETRX(k)"), 2.0**53)
_LIMIT = 2.0**63
_NON_NUMERIC = {
    "no": ("MAXMEM(k)",),  # no limit
    "n/a": ("MAXMEM(%)",),
    "-": ("VBD_OO", "VBD_RD", "VBD_WR", "VBD_RSECT", "VBD_WSECT"),
}
_REMEDY = "the line is damaged; remove its sample."


def number_samples(listing: ListingLines) -> tuple[NDArray[np.int64], int]:
    """Number each row's sample, from 0 in this part (-1 before the first); count whole samples.

    Raises `FormatError` at a header without a row, and a sample without its summary or its header.
    """
    rows, headers, state = listing.rows, np.array(listing.headers, dtype=int), listing.parser_state
    rows_per_header = np.diff(
        np.append(np.searchsorted(rows, headers), len(rows))
    )  # rows below each header
    empty = np.flatnonzero(rows_per_header == 0)
    if len(empty) and not (
        len(empty) == 1 and empty[0] == len(headers) - 1 and listing.truncated_line >= 0
    ):
        raise listing.error("a header without a row", int(headers[empty[0]]))
    state.has_shared_headers = state.has_shared_headers or bool(
        len(rows_per_header) and rows_per_header.max() > 1
    )
    # -r, or only one domain
    repeated = not state.has_shared_headers and (len(headers) > 1 or state.samples > 0)
    cut = listing.truncated_line >= 0 and not listing.truncated_line_opens_sample
    if state.has_times:
        bounds = np.array(listing.summaries, dtype=int)
        between = np.diff(np.append(np.searchsorted(headers, bounds), len(headers)))
        odd = np.flatnonzero((between != 1) if not repeated else (between == 0))
        if len(odd) and not (cut and odd[0] == len(bounds) - 1 and between[-1] == 0):
            expected = "one header under every line `xentop - HH:MM:SS`"
            raise listing.error(
                "a sample without its summary or its header", int(bounds[odd[0]]), expected
            )
        return np.searchsorted(bounds, rows, side="right") - 1, len(bounds) - cut
    if not repeated:
        return np.searchsorted(headers, rows, side="right") - 1, len(headers) - cut
    samples, number = _number_samples_by_name(listing, headers)
    if "repeat_header" in state.facts or number + 1 < len(headers) - len(empty):
        state.facts["repeat_header"] = "yes"
        return samples, number + 1 - (listing.truncated_line >= 0)
    # an empty header starts another sample
    return samples, number + 1 - (cut and not len(empty))


def _number_samples_by_name(
    listing: ListingLines, headers: NDArray[np.int64]
) -> tuple[NDArray[np.int64], int]:
    """Sample number of each row and of the last sample, if every row has its own header."""
    rows, samples = listing.rows, np.full(len(listing.rows), -1)
    begin = int(np.searchsorted(rows, headers[0])) if len(headers) else len(rows)
    above = headers[np.searchsorted(headers, rows[begin:]) - 1].tolist()
    seen, number, previous = set[str](), 0, ""
    for i, header in enumerate(above, start=begin):
        name = listing.names[listing.name_codes[i]]
        # batch mode sorts by name, ignoring case (-z puts Domain-0 first): a step back starts
        # another sample too
        steps_back = name.lower() < previous.lower() and previous != "Domain-0"
        if seen and (header in listing.separated_headers or name in seen or steps_back):
            seen.clear()
            number += 1
        seen.add(name)
        samples[i], previous = number, name
    return samples, number


def bytes_from_header(listing: ListingLines, row: int) -> int:
    """Number of bytes from the header above a row, including blank lines before it, to the end."""
    header = listing.headers[int(np.searchsorted(listing.headers, listing.rows[row])) - 1]
    while header and listing.part.first_word[header - 1] == listing.part.first_word[header]:
        header -= 1
    return len(listing.part.data) - int(listing.part.line_begin[header])


def encode_entities(
    listing: ListingLines, samples: NDArray[np.int64], is_kept: NDArray[np.bool_]
) -> tuple[Sequence[str], NDArray[np.int64]]:
    """Factorize the domain names; equal names in one sample are numbered in order."""
    codes, names = listing.name_codes, listing.names
    key = samples * len(names) + codes
    is_duplicate = pd.Series(key).duplicated().to_numpy() & is_kept
    if not is_duplicate.any():
        return names, codes
    occurrence = pd.Series(key).groupby(key).cumcount().to_numpy()
    numbered_names = [
        f"{names[c]}#{n + 1}" if n else names[c] for c, n in zip(codes, occurrence, strict=True)
    ]
    row = int(np.flatnonzero(is_duplicate)[0])
    problem = f"{names[codes[row]]!r} occurs twice in a sample (a name truncated to ten characters)"
    sentence = f"{problem}; the later one is named #2, by its position in the list"
    number = listing.part.lines_before + int(listing.rows[row]) + 1
    listing.parser_state.warnings.add_once("twin", number, sentence)
    codes, unique = pd.factorize(np.array(numbered_names, dtype=object))
    return [str(name) for name in unique], codes


def missing_cpu_mask(
    samples: NDArray[np.int64],
    ids: NDArray[np.int64],
    is_kept: NDArray[np.bool_],
    cpu: NDArray[np.float64],
    names: Sequence[str],
    state: XentopListing,
) -> NDArray[np.bool_]:
    """Mask of rows with a CPU(%) of 0.0 because xentop had no previous sample of the domain.

    The first sample of a log with a truncated beginning has differences; any other value than 0.0
    shows it.
    """
    zero = np.flatnonzero(cpu == 0)
    key = samples * len(names) + ids
    first = samples[zero] == samples[is_kept].min()
    is_new = ~np.isin(key[zero] - len(names), key[is_kept]) & ~first
    if not state.samples:
        has_differences = bool((cpu[is_kept & (samples == samples[is_kept].min())] > 0).any())
        is_new |= first & (not has_differences)
    else:
        was_present = np.array([name in state.previous_domains for name in names], dtype=bool)
        is_new |= first & ~was_present[ids[zero]]
    is_missing = np.zeros(len(cpu), dtype=bool)
    is_missing[zero[is_new]] = True
    return is_missing


def parse_values(listing: ListingLines, is_last: bool) -> NDArray[np.float64]:
    """Numbers of the domain rows, shape (rows, columns - 2); NaN if the tool prints a word instead.

    A truncated row at the end of the file is removed from `listing`. Raises `FormatError` at a row
    with too many or too few values, or an invalid number.
    """
    part, columns = listing.part, listing.parser_state.columns[2:]
    limit_words = _second_words_of_no_limit(listing)
    _check_row_lengths(listing, limit_words, is_last)
    value_words = (listing.state_words[:, None] + np.arange(1, len(columns) + 1)).ravel()
    if len(limit_words):
        is_value = np.zeros(len(part.begin) + 1, dtype=np.int8)
        is_value[listing.state_words + 1] = 1
        is_value[part.first_word[listing.rows + 1]] -= 1
        is_in_row = np.cumsum(is_value[:-1], dtype=np.int8)
        is_in_row[limit_words] = 0
        value_words = np.flatnonzero(is_in_row)
    values = _parse_numeric_words(listing, value_words)
    limits = np.array([_UNDERFLOW_LIMITS.get(name, _LIMIT) for name in columns])
    large = values >= limits
    for row, column in np.argwhere(large) if large.any() else ():
        name, text = (
            listing.names[listing.name_codes[row]],
            part.words[int(value_words[row * len(columns) + column])].as_py(),
        )
        sentence = (
            f"{columns[column]} of {name!r} is an unsigned underflow ({text}) and was left out"
        )
        listing.warn(int(listing.rows[row]), sentence)
    values[large] = np.nan
    return values


def _second_words_of_no_limit(listing: ListingLines) -> NDArray[np.int64]:
    """Indices of the words "limit" in domain rows: "no limit" is two words in one column."""
    part = listing.part
    if not len(listing.rows):
        return np.zeros(0, dtype=np.int64)
    no = np.flatnonzero(part.characters[part.begin[:-1]] == ord("n"))
    no = no[(part.end[no] - part.begin[no] == 2) & (part.begin[no + 1] - part.end[no] == 1)]
    no = no[part.starts_with(part.begin[no], b"no limit")]
    row = np.searchsorted(listing.state_words, no, side="right") - 1
    is_inside = (row >= 0) & (no + 1 < part.first_word[listing.rows + 1][row])
    return no[is_inside] + 1


def _check_row_lengths(
    listing: ListingLines, limit_words: NDArray[np.int64], is_last: bool
) -> None:
    """Check the numbers of values of the rows, and remove a truncated row; see `parse_values`."""
    part, n_columns = listing.part, len(listing.parser_state.columns) - 2
    counts = part.first_word[listing.rows + 1] - listing.state_words - 1
    row_of_limit = np.searchsorted(listing.state_words, limit_words, side="right") - 1
    counts = counts - np.bincount(row_of_limit, minlength=len(counts))
    mismatched = np.flatnonzero(counts != n_columns)
    if not len(mismatched):
        return
    row = int(mismatched[0])
    if is_last and row == len(counts) - 1 and counts[row] < n_columns:
        if listing.truncated_line < 0:
            listing.truncated_line = int(listing.rows[row])
        listing.rows = listing.rows[:-1]
        listing.state_words = listing.state_words[:-1]
        listing.name_codes = listing.name_codes[:-1]
        return
    raise listing.error(
        "a row does not fit its header",
        int(listing.rows[row]),
        f"{n_columns} values after the state",
        f"{counts[row]}: {listing.tail(row)}",
        _REMEDY,
    )


def _parse_numeric_words(
    listing: ListingLines, value_words: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Parse the words of all values, shape (rows, columns - 2); NaN for the words of
    `_NON_NUMERIC`.
    """
    part, columns = listing.part, listing.parser_state.columns[2:]
    first_bytes = part.characters[part.begin[value_words]]
    non_numeric = np.flatnonzero(first_bytes - np.uint8(ord("0")) > 9)
    tokens = part.words.take(pa.array(value_words))
    invalid = -1
    if len(non_numeric):
        texts = tokens.take(pa.array(non_numeric)).dictionary_encode()
        allowed = np.array(
            [
                [name in _NON_NUMERIC.get(text, ()) for name in columns]
                for text in texts.dictionary.to_pylist()
            ]
        )
        is_allowed = allowed[texts.indices.to_numpy(), non_numeric % len(columns)]
        invalid = -1 if is_allowed.all() else int(non_numeric[np.argmin(is_allowed)])
        mask = np.zeros(len(value_words), dtype=bool)
        mask[non_numeric] = True
        tokens = pc.if_else(pa.array(mask), "0", tokens)
    values, unreadable = parse_numbers(tokens)
    for position in (invalid, unreadable):
        if position >= 0:
            row = position // len(columns)
            problem = f"{columns[position % len(columns)]} is not a number"
            raise listing.error(
                problem, int(listing.rows[row]), found=listing.tail(row), remedy=_REMEDY
            )
    values[non_numeric] = np.nan
    return values.reshape(-1, len(columns))


def listing_records(
    listing: ListingLines,
    values: NDArray[np.float64],
    is_kept: NDArray[np.bool_],
    entity_names: Sequence[str],
    entity_codes: NDArray[np.int64],
    t: NDArray[np.float64],
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Records in file order, and the line, from 1, of each."""
    columns = listing.parser_state.columns[2:]
    has_value = np.flatnonzero((~np.isnan(values) & is_kept[:, None]).ravel())
    row = has_value // len(columns)
    column = has_value - row * len(columns)
    line = listing.rows
    entities, fields = take_strings(entity_names, entity_codes[row]), take_strings(columns, column)
    frame = build_records("", "domain", entities, fields, t[row], values.ravel()[has_value])
    owner_rows = np.searchsorted(line, [detail[0] for detail in listing.details]) - 1
    detail_rows, detail_lines = [], []
    seen: set[tuple[int, str, str, str]] = set()
    for owner_row, (number, kind, device, name, digits) in zip(
        owner_rows, listing.details, strict=True
    ):
        if not is_kept[owner_row]:
            continue
        key = (int(owner_row), kind, device, name)
        if key in seen:
            problem = f"{kind} {device} occurs twice below one domain"
            raise listing.parser_state.error(problem, listing.part.lines_before + number + 1)
        seen.add(key)
        value = float(digits)
        if value >= _UNDERFLOW_LIMITS.get(name, _LIMIT):
            listing.warn(number, f"{name} is an unsigned underflow and was left out")
            continue
        detail_rows.append(
            (
                "",
                kind,
                f"{entity_names[entity_codes[owner_row]]}/{device}",
                name,
                t[owner_row],
                value,
            )
        )
        detail_lines.append(number)
    if not detail_rows:
        return frame, line[row] + listing.part.lines_before + 1
    combined = pd.concat(
        [frame, pd.DataFrame(detail_rows, columns=list(frame.columns))], ignore_index=True
    )
    lines = np.concatenate([line[row], np.array(detail_lines, dtype=np.int64)])
    order = np.argsort(lines, kind="stable")
    return combined.iloc[order].reset_index(drop=True), lines[order] + listing.part.lines_before + 1


class XentopListing(Listing):
    """Samples of xentop; each part ends with one.

    Records have ``entity_kind`` ``domain`` (and ``vcpu``, ``net``, ``vbd`` with entity
    ``domain/device`` if the listing was made with -v, -n or -x) and the printed headings as fields.
    A CPU(%) of 0.0 has no record in a sample if the previous one lacks the domain, because xentop
    prints it if there is no difference.

    Refused are a line that xentop does not print, a row with too many or too few values, and a file
    without a sample.
    """

    name = "xentop"
    title = "xentop batch output (Xen)"
    clock = "sample"

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self.columns: tuple[str, ...] = ()  # headings in order, NAME and STATE included
        self.headings: set[str] = set()  # heading lines
        self.facts: dict[str, str] = {}
        self.has_times = False  # samples begin with lines "xentop - HH:MM:SS"
        self.has_shared_headers = False  # a header has several rows, so -r was not given
        self.samples = 0  # number of samples
        self.previous_domains: set[str] = set()  # domains of the last sample
        self.time_of_day = np.nan  # seconds since midnight of the last sample
        self.days = 0.0  # seconds that midnights add to it

    def cut(self, lines: bytes, lines_before: int) -> int:
        """Cut before the last sample.

        If each row has its own header, only the names of the domains separate samples.
        """
        end = self._find_last_sample(lines)
        if not end or self.has_shared_headers or self.has_times:
            return end
        parser_state = copy.deepcopy(self)
        part = ListingPart(recode_utf8(lines[:end])[0], lines_before, False)
        listing = classify_lines(part, parser_state)
        if not parser_state.columns:
            return 0
        if listing.summaries:
            return end
        samples, count = number_samples(listing)
        if parser_state.has_shared_headers:
            return end
        return end - bytes_from_header(listing, int(np.argmax(samples == count - 1)))

    def _find_last_sample(self, lines: bytes) -> int:
        """Offset of the last sample, or the last header, in whole lines; 0 if unknown."""
        if self.has_times or (not self.has_shared_headers and SUMMARY.encode() in lines):
            return lines.rfind(b"\n" + SUMMARY.encode()) + 1
        # too few to tell whether each row has a header
        if not self.has_shared_headers and lines.count(b"STATE ") < 3:
            return 0
        end = len(lines)
        while (end := lines.rfind(b"STATE ", 0, end)) > 0:
            begin = lines.rfind(b"\n", 0, end) + 1
            if lines[begin:end].strip() == b"NAME":
                while lines[:begin].endswith(b"\n\n"):  # the blank line belongs to the header
                    begin -= 1
                return begin
        return 0

    def parse(self, part: ListingPart) -> RecordsWithLines:
        listing = classify_lines(part, self)
        if not self.columns:
            raise self.error(
                "no xentop header in the file",
                1,
                "a line with NAME STATE CPU(sec) ...",
                part.data[:60].decode("utf-8", "replace"),
                "collect with `xentop -b`.",
            )
        self.has_times = self.has_times or bool(listing.summaries)
        values = parse_values(listing, part.is_last)
        samples, count = number_samples(listing)
        is_kept = samples >= 0
        if not is_kept.all():
            listing.warn(
                int(listing.rows[0]), "rows before the first complete sample were left out"
            )
        if listing.truncated_line >= 0:
            is_kept &= samples < count
            listing.warn(
                listing.truncated_line, "the file is truncated; its last sample was left out"
            )
        if not is_kept.any() and not self.samples:
            raise listing.error(
                "no complete sample in the file",
                max(listing.truncated_line, 0),
                remedy="let the tool run until its second sample is complete.",
            )
        names, ids = encode_entities(listing, samples, is_kept)
        columns = self.columns[2:]
        if "CPU(%)" in columns and is_kept.any():
            cpu = values[:, columns.index("CPU(%)")]
            cpu[missing_cpu_mask(samples, ids, is_kept, cpu, names, self)] = np.nan
        t = self._times(listing, count)
        if is_kept.any():
            self.previous_domains = {
                names[i] for i in np.unique(ids[is_kept & (samples == samples[is_kept].max())])
            }
        self.samples += count
        self.info = {
            "columns": str(len(self.columns)),
            "summary": "yes" if self.has_times else "no",
            **self.facts,
        }
        return listing_records(listing, values, is_kept, names, ids, t[samples])

    def _times(self, listing: ListingLines, count: int) -> NDArray[np.float64]:
        """Times of the samples of a part, of which `count` are whole, and of one more."""
        if not self.has_times:
            return self.samples + np.arange(count + 1, dtype=float)
        self.clock, seconds = "time-of-day", np.array(listing.clock, dtype=float)
        t, set_back = unwrap_midnight(seconds, self.time_of_day, self.days)
        for i in set_back[set_back < count]:
            listing.warn(listing.summaries[i], "the clock was set back")
        if count > 0:
            self.time_of_day, self.days = seconds[count - 1], t[count - 1] - seconds[count - 1]
        return t


FORMAT = ListingFormat(XentopListing)
