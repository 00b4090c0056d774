"""JSON documents and delimited rows of result files, with the line of each value for errors."""

from __future__ import annotations

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rawperf.core.errors import FormatError
from rawperf.json_lines import SURROGATE, first_line, parse_document
from rawperf.text import ONE_NUMBER, decode

NAMES = frozenset(
    {
        "time",
        "cpu_time",
        "throughput",
        "bandwidth",
        "latency",
        "response_time",
        "memory",
        "allocations",
        "failures",
        "failure_rate",
    }
)
"""Names of quantities that have one meaning in all formats."""
ROUNDING = 1e-4
"""Largest relative difference between a mean that a file prints and that of its own values."""
DAMAGED = "the file was changed or damaged: collect it again."
"""Remedy where the numbers of a file contradict each other."""
_MAX_DIGITS = 400
"""Longest number that is converted: Python takes long for very long ones."""


def parse_number(text: str, name: str, file: str, line: int | None) -> float:
    """Parse a decimal number; raises `FormatError` for any other text, such as ``nan``."""
    cell = text.strip()
    if len(cell) <= _MAX_DIGITS and ONE_NUMBER.fullmatch(cell):
        return float(cell)
    raise FormatError(
        f"{name} is not a number", file=file, line=line, expected="a number", found=repr(cell)[:80]
    )


def user_quantity(name: str) -> str:
    """Name of a quantity that the user of the tool chose, apart from `NAMES`."""
    return f"{name} (custom)" if name in NAMES else name


def percentile_name(quantity: str, percent: float | str) -> str:
    """Name of a percentile: ``latency_p99.9``."""
    text = str(percent)
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return f"{quantity}_p{text.zfill(2)}"


def check_mean(printed: float, values: Sequence[float], name: str, file: str, line: int) -> None:
    """Raise `FormatError` if a file's mean is not that of its own values: one is damaged."""
    mean = math.fsum(values) / len(values)
    if abs(printed - mean) > ROUNDING * max(abs(printed), abs(mean)):
        raise FormatError(
            f"the mean of {name} is not that of its values",
            file=file,
            line=line or None,
            expected=repr(mean),
            found=repr(printed),
            remedy=DAMAGED,
        )


@dataclass(frozen=True)
class Node:
    """A value of a JSON document, with its place; `lines` has its form, with lines as values."""

    value: Any
    lines: Any
    file: str
    path: str = "the document"

    @property
    def line(self) -> int:
        """Line of the value, or of the first one within it; 0 for an empty list or object."""
        return first_line(self.lines) or 0

    def error(self, problem: str, expected: str) -> FormatError:
        """Build an error that names the value's place."""
        return FormatError(
            f"{self.path} {problem}",
            file=self.file,
            line=self.line or None,
            expected=expected,
            found=repr(self.value)[:80],
        )

    def get(self, key: str) -> Node | None:
        """Member of an object; None if it has no such member, or null."""
        value = self.members().get(key)
        return None if value is None or value.value is None else value

    def __getitem__(self, key: str) -> Node:
        """Member of an object; raises `FormatError` without it."""
        found = self.get(key)
        if found is None:
            raise FormatError(
                f"{self.path} has no {key!r}",
                file=self.file,
                line=self.line or None,
                expected=f"the complete output of the tool, with {key!r}",
                found=", ".join(map(str, self.value))[:80],
            )
        return found

    def members(self) -> dict[str, Node]:
        """Members of an object."""
        if not isinstance(self.value, dict):
            raise self.error("is not an object", "an object")
        prefix = "" if self.path == "the document" else f"{self.path}/"
        return {
            key: Node(value, self.lines[key], self.file, f"{prefix}{key}")
            for key, value in self.value.items()
        }

    def elements(self) -> list[Node]:
        """Elements of a list."""
        if not isinstance(self.value, list):
            raise self.error("is not a list", "a list")
        return [
            Node(value, line, self.file, f"{self.path}[{place}]")
            for place, (value, line) in enumerate(zip(self.value, self.lines, strict=True))
        ]

    def is_number(self) -> bool:
        """Whether the value is a number, perhaps not finite."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)

    def number(self) -> float:
        """Finite number; raises `FormatError` for anything else."""
        if not self.is_number() or not abs(self.value) < 1e300:
            raise self.error("is not a finite number", "a number")
        return float(self.value)

    def numbers(self) -> list[float]:
        """Finite numbers of a list."""
        return [node.number() for node in self.elements()]

    def text(self) -> str:
        """Text; raises `FormatError` for anything else."""
        if not isinstance(self.value, str):
            raise self.error("is not a text", "a text")
        return self.value


def parse_json(data: bytes, file: str) -> tuple[Node, tuple[str, ...]]:
    """Parse a document; also return warnings.

    Raises `FormatError` with the line: not JSON, such as a truncated file, and keys that are given
    twice.
    """
    text, warnings = decode(data, file)
    return _parse_document(text, file, 0), warnings


def parse_json_lines(data: bytes, file: str) -> tuple[list[Node], tuple[str, ...]]:
    """Parse a document a line; also return warnings. Raises as `parse_json` does."""
    text, warnings = decode(data, file)
    lines = enumerate(text.split("\n"))
    return [_parse_document(line, file, n) for n, line in lines if line.strip()], warnings


def _parse_document(text: str, file: str, lines_before: int) -> Node:
    document, lines = parse_document(text, file, "the complete output of the tool", lines_before)
    return Node(document, lines, file)


def scalar_text(value: object) -> str:
    """Text of a parameter's value: ``1000``, ``true``, ``0.5``, "" for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return SURROGATE.sub("?", value) if isinstance(value, str) else str(value)


@dataclass(frozen=True)
class Row:
    """A row of a delimited table: cells by column, with its line.

    `run` counts the repetitions of the heading above it, as in files that were joined.
    """

    cells: Mapping[str, str]
    line: int
    file: str
    run: int = 0

    def number(self, column: str) -> float:
        """Number of a cell; raises `FormatError` for a blank cell or another text."""
        return parse_number(self.cells[column], column, self.file, self.line)

    def error(self, column: str, expected: str) -> FormatError:
        """Build an error that names a cell."""
        return FormatError(
            f"{column} has another value",
            file=self.file,
            line=self.line,
            expected=expected,
            found=repr(self.cells[column])[:80],
        )


def decode_lines(data: bytes, file: str) -> tuple[str, tuple[str, ...]]:
    """Decode a text of complete lines; warn of a last line without its end."""
    text, warnings = decode(data, file)
    if text and not text.endswith("\n"):
        end = text.count("\n") + 1
        warnings += (f"{file} line {end}: the last line does not end; it may be truncated",)
    return text, warnings


def delimited_rows(text: str, file: str, delimiter: str = ",") -> Iterator[tuple[int, list[str]]]:
    """Yield the lines and the cells of a delimited text, without blank lines.

    Raises `FormatError` for a quotation mark that is not closed.
    """
    reader = csv.reader(text.split("\n"), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                yield line, [cell.strip() for cell in cells]
            line = reader.line_num + 1
    except csv.Error as err:
        raise FormatError(
            "not a delimited row", file=file, line=line, expected="quoted cells", found=str(err)
        ) from err


def table_rows(
    names: Sequence[str], rows: Iterator[tuple[int, list[str]]], file: str, line: int
) -> Iterator[Row]:
    """Yield the rows below a heading of `names`, which stands in `line` and may be repeated.

    Raises `FormatError`: two columns of one name; a row with more or fewer cells.
    """
    for place, name in enumerate(names):
        if name in names[:place]:
            raise FormatError(
                f"columns {names.index(name) + 1} and {place + 1} have the same name",
                file=file,
                line=line,
                expected="unique column names",
                found=repr(name),
            )
    run = 0
    for at, cells in rows:
        if cells == list(names):
            run += 1
            continue
        if len(cells) != len(names):
            raise FormatError(
                "a row does not fit the heading",
                file=file,
                line=at,
                expected=f"{len(names)} cells",
                found=f"{len(cells)} cells",
                remedy="the file may be truncated or damaged: collect it again.",
            )
        yield Row(dict(zip(names, cells, strict=True)), at, file, run)


def read_heading(
    rows: Iterator[tuple[int, list[str]]], required: Sequence[str], file: str
) -> tuple[int, list[str]]:
    """Line and cells of the first row; raises `FormatError` without it or a `required` column."""
    line, names = next(rows, (1, []))
    if missing := [name for name in required if name not in names]:
        raise FormatError(
            f"no column {', '.join(missing)}",
            file=file,
            line=line,
            expected=f"the columns {', '.join(required)}",
            found=", ".join(names)[:80],
        )
    return line, names
