"""netperf: the classic tables of the stream and request/response tests, omni output (-k, -o).

Source: src/nettest_bsd.c and src/nettest_omni.c of netperf 2.7.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from rawperf.core.errors import FormatError
from rawperf.results.parsing import decode_lines, parse_number, percentile_name
from rawperf.results.table import Better, ResultBuilder, ResultTable

_BANNER = re.compile(r"(?:MIGRATED )?(.+?) TEST (?:from|to) .*")
_UNITS = {
    "10^3bits/s": "kbit/s",
    "10^6bits/s": "Mbit/s",
    "10^9bits/s": "Gbit/s",
    "KBytes/s": "KiB/s",
    "MBytes/s": "MiB/s",
    "GBytes/s": "GiB/s",
    "Trans/s": "transactions/s",
}
_NUMBERS = re.compile(r"\s*-?\d[\d.]*(?:\s+-?\d[\d.]*)*\s*")
_SELECTOR = re.compile(r"([A-Z][A-Z0-9_]+)=(.*)")
_LATENCIES = {
    "MEAN_LATENCY": ("latency", "lower"),
    "RT_LATENCY": ("round_trip_latency", "lower"),
    "MIN_LATENCY": ("latency_min", ""),
    "MAX_LATENCY": ("latency_max", ""),
    "STDDEV_LATENCY": ("latency_stddev", ""),
}
_HEADINGS = {
    "Throughput": "THROUGHPUT",
    "Throughput Units": "THROUGHPUT_UNITS",
    "Elapsed Time (sec)": "ELAPSED_TIME",
    "Mean Latency Microseconds": "MEAN_LATENCY",
    "Minimum Latency Microseconds": "MIN_LATENCY",
    "Maximum Latency Microseconds": "MAX_LATENCY",
    "Stddev Latency Microseconds": "STDDEV_LATENCY",
    "Transaction Rate Tran/s": "TRANSACTION_RATE",
    "Local CPU Util %": "LOCAL_CPU_UTIL",
    "Remote CPU Util %": "REMOTE_CPU_UTIL",
    "Request Size Bytes": "REQUEST_SIZE",
    "Response Size Bytes": "RESPONSE_SIZE",
    "Local Send Size": "LOCAL_SEND_SIZE",
}
_PERCENTILE_HEADING = re.compile(r"(\d+)th Percentile Latency Microseconds")
_PERCENTILE = re.compile(r"P(\d+)_LATENCY")
_CPU = {"LOCAL_CPU_UTIL": "local_cpu", "REMOTE_CPU_UTIL": "remote_cpu"}
_SIZES = {
    "LOCAL_SEND_SIZE": "message_size",
    "REQUEST_SIZE": "request_size",
    "RESPONSE_SIZE": "response_size",
}


@dataclass
class _Test:
    """A test with the lines below its banner."""

    name: str
    lines: list[tuple[int, str]]
    line: int


class _Numbers:
    """Numbers of the tests; tests of the same keys are runs."""

    def __init__(self, file: str) -> None:
        self.builder, self.file = ResultBuilder(file), file
        self.left_out: dict[str, str] = {}
        self._runs: Counter[tuple[tuple[str, str], ...]] = Counter()

    def next_run(self, keys: dict[str, str]) -> int:
        """Number of the next test with the same keys."""
        identity = tuple(keys.items())
        self._runs[identity] += 1
        return self._runs[identity] - 1

    def add(
        self,
        keys: dict[str, str],
        quantity: str,
        cell: str,
        unit: str,
        better: Better,
        field: str,
        line: int,
        run: int,
    ) -> None:
        """Add a number; -1 is a utilisation that was not measured."""
        value = parse_number(cell, field, self.file, line)
        if value >= 0:
            self.builder.add(
                keys, quantity, value, unit=unit, better=better, field=field, line=line, run=run
            )


def parse_netperf(data: bytes, *, file: str) -> ResultTable:
    """Read each test of a file; tests of the same name and sizes are runs."""
    text, notes = decode_lines(data, file)
    warnings, numbers = list(notes), _Numbers(file)
    tests: list[_Test] = []
    for number, line in enumerate(text.split("\n"), 1):
        if match := _BANNER.fullmatch(line.rstrip()):
            tests.append(_Test(match[1], [], number))
        elif line.startswith("!!!") and tests:
            if "Desired confidence" in line:
                warnings.append(f"{file} line {number}: {line.strip('! ')}")
        elif tests and line.strip():
            tests[-1].lines.append((number, line.rstrip()))
    for test in tests:
        _add_test(numbers, test)
    return numbers.builder.build(
        "netperf", repeats="runs", left_out=numbers.left_out, warnings=warnings
    )


def _add_test(numbers: _Numbers, test: _Test) -> None:
    selectors = [(n, match) for n, line in test.lines if (match := _SELECTOR.fullmatch(line))]
    if selectors:
        _add_omni(numbers, test, {match[1]: (match[2], n) for n, match in selectors})
    elif test.lines and "," in test.lines[0][1]:
        _add_omni(numbers, test, _comma_separated(numbers.file, test))
    else:
        _add_table(numbers, test)


def _comma_separated(file: str, test: _Test) -> dict[str, tuple[str, int]]:
    """Values by selector of a heading and a row of ``-o``."""
    (_, heading), *rows = test.lines
    names = [name.strip() for name in heading.split(",")]
    line, row = rows[0] if rows else (test.lines[0][0], "")
    cells = [cell.strip() for cell in row.split(",")]
    if len(cells) != len(names) or len(set(names)) != len(names):
        raise FormatError(
            "the row does not fit the heading",
            file=file,
            line=line,
            expected=f"{len(names)} cells",
            found=f"{len(cells)} cells",
        )
    found: dict[str, tuple[str, int]] = {}
    for name, cell in zip(names, cells, strict=True):
        match = _PERCENTILE_HEADING.fullmatch(name)
        found[f"P{match[1]}_LATENCY" if match else _HEADINGS.get(name, name)] = cell, line
    return found


def _add_omni(numbers: _Numbers, test: _Test, values: dict[str, tuple[str, int]]) -> None:
    if "THROUGHPUT" in values and "THROUGHPUT_UNITS" not in values:
        raise FormatError(
            "a throughput without its unit",
            file=numbers.file,
            line=values["THROUGHPUT"][1],
            expected="THROUGHPUT_UNITS",
            remedy="add THROUGHPUT_UNITS to the list of -k or -o.",
        )
    keys = {"test": test.name}
    keys |= {
        key: values[name][0]
        for name, key in _SIZES.items()
        if values.get(name, ("-1",))[0] not in ("-1", "")
    }
    run = numbers.next_run(keys)
    for name, (cell, line) in values.items():
        better: Better = "lower"
        if name == "THROUGHPUT":
            unit = _unit(values["THROUGHPUT_UNITS"][0], numbers.file, line)
            numbers.add(keys, "throughput", cell, unit, "higher", name, line, run)
        elif match := _PERCENTILE.fullmatch(name):
            quantity = percentile_name("latency", match[1])
            numbers.add(keys, quantity, cell, "us", better, name, line, run)
        elif name in _LATENCIES:
            quantity, direction = _LATENCIES[name]
            better = "lower" if direction else ""
            numbers.add(keys, quantity, cell, "us", better, name, line, run)
        elif name in _CPU:
            numbers.add(keys, _CPU[name], cell, "%", "", name, line, run)
        elif name not in _SIZES and name != "THROUGHPUT_UNITS":
            numbers.left_out[name] = "no quantity that is compared"


def _unit(text: str, file: str, line: int) -> str:
    unit = _UNITS.get(text.removesuffix("ec"))
    if unit is None:
        raise FormatError(
            "an unknown unit of throughput",
            file=file,
            line=line,
            expected=", ".join(_UNITS),
            found=repr(text)[:60],
        )
    return unit


def _add_table(numbers: _Numbers, test: _Test) -> None:
    """Add the numbers of a classic table: its first row of numbers, and its lines above."""
    place = next((i for i, (_, line) in enumerate(test.lines) if _NUMBERS.fullmatch(line)), -1)
    if place < 1:
        raise FormatError(
            "a test without a table that is read",
            file=numbers.file,
            line=test.line,
            expected="a heading with units, then numbers alone",
            remedy="collect it with -k THROUGHPUT,THROUGHPUT_UNITS; of classic tests, also with -v 1.",
        )
    heading = [line for _, line in test.lines[:place]]
    units = re.split(r"\s{2,}", heading[-1].strip())
    number, row = test.lines[place]
    cells = row.split()
    if "REQUEST/RESPONSE" in test.name or "RR" in test.name.split() or "per sec" in units:
        _check(numbers, test, len(cells) in (6, 8, 10), number, "6 or 10 numbers", row)
        keys = {"test": test.name, "request_size": cells[2], "response_size": cells[3]}
        run = numbers.next_run(keys)
        numbers.add(
            keys, "throughput", cells[5], "transactions/s", "higher", "Trans. Rate", number, run
        )
        _add_cpu(numbers, keys, cells[6:], number, run)
    elif "UDP" in test.name:
        _check(numbers, test, len(cells) in (6, 8), number, "6 or 8 numbers", row)
        received = test.lines[place + 1][1].split() if len(test.lines) > place + 1 else []
        _check(
            numbers,
            test,
            len(received) >= 4,
            number + 1,
            "4 numbers of the receiver",
            " ".join(received),
        )
        keys = {"test": test.name, "message_size": cells[1]}
        run, unit = numbers.next_run(keys), _unit(_throughput_unit(units), numbers.file, number)
        numbers.add(keys, "throughput", received[3], unit, "higher", "Throughput", number + 1, run)
        numbers.add(keys, "sent_throughput", cells[5], unit, "", "Throughput", number, run)
        numbers.add(keys, "failures", cells[4], "", "lower", "Errors", number, run)
    else:
        _check(numbers, test, len(cells) in (5, 9), number, "5 or 9 numbers", row)
        keys = {"test": test.name, "message_size": cells[2]}
        run, unit = numbers.next_run(keys), _unit(_throughput_unit(units), numbers.file, number)
        numbers.add(keys, "throughput", cells[4], unit, "higher", "Throughput", number, run)
        _add_cpu(numbers, keys, cells[5:], number, run)


def _throughput_unit(units: list[str]) -> str:
    return next((unit for unit in units if unit.removesuffix("ec") in _UNITS), units[-1])


def _check(
    numbers: _Numbers, test: _Test, is_right: bool, line: int, expected: str, row: str
) -> None:
    if not is_right:
        raise FormatError(
            f"not a row of the table of {test.name}",
            file=numbers.file,
            line=line,
            expected=expected,
            found=row[:80],
        )


def _add_cpu(
    numbers: _Numbers, keys: dict[str, str], cells: list[str], line: int, run: int
) -> None:
    for quantity, cell in zip(_CPU.values(), cells, strict=False):
        numbers.add(keys, quantity, cell, "%", "", "Utilization", line, run)
