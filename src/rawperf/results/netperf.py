"""netperf: the classic tables of the stream and request/response tests, omni output (-k, -o).

Source: src/nettest_bsd.c and src/nettest_omni.c of netperf 2.7.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rawperf.results.parsing import percentile_name
from rawperf.results.result_table import Quantity, ResultBuilder

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
    "MEAN_LATENCY": Quantity("latency", "us", "lower"),
    "RT_LATENCY": Quantity("round_trip_latency", "us", "lower"),
    "MIN_LATENCY": Quantity("latency_min", "us"),
    "MAX_LATENCY": Quantity("latency_max", "us"),
    "STDDEV_LATENCY": Quantity("latency_stddev", "us"),
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
_CPU = {
    "LOCAL_CPU_UTIL": Quantity("local_cpu", "%"),
    "REMOTE_CPU_UTIL": Quantity("remote_cpu", "%"),
}
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


def parse_netperf(builder: ResultBuilder, data: bytes) -> None:
    """Read each test of a file; tests of the same name and sizes are runs."""
    tests: list[_Test] = []
    for number, line in builder.lines(data):
        if match := _BANNER.fullmatch(line.rstrip()):
            tests.append(_Test(match[1], [], number))
        elif line.startswith("!!!") and tests:
            if "Desired confidence" in line:
                builder.warn(number, line.strip("! "))
        elif tests and line.strip():
            tests[-1].lines.append((number, line.rstrip()))
    for test in tests:
        _add_test(builder, test)


def _add_test(builder: ResultBuilder, test: _Test) -> None:
    selectors = [(n, match) for n, line in test.lines if (match := _SELECTOR.fullmatch(line))]
    if selectors:
        _add_omni(builder, test, {match[1]: (match[2], n) for n, match in selectors})
    elif test.lines and "," in test.lines[0][1]:
        _add_omni(builder, test, _comma_separated(builder, test))
    else:
        _add_table(builder, test)


def _comma_separated(builder: ResultBuilder, test: _Test) -> dict[str, tuple[str, int]]:
    """Values by selector of a heading and a row of ``-o``."""
    (_, heading), *rows = test.lines
    names = [name.strip() for name in heading.split(",")]
    line, row = rows[0] if rows else (test.lines[0][0], "")
    cells = [cell.strip() for cell in row.split(",")]
    if len(cells) != len(names) or len(set(names)) != len(names):
        expected, found_cells = f"{len(names)} cells", f"{len(cells)} cells"
        raise builder.error("the row does not fit the heading", line, expected, found_cells)
    found: dict[str, tuple[str, int]] = {}
    for name, cell in zip(names, cells, strict=True):
        match = _PERCENTILE_HEADING.fullmatch(name)
        found[f"P{match[1]}_LATENCY" if match else _HEADINGS.get(name, name)] = cell, line
    return found


def _add_omni(builder: ResultBuilder, test: _Test, values: dict[str, tuple[str, int]]) -> None:
    if "THROUGHPUT" in values and "THROUGHPUT_UNITS" not in values:
        raise builder.error(
            "a throughput without its unit",
            values["THROUGHPUT"][1],
            "THROUGHPUT_UNITS",
            remedy="add THROUGHPUT_UNITS to the list of -k or -o.",
        )
    keys = {"test": test.name}
    keys |= {
        key: values[name][0]
        for name, key in _SIZES.items()
        if values.get(name, ("-1",))[0] not in ("-1", "")
    }
    run = builder.next_run(keys)
    for name, (cell, line) in values.items():
        known = _LATENCIES.get(name) or _CPU.get(name)
        if name == "THROUGHPUT":
            unit = _unit(builder, values["THROUGHPUT_UNITS"][0], line)
            known = Quantity("throughput", unit, "higher")
        elif match := _PERCENTILE.fullmatch(name):
            known = Quantity(percentile_name("latency", match[1]), "us", "lower")
        if known is not None:
            _add_measured(builder, keys, known, cell, name, line, run)
        elif name not in _SIZES and name != "THROUGHPUT_UNITS":
            builder.left_out[name] = "no quantity that is compared"


def _unit(builder: ResultBuilder, text: str, line: int) -> str:
    unit = _UNITS.get(text.removesuffix("ec"))
    if unit is None:
        expected, found = ", ".join(_UNITS), repr(text)[:60]
        raise builder.error("an unknown unit of throughput", line, expected, found)
    return unit


def _add_table(builder: ResultBuilder, test: _Test) -> None:
    """Add the numbers of a classic table: its first row of numbers, and its lines above."""
    place = next((i for i, (_, line) in enumerate(test.lines) if _NUMBERS.fullmatch(line)), -1)
    if place < 1:
        raise builder.error(
            "a test without a table that is read",
            test.line,
            "a heading with units, then numbers alone",
            remedy="collect it with -k THROUGHPUT,THROUGHPUT_UNITS; of classic tests, also with -v 1.",
        )
    heading = [line for _, line in test.lines[:place]]
    units = re.split(r"\s{2,}", heading[-1].strip())
    number, row = test.lines[place]
    cells = row.split()
    if "REQUEST/RESPONSE" in test.name or "RR" in test.name.split() or "per sec" in units:
        _check(builder, test, len(cells) in (6, 8, 10), number, "6 or 10 numbers", row)
        keys = {"test": test.name, "request_size": cells[2], "response_size": cells[3]}
        run = builder.next_run(keys)
        rate = Quantity("throughput", "transactions/s", "higher")
        _add_measured(builder, keys, rate, cells[5], "Trans. Rate", number, run)
        _add_cpu(builder, keys, cells[6:], number, run)
    elif "UDP" in test.name:
        _check(builder, test, len(cells) in (6, 8), number, "6 or 8 numbers", row)
        received = test.lines[place + 1][1].split() if len(test.lines) > place + 1 else []
        _check(
            builder,
            test,
            len(received) >= 4,
            number + 1,
            "4 numbers of the receiver",
            " ".join(received),
        )
        keys = {"test": test.name, "message_size": cells[1]}
        run, unit = builder.next_run(keys), _unit(builder, _throughput_unit(units), number)
        of = Quantity("throughput", unit, "higher")
        _add_measured(builder, keys, of, received[3], "Throughput", number + 1, run)
        sent = Quantity("sent_throughput", unit)
        _add_measured(builder, keys, sent, cells[5], "Throughput", number, run)
        failures = Quantity("failures", better="lower")
        _add_measured(builder, keys, failures, cells[4], "Errors", number, run)
    else:
        _check(builder, test, len(cells) in (5, 9), number, "5 or 9 numbers", row)
        keys = {"test": test.name, "message_size": cells[2]}
        run, unit = builder.next_run(keys), _unit(builder, _throughput_unit(units), number)
        of = Quantity("throughput", unit, "higher")
        _add_measured(builder, keys, of, cells[4], "Throughput", number, run)
        _add_cpu(builder, keys, cells[5:], number, run)


def _throughput_unit(units: list[str]) -> str:
    return next((unit for unit in units if unit.removesuffix("ec") in _UNITS), units[-1])


def _check(
    builder: ResultBuilder, test: _Test, is_right: bool, line: int, expected: str, row: str
) -> None:
    if not is_right:
        raise builder.error(f"not a row of the table of {test.name}", line, expected, row[:80])


def _add_cpu(
    builder: ResultBuilder, keys: dict[str, str], cells: list[str], line: int, run: int
) -> None:
    for quantity, cell in zip(_CPU.values(), cells, strict=False):
        _add_measured(builder, keys, quantity, cell, "Utilization", line, run)


def _add_measured(
    builder: ResultBuilder,
    keys: dict[str, str],
    quantity: Quantity,
    cell: str,
    field: str,
    line: int,
    run: int,
) -> None:
    """Add a number; -1 is a utilisation that was not measured."""
    value = builder.number(cell, field, line)
    if value >= 0:
        builder.add(keys, quantity, value, field, line, run)
