"""Prints the console log of iwlengine, or the one that a harness makes of JMeter's summary."""

from __future__ import annotations

import numpy as np
import pandas as pd

from virtperf.core.errors import FormatError
from virtperf.formats.base import Reading
from virtperf.formats.iwl.summary import (
    CLIENTS_FIELD,
    CLIENTS_OF_FIELD,
    COUNT_ID,
    HARNESS,
    JMETER,
    RATE_ID,
    RESPONSE_FIELD,
    RUN_TIME_FIELD,
    SUMMARY_LABELS,
)

STATUS_FIELDS = ("clients", "clients max", "rd", "wr", "pg", "web err", "resp avg", "pg elem/s")
STATUS_REPORT, SUMMARY_REPORT, ENTITY_KIND = "status", "summary", "driver"


def log_lines(reading: Reading) -> list[str]:
    """The lines of a reading's log: status lines, then the summary; several machines' blocks one after the other.

    Raises
    ------
    FormatError
        What a log can't hold.
    """
    records = reading.records
    _check_printable(records)
    machines = records["entity"].drop_duplicates().tolist()
    if machines == [""] or not machines:
        return _block(records, reading.info)
    owned = tuple(f"{machine} " for machine in machines)
    lines = _block(records.iloc[:0], {k: v for k, v in reading.info.items() if not k.startswith(owned)})
    for machine in machines:
        if not machine or any(letter in machine for letter in '"<> \t\r\n'):
            raise FormatError("no name of a machine in a log of several", expected="one word", found=repr(machine))
        own = {k.removeprefix(f"{machine} "): v for k, v in reading.info.items() if k.startswith(f"{machine} ")}
        lines += _block(records[records["entity"] == machine], {"data machine": machine} | own)
    return lines


def _block(records: pd.DataFrame, info: dict[str, str]) -> list[str]:
    tag = [f'{key.removeprefix("data ")}="{value}"' for key, value in info.items() if key.startswith("data ")]
    lines = [f"<data {' '.join(tag)}>"] if tag else []
    lines += _status_lines(records[records["report"] == STATUS_REPORT])
    if "time limit" in info:
        lines.append(f"IWL0058I Time limit of {info['time limit']} seconds has been reached. Shutting down.")
    for key, value in info.items():
        if key.startswith("message "):
            lines += [f"{key.removeprefix('message ')} (text not kept)"] * int(value)
    values = records[records["report"] == SUMMARY_REPORT]
    lines += _harness_lines(values) if info.get(HARNESS) == JMETER else _summary_lines(values)
    lines += ["(a line that is not iwlengine's)"] * int(info.get("other lines", "0"))
    return lines + (["</data>"] if tag else [])


def _check_printable(records: pd.DataFrame) -> None:
    value = records["value"].to_numpy()
    strange = ~records["report"].isin((STATUS_REPORT, SUMMARY_REPORT)) | records["field"].str.contains(r"[=\r\n]")
    wrong = np.flatnonzero(
        strange | ~((value >= 0) & (value < 1e15)) | records.duplicated(["entity", "report", "field", "t"])
    )
    if len(wrong):
        raise FormatError(
            "a record that a console log can't hold",
            expected="report status or summary, each field once a sample, numbers from 0 to 1e15",
            found=str(records.iloc[wrong[0]].to_dict()),
        )


def _status_lines(records: pd.DataFrame) -> list[str]:
    table = records.pivot(index="t", columns="field", values="value").reindex(columns=list(STATUS_FIELDS))
    samples = np.arange(len(table))
    if table.isna().to_numpy().any() or not np.array_equal(table.index.to_numpy(), samples):
        raise FormatError(
            "status records do not make whole status lines",
            expected=f"t = 0, 1, 2, ... and each of {', '.join(STATUS_FIELDS)}",
        )
    return [
        f"# clients {clients:.0f}/{most:.0f} | rd {rd:.4f} MB/s | wr {wr:.4f} MB/s | pg {pg:.0f} | web err {errors:.0f}"
        f" | resp avg = {response:.3f} | pg elem/s = {elements:.3f}"
        for clients, most, rd, wr, pg, errors, response, elements in table.to_numpy().tolist()
    ]


def _summary_lines(records: pd.DataFrame) -> list[str]:
    values = dict(zip(records["field"], records["value"], strict=True))
    lines = []
    for field, value in values.items():
        label, _, note = field.partition(" (")
        ident, unit, decimals = SUMMARY_LABELS.get(label, (RATE_ID, "", 3))
        if field == CLIENTS_OF_FIELD:
            continue
        if note:  # the noted repetition has the id of a count, and its unit's decimals only where it needs them
            ident, text = COUNT_ID, f"{value:.3f}".rstrip("0").rstrip(".")
        elif field == RUN_TIME_FIELD:
            text = f"{int(value) // 3600:02d}:{int(value) // 60 % 60:02d}:{int(value) % 60:02d}"
        elif field == CLIENTS_FIELD:
            text = f"{value:.0f}/{values.get(CLIENTS_OF_FIELD, value):.0f}"
        else:
            text = f"{value:.{decimals}f}"
        lines.append(f"{ident} {label} = {text}{unit}{f' ({note}' if note else ''}".strip())
    return lines


def _harness_lines(records: pd.DataFrame) -> list[str]:
    """Labels without ids, the response time in whole milliseconds."""
    lines = []
    for field, value in zip(records["field"], records["value"], strict=True):
        if field not in SUMMARY_LABELS or field in (RUN_TIME_FIELD, CLIENTS_FIELD):
            raise FormatError("a JMeter harness prints no such label", expected=", ".join(SUMMARY_LABELS), found=field)
        number = value * 1000 if field == RESPONSE_FIELD else value
        decimals = 0 if field == RESPONSE_FIELD else SUMMARY_LABELS[field][2]
        text = f"{number:.{decimals}f}"
        lines.append(f"{field} = {text.rstrip('0').rstrip('.') if decimals else text}{SUMMARY_LABELS[field][1]}")
    return lines
