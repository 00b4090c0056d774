"""Rows of cells that Arrow parses: numbers as float64, names as codes, other cells as texts."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv

from rawperf.core.declaration import Declaration, TableDeclaration
from rawperf.declared.times import LATEST
from rawperf.text import NUMBER

Role = Literal["number", "name", "text"]
Cells = dict[str, Any]
"""By column: float64 with NaN where there is no value, a dictionary array, or an array of texts."""
_TYPES = {
    "number": pa.float64(),
    "name": pa.dictionary(pa.int32(), pa.string()),
    "text": pa.string(),
}
_NUMBER = re.compile(NUMBER)
_QUOTE, _LINE_END = ord('"'), ord("\n")


class TypedRows:
    """Parser of the rows of a declared file with a delimiter.

    Parameters
    ----------
    width : int
        Columns of the file.
    wanted : dict of int to str
        By place the columns that are read.
    melted : collection of str
        Columns that `melt` makes rows of.
    """

    def __init__(
        self,
        width: int,
        wanted: dict[int, str],
        declaration: Declaration,
        melted: Collection[str],
    ) -> None:
        self._declaration, self._wanted = declaration, wanted
        self._keys = [str(place) for place in range(width)]  # names may be given twice
        roles = _roles(declaration, set(wanted.values()), set(melted))
        self._roles: dict[str, Role] = {str(p): roles.get(n, "text") for p, n in wanted.items()}
        self._melted = {key for key in self._roles if wanted[int(key)] in set(melted)}
        self._unite()
        self._nulls = ["", *declaration.missing]
        self._limit = _latest_numbers(declaration)
        delimiter = declaration.delimiter
        self._can = width > 1 and bool(wanted) and delimiter.isascii() and delimiter not in '"\n\r'

    def cells(self, text: str) -> Cells | None:
        """The cells of whole lines, of which none is a comment; None where a line is blank or does
        not fit, or where quotes stand elsewhere than around cells.
        """
        if not self._can:
            return None
        data = text.encode()
        quoted = '"' in text
        if quoted and not _around_cells(data, self._declaration.delimiter):
            return None
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == _LINE_END)
        if ends[0] == 0 or (ends[1:] == ends[:-1] + 1).any():  # to Arrow a row of empty cells
            return None
        try:
            table = self._parsed(data, quoted, self._roles)
            columns = self._finite(table)
        except pa.ArrowInvalid:
            columns = None
        if columns is None:
            texts: dict[str, Role] = {
                key: "text" if role == "number" else role for key, role in self._roles.items()
            }
            try:
                table = self._parsed(data, quoted, texts)
            except pa.ArrowInvalid:
                return None
            columns = {key: table[key].combine_chunks() for key in texts}
            self._demote(columns)
        if table.num_rows != len(ends):
            return None
        return {self._wanted[int(key)]: column for key, column in columns.items()}

    def _parsed(self, data: bytes, quoted: bool, roles: dict[str, Role]) -> pa.Table:
        return arrow_csv.read_csv(
            pa.py_buffer(data),
            arrow_csv.ReadOptions(
                use_threads=False, block_size=len(data) + 1, column_names=self._keys
            ),
            arrow_csv.ParseOptions(
                delimiter=self._declaration.delimiter,
                quote_char='"' if quoted else False,
                ignore_empty_lines=False,
            ),
            arrow_csv.ConvertOptions(
                column_types={key: _TYPES[role] for key, role in roles.items()},
                include_columns=list(roles),
                null_values=self._nulls,
                strings_can_be_null=False,
                decimal_point=self._declaration.decimal,
            ),
        )

    def _finite(self, table: pa.Table) -> dict[str, Any] | None:
        """The columns; None where a number is none that is allowed, which the cell's text tells."""
        columns: dict[str, Any] = {}
        for key, role in self._roles.items():
            column = table[key].combine_chunks()
            if role != "number":
                columns[key] = column
                continue
            values = column.to_numpy(zero_copy_only=False)
            if np.count_nonzero(~np.isfinite(values)) != column.null_count:
                return None
            latest = self._limit.get(self._wanted[int(key)])
            if latest is not None and len(values):
                low, high = values.min(), values.max()
                if not (low >= 0 and high <= latest):  # NaN: a time is missing
                    return None
            columns[key] = values
        return columns

    def _demote(self, columns: dict[str, Any]) -> None:
        """Take columns whose cells Arrow makes no numbers of for texts from here on."""
        missing = pa.array(self._nulls, pa.string())
        for key, role in self._roles.items():
            if role == "number":
                there = columns[key].filter(pc.invert(pc.is_in(columns[key], missing)))
                try:
                    pc.cast(
                        pc.replace_substring(there, self._declaration.decimal, "."), pa.float64()
                    )
                except pa.ArrowInvalid:
                    self._roles[key] = "text"
        self._unite()

    def _unite(self) -> None:
        """Columns that become one are all numbers, or all texts."""
        if any(self._roles[key] != "number" for key in self._melted):
            self._roles |= dict.fromkeys(self._melted, "text")


def _around_cells(data: bytes, delimiter: str) -> bool:
    """Whether every quote begins or ends a cell, or is one of two within a quoted cell."""
    text = np.frombuffer(data, np.uint8)
    places = np.flatnonzero(text == _QUOTE)
    if len(places) % 2:
        return False
    opening, closing = places[::2], places[1::2]
    before, behind = text[opening - 1], text[closing + 1]
    if len(opening) and opening[0] == 0:
        before[0] = _LINE_END
    allowed = np.zeros(256, dtype=bool)
    allowed[[ord(delimiter), _LINE_END, _QUOTE]] = True
    return bool(allowed[before].all() and allowed[behind].all())


def _roles(declaration: Declaration, wanted: set[str], melted: set[str]) -> dict[str, Role]:
    """What the cells of each column are in all tables: numbers that need nothing but parsing, names
    that often repeat; where tables disagree, texts.
    """
    found: dict[str, set[Role]] = {}

    def add(role: Role, *names: str | None) -> None:
        for name in filter(None, names):
            found.setdefault(name, set()).add(role)

    for part in declaration.parts:
        plain: Role = "number" if _is_plain(declaration, part) else "text"
        add("name", *part.entity.name, *part.where, *part.unless, part.names)
        add(plain if part.names is not None else "text", part.value)
        for rule in part.fields:
            add("name", *rule.where)
            add("text", rule.needs, rule.per)
            if part.names is None:
                add("number" if plain == "number" and _has_no_form(rule) else "text", rule.field)
        if part.melt is not None:
            add(plain, *melted)
        time = part.time
        if time is not None:
            number = time.format is None and not time.optional and time.plus is None
            role: Role = "number" if number and _is_parsed(declaration) else "text"
            add("name" if time.format is not None else role, time.field, time.then)
            add("text", time.plus)
        if part.others and part.names is None:
            add(plain, *(wanted - set(declaration.words)))
    return {name: next(iter(roles)) if len(roles) == 1 else "text" for name, roles in found.items()}


def _has_no_form(rule: Any) -> bool:
    return rule.printed is None and rule.within is None and rule.needs is None and rule.per is None


def _is_plain(declaration: Declaration, part: TableDeclaration) -> bool:
    """Whether the numbers of a table need nothing but parsing."""
    own = part.names is None and part.melt is None
    return (
        _is_parsed(declaration)
        and part.printed is None
        and (own or all(_has_no_form(rule) and not rule.where for rule in part.fields))
    )


def _is_parsed(declaration: Declaration) -> bool:
    """Whether Arrow's numbers, and its texts for no value, are those of the declaration."""
    return not declaration.thousands and all(
        word == word.strip() and not _NUMBER.fullmatch(word.replace(",", "."))
        for word in declaration.missing
    )


def _latest_numbers(declaration: Declaration) -> dict[str, float]:
    """By column of times the largest number that is one."""
    found: dict[str, float] = {}
    for part in declaration.parts:
        if part.time is not None and part.time.field is not None and part.time.format is None:
            latest = LATEST * part.time.per_second
            found[part.time.field] = min(latest, found.get(part.time.field, latest))
    return found
