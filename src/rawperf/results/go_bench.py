"""Text of ``go test -bench``, in the Go benchmark format.

Source: the proposal "Go Benchmark Data Format" (golang.org/design/14313-benchmark-format), and
golang.org/x/perf/benchfmt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from rawperf.results.parsing import user_quantity
from rawperf.results.result_table import Better, Quantity, ResultBuilder

_RESULT = re.compile(r"(Benchmark\S*)\s+(\d+)((?:\s+\S+\s+\S+)*)\s*")
_NAMELESS = re.compile(r"\s*\d+\s+[\d.]+ ns/op\b")
_CONFIGURATION = re.compile(r"([a-z][^\sA-Z:]*):[ \t]*(.*)")
_OUTCOME = re.compile(r"\s*--- (FAIL|SKIP): (Benchmark\S*)|(FAIL)(\s.*)?$|(panic: .*)")
_UNIT_LINE = re.compile(r"Unit\s+(\S+)\s+(.*)")
_PROCESSORS = re.compile(r"(.+)-(\d+)")
_CONVERTED = {
    "ns/op": Quantity("time", "ns", "lower"),
    "sec/op": Quantity("time", "s", "lower"),
    "B/op": Quantity("memory", "B", "lower"),
    "allocs/op": Quantity("allocations", "allocs/op", "lower"),
    "MB/s": Quantity("throughput", "MB/s", "higher"),
    "B/s": Quantity("throughput", "B/s", "higher"),
}
"""Quantities by the units that Go itself prints; others are the user's."""


def parse_go_bench(builder: ResultBuilder, data: bytes) -> None:
    """Read the results of each benchmark; repetitions by ``-count`` are of one process."""
    text = builder.text(data)
    configuration: dict[str, str] = {}
    results: list[tuple[dict[str, str], str, str, int]] = []
    failed: list[tuple[dict[str, str], str, int]] = []
    directions: dict[str, Better] = {}
    lines = list(_output_lines(builder, text))
    last = lines[-1][0] if lines and not text.endswith("\n") else 0
    for number, line in lines:
        if match := _RESULT.fullmatch(line):
            if number == last and match[3].split()[-1:] and match[3].split()[-1] not in _CONVERTED:
                builder.warn(number, "truncated; it is left out")
                continue
            results.append((dict(configuration), match[1], match[3], number))
        elif _NAMELESS.match(line):
            builder.warn(
                number,
                "the numbers of a benchmark without its name, which stands in a line with other "
                "output; they are left out",
            )
        elif match := _OUTCOME.match(line):
            what = match[2] or (match[4] or match[5] or "").strip() or "the tests"
            builder.warn(number, f"{match[1] or 'FAIL'}: {what[:120]}")
            if match[1] == "FAIL":
                failed.append((dict(configuration), match[2], number))
        elif match := _CONFIGURATION.fullmatch(line):
            configuration[match[1]] = match[2].strip()
        elif match := _UNIT_LINE.fullmatch(line):
            for name, _, value in (part.partition("=") for part in match[2].split()):
                if name == "better" and value in ("higher", "lower"):
                    directions[match[1]] = "higher" if value == "higher" else "lower"
        elif line.startswith("Benchmark") and re.search(r"\s\d+\s+[\d.]+( |$)", line):
            builder.warn(number, "not a result of a benchmark; it is left out")
    varying = _varying_names([config for config, *_ in results])
    for config, *_ in results:
        for setting, text in config.items():
            if setting not in varying:
                builder.add_setting(setting, text)
    counted: dict[tuple[str, ...], tuple[dict[str, str], int, int]] = {}
    for config, name, measured, number in results:
        keys = _benchmark_keys(name, config, varying)
        _add_result(builder, keys, measured.split(), directions, number)
        counted.setdefault(tuple(keys.values()), (keys, 0, number))
    for config, name, number in failed:
        keys = _benchmark_keys(name, config, varying)
        known, count, first = counted.get(tuple(keys.values()), (keys, 0, number))
        counted[tuple(keys.values())] = known, count + 1, first
    for keys, count, number in counted.values():
        builder.add(keys, Quantity("failures", better="lower"), count, "FAIL", number)
    builder.repeats = "process"


def _output_lines(builder: ResultBuilder, text: str) -> Iterator[tuple[int, str]]:
    """Yield numbers and texts of the lines; of ``go test -json`` those of its outputs, joined.

    The output of a package is one text; a result has the line of its last part.
    """
    if not text.startswith("{"):
        yield from enumerate(text.removesuffix("\n").split("\n"), 1)
        return
    pending: dict[str, str] = {}
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        if not line.strip():
            continue
        try:
            event = json.loads(line)
            package, output = event.get("Package", ""), event.get("Output", "")
            *complete, pending[package] = f"{pending.get(package, '')}{output}".split("\n")
        except (ValueError, AttributeError, TypeError, RecursionError) as err:
            problem, expected = "not an event of go test -json", "an object with Action and Output"
            raise builder.error(problem, number, expected, line[:80]) from err
        yield from ((number, part) for part in complete)


def _varying_names(configurations: list[dict[str, str]]) -> list[str]:
    """Configuration that tells results of a file apart; the package always does."""
    names = dict.fromkeys(name for config in configurations for name in config)
    return [
        name
        for name in names
        if name == "pkg" or len({config.get(name, "") for config in configurations}) > 1
    ]


def _benchmark_keys(name: str, config: dict[str, str], varying: list[str]) -> dict[str, str]:
    match = _PROCESSORS.fullmatch(name)
    keys = {"benchmark": match[1] if match else name}
    keys |= {"package" if key == "pkg" else key: config.get(key, "") for key in varying}
    return keys | {"gomaxprocs": match[2] if match else "1"}


def _add_result(
    builder: ResultBuilder,
    keys: dict[str, str],
    words: list[str],
    directions: dict[str, Better],
    line: int,
) -> None:
    for value, unit in zip(words[::2], words[1::2], strict=True):
        known = _CONVERTED.get(unit, Quantity(user_quantity(unit), unit))
        quantity = known._replace(better=directions.get(unit, known.better))
        number = builder.number(value, f"the number of {unit[:40]!r}", line)
        builder.add(keys, quantity, number, unit, line)
