"""The lines of a CMS console transcript, from its records."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.cms.responses import CPU, DEFSEG, DEVICE, NSS, NSS_COLUMNS, RANGE, UNITS, VIRTUAL
from virtperf.formats.text import clock_text

COMMAND, LOGON = "command", "LOGON"
RETURN_CODE, VIRTUAL_CPU, TOTAL_CPU, ELAPSED = "return code", "virtual CPU", "total CPU", "elapsed"
"""Fields of report `COMMAND`, in the order in which they stand; CPU and elapsed times in seconds."""

_HEADING = " ".join(name for name in NSS_COLUMNS if name not in ("MINSIZE", "PARMREGS", "VMGROUP"))


def console_lines(reading: Reading) -> Iterator[str]:
    """Each command's echo, its response, its ready message.

    Raises
    ------
    FormatError
        For a number or a name that no console line can hold.
    """
    info = dict(reading.info)
    facts: list[dict[str, object]] = []
    command: dict[str, float] = {}
    entity, t = "", float("nan")
    columns = ["report", "entity_kind", "entity", "field", "t", "value"]
    for row in reading.records[columns].to_dict("records"):
        if command and (row["report"] != COMMAND or row["field"] == RETURN_CODE):
            yield from _block(entity, facts, command, t, info)
            facts, command = [], {}
        if row["report"] == COMMAND:
            entity, t = str(row["entity"]), float(row["t"])
            command[str(row["field"])] = float(row["value"])
        else:
            facts.append({str(key): value for key, value in row.items()})
    if command:
        yield from _block(entity, facts, command, t, info)
    else:
        yield from _responses(facts, info)
    for _ in range(int(info.get("other lines", "0"))):
        yield "HCPXXX000I (a line that is not read)"


def _block(
    entity: str, facts: list[dict[str, object]], command: dict[str, float], t: float, info: dict[str, str]
) -> Iterator[str]:
    defines = next((place for place, fact in enumerate(facts) if fact["report"] == DEFSEG), 0)
    yield from _responses(facts[:defines], info)  # came before the command, whose own operands are the next facts
    if entity == LOGON and "logon" in info:
        yield f"LOGON AT {info.pop('logon')}"
    elif entity:
        yield entity
    yield from _responses(facts[defines:], info)
    code = _whole(command.get(RETURN_CODE))
    ready = "Ready" + (f"({code:0{5}d});" if code else ";")
    if pd.isna(t):
        yield ready
    else:
        virtual, total = command.get(VIRTUAL_CPU, -1.0), command.get(TOTAL_CPU, -1.0)
        if not (0 <= virtual < 1e9 and 0 <= total < 1e9):
            raise FormatError("a ready message with a time has two CPU times", found=f"{entity}: {command}")
        yield f"{ready} T={virtual:.2f}/{total:.2f} {clock_text(t)}"


def _responses(facts: list[dict[str, object]], info: dict[str, str]) -> Iterator[str]:
    """The lines of all facts; a table of QUERY NSS MAP has its heading once."""
    in_map, row = False, dict[str, str]()
    for fact in facts:
        report, entity, field = str(fact["report"]), str(fact["entity"]), str(fact["field"])
        value = _whole(fact["value"])
        if report == NSS and not in_map:
            yield _HEADING
        in_map = report == NSS
        if report == DEFSEG:
            continue  # the command says it
        if report in ("HCPNSS440I", "HCPNSD440I"):
            done = "saved" if report == "HCPNSS440I" else "defined"
            yield f"{report} Saved segment {entity} was successfully {done} in fileid {value:04d}."
        elif report == VIRTUAL:
            yield _virtual(str(fact["entity_kind"]), entity, field, value, info)
        elif report != NSS:
            raise FormatError(f"a console shows no report {report!r}", found=str(fact))
        elif fact["entity_kind"] != RANGE:
            name, text = ("CL", field.removeprefix("CL ")) if field.startswith("CL ") else (field, f"{value:04d}")
            row |= {name: text, "FILENAME": entity.split(" ")[0]}
        elif field == "BEGPAG":
            row |= {"BEGPAG": f"{value:013X}", "TYPE": entity.rsplit(" ", 1)[-1]}
        else:
            if "FILE" in row:
                filetype = info.get(f"filetype {row['FILENAME']}", "DCSSG")
                start = f"{row['FILE']} {row['FILENAME']:8} {filetype:8}"
                end = f" {row.get('CL', '?')} {row.get('#USERS', '?'):0>5}"
            else:
                start, end = " " * 22, ""
            yield f"{start} {row.get('BEGPAG', '?')} {value:013X} {row.get('TYPE', '?')}{end}"
            row = {}


def _virtual(kind: str, entity: str, field: str, value: int, info: dict[str, str]) -> str:
    if kind == DEVICE:
        before, _, after = info.get(f"DASD {entity}", "").partition(" ON ")
        return f"DASD {entity} {before} {value:>10} {field} ON {after}"
    if kind == CPU:
        return f"CPU {entity}  {info.get(f'CPU {entity}', '')}"
    unit = next((name for name, size in reversed(UNITS.items()) if value % size == 0 and value), "K")
    return f"{field} = {value // UNITS[unit]}{unit}"


def _whole(value: object) -> int:
    if not isinstance(value, int | float) or not abs(value) < 2**63 or value != int(value):
        raise FormatError("a console shows whole numbers here", found=str(value))
    return int(value)
