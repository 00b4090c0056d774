"""A table of results: numbers by quantity and key, such as the name of a benchmark and its
parameters.

Rows of one key are repetitions, within one run or of several runs. Rows of different keys are
different benchmarks, which no command averages.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import pandas as pd

from rawperf.core.errors import FileReader
from rawperf.core.number_text import MAX_NUMBER
from rawperf.results.names import to_base
from rawperf.results.parsing import (
    Node,
    Row,
    decode_lines,
    delimited_rows,
    parse_json,
    parse_json_lines,
    parse_number,
    read_heading,
    table_rows,
)

Repeats = Literal["", "process", "runs"]
"""What rows of one key are: repetitions within one process (whose start-up and memory layout do not
vary between them), runs of their own, or unknown ("")."""
Better = Literal["", "higher", "lower"]

RUN, QUANTITY, VALUE, LINE = "run", "quantity", "value", "line"
COLUMNS = (RUN, QUANTITY, VALUE, LINE)
"""Columns of `ResultTable.rows` besides the keys."""


class Quantity(NamedTuple):
    """What a number is: the quantity, and as in `ResultQuantity` its unit and direction."""

    name: str
    unit: str = ""
    better: Better = ""


@dataclass(frozen=True)
class ResultQuantity:
    """A quantity of a table of results.

    `unit` is a unit of `rawperf.core.units`, of the tool's own kind of item (``ops/s``), or "" if
    unknown. `field` is the tool's own name of the quantity, where that differs from `name`.
    """

    unit: str = ""
    better: Better = ""
    field: str = ""


@dataclass(frozen=True, eq=False)
class ResultTable:
    """Content of a file of results.

    Attributes
    ----------
    rows : DataFrame
        One row a number, in file order: a text column for each of `keys`, then `COLUMNS`. `run` is
        an int that numbers the runs within the file from 0, `value` a float in the quantity's unit,
        `line` the line of the file from 1, 0 if unknown.
    keys : tuple of str
        Names of the columns that tell benchmarks apart; "" in a row without that key.
    quantities : mapping of str to ResultQuantity
        Every quantity of `rows`, in order of first occurrence.
    repeats : str
        What several rows of one key and quantity are.
    left_out : mapping of str to str
        Columns of the file that are no quantity and no key, with the reason in words.
    warnings : tuple of str
        One sentence each.
    settings : mapping of str to str
        Options and versions that the file says it ran with, and the machine, as texts; several of one
        joined by a comma.
    """

    rows: pd.DataFrame
    keys: tuple[str, ...]
    quantities: Mapping[str, ResultQuantity]
    repeats: Repeats = ""
    left_out: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)

    def frame(self) -> pd.DataFrame:
        """One row a repetition of a key, with a column for each key, ``run``, and each quantity."""
        names = [*self.keys, RUN, QUANTITY]
        numbered = self.rows.assign(repetition=self.rows.groupby(names, sort=False).cumcount())
        index = [*self.keys, RUN, "repetition"]
        wide = numbered.pivot(index=index, columns=QUANTITY, values=VALUE)
        first = numbered.drop_duplicates(index).set_index(index).index  # in file order
        wide = wide.reindex(first)[[*self.quantities]].reset_index()
        return wide.drop(columns="repetition").rename_axis(columns=None)


class ResultBuilder(FileReader):
    """Reads a file's text, document or rows, and collects its numbers and warnings; times are
    converted to seconds, amounts to bytes.

    Parameters
    ----------
    file : str
        Name of the file in errors and warnings.

    Attributes
    ----------
    repeats, left_out, warnings
        Those of the `ResultTable`.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.repeats: Repeats = "runs"
        self.warnings: list[str] = []
        self.left_out: dict[str, str] = {}
        self._rows: list[tuple[dict[str, str], int, str, float, int]] = []
        self._quantities: dict[str, ResultQuantity] = {}
        self._keys: dict[str, None] = {}
        self._settings: dict[str, dict[str, None]] = {}
        self._runs: Counter[tuple[tuple[str, str], ...]] = Counter()

    # ---- reading, with the warnings of the parser

    def lines(self, data: bytes) -> Iterator[tuple[int, str]]:
        """Number the lines of a text from 1."""
        return enumerate(self.text(data).split("\n"), 1)

    def text(self, data: bytes) -> str:
        """Decode a text of complete lines; warns of a last line without its end."""
        text, warnings = decode_lines(data, self.file)
        self.warnings += warnings
        return text

    def document(self, data: bytes) -> Node:
        """Parse a JSON document; raises as `parse_json`."""
        document, warnings = parse_json(data, self.file)
        self.warnings += warnings
        return document

    def documents(self, data: bytes) -> list[Node]:
        """Parse a JSON document a line; raises as `parse_json`."""
        documents, warnings = parse_json_lines(data, self.file)
        self.warnings += warnings
        return documents

    def table(
        self, text: str, required: Sequence[str], delimiter: str = ","
    ) -> tuple[list[str], Iterator[Row]]:
        """Columns and rows of a delimited text, with the columns `required`; raises as
        `delimited_rows`, `read_heading` and `table_rows`.
        """
        rows = delimited_rows(text, self.file, delimiter)
        line, names = read_heading(rows, required, self.file)
        return names, table_rows(names, rows, self.file, line)

    def warn(self, line: int, sentence: str) -> None:
        """Add a warning of a line."""
        self.warnings.append(f"{self.file} line {line}: {sentence}")

    def number(self, text: str, name: str, line: int) -> float:
        """Parse the number of a text; raises as `parse_number`."""
        return parse_number(text, name, self.file, line)

    def leave_out(self, names: Iterable[str], why: str) -> None:
        """Leave out columns, for a reason in words."""
        self.left_out |= dict.fromkeys(names, why)

    # ---- numbers

    def add(
        self,
        keys: Mapping[str, str],
        quantity: Quantity,
        value: float,
        field: str = "",
        line: int = 0,
        run: int = 0,
    ) -> None:
        """Add a number; a key of the user's that is named as a column, such as ``run``, gets
        another name: ``run (key)``.

        `field` is the tool's own name of the quantity, `line` where the file has the number, `run`
        the run that it is of. Raises `FormatError` for a number that is not finite or beyond
        `MAX_NUMBER`, and for one quantity in two units that can't be converted.
        """
        name, unit, better = quantity
        if not abs(value) <= MAX_NUMBER:
            raise self.error(
                f"{name} is not a finite number"
                if not math.isfinite(value)
                else f"{name} is too large",
                line,
                f"numbers of at most {MAX_NUMBER:g}",
                repr(value),
            )
        target, factor = to_base(unit)
        known = self._quantities.setdefault(name, ResultQuantity(target, better, field))
        if known.unit != target:
            raise self.error(
                f"{name} has two units", line, known.unit or "no unit", target or "no unit"
            )
        keys = {f"{key} (key)" if key in COLUMNS else key: text for key, text in keys.items()}
        self._keys.update(dict.fromkeys(keys))
        self._rows.append((keys, run, name, value * factor, line))

    def next_run(self, keys: dict[str, str]) -> int:
        """Number of the next run of the same keys, from 0."""
        identity = tuple(keys.items())
        self._runs[identity] += 1
        return self._runs[identity] - 1

    def add_setting(self, name: str, text: str) -> None:
        """Add an option, a version or a fact of the machine that the file states."""
        if text:
            self._settings.setdefault(name, {})[text] = None

    def add_settings(self, node: Node | None, paths: Mapping[str, str]) -> None:
        """Add the texts, numbers and lists of texts at these paths of a JSON object, by name, if it has
        them.
        """
        for name, path in paths.items():
            value = None if node is None else node.value
            for step in path.split("/"):
                value = value.get(step) if isinstance(value, dict) else None
            if isinstance(value, list):
                value = " ".join(map(str, value))
            if isinstance(value, str | int | float):
                self.add_setting(
                    name, str(value).lower() if isinstance(value, bool) else str(value)
                )

    def add_failure(
        self, keys: Mapping[str, str], *, failed: bool, field: str, line: int, run: int = 0
    ) -> None:
        """Add whether an execution failed; the mean over several is the share of failures."""
        self.add(keys, Quantity("failures", "1", "lower"), float(failed), field, line, run)

    def add_node(
        self,
        keys: Mapping[str, str],
        quantity: Quantity,
        node: Node,
        field: str,
        *,
        factor: float = 1.0,
        run: int = 0,
    ) -> None:
        """Add the number of a JSON document, times `factor`; takes and raises as `add` does, and
        raises as `Node.number` does.
        """
        self.add(keys, quantity, node.number() * factor, field, node.line, run)

    def add_text(
        self,
        keys: Mapping[str, str],
        quantity: Quantity,
        text: str,
        field: str,
        line: int,
        run: int = 0,
    ) -> None:
        """Add the number of a text; takes and raises as `add` does, and raises as `parse_number`,
        which names it `field`.
        """
        self.add(keys, quantity, self.number(text, field, line), field, line, run)

    def add_cell(self, keys: Mapping[str, str], quantity: Quantity, row: Row, column: str) -> None:
        """Add the number of a row's cell; takes and raises as `add_text` does."""
        self.add_text(keys, quantity, row.cells[column], column, row.line, row.run)

    def build(self) -> ResultTable:
        """Build the table; raises `FormatError` without any number."""
        if not self._rows:
            raise self.error("the file has no results")
        columns: dict[str, list[object]] = {
            name: [keys.get(name, "") for keys, *_ in self._rows] for name in self._keys
        }
        for place, name in enumerate(COLUMNS, 1):
            columns[name] = [row[place] for row in self._rows]
        return ResultTable(
            pd.DataFrame(columns),
            tuple(self._keys),
            self._quantities,
            self.repeats,
            self.left_out,
            tuple(self.warnings),
            {name: ", ".join(texts) for name, texts in self._settings.items()},
        )
