"""Results of hyperfine: ``--export-json``, ``--export-csv``.

An execution of a command is a run. The time of an execution that failed is not one of the command.
"""

from __future__ import annotations

from rawperf.results.parsing import Node, check_mean, scalar_text
from rawperf.results.result_table import Quantity, ResultBuilder

PARAMETER = "parameter_"
_TIME, _MEMORY = Quantity("time", "s", "lower"), Quantity("memory", "B", "lower")
_COLUMNS = {
    "mean": _TIME,
    "stddev": Quantity("time_stddev", "s"),
    "median": Quantity("time_median", "s"),
    "user": Quantity("user_time", "s"),
    "system": Quantity("system_time", "s"),
    "min": Quantity("time_min", "s"),
    "max": Quantity("time_max", "s"),
}


def parse_hyperfine_json(builder: ResultBuilder, data: bytes) -> None:
    """Read ``--export-json``: the time of each execution in seconds, and its failures."""
    document = builder.document(data)
    executions: dict[tuple[tuple[str, str], ...], int] = {}
    for result in document["results"].elements():
        keys = {"command": result["command"].text()}
        parameters = result.get("parameters")
        for name, value in parameters.members().items() if parameters else ():
            keys[name] = scalar_text(value.value)
        identity = tuple(sorted(keys.items()))
        if identity in executions:
            builder.warn(
                result.line,
                f"{keys['command']!r} has two results; the executions of both are taken together",
            )
        first = executions.get(identity, 0)
        executions[identity] = first + _add_result(builder, result, keys, first)


def _add_result(builder: ResultBuilder, result: Node, keys: dict[str, str], first: int) -> int:
    """Add the executions of a command, numbered from `first`; return their number."""
    name, times = keys["command"], result.get("times")
    if times is None:
        mean = result["mean"]
        builder.warn(mean.line, f"{name!r} has no times, only their mean")
        builder.add_node(keys, _TIME, mean, "mean")
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
            builder.add_node(keys, _TIME, node, "times", run=run)
    if any(failed):
        builder.warn(
            result.line,
            f"{sum(failed)} of {len(failed)} executions of {name!r} failed (exit code not 0); "
            "their times are left out",
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
            builder.add_node(keys, _MEMORY, node, "memory_usage_byte", run=first + number)


def parse_hyperfine_csv(builder: ResultBuilder, data: bytes) -> None:
    """Read ``--export-csv``: the mean of each command's executions, in seconds."""
    names, rows = builder.table(builder.text(data), ("command", "mean"))
    parameters = [name for name in names if name.startswith(PARAMETER)]
    for row in rows:
        keys = {"command": row.cells["command"]}
        keys |= {name.removeprefix(PARAMETER): row.cells[name] for name in parameters}
        for column, quantity in _COLUMNS.items():
            # a single execution has no standard deviation
            if column in row.cells and (column != "stddev" or row.cells[column]):
                builder.add_cell(keys, quantity, row, column)
    known = {"command", *_COLUMNS, *parameters}
    builder.leave_out((name for name in names if name not in known), "no column of hyperfine")
