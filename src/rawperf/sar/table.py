"""Rows of sar's tables, turned into records in one pass over all tables of a file."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from rawperf.core.errors import FormatError
from rawperf.rows import Codes, record_table
from rawperf.sar.headings import SINCE_BOOT, TableHeading
from rawperf.text import numbers, split_blanks, strings
from rawperf.words import WordOffsets

_WORD = re.compile(r"\S+")


@dataclass
class SarRows:
    """Rows of all tables of a file, or of a part of one; line numbers count from 0 at the part's
    beginning.
    """

    text: str = ""
    headings: list[TableHeading] = field(default_factory=list)
    heading_lines: list[int] = field(default_factory=list)
    heading_times: list[int] = field(default_factory=list)
    lines: Sequence[int] | NDArray[np.int64] = field(default_factory=list)  # of each row
    times: Sequence[int] | NDArray[np.int64] = field(default_factory=list)  # of day
    under: Sequence[int] | NDArray[np.int64] = field(
        default_factory=list
    )  # place of each row's heading
    bodies: list[str] = field(
        default_factory=list
    )  # behind the time in each row, where `words` does not say it
    words: WordOffsets | None = None  # of the part
    starts: NDArray[np.int64] | None = None  # number of each row's first word
    counts: NDArray[np.int64] | None = None  # how many words it has
    shifts: NDArray[np.int64] | None = None  # how many columns behind its first one it leaves empty
    line: int = 0  # lines of the file before the part
    carried: str | None = (
        None  # line of the headings that stand in a part before; their line numbers are negative
    )
    last: bool = True  # no part follows: only there a row may be cut
    marks: list[tuple[int, int, str]] = field(
        default_factory=list
    )  # line, time, comment; "" for restarts
    cut: int = -1  # line at which the file breaks off
    cut_time: int = -2  # its time of day; -1 if that is cut too, -2 if no table is hurt

    def body(self, row: int) -> str:
        """What stands behind the time in a row."""
        if self.words is None or self.starts is None:
            return self.bodies[row]
        begin, end = self.words.begin[self.starts[row]], self.words.line_end[self.lines[row]]
        return self.words.data[begin:end].decode()

    def printed(self, number: int) -> str:
        """A line; of a heading also where it stands in the part before."""
        if number < 0:
            return self.carried or ""
        return self.text.split("\n")[number] if self.words is None else self.words.line(number)

    def error(
        self,
        problem: str,
        row: int,
        file: str,
        remedy: str = "the line is damaged; remove its sample.",
        expected: str | None = None,
    ) -> FormatError:
        """The error of a row."""
        line = self.line + int(self.lines[row]) + 1
        return FormatError(
            problem, file=file, line=line, expected=expected, found=self.body(row), remedy=remedy
        )

    def distinct(self) -> tuple[list[TableHeading], NDArray[np.int64]]:
        """The headings, each once, and of each in `headings` which of them it is."""
        by_id = {
            id(heading): heading for heading in self.headings
        }  # a few, which are compared once
        numbers: dict[TableHeading, int] = {}
        codes = {key: numbers.setdefault(heading, len(numbers)) for key, heading in by_id.items()}
        return list(numbers), np.array(
            [codes[id(heading)] for heading in self.headings], dtype=np.int64
        )

    def split(self) -> tuple[pa.Array, NDArray[np.int64], NDArray[np.int64]]:
        """All words, and of each row the number of its first word and how many it has."""
        if self.words is not None and self.starts is not None and self.counts is not None:
            return self.words.array, self.starts, self.counts
        tokens, offsets = split_blanks(self.bodies)
        return tokens, offsets[:-1].astype(np.int64), np.diff(offsets).astype(np.int64)

    def comma(self) -> bool:
        """Whether numbers have a decimal comma, by the first rows."""
        if self.words is None:
            return any("," in body for body in self.bodies[:1000])
        return b"," in self.words.data and any(
            "," in self.body(row) for row in range(min(1000, len(self.lines)))
        )


def table_records(
    table: SarRows, t: np.ndarray, said: list[str], file: str
) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Records of all rows, which have the times `t`, and the line of the file, from 1, on which
    each of them stands.

    sysstat itself prints one value too few for a processor that is off: a row whose words stand
    exactly under the first columns, and which ends before the last, is left out, since nobody knows
    which of its values is missing. `said` gets a sentence on such rows, and on a file that breaks
    off.

    Raises `FormatError` at a row that does not fit its heading, holds what is no number, or a
    negative percentage.
    """
    tokens, starts, counts = table.split()
    under = np.array(table.under, dtype=int)
    distinct, heading_code = table.distinct()
    code = heading_code[under]
    fixed = np.array([h.fixed for h in distinct] or [0])[code]
    open_end = np.array([h.open_end for h in distinct] or [False])[code]
    wrong = np.flatnonzero((counts < fixed) | ((counts > fixed) & ~open_end))
    behind = len(counts) - table.last
    short = _printed_short(table, wrong[(counts < fixed)[wrong] & (wrong < behind)])
    wrong = np.setdiff1d(wrong, short)
    cut_row = (
        table.last and len(wrong) == 1 and wrong[0] == len(counts) - 1 and counts[-1] < fixed[-1]
    )
    if len(wrong) and not cut_row:
        first = int(wrong[0])
        expected = f"{fixed[first]} words under {' '.join(table.headings[under[first]].fields)}"
        raise table.error("a row does not fit its heading", first, file, expected=expected)
    keep = np.ones(len(counts), dtype=bool)
    if len(short):
        more = f", and {len(short) - 1} more such rows" if len(short) > 1 else ""
        number = table.line + table.lines[short[0]] + 1
        said.append(
            f"{file} line {number}: a value is missing in the row, which was left out{more}"
        )
    if table.cut >= 0 or cut_row:
        if cut_row:
            table.cut, table.cut_time = int(table.lines[-1]), int(table.times[-1])
        keep = _whole(table, t)
        number = table.line + table.cut + 1
        said.append(
            f"{file} line {number}: the file breaks off; the sample that it breaks off in was left out"
        )

    keep[short] = False
    reports, kinds, names, fields = Codes(), Codes(), Codes(), Codes()
    since_boot = np.array(table.heading_times, dtype=int)[under] == np.array(table.times, dtype=int)
    rows, places, field_codes = [], [], []
    own = starts if table.shifts is None else starts - table.shifts
    entity = np.full(len(counts), names[""])
    plain, boot, kind = (np.zeros(len(distinct), dtype=int) for _ in range(3))
    for number, heading in enumerate(distinct):
        mine = np.flatnonzero((code == number) & keep)
        plain[number], boot[number] = reports[heading.report], reports[heading.report + SINCE_BOOT]
        kind[number] = kinds[heading.kind]
        rows.append(np.repeat(mine, len(heading.numeric)))
        places.append((own[mine][:, None] + np.array(heading.numeric)).ravel())
        field_codes.append(np.tile([fields[name] for name in heading.fields], len(mine)))
        if heading.entity == 0:
            words = pc.dictionary_encode(tokens.take(pa.array(starts[mine])))
            known = np.array([names[word] for word in words.dictionary.to_pylist()], dtype=int)
            entity[mine] = known[words.indices.to_numpy()] if len(mine) else entity[mine]
        elif heading.entity == -1:
            ends = (
                tokens.slice(starts[r] + heading.fixed, counts[r] - heading.fixed).to_pylist()
                for r in mine
            )
            entity[mine] = [names[" ".join(end)] for end in ends]
    row = np.concatenate([*rows, np.zeros(0, dtype=int)])
    order = np.argsort(row, kind="stable") if len(distinct) > 1 else np.arange(len(row))
    row = row[order]
    digits = tokens.take(pa.array(np.concatenate([*places, np.zeros(0, dtype=int)])[order]))
    if table.comma():
        digits = pc.replace_substring(digits, ",", ".")  # decimal comma
    values, bad = numbers(digits)
    if bad >= 0:
        remedy = "collect without --human, or remove the damaged sample."
        raise table.error("a value is not a number", int(row[bad]), file, remedy)
    field_code = np.concatenate([*field_codes, np.zeros(0, dtype=int)])[order]
    below = np.flatnonzero(
        (values < 0) & np.array([name.startswith("%") for name in fields] or [False])[field_code]
    )
    if len(below):
        raise table.error("a negative percentage", int(row[below[0]]), file)
    report = strings(list(reports), np.where(since_boot, boot[code], plain[code])[row])
    field_of = strings(list(fields), field_code)
    kind_of, entity_of = strings(list(kinds), kind[code][row]), strings(list(names), entity[row])
    frame = record_table(report, kind_of, entity_of, field_of, t[row], values)
    return frame, np.array(table.lines, dtype=np.int64)[row] + table.line + 1


def _printed_short(table: SarRows, rows: np.ndarray) -> np.ndarray:
    """Those of the rows whose words end where the words of their heading do, from the first on."""

    def ends(number: int) -> list[int]:
        return [word.end() for word in _WORD.finditer(table.printed(number))]

    def fits(row: int) -> bool:
        own = ends(table.lines[row])
        return ends(table.heading_lines[table.under[row]])[: len(own)] == own

    return np.array([row for row in rows.tolist() if fits(row)], dtype=int)


def _whole(table: SarRows, t: np.ndarray) -> np.ndarray:
    """Which rows are left when the table that the file breaks off in loses the sample that is not
    whole.
    """
    keep = np.ones(len(t), dtype=bool)
    if not len(t) or table.cut_time == -2:
        return keep
    last = (np.array(table.under) == table.under[-1]) & (t == t[-1])
    if (
        table.cut_time == -1
    ):  # can't tell whether the cut line belongs to the last sample: compare with the one before
        earlier = t[np.array(table.under) == table.under[-1]]
        earlier = earlier[earlier < t[-1]]
        return keep if len(earlier) and (earlier == earlier[-1]).sum() == last.sum() else ~last
    return ~last if table.cut_time == table.times[-1] else keep
