"""Results of hyperfine: ``--export-json``, ``--export-csv``.

An execution of a command is a run. The time of an execution that failed is not one of the command.
"""

from __future__ import annotations

from rawperf.results.parsing import (
    Node,
    check_mean,
    decode_lines,
    delimited_rows,
    parse_json,
    read_heading,
    scalar_text,
    table_rows,
)
from rawperf.results.table import Better, ResultBuilder, ResultTable

PARAMETER = "parameter_"
_COLUMNS = {
    "mean": "time",
    "stddev": "time_stddev",
    "median": "time_median",
    "user": "user_time",
    "system": "system_time",
    "min": "time_min",
    "max": "time_max",
}


def parse_hyperfine_json(data: bytes, *, file: str) -> ResultTable:
    """Read ``--export-json``: the time of each execution in seconds, and its failures."""
    document, notes = parse_json(data, file)
    builder, warnings = ResultBuilder(file), list(notes)
    executions: dict[tuple[tuple[str, str], ...], int] = {}
    for result in document["results"].elements():
        keys = {"command": result["command"].text()}
        parameters = result.get("parameters")
        for name, value in parameters.members().items() if parameters else ():
            keys[name] = scalar_text(value.value)
        identity = tuple(sorted(keys.items()))
        if identity in executions:
            warnings.append(
                f"{file} line {result.line}: {keys['command']!r} has two results; the executions "
                "of both are taken together"
            )
        first = executions.get(identity, 0)
        executions[identity] = first + _add_result(builder, result, keys, first, warnings)
    return builder.build("hyperfine", repeats="runs", warnings=warnings)


def _add_result(
    builder: ResultBuilder, result: Node, keys: dict[str, str], first: int, warnings: list[str]
) -> int:
    """Add the executions of a command, numbered from `first`; return their number."""
    name, times = keys["command"], result.get("times")
    if times is None:
        mean = result["mean"]
        warnings.append(f"{result.file} line {mean.line}: {name!r} has no times, only their mean")
        builder.add_node(keys, "time", mean, unit="s", better="lower", field="mean")
        return 1
    nodes = times.elements()
    if not nodes:
        raise times.error("is empty", "the time of each execution")
    check_mean(
        result["mean"].number(), times.numbers(), f"{name!r}", result.file, result["mean"].line
    )
    failed = _failed_executions(result, len(nodes))
    for number, node in enumerate(nodes):
        run = first + number
        if failed:
            builder.add_failure(
                keys, failed=failed[number], field="exit_codes", line=node.line, run=run
            )
        if not (failed and failed[number]):
            builder.add_node(keys, "time", node, unit="s", better="lower", field="times", run=run)
    if any(failed):
        warnings.append(
            f"{result.file} line {result.line}: {sum(failed)} of {len(failed)} executions of "
            f"{name!r} failed (exit code not 0); their times are left out"
        )
    _add_memory(builder, result, keys, first, failed)
    return len(nodes)


def _failed_executions(result: Node, count: int) -> list[bool]:
    """Whether each execution failed; empty if the file does not tell. A signal has no code."""
    codes = result.get("exit_codes")
    if codes is None:
        return []
    nodes = codes.elements()
    if len(nodes) != count:
        raise codes.error("has another length than times", f"{count} exit codes")
    return [node.value is None or node.number() != 0 for node in nodes]


def _add_memory(
    builder: ResultBuilder, result: Node, keys: dict[str, str], first: int, failed: list[bool]
) -> None:
    memory = result.get("memory_usage_byte")
    nodes = memory.elements() if memory else []
    if memory and len(nodes) != len(result["times"].elements()):
        raise memory.error("has another length than times", "a number for each execution")
    for number, node in enumerate(nodes):
        if not (failed and failed[number]):
            builder.add_node(
                keys,
                "memory",
                node,
                unit="B",
                better="lower",
                field="memory_usage_byte",
                run=first + number,
            )


def parse_hyperfine_csv(data: bytes, *, file: str) -> ResultTable:
    """Read ``--export-csv``: the mean of each command's executions, in seconds."""
    text, warnings = decode_lines(data, file)
    rows = delimited_rows(text, file)
    line, names = read_heading(rows, ("command", "mean"), file)
    builder = ResultBuilder(file)
    parameters = [name for name in names if name.startswith(PARAMETER)]
    for row in table_rows(names, rows, file, line):
        keys = {"command": row.cells["command"]}
        keys |= {name.removeprefix(PARAMETER): row.cells[name] for name in parameters}
        for column, quantity in _COLUMNS.items():
            # a single execution has no standard deviation
            if column in row.cells and (column != "stddev" or row.cells[column]):
                better: Better = "lower" if column == "mean" else ""
                builder.add_cell(keys, quantity, row, column, unit="s", better=better)
    known = {"command", *_COLUMNS, *parameters}
    left_out = {name: "no column of hyperfine" for name in names if name not in known}
    return builder.build("hyperfine-csv", repeats="runs", left_out=left_out, warnings=warnings)
