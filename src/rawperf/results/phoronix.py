"""Result files of the Phoronix Test Suite (composite.xml).

A trial of a test is a run. Source: `pts_result_file::get_xml` of version 10.8.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from rawperf.results.names import parse_unit
from rawperf.results.parsing import DAMAGED
from rawperf.results.result_table import Better, Quantity, ResultBuilder
from rawperf.xml_stream import XmlTarget, parse_xml

_MAX_BYTES = 64 * 1024**2
_BETTER: dict[str, Better] = {"HIB": "higher", "LIB": "lower"}
_ENTRY = ["PhoronixTestSuite", "Result", "Data", "Entry"]
_RESULT = _ENTRY[:2]
_BARS = ("", "BAR_GRAPH", "HORIZONTAL_BOX_PLOT", "BOX_PLOT")


@dataclass
class _Entry:
    line: int
    cells: dict[str, str] = field(default_factory=dict)


@dataclass
class _Result:
    line: int
    cells: dict[str, str] = field(default_factory=dict)
    entries: list[_Entry] = field(default_factory=list)


class _Target(XmlTarget):
    """Collects the results and their entries."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "PhoronixTestSuite", 12)
        self.results: list[_Result] = []

    def on_start(self, tag: str, attributes: dict[str, str]) -> None:
        if self.path == _RESULT:
            self.results.append(_Result(self.line()))
        elif self.path == _ENTRY:
            self.results[-1].entries.append(_Entry(self.line()))

    def on_end(self) -> None:
        parent, name = self.path[:-1], self.path[-1]
        if parent not in (_RESULT, _ENTRY) or name in ("Data", "Entry"):
            return
        result = self.results[-1]
        cells = result.cells if parent == _RESULT else result.entries[-1].cells
        if name in cells:
            raise self.error(f"{name} is given twice", "one element", name)
        cells[name] = "".join(self.text).strip()


def parse_phoronix(builder: ResultBuilder, data: bytes) -> None:
    """Read the trials of each test, or its value; the system is a key where there are several."""
    target = _Target(builder.file)
    notes, _ = parse_xml(data, target, _MAX_BYTES)
    builder.warnings += notes
    systems = {entry.cells.get("Identifier", "") for r in target.results for entry in r.entries}
    for result in target.results:
        title = result.cells.get("Title", "") or result.cells.get("Identifier", "")
        if result.cells.get("DisplayFormat", "") not in _BARS:
            builder.left_out[title] = "a course over time or a test without a number"
            continue
        keys = {"test": title, "description": result.cells.get("Description", "")}
        for entry in result.entries:
            system = {"system": entry.cells.get("Identifier", "")} if len(systems) > 1 else {}
            _add_entry(builder, result, entry, keys | system)


def _quantity(result: _Result) -> Quantity:
    """Quantity by scale: a time, or what the scale names."""
    scale = result.cells.get("Scale", "")
    better = _BETTER.get(result.cells.get("Proportion", ""), "")
    unit = parse_unit(scale)
    if unit in ("s", "ms", "us", "ns", "min") and better == "lower":
        return Quantity("time", unit, better)
    name = f"{scale or 'result'}{f' ({better} is better)' if better else ''}"
    return Quantity(name, "" if unit in ("s", "ms", "us", "ns") else unit, better)


def _add_entry(
    builder: ResultBuilder, result: _Result, entry: _Entry, keys: dict[str, str]
) -> None:
    value = entry.cells.get("Value", "")
    builder.add_failure(keys, failed=not value, field="Value", line=entry.line)
    if not value:
        builder.warn(entry.line, f"{keys['test']} has no result: it failed")
        return
    quantity, field_name = _quantity(result), result.cells.get("Scale", "")
    for run, number in enumerate(_trials(builder, entry, value, keys["test"])):
        builder.add(keys, quantity, number, field_name, entry.line, run)


def _trials(builder: ResultBuilder, entry: _Entry, value: str, test: str) -> list[float]:
    """The trials of which the value is the mean, else the value alone."""
    printed = builder.number(value, "Value", entry.line)
    cells = [cell for cell in entry.cells.get("RawString", "").split(":") if cell.strip()]
    trials = [builder.number(cell, "RawString", entry.line) for cell in cells]
    if not trials:
        return [printed]
    digits = len(value.partition(".")[2])
    mean = math.fsum(trials) / len(trials)
    if abs(mean - printed) <= 0.51 * 10**-digits + 1e-6 * abs(mean):
        return trials
    if not min(trials) <= printed <= max(trials):
        raise builder.error(
            "Value lies outside of the trials in RawString",
            entry.line,
            f"{min(trials):g} to {max(trials):g}",
            value,
            DAMAGED,
        )
    builder.warn(
        entry.line, f"the value of {test} is not the mean of its trials: they are not read"
    )
    return [printed]
