"""The lines of a CMS console transcript, from its records."""

from __future__ import annotations

import math
from collections.abc import Iterator

from virtperf.formats.base import Reading
from virtperf.formats.cms.responses import DEFSEG
from virtperf.formats.rows import refused
from virtperf.formats.text import clock_text

COMMAND, LOGON, SAVED = "command", "LOGON", "HCPNSS440I"
RETURN_CODE, VIRTUAL_CPU, TOTAL_CPU, ELAPSED = "return code", "virtual CPU", "total CPU", "elapsed"
"""Fields of report `COMMAND`, in the order in which they stand; CPU and elapsed times in seconds."""


def console_lines(reading: Reading) -> Iterator[str]:
    """Each command's echo, the message of a segment that it saved, its ready message.

    Raises `FormatError` for a number or a name that no console line can hold.
    """
    said: list[str] = []
    command: dict[str, float] = {}
    name, now = "", float("nan")
    columns = (reading.records[column] for column in ("report", "entity", "field", "t", "value"))
    for report, entity, field, t, value in zip(*columns, strict=True):
        if command and (report != COMMAND or field == RETURN_CODE):
            yield from _block(name, said, command, now)
            said, command = [], {}
        if report == COMMAND:
            name, now = entity, t
            command[field] = value
        elif report == SAVED:
            said.append(f"{SAVED} Saved segment {entity} was successfully saved in fileid {_whole(value):04d}.")
        elif report != DEFSEG:  # the command says it
            raise refused("cms-console", f"report {report!r}, entity {entity!r}")
    if command:
        yield from _block(name, said, command, now)


def _block(name: str, said: list[str], command: dict[str, float], t: float) -> Iterator[str]:
    yield from [name] if name else []
    yield from said
    code = _whole(command.get(RETURN_CODE, math.nan))
    ready = f"Ready({code:05d});" if code else "Ready;"
    if math.isnan(t):
        yield ready
    else:
        virtual, total = command.get(VIRTUAL_CPU, -1.0), command.get(TOTAL_CPU, -1.0)
        if not (0 <= virtual < 1e9 and 0 <= total < 1e9):
            raise refused("cms-console", "a ready message with a time has two CPU times", f"{name}: {command}")
        yield f"{ready} T={virtual:.2f}/{total:.2f} {clock_text(t)}"


def _whole(value: float) -> int:
    if not abs(value) < 2**63 or value != int(value):
        raise refused("cms-console", "whole numbers stand here", str(value))
    return int(value)
