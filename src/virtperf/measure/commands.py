"""Command lines with their placeholders filled in.

Values are never interpolated into shell text, and paths can't leave their folder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from string import Formatter
from typing import Any

from rawperf.core.errors import did_you_mean
from rawperf.core.model import Level
from virtperf.measure.definition import Command, Commands

Values = Mapping[str, Level]


@dataclass(frozen=True)
class Call:
    """A command ready to start."""

    name: str  # phase and number, such as workload-2
    argv: tuple[str, ...]
    variables: Mapping[str, str]  # its own environment variables: the values, for shell commands
    output: str | None
    files: tuple[dict[str, Any], ...]  # entries of run.yaml for the files it writes
    stop: str | None
    timeout_s: float
    host: str = ""  # to run on, "" for this machine
    streams: bool = True  # whether its output is transferred while it is written
    root: str = ""  # copy of the repository's files on that host


def calls(
    phase: str, commands: Commands, values: Values, hosts: Mapping[str, Values] | None = None
) -> Iterator[Call]:
    """Expand the commands of a phase over their `count` and their hosts.

    `hosts` maps a host's name to its placeholder values, which override `values` there.

    Raises
    ------
    ValueError
        A placeholder without a value, a count that is no number, a path outside the run folder, an
        unknown host.
    """
    started = 0
    written: set[str] = set()
    for command in commands:
        for n in range(1, _count(command, values) + 1):
            for placeholders in _places(command, {**values, "n": n}, hosts or {}):
                started += 1
                call = _call(f"{phase}-{started}", command, placeholders)
                yield call
                if call.host and call.output:
                    if call.output in written:
                        raise ValueError(
                            f"several hosts write {call.output}: add {{host}} to the path"
                        )
                    written.add(call.output)


def _places(command: Command, values: Values, hosts: Mapping[str, Values]) -> Iterator[Values]:
    """Placeholder values for each host of a command."""
    if not command.on:
        yield values
        return
    host_names: dict[str, None] = {}
    for text in command.on:
        pattern = filled_command(text, values)
        matching = [name for name in hosts if fnmatchcase(name, pattern)]
        if not matching:
            raise ValueError(f"no host is named {pattern!r}: {did_you_mean(pattern, hosts)}")
        host_names.update(dict.fromkeys(matching))
    for name in host_names:
        yield {**values, **hosts[name], "host": name}


def _count(command: Command, values: Values) -> int:
    count = (
        values.get(command.count, command.count)
        if isinstance(command.count, str)
        else command.count or 1
    )
    if not isinstance(count, int) or not 0 <= count <= 10_000:
        raise ValueError(
            f"count is {count!r}: expected a whole number up to 10,000, or a factor with such levels"
        )
    return count


def _call(name: str, command: Command, values: Values) -> Call:
    parts = [str(part) for part in command.run]
    argv = (
        ("sh", "-c", *parts)
        if command.shell
        else tuple(filled_command(part, values) for part in parts)
    )
    variables = {key: str(value) for key, value in values.items()} if command.shell else {}
    output = _inside(filled_command(command.output, values)) if command.output else None
    files = []
    for file in command.files:
        fields = file.model_dump(exclude_unset=True)
        entry = {
            key: filled_command(text, values) if isinstance(text, str) else text
            for key, text in fields.items()
        }
        files.append({**entry, "path": _inside(entry["path"])})
    host = str(values["host"]) if command.on else ""
    root = str(values["root"]) if host else ""
    return Call(
        name,
        argv,
        variables,
        output,
        tuple(files),
        command.stop,
        command.timeout_s,
        host,
        command.streams,
        root,
    )


def filled_command(text: str, values: Values) -> str:
    """Replace ``{name}`` by values; ``{{`` and ``}}`` are literal braces; raises `ValueError`."""
    result = ""
    for literal, name, spec, conversion in Formatter().parse(text):
        result += literal
        if name is None:
            continue
        if spec or conversion or name not in values:
            raise ValueError(
                f"unknown placeholder {{{name}}}: {did_you_mean(name, values)} "
                "For literal braces, write {{ and }}"
            )
        result += str(values[name])
    return result


def _inside(path: str) -> str:
    parts = PurePosixPath(path).parts
    if (
        not parts
        or path.startswith("/")
        or ".." in parts
        or any(part.startswith(".") for part in parts)
    ):
        raise ValueError(
            f"{path!r} is not a valid path of a raw file: it leads out of the run folder, or is hidden"
        )
    return path
