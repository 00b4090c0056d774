"""Layout mutants: one heading, cell, row or number of an intact file changed, and a judge of their readings.

A mutant is refused, warned of, or read rightly: every value equals that of the intact file, except those that the
changed text itself states. Anything else is a failure: a value under a wrong name (`Verdict.WRONG`) or a value that is
missing without a word (`Verdict.LOST`). `python -m tests.rawperf.layouts [FORMAT ...]` judges all mutants of the
formats and prints the failures; the tests judge a sample of them.
"""

from __future__ import annotations

import copy
import json
import math
import re
import sys
import time
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import numpy as np

from rawperf.base import Format, ParsedFile
from rawperf.core.errors import FormatError
from rawperf.declared.read import DeclaredFormat
from rawperf.netstat import SPELLINGS
from rawperf.registry import all_formats

SEED = 20090101
FILE = "a/damaged.file"
PER_KIND = 40
"""Mutants of each kind of change and file if all are judged."""

NUMBER = re.compile(r"(?<![\w.,:])[-+]?\d+(?:\.\d+)?(?![\d:]|[.,]\d)")
NUMBER_BESIDE_COMMAS = re.compile(r"(?<![\w.:])[-+]?\d+(?:\.\d+)?(?![\d:]|\.\d)")
REPLACEMENTS = ("-", "n/a", "nan", "1,234.5", "12k", "1.2.3")
_STATED = {"1,234.5": {1234.5}, "12k": {12e3, 12 * 1024.0}}
"""Values that a replaced number states."""
NEW_NAME, NEW_CELL = "new", "7"


class Verdict(StrEnum):
    """What became of a mutant."""

    REFUSED = "refused"
    WARNED = "warned of"
    RIGHT = "read rightly"
    LOST = "a value lost silently"
    WRONG = "a value under a wrong name"


@dataclass(frozen=True)
class Mutant:
    """A changed file.

    Attributes
    ----------
    kind : str
        The change, such as ``drop a heading``.
    lines : range
        Lines of the mutant, from 1, that differ.
    added : int
        Lines that the change added behind them.
    old, new : str
        The changed text of these lines.
    column : tuple of int, optional
        Line of the heading, from 0, and the changed column, where a table has the column.
    path : str
        The changed key of a document.
    """

    data: bytes
    kind: str
    lines: range
    old: str = ""
    new: str = ""
    added: int = 0
    column: tuple[int, int] | None = None
    path: str = ""

    @property
    def place(self) -> str:
        """The change, for the message of a failing test."""
        where = self.path or f"line {self.lines.start}"
        return f"{self.kind}, {where}: {self.old[:90]!r} -> {self.new[:90]!r}"


# --- changes of text ---------------------------------------------------------------------------------------------------


@dataclass
class Cells:
    """A line cut into cells; `join` of changed cells is the changed line."""

    delimiter: str  # "" for blanks
    texts: list[str]
    gaps: list[str] = field(default_factory=list)  # blanks before each cell, and behind the last

    @classmethod
    def cut(cls, line: str, delimiter: str) -> Cells:
        """Cut a line at blanks, or at a delimiter outside of quotes."""
        if delimiter:
            quoted = re.escape(delimiter)
            texts = re.findall(rf'(?:^|{quoted})("(?:[^"]|"")*"|[^{quoted}]*)', line)
            return cls(delimiter, texts)
        gaps = re.split(r"\S+", line)
        return cls("", line.split(), gaps)

    def join(self) -> str:
        """The line."""
        if self.delimiter:
            return self.delimiter.join(self.texts)
        texts = [*self.texts, ""]
        return "".join(gap + text for gap, text in zip(self.gaps, texts, strict=True))

    def changed(self, change: str, index: int, new: str) -> str:
        """The line after a change of the cell with this index."""
        cells = copy.deepcopy(self)
        texts, gaps = cells.texts, cells.gaps
        old = texts[index]
        match change:
            case "drop":
                del texts[index]
                if gaps:
                    del gaps[index if index else 1]
            case "blank":
                texts[index] = "" if self.delimiter else " " * len(old)
            case "double":
                texts.insert(index, old)
                gaps[index + 1 : index + 1] = [" "] if gaps else []
            case "swap":
                texts[index], texts[index + 1] = texts[index + 1], old
            case "insert":
                texts.insert(index, new)
                gaps[index + 1 : index + 1] = [" "] if gaps else []
            case "rename":
                texts[index] = f'"{old[1:-1]}{new}"' if old.startswith('"') else old + new
            case "shift right":
                texts.insert(0, "")
                gaps[0:0] = [" " * (len(gaps[1]) + len(old))] if gaps else []
            case _:
                raise ValueError(change)
        return cells.join()


CHANGES = ("drop", "blank", "double", "swap", "insert")


def _delimiter_of(form: Format, text: str) -> str:
    if isinstance(form, DeclaredFormat) and form.declaration.reads == "csv":
        return form.declaration.delimiter.strip(" ")
    lines = [line for line in text.split("\n") if line.strip()]
    for delimiter in ("\t", ";", ","):
        if sum(line.count(delimiter) >= 3 for line in lines) > 0.6 * len(lines):
            return delimiter
    return ""


def _is_number(text: str) -> bool:
    return re.fullmatch(r'"?[-+]?[\d.,:]*\d[\d.,:]*[%A-Za-z]{0,5}"?', text) is not None


def _tables(cells: list[Cells]) -> dict[int, int]:
    """Heading of each row: lines of names, directly above rows with about as many cells, half of them numbers."""
    heading_of: dict[int, int] = {}
    heading: int | None = None
    for index, line in enumerate(cells):
        n_numbers = sum(map(_is_number, line.texts))
        n_times = sum(":" in text and text[:1].isdigit() for text in line.texts[:2])
        if len(line.texts) < 2:
            heading = None if not line.texts else heading
        elif n_numbers == n_times and index + 1 < len(cells):
            below = cells[index + 1].texts
            if (
                abs(len(below) - len(line.texts)) <= 2
                and sum(map(_is_number, below)) >= 0.5 * len(below)
                and len(line.texts) > 2
            ):
                heading = index
        elif heading is not None and abs(len(line.texts) - len(cells[heading].texts)) <= 2:
            heading_of[index] = heading
    return heading_of


def text_mutants(
    form: Format, data: bytes, rng: np.random.Generator, per_kind: int
) -> Iterator[Mutant]:
    """Changes of lines and of cells that a delimiter or blanks separate."""
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    lines = text.split("\n")
    delimiter = _delimiter_of(form, text)
    cells = [Cells.cut(line, delimiter) for line in lines]
    heading_of = _tables(cells)
    headings = sorted(set(heading_of.values()))
    rows = sorted(heading_of)
    number = NUMBER_BESIDE_COMMAS if delimiter == "," else NUMBER
    numbered = [index for index, line in enumerate(lines) if number.search(line)]
    rows = rows or [index for index in numbered if len(cells[index].texts) > 1]
    words = [  # names of values outside of tables
        (index, position)
        for index in numbered
        if index not in heading_of
        for position, cell in enumerate(cells[index].texts)
        if not _is_number(cell) and cell
    ]

    def changed(index: int, new: list[str], kind: str, at: int | None = None) -> Mutant:
        mutated = [*lines[:index], *new, *lines[index + 1 :]]
        return Mutant(
            "\n".join(mutated).encode(),
            kind,
            range(index + 1, index + 1 + max(len(new), 1)),
            lines[index],
            "\n".join(new),
            len(new) - 1,
            None if at is None else (index, at),
        )

    def pick(items: list[Any]) -> Iterator[Any]:
        count = min(per_kind, len(items))
        for number in sorted(rng.choice(len(items), count, replace=False).tolist()):
            yield items[number]

    def positions(indices: list[int], change: str) -> list[tuple[int, int]]:
        last = -1 if change == "swap" else 0
        return [(i, p) for i in indices for p in range(len(cells[i].texts) + last)]

    for change in (*CHANGES, "rename"):
        for index, at in pick(positions(headings, change)):
            new = cells[index].changed(change, at, NEW_NAME)
            if new != lines[index]:
                yield changed(index, [new], f"{change} a heading", at)
    for change in CHANGES:
        for index, at in pick(positions(rows, change)):
            new = cells[index].changed(change, at, NEW_CELL)
            if new != lines[index] and new.split() != lines[index].split()[:0]:
                yield changed(index, [new], f"{change} a cell")
    for index in pick(rows):
        yield changed(index, [cells[index].changed("shift right", 0, "")], "shift a row")
    for index, at in pick(words):
        yield changed(index, [cells[index].changed("rename", at, NEW_NAME)], "rename a word")
    for index in pick(headings):
        yield changed(index, [], "drop the heading")
        yield changed(index, [""], "blank the heading")
        yield changed(index, [lines[index]] * 2, "double the heading")
    for index in pick(rows):
        yield changed(index, ["Lost 12 events", lines[index]], "insert a line")
    found = [(index, match) for index in numbered for match in number.finditer(lines[index])]
    for replacement in REPLACEMENTS:
        for index, match in pick(found):
            line = lines[index]
            new = line[: match.start()] + replacement + line[match.end() :]
            yield changed(index, [new], f"number {replacement}")


# --- changes of JSON ---------------------------------------------------------------------------------------------------


def _nodes(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    yield path, node
    children = (
        node.items()
        if isinstance(node, dict)
        else enumerate(node)
        if isinstance(node, list)
        else ()
    )
    for key, child in children:
        yield from _nodes(child, (*path, key))


def _at(document: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        document = document[key]
    return document


def _change_json(document: Any, path: tuple[Any, ...], change: str) -> Any:
    """A copy of a document with one key or element changed; None where the change has no effect."""
    document = copy.deepcopy(document)
    parent, key = _at(document, path[:-1]), path[-1]
    if isinstance(parent, list):
        if isinstance(parent[key], dict | list):  # a row, not a cell
            return None
        match change:
            case "drop a cell":
                del parent[key]
            case "double a cell":
                parent.insert(key, parent[key])
            case "insert a cell":
                parent.insert(key, 7)
            case "blank a cell":
                parent[key] = None
            case "swap a cell" if key + 1 < len(parent) and parent[key] != parent[key + 1]:
                parent[key], parent[key + 1] = parent[key + 1], parent[key]
            case _:
                return None
        return document
    names = list(parent)
    new = dict(parent)
    at = names.index(key)
    match change:
        case "drop a heading":
            del new[key]
        case "blank a heading":
            new = {"" if name == key else name: value for name, value in parent.items()}
        case "rename a heading":
            new = {
                name + NEW_NAME if name == key else name: value for name, value in parent.items()
            }
        case "insert a heading":
            new = {NEW_NAME: 7, **parent}
        case "swap a heading" if at + 1 < len(names):
            other = names[at + 1]
            exchange = {key: other, other: key}
            new = {exchange.get(name, name): value for name, value in parent.items()}
        case "blank a cell":
            new[key] = None
        case _:
            return None
    parent.clear()
    parent.update(new)
    return document


_JSON_CHANGES = tuple(
    f"{change} a {noun}" for noun in ("heading", "cell") for change in (*CHANGES, "rename")
)


def json_mutants(data: bytes, rng: np.random.Generator, per_kind: int) -> Iterator[Mutant]:
    """Changes of keys, elements and numbers of JSON, a document or one a line; numbers become texts."""
    text = data.decode()
    try:
        documents, by_line = [json.loads(text)], False
        indent = 1 if "\n" in text.strip() else None
    except ValueError:
        documents, by_line, indent = (
            [json.loads(line) for line in text.split("\n") if line],
            True,
            None,
        )

    def dump(items: list[Any]) -> bytes:
        return ("\n".join(json.dumps(item, indent=indent) for item in items) + "\n").encode()

    yield Mutant(dump(documents), "intact", range(0, 0))
    nodes = [
        (number, path, node)
        for number, document in enumerate(documents)
        for path, node in _nodes(document)
        if path
    ]

    def changed(number: int, new: Any, kind: str, path: tuple[Any, ...]) -> Mutant:
        mutated = [*documents[:number], new, *documents[number + 1 :]]
        lines = range(number + 1, number + 2) if by_line else range(0, 0)
        old_text, new_text = (json.dumps(_at(part, path[:-1])) for part in (documents[number], new))
        where = "/".join(map(str, path))
        return Mutant(dump(mutated), kind, lines, old_text, new_text, path=where)

    def pick(items: list[Any]) -> Iterator[Any]:
        for item in sorted(rng.choice(len(items), min(per_kind, len(items)), replace=False)):
            yield items[item]

    for kind in _JSON_CHANGES:
        for number, path, _ in pick(nodes):
            new = _change_json(documents[number], path, kind)
            if new is not None:
                yield changed(number, new, kind, path)
    numbers = [
        item
        for item in nodes
        if (isinstance(item[2], int | float) and not isinstance(item[2], bool))
        or (isinstance(item[2], str) and NUMBER.search(item[2]))
    ]
    for replacement in REPLACEMENTS:
        for number, path, node in pick(numbers):
            new = copy.deepcopy(documents[number])
            value = NUMBER.sub(replacement, node, 1) if isinstance(node, str) else replacement
            _at(new, path[:-1])[path[-1]] = value
            yield changed(number, new, f"number {replacement}", path)


# --- changes of XML ----------------------------------------------------------------------------------------------------

_ATTRIBUTE = re.compile(r'\s([\w:.-]+)="([^"<]*)"')
_ELEMENT = re.compile(r"<([\w:.-]+)(?:\s[^<>]*)?>([^<>]*)</\1>")


def xml_mutants(data: bytes, rng: np.random.Generator, per_kind: int) -> Iterator[Mutant]:
    """Changes of attributes and of elements that hold a text."""
    text = data.decode()
    found = [*_ATTRIBUTE.finditer(text), *_ELEMENT.finditer(text)]
    found = [match for match in found if not text[: match.start()].endswith("<?xml")]

    def changed(match: re.Match[str], new: str, kind: str) -> Mutant:
        line = text.count("\n", 0, match.start() + 1) + 1
        mutated = text[: match.start()] + new + text[match.end() :]
        return Mutant(mutated.encode(), kind, range(line, line + 1), match[0], new)

    def pick() -> Iterator[re.Match[str]]:
        for item in sorted(rng.choice(len(found), min(per_kind, len(found)), replace=False)):
            yield found[item]

    for match in pick():
        yield changed(match, "", "drop a heading")
    for match in pick():
        yield changed(match, match[0] * 2, "double a heading")
    for match in pick():
        new = match[0].replace(match[1], match[1] + NEW_NAME)
        yield changed(match, new, "rename a heading")
    for match in pick():
        start, end = match.start(2) - match.start(), match.end(2) - match.start()
        yield changed(match, match[0][:start] + match[0][end:], "blank a cell")
    for replacement in REPLACEMENTS:
        for match in pick():
            start, end = match.start(2) - match.start(), match.end(2) - match.start()
            if NUMBER.search(match[2]):
                new = NUMBER.sub(replacement, match[2], 1)
                yield changed(
                    match, match[0][:start] + new + match[0][end:], f"number {replacement}"
                )


def mutants(form: Format, data: bytes, per_kind: int) -> list[Mutant]:
    """Mutants of an intact file; the first is the file itself where its text was laid out anew."""
    rng = np.random.default_rng([SEED, zlib.crc32(form.name.encode())])
    start = data.lstrip()[:1]
    if start == b"<" and not data.lstrip().startswith(b"<data"):
        return list(xml_mutants(data, rng, per_kind))
    if start in (b"{", b"["):
        try:
            return list(json_mutants(data, rng, per_kind))
        except ValueError:
            pass
    return list(text_mutants(form, data, rng, per_kind))


# --- the judge ---------------------------------------------------------------------------------------------------------

Key = tuple[str, str, str, str, float, int]
Records = dict[Key, tuple[float, int]]
"""Value and line of each record; of several equal keys by their number."""


def read(form: Format, data: bytes) -> ParsedFile | None:
    """The reading of some bytes; None if they are refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            return form.read(data, file=FILE)
        except FormatError:
            return None


def _records(reading: ParsedFile) -> Records:
    assert reading.lines is not None
    counts: Counter[tuple[Any, ...]] = Counter()
    records: Records = {}
    columns = [reading.records[name].tolist() for name in reading.records]
    for *key, value, line in zip(*columns, reading.lines.tolist(), strict=True):
        t = key[4]
        short = (*key[:4], -1.0 if math.isnan(t) else t)
        records[(*short, counts[short])] = (value, line)
        counts[short] += 1
    return records


_PLACE = re.compile(re.escape(FILE) + r" line (\d+)")


def judge(form: Format, intact: ParsedFile, mutant: Mutant) -> tuple[Verdict, str]:
    """Compare the reading of a mutant with that of the intact file.

    Returns
    -------
    verdict : Verdict
    reason : str
        The records that differ, for a failure.
    """
    reading = read(form, mutant.data)
    if reading is None:
        return Verdict.REFUSED, ""
    said = [text for text in reading.warnings if text not in intact.warnings]
    named = {int(line) for text in said for line in _PLACE.findall(text)}
    before, after = _records(intact), _records(reading)
    lost = {key: before[key] for key in before.keys() - after.keys()}
    new = {key: after[key] for key in after.keys() - before.keys()}
    for key in before.keys() & after.keys():
        if before[key][0] != after[key][0]:
            lost[key], new[key] = before[key], after[key]
    if not lost and not new:
        if mutant.column is not None and not said and _is_ignored(form, mutant):
            return Verdict.WRONG, "the changed heading is not read, but its column is"
        return (Verdict.WARNED if said else Verdict.RIGHT), ""
    reason = f"lost {_shown(lost)}, new {_shown(new)}"
    if _states(form.name, mutant, lost, new):
        return (Verdict.WARNED if said else Verdict.RIGHT), ""
    if said:
        is_named = (
            named & {*mutant.lines, mutant.lines.stop}  # JSON ends where it no longer fits
            or {line for _, line in new.values()} <= named
            or {word for text in said for word in _words(text)} & {*_changed_words(mutant)}
        )
        return (Verdict.WARNED, "") if is_named else (Verdict.WRONG, f"{reason}; warned: {said}")
    return (Verdict.WRONG if new else Verdict.LOST), reason


def _shown(records: Records) -> str:
    return "; ".join(
        f"{key[0]}/{key[2]}/{key[3]}@{key[4]:g} = {value:g} (line {line})"
        for key, (value, line) in list(records.items())[:3]
    )


def _words(text: str) -> list[str]:
    return re.findall(r"[^\s,;\"/<>]+", text)


def _changed_words(mutant: Mutant) -> list[str]:
    """Words that a change took away or added, or that changed their places."""
    old, new = _words(mutant.old), _words(mutant.new)
    differ = [*(Counter(old) - Counter(new)), *(Counter(new) - Counter(old))]
    differ = differ or [a for a, b in zip(old, new, strict=False) if a != b]
    return [word for word in differ if re.search("[A-Za-z]", word)]


def _is_ignored(form: Format, mutant: Mutant) -> bool:
    """Whether a reader takes a column by its position, although its heading changed.

    One number below the heading is changed, with the intact and with the changed heading: if the
    same record changes, the heading was not read.
    """
    if mutant.kind.split()[0] not in ("rename", "swap"):
        return False
    assert mutant.column is not None
    index, at = mutant.column
    lines = mutant.data.decode().split("\n")
    delimiter = _delimiter_of(form, mutant.data.decode())
    if index + 1 >= len(lines):
        return False
    heading, row = (Cells.cut(line, delimiter) for line in lines[index : index + 2])
    position = at + min(len(row.texts) - len(heading.texts), 0)  # the last column may have blanks
    number = re.fullmatch(r"(\d+)(\.\d+)?", row.texts[position]) if position >= 0 else None
    if number is None:
        return False
    probe = copy.deepcopy(row)
    probe.texts[position] = f"{int(number[1]) + 1}{number[2] or ''}"
    changed: list[set[Key]] = []
    for text in (lines[index], mutant.old):
        lines[index] = text
        readings = []
        for cells in (row, probe):
            lines[index + 1] = cells.join()
            readings.append(read(form, "\n".join(lines).encode()))
        if readings[0] is None or readings[1] is None:
            return False
        first, second = _records(readings[0]), _records(readings[1])
        changed.append({key for key in first | second if first.get(key) != second.get(key)})
    return bool(changed[0]) and changed[0] == changed[1]


def _states(name_of_format: str, mutant: Mutant, lost: Records, new: Records) -> bool:
    """Whether the new records are what the changed text states."""
    kind = mutant.kind
    old_values, new_values = (Counter(v for v, _ in part.values()) for part in (lost, new))
    if kind.startswith("number"):
        text = kind.removeprefix("number ")
        if old_values == new_values:  # part of a name
            return all(text in f"{k[2]} {k[3]}".lower() for k in new)
        stated = _STATED.get(text, set())
        printed = [abs(float(n)) for n in re.findall(r"\d+(?:\.\d+)?", mutant.old)]
        return lost.keys() == new.keys() and all(
            any(
                math.isclose(new[key][0], value * factor, rel_tol=1e-6)
                for value in stated
                for factor in (1.0, *(lost[key][0] / number for number in printed if number))
            )
            for key in new
        )
    if not new:
        return False
    if kind.startswith("rename"):
        if not lost:  # a series that no table of the format has is read under its own name
            return all(NEW_NAME in " ".join(k[:4]) for k in new)
        return old_values == new_values and all(NEW_NAME in " ".join(k[:4]).lower() for k in new)
    if kind.startswith("swap"):  # two values changed their places, or two names
        if old_values == new_values:
            return True
        texts = re.findall(r"\d+(?:\.\d+)?(?:e[-+]?\d+)?", mutant.new)
        data = mutant.data.decode().split("\n")
        return all(
            any(
                _is_scaled(value, abs(float(number)))
                for number in [*texts, *re.findall(r"\d+(?:\.\d+)?", data[line - 1])]
            )
            for value, line in new.values()
        )
    if kind == "insert a line":
        return not lost and all({*_words(k[3])} <= {"Lost", "12", "#", "events"} for k in new)
    if kind in ("insert a heading", "double a heading") and not lost and NEW_NAME in mutant.new:
        return all(NEW_NAME in k[3] for k in new)
    if kind.endswith(("cell", "heading")):
        # all words of a line name its number
        text = re.sub("[:=]", " ", mutant.new)
        for spelling, current in SPELLINGS:
            text = re.sub(spelling, current, text)
        line = Counter(_words(text))
        old_names, names = ({f"{k[2]} {k[3]}" for k in part} for part in (lost, new))
        if {k[3] for k in lost} == {k[3] for k in new}:  # the entity changed
            old_names, names = ({k[2] for k in part} for part in (lost, new))
        is_named = all(
            not Counter(_words(name.replace(":", " ").replace("#", " ")))
            - line
            - Counter(word for old in old_names for word in _words(old.replace(":", " ")))
            for name in names
        )
        kept = line - Counter(word for name in names for word in _words(name.replace(":", " ")))
        if name_of_format in FREE_LABELS and is_named and old_values == new_values:
            return len(lost) <= 2
        return (
            len(new) == len(lost)
            and old_values == new_values
            and {(k[0], k[1], k[4]) for k in lost} == {(k[0], k[1], k[4]) for k in new}
            and is_named
            and (
                {k[3] for k in lost} == {k[3] for k in new}
                or (
                    len(lost) == 1
                    and all(re.fullmatch(r"[\d.]+|kB|MB|s|IWL\d+[A-Z]", word) for word in kept)
                )
            )
        )
    return False


FREE_LABELS = {"perfkit", "iwl-console", "netstat"}
"""Formats with numbers behind or before a free text, which names them as it stands."""


def _is_scaled(value: float, number: float) -> bool:
    """Whether a value is a printed number in the tool's unit, or in a unit of a power of ten or of two."""
    if number == 0 or value == 0:
        return number == value
    ratio = abs(value) / number
    return any(
        abs(math.log(ratio, base) - round(math.log(ratio, base))) < 1e-6 for base in (10.0, 2.0)
    )


# --- what is left ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Known:
    """Changes of a format's files after which values are wrong or lost, and why a reader cannot tell."""

    format: str
    kinds: str  # regular expression of the whole kind
    verdict: Verdict
    reason: str


_NO_ROW = "a key, an attribute or an object that a document lacks states nothing: versions and options differ"
_BLANKS = "cells may be blank, and no public listing says in which columns: a row or a number that has moved by whole columns still fits"
_PAGE = "what identifies a page, an item's unit or an optional column is text, and other text may stand there"
_LABELS = "labels are free texts, so a number within one ends it"
_DOCUMENTS = r"(?:drop|blank|rename|swap|insert) a (?:heading|cell)"
KNOWN: tuple[Known, ...] = (
    Known(
        "iperf3",
        "(?:drop|blank|rename) a heading",
        Verdict.WRONG,
        "intervals of versions before 3.7 have no key sender, and of some versions none omitted",
    ),
    *(
        Known(name, _DOCUMENTS, Verdict.LOST, _NO_ROW)
        for name in (
            "azure-metrics",
            "cloudwatch-statistics",
            "fio",
            "iperf3",
            "iwl-xml",
            "jmeter-xml",
            "k6",
            "podman-stats-json",
            "prometheus-query",
            "prometheus-query-range",
            "sadf-json",
            "swingbench",
            "swingbench-json",
            "vegeta-report",
        )
    ),
    *(
        Known(
            name,
            _DOCUMENTS,
            Verdict.WRONG,
            "the name of a series is what labels it has, and labels are free",
        )
        for name in ("azure-metrics", "prometheus-query", "prometheus-query-range")
    ),
    Known(
        "sadf-json",
        "(?:drop|blank|rename) a (?:heading|cell)",
        Verdict.WRONG,
        "an element without a name is named by its position",
    ),
    Known("swingbench-json", _DOCUMENTS, Verdict.WRONG, "keys without a name are other fields"),
    Known(
        "cms-console",
        "insert a line|blank a cell",
        Verdict.WRONG,
        "any line may be the command that is typed before a response",
    ),
    Known("perfkit", r"(?:blank|drop|double) a cell|number -", Verdict.LOST, _BLANKS),
    Known("perfkit", r"(?:blank|drop) a cell", Verdict.WRONG, _BLANKS),
    Known("perfkit", r"(?:insert|double) a cell", Verdict.WRONG, _LABELS),
    Known(
        "perfkit",
        r"(?:blank|rename|swap) a heading|number (?:nan|1\.2\.3)",
        Verdict.LOST,
        _PAGE,
    ),
    Known("perfkit", "double a heading|rename a word", Verdict.WRONG, _PAGE),
    Known(
        "netstat", "insert a line", Verdict.WRONG, "counters are lines of free text with a number"
    ),
    Known(
        "prometheus-query",
        "(?:double|insert) a cell",
        Verdict.WRONG,
        "a time and a value are the first two elements of a list, whatever its length",
    ),
    *(
        Known(name, "number 12k", Verdict.WRONG, "a container with a memory limit is running")
        for name in ("docker-stats", "docker-stats-json")
    ),
    *(
        Known(name, kinds, Verdict.WRONG, "only the message tells a transaction from a request")
        for name, kinds in (
            ("jmeter-csv", "(?:blank|drop) a cell"),
            ("jmeter-csv-bare", "(?:blank|drop) a cell"),
            ("jmeter-xml", _DOCUMENTS),
        )
    ),
    Known(
        "stress-ng",
        "blank a cell",
        Verdict.WRONG,
        "in YAML a line without a key continues the text above it, here a stressor's name",
    ),
    Known(
        "prometheus",
        r"(?:double|insert) a cell",
        Verdict.WRONG,
        "a second number behind a sample is its time stamp",
    ),
    Known(
        "prometheus",
        r"(?:drop|blank|rename|double|insert) (?:a|the) heading",
        Verdict.WRONG,
        "the unit of a histogram's bounds is that of the last TYPE or HELP line above it",
    ),
    Known(
        "hdrhistogram", "drop a cell", Verdict.WRONG, "a histogram without a tag is one of its own"
    ),
    Known("jmeter-csv", "swap a heading", Verdict.WRONG, "two columns of texts"),
    Known(
        "kubectl-top",
        "(?:double|insert|blank) a cell",
        Verdict.WRONG,
        "swap is an optional last column",
    ),
    Known(
        "kubectl-top",
        "(?:blank|drop) a cell",
        Verdict.LOST,
        "a row without a name is the sum that --sum prints",
    ),
    Known(
        "virt-top",
        "(?:blank|swap) a cell",
        Verdict.LOST,
        "in its first row a domain has no memory and no time yet: CPU and memory are left out there",
    ),
    Known("turbostat", "number -", Verdict.LOST, "the tool prints - for what it cannot read"),
    Known("xentop", "number -", Verdict.LOST, "the tool prints - for a device in error"),
    Known(
        "xentop",
        "(?:drop|blank|double|insert) a cell",
        Verdict.WRONG,
        "names may have blanks, and a domain of another name is new: its first CPU(%) is unknown",
    ),
    Known(
        "xentop",
        "(?:drop|blank) the heading",
        Verdict.WRONG,
        "samples are numbered by their headings where the listing has no times",
    ),
    Known(
        "fio-minimal", "swap a cell", Verdict.LOST, "a direction whose run time is 0 did nothing"
    ),
)


def is_known(name: str, kind: str, verdict: Verdict) -> bool:
    """Whether a failure of a format is in the list."""
    return any(
        entry.format == name and entry.verdict == verdict and re.fullmatch(entry.kinds, kind)
        for entry in KNOWN
    )


# --- over all formats --------------------------------------------------------------------------------------------------


@dataclass
class Score:
    """Verdicts of a format's mutants."""

    counts: Counter[Verdict] = field(default_factory=Counter)
    failures: list[tuple[Verdict, str, str, str]] = field(default_factory=list)
    """Verdict, kind of change, change and reason."""

    def add(self, form: Format, intact: ParsedFile, mutant: Mutant) -> None:
        """Judge a mutant."""
        verdict, reason = judge(form, intact, mutant)
        self.counts[verdict] += 1
        if verdict in (Verdict.LOST, Verdict.WRONG):
            self.failures.append((verdict, mutant.kind, mutant.place, reason))


def score(name: str, seeds: tuple[bytes, ...], per_kind: int = PER_KIND) -> Score:
    """Judge mutants of a format's files, so many of each kind of change."""
    form, result = all_formats()[name], Score()
    for seed in seeds:
        found = mutants(form, seed, per_kind)
        is_laid_out_anew = found and found[0].kind == "intact"
        intact = read(form, found.pop(0).data if is_laid_out_anew else seed)
        assert intact is not None, f"{name} refuses its own file"
        for mutant in found:
            result.add(form, intact, mutant)
    return result


def main(names: list[str]) -> None:
    """Judge all mutants and print the failures."""
    from tests.rawperf.seeds import SEEDS

    total: Counter[Verdict] = Counter()
    begin = time.process_time()
    for name in names or sorted(SEEDS):
        result = score(name, SEEDS[name])
        total += result.counts
        bad = {v: result.counts[v] for v in (Verdict.WRONG, Verdict.LOST)}
        print(
            f"{name}: {result.counts.total()} mutants, {bad[Verdict.WRONG]} wrong, {bad[Verdict.LOST]} lost"
        )
        for verdict, kind, place, reason in result.failures:
            mark = " (known)" if is_known(name, kind, verdict) else ""
            print(f"  {verdict.name}{mark} {place}\n      {reason}")
    print(f"{total.total()} mutants: {', '.join(f'{n} {v}' for v, n in total.items())}")
    print(f"{time.process_time() - begin:.0f} s of processor time")


if __name__ == "__main__":
    run: Callable[[list[str]], None] = main
    run(sys.argv[1:])
